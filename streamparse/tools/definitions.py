"""Reads the tool definitions that providers take in their requests.

| who | shape | where the schema is |
|---|---|---|
| OpenAI chat, Ollama, Cohere | `{"type": "function", "function": {"name", ...}}` | `parameters` |
| OpenAI Responses | `{"type": "function", "name", ...}` | `parameters` |
| Anthropic, MCP | `{"name", ...}` | `input_schema`, `inputSchema` |
| Gemini | `{"functionDeclarations": [{"name", ...}]}`, or one of them | `parameters`, `parametersJsonSchema` |
| Bedrock Converse | `{"toolSpec": {"name", ...}}` | `inputSchema.json` |

Gemini's `parameters` are a schema of OpenAPI 3.0, whose `nullable` is a type here; all others are JSON Schema, where
that word says nothing.  A declaration of Gemini's outside of its list shows by types in capitals.

A definition without a name is one of the provider's own tools (search, code execution): no call of it
ever reaches the client, so it is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.tools.tool import Tool

__all__ = ["BEDROCK_OWN_TOOLS", "GEMINI_OWN_TOOLS", "SERVER_TOOL_KEYS", "decoded", "keys_of", "read_definition"]

GEMINI_LISTS = ("functionDeclarations", "function_declarations")
SCHEMA_KEYS = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
NO_PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}
_AS_SENT: dict[str, Any] = {"mode": "json", "by_alias": True, "exclude_none": True, "warnings": False}

# https://ai.google.dev/api/caching#Tool
GEMINI_OWN_TOOLS = frozenset((
    "codeexecution", "computeruse", "enterprisewebsearch", "filesearch", "googlemaps", "googlesearch",
    "googlesearchretrieval", "retrieval", "urlcontext",
))  # fmt: skip
# https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Tool.html
BEDROCK_OWN_TOOLS = frozenset(("cachepoint", "systemtool"))
SERVER_TOOL_KEYS = GEMINI_OWN_TOOLS | BEDROCK_OWN_TOOLS


def read_definition(definition: Mapping[str, Any]) -> list[Tool]:
    """Read one entry of a request's `tools`, which with Gemini may declare several.

    Raises ValueError if it is of no known shape.
    """
    for key in GEMINI_LISTS:
        if isinstance(declarations := definition.get(key), list):
            if not all(isinstance(each, Mapping) for each in declarations):
                raise ValueError(f"not a tool definition of a known shape: {definition!r}")
            return [_read_declaration(each) for each in declarations]
    for key in ("function", "toolSpec"):
        if isinstance(inner := definition.get(key), Mapping):
            return [_read({"strict": definition.get("strict"), **inner})]
    if "name" in definition:
        return [_read_declaration(definition) if _in_capitals(definition) else _read(definition)]
    if _is_the_providers_own(definition):
        return []
    raise ValueError(f"not a tool definition of a known shape: {definition!r}")


def decoded(declared: Any) -> Any:
    """An SDK's object that says a definition as the dict it stands for; anything else as it is."""
    dump = getattr(declared, "model_dump", None)
    if isinstance(declared, (type, Mapping)) or not callable(dump):
        return declared
    said = dump(**_AS_SENT) if hasattr(declared, "__pydantic_serializer__") else dump()
    return said if isinstance(said, Mapping) and _shows_a_schema(said) else declared


def _shows_a_schema(said: Mapping[str, Any]) -> bool:
    """Whether this is a definition: other objects, too, have a name and can be dumped."""
    known = ("function", "toolSpec", *GEMINI_LISTS, *SCHEMA_KEYS)
    return any(key in said for key in known) or _is_the_providers_own(said)


def _read_declaration(declaration: Mapping[str, Any]) -> Tool:
    """Read one of Gemini's declarations."""
    schema = declaration.get("parameters")
    return _read({**declaration, "parameters": _json_schema(schema)} if isinstance(schema, Mapping) else declaration)


def _in_capitals(definition: Mapping[str, Any]) -> bool:
    schema = definition.get("parameters")
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return isinstance(kind, str) and kind.isupper()


def _read(definition: Mapping[str, Any]) -> Tool:
    parameters = next((definition[key] for key in SCHEMA_KEYS if definition.get(key) is not None), None)
    if parameters is None:
        # "Omitting parameters defines a function with an empty parameter list" (OpenAI); a type of its own has
        # a schema of its own (Anthropic's `bash_20250124`, OpenAI's `custom`).
        parameters = NO_PARAMETERS if definition.get("type", "function") == "function" else {}
    elif isinstance(parameters, Mapping) and isinstance(parameters.get("json"), Mapping):
        parameters = parameters["json"]
    strict = definition.get("strict") is True
    return Tool(definition.get("name", ""), definition.get("description") or "", parameters, strict=strict)


def _is_the_providers_own(definition: Mapping[str, Any]) -> bool:
    if isinstance(definition.get("type"), str):
        return "function" not in definition
    return bool(definition) and any(keys_of(definition) <= keys for keys in (GEMINI_OWN_TOOLS, BEDROCK_OWN_TOOLS))


def keys_of(definition: Mapping[str, Any]) -> frozenset[str]:
    """The keys of a definition, as both spellings of Gemini's have them in common."""
    return frozenset(str(key).replace("_", "").lower() for key in definition)


def _json_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Make a JSON Schema of an OpenAPI one: types in lower case, `nullable` as a type, and among what is listed."""
    made = {key: _json_schema_part(key, value) for key, value in schema.items() if key != "nullable"}
    if schema.get("nullable") is True:
        if isinstance(made.get("enum"), list) and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
        if isinstance(made.get("type"), str):
            made["type"] = [made["type"], "null"]
        elif isinstance(made.get("anyOf"), list):
            made["anyOf"] = [*made["anyOf"], {"type": "null"}]
    return made


def _json_schema_part(key: str, value: Any) -> Any:
    if key == "type" and isinstance(value, str):
        return value.lower()
    if key in ("properties", "$defs", "defs") and isinstance(value, Mapping):
        return {name: _json_schema(each) if isinstance(each, Mapping) else each for name, each in value.items()}
    if key in ("anyOf", "any_of", "prefixItems") and isinstance(value, list):
        return [_json_schema(each) if isinstance(each, Mapping) else each for each in value]
    if key in ("items", "additionalProperties") and isinstance(value, Mapping):
        return _json_schema(value)
    return value
