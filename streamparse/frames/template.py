"""Messages that are the same except for one string, which alone is decoded.

Many servers write the same frame around each piece of what the model says.  Once one was read in full, another that
begins and ends as it did holds one JSON string in between, or is not JSON.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from streamparse.frames.frame import Framer

_decode: Final = msgspec.json.Decoder(str).decode
_encode: Final = msgspec.json.Encoder().encode


class FrameTemplate:
    """The form of messages that are the same except for one string, which is not empty.

    Messages that hold the string at two places have a `middle`, which is the same in all of them.
    """

    __slots__ = ("_after", "_back", "_before", "_data", "_framer", "_joint", "_longest", "_middle", "_string")

    def __init__(self, framer: Framer, data: int, before: bytes, after: bytes, middle: bytes | None = None) -> None:
        self._framer = framer
        self._data = data  # where the data begins in a message
        self._before = before
        self._after = after
        self._middle = middle
        self._joint = b""  # the end of one message and the beginning of the next, once a read holds several
        self._back = max(after.find(b"\n"), 0)  # from the quote that ends the string to the line break
        # What is longer is likely to be several messages.
        self._longest = min(2 * (len(before) + len(after) + len(middle or b"")), framer._max_single)
        self._string = slice(len(before) - 1, 1 - len(after))

    @classmethod
    def learn(cls, framer: Framer, chunk: bytes, string: str, twice: bool = False) -> FrameTemplate | None:
        """Return the form of the message that `framer.try_next` took last, which holds the string once, or twice.

        None if its position is not certain: the string must not be empty and must occur that often, and the rest may
        hold no escape, or the string might be written in another way there.
        """
        written = _encode(string)
        start, last = chunk.find(written), chunk.rfind(written)
        before, after = chunk[: start + 1], chunk[last + len(written) - 1 :]
        if not string or start < 0 or b"\\" in before or b"\\" in after:
            return None
        data = framer.offset - framer.received + len(chunk)
        if not twice:
            return cls(framer, data, before, after) if start == last else None
        middle = chunk[start + len(written) : last]
        if last < start + len(written) or written in middle or b"\\" in middle:
            return None
        return cls(framer, data, before, after, middle)

    def take(self, chunk: bytes) -> str | None:
        """Take a read that is one message of this form, and return its string; None, and nothing is taken, if not."""
        size = len(chunk)
        if size > self._longest or not (chunk.startswith(self._before) and chunk.endswith(self._after)):
            return None
        written = chunk[self._string]
        if self._middle is not None:
            written = _halve(written, self._middle)
        try:
            string = _decode(written)
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

    def take_run(self, data: bytes, at: int, tell: Callable[[str], None]) -> int:
        """Take the messages of this form from a position on, and tell the string of each; return where they end."""
        framer, after, middle, back = self._framer, self._after, self._middle, self._back
        joint = self._joint = self._joint or after + self._before
        most, total, skipped, rest = framer._max_single, framer._max_total, len(self._before), len(after)
        goes_on = data.startswith(self._before, at)
        while goes_on:
            start = at + skipped
            # A string of JSON holds no line break, so the first is the one that ends the data.
            stop = data.find(b"\n", start) - back
            goes_on = data.startswith(joint, stop)  # at once both that this one ends and that another begins
            if stop < at or not (goes_on or data.startswith(after, stop)):
                break
            written = data[start - 1 : stop + 1]
            if middle is not None:
                written = _halve(written, middle)
            try:
                string = _decode(written)
            except ValueError:
                break
            size = stop + rest - at
            received = framer.received + size
            if not string or size > most or received > total:
                break
            framer.offset = framer.received + self._data
            framer.received = received
            framer.singles += 1
            at += size
            tell(string)
        return at


def _halve(both: bytes, middle: bytes) -> bytes:
    """Return what is on either side of the middle; nothing if that is not the same."""
    half = both[: (len(both) - len(middle)) // 2]
    return half if both == half + middle + half else b""
