"""Requests for Ollama's `/api/chat`.

https://github.com/ollama/ollama/blob/main/docs/api.md#generate-a-chat-completion

Unless it says so a request is for a stream, and no tool can be asked for: `none` sends no tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamparse.loss import Loss
from streamparse.writing.adapter import Adapter
from streamparse.writing.definitions import read_declared
from streamparse.writing.json_access import present, string, strings
from streamparse.writing.request import (
    SAMPLING,
    Request,
    chosen,
    drop_unread,
    drop_unwritten,
    section,
    tell_effort,
    tell_schema_name,
    tell_serial,
)

__all__ = ["read_ollama", "write_ollama"]

_READ = ("model", "messages", "tools", "options", "stream", "format", "think")
_OPTIONS = ("num_predict", "stop", *SAMPLING)


def read_ollama(adapter: Adapter, request: Mapping[str, Any], lost: list[Loss]) -> Request:
    """Read a request for a chat."""
    drop_unread(request, _READ, lost)
    options = section(request, "options")
    drop_unread(options, _OPTIONS, lost)
    stop, think, limit = options.get("stop"), request.get("think"), options.get("num_predict")
    return Request(
        model=string(request, "model"),
        turns=adapter.read_messages(request.get("messages"), lost),
        tools=read_declared(request.get("tools"), lost),
        max_tokens=limit if isinstance(limit, int) and limit > 0 else None,  # -1 is no limit
        stop=[stop] if isinstance(stop, str) else strings(stop),
        sampling=chosen(options, SAMPLING),
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
    tell_serial(request, lost)
    tell_schema_name(request, lost)
    tell_effort(request, lost)
    drop_unwritten(request, SAMPLING, lost)
    options = present(num_predict=request.max_tokens, stop=request.stop) | request.sampling
    written = {
        "model": request.model,
        "messages": adapter.write_messages(request.turns, lost),
        "stream": request.stream,
    }
    written |= present(tools=adapter.write_tools(tools, lost), think=request.think)
    if request.schema is not None:
        written["format"] = request.schema or "json"
    return {**written, "options": options} if options else written
