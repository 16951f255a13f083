"""AWS event stream: binary messages, each with a checksum of its prelude and one of the whole.

https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html (the encoding)

    total length, headers length (big endian, 4 bytes each), CRC-32 of these 8 bytes,
    headers (name, type, value), payload, CRC-32 of everything before it

The length is believed only after the prelude's checksum has agreed, so that a damaged one cannot make the
framer wait for gigabytes.
"""

from __future__ import annotations

import struct
import sys
from zlib import crc32

from msgspec.json import encode

from streamparse.frames.frame import Chunk, Frame, Framer
from streamparse.limits import Limits

_PRELUDE = struct.Struct(">III")
_CHECKSUM = struct.Struct(">I")
_SMALLEST = _PRELUDE.size + 4  # source: the encoding; no headers, no payload
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}  # of header values, by type: true, false, byte, ...
_SIZED = (6, 7)  # bytes and strings, after a length of two bytes
_EVENT = b":event-type"
_NAMES = (_EVENT, b":exception-type", b":error-code")
_CACHED = 64  # bound: blocks of headers that are kept
_CACHED_HEADS = 512  # bound: beginnings of messages that are kept, one for each size


class AWSEventStream(Framer):
    """A framer of AWS event stream messages; see `Framer` for the promises.

    `Frame.event` is the header `:event-type`, `:exception-type` or `:error-code`, `Frame.data` the payload; an error
    that is only in the headers gets the payload `{"message": ...}`.  `max_event` bounds a whole message.
    A checksum that does not agree ends the framing: `frame_checksum`, or `not_a_stream` if it is the first.
    """

    offset: int
    is_cut: bool
    singles: int
    received: int

    __slots__ = ("_begin", "_heads", "_known", "_size")

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._size = 0  # of the message whose end has not come, once its prelude has been checked
        self._known: dict[bytes, bytes] = {}  # the events that header blocks name: servers repeat them
        self._heads: dict[bytes, int] = {}  # the sizes that checked preludes with such headers give
        self._begin = 0  # of the payload in the last message

    def feed(self, chunk: Chunk) -> list[Frame]:
        """Take in the next bytes; return the messages that they complete."""
        data = bytes(chunk)
        carry = self._carry
        at = self.received - len(carry)
        self.received += len(data)
        if self.error is not None:
            return []
        if carry:
            carry += data
            if len(carry) < (self._size or _PRELUDE.size):
                return []
            data = bytes(carry)
            del carry[:]
        return self._take(data, at)

    def try_next(self, data: bytes, at: int) -> bytes | None:
        """Take the message that begins at a position, and return its payload.

        The name of the event is dropped, so the first of each kind and every exception are left to `feed`, and with
        them the first of each size: what it had before its payload need not be checked again.
        `offset` is the payload's.
        """
        # Whatever length is written there: of a wrong one nothing is taken.
        message = data[at : at + int.from_bytes(data[at : at + 4], "big")]
        begin, size = self._begin, len(message)
        if self._heads.get(message[:begin]) != size or self._carry or self.error is not None:
            return None
        received = self.received + size
        if received > self._max_total or not message.endswith(_CHECKSUM.pack(crc32(message[:-4]))):
            return None
        self.offset = self.received + begin
        self.received = received
        self.singles += 1
        return message[begin:-4]

    def find_end(self, data: bytes, at: int) -> int:
        """Find the end of a message, as its length says."""
        size = self._size - len(self._carry) if self._carry else int.from_bytes(data[at : at + 4], "big")
        return at + size if 0 < size <= len(data) - at else 0

    def can_wait(self, rest: bytes) -> bool:
        """Whether bytes are the beginning of a message whose prelude is not whole, or is known to be right."""
        if self._carry or self.error is not None:
            return False
        is_begun = len(rest) < _PRELUDE.size or self._heads.get(rest[: self._begin], 0) > len(rest)
        return is_begun and super().can_wait(rest)

    def close(self) -> list[Frame]:
        """End the body: a message without its end has no checksum, and is nothing."""
        part = self._carry
        self.is_cut = len(part) > _PRELUDE.size + int.from_bytes(part[4:8], "big")
        self._carry.clear()
        return []

    # -- inside ----------------------------------------------------------------------------------------

    def _take(self, data: bytes, at: int) -> list[Frame]:
        """Take the messages in `data`, the first of which begins at `at`; keep the rest."""
        frames: list[Frame] = []
        begin = 0
        size = len(data)
        while (self._size or self._read_prelude(data, begin, at)) <= size - begin:
            end = begin + self._size
            frame = self._read_message(data[begin:end], at + begin)
            if frame is None:
                return frames
            frames.append(frame)
            begin = end
            self._size = 0
        if self.error is None:
            self._carry += data[begin:]
        return frames

    def _read_prelude(self, data: bytes, begin: int, at: int) -> int:
        """Read the prelude of the message that begins there; return its size, or one that no data has."""
        if len(data) - begin < _PRELUDE.size:
            return sys.maxsize
        size, headers, checksum = _PRELUDE.unpack_from(data, begin)
        if crc32(data[begin : begin + 8]) != checksum or size < _SMALLEST + headers:
            self._stop_at_damage(at + begin, "the lengths of a message do not agree with their checksum")
            return sys.maxsize
        if size > self._max_event:
            self._stop_at_event("a message", at + begin)
            return sys.maxsize
        self._size = size
        return int(size)

    def _read_message(self, message: bytes, at: int) -> Frame | None:
        if crc32(message[:-4]) != int.from_bytes(message[-4:], "big"):
            self._stop_at_damage(at, "a message does not agree with its checksum")
            return None
        begin = 12 + int.from_bytes(message[4:8], "big")
        headers = message[12:begin]
        event = self._known.get(headers)
        if event is None:
            fields = _read_headers(headers)
            if _EVENT not in fields or len(self._known) == _CACHED:
                name = next((fields[name] for name in _NAMES if name in fields), b"")
                return Frame(message[begin:-4] or _make_payload(fields), name, at + begin)
            event = self._known[headers] = fields[_EVENT]
        if len(self._heads) < _CACHED_HEADS:
            self._heads[message[:begin]] = len(message)
        self._begin = begin
        return Frame(message[begin:-4], event, at + begin)

    def _stop_at_damage(self, at: int, message: str) -> None:
        self._stop("frame_checksum" if at else "not_a_stream", message, at)


def _read_headers(block: bytes) -> dict[bytes, bytes]:
    """Read a block of headers; the values stay bytes."""
    fields = {}
    at = 0
    while at < len(block):
        value = at + 2 + block[at]
        kind = block[value - 1] if value <= len(block) else -1
        size = _SIZES.get(kind, 0)
        if kind in _SIZED:
            size = int.from_bytes(block[value : value + 2], "big")
            value += 2
        fields[block[at + 1 : at + 1 + block[at]]] = block[value : value + size]
        at = value + size
    return fields


def _make_payload(fields: dict[bytes, bytes]) -> bytes:
    """The payload of a message that has an error in its headers only."""
    message = fields.get(b":error-message")
    return b"" if message is None else encode({"message": message.decode("utf-8", "replace")})
