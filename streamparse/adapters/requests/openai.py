"""Requests for OpenAI chat completions.

https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.adapters.definitions import read_declared
from streamparse.adapters.loss import Loss
from streamparse.adapters.requests.request import SAMPLING, Choice, Request, chosen, drop_unread, tell_unread_choice
from streamparse.adapters.table import ADAPTERS
from streamparse.adapters.values import present, string, strings

__all__ = ["read_openai", "write_openai"]

_READ = (
    "model", "messages", "tools", "tool_choice", "parallel_tool_calls", "max_tokens", "max_completion_tokens", "stop",
    "stream", "response_format", "reasoning_effort", *SAMPLING,
)  # fmt: skip
_SAMPLING = ("temperature", "top_p", "seed")
_NOT = {"none": False, "minimal": False}


def read_openai(request: Mapping[str, Any], lost: list[Loss]) -> Request:
    """Read a request for chat completions."""
    drop_unread(request, _READ, lost)
    choice = _choice(request)
    tell_unread_choice(request, choice, lost)
    stop, effort = request.get("stop"), request.get("reasoning_effort")
    return Request(
        model=string(request, "model"),
        turns=ADAPTERS["deepseek"].read_messages(request.get("messages")),
        tools=read_declared(request.get("tools"), lost),
        choice=choice,
        max_tokens=request.get("max_completion_tokens") or request.get("max_tokens"),
        stop=[stop] if isinstance(stop, str) else strings(stop),
        sampling=chosen(request, SAMPLING),
        stream=request.get("stream") is True,
        schema=_schema(request.get("response_format")),
        think=_NOT.get(effort, True) if isinstance(effort, str) else None,
    )


def _choice(request: Mapping[str, Any]) -> Choice:
    choice, parallel = request.get("tool_choice"), request.get("parallel_tool_calls")
    said = parallel if isinstance(parallel, bool) else None
    if choice in ("auto", "none", "required"):
        return Choice(choice, parallel=said)
    name = string(choice, "function", "name")
    return Choice("required", name, said) if name else Choice(parallel=said)


def _schema(wanted: Any) -> dict[str, Any] | None:
    if string(wanted, "type") == "json_object":
        return {}
    described = wanted.get("json_schema") if isinstance(wanted, Mapping) else None
    schema = described.get("schema") if isinstance(described, Mapping) else None
    return dict(schema) if isinstance(schema, Mapping) else None


def write_openai(request: Request, lost: list[Loss]) -> dict[str, Any]:
    """Write a request for chat completions."""
    adapter = ADAPTERS["openai"]
    written: dict[str, Any] = {"model": request.model, "messages": adapter.write_messages(request.turns, lost)}
    written |= present(tools=adapter.write_tools(request.tools, lost), stop=request.stop)
    written |= present(max_tokens=request.max_tokens, stream=True if request.stream else None)
    written |= chosen(request.sampling, _SAMPLING) | _written_choice(request)
    drop_unread(request.sampling, _SAMPLING, lost)
    if request.schema is not None:
        written["response_format"] = _format(request.schema)
    if request.think is not None:
        lost.append(Loss("request", "", "thinking", "dropped: there are only degrees of effort, of few models"))
    return written


def _written_choice(request: Request) -> dict[str, Any]:
    choice = request.choice
    if not request.tools:
        return {}
    named = {"type": "function", "function": {"name": choice.name}} if choice.name else choice.mode
    return present(tool_choice=named, parallel_tool_calls=choice.parallel)


def _format(schema: dict[str, Any]) -> dict[str, Any]:
    described = {"name": "answer", "schema": schema}
    return {"type": "json_schema", "json_schema": described} if schema else {"type": "json_object"}
