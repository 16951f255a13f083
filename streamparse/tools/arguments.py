"""Makes of a call's arguments the values that the tool's function takes.

The function's own annotations decide; the tool's JSON Schema is for `streamparse.repair.preflight`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from streamparse.tools.tool import Tool

__all__ = ["InvalidArguments", "bind", "bind_others", "validate"]


class InvalidArguments(ValueError):
    """Arguments that do not fit a tool; the message is one sentence, written for the model."""


def bind(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Make of the arguments the values that the tool's function takes.

    Where its annotations cannot be read, or there is no function, the arguments stay as they are.
    Raises InvalidArguments if they do not fit the annotations.
    """
    return arguments if tool.signature is None else _bind(tool, tool.signature.convert, arguments)


def bind_others(tool: Tool, arguments: dict[str, Any]) -> dict[str, Any]:
    """Do the same with all arguments but those that are streamed."""
    return arguments if tool.signature is None else _bind(tool, tool.signature.convert_others, arguments)


def _bind(tool: Tool, convert: Callable[[dict[str, Any]], dict[str, Any]], arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        return convert(arguments)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InvalidArguments(f"invalid arguments for {tool.name!r}: {error}") from error


def validate(tool: Tool, arguments: dict[str, Any]) -> str | None:
    """Say in one sentence why the arguments do not fit the tool's function; None if they do."""
    try:
        bind(tool, arguments)
    except InvalidArguments as error:
        return str(error)
    return None
