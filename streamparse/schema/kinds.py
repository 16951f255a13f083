"""Kinds: what a value of JSON can be, and how schemas and markup name it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, TypeAlias

__all__ = [
    "ANY",
    "JSON",
    "STRING",
    "VERBATIM",
    "Kinds",
    "kinds_of_attribute",
    "kinds_of_value",
    "kinds_of_word",
    "union",
]

Kinds: TypeAlias = frozenset[str]
"""JSON types; `integer` is a part of `number`.

`quoted`: a text that is a JSON string is what that says; `=TEXT`: this very text is a string, whatever it looks like.
"""

STRING: Final[Kinds] = frozenset({"string"})
ANY: Final[Kinds] = frozenset({"null", "boolean", "integer", "number", "object", "array", "string"})
JSON: Final[Kinds] = ANY | {"quoted"}
"""What a format says is JSON; its text is a string only if it cannot be read."""
VERBATIM: Final = "="
"""What stands before a text in the kind that says that it is a string."""

_WORDS: Final[dict[str, Kinds]] = {
    **{kind: frozenset({kind}) for kind in ANY},
    "number": frozenset({"number", "integer"}),
    # Schemas made by hand from Python's annotations name its types.
    **dict.fromkeys(("str", "text"), STRING),
    **dict.fromkeys(("int", "long"), frozenset({"integer"})),
    **dict.fromkeys(("float", "double"), frozenset({"number", "integer"})),
    "bool": frozenset({"boolean"}),
    "dict": frozenset({"object"}),
    "list": frozenset({"array"}),
}
_ATTRIBUTES: Final[dict[str, Kinds]] = {"true": STRING, "string": STRING, "false": JSON}


def kinds_of_attribute(word: str) -> Kinds | None:
    """Return what a type that is written in the markup permits; None if the word says nothing."""
    return _ATTRIBUTES.get(word) or (JSON if word in _WORDS else None)


def kinds_of_word(word: str) -> Kinds:
    """Return what a schema's `type` permits; a word that nobody knows permits anything."""
    return _WORDS.get(word.lower(), ANY)


def kinds_of_value(value: Any) -> Kinds:
    """Return the kind of a JSON value."""
    if isinstance(value, bool):
        return frozenset({"boolean"})
    if isinstance(value, int):
        return frozenset({"integer"})
    names = {type(None): "null", float: "number", str: "string", dict: "object", list: "array"}
    return frozenset({names.get(type(value), "string")})


def union(parts: Iterable[Kinds | None]) -> Kinds:
    """Return what any of the parts permits; without any, anything."""
    return frozenset(kind for part in parts if part is not None for kind in part) or ANY
