"""Whether text is quoted: behind a quotation mark, in a code span whose markup turned out to be text, or in a fence.

Fences are those of CommonMark: three or more back-ticks behind at most three blanks at the start of a line, until as
many at the start of another one.  A code span is followed only where it matters: from a marker right behind its
back-tick, that opened nothing, to the next back-tick.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from streamparse.patterns import plain

__all__ = ["Quotes"]

_TAIL: Final = 8  # a line break, three blanks, and four of five back-ticks
_LONGEST: Final = 5  # a longer run of back-ticks counts as one of these
_FENCE = plain(r"\n {0,3}(`{3,})")
_MARKS = ("`", '"', "'", "“", "‘", "«")


class Quotes:
    """Listens to the text that is told; `heard` is told each piece, then `ticks` if there is a back-tick in it."""

    __slots__ = ("_before", "_fence", "_pieces", "_span", "heard")

    def __init__(self) -> None:
        self._pieces = deque(["\n"], _TAIL + 1)
        self.heard = self._pieces.append
        self.forget()

    @property
    def open(self) -> bool:
        """Whether what comes next is quoted."""
        return self._fence > 0 or self._span or self._pieces[-1].endswith(_MARKS)

    @property
    def line_begins(self) -> bool:
        """Whether what comes next stands at the start of a line."""
        return self._pieces[-1].endswith("\n")

    def forget(self) -> None:
        """Whatever was open is closed: another kind of text begins."""
        self._fence = 0  # the back-ticks of the fence that is open
        self._before = 0  # the same, before the last run of them
        self._span = False
        self.heard("\n")

    def hold(self) -> None:
        """What is quoted here is text: the code span that it began goes on."""
        self._span = self._span or self._pieces[-1].endswith("`")

    def ticks(self) -> None:
        """The piece that was heard last has back-ticks."""
        self._span = False
        *before, piece = self._pieces
        tail = "".join(text[-_TAIL:] for text in before)
        for run in _FENCE.finditer(tail + piece):
            if run.end() > len(tail):
                if len(tail) - run.start(1) < 3:  # else a shorter run was met before, and this one replaces it
                    self._before = self._fence
                self._meet(min(len(run[1]), _LONGEST))

    def _meet(self, size: int) -> None:
        """A run of back-ticks at the start of a line opens a fence, closes one, or is too short for that."""
        if self._before == 0:
            self._fence = size
        else:
            self._fence = 0 if size >= self._before else self._before
