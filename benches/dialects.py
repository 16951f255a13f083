"""What dialects cost: prose with one of them armed and with all, a call of each: `python benches/dialects.py`."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from statistics import median
from typing import Any

from texts import KIB, MIB, fragments

import streamparse as sp

__all__ = ["TOOLS", "armed_ratio", "call_costs", "call_text", "prose"]

ROUNDS = 15
TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    for name in ("get_weather", "brave_search", "bash")
]
_VALUES = ("Paris", "ls -l", "ls")
_WORDS = (
    "The",
    " answer",
    " is",
    ":",
    " `f`",
    " and",
    " 1",
    " <",
    " 2",
    ",",
    " [see",
    "]",
    " below",
    ".\n",
    "##",
    " So",
)


def prose(count: int) -> list[str]:
    """Markdown as a model writes it, a token in each piece."""
    return [_WORDS[number % len(_WORDS)] for number in range(count)]


def call_text(name: str, size: int) -> str:
    """The example of a dialect, its value grown to about so many characters."""
    example = sp.DIALECTS[name].example
    value = next(value for value in _VALUES if value in example)
    before, _, after = example.partition(value)
    return before + "some words of text, and more. " * (size // 30) + after


def armed_ratio(tools: Any = None, rounds: int = ROUNDS) -> float:
    """How many times prose costs with every dialect armed what it costs with `hermes` alone; CPU time, by turns."""
    pieces = prose(20_000)
    gc.collect()
    gc.freeze()
    try:
        pairs = [(_seconds(pieces, ["hermes"], tools), _seconds(pieces, "auto", tools)) for _ in range(rounds + 1)][1:]
    finally:
        gc.unfreeze()
    return median(all_armed / one for one, all_armed in pairs)


def call_costs(name: str, sizes: Iterable[int], rounds: int = 3) -> list[float]:
    """Microseconds of CPU time for each character of a call in pieces of four, by the size of its argument."""
    texts = [call_text(name, size) for size in sizes]
    return [
        min(_seconds(list(fragments(text)), [name], TOOLS) for _ in range(rounds)) * 1e6 / len(text) for text in texts
    ]


def _seconds(pieces: list[str], dialects: Any, tools: Any) -> float:
    feed: Callable[[str], object] = sp.TextParser(dialects, tools=tools).feed
    start = time.process_time()
    for piece in pieces:
        feed(piece)
    return time.process_time() - start


def main() -> None:
    """Print the figures."""
    print(f"prose, all dialects armed over one: {armed_ratio():.2f}; with tools {armed_ratio(TOOLS):.2f}")
    print(f"{'dialect':24} {'4 KB':>8} {'1 MB':>8}   (µs a character; CPU time)")
    for name in sp.DIALECTS:
        short, long = call_costs(name, (4 * KIB, MIB))
        print(f"{name:24} {short:8.3f} {long:8.3f}", flush=True)


if __name__ == "__main__":
    main()
