"""A parser that nobody holds any more is freed at once, with all it is made of: nothing waits for the collector.

Each way is walked once before it counts, for what is made once in a process is kept.
"""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from fixture_streams import NAMES, make_parser, read_body, read_index

import streamparse as sp
from streamparse.dialects import DIALECTS

TOOL = {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
MOST_STREAMS = 6
MOST_CUTS = 4


def find_garbage(run: Callable[[], object]) -> Counter[str]:
    """Count by type the objects that only the collector frees after `run`."""
    run()
    gc.collect()
    gc.freeze()  # for good: nobody need look again at what a whole session of tests holds
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        run()
        gc.collect()
        return Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def feed(parser: sp.StreamParser | sp.TextParser, pieces: Iterator[bytes] | Iterator[str]) -> None:
    for piece in pieces:
        parser.feed(piece)  # type: ignore[arg-type]


def cut(whole: str, end: int) -> Iterator[str]:
    return (whole[at : min(at + 13, end)] for at in range(0, end, 13))


def test_a_cycle_is_found() -> None:
    def make_cycle() -> None:
        parser = sp.StreamParser()
        parser.itself = parser  # type: ignore[attr-defined]

    assert find_garbage(make_cycle)["streamparse.parser.stream.StreamParser"] == 1


@pytest.mark.parametrize("wire", sp.WIRES)
def test_a_parser_of_a_stream(wire: str) -> None:
    def walk() -> None:
        sp.StreamParser(wire)
        for name in names:
            body = read_body(name)
            for end in (len(body) // 3, len(body) * 2 // 3, len(body)):
                parser = make_parser(name)
                feed(parser, iter([body[:200], *(body[at : at + 90] for at in range(200, end, 90))]))
            parser.close()
            sp.parse_response(body)
            list(sp.iter_events([body]))
            next(iter(sp.iter_events([body[:400], body[400:]])), None)

    names = [name for name in NAMES if read_index()[name].get("wire") == wire][:MOST_STREAMS]
    assert names
    assert not find_garbage(walk)


@pytest.mark.parametrize("tools", [None, [TOOL]], ids=["without tools", "with tools"])
@pytest.mark.parametrize("before", ["", "I look that up: "])
def test_a_parser_of_text(tools: list[dict[str, object]] | None, before: str) -> None:
    def walk() -> None:
        for name, dialect in DIALECTS.items():
            text = before + dialect.example
            for end in (*range(1, len(text), max(1, len(text) // MOST_CUTS)), len(text)):
                parser = sp.TextParser([name] if end % 2 else "auto", tools=tools)
                feed(parser, cut(text, end))
            parser.close(stopped=True)

    assert not find_garbage(walk)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'data: {"choices":' + b"[" * 5000 + b"\n\n", id="a frame that no reader can read"),
        pytest.param('{"name": "get_weather", "arguments": {"city": "Paris"}}', id="a call as JSON"),
        pytest.param("I'll use the get_weather tool.", id="an intent"),
        pytest.param("`<tool_call>` and [ and { are text", id="markers in prose"),
        pytest.param({"error": {"message": "no"}}, id="an error"),
        pytest.param(None, id="nothing"),
    ],
)
def test_a_whole_response(body: object) -> None:
    assert not find_garbage(lambda: sp.parse_response(body, tools=[TOOL]))


def test_the_arguments_so_far() -> None:
    def walk() -> None:
        parser = sp.TextParser(["hermes"])
        parser.feed('<tool_call>{"name": "get_weather", "arguments": {"city": "Par')
        assert parser.partial(0) == {"city": "Par"}

    assert not find_garbage(walk)
