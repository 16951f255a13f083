"""Finding markers in text that arrives in pieces.

There are two ways, for two kinds of sets.  Both skip prose at the speed of `re`, which looks for the first character of
a marker with `memchr`.  Both are linear on floods of false starts, for no branch of a pattern repeats.

`Markers` is for the few markers of one format, known when the format is defined.  It compiles them: one alternation
finds the next whole marker, or the beginning of one at the end of the text.

`IndexedMarkers` is for the two hundred markers of all dialects, with the names of a request's tools among them.  To
compile these would cost as much as reading thousands of pieces of text.  So a small pattern finds where a marker may
start, and dictionaries say whether one does.  The small patterns (`compile_trie_filter` and its relatives)
look at the first few characters alone, and say yes a little too often.  Those of the built-in markers are compiled
once in a process.  Those of tools know only which characters may come at each of the first places of a name, so they
are small however many tools there are.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from itertools import takewhile
from typing import Any, Final, Literal, Protocol

import msgspec

from streamparse.dialects.engine.marker_filters import (
    TAGS,
    WORD,
    Columns,
    Find,
    FirstFilter,
    compile_first_filters,
    compile_first_name_filters,
    compile_name_filters,
    compile_tag_filter,
    compile_trie_filter,
    group_by_first,
    list_columns,
)

# A pattern of the white space that may be between the parts of a call.
GAP = r"[ \t\r\n]{0,64}+"

_WINDOW: Final = 256  # bound: characters that each filter looks at once more for what another one finds
_LONG: Final = 1024  # bench: characters of a text in which prose is skipped
_FIRST_WINDOW: Final = 1024  # bound: characters that are looked at for a marker near the beginning
_KEY: Final = 6  # bench: characters of a long literal that it is looked up by
_MOST_KNOWN: Final = 64  # bound: characters of a text that may come again
_MOST_TEXTS: Final = 256  # bound: such texts that are kept


class MarkerMatch(Protocol):
    """Where a marker is: the part of `re.Match` that is used."""

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

    def search(self, text: str, pos: int = 0, /) -> MarkerMatch | None:
        """Return the next marker, or the beginning of one at the end of the text."""

    def is_complete(self, match: Any, final: bool, /) -> bool:
        """Whether a match is a marker, and not perhaps the beginning of a longer one.  `final`: no more text comes."""


class Stops(MarkerSet, Protocol):
    """The markers that end something in one format."""

    @property
    def literals(self) -> Collection[str]:
        """All of the markers."""


class Found(msgspec.Struct, eq=False, gc=False):
    """Where a marker is, or the beginning of one at the end of the text: a `MarkerMatch`."""

    string: str
    begin: int
    stop: int
    # Whether it may be the beginning of a longer marker; it may also be a marker itself.
    is_beginning: bool = False

    def __getitem__(self, group: Literal[0], /) -> str:
        return self.string[self.begin : self.stop]

    def start(self) -> int:
        """Where it begins."""
        return self.begin

    def end(self) -> int:
        """Where it ends."""
        return self.stop


class Markers:
    """A few literal markers, compiled at the first search."""

    __slots__ = ("_prefixes", "literals", "search")

    search: Find
    """`search(text, pos)`: a match of the next marker, or of the beginning of one at the end of the text."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals: frozenset[str] = frozenset(literals)
        self._prefixes = frozenset(marker[:size] for marker in self.literals for size in range(1, len(marker)))

    def __getattr__(self, name: str) -> Find:
        if name != "search":
            raise AttributeError(name)
        self.search = re.compile(_write_alternation(self.literals)).search
        return self.search

    def is_complete(self, match: re.Match[str], final: bool) -> bool:
        """Whether a match is a marker, and not perhaps the beginning of a longer one.  `final`: no more text comes."""
        found = match[0]
        if not final and match.end() == len(match.string) and found in self._prefixes:
            return False
        return found in self.literals


@lru_cache(maxsize=512)
def compile_markers(*literals: str) -> Markers:
    """Return these markers, which are compiled once."""
    return Markers(literals)


def write_any(literals: Iterable[str]) -> str:
    """A pattern of any of the literals, each before those that it begins with; of none, one that never matches."""
    return "(?:" + ("|".join(map(re.escape, sorted(literals, reverse=True))) or "(?!)") + ")"


def _write_alternation(literals: Iterable[str]) -> str:
    by_first = group_by_first(sorted(literals, key=lambda marker: (-len(marker), marker)))
    return "|".join(re.escape(first) + _write_branches(rests) for first, rests in by_first) or "(?!)"


def _write_branches(rests: list[str]) -> str:
    # Beginnings at the end of the text come first: more may follow, and make a longer marker of it.
    whole = "|".join(re.escape(rest) for rest in rests)
    return rf"(?:(?:{_write_beginnings(rests)})\Z|{whole})"


def _write_beginnings(rests: Iterable[str]) -> str:
    """A pattern of every proper beginning (the empty one too) of the given strings, as a trie."""
    by_first = group_by_first(rest for rest in rests if len(rest) > 1)
    inner = "|".join(re.escape(first) + f"(?:{_write_beginnings(tails)})" for first, tails in by_first)
    return f"(?:{inner})?" if inner else ""


class MarkerIndex:
    """Looks up which of some literals a text begins with."""

    __slots__ = ("_beginnings", "_lengths", "_single", "literals", "longest")

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals: frozenset[str] = frozenset(literals) - {""}
        ordered = sorted(self.literals, key=len)
        self.longest: int = len(ordered[-1]) if ordered else 0
        self._single = frozenset(takewhile(lambda literal: len(literal) == 1, ordered))
        # Many literals share their first two characters, few the first six: the more are known, the fewer are tried.
        # The sizes of those with the same start, the longest first.
        self._lengths: dict[str, tuple[int, ...]] = {}
        lengths = self._lengths
        for literal in ordered:
            size = len(literal)
            start = literal[:_KEY] if size >= _KEY else literal[:2]
            sizes = lengths.get(start)
            if sizes is None:
                lengths[start] = (size,)
            elif size != sizes[0]:
                lengths[start] = (size, *sizes)
        self._beginnings: frozenset[str] | None = None

    def is_beginning(self, head: str) -> bool:
        """Whether `head` is the beginning of a literal, and not all of it."""
        if self._beginnings is None:
            self._beginnings = frozenset(each[:size] for each in self.literals for size in range(1, len(each)))
        return head in self._beginnings

    def match(self, head: str) -> int:
        """The length of the longest literal that a text begins with, 0 if it begins with none."""
        for start in (head[:_KEY], head[:2]):
            for size in self._lengths.get(start, ()):
                literal = head[:size]  # shorter at the end of the text
                if literal in self.literals:
                    return len(literal)
        return 1 if head[:1] in self._single else 0


class ToolNames(MarkerIndex):
    """Looks up which name of a tool a text begins with.

    Their beginnings are not kept in a set, for there may be thousands of names, and they change with the request.
    """

    __slots__ = ("_ordered", "are_words", "columns")

    def __init__(self, names: frozenset[str]) -> None:
        super().__init__(names)
        self._ordered: list[str] = []
        # Whether each name begins as a word, so that a search for any tag finds its tag.
        self.are_words: bool = WORD.issuperset({name[0] for name in names})
        self.columns: Columns = list_columns(names)

    def is_beginning(self, head: str) -> bool:
        """Whether `head`, which may be empty, is the beginning of a name, and not all of it."""
        if not self._ordered:
            self._ordered = sorted(self.literals)
        at = bisect_right(self._ordered, head)
        return at < len(self._ordered) and self._ordered[at].startswith(head)


class IndexedMarkers:
    """A set of markers to look for: the literals of some indexes, and the names of tools after each of `leads`."""

    __slots__ = (
        *("_by_first", "_finds", "_index", "_known", "_leads", "_longest", "_may_hold", "_name_finds", "_tools"),
        "_universe",
    )

    def __init__(
        self, indexes: tuple[MarkerIndex, ...], universe: frozenset[str], leads: tuple[str, ...], tools: ToolNames
    ) -> None:
        """`universe`: the literals of all sets that share a filter.  Others cost a pattern of their own."""
        self._index = _join_indexes(tuple(index for index in indexes if index.literals))
        self._leads = leads if tools.literals else ()
        own = self._index.literals
        universe = unite(universe, own) if own else own  # without literals none of it is looked for
        self._tools = tools
        self._universe = universe
        self._by_first: tuple[FirstFilter, ...] = ()
        self._known: dict[str, bool] = {}  # whether texts that looked as if they had a marker have none
        # Filters for the universe are compiled when they are needed: a process may never need them.
        self._finds: tuple[Find, ...] = ()
        self._may_hold: Find | None = None
        self._name_finds = compile_name_filters(self._leads, tools.columns) if self._leads else ()
        self._longest = max(self._index.longest, max(map(len, self._leads), default=0) + tools.longest)

    @property
    def may_hold(self) -> Callable[[str], MarkerMatch | None]:
        """A search that is quicker than `search`.  None only if that is None; else there may be no marker."""
        return self._get_quick_filter() or self.search

    def _get_quick_filter(self) -> Find | None:
        if self._may_hold is None:
            if not self._leads:
                self._may_hold = compile_trie_filter(self._universe)
            elif self._tools.are_words and "" not in self._leads:
                self._may_hold = compile_tag_filter(self._universe, frozenset(self._leads) - TAGS)
        return self._may_hold

    @property
    def literals(self) -> frozenset[str]:
        """All markers."""
        return self._index.literals.union(lead + name for lead in self._leads for name in self._tools.literals)

    def is_known_without(self, text: str) -> bool:
        """Whether there is no marker in a text, nor the beginning of one at its end; short texts come again."""
        is_without = self._known.get(text)
        if is_without is None:
            is_without = self.search(text) is None
            if len(text) <= _MOST_KNOWN:
                if len(self._known) >= _MOST_TEXTS:
                    self._known.clear()
                self._known[text] = is_without
        return is_without

    def search(self, text: str, pos: int = 0) -> Found | None:
        """Return the next marker, or the beginning of one at the end of the text."""
        if len(text) - pos >= self._longest and (size := self._match(text[pos : pos + self._longest])):
            return Found(text, pos, pos + size)  # a model that is stuck writes one marker after the other
        if len(text) - pos > _LONG:
            pos = self._skip_prose(text, pos)
        finds = self._finds or self._compile_filters(text, pos)
        # Without windows, each filter would run to the end of the text for every marker that another one finds.
        window = _WINDOW if len(finds) > 1 else len(text)
        while finds and pos < len(text):
            place, stop = None, min(len(text), pos + window)
            for find in finds:
                found = find(text, pos, stop)
                if found is not None:
                    place, stop = found, found.start()
            if place is None:
                pos = stop
            elif size := self._measure(text[stop : stop + self._longest]):
                return Found(text, stop, stop + abs(size), is_beginning=size < 0)
            else:
                pos = stop + 1
        return None

    def _compile_filters(self, text: str, pos: int) -> tuple[Find, ...]:
        quick = self._get_quick_filter()
        if quick is not None and quick(text, pos) is None:
            return ()  # and the larger filter need not be compiled yet
        self._finds = (compile_trie_filter(self._universe), *self._name_finds)
        return self._finds

    def _skip_prose(self, text: str, pos: int) -> int:
        """Return the first place in a long text where a marker may be, or the length of the text.

        There is a filter for each character that a marker may begin with.  Together they take less time than the one
        filter for all, for each looks for its character as quickly as `str.find` does.
        """
        if not self._by_first:
            by_first = compile_first_name_filters(self._leads, self._tools.columns) if self._leads else ()
            self._by_first = compile_first_filters(self._universe) + by_first
        window = _FIRST_WINDOW  # which grows, so that a filter runs no further than a few times what is skipped
        while pos < len(text):
            stop = end = min(len(text), pos + window)
            for first, find in self._by_first:
                at = text.find(first, pos, stop)
                if at >= 0 and (found := find(text, at, stop)) is not None:
                    stop = found.start()
            if stop < end:
                return stop
            pos, window = end, 2 * window
        return pos

    def _measure(self, head: str) -> int:
        """The length of the marker that a text begins with; negative if the end of the text may have cut it."""
        if len(head) < self._longest and self._is_beginning(head):  # `head` is then all that has come
            return -len(head)
        return self._match(head)

    def is_complete(self, match: Found, final: bool) -> bool:
        """Whether a match is a marker, and not perhaps the beginning of a longer one.  `final`: no more text comes."""
        return not match.is_beginning or (final and self._match(match[0]) == len(match[0]))

    def find_shorter(self, match: Found) -> str:
        """Return the marker that a match begins with if it is the beginning of a longer one, whose rest does not come.

        "" if there is none.
        """
        return match[0][: self._match(match[0])]

    def _match(self, head: str) -> int:
        """The length of the longest marker that a text begins with, 0 if it begins with none."""
        longest = self._index.match(head)
        for lead in self._leads:
            if head.startswith(lead) and (size := self._tools.match(head[len(lead) :])):
                longest = max(longest, len(lead) + size)
        return longest

    def _is_beginning(self, head: str) -> bool:
        """Whether `head` is the beginning of a marker, and not all of it."""
        if self._index.is_beginning(head):
            return True
        for lead in self._leads:
            if self._tools.is_beginning(head[len(lead) :]) if head.startswith(lead) else lead.startswith(head):
                return True
        return False


@lru_cache(maxsize=256)
def unite(some: frozenset[str], others: frozenset[str]) -> frozenset[str]:
    """Return all of the literals, as one and the same set for the same literals."""
    return some if others <= some else some | others


@lru_cache(maxsize=256)
def get_index(literals: frozenset[str]) -> MarkerIndex:
    """Return the index of these literals, which is built once."""
    return MarkerIndex(literals)


@lru_cache(maxsize=256)
def _join_indexes(indexes: tuple[MarkerIndex, ...]) -> MarkerIndex:
    """One index of all their literals."""
    return indexes[0] if len(indexes) == 1 else MarkerIndex(frozenset().union(*(each.literals for each in indexes)))


class Tags:
    """A few markers that all begin with `<`.  They are not compiled, for some hold a name from the request."""

    __slots__ = ("_longest", "literals")

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals: tuple[str, ...] = tuple(literals)
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
                    return Found(text, at, len(text), is_beginning=True)
            at = text.find("<", at + 1)
        return None

    def is_complete(self, match: Found, final: bool) -> bool:  # noqa: ARG002 - a `MarkerSet`
        return not match.is_beginning
