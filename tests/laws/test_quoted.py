"""Law 11: what is quoted is text, as a plain reading of the whole text before a marker decides it; in every cut."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from cuts import assert_same_in_every_cut, calls_of, cut_at, events_of, in_pieces, places_of, text_of
from hypothesis import assume, example, given
from hypothesis import strategies as st
from quoting import is_in_code, is_quoted
from samples import TOOLS as SAMPLE_TOOLS
from samples import is_special
from subjects import ROWS, examples
from text_bodies import write_text

import streamparse as sp
from streamparse.dialects import Quoted
from streamparse.dialects.engine.quotes import Quotes

PIECES = (
    *("a", "w ", "xml", " ", "  ", "    ", "\t", ".", "x: ", "é"),
    *("\n", "\n", "\n\n", "\r\n", "\r", "\n    ", "\n\n    ", "\n   "),
    *("`", "``", "```", "````", "\n```\n", "\n```xml\n", "~~~", "\n~~~\n", "\n````\n", "~"),
    *("\\", '"', "'", "“", "«", "« ", "«\xa0", "》", "\\`", '\\"'),
    *("”", "„", "»", "’", "‘", "n't", "\\'", "」", "「"),
    *("> ", ">", ">>> ", "\n> ", "- ", "\n- ", "* ", "1. ", "\n10) ", "\n  - ", "-", "\n- a\n\n      "),
)
texts = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)

EXAMPLES = {
    "So:\n\n    ": True,
    "So:\n\n   ": False,
    "- a\n\n    ": False,
    "- a\n\n      ": True,
    "```\na\n````\n": False,
    "```\na\n``` x\n": True,
    "~~~\n```\n": True,
    "it is ``a` ": True,
    "it is ``a`` ": False,
    "it is \\` ": False,
    "> a": True,
    "> a\n": False,
    ">>> ": False,
    'a "b" ': False,
    'a "b ': True,
    'a \\"b ': False,
    'a \\\\"b ': True,
    'a "b" "c': True,
    "a\n\nXXXX": False,
    "a\n\n    b\n    ": True,
    "it is `a\\` ": False,
    "-   a\n\n      ": False,
    "- a\n> b\n\n    ": False,
    "```\na\n   ```\n": False,
    "```\na\n    ```\n": True,
    "```\na\n```X\n": True,
    "````\na\n```\n": True,
    "```\n\n": True,
    "```\na\n```" + " " * 260 + "x\n": True,
    "a\n    ```\nb": False,
    "a\r\r    ": True,
    "    ": False,
    "«X": False,
    "-      a\n\n     ": False,
    "-      a\n\n      ": True,
    "-     a\n\n     ": False,
    "100) a\n\n     ": False,
    "a\n\n    - b\n\n      ": True,
    "a\n- b\n  1. c\n  d\n\n     ": False,
    "> - a\n\n    ": True,
    "- a\n     - b\n\n      ": True,
    "  ```\na\n   ```\n": False,
    "  ```\na\n    ```\n": True,
    "- a\n\n   ```\nb\n      ```\n": True,
    "- a\n\n   ```\nb\n     ```\n": False,
    "-\ta\n\n\t```\n": True,
    "-\ta\n\n\t```\nb\n\t```\n": False,
    "-\ta\n\n        ": True,
    "-\ta\n\n       ": False,
    "1.\t- a\n\n          ": True,
    "- \t- a\n\n          ": True,
    "it's ": False,
    "it '": True,
    "« ": True,
    "You said “delete it.”": False,
    "You said “": True,
    "You said “a” “": True,
    "a”": True,
    'You said "delete it."': False,
    'You said "delete it." "': True,
    'a \\"': True,
    "Er sagte „weg damit.“": False,
    "Er sagte „": True,
    "Er sagte “": True,
    "Er sagte »weg damit.«": False,
    "Er sagte »": True,
    "Er sagte »weg damit.« »": True,
    "Il a dit « efface »": False,
    "Il a dit « efface » ": False,
    "Il a dit « ": True,
    "Il a dit »efface« ": False,
    "You said 'delete it.'": False,
    "You didn't say 'delete it.'": False,
    "I don't say '": True,
    "the users' '": True,
    "the users'": True,
    "You didn’t say ‘delete it.’": False,
    "You don’t say ’": True,
    "“It's ‘a’, he said.”": False,
    "“a\nb”": True,
    "'a\\'": True,
    "「消して」": False,
    "『消して「": True,
    "＂a＂": False,
    "„‚a’“": False,
    "it is `a`": True,
}


@pytest.mark.parametrize("before", EXAMPLES)
def test_the_plain_reading_says_what_the_law_says_and_so_does_the_parser(before: str) -> None:
    assert is_quoted(before) == EXAMPLES[before]
    assert _asked([before], is_token=False, trims=False) == EXAMPLES[before]


def _asked(pieces: list[str], is_token: bool, trims: bool) -> bool:
    """What `Quotes` says behind the last piece."""
    quotes = Quotes()
    for piece in pieces:
        quotes.pieces.append(piece)
        if trims:
            quotes.trim()
    return quotes.is_open(is_token)


@given(texts, st.booleans())
@example("a\r", False)
@example("- \n\n    a", False)
@example("a `b\rc", False)
@example('a\r"b', False)
@example("a\r\n\n    b", False)
@example("a\r\n    b", False)
def test_a_marker_is_quoted_where_a_plain_reading_of_the_text_before_it_says_so_in_every_cut(
    text: str, is_token: bool
) -> None:
    expected = is_quoted(text, is_token)
    assert _asked([text], is_token, trims=False) == expected
    for trims in (True, False):
        assert _asked(in_pieces(text, 1), is_token, trims) == expected
        for at in range(len(text) + 1):
            assert _asked(cut_at(text, [at]), is_token, trims) == expected


@given(texts)
@example('\\\\" a "b')
@example("a ```` b ``` c ````")
@example('a \\b"c')
@example("a \\`b` c")
def test_asking_changes_nothing(text: str) -> None:
    quotes = Quotes()
    for before, _ in pairwise([*range(len(text) + 1), 0]):
        if before:
            quotes.pieces.append(text[before - 1])
        if not text[:before].endswith("\r"):  # the line may not be over yet
            assert quotes.is_in_code == is_in_code(text[:before])
            assert quotes.is_open() == is_quoted(text[:before])
    for at in range(len(text)):
        quotes = Quotes()
        for piece in (text[:at], "", text[at:]):
            quotes.pieces.append(piece)
            in_code, is_open = quotes.is_in_code, quotes.is_open()
        if not text[:at].endswith("\r"):
            assert (is_open, in_code) == (is_quoted(text), is_in_code(text))


MARKERS = {
    "hermes": ('<tool_call>{"name": "f", "arguments": {}}</tool_call>', False),
    "lfm2": ("<|tool_call_start|>[f()]<|tool_call_end|>", True),
}


@pytest.mark.parametrize("name", MARKERS)
@examples(8)
@given(texts, st.sampled_from(["", "`", "\n```\n", '"', " So.", "\n"]))
def test_a_call_behind_any_text_is_a_call_unless_it_is_quoted_and_then_it_is_text(
    name: str, before: str, behind: str
) -> None:
    call, is_token = MARKERS[name]
    text = f"x{before}{call}{behind}"

    def parser(quoted: Quoted = "text") -> sp.TextParser:
        return sp.TextParser([name], tools=[{"name": "f"}], quoted=quoted)

    events = assert_same_in_every_cut(parser, text, most=4)
    asked = assert_same_in_every_cut(lambda: parser("calls"), text, most=4)
    if is_quoted(f"x{before}", is_token):
        assert (calls_of(events), text_of(events)) == ([], text)
        assert (calls_of(asked), places_of(asked)) == ([("f", {})], ["quoted"])
    else:
        assert (calls_of(events), places_of(events)) == ([("f", {})], ["plain"])
        assert asked == events
        assert text_of(events).startswith(f"x{before}".rstrip("\r\n \t"))


# -- every row, and every wire -----------------------------------------------------------------------------------

UNASKED = {
    "muse-atem": "its example begins with ` to=`, which opens a call only at the start of an answer; the tag behind it "
    "is a marker by itself, and of the quotation marks only those right before a marker count",
}
"""Rows that are asked in the places of `tests/trust` alone, each with the reason."""
ASKED = [row for row in ROWS if row not in UNASKED]

LATER_MARKERS = {"react": "Action:"}
"""Markers that stand in the second line of an example, where no quotation of one line reaches: they are asked alone."""
OWN_FENCES = {"xlam": re.compile(r"```(?:json)?[ \t\r\n]*\Z")}
"""Fences that open a call right before it, so that they are no quotation; a fence further up is one."""


def _quoted_example(row: str, before: str) -> str:
    """The example of a row from its marker on, which is quoted behind such a text."""
    own = OWN_FENCES.get(row)
    assume(is_quoted(before, is_special(row)) and (own is None or own.search(before) is None))
    example = sp.DIALECTS[row].example
    return example[example.index(LATER_MARKERS.get(row, "")) :]


@pytest.mark.parametrize("row", ASKED)
@examples(2)
@given(texts)
def test_the_example_of_a_row_behind_any_text_is_text_where_it_is_quoted(row: str, before: str) -> None:
    text = f"x{before}{_quoted_example(row, f'x{before}')}"
    for dialects in ([row], "auto"):
        parser = sp.TextParser(dialects, tools=SAMPLE_TOOLS)
        events = [*parser.feed(text), *parser.close()]
        assert calls_of(events) == []


@pytest.mark.parametrize("wire", sp.WIRES)
@examples(2)
@given(texts, st.sampled_from(ASKED))
def test_what_is_quoted_is_text_on_every_wire(wire: str, before: str, row: str) -> None:
    example = _quoted_example(row, f"x{before}")
    body, _ = write_text(wire, [f"x{before}", example])
    for dialects in ("auto", "all"):
        events = events_of(sp.StreamParser(wire, dialects=dialects, tools=SAMPLE_TOOLS), [body])
        assert calls_of(events) == []
