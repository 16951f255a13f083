"""Reads values as the types that a schema wants, where nothing is lost and the schema is met by it."""

from __future__ import annotations

import copy
from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from streamparse.repair.findings import Finding, named, pointer, shown
from streamparse.repair.lossless import KEEP, converted

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

__all__ = ["branches_of", "coerced"]

_PASSES: Final = 4
"""A value that was text may hold text again."""

_Path: TypeAlias = tuple[Any, ...]
_Change: TypeAlias = tuple[_Path, Any]

_NAMES: Final[dict[type, str]] = {
    bool: "boolean", int: "integer", float: "number", str: "string", type(None): "null", dict: "object", list: "array",
}  # fmt: skip


def coerced(validator: Validator, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Convert, from the outside in, each value whose type is wrong and for which there is a lossless way."""
    found: dict[_Path, Finding] = {}
    for _ in range(_PASSES):
        ways = (way for error in validator.iter_errors(arguments) for way in _ways(error, arguments))
        changes = {path: value for path, value in ways if path not in found}
        if not changes:
            break
        arguments = copy.deepcopy(arguments)
        for path, value in changes.items():
            found[path] = _put(arguments, path, value)
    return arguments, [*found.values()]


def _put(arguments: dict[str, Any], path: _Path, value: Any) -> Finding:
    """Put a value in the place of another, and say so."""
    parent = _at(arguments, path[:-1])
    message = f"{named(path)}: {shown(parent[path[-1]])} was read as {shown(value)}"
    parent[path[-1]] = value
    return Finding("coerced", message, pointer(path), fatal=False)


def _at(value: Any, path: _Path) -> Any:
    return reduce(getitem, path, value)


def _ways(error: ValidationError, arguments: dict[str, Any]) -> list[_Change]:
    """What would take an error away; nothing if that cannot be done."""
    if error.context:
        return _of_branches(error, arguments)
    path = tuple(error.absolute_path)
    wanted = _WANTED.get(str(error.validator))
    if wanted is None or not path or _at(arguments, path) is not error.instance:  # of a name, at its object's path
        return []
    value = wanted(error.instance, error.validator_value)
    return [] if value is KEEP else [(path, value)]


def _of_branches(error: ValidationError, arguments: dict[str, Any]) -> list[_Change]:
    """The changes by which the first branch of a choice is met that can be."""
    branches = ([_ways(each, arguments) for each in branch] for branch in branches_of(error))
    fitting = (changes for changes in branches if all(changes))
    return [change for changes in next(fitting, []) for change in changes]


def branches_of(error: ValidationError) -> list[list[ValidationError]]:
    """What keeps each branch of a choice from being met."""
    branches: dict[Any, list[ValidationError]] = {}
    for each in error.context or ():
        branch = next(iter(each.relative_schema_path), None)  # a branch that is `false` has no path
        branches.setdefault(branch, []).append(each)
    return [*branches.values()]


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
