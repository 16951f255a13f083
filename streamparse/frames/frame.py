"""What all framers share: chunks in, frames and errors out; and lines."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import msgspec

from streamparse.limits import Limits, most

Chunk: TypeAlias = bytes | bytearray | memoryview
"""Bytes as a client hands them over, cut anywhere."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8: dropped once, at the very start of a body."""


class Frame(msgspec.Struct, gc=False):
    """One message, as bytes; nothing in it has been decoded.

    `offset` is the place in the stream of the first byte of `data`.  `event` and `id` are those of server-sent
    events: the event's name and the last event id.  `field` is `b"data"` for every message; any other name is that of
    a field unknown to the event stream, and `b""` that of a line of bare JSON between the fields.
    """

    data: bytes
    event: bytes = b""
    offset: int = 0
    field: bytes = b"data"
    id: bytes = b""


class FramingError(NamedTuple):
    """Why a framer stopped; `offset` is the position of the first byte that is too much."""

    code: str
    message: str
    offset: int


class Framer:
    """Cuts a body into frames, the same ones however the body is cut into chunks.

    Nothing raises.  When a limit is hit, `error` is set, the frames before it are returned, and nothing afterwards.
    Nearly every read is one message, or several.  `try_next` takes one of them without a list and a `Frame`; a
    `FrameTemplate` takes one that is like the message before.
    """

    __slots__ = (
        *("_carry", "_max_event", "_max_line", "_max_single", "_max_total"),
        *("error", "is_cut", "offset", "received", "singles"),
    )

    def __init__(self, limits: Limits) -> None:
        self.error: FramingError | None = None
        """What ended the framing early."""
        self.is_cut = False
        """Whether the body has ended inside the JSON of a message; known once it was closed."""
        self.received: int = 0
        """How many bytes were taken in so far."""
        self.singles: int = 0
        """How many messages `try_next` and templates took."""
        self.offset = 0
        """Where the data of the last of these begins."""
        self._max_line = most(limits.max_line)
        self._max_event = most(limits.max_event)
        self._max_total = most(limits.max_total)
        self._max_single = min(self._max_line, self._max_event)
        self._carry = bytearray()  # what has no end yet

    @property
    def pending(self) -> int:
        """How many bytes are held because their end has not come."""
        return len(self._carry)

    def feed(self, chunk: Chunk) -> list[Frame]:
        """Take in the next bytes; return the frames that they complete."""
        raise NotImplementedError

    def close(self) -> list[Frame]:
        """Take the end of the body; return what its unfinished end still holds."""
        raise NotImplementedError

    def try_next(self, data: bytes, at: int) -> bytes | None:  # noqa: ARG002
        """Take the message that begins at a position, and return its data; `received` grows by its length.

        None, and nothing is taken, if it is not whole or not plain.
        """
        return None

    def find_end(self, data: bytes, at: int) -> int:  # noqa: ARG002
        """Find where the message that begins there may end; 0 if nowhere.

        A wrong answer changes no result: what `try_next` does not take is fed.
        """
        return len(data)

    def can_wait(self, rest: bytes) -> bool:
        """Whether bytes may stay outside until more have come: to feed them now gives no frame and no error."""
        return len(rest) <= self._max_single and self.received + len(rest) <= self._max_total

    def unread(self, size: int) -> None:
        """Give back the message that `try_next` took last, so many bytes: its data turned out not to be plain."""
        self.received -= size
        self.singles -= 1

    def _stop(self, code: str, message: str, offset: int) -> None:
        """Take nothing more; what is held is lost."""
        self.error = FramingError(code, message, offset)
        self._carry.clear()
        self._max_single = -1

    def _stop_at_event(self, what: str, offset: int) -> None:
        """Stop because of an event that is too large; it begins at `offset`."""
        self._stop("limit_event", f"{what} holds more than {self._max_event} bytes", offset + self._max_event)


class LineFramer(Framer):
    """A framer that takes whole lines; its class says where a line ends."""

    __slots__ = ()

    def _take(self, lines: list[bytes], at: int) -> list[Frame]:
        """Take whole lines, the first of which begins at `at`."""
        raise NotImplementedError

    def _take_and_keep(self, lines: list[bytes], rest: bytes, at: int) -> list[Frame]:
        """Take the lines that a chunk completes, the first of which began at `at`, and keep the rest of the chunk."""
        carry = self._carry
        if carry and lines:
            carry += lines[0]
            lines[0] = bytes(carry)
            carry.clear()
        frames = self._take(lines, at)
        if not self.error:
            carry += rest
            if len(carry) > self._max_line:
                self._stop_at_line(self.received - len(carry))
        return frames

    def _stop_at_line(self, offset: int) -> None:
        """Stop because of a line that is too long; it begins at `offset`."""
        self._stop("limit_line", f"a line holds more than {self._max_line} bytes", offset + self._max_line)
