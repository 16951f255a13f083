"""What a body is, told from its first bytes."""

from __future__ import annotations

from typing import Any

import pytest
from aws_messages import events
from framing import cuts, run
from hypothesis import given
from hypothesis import strategies as st

from streamparse.frames import FRAMERS, NDJSON, SSE, AutoFramer, AWSEventStream, Framer, JSONArray, JSONBody, Sniffer
from streamparse.frames.sniff import HEAD
from streamparse.limits import Limits

PIECES = [
    b"\0",
    b"\n",
    b"\r",
    b"{",
    b"}",
    b'"',
    b"\\",
    b"[",
    b"<",
    b":",
    b"data:",
    b"a",
    b" ",
    b"\xef\xbb\xbf",
    b"\xef",
]
BODIES = {
    b"data: 1\n\n": "sse",
    b"data:{}\n\n": "sse",
    b"data\n\n": "sse",
    b" data: {}\n\n": "sse",
    b"event: message_start\ndata: {}\n\n": "sse",
    b": OPENROUTER PROCESSING\n\n": "sse",
    b"\n\n\r\ndata: 1\n\n": "sse",
    b"\xef\xbb\xbfdata: 1\n\n": "sse",
    b'error: {"code": 500}\n\n': "sse",
    b"retry: 3\n\n": "sse",
    b"<<<>>>\n": "unknown",
    b"some words\ndata: 1\n\n": "sse",
    b"\xef\xbbdata: b\n\ndata: c\n\n": "sse",
    b"\n" * HEAD: "sse",
    b'{"a": 1}\n': "ndjson",
    b'{"a": 1}\r\n{"b": 2}\r\n': "ndjson",
    b'{"a": "}\\n{"}\n{': "ndjson",
    b'\n\xef\xbb\xbf{"a": 1}\n': "unknown",
    b'\xef\xbb\xbf\n {"a": 1} \n': "ndjson",
    b'{\n  "error": {}\n}\n': "json",
    b'{"a": [\n1]}\n': "json",
    b'{"a": "{}': "json",
    b'{"a": 1}': "json",
    b'[{"a": 1}\n,\n{}]': "json-array",
    b"\r\n [": "json-array",
    b"\x00\x00\x01\xe8\x00\x00\x00KW\xd4\x18\xca\x0b:event-type": "aws-eventstream",
    b"\x00\n:x": "aws-eventstream",
    b"\x00\x00\x00\x0f\ndata: 1\n": "unknown",
    b"\x00\x00": "unknown",
    b"<html>\n<body>\ndata: 1\n\n": "unknown",
    b"Internal Server Error": "unknown",
    b"upstream connect error or disconnect/reset before headers. reset reason: overflow": "unknown",
    b"x" * (HEAD - 1) + b"\n:": "unknown",
    b"x" * (HEAD - 2) + b"\n\n:": "unknown",
    b"x" * (HEAD - 2) + b"\n:": "sse",
    b'"a string"': "unknown",
    b"": "empty",
    b" \r\n": "empty",
    b"\xef\xbb\xbf": "empty",
}


def sniffed(chunks: list[bytes]) -> str:
    sniffer = Sniffer(Limits())
    return next((found for chunk in chunks if (found := sniffer.feed(chunk))), None) or sniffer.close()


@pytest.mark.parametrize(("body", "expected"), BODIES.items(), ids=lambda value: repr(value[:24]))
def test_the_format_does_not_depend_on_the_cutting(body: bytes, expected: str) -> None:
    few = cuts(body) if len(body) < 1000 else [[body], [body[i : i + 1] for i in range(len(body))]]
    for chunks in few:
        assert sniffed(chunks) == expected


@given(st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join))
def test_any_bytes_cut_anywhere_give_the_same_frames_and_the_same_error(body: bytes) -> None:
    def result(framer: AutoFramer, chunks: list[bytes]) -> object:
        return run(framer, chunks), framer.error, framer.format, framer.received

    whole = result(AutoFramer(Limits()), [body])
    assert all(result(AutoFramer(Limits()), chunks) == whole for chunks in cuts(body))


@pytest.mark.parametrize("body", [body for body, format in BODIES.items() if format in FRAMERS and len(body) < 1000])
def test_what_was_sniffed_is_framed_from_its_first_byte(body: bytes) -> None:
    chosen = AutoFramer(Limits())
    frames = run(chosen, [body])
    assert chosen.format is not None
    assert frames == run(FRAMERS[chosen.format](Limits()), [body])


@pytest.mark.parametrize(
    ("body", "earliest"),
    [
        (b"data: 1\n\ndata: 2\n\n", [9, 18]),
        (b'{"a":1}\n{"b":2}\n', [8, 16]),
        (b'[{"a":1},\n{"b":2}]', [8, 17]),
        (b'\n: ping\n\nevent: x\ndata: {}\n\n{"error":1}\n', [28, 40]),
    ],
)
def test_sniffing_makes_no_frame_late(body: bytes, earliest: list[int]) -> None:
    framer = AutoFramer(Limits())
    assert [i + 1 for i in range(len(body)) for _ in framer.feed(body[i : i + 1])] == earliest


@pytest.mark.parametrize("body", [b"<html>" + b"x" * 500, b"upstream died", b"\0\0\1\xe8" + b"\0" * 20, b"<" * 9000])
def test_a_body_that_is_no_stream_is_one_error_with_a_short_excerpt(body: bytes) -> None:
    framer = AutoFramer(Limits())
    assert run(framer, [body]) == []
    assert framer.error is not None
    assert (framer.error.code, framer.error.offset) == ("not_a_stream", 0)
    assert len(framer.error.message) < 300
    assert framer.pending == 0


def test_an_empty_body_is_an_error_of_its_own() -> None:
    framer = AutoFramer(Limits())
    assert run(framer, [b"", b"\r\n"]) == []
    assert framer.error is not None
    assert framer.error.code == "empty_body"


def test_the_head_is_held_until_the_format_is_known() -> None:
    framer: Framer = AutoFramer(Limits())
    framer.feed(b'{"a"')
    assert (framer.pending, framer.received) == (4, 4)
    framer.feed(bytearray(b":1}\n"))
    assert (framer.pending, framer.received) == (0, 8)


@pytest.mark.parametrize("make", [AutoFramer, JSONBody])
def test_a_framer_that_knows_no_single_messages_takes_none(make: type[Framer]) -> None:
    framer = make(Limits())
    assert framer.try_next(b'{"a": 1}', 0) is None
    assert (framer.received, framer.singles) == (0, 0)


BROKEN: list[tuple[type[Framer], bytes, bytes, bytes]] = [
    (AWSEventStream, events(("a", {})), events(("a", {})), b"x" * 12),
    (SSE, b"data: 1\n\n", b"data: 1\n\n", b"data: " + b"1" * 300),
    (NDJSON, b"{}\n", b"{}\n", b"1" * 300),
    (JSONArray, b"[{}", b",{}", b"," + b"1" * 300),
]


@pytest.mark.parametrize(("make", "first", "good", "bad"), BROKEN)
def test_a_framer_that_met_an_error_takes_nothing_more(
    make: type[Framer], first: bytes, good: bytes, bad: bytes
) -> None:
    framer = make(Limits(max_line=200, max_event=200))
    assert [frame.data for frame in framer.feed(first)]
    assert framer.try_next(good, 0) is not None
    assert framer.feed(bad) == []
    assert framer.error is not None
    assert framer.try_next(good, 0) is None
    assert framer.feed(good) == framer.close() == []
    assert framer.singles == 1


@pytest.mark.parametrize(("make", "first"), [(kind, first) for own, first, *_ in BROKEN for kind in (AutoFramer, own)])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_a_framer_takes_bytes_of_any_kind(make: type[Framer], first: bytes, kind: type[Any]) -> None:
    (frame,) = make(Limits()).feed(kind(first))
    assert frame.data in (b"1", b"{}")
