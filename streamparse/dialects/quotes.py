"""Whether text is quoted: behind a quotation mark, in a code span whose markup turned out to be text, or in a fence.

Fences are those of CommonMark: three or more back-ticks at the start of a line, behind a few blanks and the mark of the
list or quotation that the fence stands in, until as many at the start of another one.  A code span is followed only
where it matters: from a marker right behind its back-tick, that opened nothing, to the next back-tick.  Behind any
other quotation mark such a marker is quoted with what comes right after it.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from streamparse.patterns import plain

__all__ = ["Quotes"]

_TAIL: Final = 20  # a line break, a mark and the blanks around it, and four of five back-ticks
_LONGEST: Final = 5  # a longer run of back-ticks counts as one of these
_FENCE = plain(r"\n {0,8}(?:(?:[-*+>]|[0-9]{1,2}[.)]) {1,4})?(`{3,})")
_WIDTH: Final = 64  # how far a quotation mark may stand before a marker
_MARK = r"(?:[`\"'“„‘]|«[ \xa0\u202f]?)"
_BEHIND = plain(rf"{_MARK}\Z")
_BEHIND_TAG = plain(rf"{_MARK}(?:<[^<>\n]{{1,48}}>[ \t\r\n]{{0,8}})?\Z")
"""The same, and perhaps a tag that opened nothing."""


class Quotes:
    """Listens to the text that is told; `heard` is told each piece, then `ticks` if there is a back-tick in it."""

    __slots__ = ("_before", "_fence", "_held", "_pieces", "_span", "heard")

    def __init__(self) -> None:
        self._pieces = deque(["\n"], _TAIL + 1)
        self.heard = self._pieces.append
        self.forget()

    @property
    def open(self) -> bool:
        """Whether what comes next is quoted."""
        if self._fence or self._span:
            return True
        behind = _BEHIND_TAG if self._held else _BEHIND
        return behind.search("".join(piece[-_WIDTH:] for piece in self._pieces)[-_WIDTH:]) is not None

    @property
    def line_begins(self) -> bool:
        """Whether what comes next stands at the start of a line."""
        return self._pieces[-1].endswith("\n")

    def forget(self) -> None:
        """Whatever was open is closed: another kind of text begins."""
        self._fence = 0  # the back-ticks of the fence that is open
        self._before = 0  # the same, before the last run of them
        self._span = False
        self._held = False  # a quoted marker opened nothing
        self.heard("\n")

    def hold(self) -> None:
        """What is quoted here is text: the code span that it began goes on."""
        self._held = True
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
