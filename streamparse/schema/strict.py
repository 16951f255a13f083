"""The demands of providers on a schema that they enforce while the model writes; they refuse any other.

Each object must be closed (`"additionalProperties": false`).  Some want each property to be required: one that may be
missing is then one that may be null.  Each has keywords that it does not know: its folder lists them.

https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from streamparse.loss import Loss
from streamparse.schema.walk import walk

# Where in a schema, the keyword, and why it is refused.
SchemaIssue: TypeAlias = tuple[str, str, str]


def find_open_objects(schema: Any) -> Iterator[SchemaIssue]:
    """Yield the objects that are not closed."""
    for path, each in _list_objects(schema):
        if each.get("additionalProperties") is not False:
            yield path, "additionalProperties", "where a schema is enforced it must be false"


def find_optional_properties(schema: Any) -> Iterator[SchemaIssue]:
    """Yield the objects with properties that are not required."""
    for path, each in _list_objects(schema):
        required = each.get("required")
        named = required if isinstance(required, list) else []
        properties = each.get("properties")
        if isinstance(properties, dict) and any(name not in named for name in properties):
            yield path, "required", "where a schema is enforced it must name every property"


def forbid(*keywords: str) -> Callable[[Any], Iterator[SchemaIssue]]:
    """Return a check for keywords that are not known where a schema is enforced."""

    def check(schema: Any) -> Iterator[SchemaIssue]:
        for path, node in walk(schema):
            yield from ((path, key, "where a schema is enforced it is not known") for key in keywords if key in node)

    return check


def as_warnings(place: str, issues: Iterable[SchemaIssue]) -> list[Loss]:
    """Return warnings about the parts of a tool or a request that are sent, and will be refused."""
    return [Loss(place, path, keyword, f"kept, but refused: {why}", warning=True) for path, keyword, why in issues]


def _list_objects(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((path, each) for path, each in walk(schema) if "properties" in each or each.get("type") == "object")
