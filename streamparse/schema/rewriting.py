"""A tool's schema, written so that jsonschema-rs reads it as it is meant here.

| in the schema | becomes |
|---|---|
| a pattern of ECMA-262 | the same for the engine (`ecma`); one that cannot be read is left out, and noted |
| `format` | left out, unless it is one of `FORMATS` |
| `nullable: true` (OpenAPI 3.0, whose schemas Gemini takes) | `null` among the types |
| a `$schema` that nobody knows | left out: 2020-12 |
| `default`, `examples`, a bound that is infinite | left out: they bind nothing, and JSON may not hold them |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from streamparse.schema.ecma_regex import Pattern, measure_pattern, read_pattern
from streamparse.schema.formats import FORMATS

__all__ = ["IN_LISTS", "IN_MAPS", "IN_PLACE", "Rewriting"]

IN_PLACE: Final = frozenset(
    ("additionalProperties", "unevaluatedProperties", "items", "additionalItems", "unevaluatedItems", "contains",
     "propertyNames", "not", "if", "then", "else", "contentSchema")
)  # fmt: skip
"""Keywords whose value is a schema."""
IN_LISTS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items"))
"""Keywords whose value is a list of schemas."""
IN_MAPS: Final = frozenset(
    ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
)
"""Keywords whose value holds schemas by name."""

_DIALECTS: Final = (
    "http://json-schema.org/draft-04/schema", "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)  # fmt: skip
_BOUNDS: Final = {"maximum": 1, "exclusiveMaximum": 1, "minimum": -1, "exclusiveMinimum": -1}
_DEEPEST: Final = 100
"""Schemas that may stand inside of each other."""
_MOST: Final = 20_000
"""Schemas that one may hold, each counted twice, and parts that its patterns may have together."""


class Rewriting:
    """One schema being rewritten; `is_linear` says whether all patterns are for the linear engine.

    `unread` are the patterns that cannot be read, `patterns` the others by what was written in their place.
    Raises ValueError for a schema that is too large.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self.unread: dict[str, None] = {}
        self.patterns: dict[str, Pattern] = {}
        self.is_linear = True
        self._count = 0
        self.schema = self._rewrite(schema)
        if any(pattern.linear is None for pattern in self.patterns.values()):
            self.is_linear = False
            self._count, self.patterns = 0, {}
            self.schema = self._rewrite(schema)
        dialect = self.schema.get("$schema", "")
        if not isinstance(dialect, str):
            raise ValueError("its `$schema` is no text")  # noqa: TRY004 - of data, not of what the caller gave
        if dialect.rstrip("#") not in _DIALECTS:
            self.schema.pop("$schema", None)

    def _rewrite(self, schema: Any, depth: int = 0) -> Any:
        if not isinstance(schema, dict):
            return schema
        self._note(2)
        if depth > _DEEPEST:
            raise ValueError("it nests too deeply")
        made: dict[str, Any] = {}
        for key, value in schema.items():
            if key in IN_LISTS and isinstance(value, list):
                made[key] = [self._rewrite(each, depth + 1) for each in value]
            elif key in IN_MAPS and isinstance(value, dict):
                name = self._pattern_key if key == "patternProperties" else str
                made[key] = self._rewrite_members(value, name, depth + 1)
            elif key in IN_PLACE:
                made[key] = self._rewrite(value, depth + 1)
            elif not _binds_nothing(key, value):
                made[key] = value
        return self._rewrite_values(made)

    def _rewrite_members(self, members: dict[Any, Any], name: Callable[[Any], str], depth: int) -> dict[str, Any]:
        """Rewrite schemas by name; what a pattern that cannot be read may mean is not refused."""
        made = {name(key): self._rewrite(value, depth) for key, value in members.items()}
        return made if all(key in made for key in members) or "" not in made or "" in members else {**made, "": True}

    def _rewrite_values(self, schema: dict[str, Any]) -> dict[str, Any]:
        if isinstance(source := schema.get("pattern"), str):
            written = self._pattern(source)
            if written is None:
                del schema["pattern"]
            else:
                schema["pattern"] = written
        if schema.get("nullable") is True and isinstance(schema.get("type"), (str, list)):
            kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
            schema["type"] = list(dict.fromkeys([*kinds, "null"]))
        if schema.get("additionalProperties") is False:
            schema.setdefault("properties", {})  # so that each unexpected member is named
        return schema

    def _pattern_key(self, source: str) -> str:
        return self._pattern(source) or ""

    def _pattern(self, source: str) -> str | None:
        """The pattern for the engine; None, and noted, if it cannot be read."""
        pattern = read_pattern(source)
        if pattern is None:
            if source not in self.unread:
                self._note(min(measure_pattern(source), _MOST // 10))
            self.unread[source] = None
            return None
        written = pattern.linear if self.is_linear else pattern.backtracking
        if written is None:  # the whole schema is written anew, for the other engine
            written = pattern.backtracking
        if written not in self.patterns:
            self._note(pattern.weight)
            self.patterns[written] = pattern
        return written

    def _note(self, more: int) -> None:
        self._count += more
        if self._count > _MOST:
            raise ValueError("it is too large")


def _binds_nothing(key: str, value: Any) -> bool:
    if key == "format":
        return isinstance(value, str) and value not in FORMATS
    if key in _BOUNDS:
        return isinstance(value, float) and math.isinf(value) and value * _BOUNDS[key] > 0
    return key in ("default", "examples")
