"""Schemas that must all hold, as one schema: `allOf`, and keywords that say one thing twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias

__all__ = ["Lose", "merged"]

Lose: TypeAlias = Callable[[str, str, str], None]
"""Tells of a loss: where in the schema, the keyword, and what was done."""

_TIGHTER: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def merged(schema: dict[str, Any], path: str, lose: Lose) -> dict[str, Any]:
    """A schema and the members of its `allOf`, as one; a keyword that cannot hold twice is lost the second time."""
    made = {key: value for key, value in schema.items() if key != "allOf"}
    members = schema.get("allOf", [])
    listed = members if isinstance(members, list) else []
    known = [member for member in listed if isinstance(member, dict)]
    if listed is not members or any(member not in (*known, True) for member in listed):
        lose(path, "allOf", "dropped: not schemas that can be written")
    for member in known:
        for key, value in merged(member, path, lose).items():
            _merge(key, value, path, made, lose)
    return made


def _merge(key: str, value: Any, path: str, made: dict[str, Any], lose: Lose) -> None:
    old = made.setdefault(key, value)
    if key == "properties" and isinstance(old, dict) and isinstance(value, dict):
        made[key] = {**value, **old}
        for name in (name for name in old if name in value and old[name] != value[name]):
            lose(f"{path}/properties/{name}", "allOf", "dropped: a second schema")
    elif key == "required" and isinstance(old, list) and isinstance(value, list):
        made[key] = [*old, *(name for name in value if name not in old)]
    elif key in _TIGHTER and isinstance(old, (int, float)) and isinstance(value, (int, float)):
        made[key] = _TIGHTER[key](old, value)
    elif key == "enum" and isinstance(old, list) and isinstance(value, list) and any(each in value for each in old):
        made[key] = [each for each in old if each in value]
    elif old != value:
        lose(path, "allOf", f"dropped: a second {key!r}")
