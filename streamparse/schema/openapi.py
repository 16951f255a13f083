"""Schemas for providers that take less than JSON Schema: Gemini's subset of OpenAPI 3.0.

https://ai.google.dev/api/caching#Schema; references are put in their places first.

| JSON Schema | becomes |
|---|---|
| `"type": ["string", "null"]`, `anyOf` with a null | `nullable` |
| several types | `anyOf` of them, each with the keywords that are about its values |
| `const`, `enum` of strings | `enum`; of nothing but null the type of null |
| an array of anything | one with empty `items`, which the subset wants |
| `prefixItems` and no further items | `items` of any of them: a loss |
| `oneOf` | `anyOf`: a loss, unless no value fits two of them |
| `allOf` | one schema; a loss where two have the same keyword |
| anything else that the subset does not have, or only with other values | dropped: a loss |

A loss names the place, the keyword and the change.  Schemas that some servers refuse nevertheless are listed in
`streamparse.providers.gemini.messages`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Set
from functools import partial
from typing import Any, Final

from streamparse.loss import Loss
from streamparse.schema.kinds import TYPE_NAMES, SchemaView, get_kind, join_kinds
from streamparse.schema.walk import ABOUT, inline_refs

_NUMBER: Final = (int, float)
# Keywords that mean the same in both, and what their values must be.
_PLAIN: Final[dict[str, type | tuple[type, ...]]] = {
    "title": str, "description": str, "pattern": str, "default": object, "example": object, "required": list,
    "propertyOrdering": list, "nullable": bool, "maximum": _NUMBER, "minimum": _NUMBER, "maxItems": int,
    "minItems": int, "maxProperties": int, "minProperties": int, "maxLength": int, "minLength": int,
}  # fmt: skip
_CHOICES: Final = ("anyOf", "oneOf")
_FORMATS: Final = ("enum", "date-time", "float", "double", "int32", "int64")
_NO_CHOICE: Final = "dropped: a second choice"
_NOT_TEXT: Final = "dropped: only texts can be listed"


def to_openapi(schema: dict[str, Any], tool: str, lost: list[Loss]) -> dict[str, Any]:
    """Return the schema in Gemini's subset of OpenAPI 3.0; `lost` gets what that cannot say of the tool."""
    return _Writer(tool, lost).write(inline_refs(schema, tool, lost), "")


class _Writer:
    def __init__(self, tool: str, lost: list[Loss]) -> None:
        self._tool = tool
        self._lost = lost
        self._writers: dict[str, Callable[[Any, str, dict[str, Any]], None]] = {
            "type": self._write_type,
            "properties": self._write_properties,
            "items": self._write_items,
            "anyOf": partial(self._write_choice, "anyOf"),
            "oneOf": partial(self._write_choice, "oneOf"),
            "enum": partial(self._write_list, "enum"),
            "const": lambda value, path, made: self._write_list("const", [value], path, made),
            "format": self._write_format,
        }

    def write(self, schema: Any, path: str) -> dict[str, Any]:
        """Write a schema and all within it; a value that is no schema permits anything."""
        if not isinstance(schema, dict):
            if schema is not True:
                self._lose(path, "", "dropped: not a schema that can be written")
            return {}
        schema = self._simplify_tuple(_drop_null(self._merge_all_of(schema, path)), path)
        members, common = _split_type_union(schema)
        made: dict[str, Any] = {}
        for key in sorted(common, key=_CHOICES.__contains__):  # choices depend on what else is written
            if key in self._writers:
                self._writers[key](common[key], path, made)
            elif key in _PLAIN and isinstance(common[key], _PLAIN[key]):
                made[key] = common[key]
            elif (key, common[key]) != ("additionalProperties", True):
                self._lose(path, key, "dropped")
        if "anyOf" in made and members:
            self._lose(path, "type", _NO_CHOICE)
        elif members:
            _add_choice([self.write(member, path) for member in members], made)
        self._reconcile(path, made)
        return made

    def _lose(self, path: str, keyword: str, done: str) -> None:
        self._lost.append(Loss(self._tool, path, keyword, done))

    def _reconcile(self, path: str, made: dict[str, Any]) -> None:
        """Drop keywords that contradict the type, and required names that are not declared."""
        if "enum" in made and made.setdefault("type", "STRING") != "STRING":
            self._lose(path, "enum", _NOT_TEXT)
            del made["enum"]
        if "type" not in made and "anyOf" not in made:
            made.pop("nullable", None)  # what may be anything may be null
        if made.get("type") == "ARRAY":
            made.setdefault("items", {})
        if "required" in made:
            declared = made.get("properties", {})
            known = [name for name in made["required"] if isinstance(name, str) and name in declared]
            if len(known) < len(made["required"]):
                self._lose(path, "required", "dropped: names that are not declared")
            made["required"] = known

    # -- keywords --------------------------------------------------------------------------------------

    def _write_type(self, value: Any, _path: str, made: dict[str, Any]) -> None:
        names = [str(each) for each in (value if isinstance(value, list) else [value])]
        others = [name.upper() for name in names if name != "null"]
        if len(others) < len(names) and others:
            made["nullable"] = True
        made["type"] = (others or ["NULL"])[0]

    def _write_properties(self, value: Any, path: str, made: dict[str, Any]) -> None:
        if not isinstance(value, dict):
            self._lose(path, "properties", "dropped")
            value = {}
        made["properties"] = {name: self.write(each, f"{path}/properties/{name}") for name, each in value.items()}

    def _write_items(self, value: Any, path: str, made: dict[str, Any]) -> None:
        made["items"] = self.write(value, f"{path}/items")

    def _write_choice(self, key: str, value: Any, path: str, made: dict[str, Any]) -> None:
        if key == "oneOf" and not _are_disjoint(value):
            self._lose(path, key, "written as anyOf")
        members = value if isinstance(value, list) else []
        others = [each for each in members if each != {"type": "null"}]
        # A type next to the choice excludes null.
        if len(others) < len(members) and "enum" not in made and "type" not in made:
            made.update({"nullable": True} if others else {"type": "NULL"})
        written = [self.write(each, f"{path}/{key}/{number}") for number, each in enumerate(others)]
        if "anyOf" in made or not isinstance(value, list):
            self._lose(path, key, _NO_CHOICE if "anyOf" in made else "dropped")
        else:
            _add_choice(written, made)

    def _write_list(self, key: str, value: Any, path: str, made: dict[str, Any]) -> None:
        """Write the values that are permitted, of `enum` or `const`."""
        options = [each for each in value if each is not None] if isinstance(value, list) else []
        listed = [each for each in options if each != ""]
        if not options or not all(isinstance(each, str) for each in options):
            self._lose(path, key, _NOT_TEXT)
            _add_type_of(options, made)
            return
        if len(options) < len(value):
            made["nullable"] = True
        if len(listed) < len(options):
            self._lose(path, key, "dropped: an empty text cannot be listed")
        if listed:
            made["enum"] = listed
        else:
            _add_type_of(options, made)

    def _write_format(self, value: Any, path: str, made: dict[str, Any]) -> None:
        if value in _FORMATS:
            made["format"] = value
        else:
            self._lose(path, "format", f"dropped: {value!r} is not known")

    # -- `allOf` and tuples ----------------------------------------------------------------------------

    def _merge_all_of(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        """Return a schema and the members of its `allOf` as one; of keywords that cannot be joined the first stays."""
        made = {key: value for key, value in schema.items() if key != "allOf"}
        members = schema.get("allOf", [])
        listed = members if isinstance(members, list) else []
        known = [member for member in listed if isinstance(member, dict)]
        if listed is not members or any(member not in (*known, True) for member in listed):
            self._lose(path, "allOf", "dropped: not schemas that can be written")
        for member in known:
            for key, value in self._merge_all_of(member, path).items():
                self._merge_keyword(key, value, path, made)
        return made

    def _merge_keyword(self, key: str, value: Any, path: str, made: dict[str, Any]) -> None:
        old = made.setdefault(key, value)
        kind = next((kind for kind in (dict, list, _NUMBER) if isinstance(old, kind) and isinstance(value, kind)), None)
        if key == "properties" and kind is dict:
            made[key] = {**value, **old}
            for name in (name for name in old if name in value and old[name] != value[name]):
                self._lose(f"{path}/properties/{name}", "allOf", "dropped: a second schema")
        elif key == "required" and kind is list:
            made[key] = [*old, *(name for name in value if name not in old)]
        elif key in _TIGHTER and kind is _NUMBER:
            made[key] = _TIGHTER[key](old, value)
        elif key == "enum" and kind is list and any(each in value for each in old):
            made[key] = [each for each in old if each in value]
        elif old != value:
            self._lose(path, "allOf", f"dropped: a second {key!r}")

    def _simplify_tuple(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        """Return a tuple as a list of bounded length; which items come in which place is lost."""
        members = schema.get("prefixItems", [])
        if not isinstance(members, list):
            return schema
        ends = schema.get("items") is False
        most = schema.get("maxItems", len(members) if ends else None)
        most = min(most, len(members)) if ends and isinstance(most, int) else most
        if not (ends or members) or not isinstance(most, int) or most > len(members):
            return schema
        made = {key: value for key, value in schema.items() if key not in ("prefixItems", "items")}
        made["maxItems"] = most
        options = [each for number, each in enumerate(members) if each not in members[:number]]
        if len(options) > 1:
            self._lose(path, "prefixItems", "written as items: any of them in any place")
        if options:
            made["items"] = options[0] if len(options) == 1 else {"anyOf": options}
        return made


# Which of two bounds holds, where both do.
_TIGHTER: Final[dict[str, Callable[[Any, Any], Any]]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), max),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), min),
}


def _add_type_of(values: list[Any], made: dict[str, Any]) -> None:
    """Add the type of values that cannot be listed, if they have one and it is not written yet."""
    kinds = join_kinds(get_kind(value) for value in values)
    kind = "number" if kinds == {"integer", "number"} else next(iter(kinds)) if len(kinds) == 1 else None
    if kind is not None:
        made.setdefault("type", kind.upper())


def _add_choice(members: list[dict[str, Any]], made: dict[str, Any]) -> None:
    """Write a choice; one of a single member is that member, unless it contradicts what is written already."""
    if len(members) == 1 and all(made.get(key, part) == part for key, part in members[0].items() if key not in ABOUT):
        made.update({**members[0], **made})
    elif members:
        made["anyOf"] = members


def _drop_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without a null type that its list of values excludes; of nothing but null the type of null."""
    listed, kinds = _get_listed(schema), schema.get("type")
    known = kinds if isinstance(kinds, list) else [kinds]
    if listed == [None] and (kinds is None or "null" in known):
        return {"type": "null", **{key: schema[key] for key in ABOUT[:3] if key in schema}}
    if listed and None not in listed and "null" in known and len(known) > 1:
        return {**schema, "type": [kind for kind in known if kind != "null"]}
    return schema


def _get_listed(schema: dict[str, Any]) -> list[Any]:
    """The values that are permitted, if they are listed."""
    listed = [schema["const"]] if "const" in schema else schema.get("enum")
    return listed if isinstance(listed, list) else []


# -- choices ---------------------------------------------------------------------------------------


def _are_disjoint(members: Any) -> bool:
    """Whether no value can fit two of the schemas, because they are of other types, or list other values."""
    if not isinstance(members, list) or not all(isinstance(each, dict) for each in members):
        return False
    listing = [each for each in members if _get_listed(each)]
    listed = frozenset(kind for each in listing for kind in SchemaView([each], each).kinds)
    others = [SchemaView([each], each).kinds for each in members if not _get_listed(each)]
    values = [frozenset(map(_identify, _get_listed(each))) for each in listing]
    return _are_disjoint_sets([listed, *others]) and _are_disjoint_sets(values)


def _are_disjoint_sets(sets: Iterable[Set[Hashable]]) -> bool:
    sets = list(sets)
    return sum(map(len, sets)) == len(set[Hashable]().union(*sets))


def _identify(value: Any) -> Hashable:
    """What distinguishes a value from others; two arrays, and two objects, count as the same."""
    return type(value) if isinstance(value, (list, dict)) else value


# -- several types ---------------------------------------------------------------------------------

_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
# The keywords that are about the values of one type, and let all others pass.
_KEYWORDS: Final[dict[str, tuple[str, ...]]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": _BOUNDS,
    "number": _BOUNDS,
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "object": (
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
        "maxProperties", "propertyOrdering",
    ),
}  # fmt: skip
_OF_ONE_TYPE: Final = frozenset(keyword for keywords in _KEYWORDS.values() for keyword in keywords)


def _split_type_union(schema: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the schemas of one type each that a schema of several types chooses from, and what holds for all of them.

    The list is empty if the schema has one type.
    """
    kinds = schema.get("type")
    others = [each for each in kinds if isinstance(each, str) and each != "null"] if isinstance(kinds, list) else []
    if len(others) < 2:
        return [], schema
    members = [member for kind in others if (member := _narrow(schema, kind)) is not None]
    if not members:
        return [], {**schema, "type": others[0]}
    common = {key: value for key, value in schema.items() if key not in ("type", "enum", "const", *_OF_ONE_TYPE)}
    return members, {**common, "nullable": True} if "null" in schema["type"] else common


def _narrow(schema: dict[str, Any], kind: str) -> dict[str, Any] | None:
    """Return what a schema says of the values of one type; None if it lists values, but not one of this type."""
    member = {"type": kind, **{key: schema[key] for key in _KEYWORDS.get(kind, ()) if key in schema}}
    listed = [value for value in _get_listed(schema) if _is_a(value, kind)]
    if "const" in schema:
        member["const"] = schema["const"]
    elif isinstance(schema.get("enum"), list):
        member["enum"] = listed
    else:
        return member
    return member if listed else None


def _is_a(value: Any, kind: str) -> bool:
    name = TYPE_NAMES.get(type(value))
    return name == kind or (name, kind) == ("integer", "number")
