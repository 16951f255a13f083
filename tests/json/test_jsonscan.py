"""The scanner: the end of a bracketed value, however the text is cut."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamparse.errors import CODES
from streamparse.json import scan as jsonscan
from streamparse.json.scan import Scanner

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
CONTAINERS = st.recursive(
    st.lists(SCALARS) | st.dictionaries(st.text(), SCALARS),
    lambda inner: st.lists(inner | SCALARS) | st.dictionaries(st.text(), inner | SCALARS),
    max_leaves=10,
)
NOISE = st.text(alphabet="{}[]\"'\\ab \n", max_size=40)


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut % (len(text) + 1) for cut in cuts})
    return [text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True)]


def scanned(pieces: list[str], max_depth: int | None = 128) -> tuple[int, str | None, bool, int]:
    scanner = Scanner(max_depth)
    before = 0
    for piece in pieces:
        stop = scanner.scan(piece)
        if stop >= 0:
            return before + stop, scanner.error, scanner.closed, scanner.depth
        before += len(piece)
    return -1, scanner.error, scanner.closed, scanner.depth


@given(CONTAINERS, st.booleans(), st.text(), st.lists(st.integers(0, 10_000), max_size=8))
def test_the_end_of_a_json_value_is_exact_at_any_cutting(
    value: object, ascii_only: bool, tail: str, cuts: list[int]
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    assert scanned(pieces_of(text + tail, cuts)) == (len(text), None, True, 0)
    assert scanned(list(text + tail)) == (len(text), None, True, 0)


@given(CONTAINERS)
def test_no_prefix_of_a_json_value_is_closed(value: object) -> None:
    text = json.dumps(value)
    scanner = Scanner()
    for char in text[:-1]:
        assert scanner.scan(char) == -1
        assert not scanner.closed
        assert scanner.depth > 0


@given(CONTAINERS)
def test_the_end_of_a_python_literal_is_exact(value: object) -> None:
    text = repr(value)
    assert scanned(list(text + "]}'\"")) == (len(text), None, True, 0)


@given(st.sampled_from("{["), NOISE, st.lists(st.integers(0, 100), max_size=5), st.sampled_from([1, 2, 3, None]))
def test_cutting_changes_neither_the_end_nor_the_error(
    root: str, noise: str, cuts: list[int], max_depth: int | None
) -> None:
    text = root + noise
    whole = scanned([text], max_depth)
    assert scanned(pieces_of(text, cuts), max_depth) == whole
    assert scanned(list(text), max_depth) == whole


@given(st.text(max_size=10), st.sampled_from("{["), NOISE)
def test_a_scan_may_begin_inside_a_text(before: str, root: str, noise: str) -> None:
    alone, within = Scanner(), Scanner()
    end = alone.scan(root + noise)
    assert within.scan(before + root + noise, len(before)) == (end if end < 0 else end + len(before))
    assert (within.error, within.closed, within.depth) == (alone.error, alone.closed, alone.depth)


@given(st.sampled_from("{["), NOISE, st.lists(st.integers(0, 100), max_size=5))
def test_windows_of_one_text_are_scanned_as_pieces_are(root: str, noise: str, cuts: list[int]) -> None:
    text = root + noise
    pieces, windows = Scanner(), Scanner()
    at = 0
    for piece in pieces_of(text, cuts):
        expected = pieces.scan(piece)
        found = windows.scan(text, at, at + len(piece))
        assert found == (expected if expected < 0 else at + expected)
        assert (windows.error, windows.closed, windows.depth) == (pieces.error, pieces.closed, pieces.depth)
        assert windows.in_string == pieces.in_string
        at += len(piece)


def test_a_string_is_open_between_its_quotes_also_after_a_backslash() -> None:
    text = '{"a\\"": [1, \'b"\\\'\']}'
    inside = "_----_______-----___"
    scanner = Scanner()
    for char, mark in zip(text, inside, strict=True):
        scanner.scan(char)
        assert scanner.in_string == (mark == "-")


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("{}", 2),
        ("[]]", 2),
        ('{"a": "}"}x', 10),
        ('{"a": "it\'s }"}', 15),
        ("{'a': 'it\"s }'}", 15),
        ("{'a': 'it\\'s }'}", 16),
        (r'{"a": "\\"}', 11),
        (r'{"a": "\\\"}"}', 14),
        ("[[[]]]", 6),
        ("[{}", -1),
        ('["]', -1),
        ('["\\', -1),
    ],
)
def test_brackets_inside_of_strings_are_data(text: str, end: int) -> None:
    assert scanned([text])[0] == end
    assert scanned(list(text))[0] == end


@pytest.mark.parametrize(
    ("text", "place"), [("{]", 1), ("[}", 1), ('{"a": [}', 7), ("[[]}", 3), ("]", 0), ("[ [ ] } ]", 6)]
)
def test_a_closing_bracket_of_the_wrong_kind_is_an_error_where_it_stands(text: str, place: int) -> None:
    for pieces in ([text], list(text)):
        stop, error, closed, _ = scanned(pieces)
        assert (stop, error, closed) == (place, "json_syntax", False)
        assert error in CODES


@pytest.mark.parametrize("limit", [1, 2, 128, 1000])
def test_depth_is_accepted_up_to_its_limit_and_refused_at_the_bracket_beyond(limit: int) -> None:
    for depth in (limit - 1, limit):
        text = "[" * depth + "]" * depth
        assert scanned([text], limit) == (2 * depth if depth else -1, None, depth > 0, 0)
    for opener in ("[", '{"":'):
        text = opener * (limit + 1)
        expected = (limit * len(opener), "json_depth", False, limit)
        assert scanned([text], limit) == scanned(list(text), limit) == expected


def test_without_a_limit_any_depth_is_scanned() -> None:
    assert scanned(["[" * 50_000, "]" * 50_000], None) == (100_000, None, True, 0)


@pytest.mark.parametrize("last", ["]", "}", '"]', '"}', '\\""]'])
def test_nothing_is_taken_after_the_end(last: str) -> None:
    scanner = Scanner()
    scanner.scan('["' if '"' in last else "[")
    scanner.scan(last)
    assert not scanner.in_string
    state = (scanner.error, scanner.closed, scanner.depth)
    assert scanner.scan("]]") == 0
    assert scanner.scan("  [", 2) == 2
    assert (scanner.error, scanner.closed, scanner.depth) == state


def test_an_empty_piece_changes_nothing() -> None:
    for text in ('{"a\\"}": 1}', "{'a\\'}': [1]}"):
        assert scanned([piece for char in text for piece in (char, "")]) == (len(text), None, True, 0)


class CountingPattern:
    """Searches and matches as a pattern does, and adds up what it looked at."""

    def __init__(self, pattern: re.Pattern[str], spans: list[int]) -> None:
        self.pattern = pattern
        self.spans = spans

    def search(self, text: str, at: int, stop: int) -> re.Match[str] | None:
        match = self.pattern.search(text, at, stop)
        self.spans.append((match.end() if match else stop) - min(at, stop))
        return match

    def match(self, text: str, at: int, stop: int) -> re.Match[str] | None:
        match = self.pattern.match(text, at, stop)
        is_string_open = match is None or match[0][-1] == '"'  # its end was looked for in vain
        self.spans.append(stop - min(at, stop) if match is None or is_string_open else match.end() - at)
        return match


def count_searches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many characters each search looks at from here on."""
    spans: list[int] = []
    inside = {quote: CountingPattern(pattern, spans) for quote, pattern in jsonscan._INSIDE.items()}
    monkeypatch.setattr(jsonscan, "_INSIDE", inside)
    monkeypatch.setattr(jsonscan, "_OUTSIDE", CountingPattern(jsonscan._OUTSIDE, spans))
    return spans


FLOODS = {
    "long string": '["' + "x" * 20_000 + '"]',
    "open string": '["' + "x" * 20_000,
    "numbers": "[" + "1, " * 7_000,
    "strings": "[" + '"a", ' * 4_000,
    "escapes": '["' + "\\n" * 10_000,
    "backslashes": '["' + "\\" * 20_001,
    "quotes": "[" + '"' * 20_001,
    "apostrophes": "[" + "'" * 20_001,
    "brackets": "[" * 20_000,
    "objects": "[" + '{"a": [1]}, ' * 2_000,
}


@pytest.mark.parametrize("size", [1, 4, 16, 1460, 100_000])
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
def test_each_character_is_searched_twice_at_most(flood: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spans = count_searches(monkeypatch)
    scanner = Scanner(None)
    for start in range(0, len(flood), size):
        scanner.scan(flood[start : start + size])
    assert scanner.error is None
    assert sum(spans) <= 2 * len(flood)
    assert len(spans) <= 2 * len(flood)


def test_a_text_that_holds_many_values_is_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    spans = count_searches(monkeypatch)
    text = '{"a": "b"}' * 1_000
    end = 0
    while end < len(text):
        end = Scanner().scan(text, end)
    assert sum(spans) == len(text)


@settings(max_examples=50)
@given(st.lists(st.text(alphabet='a"\\', max_size=3), max_size=12))
def test_an_escape_may_be_cut_anywhere(pieces: list[str]) -> None:
    text = '["' + "".join(pieces)
    closing = re.fullmatch(r'\["(?:[^"\\]|\\.)*"[^"]*(?:"(?:[^"\\]|\\.)*"[^"]*)*', text, re.DOTALL)
    end = scanned(['["', *pieces, "]"])[0]
    assert (end >= 0) == (closing is not None)


@pytest.mark.parametrize("more", ["", "abc", '"', "{}", "\\", "}"])
@pytest.mark.parametrize("value", ["{}", "{]", '["a"]'])
def test_a_value_that_is_over_takes_nothing_more(value: str, more: str) -> None:
    scanner = Scanner()
    scanner.scan(value)
    state = scanner.closed, scanner.error, scanner.quote
    assert (scanner.scan(more), scanner.scan(f"x{more}", 1)) == (0, 1)
    assert (scanner.closed, scanner.error, scanner.quote) == state
