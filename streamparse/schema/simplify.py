"""Schemas in plainer words that mean the same: of null, of tuples, and of choices that exclude each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Set
from typing import Any

from streamparse.schema.all_of import Lose
from streamparse.schema.view import Typed

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
    listing = [each for each in members if _listed(each)]
    listed = frozenset(kind for each in listing for kind in Typed([each], each).kinds)
    others = [Typed([each], each).kinds for each in members if not _listed(each)]
    return _are_apart([listed, *others]) and _are_apart([frozenset(map(_key, _listed(each))) for each in listing])


def _are_apart(sets: Iterable[Set[Hashable]]) -> bool:
    sets = list(sets)
    return sum(map(len, sets)) == len(set[Hashable]().union(*sets))


def _key(value: Any) -> Hashable:
    """What tells a value from others; of arrays, and of objects, one is taken for another."""
    return type(value) if isinstance(value, (list, dict)) else value
