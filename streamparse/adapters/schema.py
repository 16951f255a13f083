"""Schemas for providers that take less than JSON Schema: Gemini's subset of OpenAPI 3.0.

https://ai.google.dev/api/caching#Schema; references are put in their places first.

| JSON Schema | becomes |
|---|---|
| `"type": ["string", "null"]`, `anyOf` with a null | `nullable` |
| several types | `anyOf` of them |
| `const`, `enum` of strings | `enum` |
| `oneOf` | `anyOf`: a loss |
| `allOf` | one schema; a loss where two say the same keyword |
| anything else that the subset does not have | dropped: a loss |

A loss names the place, the keyword and what was done.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.adapters.loss import Loss
from streamparse.adapters.references import inlined

__all__ = ["openapi"]

PLAIN = {
    "title", "description", "default", "example", "required", "maxItems", "minItems", "maxProperties", "minProperties",
    "maxLength", "minLength", "pattern", "maximum", "minimum", "propertyOrdering", "nullable",
}  # fmt: skip
FORMATS = {"enum", "date-time", "float", "double", "int32", "int64"}


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
        made: dict[str, Any] = {}
        for key, value in self._merged(schema, path).items():
            if key in self._writers:
                self._writers[key](value, path, made)
            elif key in PLAIN:
                made[key] = value
            elif (key, value) != ("additionalProperties", True):
                self._lose(path, key, "dropped")
        if "enum" in made:
            made.setdefault("type", "STRING")
        elif "type" not in made and "anyOf" not in made:
            made.pop("nullable", None)  # what may be anything may be null
        return made

    # -- inside ----------------------------------------------------------------------------------------

    def _lose(self, path: str, keyword: str, done: str) -> None:
        self._lost.append(Loss(self._tool, path, keyword, done))

    def _merged(self, schema: dict[str, Any], path: str) -> dict[str, Any]:
        """A schema and the members of its `allOf`, as one."""
        made = {key: value for key, value in schema.items() if key != "allOf"}
        for member in schema.get("allOf") or ():
            for key, value in self._merged(member, path).items() if isinstance(member, dict) else ():
                old = made.setdefault(key, value)
                if key == "properties" and isinstance(old, dict) and isinstance(value, dict):
                    made[key] = {**value, **old}
                    for name in sorted(name for name in old.keys() & value.keys() if old[name] != value[name]):
                        self._lose(f"{path}/properties/{name}", "allOf", "dropped: a second schema")
                elif key == "required" and isinstance(old, list) and isinstance(value, list):
                    made[key] = [*old, *(name for name in value if name not in old)]
                elif old != value:
                    self._lose(path, "allOf", f"dropped: a second {key!r}")
        return made

    def _type(self, value: Any, _path: str, made: dict[str, Any]) -> None:
        names = [str(each) for each in (value if isinstance(value, list) else [value])]
        others = [name.upper() for name in names if name != "null"]
        if len(others) < len(names) and others:
            made["nullable"] = True
        if len(others) > 1:
            made["anyOf"] = [{"type": each} for each in others]
        else:
            made["type"] = (others or ["NULL"])[0]

    def _properties(self, value: Any, path: str, made: dict[str, Any]) -> None:
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
        if "anyOf" in made:
            self._lose(path, key, "dropped: a second choice")
        elif len(written) == 1:
            made.update({name: part for name, part in written[0].items() if name not in made})
        elif written:
            made["anyOf"] = written

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
        made["enum"] = options

    def _const(self, value: Any, path: str, made: dict[str, Any]) -> None:
        if isinstance(value, str):
            made.update(enum=[value])
        else:
            self._lose(path, "const", "dropped: only a text can be listed")

    def _format(self, value: Any, path: str, made: dict[str, Any]) -> None:
        if value in FORMATS:
            made["format"] = value
        else:
            self._lose(path, "format", f"dropped: {value!r} is not known")
