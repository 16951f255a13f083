"""Walks a schema: where it holds other schemas, and what its references lead to.

`list_subschemas` is the one place that knows the keywords; whatever walks or rewrites a schema goes through it.

Some providers read no references, and all want the properties of a tool at the top of its schema: `inline_refs` and
`expand_root_ref` put what a `$ref` names in its place.  A reference that leads into itself, or nowhere, and what nests
too deeply is lost, and reported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, cast

from streamparse.loss import Loss

DEFINITIONS: Final = ("$defs", "definitions")
# Keywords that describe a value, and permit or forbid none.
ABOUT: Final = ("title", "description", "default", "examples", *DEFINITIONS)

# Keywords whose value holds schemas by name.
_IN_MAPS: Final = frozenset(("properties", "patternProperties", "dependentSchemas", "dependencies", *DEFINITIONS))
# Keywords whose value is a list of schemas.
_IN_LISTS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items"))
# Keywords whose value is a schema.
_IN_PLACE: Final = frozenset(
    ("additionalProperties", "unevaluatedProperties", "items", "additionalItems", "unevaluatedItems", "contains",
     "propertyNames", "not", "if", "then", "else", "contentSchema")
)  # fmt: skip

_MOST: Final = 4096  # bound: the schemas that inlining makes of one; references may multiply
_DEEPEST: Final = 64  # bound: the schemas inside each other that are inlined; those of requests come from anywhere


def list_subschemas(schema: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Yield each schema directly inside one: the keyword, the name or number there, the schema.

    There is no name (None) where the schema is the keyword's own value.  What is yielded may be a bool, or no schema.
    """
    for keyword, value in schema.items():
        if keyword in _IN_MAPS and isinstance(value, dict):
            yield from ((keyword, name, each) for name, each in value.items())
        elif keyword in _IN_LISTS and isinstance(value, list):
            yield from ((keyword, number, each) for number, each in enumerate(value))
        elif keyword in _IN_PLACE:
            yield keyword, None, value


def walk(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a schema and all schemas within it, each with its JSON Pointer; references are not followed."""
    waiting = [("", schema)]
    while waiting:
        path, node = waiting.pop()
        if isinstance(node, dict):
            yield path, node
            inside = [(f"{path}/{_format_step(keyword, name)}", each) for keyword, name, each in list_subschemas(node)]
            waiting += reversed(inside)


def map_subschemas(
    schema: dict[str, Any], change: Callable[[Any, str], Any], *, without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a copy whose subschemas are what `change` returns for each and its relative pointer.

    The values of the keywords `without` stay as they are.
    """
    made = dict(schema)
    for keyword, name, each in list_subschemas(schema):
        if keyword in without:
            continue
        changed = change(each, _format_step(keyword, name))
        if name is None:
            made[keyword] = changed
        else:
            if made[keyword] is schema[keyword]:
                made[keyword] = schema[keyword].copy()
            made[keyword][name] = changed
    return made


def _format_step(keyword: str, name: Any) -> str:
    return keyword if name is None else f"{keyword}/{name}"


# -- references ------------------------------------------------------------------------------------


def resolve_ref(reference: Any, root: Any) -> Any:
    """Return what the `$ref` `#/a/b` leads to in the schema `root`.

    None if that is nothing, another document, or the name of an anchor (`#a`), for which none is looked.
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    from urllib.parse import unquote  # noqa: PLC0415 - a slow import, which few schemas need

    pointer = unquote(reference[1:])
    return None if pointer and not pointer.startswith("/") else follow_pointer(root, pointer)


def follow_pointer(value: Any, pointer: str) -> Any:
    """Return what a JSON Pointer (RFC 6901) leads to; None if that is nothing."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and re.fullmatch("[0-9]{1,9}", name) and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def expand_root_ref(schema: dict[str, Any]) -> dict[str, Any]:
    """Put what a `$ref` at the top of a schema names in its place, keeping its definitions; one to nothing stays."""
    root, passed = schema, set()
    while isinstance(reference := schema.get("$ref"), str) and reference not in passed:
        passed.add(reference)
        if not isinstance(target := resolve_ref(reference, root), dict) or target is root:
            break
        schema = _merge(target, {key: value for key, value in schema.items() if key != "$ref"})
    return schema


def inline_refs(schema: dict[str, Any], tool: str, lost: list[Loss]) -> dict[str, Any]:
    """Put what each `$ref` names in its place, and drop the definitions; `lost` gets what cannot be inlined."""
    return cast("dict[str, Any]", _Inliner(schema, tool, lost).inline(schema, "", ()))


def _merge(target: dict[str, Any], siblings: dict[str, Any]) -> dict[str, Any]:
    """Merge what a reference names with its sibling keywords; both hold; of two descriptions the sibling's stays."""
    twice = {key: value for key, value in siblings.items() if key not in ABOUT and target.get(key, value) != value}
    once = {**target, **{key: value for key, value in siblings.items() if key not in twice}}
    all_of = target.get("allOf")
    return {**once, "allOf": [*(all_of if isinstance(all_of, list) else ()), twice]} if twice else once


class _Inliner:
    def __init__(self, root: dict[str, Any], tool: str, lost: list[Loss]) -> None:
        self._root = root
        self._tool = tool
        self._lost = lost
        self._made = 0

    def inline(self, schema: Any, path: str, inside: tuple[str, ...], depth: int = 0) -> Any:
        """Inline the references of a schema that is `inside` what these references name."""
        if not isinstance(schema, dict):
            return schema
        self._made += 1
        if depth >= _DEEPEST:
            return self._lose(path, "", "dropped: it nests too deeply")
        if isinstance(reference := schema.get("$ref"), str):
            target = self._resolve(reference, path, inside)
            siblings = {key: value for key, value in schema.items() if key not in ("$ref", *DEFINITIONS)}
            return self.inline(_merge(target, siblings), path, (*inside, reference), depth + 1)
        top = DEFINITIONS if not inside and not path else ()
        return map_subschemas(
            {key: value for key, value in schema.items() if key not in top},
            lambda each, step: self.inline(each, f"{path}/{step}", inside, depth + 1),
            without=DEFINITIONS,
        )

    def _resolve(self, reference: str, path: str, inside: tuple[str, ...]) -> dict[str, Any]:
        target = resolve_ref(reference, self._root)
        if not isinstance(target, dict):
            why = "leads nowhere"
        elif reference in inside:
            why = "leads into itself"
        elif self._made > _MOST:
            why = "grows too large"
        else:
            return target
        return self._lose(path, "$ref", f"dropped: {reference} {why}")

    def _lose(self, path: str, keyword: str, done: str) -> dict[str, Any]:
        self._lost.append(Loss(self._tool, path, keyword, done))
        return {}
