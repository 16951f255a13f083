"""What the event stream's framer does beyond the specification."""

from __future__ import annotations

import re

import pytest
from framing import cuts, run
from hypothesis import given
from hypothesis import strategies as st

from streamparse.frames import SSE, Frame
from streamparse.limits import Limits

FRAGMENTS = [
    b"data",
    b"event",
    b"id",
    b"retry",
    b"error",
    b":",
    b" ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"{",
    b"x",
    b"\0",
]
LINES = [b"data: ", b"event: ", b"data: a\n\n", b"event: b\ndata: c\n\n", b"data: d\r\n\r\n", b"\xef\xbb\xbf", b"\xff"]
PIECES = st.sampled_from(FRAGMENTS + LINES)
BODIES = st.lists(PIECES, max_size=30).map(b"".join) | st.binary(max_size=60)


def reference(body: bytes) -> list[tuple[bytes, bytes, bytes, bytes]]:
    """The specification in a few lines: whole bodies only, and the same tolerances."""
    frames, data, event, last_id = [], [], b"", b""
    *lines, rest = re.split(rb"\r\n|\n|\r", body.removeprefix(b"\xef\xbb\xbf"))
    if not any(field.startswith(rest) for field in (b"data", b"event", b"id", b"retry")):
        lines.append(rest)
    for number, line in enumerate([*lines, b"", b""]):
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        at_end = number >= len(lines)
        if not line:
            if data and (not at_end or b"\n".join(data)):
                frames.append((b"data", b"\n".join(data), event, last_id))
            data, event = [], b""
        elif line[:1] in (b"{", b"["):
            frames.append((b"", line, b"", b""))
        elif name == b"data":
            data.append(value)
        elif name == b"event":
            event = value
        elif name == b"id":
            last_id = last_id if b"\0" in value else value
        elif name not in (b"", b"retry"):
            frames.append((name, value, b"", b""))
    return frames


@given(BODIES)
def test_any_bytes_give_the_frames_of_a_plain_reading_of_the_specification(body: bytes) -> None:
    frames = run(SSE(Limits()), [body])
    assert [(frame.field, frame.data, frame.event, frame.id) for frame in frames] == reference(body)


@given(BODIES)
def test_any_bytes_cut_anywhere_give_the_same_frames(body: bytes) -> None:
    whole = run(SSE(Limits()), [body])
    assert all(run(SSE(Limits()), chunks) == whole for chunks in cuts(body))


@given(BODIES)
def test_an_offset_is_where_the_data_lies_in_the_body(body: bytes) -> None:
    for frame in run(SSE(Limits()), [body]):
        first_line, *_ = frame.data.split(b"\n")
        assert body[frame.offset : frame.offset + len(first_line)] == first_line


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_every_kind_of_buffer_is_taken_and_frames_are_bytes(kind: type) -> None:
    framer = SSE(Limits())
    frames = framer.feed(kind(b"data: 1\n\nda")) + framer.feed(kind(b"ta: 2\ndata: 3\n\n"))
    assert [(type(frame.data), frame.data) for frame in frames] == [(bytes, b"1"), (bytes, b"2\n3")]


@pytest.mark.parametrize("line_end", [b"\n", b"\r", b"\r\n"])
def test_an_unknown_field_is_a_frame_at_once(line_end: bytes) -> None:
    body = b'data: 1\nerror: {"code": 500}' + line_end
    for chunks in cuts(body):
        framer = SSE(Limits())
        frames = [frame for chunk in chunks for frame in framer.feed(chunk)]
        assert frames == [Frame(b'{"code": 500}', b"", 15, b"error")]


def test_the_event_around_an_unknown_field_goes_on() -> None:
    frames = run(SSE(Limits()), [b"event: e\ndata: 1\nfoo: x\ndata: 2\n\n"])
    assert [(frame.field, frame.event, frame.data) for frame in frames] == [
        (b"foo", b"", b"x"),
        (b"data", b"e", b"1\n2"),
    ]


@pytest.mark.parametrize("end", [b"d", b"dat", b"data", b"data:", b"data: ", b"even", b"event: x", b"id: 3", b": ping"])
def test_an_end_that_holds_no_data_delivers_nothing(end: bytes) -> None:
    for chunks in cuts(b"data: 1\n\n" + end):
        assert [frame.data for frame in run(SSE(Limits()), chunks)] == [b"1"]


def test_an_unfinished_bare_json_line_is_delivered_at_the_end() -> None:
    for chunks in cuts(b'data: 1\n\n{"error": "boom"'):
        assert run(SSE(Limits()), chunks)[1:] == [Frame(b'{"error": "boom"', b"", 9, b"")]


def test_pending_counts_the_line_the_data_and_the_name_that_are_held() -> None:
    framer = SSE(Limits())
    framer.feed(b"event: ab\ndata: cde\ndata: f\nda")
    assert framer.pending == len(b"ab") + len(b"cde\nf") + len(b"da")
    framer.feed(b"ta\n\n")
    assert framer.pending == 0


@pytest.mark.parametrize("zeros", [0, 1, 5000])
def test_zeros_before_a_retry_do_not_count(zeros: int) -> None:
    framer = SSE(Limits())
    framer.feed(b"retry: " + b"0" * zeros + b"15\n")
    assert framer.retry == 15


@pytest.mark.parametrize("line", [b"data:1", b"data: 1", b"data"])
def test_an_event_is_where_its_first_data_is(line: bytes) -> None:
    (frame,) = SSE(Limits()).feed(b"event: a\n" + line + b"\ndata: 2\n\n")
    assert frame.offset == len(b"event: a\n" + line.removesuffix(b"1"))


def test_an_event_of_a_long_name_is_taken_alone_too() -> None:
    framer, event = SSE(Limits()), b"event: " + b"x" * 150 + b"\ndata: {}\n\n"
    assert [framer.try_next(event, 0), framer.try_next(event, 0)] == [b"{}", b"{}"]
    assert framer.offset == 2 * len(event) - len(b"{}\n\n")


@pytest.mark.parametrize("begun", [b"data: a\n", b"data: a", b"event: a\n", b"x" * 90])
def test_an_event_that_has_begun_takes_no_other_for_one_of_its_own(begun: bytes) -> None:
    framer = SSE(Limits(max_event=80))
    assert framer.try_next(b"data: c\n\n", 0) == b"c"
    assert framer.feed(begun) == []
    assert framer.try_next(b"data: b\n\n", 0) is None
