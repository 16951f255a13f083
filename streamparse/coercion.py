"""What a parameter's text means, where the markup gives no types: JSON text by the tool's schema.

A schema that permits only strings makes every text a string.  Otherwise the text is read as what the schema
permits, in the order null, boolean, number, object or array, string; numbers keep their literal text.
Without a schema a text that is a JSON value is that value, any other is a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import msgspec

from streamparse.jsonread import JSONError, read

__all__ = ["coerced", "only_string"]

Schema: TypeAlias = dict[str, Any]

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_LITERALS = {"true": "true", "True": "true", "false": "false", "False": "false"}
_NULLS = frozenset({"null", "None"})
_ALL = frozenset({"null", "boolean", "integer", "number", "object", "array", "string"})
_DEPTH = 16


def only_string(schema: Schema | None) -> bool:
    """Whether every text of this parameter is a string as it stands, so that it can be streamed."""
    return _kinds(schema) == {"string"}


def coerced(text: str, schema: Schema | None) -> str:
    """Return the JSON text of a parameter that was written as `text`."""
    kinds = _kinds(schema)
    kept = text.strip()
    if kept in _NULLS and "null" in kinds and (kept == "null" or kinds != _ALL):
        return "null"
    if kept in _LITERALS and "boolean" in kinds and (kept.islower() or kinds != _ALL):
        return _LITERALS[kept]
    if ("number" in kinds and _NUMBER.fullmatch(kept)) or ("integer" in kinds and _INTEGER.fullmatch(kept)):
        return kept
    if kept[:1] in ("{", "[") and kinds & {"object", "array"}:
        container = _container(kept, kinds)
        if container is not None:
            return container
    return msgspec.json.encode(text).decode()


def _container(text: str, kinds: frozenset[str]) -> str | None:
    """The text of an object or array, as it came if it is JSON; None if it is neither."""
    try:
        reading = read(text, "heal" if kinds != _ALL else "lenient")
    except JSONError:
        return None
    if ("object" if isinstance(reading.value, dict) else "array") not in kinds:
        return None
    return msgspec.json.encode(reading.value).decode() if reading.repairs else text


def _kinds(schema: Schema | None) -> frozenset[str]:
    """The JSON types that a schema permits; all of them if it does not say."""
    if schema is None:
        return _ALL
    return frozenset(_types(schema, _DEPTH)) or _ALL


def _types(schema: Schema, depth: int) -> Iterator[str]:
    declared = schema.get("type")
    if isinstance(declared, str):
        yield declared.lower()
    elif isinstance(declared, list):
        yield from (kind.lower() for kind in declared if isinstance(kind, str))
    for value in [schema["const"]] if "const" in schema else schema.get("enum") or []:
        if declared is None:
            yield _type_of(value)
    if schema.get("nullable") is True:
        yield "null"
    for key in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(key) or []:
            if isinstance(branch, dict) and depth:
                yield from _types(branch, depth - 1)


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    return "object" if isinstance(value, dict) else "array" if isinstance(value, list) else "string"
