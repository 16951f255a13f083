"""Ollama's two wires: a line has 100 to 150 bytes, and the time at which it was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from texts import Reads, arguments, compact, fragments, source, words

__all__ = ["ollama_generated", "ollama_hermes", "ollama_qwen3_coder", "ollama_text"]

_END = {"done": True, "done_reason": "stop", "eval_count": 100, "eval_duration": 1_000_000}


def ollama_text(count: int) -> Reads:
    """Prose, a word in each line."""
    return _chat(words(count))


def ollama_hermes(size: int) -> Reads:
    """A call that the model wrote as JSON between tags."""
    call = f'<tool_call>\n{{"name": "write_file", "arguments": {arguments(size)}}}\n</tool_call>'
    return _chat(fragments(call))


def ollama_qwen3_coder(size: int) -> Reads:
    """A call that the model wrote as XML-like parameters."""
    parameters = f"<parameter=path>\na.py\n</parameter>\n<parameter=content>\n{source(size)}\n</parameter>"
    return _chat(fragments(f"<tool_call>\n<function=write_file>\n{parameters}\n</function>\n</tool_call>"))


def ollama_generated(count: int) -> Reads:
    """Prose of `/api/generate`."""
    for number, word in enumerate(words(count)):
        yield _line(number, {"response": word, "done": False})
    yield _line(count, {"response": "", **_END})


def _chat(pieces: Iterator[str]) -> Reads:
    number = 0
    for number, piece in enumerate(pieces):
        yield _line(number, {"message": {"role": "assistant", "content": piece}, "done": False})
    yield _line(number + 1, {"message": {"role": "assistant", "content": ""}, **_END})


def _line(number: int, rest: dict[str, Any]) -> bytes:
    head = {"model": "some-model", "created_at": f"2025-01-01T00:00:00.{number:06}Z"}
    return compact({**head, **rest}).encode() + b"\n"
