"""What a place in a schema permits.

A schema is read as JSON Schema has it: `type`, `const` and `enum`, `anyOf`, `oneOf`, `allOf`, local `$ref`, and
OpenAPI's `nullable`.  All keywords of a schema hold together; a schema that contradicts itself permits anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from streamparse.schema.text_values import (
    ANY,
    STRING,
    VERBATIM,
    Kinds,
    get_kind,
    join_kinds,
    quote,
    read_type_name,
    to_json_text,
)
from streamparse.schema.walk import resolve_ref

_COMBINED: Final = ("anyOf", "oneOf", "allOf")


class SchemaView:
    """A place in a schema: the `kinds` of values it permits, and what it says of its members.

    `schemas` are alternatives; without any, everything is permitted.  `root` is the schema that references lead into.
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

    def member(self, key: str) -> SchemaView:
        """What an object's member may be."""
        named = [schema["properties"].get(key) for schema in self._objects()]
        if any(schema is not None for schema in named):
            return SchemaView([schema for schema in named if schema is not None], self._root)
        return self._inner("additionalProperties")

    def item(self) -> SchemaView:
        """What an array's element may be."""
        return self._inner("items")

    @property
    def members(self) -> frozenset[str]:
        """The names of an object's members, as far as they are declared."""
        return frozenset(key for schema in self._objects() for key in schema["properties"])

    def _objects(self) -> Iterator[dict[str, Any]]:
        return (schema for schema in self._branches if isinstance(schema.get("properties"), dict))

    def _inner(self, keyword: str) -> SchemaView:
        inner = (schema.get(keyword) for schema in self._branches)
        return SchemaView([schema for schema in inner if isinstance(schema, dict)], self._root)


def _branches(schemas: Iterable[Any], root: Any) -> Iterator[dict[str, Any]]:
    """Yield the schemas, those they refer to, and their branches, each once."""
    seen: set[int] = set()
    waiting = [*schemas]
    while waiting:
        schema = waiting.pop(0)
        if isinstance(schema, dict) and id(schema) not in seen:
            seen.add(id(schema))
            yield schema
            branches = [branch for key in _COMBINED for branch in _as_list(schema.get(key))]
            waiting += [resolve_ref(schema.get("$ref"), root), *branches]


def _permitted(schema: Any, root: Any, seen: set[int]) -> Kinds | None:
    """What a schema permits; None for one that is being asked already: it refers to itself."""
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
        yield _permitted(resolve_ref(schema.get("$ref"), root), root, seen) or ANY
    if "type" in schema:
        yield join_kinds(read_type_name(word) for word in _as_list(schema["type"]) if isinstance(word, str))
    if "const" in schema:
        yield get_kind(schema["const"])
    elif _as_list(schema.get("enum")):
        yield join_kinds(get_kind(value) for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if branches := _as_list(schema.get(key)):
            yield join_kinds(_permitted(branch, root, seen) for branch in branches)
    for branch in _as_list(schema.get("allOf")):
        yield _permitted(branch, root, seen) or ANY


def _verbatim(branches: list[dict[str, Any]], kinds: Kinds) -> Kinds:
    """The texts that a schema lists as strings, and that would be read as something else."""
    if kinds == STRING or "string" not in kinds:
        return frozenset()
    listed = (value for schema in branches for value in (*_as_list(schema.get("enum")), schema.get("const")))
    texts = (value for value in listed if isinstance(value, str))
    return frozenset(VERBATIM + text for text in texts if to_json_text(text, kinds) != quote(text))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
