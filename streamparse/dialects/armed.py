"""Which markers are looked for: a set of dialects, and where in the answer each of their openers counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from streamparse.dialects.grammar import Dialect, Opener, Thought
from streamparse.dialects.markers import Markers
from streamparse.dialects.table import DIALECTS, THOUGHTS
from streamparse.tools import Toolset

__all__ = ["Armed"]


class Armed:
    """The openers of the chosen dialects, and the markers that are passed over.

    Named dialects count wherever their markers may stand.  With `"auto"` all of them are armed, the
    ambiguous openers only for declared tools, and most of these only at the start of the message.
    """

    def __init__(self, dialects: Iterable[str] | Literal["auto"], tools: Toolset, thoughts: bool) -> None:
        self._auto = dialects == "auto"
        names = tuple(DIALECTS) if self._auto else tuple([dialects] if isinstance(dialects, str) else dialects)
        unknown = [name for name in names if name not in DIALECTS]
        if unknown:
            raise ValueError(f"unknown dialect {unknown[0]!r}; known are: {', '.join(DIALECTS)}")
        self.thoughts = {marker: thought for thought in THOUGHTS.values() for marker in thought.opens if thoughts}
        self.any_thought = Thought("any", (), tuple(m for thought in THOUGHTS.values() for m in thought.closes))
        self._openers = _openers(names, self._auto, tools)
        self._started = [m for m, rows in self._openers.items() if any(not self._early(opener) for _, opener in rows)]
        self._ending = tuple(
            marker
            for marker in self._started
            if any(dialect.in_thought == "ends" for dialect, _ in self._openers[marker])
        )
        self.drops: frozenset[str] = frozenset()
        self._look_for(() if self._auto else [marker for name in names for marker in DIALECTS[name].drops])

    def found(self, dialect: Dialect) -> None:
        """A dialect produced a call: what is structure in it is structure from now on."""
        if not self.drops.issuperset(dialect.drops):
            self._look_for(dialect.drops)

    def in_thought(self, thought: Thought) -> Markers:
        """The markers that count inside of an open thought."""
        return _markers((*thought.closes, *self._ending))

    def candidates(
        self, marker: str, at_start: bool, at_edge: bool, at_line: bool
    ) -> list[tuple[Dialect, bool, bool]]:
        """The dialects that may read what follows a marker here: each with `inclusive` and `declared`."""
        return [
            (dialect, opener.inclusive, opener.declared or (self._auto and opener.auto in ("declared", "start")))
            for dialect, opener in self._openers.get(marker, ())
            if (at_start or not self._early(opener)) and (at_line or opener.placed == "anywhere")
            if at_edge or opener.placed != "edge"
        ]

    def _look_for(self, drops: Iterable[str]) -> None:
        self.drops = self.drops.union(drops)
        self.at_start = _markers((*self._openers, *self.thoughts, *self.drops))
        self.later = _markers((*self._started, *self.thoughts, *self.drops))

    def _early(self, opener: Opener) -> bool:
        """Whether an opener counts only before all other text."""
        return opener.placed == "start" or (self._auto and opener.auto == "start")


def _openers(names: tuple[str, ...], auto: bool, tools: Toolset) -> dict[str, list[tuple[Dialect, Opener]]]:
    found: dict[str, list[tuple[Dialect, Opener]]] = {}
    for name in names:
        for row in DIALECTS[name].openers:
            if not auto or row.auto == "armed" or (tools and row.auto != "named"):
                for opener in _spelled(row, tools):
                    found.setdefault(opener.text, []).append((DIALECTS[name], opener))
    return found


def _spelled(opener: Opener, tools: Toolset) -> Iterator[Opener]:
    if not opener.each_tool:
        yield opener
    else:
        yield from (replace(opener, text=name) for name in tools if name)


def _markers(literals: tuple[str, ...]) -> Markers:
    return _compiled(frozenset(literals) - {""})


@lru_cache(maxsize=64)
def _compiled(literals: frozenset[str]) -> Markers:
    return Markers(literals)
