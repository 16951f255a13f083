"""Schemas for providers that take less than JSON Schema: Gemini's subset of OpenAPI 3.0.

https://ai.google.dev/api/caching#Schema; references are put in their places first.

| JSON Schema | becomes |
|---|---|
| `"type": ["string", "null"]`, `anyOf` with a null | `nullable` |
| several types | `anyOf` of them, each with the keywords that speak of its values |
| `const`, `enum` of strings | `enum` |
| an array of anything | one with empty `items`, for there must be some |
| `oneOf` | `anyOf`: a loss |
| `allOf` | one schema; a loss where two say the same keyword |
| anything else that the subset does not have, or has only for other values | dropped: a loss |

A loss names the place, the keyword and what was done.  What some servers refuse all the same is told in
`streamparse.adapters.refusals`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.adapters.loss import Loss
from streamparse.adapters.references import inlined
from streamparse.adapters.several import several

__all__ = ["openapi"]

NUMBER = (int, float)
PLAIN: dict[str, type | tuple[type, ...]] = {
    "title": str, "description": str, "pattern": str, "default": object, "example": object, "required": list,
    "propertyOrdering": list, "nullable": bool, "maximum": NUMBER, "minimum": NUMBER, "maxItems": int, "minItems": int,
    "maxProperties": int, "minProperties": int, "maxLength": int, "minLength": int,
}  # fmt: skip
"""Keywords that mean the same in both, and what their values must be."""
FORMATS = ("enum", "date-time", "float", "double", "int32", "int64")


def openapi(schema: dict[str, Any], tool: str, lost: list[Loss]) -> dict[str, Any]:
    """Make Gemini's subset of OpenAPI 3.0 of a JSON Schema."""
    return _Subset(tool, lost).schema(inlined(schema, tool, lost), "")


class _Subset:
    def __init__(self, tool: str, lost: list[Loss]) -> None:
        self._tool = tool
        self._lost = lost
        self._writers: dict[str, Callable[[Any, str, dict[str, Any]], None]] = {
            "type": self._type,
            "properties": self._properties,
            "items": self._items,
            "anyOf": self._any_of,
            "oneOf": self._one_of,
            "enum": self._enum,
            "const": self._const,
            "format": self._format,
        }

    def schema(self, schema: Any, path: str) -> dict[str, Any]:
        if not isinstance(schema, dict):
            if schema is not True:
                self._lose(path, "", "dropped: not a schema that can be written")
            return {}
        members, common = several(self._merged(schema, path))
        made: dict[str, Any] = {}
        for key, value in common.items():
            self._keyword(key, value, path, made)
        if "anyOf" in made and members:
            self._lose(path, "type", "dropped: a second choice")
        elif members:
            _choose([self.schema(member, path) for member in members], made)
        self._agree(path, made)
        return made

    # -- inside ----------------------------------------------------------------------------------------

    def _lose(self, path: str, keyword: str, done: str) -> None:
        self._lost.append(Loss(self._tool, path, keyword, done))

    def _keyword(self, key: str, value: Any, path: str, made: dict[str, Any]) -> None:
        if key in self._writers:
            self._writers[key](value, path, made)
        elif key in PLAIN and isinstance(value, PLAIN[key]):
            made[key] = value
        elif (key, value) != ("additionalProperties", True):
            self._lose(path, key, "dropped")

    def _agree(self, path: str, made: dict[str, Any]) -> None:
        """Leave nothing that would contradict the type, or what is declared beside it."""
        if "enum" in made and made.setdefault("type", "STRING") != "STRING":
            self._lose(path, "enum", "dropped: only texts can be listed")
            del made["enum"]
        if "type" not in made and "anyOf" not in made:
            made.pop("nullable", None)  # what may be anything may be null
        if made.get("type") == "ARRAY":
            made.setdefault("items", {})
        if "required" in made:
            self._require(path, made)

    def _require(self, path: str, made: dict[str, Any]) -> None:
        declared = made.get("properties", {})
        known = [name for name in made["required"] if isinstance(name, str) and name in declared]
        if len(known) < len(made["required"]):
            self._lose(path, "required", "dropped: names that are not declared")
        made["required"] = known

    def _merged(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        """A schema and the members of its `allOf`, as one."""
        made = {key: value for key, value in schema.items() if key != "allOf"}
        members = schema.get("allOf", [])
        if not isinstance(members, list) or not all(isinstance(member, dict) for member in members):
            self._lose(path, "allOf", "dropped: not schemas that can be written")
        for member in members if isinstance(members, list) else ():
            for key, value in self._merged(member, path).items() if isinstance(member, dict) else ():
                self._merge(key, value, path, made)
        return made

    def _merge(self, key: str, value: Any, path: str, made: dict[str, Any]) -> None:
        old = made.setdefault(key, value)
        if key == "properties" and isinstance(old, dict) and isinstance(value, dict):
            made[key] = {**value, **old}
            for name in (name for name in old if name in value and old[name] != value[name]):
                self._lose(f"{path}/properties/{name}", "allOf", "dropped: a second schema")
        elif key == "required" and isinstance(old, list) and isinstance(value, list):
            made[key] = [*old, *(name for name in value if name not in old)]
        elif old != value:
            self._lose(path, "allOf", f"dropped: a second {key!r}")

    def _type(self, value: Any, _path: str, made: dict[str, Any]) -> None:
        names = [str(each) for each in (value if isinstance(value, list) else [value])]
        others = [name.upper() for name in names if name != "null"]
        if len(others) < len(names) and others:
            made["nullable"] = True
        made["type"] = (others or ["NULL"])[0]

    def _properties(self, value: Any, path: str, made: dict[str, Any]) -> None:
        if not isinstance(value, dict):
            self._lose(path, "properties", "dropped")
        named = value.items() if isinstance(value, dict) else ()
        made["properties"] = {name: self.schema(each, f"{path}/properties/{name}") for name, each in named}

    def _items(self, value: Any, path: str, made: dict[str, Any]) -> None:
        made["items"] = self.schema(value, f"{path}/items")

    def _any_of(self, value: Any, path: str, made: dict[str, Any], key: str = "anyOf") -> None:
        members = value if isinstance(value, list) else []
        others = [each for each in members if each != {"type": "null"}]
        if len(others) < len(members):
            made["nullable"] = True
        written = [self.schema(each, f"{path}/{key}/{number}") for number, each in enumerate(others)]
        if "anyOf" in made or not isinstance(value, list):
            self._lose(path, key, "dropped: a second choice" if "anyOf" in made else "dropped")
        else:
            _choose(written, made)

    def _one_of(self, value: Any, path: str, made: dict[str, Any]) -> None:
        self._lose(path, "oneOf", "written as anyOf")
        self._any_of(value, path, made, "oneOf")

    def _enum(self, value: Any, path: str, made: dict[str, Any]) -> None:
        options = [each for each in value if each is not None] if isinstance(value, list) else []
        if not options or not all(isinstance(each, str) for each in options):
            self._lose(path, "enum", "dropped: only texts can be listed")
            return
        if len(options) < len(value):
            made["nullable"] = True
        if "" in options:
            self._lose(path, "enum", "dropped: an empty text cannot be listed")
        if listed := [each for each in options if each]:
            made["enum"] = listed

    def _const(self, value: Any, path: str, made: dict[str, Any]) -> None:
        if isinstance(value, str) and value:
            made.update(enum=[value])
        else:
            self._lose(path, "const", "dropped: only a text can be listed")

    def _format(self, value: Any, path: str, made: dict[str, Any]) -> None:
        if value in FORMATS:
            made["format"] = value
        else:
            self._lose(path, "format", f"dropped: {value!r} is not known")


def _choose(members: list[dict[str, Any]], made: dict[str, Any]) -> None:
    """Write a choice; one of a single member is that member."""
    if len(members) == 1:
        made.update({name: part for name, part in members[0].items() if name not in made})
    elif members:
        made["anyOf"] = members
