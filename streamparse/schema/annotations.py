"""Reads what annotations say and msgspec does not read by itself.

| annotation | is read as |
|---|---|
| `Annotated[T, "text"]`, `Doc("text")` | the description of T |
| `Annotated[T, Field(ge=1, description=...)]`, the words of annotated-types | `msgspec.Meta`, as far as T takes it |
| a model of pydantic | its own schema; the value is made by its own `model_validate` |
| a path of `pathlib` | a string |
| `Iterable[T]` | `list[T]` |
| `object` | anything |

They are recognised by their shape; no library is imported.
"""

from __future__ import annotations

import collections.abc
import functools
import operator
import os
import re
import types
import typing
from collections.abc import Iterator
from typing import Annotated, Any, Final, Literal, Union

import msgspec

_NUMBER: Final = (int, float)
# The words that `msgspec.Meta` shares with the other libraries, and the types of their values.
_WORDS: Final[dict[str, type | tuple[type, ...]]] = {
    "gt": _NUMBER, "ge": _NUMBER, "lt": _NUMBER, "le": _NUMBER, "multiple_of": _NUMBER, "min_length": int,
    "max_length": int, "pattern": str, "title": str, "description": str, "examples": list,
}  # fmt: skip
# Those that any type takes.
_DESCRIBING: Final = ("title", "description", "examples")
# Marks an object of annotated-types that is an iterable of several words.
_GROUP_MARK: Final = "__is_annotated_types_grouped_metadata__"
_SIMPLER: Final[dict[Any, Any]] = {object: Any, collections.abc.Iterable: list}


def read_annotation(annotation: Any) -> Any:
    """Return the annotation in terms that msgspec knows; what msgspec reads by itself is returned as it is."""
    origin = typing.get_origin(annotation)
    if origin is None or origin is Literal:
        return _SIMPLER.get(annotation, annotation) if isinstance(annotation, type) else annotation
    if origin is Annotated:
        # The words of other libraries are repeated as `msgspec.Meta`.
        metadata = annotation.__metadata__
        bounds = {word: value for each in metadata for word, value in _read_words(each)}
        described = {word: bounds.pop(word) for word in _DESCRIBING if word in bounds}
        kind = _apply_bounds(read_annotation(annotation.__origin__), bounds)
        return Annotated[(kind, *metadata, *([msgspec.Meta(**described)] if described else []))]
    arguments = typing.get_args(annotation)
    read = tuple(map(read_annotation, arguments))
    if origin in _SIMPLER:
        return _SIMPLER[origin][read] if read else _SIMPLER[origin]
    if all(new is old for new, old in zip(read, arguments, strict=True)):
        return annotation
    return functools.reduce(operator.or_, read) if is_union(annotation) else origin[read]


def describe_annotation(annotation: Any) -> str:
    """Return the description that an `Annotated` gives, "" if it gives none."""
    while typing.get_origin(annotation) in (typing.Required, typing.NotRequired):
        (annotation,) = typing.get_args(annotation)
    if typing.get_origin(annotation) is not Annotated:
        return ""
    texts = [each.description for each in annotation.__metadata__ if isinstance(each, msgspec.Meta)]
    texts += [value for each in annotation.__metadata__ for word, value in _read_words(each) if word == "description"]
    return next(filter(None, texts), "")


def can_be_none(annotation: Any) -> bool:
    """Whether a value may be None, by an annotation that `read_annotation` returned."""
    while typing.get_origin(annotation) is Annotated:
        annotation = annotation.__origin__
    choice = is_union(annotation) or typing.get_origin(annotation) is Literal
    options = typing.get_args(annotation) if choice else (annotation,)
    return any(option is kind for option in options for kind in (Any, None, types.NoneType))


def read_schemas(kinds: list[Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the schemas of types, and the definitions that they refer to.

    Raises TypeError or NotImplementedError for a type without one, and TypeError if two types have one name.
    """
    definitions: dict[str, Any] = {}
    brought: dict[str, Any] = {}  # by models; their references lead to the root of all

    def read_unknown(kind: Any) -> dict[str, Any]:
        schema = _read_unknown_schema(kind)
        _join_definitions(brought, schema.pop("$defs", {}))
        return schema

    roots: list[dict[str, Any]] = []
    for kind in kinds:
        (root,), more = msgspec.json.schema_components([kind], schema_hook=read_unknown, ref_template="#/$defs/{name}")
        roots.append(root)
        _join_definitions(definitions, more)
    _join_definitions(definitions, brought)
    return roots, definitions


def _join_definitions(definitions: dict[str, Any], more: dict[str, Any]) -> None:
    for name, definition in more.items():
        if definitions.setdefault(name, definition) != definition:
            raise TypeError(f"two of its types have the name {name!r}")


def make_value(kind: Any, value: Any) -> Any:
    """Make a value of a type that msgspec does not know.  Raises ValueError or TypeError if it does not fit."""
    if _is_model(kind):
        return kind.model_validate(value)
    if _is_path(kind) and isinstance(value, str):
        return kind(value)
    if _is_path(kind):
        raise TypeError(f"expected `str`, got `{type(value).__name__}`")
    raise TypeError(f"no {kind!r} can be made")


def encode_value(value: Any) -> Any:
    """Return a model or a path as a JSON value.  Raises NotImplementedError for other types."""
    if _is_model(type(value)):
        return value.model_dump(mode="json")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise NotImplementedError


def _read_unknown_schema(kind: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type that msgspec does not know."""
    if _is_path(kind):
        return {"type": "string", "format": "path"}
    if not _is_model(kind):
        raise NotImplementedError
    try:
        schema: dict[str, Any] = kind.model_json_schema()
    except (AttributeError, RuntimeError) as error:  # pydantic's own errors are runtime errors
        raise TypeError(f"{kind.__name__} has no schema: {error}") from error
    return schema


def _is_model(kind: Any) -> bool:
    return all(callable(getattr(kind, name, None)) for name in ("model_json_schema", "model_validate", "model_dump"))


def _is_path(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, os.PathLike)


def is_union(kind: Any) -> bool:
    """Whether an annotation is a choice of types."""
    return typing.get_origin(kind) in (Union, types.UnionType)


def _apply_bounds(kind: Any, bounds: dict[str, Any]) -> Any:
    """Return the type with the bounds that msgspec can check; in a choice each member gets those that apply to it."""
    if is_union(kind):
        return functools.reduce(operator.or_, (_apply_bounds(member, bounds) for member in typing.get_args(kind)))
    for word, value in bounds.items():
        kind = _apply_bound(kind, word, value)
    return kind


def _apply_bound(kind: Any, word: str, value: Any) -> Any:
    """Return the type with one bound, unchanged if the bound does not apply to such a type."""
    try:
        bounded = Annotated[kind, msgspec.Meta(**{word: value})]
        msgspec.inspect.type_info(bounded)
    except (TypeError, ValueError, re.error):
        return kind
    return bounded


def _read_words(word: Any) -> Iterator[tuple[str, Any]]:
    """Yield the words of one object in an `Annotated`; none for what msgspec reads by itself."""
    if isinstance(word, (msgspec.Meta, type)):
        return
    if isinstance(text := word if isinstance(word, str) else getattr(word, "documentation", None), str):
        yield "description", text
        return
    parts: Any = word if hasattr(word, _GROUP_MARK) else getattr(word, "metadata", ())
    for part in parts if parts is word or isinstance(parts, list) else ():
        yield from _read_words(part)
    for name, kinds in _WORDS.items():
        value = getattr(word, name, None)
        if isinstance(value, kinds) and not isinstance(value, bool):
            yield name, value
