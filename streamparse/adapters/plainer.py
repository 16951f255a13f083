"""Schemas in plainer words that mean the same: of null, of tuples, and of choices that exclude each other."""

from __future__ import annotations

from itertools import combinations
from typing import Any

from streamparse.adapters.merging import Lose
from streamparse.coercion import Typed

__all__ = ["exclusive", "plainer"]

_ABOUT = ("title", "description", "default")


def plainer(schema: dict[str, Any], path: str, lose: Lose) -> dict[str, Any]:
    """The schema with a type that has null only if its list has, and with a tuple as a list of so many items at most.

    Only which items stand where is lost.
    """
    listed, kinds = _listed(schema), schema.get("type")
    known = kinds if isinstance(kinds, list) else [kinds]
    if listed == [None] and (kinds is None or "null" in known):
        return {"type": "null", **{key: schema[key] for key in _ABOUT if key in schema}}
    if listed and None not in listed and "null" in known and len(known) > 1:
        schema = {**schema, "type": [kind for kind in known if kind != "null"]}
    return _counted(schema, path, lose)


def _listed(schema: dict[str, Any]) -> list[Any]:
    """The values that are permitted, if they are listed."""
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    return listed if isinstance(listed, list) else []


def _counted(schema: dict[str, Any], path: str, lose: Lose) -> dict[str, Any]:
    members = schema.get("prefixItems", [])
    if not isinstance(members, list):
        return schema
    ends = schema.get("items") is False
    most = schema.get("maxItems", len(members) if ends else None)
    most = min(most, len(members)) if ends and isinstance(most, int) else most
    if not (ends or members) or not isinstance(most, int) or most > len(members):
        return schema
    rest = {key: value for key, value in schema.items() if key not in ("prefixItems", "items")}
    options = [each for number, each in enumerate(members) if each not in members[:number]]
    if len(options) > 1:
        lose(path, "prefixItems", "written as items: any of them in any place")
    items = [{"items": options[0] if len(options) == 1 else {"anyOf": options}}] if options else []
    return dict(rest, maxItems=most, **(items[0] if items else {}))


def exclusive(members: Any) -> bool:
    """Whether no value can fit two of the schemas, for they are of other types, or list other values."""
    if not isinstance(members, list) or not all(isinstance(each, dict) for each in members):
        return False
    return all(_apart(one, other) for one, other in combinations(members, 2))


def _apart(one: dict[str, Any], other: dict[str, Any]) -> bool:
    listed, others = _listed(one), _listed(other)
    if listed and others:
        return not any(each == value for each in listed for value in others)
    return Typed([one], one).kinds.isdisjoint(Typed([other], other).kinds)
