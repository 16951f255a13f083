"""The wires of content blocks: Anthropic, Cohere, and Bedrock's Converse in its binary messages.

An event of Cohere has 100 bytes, one of Anthropic 150, one of Bedrock 180 to 280: padding hides its length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any
from zlib import crc32

from texts import Reads, arguments, compact, fragments, typed, words

__all__ = [
    "anthropic_call",
    "anthropic_text",
    "anthropic_thought",
    "cohere_call",
    "cohere_text",
    "converse_call",
    "converse_text",
]

_PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


# -- Anthropic -----------------------------------------------------------------------------------------


def anthropic_text(count: int) -> Reads:
    """One text block."""
    return _anthropic({"type": "text", "text": ""}, ({"type": "text_delta", "text": word} for word in words(count, 2)))


def anthropic_thought(count: int) -> Reads:
    """One thinking block, with its signature."""
    deltas = [{"type": "thinking_delta", "thinking": word} for word in words(count, 4)]
    deltas.append({"type": "signature_delta", "signature": "EqQB" * 100})
    return _anthropic({"type": "thinking", "thinking": "", "signature": ""}, iter(deltas))


def anthropic_call(size: int) -> Reads:
    """One `tool_use` block."""
    block = {"type": "tool_use", "id": "toolu_01AbCdEfGhIjKlMnOpQrStUv", "name": "write_file", "input": {}}
    pieces = fragments(arguments(size))
    return _anthropic(block, ({"type": "input_json_delta", "partial_json": piece} for piece in pieces), "tool_use")


def _anthropic(block: dict[str, Any], deltas: Iterator[dict[str, Any]], reason: str = "end_turn") -> Reads:
    message = {"id": "msg_01", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 9}}
    yield typed({"type": "message_start", "message": message})
    yield typed({"type": "content_block_start", "index": 0, "content_block": block})
    for delta in deltas:
        yield typed({"type": "content_block_delta", "index": 0, "delta": delta})
    yield typed({"type": "content_block_stop", "index": 0})
    yield typed({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}})
    yield typed({"type": "message_stop"})


# -- Cohere --------------------------------------------------------------------------------------------


def cohere_text(count: int) -> Reads:
    """One content block, a word in each event."""
    yield _cohere("content-start", {"content": {"type": "text", "text": ""}})
    for word in words(count):
        yield _cohere("content-delta", {"content": {"text": word}})
    yield typed({"type": "content-end", "index": 0})
    yield _cohere_end("COMPLETE")


def cohere_call(size: int) -> Reads:
    """One call."""
    head = {"id": "write_file_0123456789ab", "type": "function"}
    yield _cohere("tool-call-start", {"tool_calls": {**head, "function": {"name": "write_file", "arguments": ""}}})
    for piece in fragments(arguments(size)):
        yield _cohere("tool-call-delta", {"tool_calls": {"function": {"arguments": piece}}})
    yield typed({"type": "tool-call-end", "index": 0})
    yield _cohere_end("TOOL_CALL")


def _cohere(kind: str, message: dict[str, Any]) -> bytes:
    return typed({"type": kind, "index": 0, "delta": {"message": message}})


def _cohere_end(reason: str) -> bytes:
    usage = {"billed_units": {"input_tokens": 9, "output_tokens": 9}, "tokens": {"input_tokens": 9, "output_tokens": 9}}
    return typed({"type": "message-end", "delta": {"finish_reason": reason, "usage": usage}})


# -- Bedrock -------------------------------------------------------------------------------------------


def converse_text(count: int) -> Reads:
    """One text block, a word in each message."""
    yield _converse("messageStart", {"role": "assistant"})
    for number, word in enumerate(words(count)):
        yield _converse("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": word}}, number)
    yield from _converse_end("end_turn")


def converse_call(size: int) -> Reads:
    """One call."""
    start = {"toolUse": {"toolUseId": "tooluse_AbCdEfGhIjKlMnOpQrStUv", "name": "write_file"}}
    yield _converse("messageStart", {"role": "assistant"})
    yield _converse("contentBlockStart", {"contentBlockIndex": 0, "start": start})
    for number, piece in enumerate(fragments(arguments(size))):
        delta = {"toolUse": {"input": piece}}
        yield _converse("contentBlockDelta", {"contentBlockIndex": 0, "delta": delta}, number)
    yield from _converse_end("tool_use")


def _converse_end(reason: str) -> Reads:
    yield _converse("contentBlockStop", {"contentBlockIndex": 0})
    yield _converse("messageStop", {"stopReason": reason})
    usage = {"inputTokens": 9, "outputTokens": 9, "totalTokens": 18}
    yield _converse("metadata", {"usage": usage, "metrics": {"latencyMs": 900}})


def _converse(event: str, message: dict[str, Any], padding: int = 0) -> bytes:
    headers = b"".join(
        _header(name, value)
        for name, value in (
            (":event-type", event),
            (":content-type", "application/json"),
            (":message-type", "event"),
        )
    )
    payload = compact({**message, "p": _PADDING[: padding * 7 % len(_PADDING)]}).encode()
    lengths = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    body = lengths + struct.pack(">I", crc32(lengths)) + headers + payload
    return body + struct.pack(">I", crc32(body))


def _header(name: str, value: str) -> bytes:
    return bytes([len(name)]) + name.encode() + b"\x07" + struct.pack(">H", len(value)) + value.encode()
