"""One chunk of a stream, of whatever library, as the message that a server sent.

| chunk | known by | its message |
|---|---|---|
| bytes, text, a mapping | their types | itself |
| a server-sent event | `data` is text, and `event` text or None | the lines that it was |
| `ChunkEvent` of OpenAI's `.stream()` | its class, in `lib.streaming` | its `chunk` |
| other events that a helper of an SDK adds to those of its API | their class, in `lib.streaming` | none |
| `CompletionEvent` | its class, of mistralai | its `data` |
| `AIMessageChunk` | its class, of LangChain, or its `type` | a chunk of chat completions |
| any other record | its class declares fields | its fields |

A record is an object of one of these classes; it may be an answer if one of its fields is one that answers and their
events have.  No library is imported, and an object that is no record is not asked for anything: some answer to every
name.

| a record is | whose |
|---|---|
| derived from pydantic's `BaseModel` | openai, anthropic, google-genai, ollama, mistralai, cohere, litellm, LangChain |
| a dataclass, a class of attrs, a `msgspec.Struct`, a named tuple, a `SimpleNamespace` | other SDKs, programs, tests |
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Collection, Iterable, Mapping, Set
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from streamparse.providers.sdks import CHUNK_TYPE, WRAPPED_EVENTS, write_chat_chunk

Message: TypeAlias = bytes | memoryview | str | dict[str, Any]
"""What a framer, or a wire, can be given."""

_LINE_END: Final = re.compile(r"\r\n|\r|\n")
_ANSWER_FIELDS: Final = frozenset(
    {"choices", "message", "content", "delta", "text", "tool_calls", "function", "function_call", "arguments", "output"}
    | {"input", "thinking", "candidates", "parts", "args", "response", "error", "type"}
)
_AS_SENT: Final[dict[str, Any]] = {"mode": "json", "by_alias": True, "exclude_none": True, "warnings": False}
"""How pydantic writes an object as the JSON that it was read from: google-genai's fields have other names in Python,
and hold bytes and enums."""


class Record(Protocol):
    """What an SDK makes of a message: one of pydantic's models."""

    def model_dump(self) -> dict[str, Any]:
        """Return the fields."""


def is_chunk(thing: object) -> bool:
    """Whether `message_of` knows what a thing holds."""
    is_message = isinstance(thing, (bytes, bytearray, memoryview, str, Mapping))
    return is_message or is_answer(thing) or _is_wrapped(thing) or _is_event(thing)


def message_of(chunk: Any) -> Message | None:
    """Return the message that a chunk is; None for an event that an SDK's helper made up.

    Raises TypeError for what is no chunk, and whatever the code of an SDK's object raises.
    """
    match chunk:
        case dict() if chunk.get("type") == CHUNK_TYPE and "tool_call_chunks" in chunk:
            return write_chat_chunk(chunk)
        case bytes() | str() | memoryview() | dict():
            return chunk
        case bytearray():
            return bytes(chunk)
        case Mapping():
            return message_of(dict(chunk))
    if is_answer(chunk) or _is_wrapped(chunk):
        return _message_of_record(chunk)
    if _is_event(chunk):
        return _event_stream_text(chunk.event, chunk.data)
    raise TypeError(_explain_refusal(chunk))


def _message_of_record(chunk: Any) -> Message | None:
    kind = chunk.__class__
    if _is_added(kind):
        return message_of(chunk.chunk) if kind.__name__ == "ChunkEvent" else None
    if _is_wrapped(chunk):
        return message_of(chunk.data)
    # A helper's events hold all the text so far, with each piece of it.
    return message_of(fields_of(chunk, without=("snapshot",) if _is_of_helper(kind) else ()))


def _is_wrapped(chunk: Any) -> bool:
    return _is_wrapper_class(chunk.__class__)


@lru_cache(256)
def _is_wrapper_class(kind: type) -> bool:
    return any(has_base(kind, package, *names) for package, names in WRAPPED_EVENTS.items())


def _is_event(thing: Any) -> bool:
    """Whether a thing is a server-sent event, as the event source clients have it."""
    data, event = getattr(thing, "data", None), getattr(thing, "event", None)
    return isinstance(data, str) and hasattr(thing, "event") and (event is None or isinstance(event, str))


def _event_stream_text(event: str | None, data: str) -> str:
    """Write a decoded server-sent event as it was on the wire."""
    lines = [f"data: {line}\n" for line in _LINE_END.split(data)]
    if event:
        lines.insert(0, f"event: {_LINE_END.split(event)[0]}\n")
    return "".join(lines) + "\n"


@lru_cache(256)
def _is_of_helper(kind: type) -> bool:
    """Whether a class is one of the events that `.stream()` of OpenAI's and Anthropic's SDKs gives."""
    return any(".lib.streaming." in base.__module__ for base in kind.__mro__)


@lru_cache(256)
def _is_added(kind: type) -> bool:
    """Whether such an event is not one of the API: then it repeats what the API's events say."""
    return _is_of_helper(kind) and not any(".types." in base.__module__ for base in kind.__mro__)


def _explain_refusal(thing: object) -> str:
    name = thing.__class__.__name__
    if is_model(thing):
        return f"a chunk must be bytes, str, a mapping or an SDK's object, and {name} has no field of an answer"
    return f"a chunk must be bytes, str, a mapping or an SDK's object, not {name}"


# -- records -----------------------------------------------------------------------------------------------------------


def is_answer(thing: Any) -> bool:
    """Whether an object is a record, and may be an answer, a part of one, or an event of a stream."""
    if _declares_answer(thing.__class__) and not isinstance(thing, type):
        return True
    return is_record(thing) and not _ANSWER_FIELDS.isdisjoint(_field_names(thing))


def is_record(thing: Any) -> bool:
    """Whether the class of an object declares its fields."""
    return _is_record_class(thing.__class__) and not isinstance(thing, type)


def is_model(thing: Any) -> bool:
    """Whether an object is one of pydantic's models."""
    return _is_model_class(thing.__class__) or _is_old_model_class(thing.__class__)


def has_base(kind: type, module: str, *names: str) -> bool:
    """Whether a class, or one that it is derived from, has one of these names, in a module or one of its parts."""
    return any(
        base.__name__ in names and (base.__module__ == module or base.__module__.startswith(module + "."))
        for base in kind.__mro__
    )


def fields_of(record: Any, without: Collection[str] = ()) -> Mapping[str, Any]:
    """Return the fields of a record, those of pydantic's models as JSON, but for those `without`.

    What the record's own code raises is raised.
    """
    kind = record.__class__
    if _is_model_class(kind):
        dumped: Mapping[str, Any] = record.model_dump(exclude={*without}, **_AS_SENT)
        return dumped
    if _is_old_model_class(kind):
        old: Mapping[str, Any] = record.dict(by_alias=True, exclude={*without}, exclude_none=True)
        return old
    return {name: getattr(record, name) for name in _field_names(record) if name not in without}


def _field_names(record: Any) -> Collection[str]:
    if isinstance(record, SimpleNamespace):
        return vars(record).keys()
    extra = record.model_extra if _is_model_class(record.__class__) else None
    return _declared_fields(record.__class__) | (extra or {}).keys()


@lru_cache(256)
def _declares_answer(kind: type) -> bool:
    return _is_record_class(kind) and not _ANSWER_FIELDS.isdisjoint(_declared_fields(kind))


def _declared_fields(kind: Any) -> Set[str]:
    """The names of the fields that a class of records declares, in Python and on the wire."""
    if _is_model_class(kind):
        return _model_fields(kind.model_fields)
    if _is_old_model_class(kind):
        return _model_fields(kind.__fields__)
    if issubclass(kind, msgspec.Struct):
        return {*kind.__struct_fields__}
    if dataclasses.is_dataclass(kind):
        return {field.name for field in dataclasses.fields(kind)}
    return {*kind._fields} if _is_named_tuple(kind) else _attrs_fields(kind)


def _model_fields(fields: Mapping[str, Any]) -> set[str]:
    """The names of the fields of a model, in Python and on the wire."""
    return {*fields, *(field.alias for field in fields.values() if field.alias)}


def _attrs_fields(kind: Any) -> set[str]:
    declared: Iterable[Any] = getattr(kind, "__attrs_attrs__", ())  # a SimpleNamespace declares none
    return {attribute.name for attribute in declared}


@lru_cache(256)
def _is_record_class(kind: type) -> bool:
    is_plain = issubclass(kind, (msgspec.Struct, SimpleNamespace)) or dataclasses.is_dataclass(kind)
    is_of_pydantic = _is_model_class(kind) or _is_old_model_class(kind)
    return is_plain or is_of_pydantic or _is_named_tuple(kind) or hasattr(kind, "__attrs_attrs__")


@lru_cache(256)
def _is_model_class(kind: type) -> bool:
    return has_base(kind, "pydantic.main", "BaseModel")


@lru_cache(256)
def _is_old_model_class(kind: type) -> bool:
    """Whether a class is a model of pydantic's first version."""
    return has_base(kind, "pydantic.v1.main", "BaseModel")


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


# -- decoded messages, written as the bytes that they were -------------------------------------------------------------


def encode_message(message: Mapping[str, Any]) -> bytes:
    """Return the JSON of a message.

    Raises ValueError or RecursionError for a number or a depth beyond every bound, and TypeError for odd keys.
    """
    return json.dumps(message, default=_to_jsonable).encode()


def _to_jsonable(value: Any) -> Any:
    """What an SDK puts into a message besides JSON: its `str` is the best there is."""
    if isinstance(value, (bytes, bytearray)):
        import base64  # noqa: PLC0415 - rarely needed

        return base64.b64encode(value).decode()  # as the wire of boto3's messages had it
    if is_record(value):
        return dict(fields_of(value))
    return dict(value) if isinstance(value, Mapping) else str(value)
