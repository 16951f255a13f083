"""Requests for Cohere's chat, version 2.

https://docs.cohere.com/v2/reference/chat

One tool cannot be named as the one that must be called: it is then the only one that is declared, which says the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.writing.adapter import Adapter
from streamparse.writing.definitions import DeclaredTool, read_tools
from streamparse.writing.json_access import drop_empty, get_str, get_strs
from streamparse.writing.request import (
    Choice,
    Request,
    clamp,
    get_section,
    lose_effort,
    lose_schema_name,
    lose_serial,
    lose_unread,
    lose_unread_choice,
    lose_unwritten,
    pick,
    read_thinking,
    warn_of_stops,
)

_SAMPLING = {
    "temperature": "temperature",
    "top_p": "p",
    "top_k": "k",
    "seed": "seed",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
}
_MOST_STOPS = 5
_BOUNDS = {"top_p": (0.01, 0.99), "top_k": (0, 500), "presence_penalty": (0, 1), "frequency_penalty": (0, 1)}
_READ = (
    "model", "messages", "tools", "tool_choice", "max_tokens", "stop_sequences", "stream", "response_format",
    "thinking", *_SAMPLING.values(),
)  # fmt: skip
_MODES: dict[str, Any] = {"REQUIRED": "required", "NONE": "none"}
_WORDS = {mode: word for word, mode in _MODES.items()}


def read_cohere(adapter: Adapter, request: Mapping[str, Any], lost: list[Loss]) -> Request:
    """Read a request for a chat."""
    lose_unread(request, _READ, lost)
    choice = Choice(_MODES.get(get_str(request, "tool_choice")))
    lose_unread_choice(request, choice, lost)
    return Request(
        model=get_str(request, "model"),
        turns=adapter.read_messages(request.get("messages"), lost),
        tools=read_tools(request.get("tools"), lost),
        choice=choice,
        max_tokens=request.get("max_tokens"),
        stop=get_strs(request.get("stop_sequences")),
        sampling={name: request[word] for name, word in _SAMPLING.items() if request.get(word) is not None},
        stream=request.get("stream") is True,
        schema=_schema(get_section(request, "response_format")),
        think=read_thinking(request, lost),
    )


def _schema(wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    return dict(get_section(wanted, "json_schema")) if wanted.get("type") == "json_object" else None


def write_cohere(adapter: Adapter, request: Request, lost: list[Loss]) -> dict[str, Any]:
    """Write a request for a chat."""
    written: dict[str, Any] = {"model": request.model, "messages": adapter.write_messages(request.turns, lost)}
    written |= {"stream": request.stream, **drop_empty(tools=adapter.write_tools(_tools(request), lost))}
    written |= drop_empty(max_tokens=request.max_tokens, stop_sequences=request.stop)
    written |= drop_empty(tool_choice=_WORDS.get(request.choice.mode or "") if request.tools else None)
    sampling = clamp(pick(request.sampling, _SAMPLING), _BOUNDS, lost)
    written |= {_SAMPLING[name]: value for name, value in sampling.items()}
    lose_unwritten(request, _SAMPLING, lost)
    lose_serial(request, lost)
    warn_of_stops(request, _MOST_STOPS, lost)
    lose_schema_name(request, lost)
    if request.schema is not None:
        described = {"json_schema": request.schema} if request.schema else {}
        written["response_format"] = {"type": "json_object", **described}
    if request.think is not None:
        written["thinking"] = {"type": "enabled" if request.think else "disabled"}
    lose_effort(request, lost)
    return written


def _tools(request: Request) -> list[DeclaredTool]:
    """The tools; the one alone that must be called, if it is one of them."""
    only = [declared for declared in request.tools if declared.tool.name == request.choice.name]
    return only or request.tools
