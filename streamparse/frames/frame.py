"""What a framer takes in and what it hands on."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeAlias

import msgspec

__all__ = ["BOM", "Chunk", "Fault", "Frame", "Framer"]

Chunk: TypeAlias = bytes | bytearray | memoryview
"""Bytes as a client hands them over, cut anywhere."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8: dropped once, at the very start of a body."""


class Frame(msgspec.Struct, gc=False):
    """One message, as bytes; nothing in it has been decoded.

    `offset` is the place in the stream of the first byte of `data`.  `event` and `id` are those of server-sent
    events: the event's name and the last event id.  `field` is `b"data"` for every message; any other name is that of
    a field unknown to the event stream, and `b""` stands for a line of bare JSON between its fields.
    """

    data: bytes
    event: bytes = b""
    offset: int = 0
    field: bytes = b"data"
    id: bytes = b""


class Fault(NamedTuple):
    """Why a framer stopped; `offset` is the place of the first byte that is too much."""

    code: str
    message: str
    offset: int


class Framer(Protocol):
    """Cuts a body into frames, the same ones however the body is cut into chunks.

    Nothing raises.  When a limit is hit, `error` is set, the frames before it are returned, and nothing afterwards.
    """

    @property
    def error(self) -> Fault | None:
        """What ended the framing early."""

    @property
    def received(self) -> int:
        """Bytes taken in so far."""

    @property
    def pending(self) -> int:
        """Bytes held because their end has not come."""

    def feed(self, chunk: Chunk) -> list[Frame]:
        """Take in the next bytes; return the frames that they complete."""

    def close(self) -> list[Frame]:
        """Take the end of the body; return what its unfinished end still holds."""
