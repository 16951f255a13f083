"""Which markers are looked for: a set of dialects, and where in the answer each of their openers counts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from streamparse.dialects.grammar import Dialect, Opener, Thought
from streamparse.dialects.markers import Markers
from streamparse.dialects.table import DIALECTS, THOUGHTS
from streamparse.tools import Toolset

__all__ = ["Armed"]


class Armed:
    """The openers of the chosen dialects.

    Named dialects count wherever their markers may stand.  With `"auto"` all of them are armed, the
    ambiguous openers only at the start of the message and only for declared tools.
    """

    def __init__(self, dialects: Iterable[str] | Literal["auto"], tools: Toolset, thoughts: bool) -> None:
        self._auto = dialects == "auto"
        names = tuple(DIALECTS) if self._auto else tuple([dialects] if isinstance(dialects, str) else dialects)
        unknown = [name for name in names if name not in DIALECTS]
        if unknown:
            raise ValueError(f"unknown dialect {unknown[0]!r}; known are: {', '.join(DIALECTS)}")
        self.thoughts = {marker: thought for thought in THOUGHTS.values() for marker in thought.opens if thoughts}
        self.any_thought = Thought("any", (), tuple(m for thought in THOUGHTS.values() for m in thought.closes))
        self._openers = _openers(names, self._auto, bool(tools))
        started = [marker for marker, rows in self._openers.items() if any(not self._early(o) for _, o in rows)]
        self.at_start = _markers((*self._openers, *self.thoughts))
        self.later = _markers((*started, *self.thoughts))
        self._ending = tuple(
            marker for marker in started if any(dialect.in_thought == "ends" for dialect, _ in self._openers[marker])
        )

    def in_thought(self, thought: Thought) -> Markers:
        """The markers that count inside of an open thought."""
        return _markers((*thought.closes, *self._ending))

    def candidates(self, marker: str, at_start: bool, at_line: bool) -> list[tuple[Dialect, bool, bool]]:
        """The dialects that may read what follows a marker here: each with `inclusive` and `declared`."""
        return [
            (dialect, opener.inclusive, self._auto and opener.auto == "start")
            for dialect, opener in self._openers.get(marker, ())
            if (at_start or not self._early(opener)) and (at_line or opener.placed == "anywhere")
        ]

    def _early(self, opener: Opener) -> bool:
        """Whether an opener counts only before all other text."""
        return opener.placed == "start" or (self._auto and opener.auto == "start")


def _openers(names: tuple[str, ...], auto: bool, tools: bool) -> dict[str, list[tuple[Dialect, Opener]]]:
    found: dict[str, list[tuple[Dialect, Opener]]] = {}
    for name in names:
        for opener in DIALECTS[name].openers:
            if tools or not auto or opener.auto == "armed":
                found.setdefault(opener.text, []).append((DIALECTS[name], opener))
    return found


def _markers(literals: tuple[str, ...]) -> Markers:
    return _compiled(frozenset(literals))


@lru_cache(maxsize=64)
def _compiled(literals: frozenset[str]) -> Markers:
    return Markers(literals)
