"""A value while it is written: what is shown is never contradicted, however the text is cut."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_snapshot import VALUES, extends

from streamparse.json import PartialReader, read
from streamparse.limits import Limits

OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=5)


def feed(text: str, size: int | None = None, **options: Any) -> PartialReader:
    reader = PartialReader(**options)
    for at in range(0, len(text), size or len(text) or 1):
        reader.feed(text[at : at + size] if size else text)
    return reader


@given(OBJECTS, st.booleans(), st.sampled_from([None, 1]), st.integers(1, 4))
def test_what_is_shown_is_never_contradicted(value: object, ascii_only: bool, indent: int | None, size: int) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    reader, before = PartialReader(), {}
    for at in range(0, len(text), size):
        reader.feed(text[at : at + size])
        shown = reader.value
        assert extends(value, shown)
        assert extends(shown, before)
        before = shown
    assert before == value
    assert reader.is_whole
    assert not reader.is_odd


@given(st.text(alphabet="{}[]\"\\u0d8c,: -1eEtrue'\n\ufeff\ud800"), st.integers(1, 5))
def test_any_text_is_read_the_same_however_it_is_cut(text: str, size: int) -> None:
    pieces, whole = feed(text, size), feed(text)
    assert repr((pieces.value, pieces.is_odd, pieces.is_whole)) == repr((whole.value, whole.is_odd, whole.is_whole))


@given(st.text(alphabet="{}[]\"\\u0d8c,: -1eEtrue'\n\ufeff\ud800", max_size=30).map("{{{}}}".format))
def test_what_is_read_to_its_end_is_what_a_whole_text_says(text: str) -> None:
    reader = feed(text)
    try:
        reading = read(text)
    except ValueError:
        return
    assert reader.is_whole
    assert repr(reader.value) == repr(reading.value)
    assert reader.is_odd == bool(reading.repairs)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", None),
        ("  ", None),
        ("nonsense", None),
        ("null", None),
        ("12", None),
        ("12 ", 12),
        ('"a\\ud83d\\', "a"),
        ('"a\\ud83dx', "a\ufffdx"),
        ('"a\\\\', "a\\"),
        ('"a\\\\u00', "a\\u00"),
        ('{"a', {}),
        ('{"a"', {}),
        ('{"a":', {}),
        ('{"a":"', {"a": ""}),
        ('{"a": nul', {}),
        ('{"a": null', {}),
        ('{"a": null,', {"a": None}),
        ('{"a": 1', {}),
        ('{"a": 1}', {"a": 1}),
        ('{"a": {"b": [', {"a": {"b": []}}),
        ('{"a": [1, "x', {"a": [1, "x"]}),
        ('{"a": 1, "a": 2,', {"a": 2}),
        ('{"a": 1, "b" 2', {"a": 1}),
        ('{"a": 1, "b": 2, ?"c": 3}', {"a": 1, "b": 2}),
        ('{"a": 01, "b": 2}', {}),
        ('{"a": 1e999, "b": 2}', {}),
        ('{"a": 1} {"a": 2}', {"a": 1}),
    ],
)
@pytest.mark.parametrize("size", [None, 1])
def test_only_what_a_delimiter_closed_is_shown_and_texts_as_far_as_they_came(
    text: str, shown: object, size: int | None
) -> None:
    assert repr(feed(text, size).value) == repr(shown)


@pytest.mark.parametrize(
    ("text", "limits", "shown"),
    [
        ('{"a": [[1', Limits(max_depth=2), {"a": []}),
        ('{"a": 123456,', Limits(max_number=5), {}),
        ('{"abcdef": 1,', Limits(max_key=5), {}),
    ],
)
def test_nothing_is_shown_beyond_a_limit(text: str, limits: Limits, shown: object) -> None:
    reader = feed(text, limits=limits)
    assert reader.value == shown
    assert reader.is_odd


def test_what_was_shown_before_does_not_change() -> None:
    text = '{"path": "a", "edits": [{"old": "x", "new": "y"}], "n": 12}'
    reader, shown, copies = PartialReader(), [], []
    for char in text:
        reader.feed(char)
        shown.append(reader.value)
        copies.append(json.dumps(reader.value))
    assert [json.dumps(each) for each in shown] == copies


@given(st.text(), st.booleans(), st.integers(1, 5))
def test_a_streamed_member_is_handed_over_in_pieces_and_not_kept(text: str, ascii_only: bool, size: int) -> None:
    pieces: list[str] = []
    written = json.dumps({"path": "a", "content": text, "mode": 1}, ensure_ascii=ascii_only)
    reader = feed(written, size, streamed={"content"}, on_text=lambda _, piece: pieces.append(piece))
    assert "".join(pieces) == text
    assert reader.members == {"path": "a", "mode": 1}
    assert reader.begun == {"content"}
    assert not reader.is_odd


def test_a_streamed_member_that_comes_twice_is_odd() -> None:
    reader = feed('{"content": "a", "content": "b"}', streamed={"content"})
    assert reader.is_odd


def calls_made(text: str) -> int:
    """How many calls it takes to read a text in pieces, and to look at the value after each."""
    reader = PartialReader()
    count = 0

    def counting(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(counting)
    try:
        for at in range(0, len(text), 7):
            reader.feed(text[at : at + 7])
            assert reader.value is not None
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    ("head", "flood"),
    [
        ('{"a": [', '{"a": 1}, '),
        ('{"a": "', "\\n"),
        ('{"a": "', "x"),
        ('{"a": [', '"a", '),
        ('{"a": "', "\\ud83d"),
        ('{"a": {', '"a": [], '),
        ('{"', "a"),
        ('{"a":', " "),
    ],
)
def test_the_work_of_looking_after_each_piece_grows_no_faster_than_the_text(head: str, flood: str) -> None:
    assert calls_made(head + flood * 2_000) <= 2.1 * calls_made(head + flood * 1_000)


@pytest.mark.parametrize(
    ("text", "shown"), [("\ufeff[1]", [1]), ('["x\ud800y"]', ["x\ufffdy"]), ('["x\ud800', ["x\ufffd"])]
)
def test_what_json_may_not_hold_is_read_and_is_odd(text: str, shown: object) -> None:
    reader = PartialReader(Limits())
    reader.feed(text)
    assert (reader.value, reader.is_odd) == (shown, True)


def test_nothing_is_not_whole() -> None:
    reader = PartialReader()
    assert (reader.is_whole, reader.is_odd, reader.value) == (False, False, None)
    assert (feed("").is_whole, feed(" ").is_whole, feed("{").is_whole, feed("{}").is_whole) == (
        False,
        False,
        False,
        True,
    )
