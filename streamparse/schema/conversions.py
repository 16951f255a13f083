"""Reads values as the types that a schema wants, where nothing is lost and the schema is met by it."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from functools import reduce
from operator import getitem
from typing import Any, Final, TypeAlias

from streamparse.repair.findings import Finding, named, pointer, shown
from streamparse.schema.lossless import KEEP, converted

__all__ = ["branches_of", "coerce_values"]

_Path: TypeAlias = tuple[Any, ...]
_Change: TypeAlias = tuple[_Path, Any]

_NAMES: Final[dict[type, str]] = {
    bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null", dict: "object", list: "array",
}  # fmt: skip


def coerce_values(
    errors: Iterable[Any], arguments: dict[str, Any], found: dict[_Path, Finding]
) -> dict[str, Any] | None:
    """Convert each value whose type is wrong and for which there is a lossless way; None if there is none.

    `errors` are those of jsonschema-rs; `found` takes what was converted, and no place is converted twice.
    """
    ways = (way for error in errors for way in _ways(error, arguments))
    changes = {path: value for path, value in ways if path not in found}
    if not changes:
        return None
    arguments = copy.deepcopy(arguments)
    for path, value in changes.items():
        found[path] = _put(arguments, path, value)
    return arguments


def _put(arguments: dict[str, Any], path: _Path, value: Any) -> Finding:
    """Put a value in the place of another, and say so."""
    parent = _at(arguments, path[:-1])
    message = f"{named(path)}: {shown(parent[path[-1]])} was read as {shown(value)}"
    parent[path[-1]] = value
    return Finding("coerced", message, pointer(path), fatal=False)


def _at(value: Any, path: _Path) -> Any:
    return reduce(getitem, path, value)


def _ways(error: Any, arguments: dict[str, Any]) -> list[_Change]:
    """What would take an error away; nothing if that cannot be done."""
    if error.kind.name in ("anyOf", "oneOf"):
        return _of_branches(error, arguments)
    path = tuple(error.instance_path)
    wanted = _WANTED.get(error.kind.name)
    if wanted is None or not path:
        return []
    value = wanted(_at(arguments, path), error.kind.value)
    return [] if value is KEEP else [(path, value)]


def _of_branches(error: Any, arguments: dict[str, Any]) -> list[_Change]:
    """The changes by which the first branch of a choice is met that can be."""
    branches = ([_ways(each, arguments) for each in branch] for branch in branches_of(error))
    fitting = (changes for changes in branches if all(changes))
    return [change for changes in next(fitting, []) for change in changes]


def branches_of(error: Any) -> list[list[Any]]:
    """What keeps each branch of a choice from being met; nothing where more than one of them is met."""
    if error.kind.name not in ("anyOf", "oneOf"):
        return []
    branches = error.kind.value if isinstance(error.kind.value, list) else []
    return branches if all(branches) else []


def _of_type(value: Any, names: Any) -> Any:
    ways = (converted(value, name) for name in ([names] if isinstance(names, str) else names))
    return next((way for way in ways if way is not KEEP), KEEP)


def _of_members(value: Any, members: list[Any]) -> Any:
    """The one of some values that is meant."""
    ways = ((converted(value, _NAMES.get(type(member), "")), member) for member in members)
    return next((member for way, member in ways if way is not KEEP and way == member), KEEP)


_WANTED: Final[dict[str, Any]] = {
    "type": _of_type,
    "enum": _of_members,
    "const": lambda value, member: _of_members(value, [member]),
}
"""What a keyword that a value breaks wants in its place."""
