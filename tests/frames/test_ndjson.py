"""JSON lines."""

from __future__ import annotations

import pytest
from framing import cuts, run
from hypothesis import given
from hypothesis import strategies as st

from streamparse.frames import NDJSON, Frame
from streamparse.limits import Limits

PIECES = st.sampled_from(
    [b'{"a":1}\n', b'{"a":1}', b"\n", b"\r\n", b"\r", b" ", b"x", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85"]
)
BODIES = st.lists(PIECES, max_size=20).map(b"".join) | st.binary(max_size=60)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"a":1}\n{"b":2}\n', [(b'{"a":1}', 0), (b'{"b":2}', 8)]),
        (b'{"a":1}\r\n{"b":2}\r\n', [(b'{"a":1}', 0), (b'{"b":2}', 9)]),
        (b'\n\r\n \t\n{"a":1}\n\n', [(b'{"a":1}', 6)]),
        (b'{"a":1}\n{"b":2}', [(b'{"a":1}', 0), (b'{"b":2}', 8)]),
        (b'{"a":1}\n{"b":', [(b'{"a":1}', 0), (b'{"b":', 8)]),
        (b'\xef\xbb\xbf{"a":1}\n\xef\xbb\xbf{}\n', [(b'{"a":1}', 3), (b"\xef\xbb\xbf{}", 11)]),
        (b'{"a":\r1}\n', [(b'{"a":\r1}', 0)]),
        (b'{"a":"\xe2\x80\xa8\xc2\x85\x0b\x0c\x1c"}\n', [(b'{"a":"\xe2\x80\xa8\xc2\x85\x0b\x0c\x1c"}', 0)]),
        (b"garbage\n", [(b"garbage", 0)]),
        (b"", []),
    ],
)
def test_a_line_is_a_frame(body: bytes, expected: list[tuple[bytes, int]]) -> None:
    for chunks in cuts(body):
        assert run(NDJSON(Limits()), chunks) == [Frame(data, b"", offset) for data, offset in expected]


@given(BODIES)
def test_any_bytes_cut_anywhere_give_the_same_frames(body: bytes) -> None:
    whole = run(NDJSON(Limits()), [body])
    assert all(run(NDJSON(Limits()), chunks) == whole for chunks in cuts(body))


@given(BODIES)
def test_only_blanks_and_line_ends_are_left_out(body: bytes) -> None:
    frames = run(NDJSON(Limits()), [body])
    assert b"".join(b"".join(f.data for f in frames).split()) == b"".join(body.removeprefix(b"\xef\xbb\xbf").split())


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_kind_of_buffer_is_taken_and_frames_are_bytes(kind: type) -> None:
    framer = NDJSON(Limits())
    frames = framer.feed(kind(b'{"a":1}\n{"b"')) + framer.feed(kind(b":2}\n"))
    assert [(type(frame.data), frame.data) for frame in frames] == [(bytes, b'{"a":1}'), (bytes, b'{"b":2}')]


def test_a_frame_comes_with_its_line_feed() -> None:
    framer = NDJSON(Limits())
    assert framer.feed(b'{"a":1}') == []
    assert framer.pending == 7
    assert framer.feed(b"\n") == [Frame(b'{"a":1}')]
    assert framer.pending == 0


def test_a_single_line_is_what_feed_would_have_returned() -> None:
    short, long = NDJSON(Limits()), NDJSON(Limits())
    for line in (b'{"a": 1}\n', b'{"b": 2}\r\n'):
        (frame,) = long.feed(line)
        assert ((short.try_next(line, 0) or b"").rstrip(b"\r"), short.offset) == (frame.data, frame.offset)
    assert (short.received, short.singles) == (long.received, 2)


@pytest.mark.parametrize("chunk", [b"", b"\n", b"{}", b"\n{}\n", b'{"a": "' + b"x" * 90 + b'"}\n'])
def test_what_is_not_a_single_line_is_left_to_feed(chunk: bytes) -> None:
    framer = NDJSON(Limits(max_line=64))
    assert framer.try_next(chunk, 0) is None
    assert framer.received == 0


def test_nothing_is_single_behind_the_beginning_of_a_line_or_an_error() -> None:
    framer = NDJSON(Limits(max_line=64))
    framer.feed(b'{"a":')
    assert framer.try_next(b"1}\n", 0) is None
    framer.feed(b"x" * 90)
    assert framer.try_next(b"{}\n", 0) is None
