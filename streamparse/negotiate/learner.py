"""What is learnt of models while they are used: how often each format worked."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import Literal, TypeAlias

import msgspec

from streamparse.negotiate.stores import Record, Store
from streamparse.response import ParsedResponse
from streamparse.stats import Stats

__all__ = ["CapabilityLearner", "Figures", "Outcome", "outcomes_of"]

Outcome: TypeAlias = Literal["parsed", "recovered", "malformed", "unknown_tool"]

DAY = 86_400.0
_WHOLE = ("duplicate_call",)
"""Codes of broken calls that were written well."""
NATIVE = "native"
"""The format of calls that come in fields of their own."""


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """How often a model's calls in one format came out well, and when last."""

    parsed: int = 0
    recovered: int = 0
    malformed: int = 0
    unknown_tool: int = 0
    last: float = 0.0
    """Seconds since the epoch."""

    @property
    def calls(self) -> int:
        """How many calls were seen."""
        return self.parsed + self.recovered + self.malformed + self.unknown_tool

    @property
    def rate(self) -> float | None:
        """The share of calls that could be run, 0 to 1; None before the first."""
        return (self.parsed + self.recovered) / self.calls if self.calls else None


def outcomes_of(
    response: ParsedResponse, stats: Stats, tool_names: frozenset[str] = frozenset()
) -> Counter[tuple[str, Outcome]]:
    """Count the calls of an answer by format (`native`, or a dialect) and outcome."""
    text = stats.dialect or "recovered"
    counts: Counter[tuple[str, Outcome]] = Counter()
    for call in response.tool_calls:
        format_name = NATIVE if call.source == "native" else text
        if tool_names and call.name not in tool_names:
            counts[format_name, "unknown_tool"] += 1
        else:
            counts[format_name, "recovered" if call.source == "recovered" else "parsed"] += 1
    format_of_broken = text if stats.dialect else NATIVE
    for broken in response.broken_calls:
        if broken.code not in _WHOLE:
            counts[format_of_broken, "malformed"] += 1
    return counts


class CapabilityLearner:
    """Keeps figures by model and format; what was last seen longer than `ttl` seconds ago is forgotten.

    Safe to use from several threads.  With a `store` it begins with what that holds; `save` writes it back.
    """

    def __init__(
        self, *, ttl: float = 30 * DAY, store: Store | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        self._ttl = ttl
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._figures: dict[tuple[str, str], Figures] = {}
        self._version = 0
        for record in store.load() if store is not None else ():
            self._figures[record.model, record.format] = msgspec.convert(record.figures, Figures)

    @property
    def version(self) -> int:
        """Grows with each thing learnt or forgotten: what was concluded from an older one may be old."""
        now = self._clock()
        with self._lock:
            old = [key for key, figures in self._figures.items() if now - figures.last > self._ttl]
            for key in old:
                del self._figures[key]
            self._version += bool(old)
            return self._version

    def record(self, model: str, format_name: str, outcome: Outcome, times: int = 1) -> None:
        """Count what came of `times` calls of a model in a format (`native`, or a dialect's name)."""
        now = self._clock()
        with self._lock:
            self._version += 1
            known = self._current(model, format_name, now)
            changes = {outcome: getattr(known, outcome) + times, "last": now}
            self._figures[model, format_name] = msgspec.structs.replace(known, **changes)

    def observe(
        self, model: str, response: ParsedResponse, stats: Stats, tool_names: frozenset[str] = frozenset()
    ) -> None:
        """Count the calls of an answer; `stats` are its parser's, `tool_names` those that were declared."""
        for (format_name, outcome), times in outcomes_of(response, stats, tool_names).items():
            self.record(model, format_name, outcome, times)

    def figures(self, model: str) -> dict[str, Figures]:
        """The figures of a model, by format."""
        now = self._clock()
        with self._lock:
            return {
                each: figures
                for (name, each), figures in self._figures.items()
                if name == model and now - figures.last <= self._ttl
            }

    def export(self) -> list[Record]:
        """Everything that is not forgotten, as records that JSON can hold."""
        now = self._clock()
        with self._lock:
            return [
                Record(model, format_name, msgspec.to_builtins(figures))
                for (model, format_name), figures in sorted(self._figures.items())
                if now - figures.last <= self._ttl
            ]

    def save(self) -> None:
        """Write everything to the store.  Raises ValueError if there is none, OSError if it cannot be written."""
        if self._store is None:
            raise ValueError("this learner has no store: CapabilityLearner(store=...)")
        self._store.save(self.export())

    def _current(self, model: str, format_name: str, now: float) -> Figures:
        known = self._figures.get((model, format_name), Figures(last=now))
        return known if now - known.last <= self._ttl else Figures(last=now)
