"""Chunks that are the same but for one string.

A server writes the same frame around each piece of what the model says.  Once one was read in full, another that begins
and ends as it did holds one JSON string in between, or is no JSON.  Some servers write a time, noise or blanks of any
length into each frame: such a place is a gap, if nobody reads what stands there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec

from streamparse.frames.base import BaseFramer
from streamparse.patterns import plain

__all__ = ["Mould", "Moulds"]

_PATIENCE: Final = 16
"""How many messages in a row may have forms of their own before none is learnt for a while."""
_REST: Final = 240
"""How many messages that while takes."""

_decode: Final = msgspec.json.Decoder(str).decode
_encode: Final = msgspec.json.Encoder().encode
_GAP: Final = plain(rb'(?<=:")[0-9A-Za-z:.+_-]*(?=")|(?<=: ")[0-9A-Za-z:.+_-]*(?=")|(?<=[}\]]) *(?=[}\]])')
"""The inside of a value that is a string, or blanks between closers: with any of them the rest means the same."""


class Mould:
    """The form of chunks that are one message: all of it but one string, which is not empty."""

    __slots__ = ("_before", "_behind", "_data", "_end", "_framer", "_start")

    def __init__(self, framer: BaseFramer, data: int, before: bytes, behind: bytes) -> None:
        self._framer = framer
        self._data = data
        self._before = before
        self._behind = behind
        self._start = len(before) - 1
        self._end = 1 - len(behind)

    def take(self, chunk: bytes) -> str | None:
        """Take a chunk of this form and return its string; None, and nothing is taken, if it is of another."""
        if not (chunk.startswith(self._before) and chunk.endswith(self._behind)):
            return None
        try:
            string = _decode(chunk[self._start : self._end])
        except ValueError:
            return None
        return string if string and self._framer.again(len(chunk), self._data) else None


class _Side(NamedTuple):
    """What stands on one side of the string; without a gap `past` is None."""

    start: bytes
    past: bytes | None = None

    def end(self, chunk: bytes, at: int) -> int:
        """Where this side ends if it begins at a place of the chunk; -1 if it does not."""
        if not chunk.startswith(self.start, at):
            return -1
        at += len(self.start)
        return at if self.past is None else _past_gap(chunk, at, self.past)


class _Gapped(Mould):
    """A form with a gap before the string, behind it, or on both sides."""

    __slots__ = ("_first", "_second")

    def __init__(self, framer: BaseFramer, data: int, first: _Side, second: _Side) -> None:
        super().__init__(framer, data, first.start, second.start)
        self._first = first
        self._second = second

    def take(self, chunk: bytes) -> str | None:
        start = self._first.end(chunk, 0)
        end = chunk.find(self._behind, start) if start > 0 else -1
        if end < 0 or self._second.end(chunk, end) != len(chunk):
            return None
        try:
            string = _decode(chunk[start - 1 : end + 1])
        except ValueError:
            return None
        return string if string and self._framer.again(len(chunk), self._data) else None


class Moulds:
    """Learns the forms of the chunks that a framer takes as singles; `decode` reads their data."""

    def __init__(self, framer: BaseFramer, decode: Callable[[bytes], Any]) -> None:
        self._framer = framer
        self._decode = decode
        self._patience = _PATIENCE
        self._looked = 0  # at so many singles
        self._last: tuple[bytes, bytes] | None = None  # what stood on both sides of the string

    def worth_learning(self) -> bool:
        """Whether to learn the form of the chunk taken last: not while each one has a form of its own."""
        singles = self._framer.singles
        fitted = singles > self._looked + 1
        self._looked = singles
        self._patience = _PATIENCE if fitted or self._patience < -_REST else self._patience - 1
        return self._patience >= 0

    def learn(self, chunk: bytes, message: Any, string: str) -> Mould | None:
        """Return the form of the chunk taken last, whose message holds the string.

        None if it does not show for certain where: the string must be something, and stand there once, and nothing else
        with an escape, or it might be spelled otherwise.
        """
        spelled = _encode(string)
        start = chunk.find(spelled)
        before, behind = chunk[: start + 1], chunk[start + len(spelled) - 1 :]
        if not string or start < 0 or chunk.rfind(spelled) != start or b"\\" in before or b"\\" in behind:
            return None
        framer = self._framer
        data = framer.offset - framer.received + len(chunk)
        last, self._last = self._last, (before, behind)
        if last is not None:
            first, second = _common(last[0], before), _common(last[1], behind)
            if first and second and self._same(last[0] + spelled[1:-1] + last[1], data, message):
                return _Gapped(framer, data, first, second)
        return Mould(framer, data, before, behind)

    def _same(self, chunk: bytes, data: int, message: Any) -> bool:
        """Whether a chunk means a message: then what is in its gaps is not read."""
        try:
            return bool(self._decode(chunk[data:]) == message)
        except (ValueError, RecursionError):
            return False


def _common(old: bytes, new: bytes) -> _Side | None:
    """What the same side of two chunks has in common; None if it is more than a gap in which they differ."""
    if old == new:
        return _Side(new)
    for gap in _GAP.finditer(new):
        start, past = new[: gap.start()], new[gap.end() :]
        if old.startswith(start) and _past_gap(old, len(start), past) == len(old):
            return _Side(start, past)
    return None


def _past_gap(chunk: bytes, at: int, literal: bytes) -> int:
    """Where a literal ends that stands behind the gap at a place of the chunk; -1 if none does."""
    gap = _GAP.match(chunk, at)
    return gap.end() + len(literal) if gap is not None and chunk.startswith(literal, gap.end()) else -1
