"""Answers a call that was not run: the fault, and how to call."""

from __future__ import annotations

from typing import Final

from streamparse.errors import CODES
from streamparse.findings import truncate
from streamparse.response import BrokenCall
from streamparse.tools import Tool, ToolResult, Toolset

_SHOWN: Final = 20  # bound: the parameters that a message names
_ADVICE: Final = {
    "duplicate_call": "the first one stands, with its result; do not call again",
    "truncated_call": "call it again, whole; split what is long over several calls",
    "limit_args": "call it again with shorter arguments; split what is long over several calls",
}


def answer_broken(call: BrokenCall, tools: Toolset | None = None) -> ToolResult:
    """Return the answer to a call that never became whole: an error for the model.

    A history needs one for each of `ParsedResponse.broken_calls`, since `as_message` says that they were made.
    `ToolRunner` gives it by itself.
    """
    tool = None if tools is None else tools.get(call.name)
    return ToolResult(call.id, call.name, error=describe_break(call.name, call.code, "", tool), index=call.index)


def describe_break(name: str, code: str, message: str, tool: Tool | None) -> str:
    """Describe the fault in the text of a call, and how to call.

    `code` comes from the call's `Error`, or from a finding; `message` adds details.
    """
    meaning = CODES.get(code, code)
    reason = f"{meaning} ({truncate(message)})" if message and message != meaning else meaning
    advice = _ADVICE.get(code) or explain_call(name, tool)
    return f"the call of {truncate(repr(name))} was not run: {reason}; {advice}"


def explain_call(name: str, tool: Tool | None) -> str:
    """Say how a tool is called, as far as is known."""
    properties = tool.parameters.get("properties") if tool is not None else None
    if not isinstance(properties, dict) or tool is None:
        return "to call it, write one whole call, with its arguments as a JSON object"
    required = tool.parameters.get("required")
    needed = required if isinstance(required, list) else ()
    named = [f"{key} (required)" if key in needed else str(key) for key in [*properties][:_SHOWN]]
    more = ", …" if len(properties) > _SHOWN else ""
    listed = f"{', '.join(named) or 'none'}{more}"
    return f"to call it, write one whole call; the arguments of {truncate(repr(name))} are: {listed}"
