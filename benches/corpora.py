"""Streams as servers write them, byte for byte, made to measure: each read brings one event or line.

A chunk of OpenAI's chat wire has 220 to 350 bytes and a token of one to six characters; that is what servers send.
All corpora are generators of reads, so that a bench can hold them in memory or not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

__all__ = ["CORPORA", "KIB", "MIB", "Corpus", "arguments", "fragments"]

KIB = 1024
MIB = 1024 * KIB
FRAGMENT = 4
"""Characters of one piece of arguments, or of text with a call in it."""

Reads = Iterator[bytes]

_WORDS = ("Hello", " there", ",", " this", " is", " a", " stream", ".", " And", "\n", " more")
_ARGUMENT = 'def f(x):\n    return {"a": [x, "b"]}  # text with "quotes" and {braces}\n'


class Corpus(NamedTuple):
    """A stream: the wire it is of, and what makes its reads."""

    wire: str
    reads: Callable[[], Reads]


def arguments(size: int) -> str:
    """The JSON text of one call's arguments, `size` characters or a few more: a file to write."""
    frame = len(json.dumps({"path": "a.py", "content": ""}))
    unit = len(json.dumps(_ARGUMENT)) - 2
    return json.dumps({"path": "a.py", "content": _ARGUMENT * -(-(size - frame) // unit)})


def fragments(text: str, size: int = FRAGMENT) -> Iterator[str]:
    """Cut a text as tokens cut it."""
    return (text[at : at + size] for at in range(0, len(text), size))


def _words(count: int) -> Iterator[str]:
    return (_WORDS[number % len(_WORDS)] for number in range(count))


# -- OpenAI chat ---------------------------------------------------------------------------------------


def _chat(deltas: Iterator[dict[str, Any]], finish: str) -> Reads:
    for delta in deltas:
        yield _sse(_chunk({"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}))
    yield _sse(_chunk({"index": 0, "delta": {}, "logprobs": None, "finish_reason": finish}))
    yield b"data: [DONE]\n\n"


def _chunk(choice: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz",
        "object": "chat.completion.chunk",
        "created": 1732200000,
        "model": "some-model-2024-07-18",
        "system_fingerprint": "fp_1234567890",
        "choices": [choice],
    }


def _sse(message: dict[str, Any], event: str = "") -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(message, separators=(',', ':'))}\n\n".encode()


def chat_text(count: int) -> Reads:
    """Prose, a word in each chunk."""
    return _chat(({"content": word} for word in _words(count)), "stop")


def chat_calls(size: int, parallel: int = 1) -> Reads:
    """Calls with `size` characters of arguments each, one after the other."""
    return _chat((delta for index in range(parallel) for delta in _chat_call(index, size)), "tool_calls")


def _chat_call(index: int, size: int) -> Iterator[dict[str, Any]]:
    head = {"index": index, "id": f"call_{index:024}", "type": "function"}
    yield {"tool_calls": [{**head, "function": {"name": "write_file", "arguments": ""}}]}
    for piece in fragments(arguments(size)):
        yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


# -- Ollama chat ---------------------------------------------------------------------------------------


def _ollama(pieces: Iterator[str]) -> Reads:
    head = {"model": "some-model", "created_at": "2025-01-01T00:00:00.000000Z"}
    for piece in pieces:
        yield _line({**head, "message": {"role": "assistant", "content": piece}, "done": False})
    end = {"done": True, "done_reason": "stop", "eval_count": 100, "eval_duration": 1_000_000}
    yield _line({**head, "message": {"role": "assistant", "content": ""}, **end})


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def ollama_text(count: int) -> Reads:
    """Prose, a word in each line."""
    return _ollama(_words(count))


def ollama_hermes(size: int) -> Reads:
    """A call that the model wrote as JSON between tags."""
    call = f'<tool_call>\n{{"name": "write_file", "arguments": {arguments(size)}}}\n</tool_call>'
    return _ollama(fragments(call))


def ollama_qwen3_coder(size: int) -> Reads:
    """A call that the model wrote as XML-like parameters."""
    content = _ARGUMENT * (size // len(_ARGUMENT))
    parameters = f"<parameter=path>\na.py\n</parameter>\n<parameter=content>\n{content}\n</parameter>"
    return _ollama(fragments(f"<tool_call>\n<function=write_file>\n{parameters}\n</function>\n</tool_call>"))


# -- the event streams with types ----------------------------------------------------------------------


def anthropic_call(size: int) -> Reads:
    """One `tool_use` block."""
    block = {"type": "tool_use", "id": "toolu_01AbCdEfGhIjKlMnOpQrStUv", "name": "write_file", "input": {}}
    message = {"id": "msg_01", "type": "message", "role": "assistant", "content": [], "usage": {"input_tokens": 9}}
    yield _typed({"type": "message_start", "message": message})
    yield _typed({"type": "content_block_start", "index": 0, "content_block": block})
    for piece in fragments(arguments(size)):
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield _typed({"type": "content_block_delta", "index": 0, "delta": delta})
    yield _typed({"type": "content_block_stop", "index": 0})
    yield _typed({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}})
    yield _typed({"type": "message_stop"})


def responses_call(size: int) -> Reads:
    """One `function_call` item."""
    text = arguments(size)
    item = {"id": "fc_1", "type": "function_call", "call_id": "call_1", "name": "write_file", "arguments": ""}
    place = {"item_id": "fc_1", "output_index": 0}
    yield _typed({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}})
    yield _typed({"type": "response.output_item.added", "output_index": 0, "item": item})
    for number, piece in enumerate(fragments(text)):
        kind = "response.function_call_arguments.delta"
        yield _typed({"type": kind, "sequence_number": number + 2, **place, "delta": piece})
    yield _typed({"type": "response.function_call_arguments.done", **place, "arguments": text})
    done = {**item, "status": "completed", "arguments": text}
    yield _typed({"type": "response.output_item.done", "output_index": 0, "item": done})
    yield _typed({"type": "response.completed", "response": {"id": "resp_1", "status": "completed"}})


def _typed(message: dict[str, Any]) -> bytes:
    return _sse(message, message["type"])


CORPORA = {
    "openai-chat, text": Corpus("openai-chat", partial(chat_text, 10_000)),
    "openai-chat, call of 64 KB": Corpus("openai-chat", partial(chat_calls, 64 * KIB)),
    "openai-chat, call of 1 MB": Corpus("openai-chat", partial(chat_calls, MIB)),
    "openai-chat, 8 calls of 8 KB": Corpus("openai-chat", partial(chat_calls, 8 * KIB, 8)),
    "openai-responses, call of 64 KB": Corpus("openai-responses", partial(responses_call, 64 * KIB)),
    "anthropic, call of 64 KB": Corpus("anthropic", partial(anthropic_call, 64 * KIB)),
    "ollama-chat, text": Corpus("ollama-chat", partial(ollama_text, 10_000)),
    "ollama-chat, hermes call of 64 KB": Corpus("ollama-chat", partial(ollama_hermes, 64 * KIB)),
    "ollama-chat, qwen3-coder call of 64 KB": Corpus("ollama-chat", partial(ollama_qwen3_coder, 64 * KIB)),
}
"""Every corpus by name."""
