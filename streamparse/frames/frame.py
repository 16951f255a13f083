"""What all framers share: chunks in, frames and errors out; lines; and templates of chunks that are alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

import msgspec

from streamparse.limits import Limits, most

Chunk: TypeAlias = bytes | bytearray | memoryview
"""Bytes as a client hands them over, cut anywhere."""

BOM = b"\xef\xbb\xbf"
"""The byte order mark of UTF-8: dropped once, at the very start of a body."""

_decode: Final = msgspec.json.Decoder(str).decode
_encode: Final = msgspec.json.Encoder().encode


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
    Nearly every read is one message, or several.  `try_single` takes a chunk that is one message without a loop and a
    `Frame`, `try_next` one of several; `FrameTemplate` takes one that is like the message before.
    """

    __slots__ = (
        *("_carry", "_max_event", "_max_line", "_max_single", "_max_total"),
        *("error", "is_cut", "offset", "received", "singles", "turned_at"),
    )

    def __init__(self, limits: Limits) -> None:
        self.error: FramingError | None = None
        """What ended the framing early."""
        self.is_cut = False
        """Whether the body has ended inside the JSON of a message; known once it was closed."""
        self.received: int = 0
        """How many bytes were taken in so far."""
        self.singles: int = 0
        """How many chunks `try_single` and templates took."""
        self.turned_at = 0
        """The number of the last of these that is an event of another type than the one before."""
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

    def try_single(self, chunk: bytes) -> bytes | None:  # noqa: ARG002
        """Take a chunk that is exactly one message and return its data; None, and nothing is taken, if it is not."""
        return None

    def try_next(self, data: bytes, at: int) -> bytes | None:  # noqa: ARG002
        """As `try_single`, of the message that begins at a position; how long it is, shows in `received`."""
        return None

    def make_frame(self, data: bytes) -> Frame | None:  # noqa: ARG002
        """Return the frame of the message that was taken last, whose data this is; None if not all of it is known."""
        return None

    def find_end(self, data: bytes, at: int) -> int:  # noqa: ARG002
        """Find where the message that begins there may end; 0 if nowhere.

        A wrong answer changes no result: what `try_next` does not take is fed.
        """
        return len(data)

    def can_wait(self, rest: bytes) -> bool:
        """Whether bytes may stay outside until more have come: to feed them now gives no frame and no error."""
        return len(rest) <= self._max_single and self.received + len(rest) <= self._max_total

    def unread(self, chunk: bytes) -> None:
        """Give back the chunk that `try_single` took last: its data turned out not to be a plain message."""
        self.received -= len(chunk)
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


class StringTwice(str):
    """A string that a chunk holds at two places."""

    __slots__ = ()


class FrameTemplate:
    """The form of chunks that are the same except for one string, which is not empty.

    Many servers write the same frame around each piece of what the model says.  Once one was read in full, another that
    begins and ends as it did holds one JSON string in between, or is not JSON.
    """

    __slots__ = (
        *("_after", "_back", "_before", "_data", "_framer", "_joint", "_rest", "_skipped", "_string"),
        "longest",
    )

    def __init__(self, framer: Framer, data: int, before: bytes, after: bytes) -> None:
        skipped, rest = self._skipped, self._rest = len(before), len(after)
        self._framer = framer
        self._data = data
        self._before = before
        self._after = after
        self._joint = b""  # `after` and `before`, once there was a run
        self._back = max(after.find(b"\n"), 0)  # from the quote that ends the string to the line break
        self.longest: int = min(2 * (skipped + rest), framer._max_single)
        """How long a chunk may be that `take` takes; what is longer is likely to be several."""
        self._string = slice(skipped - 1, 1 - rest)

    @classmethod
    def learn(cls, framer: Framer, chunk: bytes, string: str) -> FrameTemplate | None:
        """Return the form of the chunk that `framer.try_single` took last, whose message holds the string.

        None if its position is not certain: the string must not be empty and must occur once (a `StringTwice` twice),
        and the rest may hold no escape, or the string might be written in another way there.
        """
        written = _encode(str(string))
        start, last = chunk.find(written), chunk.rfind(written)
        before, after = chunk[: start + 1], chunk[last + len(written) - 1 :]
        if not string or start < 0 or b"\\" in before or b"\\" in after:
            return None
        data = framer.offset - framer.received + len(chunk)
        if string.__class__ is not StringTwice:
            return cls(framer, data, before, after) if start == last else None
        middle = chunk[start + len(written) : last]
        if last < start + len(written) or written in middle or b"\\" in middle:
            return None
        return RepeatingTemplate(framer, data, before, after, middle)

    def fits(self, chunk: bytes, string: str) -> bool:
        """Whether a chunk is of this form; its message holds the string, which is not empty, and nothing else."""
        if not (chunk.startswith(self._before) and chunk.endswith(self._after)):
            return False
        try:
            return bool(_decode(self._cut(chunk)) == string)
        except ValueError:
            return False

    def take_run(self, data: bytes, at: int, tell: Callable[[str], None]) -> int:
        """Take the chunks of this form from a position on, and tell the string of each; return where they end."""
        framer, skipped, back = self._framer, self._skipped, self._back
        joint = self._joint = self._joint or self._after + self._before
        received, most, total = framer.received, framer._max_single, framer._max_total
        goes_on = data.startswith(self._before, at)
        while goes_on:
            start = at + skipped
            # A string of JSON holds no line break, so the first is the one that ends the data.
            stop = data.find(b"\n", start) - back
            goes_on = data.startswith(joint, stop)  # at once both that this one ends and that another begins
            if stop < at or not (goes_on or data.startswith(self._after, stop)):
                break
            try:
                string = _decode(data[start - 1 : stop + 1])
            except ValueError:
                break
            size = stop + self._rest - at
            offset = received + self._data
            received += size
            if not string or size > most or received > total:
                break
            framer.offset = offset
            framer.received = received
            framer.singles += 1
            at += size
            tell(string)
        return at

    def _cut(self, chunk: bytes) -> bytes:
        """Return the string of a chunk that begins and ends as those of this form do, as it is written."""
        return chunk[self._string]

    def take(self, chunk: bytes) -> str | None:
        """Take a chunk of this form and return its string; None, and nothing is taken, if it is of another."""
        size = len(chunk)
        if size > self.longest or not (chunk.startswith(self._before) and chunk.endswith(self._after)):
            return None
        try:
            string = _decode(chunk[self._string])
        except ValueError:
            return None
        framer = self._framer
        start = framer.received
        end = start + size
        if not string or end > framer._max_total:
            return None
        framer.offset = start + self._data
        framer.received = end
        framer.singles += 1
        return string


class RepeatingTemplate(FrameTemplate):
    """The form of chunks that hold their string at two places, with the same between them."""

    __slots__ = ("_middle",)

    def __init__(self, framer: Framer, data: int, before: bytes, after: bytes, middle: bytes) -> None:
        super().__init__(framer, data, before, after)
        self._middle = middle
        self.longest: int = min(2 * len(before + middle + after), framer._max_single)

    def take_run(self, data: bytes, at: int, tell: Callable[[str], None]) -> int:
        """Take the chunks of this form from a position on, and tell the string of each; return where they end."""
        skipped = len(self._before)
        while data.startswith(self._before, at):
            end = data.find(b"\n", at + skipped) - self._back + self._rest
            string = self._take(data[at:end])
            if string is None:
                break
            at = end
            tell(string)
        return at

    def take(self, chunk: bytes) -> str | None:
        """Take a chunk of this form and return its string; None, and nothing is taken, if it is of another."""
        return self._take(chunk) if len(chunk) <= self.longest else None

    def _take(self, chunk: bytes) -> str | None:
        """As `take`, of any length."""
        if not (chunk.startswith(self._before) and chunk.endswith(self._after)):
            return None
        try:
            string = _decode(self._cut(chunk))
        except ValueError:
            return None
        framer, size = self._framer, len(chunk)
        received = framer.received + size
        if not string or size > framer._max_single or received > framer._max_total:
            return None
        framer.offset = framer.received + self._data
        framer.received = received
        framer.singles += 1
        return string

    def _cut(self, chunk: bytes) -> bytes:
        return _halve(chunk[self._string], self._middle)


def _halve(both: bytes, middle: bytes) -> bytes:
    """Return what is on either side of the middle; nothing if that is not the same."""
    half = both[: (len(both) - len(middle)) // 2]
    return half if both == half + middle + half else b""
