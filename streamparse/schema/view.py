"""Schemas: what a place in one permits.

They are read as JSON Schema has it: `type`, `const` and `enum`, `anyOf`, `oneOf`, `allOf`, local `$ref`, and OpenAPI's
`nullable`.  Keywords beside each other all hold; what contradicts itself permits anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from streamparse.schema.kinds import ANY, STRING, VERBATIM, Kinds, kinds_of_value, kinds_of_word, union
from streamparse.schema.text_values import coerced, quoted

__all__ = ["Typed", "referred"]

_COMBINED: Final = ("anyOf", "oneOf", "allOf")


class Typed:
    """A place in a schema: the `kinds` it permits, and what it says of its members.

    `schemas` are alternatives; without any, everything is permitted.  `root` is where references lead.
    """

    __slots__ = ("_alternatives", "_branches", "_kinds", "_root")

    def __init__(self, schemas: Iterable[Any], root: Any) -> None:
        self._alternatives = list(schemas)
        self._root = root
        self._branches = list(_branches(self._alternatives, root))
        self._kinds: Kinds | None = None

    @property
    def kinds(self) -> Kinds:
        """The kinds of values that are permitted."""
        if self._kinds is None:
            kinds = _permitted({"anyOf": self._alternatives}, self._root, set()) or ANY
            self._kinds = kinds | _verbatim(self._branches, kinds)
        return self._kinds

    def member(self, key: str) -> Typed:
        """What an object's member may be."""
        named = [_at(schema.get("properties"), key) for schema in self._branches]
        if any(schema is not None for schema in named):
            return Typed([schema for schema in named if schema is not None], self._root)
        others = [schema.get("additionalProperties") for schema in self._branches]
        return Typed([schema for schema in others if isinstance(schema, dict)], self._root)

    def item(self) -> Typed:
        """What an array's element may be."""
        items = [schema.get("items") for schema in self._branches]
        return Typed([schema for schema in items if isinstance(schema, dict)], self._root)

    @property
    def members(self) -> frozenset[str]:
        """The names of an object's members, as far as they are declared."""
        named = [schema.get("properties") for schema in self._branches]
        return frozenset(key for properties in named if isinstance(properties, dict) for key in properties)


def referred(reference: Any, root: Any) -> Any:
    """Return what the `$ref` `#/a/b` leads to, in the schema that is its root; None if that is nothing, or not here."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    from urllib.parse import unquote  # noqa: PLC0415 - a slow import, which few schemas need

    target = root
    for step in unquote(reference[1:]).split("/")[1:]:
        target = _at(target, step.replace("~1", "/").replace("~0", "~"))
    return target


def _branches(schemas: Iterable[Any], root: Any) -> Iterator[dict[str, Any]]:
    """Yield the schemas, those they refer to, and their branches, each once."""
    seen: set[int] = set()
    waiting = [*schemas]
    while waiting:
        schema = waiting.pop(0)
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema
            branches = [branch for key in _COMBINED for branch in _list(schema.get(key))]
            waiting += [referred(schema.get("$ref"), root), *branches]


def _permitted(schema: Any, root: Any, seen: set[int]) -> Kinds | None:
    """What a schema permits; None where it has been asked before, on the way here."""
    if not isinstance(schema, dict):
        return ANY
    if id(schema) in seen:
        return None
    seen.add(id(schema))
    allowed = ANY
    for part in _constraints(schema, root, seen):
        allowed &= part
    return (allowed or ANY) | ({"null"} if schema.get("nullable") is True else set())


def _constraints(schema: dict[str, Any], root: Any, seen: set[int]) -> Iterator[Kinds]:
    """Yield what each keyword of a schema permits."""
    if "$ref" in schema:
        yield _permitted(referred(schema.get("$ref"), root), root, seen) or ANY
    if "type" in schema:
        yield union(kinds_of_word(word) for word in _list(schema["type"]) if isinstance(word, str))
    if "const" in schema:
        yield kinds_of_value(schema["const"])
    elif _list(schema.get("enum")):
        yield union(kinds_of_value(value) for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if branches := _list(schema.get(key)):
            yield union(_permitted(branch, root, seen) for branch in branches)
    for branch in _list(schema.get("allOf")):
        yield _permitted(branch, root, seen) or ANY


def _verbatim(branches: list[dict[str, Any]], kinds: Kinds) -> Kinds:
    """The texts that a schema lists as strings, and that would be read as something else."""
    if kinds == STRING or "string" not in kinds:
        return frozenset()
    listed = (value for schema in branches for value in (*_list(schema.get("enum")), schema.get("const")))
    texts = (value for value in listed if isinstance(value, str))
    return frozenset(VERBATIM + text for text in texts if coerced(text, kinds) != quoted(text))


def _at(value: Any, key: str) -> Any:
    if isinstance(value, list) and re.fullmatch("[0-9]{1,9}", key) and int(key) < len(value):
        return value[int(key)]
    return value.get(key) if isinstance(value, dict) else None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
