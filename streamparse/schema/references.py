"""References inside of schemas: what a `$ref` names, in its place.

Some providers read no references, and all want the properties of a tool at the top of its schema.  A reference that
leads into itself, or nowhere, and what nests without end is lost, and told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from streamparse.loss import Loss
from streamparse.schema.view import referred

__all__ = ["followed", "inlined", "nodes"]

MAPS = ("properties", "patternProperties", "dependentSchemas")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
DEFINITIONS = ("$defs", "definitions")
ABOUT = ("title", "description", "default", "examples", *DEFINITIONS)
"""Keywords that tell of a value, and permit or forbid none."""
MOST = 4096
"""Schemas that inlining may make of one: references may multiply."""
DEEPEST = 64
"""Schemas inside of each other that are written; those of requests come from anywhere."""


def inlined(schema: dict[str, Any], tool: str, lost: list[Loss]) -> dict[str, Any]:
    """Put what each `$ref` names in its place; one that leads into itself, or nowhere, is lost."""
    return _Inliner(schema, tool, lost).walk(schema, "", ())


def followed(schema: dict[str, Any]) -> dict[str, Any]:
    """Put what a `$ref` at the top of a schema names in its place, beside its definitions; what leads nowhere stays."""
    root, passed = schema, set()
    while isinstance(reference := schema.get("$ref"), str) and reference not in passed:
        passed.add(reference)
        if (target := _target(root, reference)) is None or target is root:
            break
        schema = _beside(target, {key: value for key, value in schema.items() if key != "$ref"})
    return schema


def _beside(target: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """What a reference names and what is said beside it, both of which hold; what tells of it replaces what told."""
    twice = {key: value for key, value in more.items() if key not in ABOUT and target.get(key, value) != value}
    once = {**target, **{key: value for key, value in more.items() if key not in twice}}
    return {**once, "allOf": [*_list(target.get("allOf")), twice]} if twice else once


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def nodes(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """A schema and all within it, each behind its JSON pointer; references are not followed."""
    waiting = [("", schema)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, dict):
            yield path, node
            waiting += [(f"{path}/{key}", node[key]) for key in SINGLE if key in node]
            for key in (*MAPS, *LISTS, *DEFINITIONS):
                waiting += [(f"{path}/{key}/{name}", each) for name, each in _members(node.get(key))]


def _members(value: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else ()


class _Inliner:
    def __init__(self, root: dict[str, Any], tool: str, lost: list[Loss]) -> None:
        self._root = root
        self._tool = tool
        self._lost = lost
        self._made = 0
        self._depth = 0

    def walk(self, schema: dict[str, Any], path: str, inside: tuple[str, ...]) -> dict[str, Any]:
        self._made += 1
        if self._depth >= DEEPEST:
            self._lost.append(Loss(self._tool, path, "", "dropped: it nests too deeply"))
            return {}
        self._depth += 1
        made = self._walked(schema, path, inside)
        self._depth -= 1
        return made

    def _walked(self, schema: dict[str, Any], path: str, inside: tuple[str, ...]) -> dict[str, Any]:
        reference = schema.get("$ref")
        if isinstance(reference, str):
            return self._follow(schema, reference, path, inside)
        made = {key: self._part(key, value, f"{path}/{key}", inside) for key, value in schema.items()}
        for key in () if inside or path else DEFINITIONS:
            made.pop(key, None)
        return made

    def _follow(self, schema: dict[str, Any], reference: str, path: str, inside: tuple[str, ...]) -> dict[str, Any]:
        target = _target(self._root, reference)
        beside = {key: value for key, value in schema.items() if key not in ("$ref", *DEFINITIONS)}
        if target is None or reference in inside or self._made > MOST:
            why = (
                "leads nowhere" if target is None else "leads into itself" if reference in inside else "grows too large"
            )
            self._lost.append(Loss(self._tool, path, "$ref", f"dropped: {reference} {why}"))
            target = {}
        return self.walk(_beside(target, beside), path, (*inside, reference))

    def _part(self, key: str, value: Any, path: str, inside: tuple[str, ...]) -> Any:
        if key in MAPS and isinstance(value, dict):
            return {name: self._schema(each, f"{path}/{name}", inside) for name, each in value.items()}
        if key in LISTS and isinstance(value, list):
            return [self._schema(each, f"{path}/{number}", inside) for number, each in enumerate(value)]
        return self._schema(value, path, inside) if key in SINGLE else value

    def _schema(self, value: Any, path: str, inside: tuple[str, ...]) -> Any:
        return self.walk(value, path, inside) if isinstance(value, dict) else value


def _target(root: Any, reference: str) -> dict[str, Any] | None:
    """The schema that a reference names."""
    found = referred(reference, root)
    return found if isinstance(found, dict) else None
