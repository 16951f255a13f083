"""Schemas of several types as a choice between schemas of one each.

A keyword speaks of the values of one type and lets all others pass, so each type takes its own with it; what speaks of
all values stays beside the choice.
"""

from __future__ import annotations

from typing import Any, Final

__all__ = ["several"]

_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_SPEAKS_OF: Final[dict[str, tuple[str, ...]]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": _NUMBERS,
    "number": _NUMBERS,
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "object": (
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
        "maxProperties", "propertyOrdering",
    ),
}  # fmt: skip
_OWNED: Final = frozenset(keyword for keywords in _SPEAKS_OF.values() for keyword in keywords)
_KINDS: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def several(schema: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The schemas of one type each that a schema chooses from, and what it says beside; none if it has one type."""
    kinds = schema.get("type")
    others = [each for each in kinds if isinstance(each, str) and each != "null"] if isinstance(kinds, list) else []
    if len(others) < 2:
        return [], schema
    members = [member for kind in others if (member := _member(kind, schema)) is not None]
    if not members:
        return [], {**schema, "type": others[0]}
    common = {key: value for key, value in schema.items() if key not in ("type", "enum", "const", *_OWNED)}
    return members, {**common, "nullable": True} if "null" in schema["type"] else common


def _member(kind: str, schema: dict[str, Any]) -> dict[str, Any] | None:
    """What a schema says of the values of one type; None if none of these is listed."""
    member = {"type": kind, **{key: schema[key] for key in _SPEAKS_OF.get(kind, ()) if key in schema}}
    if "const" in schema:
        return {**member, "const": schema["const"]} if _is_a(schema["const"], kind) else None
    if isinstance(schema.get("enum"), list):
        listed = [value for value in schema["enum"] if _is_a(value, kind)]
        return {**member, "enum": listed} if listed else None
    return member


def _is_a(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS.get(kind, ())) and (kind == "boolean" or not isinstance(value, bool))
