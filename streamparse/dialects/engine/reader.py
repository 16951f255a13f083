"""The text that a grammar reads, as far as it has come, and how often it may be read again.

A grammar is a generator.  It asks the `Reader`.  Where the answer depends on text that has not come yet, it yields, and
is resumed with more.  What it takes is kept until it commits itself to a call.  If the marker turns out to be prose,
all of that is given back as text.

Then another marker in it may still open a call, so it is read again, from after the marker that opened none.  Each look
may go on to the end of what the one before has seen: without a bound, the work would grow with the square of the text.
`RescanBudget` is that bound.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from io import StringIO
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias, TypeVar

from streamparse.dialects.engine.markers import MarkerMatch, MarkerSet
from streamparse.patterns import BLANKS, lazy_partial

if TYPE_CHECKING:
    import regex

T = TypeVar("T")
# Goes on with a long value, see `Reader.fast_path`.
GoOn: TypeAlias = "Callable[[str, Reader], str | None]"
Match: TypeAlias = "regex.Match[str]"
Pattern: TypeAlias = "regex.Pattern[str]"
# A piece of a grammar: yields where it needs more text, returns what it read.
Step: TypeAlias = Generator[None, None, T]

_BLANK_RUN = lazy_partial(r"[ \t\r\n]*")
_MUCH: Final = 4096  # bound: characters; a look that took so many is not repeated
_MOST_AGAIN: Final = 8 * _MUCH  # bound: characters that are looked at more than once


class Overflow(Exception):
    """More than `most` characters were taken, which is all that may be held before a call is certain."""

    def __init__(self, most: int) -> None:
        self.most = most


class Reader:
    """A window on the text: `buffer[at:]` has come and is not read yet.  Once `final`, no more comes."""

    __slots__ = (
        "_kept",
        "_most",
        "_pinned",
        "_searched",
        "at",
        "budget",
        "buffer",
        "fast_path",
        "final",
        "stopped",
        "tape",
    )

    def __init__(self, most_taped: int = sys.maxsize, most_vain: int = sys.maxsize) -> None:
        self.tape: Tape = Tape(most_taped)
        self.budget: RescanBudget = RescanBudget(most_vain)
        self.buffer: str = ""
        self.at: int = 0
        self.final: bool = False
        # Whether the model itself ended the text, and nothing cut it.  It is known at the end.
        self.stopped: bool = False
        # Set while a grammar waits in a long value.  It takes text that continues the value, and returns None; or it
        # returns the text, for the grammar to go on with.  It is given this reader, and must not refer to it.
        self.fast_path: GoOn | None = None
        self._kept: StringIO | None = None
        self._most: int | None = None
        self._pinned = False
        self._searched: dict[MarkerSet, _Searched] | None = None  # in this buffer

    @property
    def is_at_end(self) -> bool:
        """Whether all text has been read."""
        return self.final and self.at >= len(self.buffer)

    def push(self, text: str) -> None:
        """Add text that has come."""
        self.buffer = self.buffer[self.at :] + text if self.at < len(self.buffer) else text
        self.at = 0
        self._searched = None

    def take_rest(self) -> str:
        """Return what has come and was not read, and leave the reader empty."""
        rest = self.take(len(self.buffer) - self.at) if self._pinned else self.buffer[self.at :]
        self.buffer = ""
        self.at = 0
        return rest

    def unread(self, text: str) -> None:
        """Put text in front of what is still to be read."""
        start = self.at - len(text)
        if start >= 0 and self.buffer.startswith(text, start):  # it was taken from there, and the buffer may be long
            self.at = start
        else:
            self.buffer, self.at = text + self.buffer[self.at :], 0

    def checkpoint(self, most: int | None = None) -> None:
        """From here on keep what is taken, until `commit` or `end_checkpoint`.

        To take more than `most` characters raises `Overflow`.
        """
        if not self._pinned:
            self._kept = StringIO()
            self._most = most

    def begin_call(self, most: int | None) -> None:
        """Do the same as `checkpoint` where another call of a block may begin."""
        self.tape.restart(self.buffer, self.at)
        self.checkpoint(most)

    def commit(self) -> None:
        """Forget what was taken: it is part of a call for certain."""
        if not self._pinned:
            self._kept = None

    def pin(self) -> None:
        """Keep what is taken, whatever a grammar asks for, until `end_checkpoint`."""
        self._pinned = True

    def unpin(self) -> None:
        """Let a grammar decide again what is kept."""
        self._pinned = False

    def restart_checkpoint(self) -> str:
        """Return what was taken since `checkpoint`, and keep what is taken from here on."""
        kept = self.kept
        self._kept = StringIO()
        return kept

    def end_checkpoint(self) -> str:
        """Return what was taken since `checkpoint`, and keep nothing.

        Not for grammars, whose calls may be recorded.
        """
        kept = self.kept
        self._kept = None
        self._pinned = False
        return kept

    @property
    def is_committed(self) -> bool:
        """Whether nothing that is taken is kept."""
        return self._kept is None

    @property
    def kept(self) -> str:
        """What was taken since `checkpoint`."""
        return self._kept.getvalue() if self._kept is not None else ""

    def count_kept(self) -> int:
        """Return how many characters are kept."""
        return self._kept.tell() if self._kept is not None else 0

    def rewind(self, to: int) -> None:
        """Give back what was taken since `count_kept()` was `to`."""
        if self._kept is None:
            return
        kept = self._kept.getvalue()
        self.unread(kept[to:])
        self._kept = StringIO()
        self._kept.write(kept[:to])

    def take(self, size: int) -> str:
        """Take the next `size` characters, which have come."""
        end = self.at + size
        text = self.buffer[self.at : end]
        self.at = end
        if self._kept is not None:
            self._kept.write(text)
            if self._most is not None and self._kept.tell() > self._most:
                raise Overflow(self._most)
        return text

    def peek(self) -> Step[str]:
        """Return the next character without taking it, "" at the end."""
        while self.at >= len(self.buffer):
            if self.final:
                return ""
            yield
        return self.buffer[self.at]

    def skip_blanks(self) -> Step[str]:
        """Take white space; return the next character without taking it, "" at the end."""
        while True:
            if (next_one := self.buffer[self.at : self.at + 1]) and next_one not in BLANKS:
                return next_one
            blank = _BLANK_RUN.match(self.buffer, self.at)
            assert blank is not None
            if blank[0]:
                self.take(len(blank[0]))
            if self.at < len(self.buffer):
                return self.buffer[self.at]
            if self.final:
                return ""
            yield

    def match(self, pattern: Pattern, last: Pattern | None = None) -> Step[Match | None]:
        """Take what `pattern` matches here; return None, and take nothing, if it does not match.

        The pattern must have a bounded length, for it is tried again whenever more text has come.  At the end of the
        text `last` replaces it.
        """
        found = yield from self.peek_match(pattern, last)
        if found is not None:
            self.take(found.end() - found.start())
        return found

    def match_end(self, pattern: Pattern, last: Pattern | None = None) -> Step[Match | None]:
        """Do the same as `match`, and take all that is left if the end of the text cuts what would match."""
        found = yield from self.match(pattern, last)
        if found is None and self.is_cut_off(pattern):
            self.take_rest()
        return found

    def peek_match(self, pattern: Pattern, last: Pattern | None = None) -> Step[Match | None]:
        """Do the same as `match`, but take nothing."""
        while not self.final:
            found = pattern.match(self.buffer, self.at, partial=True)
            if found is None or not found.partial:
                return found
            yield
        return (last or pattern).match(self.buffer, self.at)

    def is_cut_off(self, pattern: Pattern) -> bool:
        """Whether the text ends within what `pattern` would match here."""
        if not self.final or self.at >= len(self.buffer):
            return False
        found = pattern.match(self.buffer, self.at, partial=True)
        return found is not None and found.partial

    def find(self, markers: MarkerSet) -> MarkerMatch | None:
        """Find the next of these markers, or the beginning of one at the end of the text, as their own search does.

        No stretch is searched again: a value may end long before the next marker, and each of many values would be
        searched up to there.
        """
        text, at = self.buffer, self.at
        searched = None if self._searched is None else self._searched.get(markers)
        if searched is not None and searched.covers(text, at):
            return searched.found
        found = markers.search(text, at)
        self._searched = self._searched or {}
        self._searched[markers] = _Searched(text, at, found)
        return found

    def read_until(self, markers: MarkerSet, tell: Callable[[str], object], least: int = sys.maxsize) -> Step[str]:
        """Pass the text up to the next marker to `tell` as it comes; return the marker, not taken, or "" at the end.

        Nothing is held back but the beginning of a marker at the end of what has come.  If the end of the text cuts a
        marker, and it has `least` characters or more, it is dropped.
        """

        def go_on(text: str, _: Reader) -> str | None:
            if markers.search(text) is not None:
                return text
            tell(text)
            return None

        while True:
            found = markers.search(self.buffer, self.at)
            self._pass_on(len(self.buffer) if found is None else found.start(), tell)
            if found is not None and markers.is_complete(found, self.final):
                return found[0]
            if self.final:
                if found is None:
                    return ""
                if len(found[0]) >= least:
                    self.take_rest()
                    return ""
                tell(self.take(1))  # a shorter beginning is text
                continue
            self.fast_path = go_on if self._kept is None and self.at == len(self.buffer) else None
            yield
            self.fast_path = None

    def _pass_on(self, end: int, tell: Callable[[str], object]) -> None:
        """Take the text up to `end`: never more at once than may be kept, for what is told may be kept no longer."""
        while self.at < end:
            size = end - self.at
            if self._kept is not None and self._most is not None:
                size = min(size, max(1, self._most - self._kept.tell()))
            tell(self.take(size))


class _Searched(NamedTuple):
    """What was found in a text from `at` on."""

    text: str
    at: int
    found: MarkerMatch | None

    def covers(self, text: str, at: int) -> bool:
        """Whether the same is found in this text from here on."""
        return text is self.text and at >= self.at and (self.found is None or at <= self.found.start())


class Tape:
    """Keeps the text of calls that were reported as they came: if they are revoked, it is given back.

    A stretch of the text begins before each call that may come.  It is kept if the call is reported in it.  `pieces`
    are what has come since it began.
    """

    __slots__ = ("_at", "_buffer", "_is_lost", "_is_whole", "_joined", "_kept", "_most", "has_call", "pieces")

    def __init__(self, most_kept: int) -> None:
        self.pieces: list[str] = []
        self.has_call: bool = False  # a call was reported in the stretch
        self._most = most_kept
        self._kept: StringIO | None = None
        self._is_lost = False  # it would be more than `most_kept` characters
        self._buffer, self._at = "", 0
        self._joined: StringIO | None = None  # many pieces
        self._is_whole = True  # the stretch is not too long to be kept

    def restart(self, buffer: str, at: int, passed_on: str = "") -> None:
        """Begin another stretch, at the text that is still to be read.

        `passed_on`: text at the end of the stretch before that was passed on as text.
        """
        if self.has_call:
            self.has_call = False
            self.keep(self._read_stretch(len(buffer) - at).removesuffix(passed_on) if self._is_whole else None)
        self._buffer, self._at = buffer, at
        self._joined, self._is_whole = None, True
        self.pieces.clear()

    def keep(self, text: str | None) -> None:
        """Keep the text of a call; None: it is too long."""
        kept = self._kept or StringIO()
        self._is_lost = self._is_lost or text is None or kept.tell() + len(text) > self._most
        self._kept = None
        if not self._is_lost and text is not None:
            kept.write(text)
            self._kept = kept

    def trim(self) -> None:
        """Join many pieces.  A caller that adds many calls this now and then."""
        if self._is_whole:
            self._joined = self._joined or StringIO()
            self._joined.write("".join(self.pieces))
            # Some of it may still be unread, and not belong to the call: what counts is decided at its end.
            self._is_whole = self._joined.tell() <= self._most + _MUCH
        if not self._is_whole:
            self._joined = None
        self.pieces.clear()

    def give_back(self) -> str | None:
        """Return all that was kept, and keep nothing of it; None if it was too long."""
        kept, is_lost = self._kept, self._is_lost
        self._kept, self._is_lost = None, False
        return None if is_lost else "" if kept is None else kept.getvalue()

    def _read_stretch(self, unread: int) -> str:
        text, at = self._buffer, self._at
        if self.pieces or self._joined is not None:
            joined = "" if self._joined is None else self._joined.getvalue()
            text, at = "".join((text[at:], joined, *self.pieces)), 0
        return text[at : len(text) - unread]


class RescanBudget:
    """Counts the characters, and the markers, that were looked at in vain.

    Usually only the marker is passed over.  If one look went far, or if too much was looked at again, all that was
    looked at is passed over.
    """

    __slots__ = ("again", "ahead", "most_vain", "vain")

    def __init__(self, most_vain: int = sys.maxsize) -> None:
        # How many of the next characters were looked at in vain.  Whoever passes some on or drops them subtracts them.
        self.ahead: int = 0
        self.again: int = 0  # how much of that was looked at more than once
        self.vain: int = 0  # markers that opened no call, since the last call
        self.most_vain: int = most_vain

    def spend(self, looked: int) -> int:
        """Note what was looked at in vain; return how much to pass over, or 0 if only the marker."""
        if self.ahead > 0:
            self.again += min(looked, self.ahead)
        else:
            self.again = 0
        self.ahead = max(self.ahead, looked)
        return self.ahead if looked >= _MUCH or self.again > _MOST_AGAIN else 0

    def spend_marker(self) -> bool:
        """Note a marker that opened no call; return whether it is the first one too many."""
        self.vain += 1
        return self.vain == self.most_vain + 1

    def restart(self) -> None:
        """A call was found."""
        self.ahead = self.vain = 0
