"""Schemas for providers that take less than JSON Schema: Gemini's subset of OpenAPI 3.0.

https://ai.google.dev/api/caching#Schema; references are put in their places first.

| JSON Schema | becomes |
|---|---|
| `"type": ["string", "null"]`, `anyOf` with a null | `nullable` |
| several types | `anyOf` of them, each with the keywords that speak of its values |
| `const`, `enum` of strings | `enum`; of nothing but null the type of null |
| an array of anything | one with empty `items`, for there must be some |
| `prefixItems` with nothing behind them | `items` of any of them: a loss |
| `oneOf` | `anyOf`: a loss, unless no value fits two of them |
| `allOf` | one schema; a loss where two say the same keyword |
| anything else that the subset does not have, or has only for other values | dropped: a loss |

A loss names the place, the keyword and what was done.  What some servers refuse all the same is told in
`streamparse.providers.gemini.messages`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.loss import Loss
from streamparse.schema.all_of import merged
from streamparse.schema.kinds import kinds_of_value, union
from streamparse.schema.references import ABOUT, inlined
from streamparse.schema.simplify import exclusive, plainer
from streamparse.schema.type_unions import several

__all__ = ["openapi"]

NUMBER = (int, float)
PLAIN: dict[str, type | tuple[type, ...]] = {
    "title": str, "description": str, "pattern": str, "default": object, "example": object, "required": list,
    "propertyOrdering": list, "nullable": bool, "maximum": NUMBER, "minimum": NUMBER, "maxItems": int, "minItems": int,
    "maxProperties": int, "minProperties": int, "maxLength": int, "minLength": int,
}  # fmt: skip
"""Keywords that mean the same in both, and what their values must be."""
CHOICES = ("anyOf", "oneOf")
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
        members, common = several(plainer(merged(schema, path, self._lose), path, self._lose))
        made: dict[str, Any] = {}
        for key in sorted(common, key=CHOICES.__contains__):  # they are written by what else there is
            self._keyword(key, common[key], path, made)
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
        if len(others) < len(members) and "enum" not in made:
            made.update(_null(made, bool(others)))
        written = [self.schema(each, f"{path}/{key}/{number}") for number, each in enumerate(others)]
        if "anyOf" in made or not isinstance(value, list):
            self._lose(path, key, "dropped: a second choice" if "anyOf" in made else "dropped")
        else:
            _choose(written, made)

    def _one_of(self, value: Any, path: str, made: dict[str, Any]) -> None:
        if not exclusive(value):
            self._lose(path, "oneOf", "written as anyOf")
        self._any_of(value, path, made, "oneOf")

    def _enum(self, value: Any, path: str, made: dict[str, Any]) -> None:
        options = [each for each in value if each is not None] if isinstance(value, list) else []
        if not options or not all(isinstance(each, str) for each in options):
            self._lose(path, "enum", "dropped: only texts can be listed")
            _type_of(options, made)
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
            _type_of([value], made)

    def _format(self, value: Any, path: str, made: dict[str, Any]) -> None:
        if value in FORMATS:
            made["format"] = value
        else:
            self._lose(path, "format", f"dropped: {value!r} is not known")


def _null(made: dict[str, Any], others: bool) -> dict[str, Any]:
    """How a choice that has null says so: not at all where a type beside it excludes null."""
    return {} if "type" in made else {"nullable": True} if others else {"type": "NULL"}


def _type_of(values: list[Any], made: dict[str, Any]) -> None:
    """Say the type of values that cannot be listed, if it is one and has not been said."""
    kinds = union(kinds_of_value(value) for value in values)
    kind = "number" if kinds == {"integer", "number"} else next(iter(kinds)) if len(kinds) == 1 else None
    if kind is not None:
        made.setdefault("type", kind.upper())


def _choose(members: list[dict[str, Any]], made: dict[str, Any]) -> None:
    """Write a choice; one of a single member is that member, unless it permits other than what is said beside it."""
    if len(members) == 1 and all(
        made.get(name, part) == part for name, part in members[0].items() if name not in ABOUT
    ):
        made.update({**members[0], **made})
    elif members:
        made["anyOf"] = members
