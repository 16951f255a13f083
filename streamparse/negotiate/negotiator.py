"""Picks how to speak with a model: from the user's configuration, then the model, then the provider's defaults.

The dialects that are looked for in the text of an answer are the preferred ones, then the rest:

| the server | first | then |
|---|---|---|
| parses calls itself (`calls_in_text = false`) | what the model was seen to write | `"reasoning"` |
| prints calls as text, too (`true`) | the same, and the dialects of the family | `"auto"`; `"all"` on a native wire |
| is not known for either | the same | `"auto"`; `"reasoning"` on a native wire |

On a native wire the server parses calls (`Wire.parses_calls`), and a parser's `"auto"` is `"reasoning"`.  With the
tools in the prompt no server parses calls: then the second row holds.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Any, Final, Literal, TypeAlias

import msgspec

from streamparse.dialects import DIALECTS, GROUPS
from streamparse.negotiate.capabilities import Capabilities, Provider, find_capabilities, find_provider
from streamparse.negotiate.learner import NATIVE, CapabilityLearner, Figures
from streamparse.negotiate.profiles import Configuration, OutputMode, Profile
from streamparse.protocols import ToolDefinitionAdapter, ToolResultAdapter
from streamparse.providers.adapters import adapter_for
from streamparse.providers.names import ADAPTER_OF_WIRE, NATIVE_FORMATS, PROVIDERS
from streamparse.providers.wires import DEFAULT_WIRE, WIRES, find_wire_name
from streamparse.unknown_names import list_known
from streamparse.writing.prompts import PROMPTS

Rest: TypeAlias = Literal["auto", "all", "reasoning"]
Wanted: TypeAlias = tuple[str, ...] | Rest
"""What a parser's `dialects` takes: names, of which the last may be a word for many, or that word alone."""

MOST_KEPT: Final = 1000  # bound: the answers that are kept, by names from outside
MAX_RETRIES: Final = 2  # bound: the requests for calls that cannot be run, if no profile says it
ENOUGH_CALLS: Final = 5  # source: fewer calls say nothing about a format
_GOOD_RATE: Final = 0.5  # source: a format that fails more often than not is not preferred
# A server that is not known.
GENERAL: Final = Provider(wire="auto", adapter=ADAPTER_OF_WIRE[DEFAULT_WIRE])


class NegotiatedFormat(msgspec.Struct, frozen=True, kw_only=True):
    """How to speak with one model on one server (`protocols.ToolFormat`).

    - `name`: the profile's name, or the provider's, or "general".
    - `dialects`: what to look for in the text: the preferred dialects by name, then a word for the rest; or only that
      word.
    - `tools_in`: where the tools are declared: in the request's field, or as text in the prompt.
    - `call_parser`: the name of the parser for whole responses, as `parser_for` and `register_parser` know it.
    - `provider`: the name of the adapter that writes the requests.
    - `dialect`: the dialect in which a prompt asks for calls.
    - `model`: the model to ask for: the given one, or the profile's.
    - `url`: the base URL of the server, if the profile says it.
    - `output_modes`: how an answer may be bound to a shape, the preferred way first.
    - `max_retries`: how often a model is asked again whose calls cannot be run (`RepairLoop`).
    - `instructions`: what the system prompt adds for this model.
    - `context_window`: in tokens.
    """

    name: str
    wire: str
    dialects: Wanted
    reasoning: Literal["auto", "open", "closed"]
    tools_in: Literal["request", "prompt"]
    call_parser: str
    definitions: ToolDefinitionAdapter
    results: ToolResultAdapter
    provider: str
    dialect: str
    capabilities: Capabilities
    model: str | None = None
    url: str | None = None
    output_modes: tuple[OutputMode, ...] = ()
    max_retries: int = MAX_RETRIES
    instructions: str = ""
    context_window: int | None = None

    def get_parser_options(self) -> dict[str, Any]:
        """The keywords for `StreamParser` and the loops: wire, dialects, reasoning."""
        return {"wire": self.wire, "dialects": self.dialects, "reasoning": self.reasoning}


class FormatNegotiator:
    """Answers how to speak with a model; each answer is kept until something new is learnt.

    Safe to use from several threads.
    """

    def __init__(
        self, configuration: Configuration | Mapping[str, Any] | None = None, learner: CapabilityLearner | None = None
    ) -> None:
        """Take the configuration, read or as decoded values; raises ConfigurationError."""
        given = configuration or Configuration()
        self._configuration = given if isinstance(given, Configuration) else Configuration.of(given)
        self._learner = learner
        self._lock = threading.Lock()
        self._answers: dict[tuple[str | None, str | None, str | None], NegotiatedFormat] = {}
        self._learnt = -1

    def negotiate(
        self, provider: str | None = None, model: str | None = None, *, profile: str | None = None
    ) -> NegotiatedFormat:
        """Return the format for a model of a provider, or the one that a profile names.

        Raises ValueError for an unknown profile or provider; a model may be any.
        """
        key = (provider, model, profile)
        with self._lock:
            learnt = self._learner.version if self._learner is not None else 0
            if learnt != self._learnt or len(self._answers) >= MOST_KEPT:
                self._answers.clear()
                self._learnt = learnt
            if key not in self._answers:
                self._answers[key] = self._negotiate(*key)
            return self._answers[key]

    def _negotiate(self, provider: str | None, model: str | None, profile: str | None) -> NegotiatedFormat:
        name, chosen = self._find_profile(provider, model, profile)
        known_as, row = _require_provider(_get_own_provider(name, chosen) or provider)
        model = model or chosen.model
        capabilities = chosen.capabilities.fill_from(find_capabilities(known_as, model))
        figures = self._learner.get_recent(model) if self._learner is not None and model else {}
        wire = row.wire if chosen.wire is None else chosen.wire
        wire = wire if wire == "auto" else find_wire_name(wire)
        adapter = row.adapter if wire == row.wire else ADAPTER_OF_WIRE.get(wire, row.adapter)
        definitions = adapter_for(chosen.tools.definition_format or adapter)
        seen = _list_seen_dialects(figures)
        in_prompt = _is_for_prompt(chosen, capabilities, figures)
        asked = _choose_prompt_dialect(chosen, capabilities, seen, definitions.traits.dialect)
        return NegotiatedFormat(
            name=name or known_as,
            wire=wire,
            dialects=_choose_dialects(chosen, capabilities, wire, seen, asked if in_prompt else None),
            reasoning=chosen.reasoning,
            tools_in="prompt" if in_prompt else "request",
            call_parser=chosen.tools.call_parser or "composite",
            definitions=definitions.with_prompt_dialect(asked),
            results=adapter_for(chosen.tools.result_format or adapter),
            provider=adapter,
            dialect=asked,
            capabilities=capabilities,
            model=model,
            url=chosen.url,
            output_modes=chosen.output_modes or _list_output_modes(capabilities),
            max_retries=MAX_RETRIES if chosen.max_retries is None else chosen.max_retries,
            instructions=chosen.instructions,
            context_window=chosen.context_window,
        )

    def _find_profile(self, provider: str | None, model: str | None, name: str | None) -> tuple[str | None, Profile]:
        """The profile that was named, or else the first that fits, those that name models before the others."""
        profiles = self._configuration.profiles
        if name is not None:
            if name not in profiles:
                raise ValueError(f"unknown profile {name!r}; {list_known(name, profiles)}")
            return name, profiles[name]
        fitting = [(key, each) for key, each in profiles.items() if _is_meant_for(key, each, provider, model)]
        return min(fitting, key=lambda pair: not _has_models(pair[1]), default=(None, Profile()))


# -- profiles and providers ------------------------------------------------------------------------


def _is_meant_for(name: str, profile: Profile, provider: str | None, model: str | None) -> bool:
    """Whether a profile is for this; one that names neither provider nor models must be asked for by name."""
    its_provider = _get_own_provider(name, profile)
    if its_provider is not None and _normalize_provider(its_provider) != _normalize_provider(provider):
        return False
    if not _has_models(profile):
        return its_provider is not None
    if model is None:
        return False
    asked = model.casefold()
    is_its_own = profile.model is not None and asked == profile.model.casefold()
    return is_its_own or any(fnmatchcase(asked, each.casefold()) for each in profile.models)


def _has_models(profile: Profile) -> bool:
    return bool(profile.models) or profile.model is not None


def _get_own_provider(name: str | None, profile: Profile) -> str | None:
    """The provider of a profile: if it names neither that nor models, the one that it is called after."""
    is_called_so = name is not None and not _has_models(profile) and find_provider(name) is not None
    return profile.provider or (name if is_called_so else None)


def _normalize_provider(name: str | None) -> str | None:
    found = find_provider(name) if name else None
    return found[0] if found else name


def _require_provider(name: str | None) -> tuple[str, Provider]:
    if name is None:
        return "general", GENERAL
    if (found := find_provider(name)) is None:
        known = list_known(name, PROVIDERS, ADAPTER_OF_WIRE)
        raise ValueError(f"unknown provider {name!r}: leave it out for the general rules, or write a profile; {known}")
    return found


def _list_output_modes(capabilities: Capabilities) -> tuple[OutputMode, ...]:
    """The modes that the model and its server are known to have; text is always possible."""
    modes: tuple[OutputMode, ...] = ("json_object", "text") if capabilities.json_object else ("text",)
    return ("json_schema", *modes) if capabilities.json_schema else modes


# -- tools in the prompt or in the request ---------------------------------------------------------


def _is_for_prompt(profile: Profile, capabilities: Capabilities, figures: Mapping[str, Figures]) -> bool:
    """Whether tools belong in the prompt: so configured, or the server takes none, or native calls mostly failed."""
    if profile.capabilities.native_tools is not None:
        return not profile.capabilities.native_tools
    return capabilities.native_tools is False or _has_bad_calls(figures.get(NATIVE, Figures()))


def _has_bad_calls(native: Figures) -> bool:
    # A native call that came after the last refusal shows that the server takes tools now.
    refuses = native.refused > native.calls and (not native.calls or native.last <= native.last_refused)
    return refuses or (native.calls >= ENOUGH_CALLS and not _is_good(native))


def _is_good(figures: Figures) -> bool:
    return (figures.rate or 0.0) >= _GOOD_RATE


# -- dialects --------------------------------------------------------------------------------------


def _list_seen_dialects(figures: Mapping[str, Figures]) -> list[str]:
    """The dialects in which a model was seen to write good calls, the most used first."""
    enough = (name for name, each in figures.items() if name in DIALECTS and each.calls >= ENOUGH_CALLS)
    return sorted(filter(lambda name: _is_good(figures[name]), enough), key=lambda name: -figures[name].calls)


def _choose_dialects(
    profile: Profile, capabilities: Capabilities, wire: str, seen: Iterable[str], asked: str | None
) -> Wanted:
    """The configured dialects; else the preferred ones, then the rest.

    `asked` is the dialect that a prompt asks for, None if the tools are in the request.  Experience removes no dialect:
    one that is not looked for would never be seen again.  It adds none whose markers may as well be prose: a named
    dialect is looked for wherever it may begin.
    """
    if profile.dialects is not None:
        return profile.dialects
    if profile.tools.call_parser in NATIVE_FORMATS:
        return "reasoning"
    first = _get_configured(profile)
    if not first:
        clear = [name for name in seen if all(opener.auto == "armed" for opener in DIALECTS[name].openers)]
        is_native = capabilities.calls_in_text is False and asked is None
        first = (*clear, *(() if is_native else capabilities.dialects))
    named = tuple(dict.fromkeys((*first, *([asked] if asked is not None else ()))))
    rest = _choose_rest(capabilities, wire, in_prompt=asked is not None)
    return (*named, rest) if named else rest


def _get_configured(profile: Profile) -> tuple[str, ...]:
    return GROUPS.get(profile.tools.call_parser or "", profile.capabilities.dialects)


def _choose_rest(capabilities: Capabilities, wire: str, *, in_prompt: bool) -> Rest:
    is_native = wire in WIRES and WIRES[wire].parses_calls
    if in_prompt or capabilities.calls_in_text:
        return "all" if is_native else "auto"
    return "reasoning" if capabilities.calls_in_text is False or is_native else "auto"


def _choose_prompt_dialect(profile: Profile, capabilities: Capabilities, seen: Iterable[str], default: str) -> str:
    """The dialect that a prompt asks for: one that is looked for in the answer, if there is a prompt for any."""
    if profile.dialects is not None:
        given = (profile.dialects,) if isinstance(profile.dialects, str) else profile.dialects
    else:
        armed = [name for name in seen if DIALECTS[name].openers[0].auto == "armed"]
        given = _get_configured(profile) or (*armed, *capabilities.dialects)
    return next((name for name in given if name in PROMPTS), default)
