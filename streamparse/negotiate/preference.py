"""Which formats are looked for in the text of an answer: those that are preferred, then the rest.

| the server | first | then |
|---|---|---|
| parses calls itself (`calls_in_text = false`) | what the model was seen to write | `"reasoning"` |
| prints calls as text, too (`true`) | the same, and the formats of the family | `"auto"`; `"all"` on a native wire |
| is not known for either | the same | `"auto"`; `"reasoning"` on a native wire |

On a native wire the server parses calls, and a parser's `"auto"` is `"reasoning"`.  With the tools in the prompt no
server parses calls: then the second row holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal, TypeAlias

from streamparse.dialects import DIALECTS, GROUPS
from streamparse.negotiate.call_stats import Figures
from streamparse.negotiate.capabilities import Capabilities
from streamparse.negotiate.profiles import Profile
from streamparse.writing.prompts import PROMPTS

__all__ = ["ENOUGH_CALLS", "Wanted", "choose_dialects", "dialect_to_ask_for", "is_good", "seen_dialects"]

Rest: TypeAlias = Literal["auto", "all", "reasoning"]
Wanted: TypeAlias = tuple[str, ...] | Rest
"""What a parser's `dialects` takes: names, of which the last may be a word for many, or that word alone."""

ENOUGH_CALLS: Final = 5
"""So many calls say something of a format."""
_TOO_FEW_GOOD: Final = 0.5
_PARSING: Final = frozenset({"anthropic", "gemini", "bedrock-converse", "cohere", "openai-responses"})
"""Wires whose servers parse calls themselves: there a parser's `"auto"` looks for thoughts alone."""


def is_good(figures: Figures) -> bool:
    """Whether enough of a format's calls came out well."""
    return (figures.rate or 0.0) >= _TOO_FEW_GOOD


def seen_dialects(figures: Mapping[str, Figures]) -> list[str]:
    """The dialects in which a model was seen to write good calls, the most used first."""
    seen = [name for name, each in figures.items() if name in DIALECTS and each.calls >= ENOUGH_CALLS and is_good(each)]
    return sorted(seen, key=lambda name: -figures[name].calls)


def choose_dialects(
    profile: Profile, capabilities: Capabilities, wire: str, seen: Iterable[str], asked: str | None
) -> Wanted:
    """What was configured; else what is preferred, and then the rest.

    `asked` is the dialect that a prompt asks for, None if the tools are in the request.  Experience takes no dialect
    away: one that is not looked for would never be seen again.  It adds none whose markers may as well be prose: by its
    name that is looked for wherever it stands.
    """
    if profile.dialects is not None:
        return profile.dialects
    if profile.tools.call_parser == "openai_native":
        return "reasoning"
    rest = _rest(capabilities, wire, in_prompt=asked is not None)
    first = _configured(profile)
    if not first:
        clear = [name for name in seen if all(opener.auto == "armed" for opener in DIALECTS[name].openers)]
        is_native = capabilities.calls_in_text is False and asked is None
        first = (*clear, *(() if is_native else capabilities.dialects))
    named = tuple(dict.fromkeys((*first, *([asked] if asked is not None else ()))))
    return (*named, rest) if named else rest


def _configured(profile: Profile) -> tuple[str, ...]:
    return GROUPS.get(profile.tools.call_parser or "", profile.capabilities.dialects)


def _rest(capabilities: Capabilities, wire: str, *, in_prompt: bool) -> Rest:
    if in_prompt or capabilities.calls_in_text:
        return "all" if wire in _PARSING else "auto"
    return "reasoning" if capabilities.calls_in_text is False or wire in _PARSING else "auto"


def dialect_to_ask_for(profile: Profile, capabilities: Capabilities, seen: Iterable[str], default: str) -> str:
    """The dialect that a prompt asks for: one that is looked for in the answer, if there is a prompt for any."""
    if profile.dialects is not None:
        given = (profile.dialects,) if isinstance(profile.dialects, str) else profile.dialects
    else:
        armed = [name for name in seen if DIALECTS[name].openers[0].auto == "armed"]
        given = _configured(profile) or (*armed, *capabilities.dialects)
    return next((name for name in given if name in PROMPTS), default)
