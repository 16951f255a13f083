"""A call that may have left already: it waits as long as it says what a complete call of its name said.

Some servers read a call and leak its text too; the second of the two ends with `duplicate_call`.  A client that has
seen a call begin cannot be told that it was none, so such a call begins only with the first word that differs, or when
it is complete: the same call twice in the same way is two calls.  Blanks and escapes make no difference.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Final

import msgspec

from streamparse.emitting.answer import argument_text
from streamparse.emitting.arguments import INSIDE
from streamparse.events import ToolCallComplete, ToolCallDelta, ToolCallStart

__all__ = ["Held", "said_by"]

_BETWEEN: Final = re.compile(r'[ \t\r\n]*([^" \t\r\n]*)("?)')
_LONGEST_ESCAPE: Final = 12  # of a surrogate pair


def said_by(call: ToolCallComplete) -> str:
    """What a complete call says, to compare others with."""
    return _Plain().feed(argument_text(call))


class Held:
    """A call of which nothing has left: its start, and what has come of its arguments.

    `said` is what the complete calls of its name say, each by `said_by`, in the order of text: those that begin alike
    are neighbours, and it takes few looks to tell where they begin and end.
    """

    __slots__ = ("_compared", "_deltas", "_first", "_last", "_plain", "_said", "start")

    def __init__(self, start: ToolCallStart, said: Sequence[str]) -> None:
        self.start = start
        self._deltas: list[str] = []
        self._said = tuple(said)
        self._first, self._last = 0, len(said)  # of those that have said the same so far
        self._compared = 0
        self._plain = _Plain()

    def says_the_same(self, delta: ToolCallDelta) -> bool:
        """Keep the next delta; whether one of the complete calls still begins so."""
        self._deltas.append(delta.arguments)
        text = self._plain.feed(delta.arguments)
        begin, end = self._compared, self._compared + len(text)
        self._first = bisect_left(self._said, text, self._first, self._last, key=lambda said: said[begin:end])
        self._last = bisect_right(self._said, text, self._first, self._last, key=lambda said: said[begin:end])
        self._compared = end
        return self._first < self._last and not self._plain.odd

    @property
    def delta(self) -> ToolCallDelta:
        """All that has come, as one piece."""
        return ToolCallDelta(self.start.index, "".join(self._deltas))


class _Plain:
    """Spells JSON text in one way as it comes: no blanks between the values, no escape but where one must be."""

    __slots__ = ("_in_string", "_rest")

    def __init__(self) -> None:
        self._in_string = False
        self._rest = ""  # an escape that is not whole

    @property
    def odd(self) -> bool:
        """Whether the text is no JSON."""
        return len(self._rest) >= _LONGEST_ESCAPE

    def feed(self, fragment: str) -> str:
        """Return what the next piece says."""
        text = self._rest + fragment
        pieces: list[str] = []
        place = 0
        while place < len(text):
            piece, end = self._string(text, place) if self._in_string else self._between(text, place)
            if end == place:
                break
            pieces.append(piece)
            place = end
        self._rest = text[place:]
        return "".join(pieces)

    def _string(self, text: str, place: int) -> tuple[str, int]:
        """Take the inside of a string, up to its end or to what waits for more."""
        inside = INSIDE.match(text, place)
        assert inside is not None
        end = inside.end()
        said = msgspec.json.encode(msgspec.json.decode(f'"{inside[0]}"')).decode()
        if text[end : end + 1] != '"':
            return said[1:-1], end
        self._in_string = False
        return said[1:], end + 1

    def _between(self, text: str, place: int) -> tuple[str, int]:
        """Take what stands between strings, up to the next one."""
        token = _BETWEEN.match(text, place)
        assert token is not None
        self._in_string = bool(token[2])
        return token[1] + token[2], token.end()
