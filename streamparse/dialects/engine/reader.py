"""The text that a grammar reads, as far as it has come.

A grammar is a generator: it asks the `Reader`, and where the answer depends on text that has not come yet, it
yields and is resumed with more.  What it takes is remembered until it commits itself to a call; if
the marker turns out to be prose, all of it is given back as text.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from io import StringIO
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

from streamparse.dialects.engine.markers import MarkerSet
from streamparse.patterns import gradual

if TYPE_CHECKING:
    import regex

T = TypeVar("T")
Match: TypeAlias = "regex.Match[str]"
Pattern: TypeAlias = "regex.Pattern[str]"
# A piece of a grammar: yields where it needs more text, returns what it read.
Step: TypeAlias = Generator[None, None, T]

_BLANKS = gradual(r"[ \t\r\n]*")
_MUCH: Final = 4096  # characters: a look that took so many is not repeated
_MOST_AGAIN: Final = 8 * _MUCH  # characters that are looked at more than once


class Overflow(Exception):
    """More was taken than may be held before a call is certain; `most` characters may."""

    def __init__(self, most: int) -> None:
        self.most = most


class Reader:
    """A window on the text: `buffer[at:]` has come and is not read yet; after `final` nothing comes."""

    __slots__ = ("_kept", "_most", "_pinned", "at", "buffer", "final", "flow", "stopped")

    def __init__(self) -> None:
        self.buffer = ""
        self.at = 0
        self.final = False
        # Whether the model itself ended the text, and nothing cut it; known at the end.
        self.stopped = False
        # Set while a grammar waits inside of a long value: takes text that continues it, and returns None; or
        # returns what it did not take, for the grammar to go on with.
        self.flow: Callable[[str], str | None] | None = None
        self._kept: StringIO | None = None
        self._most: int | None = None
        self._pinned = False

    @property
    def over(self) -> bool:
        """Whether all text has been read."""
        return self.final and self.at >= len(self.buffer)

    def push(self, text: str) -> None:
        """More text has come."""
        self.buffer = self.buffer[self.at :] + text if self.at < len(self.buffer) else text
        self.at = 0

    def rest(self) -> str:
        """Take back what has come and was not read; the reader is empty then."""
        rest = self.take(len(self.buffer) - self.at) if self._pinned else self.buffer[self.at :]
        self.buffer = ""
        self.at = 0
        return rest

    def put_back(self, text: str) -> None:
        """Put text in front of what is still to be read."""
        if text:
            self.buffer = text + self.buffer[self.at :]
            self.at = 0

    def remember(self, most: int | None = None) -> None:
        """From here on, keep what is taken, for `forgive`; taking more than `most` raises `Overflow`."""
        if not self._pinned:
            self._kept = StringIO()
            self._most = most

    def commit(self) -> None:
        """There is no way back: forget what was taken."""
        if not self._pinned:
            self._kept = None

    def pin(self) -> None:
        """Keep what is taken, whatever a grammar says, until `forgive`."""
        self._pinned = True

    def unpin(self) -> None:
        """From here on a grammar may forget again what is taken."""
        self._pinned = False

    def restart(self) -> str:
        """Return what was taken since `remember`, and keep what is taken from here on."""
        kept = self.kept
        if self._kept is not None:
            self._kept = StringIO()
        return kept

    def forgive(self) -> str:
        """Return what was taken since `remember`, and keep it no longer; not for a grammar, which may be on trial."""
        kept = self.kept
        self._kept = None
        self._pinned = False
        return kept

    @property
    def committed(self) -> bool:
        """Whether what is taken is not kept."""
        return self._kept is None

    @property
    def kept(self) -> str:
        """What was taken since `remember`."""
        return self._kept.getvalue() if self._kept is not None else ""

    def taken(self) -> int:
        """How much is kept."""
        return self._kept.tell() if self._kept is not None else 0

    def rewind(self, to: int) -> None:
        """Un-take what was taken since `taken()` was `to`."""
        if self._kept is None:
            return
        kept = self._kept.getvalue()
        self.put_back(kept[to:])
        self._kept = StringIO()
        self._kept.write(kept[:to])

    def take(self, size: int) -> str:
        """Read the next `size` characters, which have come."""
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

    def blanks(self) -> Step[str]:
        """Take white space; return the next character without taking it, "" at the end."""
        while True:
            blank = _BLANKS.match(self.buffer, self.at)
            assert blank is not None
            if blank[0]:
                self.take(len(blank[0]))
            if self.at < len(self.buffer):
                return self.buffer[self.at]
            if self.final:
                return ""
            yield

    def match(self, pattern: Pattern, last: Pattern | None = None) -> Step[Match | None]:
        """Take what `pattern` matches here; None, and nothing taken, if it does not.

        The pattern's length must be gradual: it is tried again whenever more text has come.  `last` replaces it
        at the end of the text.
        """
        found = yield from self.look(pattern, last)
        if found is not None:
            self.take(found.end() - found.start())
        return found

    def look(self, pattern: Pattern, last: Pattern | None = None) -> Step[Match | None]:
        """As `match`, but take nothing."""
        while not self.final:
            found = pattern.match(self.buffer, self.at, partial=True)
            if found is None or not found.partial:
                return found
            yield
        return (last or pattern).match(self.buffer, self.at)

    def beginning(self, pattern: Pattern) -> bool:
        """Whether the text ends here, inside of what `pattern` matches."""
        if not self.final or self.at >= len(self.buffer):
            return False
        found = pattern.match(self.buffer, self.at, partial=True)
        return found is not None and found.partial

    def until(self, markers: MarkerSet, tell: Callable[[str], object], least: int = sys.maxsize) -> Step[str]:
        """Tell the text up to the next marker as it comes; return the marker, not taken, "" at the end.

        Nothing is held back but the beginning of a marker at the end of what has come.  Of a marker that the end of
        the text cuts, `least` characters or more are no text.
        """

        def flow(text: str) -> str | None:
            if markers.search(text) is not None:
                return text
            tell(text)
            return None

        while True:
            found = markers.search(self.buffer, self.at)
            if found is None:
                if self.at < len(self.buffer):
                    tell(self.take(len(self.buffer) - self.at))
            else:
                if found.start() > self.at:
                    tell(self.take(found.start() - self.at))
                if markers.is_complete(found, self.final):
                    return found[0]
                if self.final and len(found[0]) >= least:
                    self.rest()
                    return ""
                if self.final:  # a beginning that nothing follows is text
                    tell(self.take(1))
                    continue
            if self.final:
                return ""
            self.flow = flow if self._kept is None and self.at == len(self.buffer) else None
            yield
            self.flow = None


class RescanBudget:
    """Counts the characters that were looked at in vain.

    What one look took, if it is much, is passed over, and so is all of it once too much was looked at again.
    """

    __slots__ = ("_again", "ahead")

    def __init__(self) -> None:
        # How many characters of what comes next were looked at in vain: less for each that is passed on or dropped.
        self.ahead = 0
        self._again = 0  # how much of that was looked at more than once

    def spend(self, looked: int) -> int:
        """Note what was looked at in vain; return how much is to be passed over, 0 if only the marker is."""
        self._again = self._again + min(looked, self.ahead) if self.ahead > 0 else 0
        self.ahead = max(self.ahead, looked)
        return self.ahead if looked >= _MUCH or self._again > _MOST_AGAIN else 0
