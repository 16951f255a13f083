"""Requests for Ollama's `/api/chat`.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion

Unless it says so a request is for a stream, and no tool can be asked for: `none` sends no tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.writing.adapter import Adapter
from streamparse.writing.definitions import read_tools
from streamparse.writing.json_access import drop_empty, get_str, get_strs
from streamparse.writing.request import (
    SAMPLING_FIELDS,
    Request,
    get_section,
    lose_effort,
    lose_schema_name,
    lose_serial,
    lose_unread,
    lose_unwritten,
    pick,
)

_READ = ("model", "messages", "tools", "options", "stream", "format", "think")
_OPTIONS = ("num_predict", "stop", *SAMPLING_FIELDS)


def read_ollama(adapter: Adapter, request: Mapping[str, Any], lost: list[Loss]) -> Request:
    """Read a request for a chat."""
    lose_unread(request, _READ, lost)
    options = get_section(request, "options")
    lose_unread(options, _OPTIONS, lost)
    stop, think, limit = options.get("stop"), request.get("think"), options.get("num_predict")
    return Request(
        model=get_str(request, "model"),
        turns=adapter.read_messages(request.get("messages"), lost),
        tools=read_tools(request.get("tools"), lost),
        max_tokens=limit if isinstance(limit, int) and limit > 0 else None,  # -1 is no limit
        stop=[stop] if isinstance(stop, str) else get_strs(stop),
        sampling=pick(options, SAMPLING_FIELDS),
        stream=request.get("stream") is not False,
        schema=_schema(request.get("format")),
        think=bool(think) if think is not None else None,
        effort=think if isinstance(think, str) else "",
    )


def _schema(wanted: Any) -> dict[str, Any] | None:
    if isinstance(wanted, Mapping):
        return dict(wanted)
    return {} if wanted == "json" else None


def write_ollama(adapter: Adapter, request: Request, lost: list[Loss]) -> dict[str, Any]:
    """Write a request for a chat."""
    tools = [] if request.choice.mode == "none" else request.tools
    if tools and request.choice.mode == "required":
        lost.append(Loss("request", "", "tool_choice", "dropped: the model decides"))
    lose_serial(request, lost)
    lose_schema_name(request, lost)
    lose_effort(request, lost)
    lose_unwritten(request, SAMPLING_FIELDS, lost)
    options = drop_empty(num_predict=request.max_tokens, stop=request.stop) | request.sampling
    written = {
        "model": request.model,
        "messages": adapter.write_messages(request.turns, lost),
        "stream": request.stream,
    }
    written |= drop_empty(tools=adapter.write_tools(tools, lost), think=request.think)
    if request.schema is not None:
        written["format"] = request.schema or "json"
    return {**written, "options": options} if options else written
