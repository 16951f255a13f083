"""One chunk of a stream, from any library, as the message that the server sent.

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

import json
from collections.abc import Collection, Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import msgspec

from streamparse.patterns import lazy_re
from streamparse.providers.sdks import CHUNK_TYPE, WRAPPED_EVENTS, write_chat_chunk

Message: TypeAlias = bytes | memoryview | str | dict[str, Any]
"""What a framer, or a wire, can be given."""

_LINE_END: Final = lazy_re(r"\r\n|\r|\n")
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


def is_chunk(thing: Any) -> bool:
    """Whether `read_message` knows what a thing holds."""
    is_message = isinstance(thing, (bytes, bytearray, memoryview, str, Mapping))
    return is_message or is_answer(thing) or _inspect(thing.__class__).is_wrapper or _is_event(thing)


def read_message(chunk: Any) -> Message | None:
    """Return the message that a chunk is; None for an event that an SDK's helper made up.

    Raises TypeError for other objects, and whatever the code of an SDK's object raises.
    """
    match chunk:
        case dict() if chunk.get("type") == CHUNK_TYPE and "tool_call_chunks" in chunk:
            return write_chat_chunk(chunk)
        case bytes() | str() | memoryview() | dict():
            return chunk
        case bytearray():
            return bytes(chunk)
        case Mapping():
            return read_message(dict(chunk))
    if is_answer(chunk) or _inspect(chunk.__class__).is_wrapper:
        return _read_record(chunk)
    if _is_event(chunk):
        return _write_event(chunk.event, chunk.data)
    raise TypeError(_explain_refusal(chunk))


def _read_record(chunk: Any) -> Message | None:
    kind = _inspect(chunk.__class__)
    if kind.is_added:
        return read_message(chunk.chunk) if chunk.__class__.__name__ == "ChunkEvent" else None
    if kind.is_wrapper:
        return read_message(chunk.data)
    # A helper's events hold all the text so far, with each piece of it.
    return read_message(read_fields(chunk, without=("snapshot",) if kind.is_of_helper else ()))


def _is_event(thing: Any) -> bool:
    """Whether a thing is a server-sent event, as the event source clients have it."""
    data, event = getattr(thing, "data", None), getattr(thing, "event", None)
    return isinstance(data, str) and hasattr(thing, "event") and (event is None or isinstance(event, str))


def _write_event(event: str | None, data: str) -> str:
    """Write a decoded server-sent event as it was on the wire."""
    lines = [f"data: {line}\n" for line in _LINE_END.split(data)]
    if event:
        lines.insert(0, f"event: {_LINE_END.split(event)[0]}\n")
    return "".join(lines) + "\n"


def _explain_refusal(thing: object) -> str:
    name = thing.__class__.__name__
    if is_model(thing):
        return f"a chunk must be bytes, str, a mapping or an SDK's object, and {name} has no field of an answer"
    return f"a chunk must be bytes, str, a mapping or an SDK's object, not {name}"


# -- records -----------------------------------------------------------------------------------------------------------


class _Kind(NamedTuple):
    """What is known of the objects of a class."""

    fields: frozenset[str] | None
    """The names of the fields that it declares, in Python and on the wire; None if its objects are no records."""
    is_model: bool
    """Whether it is a model of pydantic."""
    is_old_model: bool
    """Whether it is a model of pydantic's first version."""
    is_wrapper: bool
    """Whether its objects hold a message in `data`."""
    is_of_helper: bool
    """Whether it is one of the events that `.stream()` of OpenAI's and Anthropic's SDKs gives."""
    is_added: bool
    """Whether such an event is not one of the API: then it repeats what the API's events say."""


@lru_cache(256)
def _inspect(kind: type) -> _Kind:
    is_model = has_base(kind, "pydantic.main", "BaseModel")
    is_old_model = has_base(kind, "pydantic.v1.main", "BaseModel")
    is_of_helper = any(".lib.streaming." in base.__module__ for base in kind.__mro__)
    return _Kind(
        fields=_list_fields(kind, is_model, is_old_model),
        is_model=is_model,
        is_old_model=is_old_model,
        is_wrapper=any(has_base(kind, package, *names) for package, names in WRAPPED_EVENTS.items()),
        is_of_helper=is_of_helper,
        is_added=is_of_helper and not any(".types." in base.__module__ for base in kind.__mro__),
    )


def _list_fields(kind: Any, is_model: bool, is_old_model: bool) -> frozenset[str] | None:
    if is_model or is_old_model:
        fields = kind.model_fields if is_model else kind.__fields__
        return frozenset((*fields, *(field.alias for field in fields.values() if field.alias)))
    if issubclass(kind, msgspec.Struct):
        return frozenset(kind.__struct_fields__)
    if hasattr(kind, "__dataclass_fields__"):
        import dataclasses  # noqa: PLC0415 - a slow import, which few chunks need

        return frozenset(field.name for field in dataclasses.fields(kind))
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return frozenset(kind._fields)
    if hasattr(kind, "__attrs_attrs__"):
        return frozenset(attribute.name for attribute in kind.__attrs_attrs__)
    return frozenset() if issubclass(kind, SimpleNamespace) else None


def is_answer(thing: Any) -> bool:
    """Whether an object is a record, and may be an answer, a part of one, or an event of a stream."""
    declared = _inspect(thing.__class__).fields
    if declared is None or isinstance(thing, type):
        return False
    return not (_ANSWER_FIELDS.isdisjoint(declared) and _ANSWER_FIELDS.isdisjoint(_list_field_names(thing)))


def is_record(thing: Any) -> bool:
    """Whether the class of an object declares its fields."""
    return declares_fields(thing.__class__) and not isinstance(thing, type)


def declares_fields(kind: type) -> bool:
    """Whether a class declares the fields of its objects."""
    return _inspect(kind).fields is not None


def is_model(thing: Any) -> bool:
    """Whether an object is one of pydantic's models."""
    kind = _inspect(thing.__class__)
    return kind.is_model or kind.is_old_model


def has_base(kind: type, module: str, *names: str) -> bool:
    """Whether a class, or one that it is derived from, has one of these names, in a module or one of its parts."""
    return any(
        base.__name__ in names and (base.__module__ == module or base.__module__.startswith(module + "."))
        for base in kind.__mro__
    )


def read_fields(record: Any, without: Collection[str] = ()) -> Mapping[str, Any]:
    """Return the fields of a record, those of pydantic's models as JSON, except those in `without`.

    What the record's own code raises is raised.
    """
    kind = _inspect(record.__class__)
    fields: Mapping[str, Any]
    if kind.is_model:
        fields = record.model_dump(exclude={*without}, **_AS_SENT)
    elif kind.is_old_model:
        fields = record.dict(by_alias=True, exclude={*without}, exclude_none=True)
    else:
        fields = {name: getattr(record, name) for name in _list_field_names(record) if name not in without}
    return fields


def _list_field_names(record: Any) -> Collection[str]:
    if isinstance(record, SimpleNamespace):
        return vars(record).keys()
    kind = _inspect(record.__class__)
    extra = record.model_extra if kind.is_model else None
    return (kind.fields or frozenset()) | (extra or {}).keys()


# -- decoded messages, written as the bytes that they were -------------------------------------------------------------


def encode_message(message: Mapping[str, Any]) -> bytes:
    """Return the JSON of a message.

    Raises ValueError or RecursionError for a number or a depth beyond every bound, and TypeError for odd keys.
    """
    return json.dumps(message, default=_make_jsonable).encode()


def _make_jsonable(value: Any) -> Any:
    """Convert what an SDK puts into a message besides JSON; the last resort is its `str`."""
    if isinstance(value, (bytes, bytearray)):
        import base64  # noqa: PLC0415 - rarely needed

        return base64.b64encode(value).decode()  # as the wire of boto3's messages had it
    if is_record(value):
        return dict(read_fields(value))
    return dict(value) if isinstance(value, Mapping) else str(value)
