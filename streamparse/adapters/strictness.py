"""What a provider that is to enforce a schema wants of it; a schema without is refused.

Each object must be closed (`"additionalProperties": false`), and OpenAI wants every property to be required: one that
may be left out is one that may be null there.

https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from streamparse.adapters.loss import Loss
from streamparse.adapters.references import nodes

__all__ = ["Refused", "left_open", "left_out", "warned"]

Refused: TypeAlias = tuple[str, str, str]
"""Where in a schema, the keyword, and why."""


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


def warned(place: str, refused: Iterable[Refused]) -> list[Loss]:
    """What is sent all the same, of a tool or of a request, and will be refused."""
    return [Loss(place, path, keyword, f"kept, but refused: {why}", warning=True) for path, keyword, why in refused]


def _objects(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((path, each) for path, each in nodes(schema) if "properties" in each or each.get("type") == "object")
