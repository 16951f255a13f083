"""Law 7 over every wire and every row: neither calls nor text within reach grow, for each byte, with the answer.

The frames of a wire are written as its servers write them: text, thoughts, calls.  The texts of a row are its example
and the example with a long value.  What is peculiar to a wire or to a family of rows has tests of its own:
`test_linear.py`, `test_linear_wires.py`, `test_linear_dialects.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, count
from typing import Any

import pytest
from call_counts import count_calls
from cuts import in_pieces
from subjects import SUBJECTS, TOOLS, WIRES
from thoroughness import is_nightly
from work import assert_linear, read, repeated
from writing import WRITERS, Fragment, Message, Writer, frame_of

import streamparse as sp

pytestmark = pytest.mark.usefixtures("uncollected")

SIZES = (16 * 1024, 256 * 1024) if is_nightly() else (2 * 1024, 10 * 1024)
LONG = (4 * 1024, 1024 * 1024) if is_nightly() else (1024, 6 * 1024)
"""Bytes of an answer, and characters of one argument; the larger ones with `--hypothesis-profile nightly`."""
LIMITS = sp.Limits(max_calls=None, max_open_calls=None, max_pending=None)
PIECE, TOKEN = 64, 4
CALLS = 24 * PIECE
"""Calls that a read of that size may take; to compile one pattern takes more."""
OF_A_TOOL = 300
"""Calls that a tool may take when a parser is made."""
VALUES = ("Paris", "ls -l", "ls")
"""The argument of each example that is made long."""

Shape = Callable[[Writer], Iterator[list[Message]]]


def _texts(text: str) -> Shape:
    return lambda writer: (writer.text(text) for _ in count())


def _thoughts(writer: Writer) -> Iterator[list[Message]]:
    return (writer.thought("word ") for _ in count()) if writer.has_thoughts else iter(())


def _one_long_call(writer: Writer) -> Iterator[list[Message]]:
    if writer.has_calls and writer.has_pieces:
        yield writer.call_start(Fragment(0, "", "bash", "i", 0))
        yield writer.call_piece(Fragment(0, '{"command": "', index=0))
        yield from (writer.call_piece(Fragment(0, "word ", index=0)) for _ in count())


def _many_calls(writer: Writer) -> Iterator[list[Message]]:
    if writer.has_calls:
        for number in count():
            yield writer.call_whole(
                Fragment(number, json.dumps({"command": f"{number}"}), "bash", f"i{number}", number)
            )


SHAPES: dict[str, Shape] = {
    "text": _texts("word "),
    "text that is almost markup": _texts("<tool_call"),
    "calls in the text": _texts('<tool_call>{"name": "bash", "arguments": {}}</tool_call>\n'),
    "thoughts": _thoughts,
    "one long call": _one_long_call,
    "many calls": _many_calls,
}


def _write(wire: str, shape: Shape, size: int) -> bytes:
    """An answer of at least so many bytes; none where the wire has no messages of this shape."""
    writer = WRITERS[wire]()
    body = b""
    for message in chain(writer.begin(), chain.from_iterable(shape(writer))):
        body += frame_of(wire, message, "usual", 0)
        if len(body) >= size:
            return body
    return b""


def _bodies_of(wire: str) -> dict[str, Callable[[int], bytes]]:
    spoken = "openai-chat" if wire == "auto" else wire
    bodies = {name: lambda size, shape=shape: _write(spoken, shape, size) for name, shape in SHAPES.items()}
    begun = _write(spoken, SHAPES["text"], 1)
    noise = {"one long line": b"x", "line ends": b"\n", "lines of no message": b"data: {\n"}
    return {name: body for name, body in bodies.items() if body(1)} | {
        name: lambda size, each=each: begun + each * (size // len(each)) for name, each in noise.items()
    }


def _around(row: str) -> tuple[str, str]:
    """What stands before and after the value of a row's example."""
    example = sp.DIALECTS[row].example
    before, _, after = example.partition(next(value for value in VALUES if value in example))
    return before, after


def test_every_wire_is_written() -> None:
    assert {*WRITERS} == {*WIRES} - {"auto"}


Maker = Callable[..., Any]
Body = Callable[[int], Any]


def _inputs_of(subject: str) -> tuple[Maker, list[tuple[Body, int, tuple[int, int]]]]:
    """What makes a parser of a wire or a row; bodies with the size of their pieces and two sizes of their own."""
    if subject in WIRES:
        bodies = _bodies_of(subject).values()
        return partial(sp.StreamParser, subject, dialects="all", limits=LIMITS), [(b, PIECE, SIZES) for b in bodies]
    calls = repeated(f"{sp.DIALECTS[subject].example}\n")
    long = repeated("a word of text, and a < b > [c] ", *_around(subject))
    return partial(sp.TextParser, [subject], limits=LIMITS), [(calls, PIECE, SIZES), (long, TOKEN, LONG)]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_work_for_each_byte_does_not_grow(subject: str) -> None:
    make, bodies = _inputs_of(subject)
    for body, piece, sizes in bodies:
        assert_linear(partial(make, tools=TOOLS), body, piece, sizes)


def _rename(subject: str, time: int) -> list[sp.Tool]:
    """Tools that no request before had."""
    before = re.sub(r"\W", "_", subject)
    return [sp.Tool(f"{before}{time}_{tool.name}", tool.name, tool.parameters) for tool in TOOLS]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_no_parser_and_no_read_costs_more_than_a_bounded_number_of_calls(subject: str) -> None:
    make, bodies = _inputs_of(subject)
    for number, (body, _, sizes) in enumerate(bodies):
        few, pieces = (in_pieces(body(size), PIECE) for size in sizes)
        for time in (0, 1):  # patterns are compiled, and indexes built, when they are first used
            read(make(tools=_rename(subject, 10 * number + time)), few)
        tools = _rename(subject, 10 * number + 2)
        made: list[Any] = []
        assert count_calls(lambda made=made, tools=tools: made.append(make(tools=tools))) <= OF_A_TOOL * len(tools)
        assert max(count_calls(partial(made[0].feed, piece)) for piece in pieces) <= CALLS
