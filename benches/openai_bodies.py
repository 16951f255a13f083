"""OpenAI's three wires.

A chunk of the chat wire has 220 to 350 bytes and a token of one to six characters, an event of Responses 300 to 450.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from texts import Reads, arguments, fragments, sse, typed, words

__all__ = [
    "chat_calls",
    "chat_doubled_text",
    "chat_noisy_text",
    "chat_text",
    "completions_text",
    "responses_call",
    "responses_text",
]

_HEAD = {"created": 1732200000, "model": "some-model-2024-07-18"}
_ITEM = "msg_0123456789abcdef0123456789abcdef0123456789abcdef"


def chat_text(count: int) -> Reads:
    """Prose, a word in each chunk."""
    return _chat(({"content": word} for word in words(count)), "stop")


def chat_noisy_text(count: int) -> Reads:
    """The same, with noise in each chunk that hides its length."""
    for number, word in enumerate(words(count)):
        choice = {"index": 0, "delta": {"content": word}, "logprobs": None, "finish_reason": None}
        yield sse({**_chunk(choice), "obfuscation": f"x{number:05}"[: 1 + number % 6]})


def chat_doubled_text(count: int) -> Reads:
    """A thought whose words stand in two fields, as OpenRouter writes them, and then text."""
    for number, word in enumerate(words(count)):
        detail = {"type": "reasoning.text", "text": word, "format": "unknown", "index": 0}
        thought = {"content": "", "reasoning": word, "reasoning_details": [detail]}
        text = {"content": word, "reasoning": None, "reasoning_details": []}
        delta = {"role": "assistant", **(thought if number < count // 5 else text)}
        choice = {"index": 0, "delta": delta, "finish_reason": None, "native_finish_reason": None, "logprobs": None}
        yield sse({**_chunk(choice), "provider": "Somebody"})


def chat_calls(size: int, parallel: int = 1) -> Reads:
    """Calls with `size` characters of arguments each, one after the other."""
    return _chat((delta for index in range(parallel) for delta in _chat_call(index, size)), "tool_calls")


def _chat(deltas: Iterator[dict[str, Any]], finish: str) -> Reads:
    for delta in deltas:
        yield sse(_chunk({"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}))
    yield sse(_chunk({"index": 0, "delta": {}, "logprobs": None, "finish_reason": finish}))
    yield b"data: [DONE]\n\n"


def _chunk(choice: dict[str, Any]) -> dict[str, Any]:
    head = {"id": "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz", "object": "chat.completion.chunk", **_HEAD}
    return {**head, "system_fingerprint": "fp_1234567890", "choices": [choice]}


def _chat_call(index: int, size: int) -> Iterator[dict[str, Any]]:
    head = {"index": index, "id": f"call_{index:024}", "type": "function"}
    yield {"tool_calls": [{**head, "function": {"name": "write_file", "arguments": ""}}]}
    for piece in fragments(arguments(size)):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def completions_text(count: int) -> Reads:
    """Prose on the legacy wire, a word in each chunk."""
    for word in words(count):
        yield sse(_completion(word, None))
    yield sse(_completion("", "stop"))
    yield b"data: [DONE]\n\n"


def _completion(text: str, reason: str | None) -> dict[str, Any]:
    choice = {"index": 0, "text": text, "logprobs": None, "finish_reason": reason, "stop_reason": None}
    head = {"id": "cmpl-0123456789abcdef0123456789abcdef", "object": "text_completion", **_HEAD}
    return {**head, "choices": [choice], "usage": None}


def responses_text(count: int) -> Reads:
    """A `message` item with one part, a word in each event."""
    place = {"item_id": _ITEM, "output_index": 0, "content_index": 0}
    item = {"id": _ITEM, "type": "message", "role": "assistant", "status": "in_progress", "content": []}
    yield typed({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}})
    yield typed({"type": "response.output_item.added", "output_index": 0, "item": item})
    yield typed({"type": "response.content_part.added", **place, "part": {"type": "output_text", "text": ""}})
    for number, word in enumerate(words(count), 3):
        rest = {"delta": word, "logprobs": [], "obfuscation": "AbCdEfGhIjKl"}
        yield typed({"type": "response.output_text.delta", "sequence_number": number, **place, **rest})
    text = "".join(words(count))
    part = {"type": "output_text", "annotations": [], "text": text}
    yield typed({"type": "response.output_text.done", **place, "text": text})
    done = {**item, "status": "completed", "content": [part]}
    yield typed({"type": "response.output_item.done", "output_index": 0, "item": done})
    yield typed({"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}})


def responses_call(size: int) -> Reads:
    """One `function_call` item."""
    text = arguments(size)
    item = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "write_file", "arguments": ""}
    place = {"item_id": "fc_1", "output_index": 0}
    yield typed({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}})
    yield typed({"type": "response.output_item.added", "output_index": 0, "item": item})
    for number, piece in enumerate(fragments(text)):
        kind = "response.function_call_arguments.delta"
        yield typed({"type": kind, "sequence_number": number + 2, **place, "delta": piece})
    yield typed({"type": "response.function_call_arguments.done", **place, "arguments": text})
    done = {**item, "status": "completed", "arguments": text}
    yield typed({"type": "response.output_item.done", "output_index": 0, "item": done})
    yield typed({"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}})
