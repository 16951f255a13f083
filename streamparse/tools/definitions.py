"""Reads the tool definitions that providers take in their requests.

| who | shape | where the schema is |
|---|---|---|
| OpenAI chat, Ollama, Cohere | `{"type": "function", "function": {"name", ...}}` | `parameters` |
| OpenAI Responses | `{"type": "function", "name", ...}` | `parameters` |
| Anthropic, MCP | `{"name", ...}` | `input_schema`, `inputSchema` |
| Gemini | `{"functionDeclarations": [{"name", ...}]}`, or one of them | `parameters`, `parametersJsonSchema` |
| Bedrock Converse | `{"toolSpec": {"name", ...}}` | `inputSchema.json` |

Gemini's `parameters` are a schema of OpenAPI 3.0, whose `nullable` is a type here; all others are JSON Schema, where
that word means nothing.  Outside its list, a declaration of Gemini is recognised by types in capitals.

A definition without a name is one of the provider's own tools (search, code execution): no call of it
ever reaches the client, so it is passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from streamparse.schema.walk import map_subschemas
from streamparse.tools.declaration import Tool

# Where one definition declares several tools.
LISTS: Final = ("functionDeclarations", "function_declarations")
_WRAPPERS: Final = ("function", "toolSpec")
_SCHEMA_KEYS: Final = ("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema")
_NO_PARAMETERS: Final[dict[str, Any]] = {"type": "object", "properties": {}}
_AS_SENT: Final[dict[str, Any]] = {"mode": "json", "by_alias": True, "exclude_none": True, "warnings": False}
_MAPPING: Final = (dict, Mapping)  # nearly always it is a dict, which is known sooner
_SERVER_TOOLS: list[frozenset[str]] = []


def register_server_tools(*keys: frozenset[str]) -> None:
    """Make known the keys, as `normalize_keys` spells them, by which definitions name a provider's own tools."""
    _SERVER_TOOLS.extend(keys)


def list_server_tool_keys() -> frozenset[str]:
    """The keys of all providers' own tools."""
    return frozenset().union(*_SERVER_TOOLS)


def read_definition(definition: Mapping[str, Any]) -> list[Tool]:
    """Read one entry of a request's `tools`, which may declare several.

    Raises ValueError if it is of no known shape.
    """
    listed = wrapped = None
    for key in LISTS:
        if listed is None and isinstance(each := definition.get(key), list):
            listed = each
    for key in _WRAPPERS:
        if wrapped is None and isinstance(each := definition.get(key), _MAPPING):
            wrapped = each
    if listed is not None:
        if all(isinstance(each, Mapping) for each in listed):
            return [_read(_convert_openapi(each)) for each in listed]
    elif wrapped is not None:
        return [_read(wrapped, definition.get("strict"))]
    elif "name" in definition:
        return [_read(_convert_openapi(definition) if _has_capital_types(definition) else definition)]
    elif _is_server_tool(definition):
        return []
    raise ValueError(f"not a tool definition of a known shape: {definition!r}")


def read_sdk_object(declared: Any) -> Any:
    """Return the definition that an SDK's object holds, as a dict; anything else as it is."""
    dump = getattr(declared, "model_dump", None)
    if isinstance(declared, (type, Mapping)) or not callable(dump):
        return declared
    dumped = dump(**_AS_SENT) if hasattr(declared, "__pydantic_serializer__") else dump()
    if not isinstance(dumped, Mapping):
        return declared
    # Other objects, too, have a name and can be dumped.
    is_definition = any(key in dumped for key in (*_WRAPPERS, *LISTS, *_SCHEMA_KEYS)) or _is_server_tool(dumped)
    return dumped if is_definition else declared


def normalize_keys(definition: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys of a definition in lower case without underscores: SDKs spell them in snake case."""
    return frozenset(str(key).replace("_", "").lower() for key in definition)


def _read(definition: Mapping[str, Any], strict: Any = None) -> Tool:
    parameters = None
    for key in _SCHEMA_KEYS:
        parameters = definition.get(key)
        if parameters is not None:
            break
    if parameters is None:
        # "Omitting parameters defines a function with an empty parameter list" (OpenAI); a type of its own has
        # a schema of its own (Anthropic's `bash_20250124`, OpenAI's `custom`).
        parameters = _NO_PARAMETERS if definition.get("type", "function") == "function" else {}
    elif isinstance(parameters, _MAPPING) and isinstance(parameters.get("json"), _MAPPING):
        parameters = parameters["json"]
    is_strict = definition.get("strict", strict) is True
    return Tool(definition.get("name", ""), definition.get("description") or "", parameters, strict=is_strict)


def _is_server_tool(definition: Mapping[str, Any]) -> bool:
    if isinstance(definition.get("type"), str):
        return "function" not in definition
    return bool(definition) and any(normalize_keys(definition) <= keys for keys in _SERVER_TOOLS)


def _has_capital_types(definition: Mapping[str, Any]) -> bool:
    schema = definition.get("parameters")
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return isinstance(kind, str) and kind.isupper()


def _convert_openapi(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a definition whose `parameters` are a schema of OpenAPI, with a JSON Schema instead."""
    schema = definition.get("parameters")
    return {**definition, "parameters": _convert_schema(schema, "")} if isinstance(schema, Mapping) else definition


def _convert_schema(schema: Any, _step: str) -> Any:
    """Make a JSON Schema of an OpenAPI one: types in lower case, `nullable` as a type, and as a member of `enum`."""
    if not isinstance(schema, Mapping):
        return schema
    made = map_subschemas({str(_SPELLINGS.get(key, key)): each for key, each in schema.items()}, _convert_schema)
    if isinstance(made.get("type"), str):
        made["type"] = made["type"].lower()
    for key in _COUNTS:
        if isinstance(made.get(key), str) and made[key].isdecimal():
            made[key] = int(made[key])
    if made.pop("nullable", None) is True:
        if isinstance(made.get("enum"), list) and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
        if isinstance(made.get("type"), str):
            made["type"] = [made["type"], "null"]
        elif isinstance(made.get("anyOf"), list):
            made["anyOf"] = [*made["anyOf"], {"type": "null"}]
    return made


# Google's JSON writes integers of 64 bits as texts.
_COUNTS: Final = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
# What SDKs write in snake case.
_SPELLINGS: Final = {"any_of": "anyOf", "defs": "$defs"}
