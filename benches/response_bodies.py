"""Whole answers of servers that were not asked to stream: short ones with a call, long prose, one long call."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from texts import KIB, arguments, words

__all__ = ["BODIES", "write_prose"]

Body = dict[str, Any]


def write_prose(size: int) -> str:
    """Plain prose of so many characters."""
    return "".join(words(size // 4))[:size]


def _chat(text: str, call: str) -> Body:
    function = {"name": "write_file", "arguments": call}
    calls = {"tool_calls": [{"id": "call_1", "type": "function", "function": function}]} if call else {}
    message = {"role": "assistant", "content": text, "refusal": None, **calls}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls" if call else "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def _responses(text: str, call: str) -> Body:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    output: list[Body] = [
        {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content}
    ]
    if call:
        item = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "write_file", "arguments": call}
        output.append({**item, "status": "completed"})
    usage = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": output, "usage": usage}


def _anthropic(text: str, call: str) -> Body:
    content: list[Body] = [{"type": "text", "text": text}]
    if call:
        content.append({"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": json.loads(call)})
    reason = "tool_use" if call else "end_turn"
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
    return {**head, "stop_reason": reason, "usage": {"input_tokens": 5, "output_tokens": 7}}


def _gemini(text: str, call: str) -> Body:
    parts: list[Body] = [{"text": text}]
    if call:
        parts.append({"functionCall": {"name": "write_file", "args": json.loads(call)}})
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 7}}


def _ollama(text: str, call: str) -> Body:
    calls = {"tool_calls": [{"function": {"name": "write_file", "arguments": json.loads(call)}}]} if call else {}
    message = {"role": "assistant", "content": text, **calls}
    head = {"model": "m", "created_at": "2025-01-01T00:00:00Z", "message": message}
    return {**head, "done": True, "done_reason": "stop", "prompt_eval_count": 5, "eval_count": 7}


_WIRES: dict[str, Callable[[str, str], Body]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "ollama-chat": _ollama,
}
PROSE = "64 KB of prose"
_KINDS = {
    "a short call": ("Let me see.", arguments(120)),
    "short prose": ("Let me see. It is so.", ""),
    PROSE: (write_prose(64 * KIB), ""),
    "a call of 64 KB": ("", arguments(64 * KIB)),
}
BODIES: dict[str, tuple[str, bool, Body]] = {
    f"{wire}, {kind}": (wire, kind == PROSE, write(*parts))
    for wire, write in _WIRES.items()
    for kind, parts in _KINDS.items()
}
"""Each body by name: its wire, whether it is long prose, and the message."""
