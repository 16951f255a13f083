"""The AWS event stream: messages come out as they went in, however cut, and a damaged one never does."""

from __future__ import annotations

import struct
from collections.abc import Callable
from zlib import crc32

import pytest
from aws_messages import events, header, message
from framing import cuts, run
from test_frame_work import LONG, SHORT, work

from streamparse.frames import AutoFramer, AWSEventStream, FramingError
from streamparse.limits import Limits

ONE = message(header(":event-type", "metadata"), b'{"a":1}')
TWO = message(header(":event-type", "chunk") + header(":message-type", "event"), '{"b":"é"}'.encode())
BODY = ONE + TWO + ONE


def outcome(body: bytes, limits: Limits = Limits()) -> tuple[list[tuple[bytes, bytes, int]], FramingError | None]:  # noqa: B008
    """What a framer makes of a body, the same in every cut."""
    found = []
    for chunks in cuts(body):
        framer = AWSEventStream(limits)
        found.append(([(frame.event, frame.data, frame.offset) for frame in run(framer, chunks)], framer.error))
        assert framer.received == len(body)
        assert framer.pending == 0
    assert all(each == found[0] for each in found)
    return found[0]


def test_messages_come_out_with_their_names_and_places_in_every_cut() -> None:
    frames, error = outcome(BODY)
    assert error is None
    assert [(event, data) for event, data, _ in frames] == [
        (b"metadata", b'{"a":1}'),
        (b"chunk", '{"b":"é"}'.encode()),
        (b"metadata", b'{"a":1}'),
    ]
    assert all(BODY[at : at + len(data)] == data for _, data, at in frames)


def test_a_body_is_known_by_its_first_bytes() -> None:
    framer = AutoFramer(Limits())
    assert [frame.event for frame in run(framer, [BODY])] == [b"metadata", b"chunk", b"metadata"]
    assert framer.format == "aws-eventstream"


def test_a_single_message_is_what_feed_would_have_returned_once_its_kind_is_known() -> None:
    framer = AWSEventStream(Limits())
    assert framer.try_next(ONE, 0) is None
    (frame,) = framer.feed(ONE)
    assert framer.try_next(ONE, 0) == frame.data
    assert framer.offset == len(ONE) + frame.offset
    assert framer.try_next(ONE[:-1], 0) is None
    assert framer.try_next(ONE[:-1] + b"\0", 0) is None
    assert framer.received == 2 * len(ONE)


@pytest.mark.parametrize("name", [":exception-type", ":error-code"])
def test_an_exception_is_never_taken_for_a_plain_message(name: str) -> None:
    body = message(header(name, "throttlingException"), b"{}")
    framer = AWSEventStream(Limits())
    for _ in range(2):
        assert framer.try_next(body, 0) is None
        assert [frame.event for frame in framer.feed(body)] == [b"throttlingException"]


def test_an_error_that_stands_only_in_the_headers_is_a_payload() -> None:
    body = message(header(":error-code", "500") + header(":error-message", 'a "b"'))
    ((event, data, _),), _ = outcome(body)
    assert (event, data) == (b"500", b'{"message":"a \\"b\\""}')


def test_headers_of_every_type_are_passed_over() -> None:
    sizes = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    others = b"".join(b"\x01x" + bytes([kind]) + b"\xff" * size for kind, size in sizes.items())
    others += b"\x01x\x06" + struct.pack(">H", 3) + b"abc"
    ((event, data, _),), error = outcome(message(others + header(":event-type", "chunk"), b"{}"))
    assert (event, data, error) == (b"chunk", b"{}", None)


@pytest.mark.parametrize("block", [b"\x05", b"\xff" * 7, b"\x01x\x07\xff\xff", b"\x01x\x63abc", b"\x00\x07", b"\x01"])
def test_broken_headers_name_nothing_and_hurt_nothing(block: bytes) -> None:
    (_, (event, _, _)), error = outcome(ONE + message(block, b"{}"))
    assert (event, error) == (b"", None)


def test_a_flipped_bit_anywhere_never_gives_another_message() -> None:
    whole, _ = outcome(ONE + TWO)
    for at in range(len(TWO)):
        damaged = bytearray(ONE + TWO)
        damaged[len(ONE) + at] ^= 0x10
        framer = AWSEventStream(Limits())
        frames = [(frame.event, frame.data, frame.offset) for frame in run(framer, [bytes(damaged), ONE])]
        assert frames == whole[:1]
        assert framer.error is not None
        assert (framer.error.code, framer.error.offset) == ("frame_checksum", len(ONE))


def test_damage_is_told_at_the_same_place_in_every_cut() -> None:
    for at in (2, 9, 14, len(TWO) - 1):
        damaged = TWO[:at] + bytes([TWO[at] ^ 1]) + TWO[at + 1 :]
        frames, error = outcome(ONE + damaged + ONE)
        assert len(frames) == 1
        assert error is not None
        assert (error.code, error.offset) == ("frame_checksum", len(ONE))


def test_a_first_message_that_is_damaged_is_no_stream() -> None:
    _, error = outcome(b"\0\0\0\x20" + b"x" * 60)
    assert error is not None
    assert (error.code, error.offset) == ("not_a_stream", 0)


def test_headers_longer_than_their_message_are_damage() -> None:
    start = struct.pack(">II", 20, 100)
    _, error = outcome(ONE + start + struct.pack(">I", crc32(start)) + b"x" * 100)
    assert error is not None
    assert error.code == "frame_checksum"


def test_a_message_that_is_cut_is_nothing() -> None:
    for end in range(1, len(TWO)):
        framer = AWSEventStream(Limits())
        assert len(run(framer, [ONE + TWO[:end]])) == 1
        assert framer.error is None


def test_the_limit_is_exact_and_is_hit_at_the_same_place_in_every_cut() -> None:
    large = message(header(":event-type", "chunk"), b"x" * 100)
    assert outcome(ONE + large + ONE, Limits(max_event=len(large)))[1] is None
    frames, error = outcome(ONE + large + ONE, Limits(max_event=len(large) - 1))
    assert len(frames) == 1
    assert error is not None
    assert (error.code, error.offset) == ("limit_event", len(ONE) + len(large) - 1)


def test_a_long_message_is_refused_at_its_prelude() -> None:
    framer = AWSEventStream(Limits(max_event=1000))
    large = message(header(":event-type", "chunk"), b"x" * 1000)
    assert framer.feed(large[:12]) == []
    assert framer.error is not None
    assert framer.feed(large[12:]) == []
    assert framer.pending == 0


BODIES: list[Callable[[int], bytes]] = [
    lambda n: events(("chunk", "x" * n)),
    lambda n: ONE * (n // len(ONE)),
    lambda n: message(b"", b"x" * n) + ONE,
]


@pytest.mark.parametrize("chunk_size", [1, 16, 1460, LONG * 2])
@pytest.mark.parametrize("body", BODIES)
def test_work_for_each_byte_does_not_grow(body: Callable[[int], bytes], chunk_size: int) -> None:
    short, long = (work(AWSEventStream(Limits()), body(n), chunk_size) / n for n in (SHORT, LONG))
    assert long <= short * 1.15 + 0.01


def test_messages_of_any_number_of_sizes_are_read() -> None:
    head = header(":event-type", "chunk")
    sizes = range(1, 600)
    framer = AWSEventStream(Limits())
    for size in sizes:
        frames = framer.feed(message(head, b"x" * size))
        assert [(frame.event, len(frame.data)) for frame in frames] == [(b"chunk", size)]
    again = [
        framer.try_next(message(head, b"y" * size), 0) or framer.feed(message(head, b"y" * size)) for size in sizes
    ]
    assert len(again) == len(sizes)
    assert framer.error is None


def test_the_end_of_a_message_is_where_its_length_says() -> None:
    size = len(ONE)
    framer = AWSEventStream(Limits())
    assert [framer.find_end(data, 0) for data in (ONE + ONE, ONE, ONE[:-1])] == [size, size, 0]
    assert [framer.find_end(data, size) for data in (ONE + ONE, ONE + ONE[:-1])] == [2 * size, 0]
    for at in (20, size - 1):  # a part has come already
        framer = AWSEventStream(Limits())
        framer.feed(ONE[:at])
        assert framer.find_end(ONE[at:] + ONE, 0) == size - at
