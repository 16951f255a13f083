"""An idle parser holds little; while a call is open, one copy of its text and a constant; measured with tracemalloc."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from block_bodies import anthropic_text
from ollama_bodies import ollama_hermes, ollama_qwen3_coder, ollama_text
from openai_bodies import chat_calls, chat_text
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


IDLE = 8 * KIB
PARSERS = 200


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "ollama-chat"])
def test_an_idle_parser_holds_little(wire: str, tell: Callable[[str], None]) -> None:
    make = {"openai-chat": chat_text, "anthropic": anthropic_text, "ollama-chat": ollama_text}[wire]
    reads = list(make(8))[:6]

    def make_parser() -> sp.StreamParser:
        parser = sp.StreamParser(wire)
        for read in reads:
            parser.feed(read)
        return parser

    make_parser()
    gc.collect()
    tracemalloc.start()
    try:
        kept = [make_parser() for _ in range(PARSERS)]
        held = tracemalloc.get_traced_memory()[0] / len(kept)
    finally:
        tracemalloc.stop()
    tell(f"an idle parser, {wire:24} {held / KIB:5.2f} KiB")
    assert held <= IDLE
