"""Messages as libraries around the providers' APIs have them: their classes, and LangChain's own message."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    extra = chunk.get("additional_kwargs")
    delta: dict[str, Any] = {"content": _join_text(chunk.get("content"))}
    thought = _join_thought(chunk.get("content"))
    if isinstance(extra, Mapping) and isinstance(extra.get("reasoning_content"), str):
        thought += extra["reasoning_content"]
    if thought:
        delta["reasoning_content"] = thought
    if calls := chunk.get("tool_call_chunks"):
        delta["tool_calls"] = [_write_call(call) for call in calls if isinstance(call, Mapping)]
    reason, usage = _get_reason(chunk), chunk.get("usage_metadata")
    is_blank = not (delta["content"] or thought or calls or reason or usage)
    if is_blank and chunk.get("chunk_position") == "last":
        return _LAST
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


def _list_parts(content: Any) -> Iterator[Mapping[str, Any]]:
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield {"type": "text", "text": part}
        elif isinstance(part, Mapping):
            yield part


def _join_text(content: Any) -> str:
    return "".join(read_str(part.get("text")) for part in _list_parts(content) if part.get("type") == "text")


def _join_thought(content: Any) -> str:
    """Join the thought in blocks of providers' own kinds, and in those of LangChain."""
    found: list[Any] = []
    for part in _list_parts(content):
        if part.get("type") == "thinking":
            found.append(part.get("thinking"))
        elif part.get("type") == "reasoning":
            summary = part.get("summary")
            listed = find_objects(summary) if isinstance(summary, list) else []
            found += [part.get("reasoning"), *(each.get("text") for each in listed)]
    return "".join(map(read_str, found))
