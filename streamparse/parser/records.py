"""Records: objects whose class declares their fields, as the SDKs' objects are.

| a record is | whose |
|---|---|
| derived from pydantic's `BaseModel` | openai, anthropic, google-genai, ollama, mistralai, cohere, litellm, LangChain |
| a dataclass, a class of attrs, a `msgspec.Struct`, a named tuple, a `SimpleNamespace` | other SDKs, programs, tests |

A record may be an answer if one of its fields is one that answers and their events have.  No library is imported, and
an object that is no record is not asked for anything: some answer to every name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Mapping, Set
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Final

import msgspec

__all__ = ["fields_of", "has_base", "is_answer", "is_model", "is_record"]

_TELLING: Final = frozenset(
    {"choices", "message", "content", "delta", "text", "tool_calls", "function", "function_call", "arguments", "output"}
    | {"input", "thinking", "candidates", "parts", "args", "response", "error", "type"}
)
_AS_SENT: Final[dict[str, Any]] = {"mode": "json", "by_alias": True, "exclude_none": True, "warnings": False}
"""How pydantic writes an object as the JSON that it was read from: google-genai's fields have other names in Python,
and hold bytes and enums."""


def is_answer(thing: Any) -> bool:
    """Whether an object is a record, and may be an answer, a part of one, or an event of a stream."""
    if _declares_answer(thing.__class__) and not isinstance(thing, type):
        return True
    return is_record(thing) and not _TELLING.isdisjoint(_names_of(thing))


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
    return {name: getattr(record, name) for name in _names_of(record) if name not in without}


def _names_of(record: Any) -> Collection[str]:
    if isinstance(record, SimpleNamespace):
        return vars(record).keys()
    extra = record.model_extra if _is_model_class(record.__class__) else None
    return _declared(record.__class__) | (extra or {}).keys()


@lru_cache(256)
def _declares_answer(kind: type) -> bool:
    return _is_record_class(kind) and not _TELLING.isdisjoint(_declared(kind))


def _declared(kind: Any) -> Set[str]:
    """The names of the fields that a class of records declares, in Python and on the wire."""
    if _is_model_class(kind):
        return _aliases(kind.model_fields)
    if _is_old_model_class(kind):
        return _aliases(kind.__fields__)
    if issubclass(kind, msgspec.Struct):
        return {*kind.__struct_fields__}
    if dataclasses.is_dataclass(kind):
        return {field.name for field in dataclasses.fields(kind)}
    return {*kind._fields} if _is_named_tuple(kind) else _attributes(kind)


def _aliases(fields: Mapping[str, Any]) -> set[str]:
    """The names of the fields of a model, in Python and on the wire."""
    return {*fields, *(field.alias for field in fields.values() if field.alias)}


def _attributes(kind: Any) -> set[str]:
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
