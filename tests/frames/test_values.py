"""Bodies whose JSON is not cut by lines."""

from __future__ import annotations

import json
from typing import Any

import pytest
from framing import cuts, run
from hypothesis import given
from hypothesis import strategies as st

from streamparse.frames import Frame, JSONArray, JSONBody
from streamparse.limits import Limits

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\{}[],é\n', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text('k"{]', max_size=3), inner, max_size=3),
    max_leaves=8,
)
GARBAGE = st.lists(st.sampled_from([bytes([b]) for b in b'{}[]",\\ \n1a'] + [b"\xef\xbb\xbf"]), max_size=24).map(
    b"".join
)


@given(st.lists(JSON, max_size=4), st.sampled_from([None, 2]))
def test_the_elements_of_any_array_are_its_frames(values: list[Any], indent: int | None) -> None:
    body = json.dumps(values, indent=indent, ensure_ascii=False).encode()
    for chunks in cuts(body):
        frames = run(JSONArray(Limits()), chunks)
        assert [json.loads(frame.data) for frame in frames] == values
        assert all(body[frame.offset :].startswith(frame.data) for frame in frames)


@given(GARBAGE | st.binary(max_size=40))
def test_any_bytes_cut_anywhere_give_the_same_frames(body: bytes) -> None:
    whole = run(JSONArray(Limits()), [body])
    assert all(run(JSONArray(Limits()), chunks) == whole for chunks in cuts(body))


@given(GARBAGE)
def test_only_what_separates_elements_is_left_out(body: bytes) -> None:
    def substance(data: bytes) -> bytes:
        return data.translate(None, b"[], \n\xef\xbb\xbf")

    assert substance(b"".join(frame.data for frame in run(JSONArray(Limits()), [body]))) == substance(body)


def test_an_element_comes_with_its_own_closing_brace() -> None:
    body = b'[{"a": "}]\\"{"}\n,\n{"b": [{}]}\n]'
    framer = JSONArray(Limits())
    arrivals = [(i, frame.data) for i in range(len(body)) for frame in framer.feed(body[i : i + 1])]
    assert arrivals == [(14, b'{"a": "}]\\"{"}'), (28, b'{"b": [{}]}')]
    assert framer.pending == 0


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", []),
        (b"[", []),
        (b"[]", []),
        (b" \r\n[\n]\n", []),
        (b'\xef\xbb\xbf[{"a":1}]', [(b'{"a":1}', 4)]),
        (b'[{"a":1},{"b"', [(b'{"a":1}', 1), (b'{"b"', 9)]),
        (b'[{"a":1}] junk', [(b'{"a":1}', 1), (b"junk", 10)]),
        (b'[1,null , "a,b]",[2,3]]', [(b"1", 1), (b"null", 3), (b'"a,b]"', 10), (b"[2,3]", 17)]),
        (b"}}", [(b"}", 0), (b"}", 1)]),
    ],
)
def test_what_a_body_holds_is_never_lost(body: bytes, expected: list[tuple[bytes, int]]) -> None:
    for chunks in cuts(body):
        assert run(JSONArray(Limits()), chunks) == [Frame(data, b"", offset) for data, offset in expected]


@pytest.mark.parametrize("count", [19, 20, 21, 199, 200, 201, 402])
@pytest.mark.parametrize("piece", ["\\", '"', "{", "é"])
def test_long_runs_of_escapes_and_strings_do_not_confuse_the_end(count: int, piece: str) -> None:
    values = [{"k": piece * count}, {"k": [piece] * count}, piece * count]
    body = json.dumps(values).encode()
    for size in (len(body), 1, 7):
        chunks = [body[i : i + size] for i in range(0, len(body), size)]
        assert [json.loads(frame.data) for frame in run(JSONArray(Limits()), chunks)] == values


@pytest.mark.parametrize("body", [b'{\n "a": 1\n}\n', b"null", b'\xef\xbb\xbf{"a": 1}', b'{"cut": '])
def test_a_body_that_is_one_value_is_one_frame_at_the_end(body: bytes) -> None:
    text = body.removeprefix(b"\xef\xbb\xbf")
    for chunks in cuts(body):
        framer = JSONBody(Limits())
        assert [frame for chunk in chunks for frame in framer.feed(chunk)] == []
        assert framer.received == framer.pending == len(body)
        assert framer.close() == [Frame(text, b"", len(body) - len(text))]
        assert framer.close() == []


@pytest.mark.parametrize("body", [b"", b" \r\n\t", b"\xef\xbb\xbf\n"])
def test_a_blank_body_has_no_frame(body: bytes) -> None:
    assert run(JSONBody(Limits()), [body]) == []


# -- one element a read ------------------------------------------------------------------------------------

ELEMENT = b',\r\n{"a": "]}"}\n'


def test_a_single_object_of_an_array_is_what_feed_would_have_returned() -> None:
    short, long = JSONArray(Limits()), JSONArray(Limits())
    assert short.try_next(ELEMENT, 0) is None  # no array has begun
    short.feed(b'[{"a": 1}')
    long.feed(b'[{"a": 1}')
    (frame,) = long.feed(ELEMENT)
    assert (short.try_next(ELEMENT, 0), short.offset) == (frame.data, frame.offset)
    assert (short.received, short.singles) == (long.received, 1)


@pytest.mark.parametrize("chunk", [b"", b"\n]", b',{"a": 1', b'"}', b",[1]", b", 7 ", b',{"a": "' + b"x" * 90 + b'"}'])
def test_what_is_not_a_single_object_is_left_to_feed(chunk: bytes) -> None:
    framer = JSONArray(Limits(max_event=64))
    framer.feed(b"[")
    assert framer.try_next(chunk, 0) is None
    assert framer.received == 1


def test_nothing_is_single_behind_the_beginning_of_an_element() -> None:
    framer = JSONArray(Limits())
    framer.feed(b'[{"a":')
    assert framer.try_next(b'{"b": 1}', 0) is None
    assert [frame.data for frame in framer.feed(b'{"b": 1}}')] == [b'{"a":{"b": 1}}']


def test_a_chunk_that_is_given_back_can_be_fed() -> None:
    framer = JSONArray(Limits())
    framer.feed(b"[")
    two = b'{"a": 1},{"b": 2}'
    assert framer.try_next(two, 0) == two
    framer.unread(len(two))
    assert (framer.received, framer.singles) == (1, 0)
    assert [(frame.data, frame.offset) for frame in framer.feed(two)] == [(b'{"a": 1}', 1), (b'{"b": 2}', 10)]
