"""The map by which a provider's requests are read and written.

Most of a request is settings that each provider has under a name and in a place of its own.  `RequestFormat` is the
table of these places, and serves both directions.  Anything more than a place (the choice of a tool, the schema of the
answer, how much thought) is read and written by functions that the table names.

A setting that a provider does not have, and a value out of its bounds, is a `Loss`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from streamparse.json.json_safety import make_jsonable
from streamparse.loss import MAX_SHOWN, Loss
from streamparse.writing.adapter import Adapter
from streamparse.writing.content import read_blocks
from streamparse.writing.correlation import list_unpaired, rename_calls
from streamparse.writing.definitions import read_tools
from streamparse.writing.json_access import get_at, get_object, get_str, get_strs
from streamparse.writing.parts import Item, Message, Text
from streamparse.writing.request import ACCOUNT_FIELDS, SAMPLING_FIELDS, SCHEMA_NAME, Request
from streamparse.writing.traits import NamePolicy

_DEFAULTS: dict[str, tuple[Any, ...]] = {
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
    "stream_options": ({}, {"include_usage": True}, {"include_usage": False}),  # usage is reported anyway
}
"""Values that are a setting's default, or done anyway: to leave them out loses nothing."""


_SWITCH: dict[bool | None, str] = {True: "enabled", False: "disabled"}


def _keep(value: Any) -> Any:
    return value


def place_alike(*names: str, section: str = "") -> dict[str, str]:
    """Return the places of settings that have the names of `Request`, and are in one section if it is given."""
    return {name: f"{section}.{name}" if section else name for name in names}


class RequestFormat(msgspec.Struct, frozen=True, kw_only=True):
    """The places of a provider's request, and functions for fields that need more than a place.

    A place is a path of keys with dots between.  Names are those of `Request`, `SAMPLING_FIELDS` and `ACCOUNT_FIELDS`,
    and `system` for a system prompt that is no message.  `think` is "enabled" or "disabled" at its place.
    """

    fields: dict[str, str]
    """The places, by the names of their fields."""
    read_only: dict[str, str] = {}
    """Places that are read, but not written, or written by `write_others`."""
    other_places: tuple[str, ...] = ()
    """What `read_others` reads: all else is lost, also in the sections that these places name."""
    wants_pairs: bool = True
    """Whether a call without a result, or a result without a call, is refused."""
    bounds: dict[str, tuple[float, float]] = {}
    max_stops: int | None = None
    dropped: dict[str, tuple[str, str]] = {}
    """What has no place, by its name: OpenAI's word for it, and why it is lost."""
    others_written: tuple[str, ...] = ()
    """What `write_others` writes of `parallel`, `schema_name` and `think`: where it does not, that is lost."""
    normalize: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _keep
    """Spells a provider's request so that the map can read it."""
    read_others: Callable[[Mapping[str, Any], list[Loss]], dict[str, Any]] | None = None
    """Reads fields of `Request` that are more than a place; without it requests of this provider are only written."""
    restrict: Callable[[Request, list[Loss]], Request] = lambda request, _lost: request
    """Makes of a request one that this provider takes."""
    write_others: Callable[[Request, list[Loss]], dict[str, Any]]
    """Values by their places; None, an empty text and an empty list are left out."""
    write_system: Callable[[str], Any] = _keep

    def read(self, adapter: Adapter, request: Mapping[str, Any], lost: list[Loss]) -> Request:
        """Read a provider's request; add the settings that no other provider has."""
        request = self.normalize(request)
        places = self.fields | self.read_only
        self._lose_unknown(request, [*places.values(), *self.other_places], lost)
        found = {name: get_at(request, *place.split(".")) for name, place in places.items()}
        values: dict[str, Any] = {
            "model": get_str(found, "model"),
            "messages": [
                *_read_system(adapter, found.get("system"), lost),
                *adapter.read_messages(found["messages"], lost),
            ],
            "tools": read_tools(found["tools"], lost),
            "max_tokens": found["max_tokens"],
            "stop": read_strings(found.get("stop")),
            "stream": found.get("stream") is True,
            "effort": get_str(found, "effort"),
            "think": think != "disabled" if (think := get_str(found, "think")) else None,
            "sampling": pick(found, SAMPLING_FIELDS),
            "account": pick(found, ACCOUNT_FIELDS),
        }
        read = Request(**values | (self.read_others(request, lost) if self.read_others else {}))
        if "tool_choice" in self.other_places and read.choice.mode is None and request.get("tool_choice") is not None:
            lost.append(Loss("request", "", "tool_choice", "dropped: no such choice elsewhere"))
        return read

    def write(self, adapter: Adapter, request: Request, lost: list[Loss]) -> dict[str, Any]:
        """Write a request for this provider; add what it cannot be asked."""
        request = _replace_refused_names(request, adapter.traits.names, lost)
        request = _drop_unknown_choice(self.restrict(request, lost), lost)
        messages, system = request.messages, ""
        if adapter.traits.separate_system:
            messages = [message for message in messages if message.role != "system"]
            system = join_system_text(request, lost)
        written_messages = adapter.join_messages([*adapter.write_separately(messages, lost), *request.written])
        lost += list_unpaired(messages) if self.wants_pairs else ()
        if adapter.traits.separate_system and not written_messages:
            lost.append(Loss("request", "", "messages", "kept, but refused: there must be one", warning=True))
        values = {
            "model": request.model,
            "messages": written_messages,
            "system": self.write_system(system) if system else None,
            "tools": adapter.write_tools(request.tools, lost) or None,
            "max_tokens": request.max_tokens,
            "stop": request.stop or None,
            "stream": request.stream or None,
            "effort": request.effort or None,
            "think": _SWITCH.get(request.think),
            **clamp(pick(request.sampling, self.fields), self.bounds, lost),
            **request.account,
        }
        self._lose_unwritten(request, lost)
        written: dict[str, Any] = {}
        for name, place in self.fields.items():
            if values.get(name) is not None:
                put_at(written, place, values[name])
        for place, value in self.write_others(request, lost).items():
            if value not in (None, "", []):
                put_at(written, place, value)
        return written

    def _lose_unknown(self, request: Mapping[str, Any], places: list[str], lost: list[Loss]) -> None:
        lose_unread(request, (place.partition(".")[0] for place in places), lost)
        for section in dict.fromkeys(place.rpartition(".")[0] for place in places if "." in place):
            within = [place.removeprefix(f"{section}.") for place in places if place.startswith(f"{section}.")]
            lose_unread(get_object(request, *section.split(".")), (place.partition(".")[0] for place in within), lost)

    def _lose_unwritten(self, request: Request, lost: list[Loss]) -> None:
        lose_unread(request.sampling, self.fields, lost)
        lose_unread(request.account, self.fields, lost)
        for name, (word, outcome) in self.dropped.items():
            if getattr(request, name) not in (None, []):
                lost.append(Loss("request", "", word, outcome))
        if self.max_stops is not None and len(request.stop) > self.max_stops:
            outcome = f"kept, but refused: {len(request.stop)} are more than {self.max_stops}"
            lost.append(Loss("request", "", "stop", outcome, warning=True))
        lost += [Loss("request", "", word, outcome) for word, outcome in self._list_unwritten(request)]

    def _list_unwritten(self, request: Request) -> Iterator[tuple[str, str]]:
        """List the choices that `others_written` does not name and a request makes: OpenAI's word for each, and why."""
        choice, written = request.choice, self.others_written
        if "parallel" not in written and request.tools and choice.mode != "none" and choice.parallel is False:
            yield "parallel_tool_calls", "dropped: the model decides"
        if "schema_name" not in written and request.schema and request.schema_name not in ("", SCHEMA_NAME):
            yield "response_format", f"dropped: the name {request.schema_name!r} of the schema"
        if "effort" in self.fields and request.think is not None and not request.effort:
            yield "thinking", "dropped: there are only degrees of effort, of few models"
        if ("think" in written or "think" in self.fields) and request.think and request.effort:
            yield "reasoning_effort", "dropped: thought is on or off here"


def _replace_refused_names(request: Request, policy: NamePolicy, lost: list[Loss]) -> Request:
    """Replace the names of calls that the provider refuses and no tool of the request has: a model made them up."""
    called = [call.name for message in request.messages for call in message.calls]
    declared = {each.tool.name for each in request.tools}
    others = {name: policy.normalize(name) for name in dict.fromkeys(called) if name not in declared}
    others = {name: other for name, other in others.items() if other != name}
    for name, other in others.items():
        lost.append(Loss("request", "", "name", f"replaced by {other!r}: {name[:MAX_SHOWN]!r}, which no tool has"))
    return msgspec.structs.replace(request, messages=rename_calls(request.messages, others)) if others else request


def _drop_unknown_choice(request: Request, lost: list[Loss]) -> Request:
    """Return a request that forces no tool that it does not declare: it may have been one of another provider's own."""
    name = request.choice.name
    if not request.tools or name in ("", *(each.tool.name for each in request.tools)):
        return request
    lost.append(Loss("request", "", "tool_choice", f"dropped: {name[:MAX_SHOWN]!r} is not among the tools"))
    return msgspec.structs.replace(request, choice=msgspec.structs.replace(request.choice, mode=None, name=""))


def _read_system(adapter: Adapter, system: Any, lost: list[Loss]) -> list[Message]:
    """Read a system prompt that is no message: a text, a list of blocks, or a message without a role."""
    if isinstance(system, Mapping):
        messages = adapter.read_messages([{**system, "role": "system"}], lost)
    else:
        messages = [Message("system", read_blocks(make_jsonable(system, "system", lost)))]
    return [message for message in messages if message.parts]


def join_system_text(request: Request, lost: list[Loss]) -> str:
    """Join the system's messages, wherever they are, to one text that goes before all others."""
    texts: list[str] = []
    is_first = True
    for number, message in enumerate(request.messages):
        if message.role != "system":
            is_first = False
            continue
        place = f"messages[{number}]"
        texts += [part.text for part in message.parts if isinstance(part, Text)]
        for part in message.parts:
            if not isinstance(part, Text):
                kind = part.kind if isinstance(part, Item) else type(part).__name__.lower()
                lost.append(Loss(place, "", kind, "dropped: the system says text alone here"))
        if message.name:
            lost.append(Loss(place, "", "name", "dropped: the system's text names no speaker here"))
        if not is_first:
            lost.append(Loss(place, "", "system", "moved before all messages"))
    return "\n\n".join(filter(None, texts))


# -- losses ------------------------------------------------------------------------------------------------------------


def lose_unread(settings: Mapping[str, Any], read: Iterable[str], lost: list[Loss]) -> None:
    """Report the settings that are not read, or not written, unless they are at their default."""
    known = set(read)
    for key, value in settings.items():
        if key not in known and value is not None and value not in _DEFAULTS.get(key, ()):
            lost.append(Loss("request", "", key, "dropped: no setting elsewhere"))


# -- settings ----------------------------------------------------------------------------------------------------------


def pick(settings: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the settings of these names that are set."""
    return {name: settings[name] for name in names if settings.get(name) is not None}


def put_at(settings: dict[str, Any], place: str, value: Any) -> None:
    """Put a value at a path of keys with dots between."""
    *sections, last = place.split(".")
    for section in sections:
        settings = settings.setdefault(section, {})
    settings[last] = value


def read_object(value: Any) -> dict[str, Any] | None:
    """Return an object; None for anything else."""
    return dict(value) if isinstance(value, Mapping) else None


def read_strings(value: Any) -> list[str]:
    """Return the texts of a list, or the only one."""
    return [value] if isinstance(value, str) else get_strs(value)


def clamp(settings: Mapping[str, Any], bounds: Mapping[str, tuple[float, float]], lost: list[Loss]) -> dict[str, Any]:
    """Move each setting into its bounds: a server refuses what lies beyond."""
    written = dict(settings)
    for name, (least, most) in bounds.items():
        value = written.get(name)
        if isinstance(value, (int, float)) and not least <= value <= most:
            written[name] = least if value < least else most
            lost.append(Loss("request", "", name, f"set to {written[name]}: {value} is refused"))
    return written
