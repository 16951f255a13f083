"""The work of every dialect is linear in the text, whatever a model writes between its markers, and little is held.

The texts are made of each row's own example: its value grown long, its parts repeated, cut off, and almost written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from thoroughness import is_nightly
from work import assert_linear, repeated

import streamparse as sp
from streamparse.dialects import DIALECTS, Dialect

pytestmark = pytest.mark.usefixtures("uncollected")

NIGHTLY = is_nightly()
SIZES = (4 * 1024, 128 * 1024) if NIGHTLY else (1024, 5 * 1024)
"""Characters; the larger ones with `--hypothesis-profile nightly`."""
DOUBTED = (4 * 1024, 128 * 1024) if NIGHTLY else (4 * 1024, 20 * 1024)
"""Characters of what is looked at in vain: 4 KB of it may be looked at again."""
PIECE = 16
GROWTH = 3
"""Work that grows with the square of the text grows five times here."""
LIMITS = sp.Limits(max_calls=None, max_pending=None)
TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
    for name in ("get_weather", "brave_search", "bash")
]
VALUES = {name: next(v for v in ("Paris", "ls -l", "ls") if v in row.example) for name, row in DIALECTS.items()}
"""The argument of each example that is made long."""


def _marker(row: Dialect) -> str:
    """What opens a call in the example."""
    longest = max((opener.text for opener in row.openers if row.example.startswith(opener.text)), key=len, default="")
    return longest or row.example[:12]


def _around(row: Dialect, value: str) -> tuple[str, str]:
    before, _, after = row.example.partition(value)
    return before, after


def _shapes(row: Dialect) -> dict[str, Callable[[int], str]]:
    before, after = _around(row, VALUES[row.name])
    marker = _marker(row)
    closer = after.lstrip("\"'\n")[:12]
    return {
        "many calls": repeated(row.example + "\n"),
        "many calls in one line": repeated(row.example),
        "markers": repeated(marker),
        "markers on lines": repeated(f"{marker}\n"),
        "markers in prose": repeated(f"{marker} is a word. "),
        "markers in back-ticks": repeated(f"`{marker}` and "),
        "almost markers": repeated(f"{marker[:-1]} "),
        "beginnings of calls": repeated(before),
        "beginnings of calls on lines": repeated(f"{before}\n"),
        "quoted beginnings of calls": repeated(f"`{before}` "),
        "calls without their ends": repeated(before + VALUES[row.name]),
        "blanks behind the marker": repeated(" \n", marker, "x"),
        "blanks behind the call": repeated(" \n", row.example, "x"),
        "blanks in the value": repeated(" \n", before, after),
        "blanks behind the value": repeated(" \n", before + VALUES[row.name], after),
        "brackets in the value": repeated("[{(<", before, after),
        "nested brackets": repeated("[", before.rstrip("\"'\n"), after),
        "nested objects": repeated('{"a":', before.rstrip("\"'\n"), after),
        "nested tags": repeated("<a>", before, after),
        "almost the end in the value": repeated(closer[:-1] + " ", before, after),
        "the marker in the value": repeated(f"{marker} ", before, after),
        "quotes in the value": repeated("\"' ", before, after),
        "backslashes in the value": repeated("\\", before, after),
        "names without end": repeated("name", marker),
    }


CASES = [(name, shape) for name, row in DIALECTS.items() for shape in _shapes(row)]
SOME = CASES if NIGHTLY else CASES[::11]
"""Every shape with many dialects, every dialect with many shapes; all of them with the nightly profile."""


@pytest.mark.parametrize(("name", "shape"), SOME)
def test_the_work_of_a_dialect_is_linear(name: str, shape: str) -> None:
    body = _shapes(DIALECTS[name])[shape]
    sizes = DOUBTED if shape.startswith("quoted") else SIZES
    for tools in (TOOLS, None) if NIGHTLY else (TOOLS,):
        assert_linear(partial(sp.TextParser, [name], tools=tools, limits=LIMITS), body, PIECE, sizes, GROWTH)


SMALL = sp.Limits(max_held_text=512, max_call_args=2048, max_calls=None)
HELD = 2 * 2048
"""Characters that may be withheld in all: what may become a call, and what its grammar needs to decide."""


@pytest.mark.parametrize(("name", "shape"), SOME)
def test_a_dialect_withholds_no_more_than_its_limits(name: str, shape: str) -> None:
    text = _shapes(DIALECTS[name])[shape](16 * 1024)
    parser = sp.TextParser([name], tools=TOOLS, limits=SMALL)
    grammar = parser._inband
    assert grammar is not None
    for start in range(0, len(text), 256):
        parser.feed(text[start : start + 256])
        reader = grammar._scanner.reader
        assert len(reader.buffer) - reader.at + reader.count_kept() <= HELD
