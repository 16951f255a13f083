"""Whether text is quoted: behind a quotation mark, in a code span, or in a fence.

Fences are those of CommonMark: three or more back-ticks or tildes at the start of a line, behind a few blanks and the
mark of the list or quotation that the fence stands in, until as many at the start of another one.  A code span goes
from a run of back-ticks to the next run of the same length in the same line; one that begins right before a marker that
opened nothing goes on to the next back-tick.  Behind any other quotation mark such a marker is quoted with what comes
right after it.  Code that is only indented, comments and elements of HTML quote nothing: none of them needs an end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

from streamparse.patterns import plain

__all__ = ["Quotes"]

_TAIL: Final = 20  # a line break, a mark and the blanks around it, and four of five back-ticks or tildes
_LONGEST: Final = 5  # a longer run counts as one of these
_FENCE = plain(r"\n {0,8}(?:(?:[-*+>]|[0-9]{1,2}[.)]) {1,4})?(`{3,}|~{3,})")
_RUN = plain(r"`+|\n")
_WIDTH: Final = 64  # how far a quotation mark may stand before a marker
_MARK = r"(?:[`\"'“„‘]|«[ \xa0\u202f]?)"
_BEHIND = plain(rf"{_MARK}\Z")
_BEHIND_TAG = plain(rf"{_MARK}(?:<[^<>\n]{{1,48}}>[ \t\r\n]{{0,8}})?\Z")
"""The same, and perhaps a tag that opened nothing."""


class Quotes:
    """Listens to the text that is told; `heard` is told each piece, then `ticks` if a back-tick or tilde is in it."""

    __slots__ = ("_before", "_fence", "_held", "_marker", "_pieces", "_run", "_span", "heard")

    def __init__(self) -> None:
        self._pieces = deque(["\n"], _TAIL + 1)
        self.forget()

    @property
    def open(self) -> bool:
        """Whether what comes next is quoted."""
        if self._fence or self._marker or self._after_run():
            return True
        behind = _BEHIND_TAG if self._held else _BEHIND
        return behind.search("".join(piece[-_WIDTH:] for piece in self._pieces)[-_WIDTH:]) is not None

    @property
    def line_begins(self) -> bool:
        """Whether what comes next stands at the start of a line."""
        return self._pieces[-1].endswith("\n")

    def forget(self) -> None:
        """Whatever was open is closed: another kind of text begins."""
        self._fence = ""  # what opened the fence that is open
        self._before = ""  # the same, before the last run of its characters
        self._span = 0  # the back-ticks of the code span that is open in this line
        self._run = 0  # the back-ticks at the end of the text, of which more may come
        self._marker = False  # a code span began right before a marker that opened nothing
        self._held = False  # a quoted marker opened nothing
        self._pieces.append("\n")
        self.heard: Callable[[str], None] = self._pieces.append

    def hold(self) -> None:
        """What is quoted here is text: the code span that it began goes on."""
        self._held = True
        self._marker = self._marker or self._pieces[-1].endswith("`")

    def ticks(self) -> Callable[[str], None]:
        """The piece that was heard last has back-ticks or tildes; return what is to be told the next one."""
        *before, piece = self._pieces
        tail = "".join(text[-_TAIL:] for text in before)
        for run in _FENCE.finditer(tail + piece):
            if run.end() > len(tail):
                if len(tail) - run.start(1) < 3:  # else a shorter run was met before, and this one replaces it
                    self._before = self._fence
                self._meet(run[1][:_LONGEST])
        if "`" in piece:
            self._marker = False
            self._spans(piece)
        self.heard = self._in_line if self._span or self._run else self._pieces.append
        return self.heard

    def _meet(self, run: str) -> None:
        """A run at the start of a line opens a fence, closes one, or is of another kind, or too short, for that."""
        if not self._before:
            self._fence = run
        else:
            self._fence = "" if run.startswith(self._before) else self._before

    def _in_line(self, text: str) -> None:
        """As `heard`, where a code span may be open: it ends with its line."""
        self._pieces.append(text)
        if text and text[0] != "`":
            self._end_run()
        if "\n" in text:
            self._span = self._run = 0

    def _spans(self, piece: str) -> None:
        """Follow the code spans of a piece."""
        for run in _RUN.finditer(piece):
            if run.start() > 0:
                self._end_run()
            if run[0] == "\n":
                self._span = self._run = 0
            else:
                self._run += len(run[0])
        if not piece.endswith("`"):
            self._end_run()

    def _end_run(self) -> None:
        """No more back-ticks come."""
        self._span = self._after_run()
        self._run = 0

    def _after_run(self) -> int:
        """The span that is open behind the run of back-ticks."""
        if not self._run:
            return self._span
        return self._run if not self._span else 0 if self._span == self._run else self._span
