"""A request to a model, in nobody's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from streamparse.loss import Loss
from streamparse.writing.definitions import DeclaredTool
from streamparse.writing.json_access import get_str
from streamparse.writing.parts import Item, Part, Text, Turn

SAMPLING_FIELDS = ("temperature", "top_p", "top_k", "seed", "presence_penalty", "frequency_penalty")
"""The settings of sampling, by the names that most have for them."""

ACCOUNT_FIELDS = (
    "metadata", "user", "safety_identifier", "service_tier", "prompt_cache_key", "prompt_cache_retention", "store",
)  # fmt: skip
"""What the two ways to ask OpenAI share and nobody else has: for whom, at which price, kept where."""

SCHEMA_NAME = "answer"
"""What OpenAI is told for the name of an answer's schema, for it wants one, where nobody has given one."""

_SAYS_NOTHING: dict[str, tuple[Any, ...]] = {
    "n": (1,),
    "candidateCount": (1,),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "logit_bias": ({},),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "metadata": ({},),
    "modalities": (["text"],),
    "service_tier": ("auto",),
    "store": (False,),
    "background": (False,),
    "truncation": ("disabled",),
    "verbosity": ("medium",),
    "stream_options": ({}, {"include_usage": True}, {"include_usage": False}),  # the counts are always told
}
"""Values that are a setting's default, or done anyway: to leave them out loses nothing."""


class Choice(msgspec.Struct, frozen=True):
    """Which tools the model may or must call; `name` is that of the only one.  `parallel` None is the server's own."""

    mode: Literal["auto", "none", "required"] | None = None
    name: str = ""
    parallel: bool | None = None


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of a model.

    `schema` is that of an answer in JSON, `{}` for any JSON, `schema_name` its name with OpenAI, and `strict` whether
    to enforce it where that can be chosen; `think` whether thought is asked for, and `effort` OpenAI's word for how
    much; `account` holds the settings of `ACCOUNT`.
    """

    model: str = ""
    turns: list[Turn] = []
    tools: list[DeclaredTool] = []
    choice: Choice = Choice()
    max_tokens: int | None = None
    stop: list[str] = []
    sampling: dict[str, Any] = {}
    stream: bool = False
    schema: dict[str, Any] | None = None
    schema_name: str = ""
    strict: bool = False
    think: bool | None = None
    effort: str = ""
    account: dict[str, Any] = {}


def lose_unread(settings: Mapping[str, Any], read: Iterable[str], lost: list[Loss]) -> None:
    """Tell of the settings that are read, or written, by nobody, unless they say nothing."""
    unread = [key for key, value in settings.items() if key not in set(read) and value is not None]
    said = [key for key in unread if settings[key] not in _SAYS_NOTHING.get(key, ())]
    lost += [Loss("request", "", key, "dropped: no setting elsewhere") for key in said]


def lose_unwritten(request: Request, sampling: Iterable[str], lost: list[Loss], account: Iterable[str] = ()) -> None:
    """Tell of the settings for which a provider has no words."""
    lose_unread(request.sampling, sampling, lost)
    lose_unread(request.account, account, lost)


def read_thinking(request: Mapping[str, Any], lost: list[Loss]) -> bool | None:
    """Whether a `thinking` with a type asks for thought; None if nothing is said.  How much of it is told as lost."""
    thinking = get_section(request, "thinking")
    lose_unread(thinking, ("type",), lost)
    kind = get_str(thinking, "type")
    return kind != "disabled" if kind else None


def lose_unread_choice(request: Mapping[str, Any], choice: Choice, lost: list[Loss]) -> None:
    """Tell of a choice of tools that says something nobody else can."""
    if choice.mode is None and request.get("tool_choice") is not None:
        lost.append(Loss("request", "", "tool_choice", "dropped: no such choice elsewhere"))


def lose_serial(request: Request, lost: list[Loss]) -> None:
    """Tell that a provider cannot be asked for one call at a time."""
    if request.tools and request.choice.mode != "none" and request.choice.parallel is False:
        lost.append(Loss("request", "", "parallel_tool_calls", "dropped: the model decides"))


def warn_of_stops(request: Request, most: int, lost: list[Loss]) -> None:
    """Tell that there are more stops than a provider takes."""
    if len(request.stop) > most:
        done = f"kept, but refused: {len(request.stop)} are more than {most}"
        lost.append(Loss("request", "", "stop", done, warning=True))


def lose_unread_form(form: Any, schema: dict[str, Any] | None, lost: list[Loss]) -> None:
    """Tell of a form of the answer, in OpenAI's words, that says something nobody else can."""
    if form is not None and schema is None and not (isinstance(form, Mapping) and form.get("type") == "text"):
        lost.append(Loss("request", "", "response_format", "dropped: it says no schema, and nothing known elsewhere"))


def lose_thinking(request: Request, lost: list[Loss]) -> None:
    """Tell of a wish for thought, or for none, that says no effort."""
    if request.think is not None and not request.effort:
        lost.append(Loss("request", "", "thinking", "dropped: there are only degrees of effort, of few models"))


def lose_effort(request: Request, lost: list[Loss]) -> None:
    """Tell that an effort counts as a wish for thought and no more."""
    if request.think and request.effort:
        lost.append(Loss("request", "", "reasoning_effort", "dropped: thought is on or off here"))


def warn_of_no_messages(messages: list[Any], lost: list[Loss]) -> None:
    """Tell that nobody says anything but the system."""
    if not messages:
        lost.append(Loss("request", "", "messages", "kept, but refused: there must be one", warning=True))


def lose_schema_name(request: Request, lost: list[Loss]) -> None:
    """Tell that the schema of an answer has no name."""
    if request.schema and request.schema_name not in ("", SCHEMA_NAME):
        lost.append(Loss("request", "", "response_format", f"dropped: the name {request.schema_name!r} of the schema"))


def pick(settings: Any, names: Iterable[str]) -> dict[str, Any]:
    """The settings of these names that are set."""
    known = settings if isinstance(settings, Mapping) else {}
    return {name: known[name] for name in names if known.get(name) is not None}


def get_section(settings: Any, name: str) -> Mapping[str, Any]:
    """The settings under a name; none if there is no object."""
    found = settings.get(name) if isinstance(settings, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def clamp(settings: Mapping[str, Any], bounds: Mapping[str, tuple[float, float]], lost: list[Loss]) -> dict[str, Any]:
    """The settings, each within the bounds that it has; what lies beyond is refused, so it is moved, and told."""
    written = dict(settings)
    for name, (least, most) in bounds.items():
        value = written.get(name)
        if isinstance(value, (int, float)) and not least <= value <= most:
            written[name] = least if value < least else most
            lost.append(Loss("request", "", name, f"set to {written[name]}: {value} is refused"))
    return written


def join_system_text(request: Request, lost: list[Loss]) -> str:
    """The system's turns, wherever they stood, as one text that stands before all messages."""
    texts: list[str] = []
    talked = False
    for number, turn in enumerate(request.turns):
        talked = talked or turn.role != "system"
        if turn.role != "system":
            continue
        texts += [part.text for part in turn.parts if isinstance(part, Text)]
        place = f"messages[{number}]"
        others = [part for part in turn.parts if not isinstance(part, Text)]
        lost += [Loss(place, "", _kind(part), "dropped: the system says text alone here") for part in others]
        lost += [Loss(place, "", "name", "dropped: the system's text names no speaker here")] if turn.name else []
        lost += [Loss(place, "", "system", "moved before all messages")] if talked else []
    return "\n\n".join(filter(None, texts))


def _kind(part: Part) -> str:
    return part.kind if isinstance(part, Item) else type(part).__name__.lower()
