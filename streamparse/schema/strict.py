"""What a provider that is to enforce a schema wants of it; a schema without is refused.

Each object must be closed (`"additionalProperties": false`), and OpenAI wants every property to be required: one that
may be left out is one that may be null there.  Some keywords each of them does not know.

https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from streamparse.loss import Loss
from streamparse.schema.references import nodes

__all__ = ["TOP_OF_OPENAI", "UNKNOWN_TO_OPENAI", "Refused", "forbids", "left_open", "left_out", "warned"]

Refused: TypeAlias = tuple[str, str, str]
"""Where in a schema, the keyword, and why."""


UNKNOWN_TO_OPENAI = (
    "allOf", "oneOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas",
)  # fmt: skip
TOP_OF_OPENAI: tuple[str, ...] = ("anyOf", "oneOf", "allOf", "enum", "not")
"""Keywords that OpenAI refuses at the top of a tool's schema, be it enforced or not."""


def left_open(schema: Any) -> Iterator[Refused]:
    """The objects that are not closed."""
    for path, each in _objects(schema):
        if each.get("additionalProperties") is not False:
            yield path, "additionalProperties", "where a schema is enforced it must be false"


def left_out(schema: Any) -> Iterator[Refused]:
    """The objects with properties that are not required."""
    for path, each in _objects(schema):
        required = each.get("required")
        named = required if isinstance(required, list) else []
        properties = each.get("properties")
        if isinstance(properties, dict) and any(name not in named for name in properties):
            yield path, "required", "where a schema is enforced it must name every property"


def forbids(*keywords: str) -> Callable[[Any], Iterator[Refused]]:
    """A check for keywords that are not known where a schema is enforced."""

    def check(schema: Any) -> Iterator[Refused]:
        for path, node in nodes(schema):
            yield from ((path, key, "where a schema is enforced it is not known") for key in keywords if key in node)

    return check


def warned(place: str, refused: Iterable[Refused]) -> list[Loss]:
    """What is sent all the same, of a tool or of a request, and will be refused."""
    return [Loss(place, path, keyword, f"kept, but refused: {why}", warning=True) for path, keyword, why in refused]


def _objects(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((path, each) for path, each in nodes(schema) if "properties" in each or each.get("type") == "object")
