"""Messages as libraries around the providers' APIs have them: their classes, and LangChain's own message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from streamparse.reading.decode import find_objects, read_str

WRAPPED_EVENTS: Final = {"mistralai": ("CompletionEvent",)}
"""Classes of events whose `data` is the message, by their packages."""

CHUNK_TYPE: Final = "AIMessageChunk"
"""The `type` of a piece of a LangChain message."""
MESSAGE_TYPES: Final = ("ai", CHUNK_TYPE)

_REASONS: Final = ("finish_reason", "stop_reason", "stopReason", "done_reason")
_LAST: Final = "data: [DONE]\n\n"


def write_chat_chunk(chunk: Mapping[str, Any]) -> str | dict[str, Any]:
    """Write a chunk of LangChain as one of chat completions; an empty last one as their end.

    Its `tool_calls` are guesses at what the `tool_call_chunks` will be together.
    """
    text, thought = _read_content(chunk.get("content"))
    match chunk.get("additional_kwargs"):
        case {"reasoning_content": str(more)}:
            thought += more
    calls, reason, usage = chunk.get("tool_call_chunks"), _get_reason(chunk), chunk.get("usage_metadata")
    if chunk.get("chunk_position") == "last" and not (text or thought or calls or reason or usage):
        return _LAST
    delta: dict[str, Any] = {"content": text, **({"reasoning_content": thought} if thought else {})}
    if calls:
        delta["tool_calls"] = [_write_call(call) for call in calls if isinstance(call, Mapping)]
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"object": "chat.completion.chunk", "choices": [choice], **({"usage": usage} if usage else {})}


def write_chat_message(value: Mapping[str, Any]) -> dict[str, Any]:
    """Write a whole message of LangChain as one of chat completions, with its finish reason and usage."""
    content, calls = value["content"], value.get("tool_calls")
    if calls and isinstance(content, list):  # what the provider wrote, its calls included
        content = [part for part in content if not (isinstance(part, dict) and part.get("type") == "tool_use")]
    message = {"role": "assistant", "content": content, "finish_reason": _get_reason(value)}
    return {**message, **({"tool_calls": calls} if calls else {}), "usage": value.get("usage_metadata")}


def _write_call(call: Mapping[str, Any]) -> dict[str, Any]:
    """Write a piece of a call: its number is the server's, or LangChain's own, which is a text."""
    function = {"name": call.get("name"), "arguments": call.get("args")}
    kept = {"index": call.get("index"), "id": call.get("id")}
    named = {key: value for key, value in kept.items() if isinstance(value, int if key == "index" else str)}
    return {**named, "function": {key: value for key, value in function.items() if value is not None}}


def _get_reason(chunk: Mapping[str, Any]) -> str | None:
    about = chunk.get("response_metadata")
    reasons = [about.get(key) for key in _REASONS] if isinstance(about, Mapping) else []
    return next((reason for reason in reasons if isinstance(reason, str) and reason), None)


def _read_content(content: Any) -> tuple[str, str]:
    """Return the text and the thought of a content: in blocks of providers' own kinds, or in LangChain's."""
    texts, thoughts = [], []
    for part in content if isinstance(content, list) else [content]:
        match part:
            case str(text) | {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "thinking", "thinking": str(text)} | {"type": "reasoning", "reasoning": str(text)}:
                thoughts.append(text)
            case {"type": "reasoning", "summary": list(summary)}:
                thoughts += [read_str(each.get("text")) for each in find_objects(summary)]
    return "".join(texts), "".join(thoughts)
