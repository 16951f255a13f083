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

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import lru_cache, partial
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


class Record(Protocol):
    """What an SDK makes of a message: one of pydantic's models."""

    def model_dump(self) -> dict[str, Any]:
        """Return the fields."""


class NoAnswer(TypeError):
    """A thing is no answer, and no part of one; says in a sentence what to pass instead."""


def read_message(chunk: Any) -> Message | None:
    """Return the message that a chunk is; None for an event that an SDK's helper made up.

    Raises NoAnswer for other objects, and whatever the code of an SDK's object raises.
    """
    message: Message | None = None
    match chunk:
        case dict() if chunk.get("type") == CHUNK_TYPE and "tool_call_chunks" in chunk:
            message = write_chat_chunk(chunk)
        case bytes() | str() | memoryview() | dict():
            message = chunk
        case bytearray():
            message = bytes(chunk)
        case Mapping():
            message = read_message(dict(chunk))
        case _ if (kind := _inspect(chunk.__class__)).held_in is not None:
            message = read_message(getattr(chunk, kind.held_in)) if kind.held_in else None
        case _ if is_answer(chunk):
            message = read_message(read_fields(chunk, kind.left_out))
        case object(data=str(data), event=None | str() as event):
            message = _write_event(event, data)
        case _:
            name = chunk.__class__.__name__
            lacks = f"and {name} has no field of an answer" if is_model(chunk) else f"not {name}"
            raise NoAnswer(f"a chunk must be bytes, str, a mapping or an SDK's object, {lacks}")
    return message


def _write_event(event: str | None, data: str) -> str:
    """Write a server-sent event, as the event source clients decode it, as it was on the wire."""
    lines = [f"data: {line}\n" for line in _LINE_END.split(data)]
    if event:
        lines.insert(0, f"event: {_LINE_END.split(event)[0]}\n")
    return "".join(lines) + "\n"


# -- records -----------------------------------------------------------------------------------------------------------


class _Kind(NamedTuple):
    """What is known of the objects of a class."""

    fields: frozenset[str] | None
    """The names of the fields that it declares, in Python and on the wire; None if its objects are no records."""
    dump: Callable[..., dict[str, Any]] | None
    """How pydantic writes a model as the JSON that it was read from; None for other classes."""
    held_in: str | None = None
    """Where an object holds its message; None if it is the message itself, "" if it holds none."""
    left_out: tuple[str, ...] = ()
    """Fields that are no part of the message."""


@lru_cache(256)
def _inspect(kind: Any) -> _Kind:
    held_in: str | None = None
    modules = [base.__module__ for base in kind.__mro__]
    is_of_helper = any(".lib.streaming." in module for module in modules)
    if is_of_helper and not any(".types." in module for module in modules):  # it repeats what the API's events say
        held_in = "chunk" if kind.__name__ == "ChunkEvent" else ""
    elif any(has_base(kind, package, *names) for package, names in WRAPPED_EVENTS.items()):
        held_in = "data"
    # A helper's events hold all the text so far, with each piece of it.
    left_out = ("snapshot",) if is_of_helper else ()
    dump = None
    fields: Iterable[str] | None = None
    if has_base(kind, "pydantic.main", "BaseModel"):
        dump, fields = partial(kind.model_dump, mode="json", warnings=False), _list_names(kind.model_fields)
    elif has_base(kind, "pydantic.v1.main", "BaseModel"):
        dump, fields = kind.dict, _list_names(kind.__fields__)
    elif issubclass(kind, msgspec.Struct):
        fields = kind.__struct_fields__
    elif hasattr(kind, "__dataclass_fields__"):
        fields = kind.__dataclass_fields__
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        fields = kind._fields
    elif hasattr(kind, "__attrs_attrs__"):
        fields = [attribute.name for attribute in kind.__attrs_attrs__]
    elif issubclass(kind, SimpleNamespace):
        fields = ()
    return _Kind(None if fields is None else frozenset(fields), dump, held_in, left_out)


def _list_names(fields: Mapping[str, Any]) -> list[str]:
    """List the names of a model's fields, in Python and on the wire: Google's have two."""
    return [*fields, *(field.alias for field in fields.values() if field.alias)]


def is_answer(thing: Any) -> bool:
    """Whether an object is a record, and may be an answer, a part of one, or an event of a stream."""
    declared = _inspect(thing.__class__).fields
    if declared is None:
        return False
    return not (_ANSWER_FIELDS.isdisjoint(declared) and _ANSWER_FIELDS.isdisjoint(_list_field_names(thing)))


def declares_fields(kind: type) -> bool:
    """Whether a class declares the fields of its objects."""
    return _inspect(kind).fields is not None


def is_model(thing: Any) -> bool:
    """Whether an object is one of pydantic's models."""
    return _inspect(thing.__class__).dump is not None


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
    if (dump := _inspect(record.__class__).dump) is not None:
        return dump(record, by_alias=True, exclude={*without}, exclude_none=True)
    return {name: getattr(record, name) for name in _list_field_names(record) if name not in without}


def _list_field_names(record: Any) -> Collection[str]:
    if isinstance(record, SimpleNamespace):
        return vars(record).keys()
    extra = getattr(record, "model_extra", None) if is_model(record) else None
    return (_inspect(record.__class__).fields or frozenset()) | (extra or {}).keys()
