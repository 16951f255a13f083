"""Chunks that are the same but for one string.

Many servers write the same frame around each piece of what the model says.  Once one was read in full, another that
begins and ends as it did holds one JSON string in between, or is no JSON.
"""

from __future__ import annotations

from typing import Final

import msgspec

from streamparse.frames.base import BaseFramer

__all__ = ["Mould", "mould_of"]

_decode: Final = msgspec.json.Decoder(str).decode
_encode: Final = msgspec.json.Encoder().encode


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


def mould_of(framer: BaseFramer, chunk: bytes, string: str) -> Mould | None:
    """Return the form of the chunk that `framer.single` took last, whose message holds the string.

    None if it does not show for certain where: the string must be something, and stand there once, and nothing else
    with an escape, or it might be spelled otherwise.
    """
    spelled = _encode(string)
    start = chunk.find(spelled)
    before, behind = chunk[: start + 1], chunk[start + len(spelled) - 1 :]
    if not string or start < 0 or chunk.rfind(spelled) != start or b"\\" in before or b"\\" in behind:
        return None
    return Mould(framer, framer.offset - framer.received + len(chunk), before, behind)
