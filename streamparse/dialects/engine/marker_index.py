"""Markers that are looked up: the built-in ones in one index, those of a request's tools by the tools' names.

`Markers` compiles its literals.  For the two hundred of all dialects, with the names of tools among them, that costs as
much as reading thousands of pieces of text.  Here a small pattern finds where a marker may stand, and dictionaries say
whether one does.  What is found is the same.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import Final

from streamparse.dialects.engine.marker_filter import TAGS, Find, any_tag_filter, are_words, name_filters, trie_filter
from streamparse.dialects.engine.markers import Place

__all__ = ["Found", "IndexedMarkers", "Literal", "MarkerIndex", "Tags", "ToolNames", "index_of"]

_WINDOW: Final = 256  # characters that are searched at once


class Found:
    """Where a marker stands, or the beginning of one at the end of the text: what is asked of an `re.Match`."""

    __slots__ = ("_end", "_start", "begins", "string")

    def __init__(self, string: str, start: int, end: int, begins: bool = False) -> None:
        self.string = string
        self.begins = begins
        """Whether it is the beginning of a marker, though it may be whole, too."""
        self._start = start
        self._end = end

    def __getitem__(self, group: int, /) -> str:
        if group:
            raise IndexError("no such group")
        return self.string[self._start : self._end]

    def start(self) -> int:
        """Where it begins."""
        return self._start

    def end(self) -> int:
        """Where it ends."""
        return self._end


class MarkerIndex:
    """Says which of some literals stands at a place."""

    __slots__ = ("_lengths", "_single", "beginnings", "literals", "longest")

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = frozenset(literals) - {""}
        self.longest = max(map(len, self.literals), default=0)
        self.beginnings = frozenset(literal[:size] for literal in self.literals for size in range(1, len(literal)))
        """Where a literal has begun, and is not whole."""
        self._single = frozenset(literal for literal in self.literals if len(literal) == 1)
        lengths: dict[str, set[int]] = {}
        for literal in self.literals - self._single:
            lengths.setdefault(literal[:2], set()).add(len(literal))
        self._lengths = {start: sorted(sizes, reverse=True) for start, sizes in lengths.items()}

    def match(self, head: str) -> int:
        """The length of the longest literal that a text begins with, 0 if it begins with none."""
        for size in self._lengths.get(head[:2], ()):
            literal = head[:size]  # it may be shorter, at the end of the text
            if literal in self.literals:
                return len(literal)
        return 1 if head[:1] in self._single else 0


class ToolNames:
    """Says which name of a tool stands at a place."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names
        self.longest = max(map(len, names), default=0)
        self.are_words = are_words(names)
        self._finds: dict[tuple[str, ...], tuple[Find, ...]] = {}

    def finds(self, leads: tuple[str, ...]) -> tuple[Find, ...]:
        """Searches that together find where a name behind one of the leads may stand."""
        if leads not in self._finds:
            self._finds[leads] = name_filters(leads, self.names)
        return self._finds[leads]

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted(set(map(len, self.names)), reverse=True)

    @cached_property
    def _ordered(self) -> list[str]:
        return sorted(self.names)

    def match(self, head: str) -> int:
        """The length of the longest name that a text begins with, 0 if it begins with none."""
        for size in self._lengths:
            name = head[:size]  # it may be shorter, at the end of the text
            if name in self.names:
                return len(name)
        return 0

    def begins(self, head: str) -> bool:
        """Whether `head`, which may be empty, is the beginning of a name, and not all of it."""
        at = bisect_right(self._ordered, head)
        return at < len(self._ordered) and self._ordered[at].startswith(head)


class IndexedMarkers:
    """A set of markers to look for: the literals of some indexes, and the names of tools behind each of `leads`."""

    __slots__ = ("_finds", "_indexes", "_leads", "_longest", "_tools", "may_hold")

    def __init__(
        self, indexes: tuple[MarkerIndex, ...], universe: frozenset[str], leads: tuple[str, ...], tools: ToolNames
    ) -> None:
        """`universe` holds the literals of all sets that are searched in one way; more than these cost a pattern."""
        for index in indexes:
            if not index.literals <= universe:
                universe |= index.literals
        self._indexes = tuple(index for index in indexes if index.literals)
        self._leads = leads if tools.names else ()
        self._tools = tools
        self._finds = (trie_filter(universe), *tools.finds(self._leads))
        self._longest = max(
            *(index.longest for index in indexes), *(len(lead) + tools.longest for lead in self._leads), 0, 0
        )
        self.may_hold: Callable[[str], Place | None] = self.search
        """`may_hold(text)`: None if `search(text)` is None; quick, and now and then not None though that is."""
        if not self._leads:
            self.may_hold = self._finds[0]
        elif tools.are_words and "" not in self._leads:
            self.may_hold = any_tag_filter(universe, frozenset(self._leads) - TAGS)

    @property
    def literals(self) -> frozenset[str]:
        """All markers."""
        named = {lead + name for lead in self._leads for name in self._tools.names}
        return frozenset(named).union(*(index.literals for index in self._indexes))

    def search(self, text: str, pos: int = 0) -> Found | None:
        """Return the next marker, or the beginning of one at the end of the text."""
        if len(self._finds) > 1:
            return self._search_both(text, pos)
        find = self._finds[0]
        while (place := find(text, pos)) is not None:
            pos = place.start()
            if size := self._size(text[pos : pos + self._longest]):
                return Found(text, pos, pos + size) if size > 0 else Found(text, pos, len(text), True)
            pos += 1
        return None

    def _search_both(self, text: str, pos: int) -> Found | None:
        """The same with several searches: each stops soon, or all would go to the end for every marker of another."""
        size = len(text)
        while pos < size:
            place, stop = None, min(size, pos + _WINDOW)
            for find in self._finds:
                found = find(text, pos, stop)
                if found is not None:
                    place, stop = found, found.start()
            if place is None:
                pos = stop
            elif length := self._size(text[stop : stop + self._longest]):
                return Found(text, stop, stop + length) if length > 0 else Found(text, stop, size, True)
            else:
                pos = stop + 1
        return None

    def _size(self, head: str) -> int:
        """The length of the marker that a text begins with, 0 if it begins with none.

        -1 if it is the beginning of a marker: `head`, shorter than the longest marker, is then all that has come.
        """
        if len(head) < self._longest and self._begins(head):
            return -1
        return self._match(head)

    def whole(self, match: Found, final: bool) -> bool:
        """Whether a match is a marker, and not perhaps the beginning of a longer one that is still to come."""
        return not match.begins or (final and self._match(match[0]) == len(match[0]))

    def _match(self, head: str) -> int:
        """The length of the longest marker that a text begins with, 0 if it begins with none."""
        longest = 0
        for index in self._indexes:
            if (size := index.match(head)) > longest:
                longest = size
        for lead in self._leads:
            if head.startswith(lead) and (size := self._tools.match(head[len(lead) :])):
                longest = max(longest, len(lead) + size)
        return longest

    def _begins(self, head: str) -> bool:
        """Whether `head` is the beginning of a marker, and not all of it."""
        for index in self._indexes:
            if head in index.beginnings:
                return True
        for lead in self._leads:
            if self._tools.begins(head[len(lead) :]) if head.startswith(lead) else lead.startswith(head):
                return True
        return False


@lru_cache(maxsize=256)
def index_of(literals: frozenset[str]) -> MarkerIndex:
    """The index of these literals, which is made once."""
    return MarkerIndex(literals)


class Tags:
    """Markers that all begin with `<`, without a pattern: for a few, some of which a request makes."""

    __slots__ = ("_longest", "literals")

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = tuple(literals)
        self._longest = max(map(len, self.literals))

    def search(self, text: str, pos: int = 0) -> Found | None:
        """Return the next marker, or the beginning of one at the end of the text."""
        at = text.find("<", pos)
        while at >= 0:
            rest = text[at : at + self._longest]
            for literal in self.literals:
                if rest.startswith(literal):
                    return Found(text, at, at + len(literal))
                if len(rest) == len(text) - at and literal.startswith(rest):
                    return Found(text, at, len(text), True)
            at = text.find("<", at + 1)
        return None

    def whole(self, match: Found, final: bool) -> bool:  # noqa: ARG002 - as with other markers
        """Whether a match is a whole marker."""
        return not match.begins


class Literal:
    """One marker to look for, without a pattern of its own: for one that a request makes."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def search(self, text: str, pos: int = 0) -> Found | None:
        """Return where it stands next, or begins to at the end of the text."""
        literal = self._text
        at = text.find(literal, pos)
        if at >= 0:
            return Found(text, at, at + len(literal))
        at = text.find(literal[0], max(pos, len(text) - len(literal) + 1))
        while at >= 0 and not literal.startswith(text[at:]):
            at = text.find(literal[0], at + 1)
        return Found(text, at, len(text)) if at >= 0 else None

    def whole(self, match: Found, final: bool) -> bool:  # noqa: ARG002 - as with other markers
        """Whether a match is the whole marker."""
        return match[0] == self._text
