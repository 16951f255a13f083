"""Conversions between JSON types that lose nothing: what came can be told from what it became."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from decimal import Decimal
from math import isfinite
from typing import Any, Final

import msgspec

__all__ = ["KEEP", "converted"]

KEEP: Final = object()
"""Says that there is no lossless way."""

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,999})")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?(?:[eE][+-]?[0-9]{1,3})?")
_WORDS: Final[dict[str, Any]] = {"true": True, "false": False, "null": None}


def converted(value: Any, type_name: str) -> Any:
    """Return `value` as the JSON type, or KEEP if that cannot be done without loss."""
    convert = _CONVERSIONS.get((_kind(value), type_name))
    return KEEP if convert is None else convert(value)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "scalar" if isinstance(value, (bool, int, float)) else ""


def _integer(text: str) -> Any:
    """An integer, also where it is written as `3.0` or `1e3`: to JSON Schema that is one."""
    if _INTEGER.fullmatch(text):
        return int(text)
    value = Decimal(text) if _NUMBER.fullmatch(text) else Decimal("NaN")
    return int(value) if value.is_finite() and value == value.to_integral_value() else KEEP


def _text(value: float) -> Any:
    """A number's or truth's JSON text; there is none of what is not finite."""
    return msgspec.json.encode(value).decode() if isfinite(value) else KEEP


def _number(text: str) -> Any:
    if _INTEGER.fullmatch(text):
        return int(text)
    if not _NUMBER.fullmatch(text):
        return KEEP
    value = float(text)
    return value if Decimal(repr(value)) == Decimal(text) else KEEP


def _word(kind: type) -> Callable[[str], Any]:
    return lambda text: _WORDS[text] if text in _WORDS and isinstance(_WORDS[text], kind) else KEEP


def _exact(text: str) -> Any:
    """Read a number; raises ValueError for one that a float would round."""
    if (value := _number(text)) is KEEP:
        raise ValueError(f"a float cannot hold {text}")
    return value


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Read an object; raises ValueError if a key comes twice."""
    members = dict(pairs)
    if len(members) < len(pairs):
        raise ValueError("a key comes twice")
    return members


def _container(kind: type) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        try:
            msgspec.json.decode(text)  # which refuses more: a surrogate alone, `NaN`
            value = json.loads(text, parse_float=_exact, object_pairs_hook=_members)
        except (ValueError, RecursionError):
            return KEEP
        return value if isinstance(value, kind) else KEEP

    return convert


_CONVERSIONS: Final[dict[tuple[str, str], Callable[[Any], Any]]] = {
    ("text", "integer"): _integer,
    ("text", "number"): _number,
    ("text", "boolean"): _word(bool),
    ("text", "null"): _word(type(None)),
    ("text", "object"): _container(dict),
    ("text", "array"): _container(list),
    ("scalar", "string"): _text,
}
