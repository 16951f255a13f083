"""Work by counting: how many functions a parse calls for each read, which no busy machine can change."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType

from block_bodies import anthropic_call, cohere_call, converse_call
from gemini_bodies import gemini_partial_call, gemini_text
from ollama_bodies import ollama_hermes, ollama_qwen3_coder
from openai_bodies import chat_calls, chat_text, responses_call
from rooms import parse
from texts import KIB

__all__ = ["STREAMS", "count_calls", "work"]

STREAMS: dict[str, tuple[str, Callable[[int], Iterator[bytes]]]] = {
    "text": ("openai-chat", lambda size: chat_text(size // 4)),
    "native call": ("openai-chat", chat_calls),
    "native call of Responses": ("openai-responses", responses_call),
    "native call of Anthropic": ("anthropic", anthropic_call),
    "native call of Cohere": ("cohere", cohere_call),
    "native call of Bedrock": ("bedrock-converse", converse_call),
    "native call of Gemini, in pieces": ("gemini", gemini_partial_call),
    "text of Gemini": ("gemini", lambda size: gemini_text(size // 80)),
    "call in the text as JSON": ("ollama-chat", ollama_hermes),
    "call in the text as tags": ("ollama-chat", ollama_qwen3_coder),
}
"""A wire, and what makes the reads of a stream with about so many characters."""


def work(name: str, size: int) -> float:
    """Functions called for each read of a stream: see `count_calls`."""
    wire, make = STREAMS[name]
    parse(wire, make(KIB))  # patterns are compiled once
    reads = list(make(size))
    return count_calls(lambda: parse(wire, reads)) / len(reads)


def count_calls(run: Callable[[], object]) -> int:
    """Functions that were called, those of C too; a method of a buffer counts for its kilobytes."""
    count = 0

    def tally(_: FrameType, event: str, called: object) -> None:
        nonlocal count
        if event == "call":
            count += 1
        elif event == "c_call":
            held = getattr(called, "__self__", None)
            count += 1 + (len(held) // KIB if isinstance(held, str | bytes | bytearray) else 0)

    before = sys.getprofile()
    sys.setprofile(tally)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count
