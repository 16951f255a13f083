"""What annotations say that msgspec does not read by itself.

| annotation | is read as |
|---|---|
| `Annotated[T, "text"]`, `Doc("text")` | the description of T |
| `Annotated[T, Field(ge=1, description=...)]`, the words of annotated-types | `msgspec.Meta`, as far as T takes it |
| a model of pydantic | its own schema; the value is made by its own `model_validate` |
| a path of `pathlib` | a string |
| `Iterable[T]` | `list[T]` |
| `object` | anything |

All goes by the shape of the things: none of these libraries is imported.
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

__all__ = ["describe_annotation", "encoded", "is_union", "made", "may_be_none", "read_annotation", "schema_of"]

_NUMBER: Final = (int, float)
_WORDS: Final[dict[str, type | tuple[type, ...]]] = {
    "gt": _NUMBER, "ge": _NUMBER, "lt": _NUMBER, "le": _NUMBER, "multiple_of": _NUMBER, "min_length": int,
    "max_length": int, "pattern": str, "title": str, "description": str, "examples": list,
}  # fmt: skip
"""The words that `msgspec.Meta` shares with the others, and what may be said with them."""
_TELLING: Final = ("title", "description", "examples")
"""Those that any type takes."""
_GROUPED: Final = "__is_annotated_types_grouped_metadata__"
"""What shows that a word stands for several, which it is an iterable of."""
_PLAINER: Final[dict[Any, Any]] = {object: Any, collections.abc.Iterable: list}


def read_annotation(annotation: Any) -> Any:
    """The annotation in words that msgspec knows, as far as this module does; what needs none comes back as it is."""
    origin = typing.get_origin(annotation)
    if origin is None or origin is Literal:
        return _PLAINER.get(annotation, annotation) if isinstance(annotation, type) else annotation
    if origin is Annotated:
        return _worded(read_annotation(annotation.__origin__), annotation.__metadata__)
    arguments = typing.get_args(annotation)
    read = tuple(map(read_annotation, arguments))
    if origin in _PLAINER:
        return _PLAINER[origin][read] if read else _PLAINER[origin]
    if all(new is old for new, old in zip(read, arguments, strict=True)):
        return annotation
    return functools.reduce(operator.or_, read) if is_union(annotation) else origin[read]


def describe_annotation(annotation: Any) -> str:
    """The description that an `Annotated` gives, "" if it gives none."""
    while typing.get_origin(annotation) in (typing.Required, typing.NotRequired):
        (annotation,) = typing.get_args(annotation)
    if typing.get_origin(annotation) is not Annotated:
        return ""
    texts = [each.description for each in annotation.__metadata__ if isinstance(each, msgspec.Meta)]
    texts += [value for each in annotation.__metadata__ for word, value in _said(each) if word == "description"]
    return next(filter(None, texts), "")


def may_be_none(annotation: Any) -> bool:
    """Whether a value may be None; of an annotation that was read."""
    while typing.get_origin(annotation) is Annotated:
        annotation = annotation.__origin__
    choice = is_union(annotation) or typing.get_origin(annotation) is Literal
    options = typing.get_args(annotation) if choice else (annotation,)
    return any(option is kind for option in options for kind in (Any, None, types.NoneType))


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON Schema of a type that msgspec does not know.

    Raises NotImplementedError for one nobody knows here, and TypeError for a model that has none.
    """
    if _is_model(kind):
        return _schema_of_model(kind)
    if _is_path(kind):
        return {"type": "string", "format": "path"}
    raise NotImplementedError


def made(kind: Any, value: Any) -> Any:
    """The value of such a type that a JSON value says.  Raises ValueError or TypeError if it is none."""
    if _is_model(kind):
        return kind.model_validate(value)
    if _is_path(kind) and isinstance(value, str):
        return kind(value)
    raise TypeError(f"expected `str`, got `{type(value).__name__}`" if _is_path(kind) else f"no {kind!r} can be made")


def encoded(value: Any) -> Any:
    """The JSON value of what msgspec does not know.  Raises NotImplementedError for what nobody knows here."""
    if _is_model(type(value)):
        return value.model_dump(mode="json")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise NotImplementedError


def _schema_of_model(kind: Any) -> dict[str, Any]:
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


def _worded(kind: Any, metadata: tuple[Any, ...]) -> Any:
    """The type with its metadata, and with what of it only others say."""
    said = {word: value for each in metadata for word, value in _said(each)}
    told = {word: said.pop(word) for word in _TELLING if word in said}
    return Annotated[(_bounded(kind, said), *metadata, *([msgspec.Meta(**told)] if told else []))]


def _bounded(kind: Any, bounds: dict[str, Any]) -> Any:
    """The type within the bounds that msgspec can hold it to; of a choice, each member within its own."""
    if is_union(kind):
        return functools.reduce(operator.or_, (_bounded(member, bounds) for member in typing.get_args(kind)))
    for word, value in bounds.items():
        kind = _within(kind, word, value)
    return kind


def _within(kind: Any, word: str, value: Any) -> Any:
    """The type within one bound; as it is, if that says nothing of such a type."""
    try:
        bounded = Annotated[kind, msgspec.Meta(**{word: value})]
        msgspec.inspect.type_info(bounded)
    except (TypeError, ValueError, re.error):
        return kind
    return bounded


def _said(word: Any) -> Iterator[tuple[str, Any]]:
    """What one word of an `Annotated` says; those that msgspec reads say nothing here."""
    if isinstance(word, (msgspec.Meta, type)):
        return
    if isinstance(text := word if isinstance(word, str) else getattr(word, "documentation", None), str):
        yield "description", text
        return
    parts: Any = word if hasattr(word, _GROUPED) else getattr(word, "metadata", ())
    for part in parts if parts is word or isinstance(parts, list) else ():
        yield from _said(part)
    for name, kinds in _WORDS.items():
        value = getattr(word, name, None)
        if isinstance(value, kinds) and not isinstance(value, bool):
            yield name, value
