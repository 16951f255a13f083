"""A parser costs little to make, and a set of tools that was never seen little in the dearest feed of its streams.

What is measured is the ratio to a piece of text, which is a read of a text stream with every dialect armed, in one run.
Other sets of tools went before, so that what is made once for all of them is made.  Each figure is the least of some
rounds, for a busy machine only adds to it.
"""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from statistics import median
from typing import Any

import pytest
from openai_bodies import chat_text
from texts import FRAGMENT, fragments

import streamparse as sp
from streamparse.dialects import DIALECTS
from streamparse.tools import Toolset

CONSTRUCTOR = 300
FEED = 50
"""As many pieces of text as each may cost."""
DEARER = {"tool-name-tag": 60}
"""In one feed it leaves four formats that share its tag, begins the call, and reads what the tool's schema says."""
ROUNDS = 12
_NUMBERS = count(10_000)
"""All of one length, so that texts are cut in the same places."""


def _tools(number: int, size: int) -> list[dict[str, Any]]:
    """Tools whose names, and whose parameters' names, are new."""
    names = [f"get_weather{number}", f"bash{number}", *(f"tool{number}_{each}" for each in range(size - 2))]
    properties = {f"city{number}": {"type": "string"}, f"zone{number}": {"type": "integer"}}
    schema = {"type": "object", "properties": properties}
    return [{"type": "function", "function": {"name": name, "parameters": schema}} for name in names[:size]]


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def _piece_of_text() -> float:
    """Seconds for a read of text."""
    reads = list(chat_text(2000))
    parser = sp.StreamParser("openai-chat", dialects="auto", tools=_tools(next(_NUMBERS), 8))
    return _seconds(lambda: [parser.feed(read) for read in reads]) / len(reads)


@pytest.fixture(scope="module")
def piece() -> Iterator[float]:
    """Seconds for a piece of text; no garbage is collected meanwhile."""
    gc.collect()
    gc.disable()
    yield min(_piece_of_text() for _ in range(ROUNDS))
    gc.enable()


def _made(size: int) -> float:
    tools = _tools(next(_NUMBERS), size)
    return _seconds(lambda: sp.StreamParser("openai-chat", dialects="auto", tools=tools))


@pytest.mark.parametrize("size", [1, 8, 32, 128])
def test_a_parser_for_new_tools_costs_little(size: int, piece: float, tell: Callable[[str], None]) -> None:
    cost = min(_made(size) for _ in range(ROUNDS)) / piece
    tell(f"a parser for {size:3} new tools                {cost:8.1f} pieces of text ({piece * 1e6:.2f} µs each)")
    assert cost <= CONSTRUCTOR or size > 32  # beyond, reading the declarations is most of it: so much for each tool


WARM = {"no tools": 15, "a Toolset": 20, "50 definitions": 45}
"""As many pieces of text as a parser may cost of whose kind there were others before."""


@pytest.mark.parametrize("kind", WARM)
def test_a_parser_like_those_before_costs_little(kind: str, piece: float, tell: Callable[[str], None]) -> None:
    definitions = _tools(next(_NUMBERS), 50)
    tools = {"no tools": None, "a Toolset": Toolset.of(definitions), "50 definitions": definitions}[kind]

    def make_some() -> None:
        for _ in range(20):
            sp.StreamParser("openai-chat", tools=tools)

    cost = min(_seconds(make_some) for _ in range(ROUNDS)) / 20 / piece
    tell(f"a parser with {kind:14} like those before {cost:8.1f} pieces of text")
    assert cost <= WARM[kind]


COLD = """
import time
start = time.process_time()
from streamparse import StreamParser
imported = time.process_time()
StreamParser("openai-chat")
print(imported - start, time.process_time() - imported)
"""


def test_the_first_parser_of_a_process_costs_a_part_of_the_import(tell: Callable[[str], None]) -> None:
    runs = [subprocess.run([sys.executable, "-c", COLD], capture_output=True, check=True, text=True) for _ in range(9)]
    imported, made = (median(column) for column in zip(*(map(float, run.stdout.split()) for run in runs), strict=True))
    tell(f"import {imported * 1e3:.1f} ms, the first parser {made * 1e3:.1f} ms")
    assert made <= imported / 4


def _feeds(name: str) -> list[float]:
    """Seconds for each feed of the example of a dialect, for new tools."""
    number = next(_NUMBERS)
    text = DIALECTS[name].example.replace("get_weather", f"get_weather{number}").replace("city", f"city{number}")
    text = text.replace("<bash>", f"<bash{number}>").replace("</bash>", f"</bash{number}>")
    parser = sp.TextParser(tools=_tools(number, 8))
    feed = parser.feed
    pieces = fragments(f"<think>\nHm</think>{text}", FRAGMENT)
    return [_seconds(lambda piece=piece: feed(piece)) for piece in pieces]  # type: ignore[misc]


@pytest.fixture(scope="module")
def dearest(piece: float) -> dict[str, float]:
    """The dearest feed of each dialect, in pieces of text; what disturbs the machine hits one of three turns."""
    least: dict[str, list[float]] = {}
    for name in [*DIALECTS] * 3:
        for _ in range(ROUNDS):
            feeds = _feeds(name)
            least[name] = list(map(min, feeds, least.get(name, feeds)))
    return {name: max(feeds) / piece for name, feeds in least.items()}


@pytest.mark.parametrize("name", DIALECTS)
def test_no_feed_of_a_stream_with_new_tools_is_dear(
    name: str, dearest: dict[str, float], tell: Callable[[str], None]
) -> None:
    cost = dearest[name]
    if cost > FEED / 2:
        tell(f"the dearest feed of {name:20} {cost:8.1f} pieces of text")
    assert cost <= DEARER.get(name, FEED)
