"""Reads values as the types that a schema wants, where nothing is lost: the old value follows from the new one."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import reduce
from math import isfinite
from operator import getitem
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

from streamparse.findings import Finding, format_path, make_pointer, preview
from streamparse.schema.kinds import TYPE_NAMES

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError  # an extra

# Returned where there is no lossless conversion.
NO_CONVERSION: Final = object()

_Path: TypeAlias = tuple[Any, ...]
_Change: TypeAlias = tuple[_Path, Any]


def coerce_values(
    errors: Iterable[ValidationError], arguments: dict[str, Any], found: dict[_Path, Finding], written: str = ""
) -> dict[str, Any] | None:
    """Convert each value whose type is wrong and for which there is a lossless way; None if nothing changes.

    `errors` are those of jsonschema-rs; `found` takes what was converted, and no place is converted twice.
    `written` is the text of the arguments, "" if it is not known: `3.10` was read as 3.1, and is no text "3.1".
    """
    literals = frozenset(_LITERAL.findall(written)) if written else None
    ways = (way for error in errors for way in _list_changes(error, arguments))
    changes = {
        path: value
        for path, value in ways
        if path not in found and not _loses_digits(reduce(getitem, path, arguments), value, literals)
    }
    if not changes:
        return None
    arguments = copy.deepcopy(arguments)
    for path, value in changes.items():
        found[path] = _replace_value(arguments, path, value)
    return arguments


def _loses_digits(value: Any, converted: Any, literals: frozenset[str] | None) -> bool:
    """Whether a number is not as it was written once it is a text."""
    is_text = isinstance(value, float) and isinstance(converted, str)
    return is_text and literals is not None and converted not in literals


def _replace_value(arguments: Any, path: _Path, value: Any) -> Finding:
    """Replace a value, and return the finding about it."""
    parent = reduce(getitem, path[:-1], arguments)
    message = f"{format_path(path)}: {preview(parent[path[-1]])} was read as {preview(value)}"
    parent[path[-1]] = value
    return Finding("coerced", message, make_pointer(path), fatal=False)


def _list_changes(error: ValidationError, arguments: Any) -> list[_Change]:
    """The changes that would mend an error; none if there is no lossless way."""
    if error.kind.name in ("anyOf", "oneOf"):  # the first branch that conversions can meet
        branches = ([_list_changes(each, arguments) for each in branch] for branch in list_branches(error))
        fitting = (changes for changes in branches if all(changes))
        return [change for changes in next(fitting, []) for change in changes]
    wanted = _WANTED.get(error.kind.name)
    if wanted is None or not (path := _find_place(error, arguments)):
        return []
    value = wanted(error.instance, error.kind.value)
    return [] if value is NO_CONVERSION else [(path, value)]


def _find_place(error: ValidationError, arguments: dict[str, Any]) -> _Path:
    """Find where the value of an error is; an empty path if that is not sure.

    jsonschema-rs gives the key "1" as a number, "01" as the same, and "" not at all.
    """
    path: list[Any] = []
    value: Any = arguments
    for step in error.instance_path:
        path.append(str(step) if isinstance(value, dict) else step)
        try:
            value = value[path[-1]]
        except (LookupError, TypeError):
            return ()
    return tuple(path) if value == error.instance else ()


def list_branches(error: ValidationError) -> list[list[ValidationError]]:
    """Return the errors of each branch of a choice; nothing where more than one branch is met."""
    # The value of such an error is the list of them.
    branches = error.kind.value if error.kind.name in ("anyOf", "oneOf") else None
    return branches if isinstance(branches, list) and all(branches) else []


def _convert_to_type(value: Any, names: Any) -> Any:
    ways = (convert(value, name) for name in ([names] if isinstance(names, str) else names))
    return next((way for way in ways if way is not NO_CONVERSION), NO_CONVERSION)


def _choose_member(value: Any, members: list[Any]) -> Any:
    """The listed value that a text means."""
    ways = ((convert(value, TYPE_NAMES.get(type(member), "")), member) for member in members)
    return next((member for way, member in ways if way is not NO_CONVERSION and way == member), NO_CONVERSION)


# What a keyword that a value breaks wants in its place.
_WANTED: Final[dict[str, Any]] = {
    "type": _convert_to_type,
    "enum": _choose_member,
    "const": lambda value, member: _choose_member(value, [member]),
}


# -- one value -------------------------------------------------------------------------------------

_LITERAL = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,999})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,3})?")
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}


def convert(value: Any, type_name: str) -> Any:
    """Return `value` as the JSON type, or NO_CONVERSION if that cannot be done without loss."""
    kind = "text" if isinstance(value, str) else "scalar" if isinstance(value, (bool, int, float)) else ""
    conversion = _CONVERSIONS.get((kind, type_name))
    return NO_CONVERSION if conversion is None else conversion(value)


def _read_integer(text: str) -> Any:
    """An integer, also where it is written as `3.0` or `1e3`: to JSON Schema that is one."""
    if _INTEGER.fullmatch(text):
        return int(text)
    value = Decimal(text) if _NUMBER.fullmatch(text) else Decimal("NaN")
    return int(value) if value.is_finite() and value == value.to_integral_value() else NO_CONVERSION


def _write_text(value: float) -> Any:
    """The JSON text of a number or bool; a number that is not finite has none."""
    is_finite = isinstance(value, int) or isfinite(value)  # an integer may be larger than any float
    return msgspec.json.encode(value).decode() if is_finite else NO_CONVERSION


def _read_number(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text)
    if not _NUMBER.fullmatch(text):
        return NO_CONVERSION
    value = float(text)
    return value if Decimal(repr(value)) == Decimal(text) else NO_CONVERSION


def _make_word_reader(kind: type) -> Callable[[str], Any]:
    return lambda text: _WORDS[text] if text in _WORDS and isinstance(_WORDS[text], kind) else NO_CONVERSION


def _read_exactly(text: str) -> Any:
    """Read a number; raises ValueError for one that a float would round."""
    if (value := _read_number(text)) is NO_CONVERSION:
        raise ValueError(f"a float cannot hold {text}")
    return value


def _read_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Read an object; raises ValueError if a key comes twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key comes twice")
    return members


def _make_container_reader(kind: type) -> Callable[[str], Any]:
    def read(text: str) -> Any:
        try:
            msgspec.json.decode(text)  # which refuses more: a surrogate alone, `NaN`
            value = json.loads(text, parse_float=_read_exactly, object_pairs_hook=_read_members)
        except (ValueError, RecursionError):
            return NO_CONVERSION
        return value if isinstance(value, kind) else NO_CONVERSION

    return read


_CONVERSIONS: Final[dict[tuple[str, str], Callable[[Any], Any]]] = {
    ("text", "integer"): _read_integer,
    ("text", "number"): _read_number,
    ("text", "boolean"): _make_word_reader(bool),
    ("text", "null"): _make_word_reader(type(None)),
    ("text", "object"): _make_container_reader(dict),
    ("text", "array"): _make_container_reader(list),
    ("scalar", "string"): _write_text,
}
