"""While a call is open, the parser holds one copy of its text and a constant; measured with tracemalloc."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from ollama_bodies import ollama_hermes, ollama_qwen3_coder
from openai_bodies import chat_calls
from rooms import parse
from texts import KIB, MIB

import streamparse as sp

CONSTANT = MIB // 4
STREAMS: dict[str, tuple[str, Callable[[int], Iterator[bytes]]]] = {
    "native call": ("openai-chat", chat_calls),
    "call in the text as JSON": ("ollama-chat", ollama_hermes),
    "call in the text as tags": ("ollama-chat", ollama_qwen3_coder),
}


def _peak_while_open(name: str, size: int) -> tuple[int, int]:
    """The most that was held before the call's Complete, and the length of its arguments so far."""
    wire, make = STREAMS[name]
    parse(wire, make(KIB))  # what is made once, is made
    reads = list(make(size))
    parser = sp.StreamParser(wire)
    length = peak = 0
    tracemalloc.start()
    try:
        for read in reads:
            for event in parser.feed(read):
                if isinstance(event, sp.ToolCallComplete):
                    return peak, length
                length += len(event.arguments) if isinstance(event, sp.ToolCallDelta) else 0
            peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    raise AssertionError("no call was completed")


@pytest.mark.parametrize("name", STREAMS)
def test_an_open_call_is_held_once(name: str, tell: Callable[[str], None]) -> None:
    small, length = _peak_while_open(name, MIB)
    large, longer = _peak_while_open(name, 2 * MIB)
    more = (large - small) / (longer - length)
    tell(f"{name + ', 1 MB':40} peak {small / MIB:5.2f} MiB; for each character more {more:.2f} bytes")
    assert small <= length + CONSTANT
    assert large - small <= 1.1 * (longer - length)
