"""Checks the arguments of a call against its tool, before anything runs.

Of the schema: required and unknown parameters, the type and `enum` of each one at the top level.
If a function is behind the tool, its own annotations decide the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from streamparse.tools.declaration import Tool

__all__ = ["InvalidArguments", "bind", "validate"]

SHOWN = 80
"""Characters of a name or value from the stream that a message repeats."""


class InvalidArguments(ValueError):
    """Arguments that do not fit a tool; the message is one sentence, written for the model."""


def bind(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Check the arguments and make of them the values that the tool's function takes.

    Raises InvalidArguments if they do not fit.
    """
    if problems := list(_problems(tool.parameters, arguments)):
        raise InvalidArguments(f"invalid arguments for {tool.name!r}: {'; '.join(problems)}")
    if tool.signature is None:
        return arguments
    try:
        return tool.signature.convert(arguments)
    except msgspec.ValidationError as error:
        raise InvalidArguments(f"invalid arguments for {tool.name!r}: {error}") from error


def validate(tool: Tool, arguments: dict[str, Any]) -> str | None:
    """Say in one sentence why the arguments do not fit the tool; None if they do."""
    try:
        bind(tool, arguments)
    except InvalidArguments as error:
        return str(error)
    return None


def _problems(schema: dict[str, Any], arguments: dict[str, Any]) -> Iterator[str]:
    properties = schema.get("properties") or {}
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():  # draft 4's `required: true` says nothing here
        if name not in arguments:
            yield f"the required parameter {name!r} is missing"
    closed = schema.get("additionalProperties") is False and "patternProperties" not in schema
    for name, value in arguments.items():
        if isinstance(expected := properties.get(name), dict):
            yield from _value_problems(name, value, expected)
        elif closed and name not in properties:
            yield f"there is no parameter {_shown(name)}"


def _value_problems(name: str, value: Any, schema: dict[str, Any]) -> Iterator[str]:
    allowed = schema.get("type", [])
    allowed = [allowed] if isinstance(allowed, str) else allowed
    if allowed and not any(_is_a(value, each) for each in allowed):
        yield f"{name!r} must be of type {' or '.join(map(str, allowed))}, not {_type_name(value)}"
    elif isinstance(options := schema.get("enum"), list) and value not in options:
        yield f"{name!r} must be one of {', '.join(map(repr, options))}, not {_shown(value)}"


def _is_a(value: Any, type_name: str) -> bool:
    match type_name:
        case "integer":  # 5.0 is an integer to JSON Schema
            return isinstance(value, (int, float)) and not isinstance(value, bool) and value % 1 == 0
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "string" | "boolean" | "null" | "array" | "object":
            return _type_name(value) == type_name
        case _:
            return True


def _type_name(value: Any) -> str:
    """The JSON name of a decoded value's type."""
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), type(value).__name__)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
