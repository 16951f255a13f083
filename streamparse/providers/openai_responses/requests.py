"""Requests for OpenAI Responses.

https://platform.openai.com/docs/api-reference/responses/create

A request holds its whole conversation, so nothing of it need be kept: `store` is false unless it was asked for.  Stops,
a seed and penalties are not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.providers.openai_chat.requests import can_enforce, read_choice, wants_thought
from streamparse.writing.adapter import Adapter
from streamparse.writing.definitions import read_tools
from streamparse.writing.json_access import drop_empty, get_str
from streamparse.writing.parts import Text, Turn
from streamparse.writing.request import (
    ACCOUNT_FIELDS,
    SCHEMA_NAME,
    Request,
    get_section,
    lose_thinking,
    lose_unread,
    lose_unread_choice,
    lose_unread_form,
    lose_unwritten,
    pick,
)

_SAMPLING = ("temperature", "top_p")
_READ = (
    "model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "max_output_tokens", "stream",
    "text", "reasoning", *_SAMPLING, *ACCOUNT_FIELDS,
)  # fmt: skip


def read_responses(adapter: Adapter, request: Mapping[str, Any], lost: list[Loss]) -> Request:
    """Read a request for a response; one that goes on from a stored response loses what is stored, and tells so."""
    lose_unread(request, _READ, lost)
    choice = read_choice(request, "name")
    lose_unread_choice(request, choice, lost)
    text, reasoning = get_section(request, "text"), get_section(request, "reasoning")
    schema = _schema(text.get("format"))
    lose_unread_form(text.get("format"), schema, lost)
    lose_unread(text, ("format",), lost)
    lose_unread(get_section(text, "format"), ("type", "name", "schema", "strict"), lost)
    lose_unread(reasoning, ("effort",), lost)
    effort = get_str(reasoning, "effort")
    return Request(
        model=get_str(request, "model"),
        turns=_turns(adapter, request, lost),
        tools=read_tools(request.get("tools"), lost),
        choice=choice,
        max_tokens=request.get("max_output_tokens"),
        sampling=pick(request, _SAMPLING),
        stream=request.get("stream") is True,
        schema=schema,
        schema_name=get_str(get_section(text, "format"), "name"),
        strict=get_section(text, "format").get("strict") is True,
        think=wants_thought(effort),
        effort=effort,
        account=pick(request, ACCOUNT_FIELDS),
    )


def _turns(adapter: Adapter, request: Mapping[str, Any], lost: list[Loss]) -> list[Turn]:
    said, items = get_str(request, "instructions"), request.get("input")
    spoken = [{"role": "user", "content": items}] if isinstance(items, str) else items
    told = [Turn("system", [Text(said)])] if said else []
    return [*told, *adapter.read_messages(spoken, lost)]


def _schema(wanted: Any) -> dict[str, Any] | None:
    if get_str(wanted, "type") == "json_object":
        return {}
    schema = wanted.get("schema") if isinstance(wanted, Mapping) else None
    return dict(schema) if isinstance(schema, Mapping) else None


def write_responses(adapter: Adapter, request: Request, lost: list[Loss]) -> dict[str, Any]:
    """Write a request for a response."""
    written: dict[str, Any] = {"model": request.model, "input": adapter.write_messages(request.turns, lost)}
    written |= drop_empty(tools=adapter.write_tools(request.tools, lost), max_output_tokens=request.max_tokens)
    written |= drop_empty(stream=True if request.stream else None) | _written_choice(request)
    written |= pick(request.sampling, _SAMPLING) | {"store": False} | pick(request.account, ACCOUNT_FIELDS)
    lose_unwritten(request, _SAMPLING, lost, ACCOUNT_FIELDS)
    if request.stop:
        lost.append(Loss("request", "", "stop", "dropped: an answer ends by itself here"))
    if request.schema is not None:
        written["text"] = {"format": _format(request, lost)}
    lose_thinking(request, lost)
    return {**written, "reasoning": {"effort": request.effort}} if request.effort else written


def _written_choice(request: Request) -> dict[str, Any]:
    choice = request.choice
    if not request.tools:
        return {}
    named = {"type": "function", "name": choice.name} if choice.name else choice.mode
    return drop_empty(tool_choice=named, parallel_tool_calls=choice.parallel)


def _format(request: Request, lost: list[Loss]) -> dict[str, Any]:
    if not request.schema:
        return {"type": "json_object"}
    name, strict = request.schema_name or SCHEMA_NAME, can_enforce(request, lost)
    return {"type": "json_schema", "name": name, "schema": request.schema, "strict": strict}
