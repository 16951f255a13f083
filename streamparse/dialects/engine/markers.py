"""Finding markers in text that arrives in pieces.

One compiled alternation finds the next whole marker, or a marker's beginning at the end of the text; its
branches each begin with a literal character, so that `re` skips prose at the speed of `memchr`.  The cost
is linear on floods of false starts, for no branch repeats.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Any, Literal, Protocol

__all__ = ["GAP", "MarkerSet", "Markers", "Place", "Stops", "any_of"]

GAP = r"[ \t\r\n]{0,64}+"
"""A pattern of the white space that may stand between the parts of a call."""


class Place(Protocol):
    """Where a marker stands: what is asked of an `re.Match`."""

    @property
    def string(self) -> str:
        """The text that was searched."""

    def __getitem__(self, group: Literal[0], /) -> str: ...

    def start(self) -> int:
        """Where it begins."""

    def end(self) -> int:
        """Where it ends."""


class MarkerSet(Protocol):
    """A set of markers to look for, compiled or not."""

    def search(self, text: str, pos: int = 0, /) -> Place | None:
        """Return the next marker, or the beginning of one at the end of the text."""

    def whole(self, match: Any, final: bool, /) -> bool:
        """Whether a match is a marker, and not perhaps the beginning of a longer one that is still to come."""


class Stops(MarkerSet, Protocol):
    """The markers of one format, which are known."""

    @property
    def literals(self) -> Collection[str]:
        """All of them."""


class Markers:
    """A set of literal markers to look for, compiled: for the few of one format."""

    __slots__ = ("_prefixes", "literals", "search")

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = frozenset(literals)
        self._prefixes = frozenset(marker[:size] for marker in self.literals for size in range(1, len(marker)))
        self.search = re.compile(_alternation(self.literals)).search
        """`search(text, pos)`: a match of the next marker, or of the beginning of one at the end of the text."""

    def whole(self, match: re.Match[str], final: bool) -> bool:
        """Whether a match is a marker, and not perhaps the beginning of a longer one that is still to come."""
        found = match[0]
        if not final and match.end() == len(match.string) and found in self._prefixes:
            return False
        return found in self.literals


def any_of(literals: Iterable[str]) -> str:
    """A pattern of any of the literals, the longest first; of none, one that never matches."""
    return "(?:" + ("|".join(re.escape(literal) for literal in sorted(literals, key=len, reverse=True)) or "(?!)") + ")"


def _alternation(literals: Iterable[str]) -> str:
    by_first: dict[str, list[str]] = {}
    for literal in sorted(literals, key=lambda marker: (-len(marker), marker)):
        by_first.setdefault(literal[0], []).append(literal[1:])
    if not by_first:
        return r"(?!)"
    return "|".join(re.escape(first) + _branches(rests) for first, rests in sorted(by_first.items()))


def _branches(rests: list[str]) -> str:
    """Beginnings at the end of the text come first: more may follow, and make a longer marker of it."""
    whole = "|".join(re.escape(rest) for rest in rests)
    return rf"(?:(?:{_beginnings(rests)})\Z|{whole})"


def _beginnings(rests: Iterable[str]) -> str:
    """A pattern of every proper beginning (the empty one too) of the given strings, as a trie."""
    by_first: dict[str, list[str]] = {}
    for rest in rests:
        if len(rest) > 1:
            by_first.setdefault(rest[0], []).append(rest[1:])
    if not by_first:
        return ""
    inner = "|".join(re.escape(first) + f"(?:{_beginnings(tails)})" for first, tails in sorted(by_first.items()))
    return f"(?:{inner})?"
