"""Rewrites a tool's schema so that jsonschema-rs reads it as it is meant here.

| in the schema | becomes |
|---|---|
| a pattern of ECMA-262 | the same for the engine (`ecma_regex`); one that cannot be read is left out, and noted |
| `format` | left out, unless it is one of `FORMATS` |
| `nullable: true` (OpenAPI 3.0, whose schemas Gemini takes) | `null` among the types |
| a `$schema` that is not known | left out: 2020-12 |
| `default`, `examples`, texts that describe, a bound that is infinite | left out: they bind nothing, and JSON may not hold them |
| a keyword that is null, but for `const` | left out: programs write what they have no value for |
| types by Python's names, null among them (`"str"`, `["int", null]`) | those of JSON |
| `"exclusiveMinimum": true` (OpenAPI 3.0) | the `minimum` as exclusive |
| a name that `required` lists twice | once |

JSON Schema leaves it open whether a `format` binds.  Here it does: the author of a tool's schema wants a text of that
kind, and "tomorrow" for a date would only fail later.  Only formats that the standard library knows, and that leave no
doubt, are checked.  Where people and libraries differ, more is accepted than RFC 3339 allows: a space for the `T`, and
no time zone.
"""  # noqa: E501 - a row of a table is one line

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import date, datetime, time
from ipaddress import IPv4Address, IPv6Address
from typing import Any, Final
from uuid import UUID

from streamparse.schema.ecma_regex import Pattern, measure_pattern, read_pattern
from streamparse.schema.walk import map_subschemas

_DIALECTS: Final = (
    "http://json-schema.org/draft-04/schema", "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)  # fmt: skip
_BOUNDS: Final = {"maximum": 1, "exclusiveMaximum": 1, "minimum": -1, "exclusiveMinimum": -1}
_EXCLUSIVE: Final = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))
_PYTHON_TYPES: Final = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "dict": "object", "list": "array",
}  # fmt: skip
_DESCRIBING: Final = frozenset(("default", "examples", "title", "description", "$comment"))
_DEEPEST: Final = 100  # bound: the recursion into nested schemas
_MOST: Final = 20_000  # bound: the size of a schema: two for each schema in it, and one for each part of its patterns


class Rewriting:
    """One schema being rewritten; `is_linear` says whether all patterns are for the linear engine.

    `unread` are the patterns that cannot be read, `patterns` the others, each with its replacement.
    Raises ValueError for a schema that is too large.
    """

    def __init__(self, schema: dict[str, Any]) -> None:
        self.unread: dict[str, None] = {}
        self.patterns: dict[str, Pattern] = {}
        self.is_linear: bool = True
        self._size = 0
        self._is_draft_4 = str(schema.get("$schema")).rstrip("#") == _DIALECTS[0]
        self.schema: Any = self._rewrite(schema)
        if any(pattern.linear is None for pattern in self.patterns.values()):
            self.is_linear = False
            self._size, self.patterns = 0, {}
            self.schema = self._rewrite(schema)
        dialect = self.schema.get("$schema", "")
        if not isinstance(dialect, str):
            raise ValueError("its `$schema` is no text")  # noqa: TRY004 - of data, not of what the caller gave
        if dialect.rstrip("#") not in _DIALECTS:
            self.schema.pop("$schema", None)

    def _rewrite(self, schema: Any, depth: int = 0) -> Any:
        if not isinstance(schema, dict):
            return schema
        self._add_size(2)
        if depth > _DEEPEST:
            raise ValueError("it nests too deeply")
        binding = {key: value for key, value in schema.items() if not _is_without_effect(key, value)}
        made = map_subschemas(binding, lambda each, _: self._rewrite(each, depth + 1))
        if isinstance(members := made.get("patternProperties"), dict):
            made["patternProperties"] = self._rewrite_patterns(members)
        return self._rewrite_values(made)

    def _rewrite_patterns(self, members: dict[str, Any]) -> dict[str, Any]:
        """Rewrite the names.  A pattern that cannot be read may match any name, so no name is refused because of it."""
        made = {self._translate_pattern(source) or "": each for source, each in members.items()}
        return made if all(key in made for key in members) or "" not in made or "" in members else {**made, "": True}

    def _rewrite_values(self, schema: dict[str, Any]) -> dict[str, Any]:
        if isinstance(source := schema.get("pattern"), str):
            written = self._translate_pattern(source)
            if written is None:
                del schema["pattern"]
            else:
                schema["pattern"] = written
        self._rewrite_foreign_words(schema)
        if schema.get("nullable") is True and isinstance(schema.get("type"), (str, list)):
            kinds = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
            schema["type"] = list(dict.fromkeys([*kinds, "null"]))
        if schema.get("additionalProperties") is False:
            schema.setdefault("properties", {})  # so that each unexpected member is named
        return schema

    def _rewrite_foreign_words(self, schema: dict[str, Any]) -> None:
        """Rewrite words that are no JSON Schema and have one meaning; any others have the schema refused."""
        if isinstance(types := schema.get("type"), list):
            schema["type"] = [_read_type(each) for each in types]
        elif types is not None:
            schema["type"] = _read_type(types)
        if isinstance(required := schema.get("required"), list) and all(isinstance(each, str) for each in required):
            schema["required"] = list(dict.fromkeys(required))
        for keyword, bound in () if self._is_draft_4 else _EXCLUSIVE:
            if isinstance(schema.get(keyword), bool) and schema.pop(keyword) and bound in schema:
                schema[keyword] = schema.pop(bound)

    def _translate_pattern(self, source: str) -> str | None:
        """The pattern for the engine; None, and noted, if it cannot be read."""
        pattern = read_pattern(source)
        if pattern is None:
            if source not in self.unread:
                self._add_size(min(measure_pattern(source), _MOST // 10))
            self.unread[source] = None
            return None
        written = pattern.linear if self.is_linear else None
        # Without a linear one the whole schema is written anew, for the other engine.
        written = pattern.backtracking if written is None else written
        if written not in self.patterns:
            self._add_size(pattern.weight)
            self.patterns[written] = pattern
        return written

    def _add_size(self, more: int) -> None:
        self._size += more
        if self._size > _MOST:
            raise ValueError("it is too large")


def _read_type(word: Any) -> Any:
    return "null" if word is None else _PYTHON_TYPES.get(word, word) if isinstance(word, str) else word


def _is_without_effect(key: str, value: Any) -> bool:
    if value is None:
        return key != "const"
    if key == "format":
        return isinstance(value, str) and value not in FORMATS
    if key in _BOUNDS:
        return isinstance(value, float) and math.isinf(value) and value * _BOUNDS[key] > 0
    return key in _DESCRIBING


# -- formats ----------------------------------------------------------------------------------------

_DATE: Final = r"\d{4}-\d\d-\d\d"
_TIME: Final = r"\d\d:\d\d.*"
# The second that a year may end with, which Python's clock does not know.
_LEAP: Final = re.compile(r"(?<=:\d\d):60")


def _make_check(shape: str, read: Callable[[str], object]) -> Callable[[Any], bool]:
    """Return a check for texts of a shape that `read` reads without ValueError; any other value passes."""
    pattern = re.compile(shape, re.ASCII)

    def check(value: Any) -> bool:
        try:
            return not isinstance(value, str) or bool(pattern.fullmatch(value) and read(value.upper()) is not None)
        except ValueError:
            return False

    return check


def _allow_leap_second(read: Callable[[str], object]) -> Callable[[str], object]:
    return lambda text: read(_LEAP.sub(":59", text))


# Says of a value whether it has the format, as jsonschema-rs wants it.
FORMATS: Final[dict[str, Callable[[Any], bool]]] = {
    "date": _make_check(_DATE, date.fromisoformat),
    "date-time": _make_check(f"{_DATE}[Tt ]{_TIME}", _allow_leap_second(datetime.fromisoformat)),
    "time": _make_check(_TIME, _allow_leap_second(time.fromisoformat)),
    "email": _make_check(r"[^\s@]+@[^\s@]+", str),
    "ipv4": _make_check(r"[0-9.]+", IPv4Address),
    "ipv6": _make_check(r"[0-9A-Fa-f:.]+", IPv6Address),
    "uuid": _make_check(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", UUID),
}
