"""What some of Gemini's servers refuse, though it is in their subset of OpenAPI, or is JSON Schema.

| refused | seen |
|---|---|
| a schema without a type | Gemini 3, https://github.com/UKGovernmentBEIS/inspect_ai/pull/3097 |
| keywords beside `anyOf` | Vertex AI, https://github.com/BerriAI/litellm/issues/11164 |
| an object without properties | https://github.com/pipecat-ai/pipecat-flows/issues/110 |
| an array without items | https://github.com/kkrishnan90/gemini-desktop/pull/7 |
| in JSON Schema: keywords beside `$ref`, but for two | https://github.com/anomalyco/opencode/issues/12295 |

`streamparse.schema.openapi` always writes items; those of anything have no type, and are refused as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamparse.schema.walk import walk

__all__ = ["beside_references", "refusals"]

_BESIDE_REFERENCES = {"$ref", "description", "default"}
_TYPES = ("STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL")


def beside_references(schema: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What of a JSON Schema is refused: where, the keyword, and why."""
    for path, node in walk(schema):
        if isinstance(node.get("$ref"), str) and not node.keys() <= _BESIDE_REFERENCES:
            yield path, "$ref", "some servers take only a description and a default beside it"


def refusals(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    """What of a schema in the subset some servers refuse: where, the keyword, and why."""
    kind = schema.get("type")
    if "anyOf" in schema and len(schema) > 1:
        yield path, "anyOf", "some servers take nothing beside it"
    if "anyOf" not in schema and kind not in _TYPES:
        yield path, "type", "some servers want one that they know"
    if path and kind == "OBJECT" and not schema.get("properties"):
        yield path, "properties", "some servers want at least one"
    for name, each in schema.get("properties", {}).items():
        yield from refusals(each, f"{path}/properties/{name}")
    for number, each in enumerate(schema.get("anyOf", ())):
        yield from refusals(each, f"{path}/anyOf/{number}")
    if "items" in schema:
        yield from refusals(schema["items"], f"{path}/items")
