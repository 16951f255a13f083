"""What is learnt of models while they are used: how often each format worked.

Figures are kept by slots of time, each a sixtieth of the time to live, so that what is old goes though the model is
still in use.  What was learnt since the last `save` is kept apart from what the store held then: a save adds the one to
whatever the store holds by now, which other learners may have written.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Collection, Iterable
from itertools import chain
from operator import index
from typing import Final, TypeAlias, get_args

import msgspec

from streamparse.negotiate.call_stats import Figures, Outcome, Reader, count_outcomes
from streamparse.negotiate.stores import Record, Store, update
from streamparse.response import ParsedResponse
from streamparse.stats import Stats

__all__ = ["CapabilityLearner"]

DAY = 86_400.0
_SLOTS: Final = 60
_MOST: Final = 10_000
"""Slots that are kept of all models and formats: who names models without end makes a learner forget the oldest."""
_RECENT: Final = 20
_NONE: Final = Figures()

_Key: TypeAlias = tuple[str, str, int]
"""Model, format, slot."""
_Table: TypeAlias = dict[_Key, Figures]


class CapabilityLearner:
    """Keeps figures by model and format; what was learnt longer than `ttl` seconds ago is forgotten.

    It is forgotten to within a sixtieth of that time, though the model is still in use.  Safe to use from several
    threads.  With a `store` it begins with what that holds; `save` adds what was learnt since.  Several learners, of
    several processes too, may share a `JSONFile` or an `SQLiteFile`, if they have the same `ttl`.  Raises ValueError if
    `ttl` is not positive, and what the store raises.
    """

    def __init__(
        self, *, ttl: float = 30 * DAY, store: Store | None = None, clock: Callable[[], float] = time.time
    ) -> None:
        if not ttl > 0:
            raise ValueError(f"`ttl` is a positive number of seconds, not {ttl!r}")
        self._ttl = ttl
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._saving = threading.Lock()
        self._stored: _Table = {} if store is None else _table(store.load())
        self._unsaved: _Table = {}
        self._slot = self._slot_of(clock())
        self._version = 0

    @property
    def version(self) -> int:
        """Grows with each thing learnt, and when some may be forgotten: what was concluded before may be old."""
        now = self._clock()
        with self._lock:
            self._rotate(now)
            return self._version

    def record(self, model: str, format_name: str, outcome: Outcome, times: int = 1) -> None:
        """Count what came of `times` calls of a model in a format (`native`, or a dialect's name).

        Raises ValueError for another outcome, or if `times` is negative, TypeError if it is no integer.
        """
        if outcome not in get_args(Outcome):
            raise ValueError(f"unknown outcome {outcome!r}; known are: {', '.join(get_args(Outcome))}")
        if index(times) < 0:
            raise ValueError(f"`times` is a count, not {times!r}")
        now = self._clock()
        refused = now if outcome == "refused" else 0.0
        seen = msgspec.structs.replace(_NONE, **{outcome: times, "last": now, "last_refused": refused})
        with self._lock:
            self._rotate(now)
            self._version += 1
            key = (_written(model), _written(format_name), self._slot)
            self._unsaved[key] = self._unsaved.get(key, _NONE) + seen
            if len(self._unsaved) > _MOST:
                del self._unsaved[next(iter(self._unsaved))]

    def observe(
        self,
        model: str,
        answer: ParsedResponse | Reader,
        stats: Stats | None = None,
        tool_names: Collection[str] = (),
    ) -> None:
        """Count the calls of an answer: a whole one, or the parser of a stream, also of one that failed early.

        `tool_names` are those that were declared; without them no tool is unknown.  For `stats` see `count_outcomes`.
        """
        for (format_name, outcome), times in count_outcomes(answer, stats, tool_names).items():
            self.record(model, format_name, outcome, times)

    def figures(self, model: str) -> dict[str, Figures]:
        """The figures of a model, by format."""
        return {format_name: figures for (_, format_name), figures in self._totals(_written(model)).items()}

    def recent(self, model: str) -> dict[str, Figures]:
        """The figures of a model's latest calls, by format: so much of the latest time as holds at least 20.

        What is concluded of a model is concluded from these, so that neither many good calls of long ago hide that it
        has changed, nor many bad ones.
        """
        latest = sorted(self._counted(_written(model)), key=lambda pair: pair[1].last, reverse=True)
        recent: dict[str, Figures] = {}
        for (_, format_name, _), figures in latest:
            known = recent.get(format_name, _NONE)
            if known.calls + known.refused < _RECENT:
                recent[format_name] = known + figures
        return recent

    def export(self) -> list[Record]:
        """Everything that is not forgotten, by model and format, as records that JSON can hold."""
        return [Record(*key, msgspec.to_builtins(figures)) for key, figures in sorted(self._totals().items())]

    def save(self) -> None:
        """Add what was learnt since the last time to the store, and learn what others have added.

        Raises ValueError if there is no store, and what the store raises; nothing is lost then, save again.
        """
        if self._store is None:
            raise ValueError("this learner has no store: CapabilityLearner(store=...)")
        with self._saving:
            with self._lock:
                stored, unsaved = self._stored, dict(self._unsaved)
            records = update(self._store, lambda kept: self._merged(_table(kept), stored, unsaved))
            with self._lock:
                self._version += 1
                self._stored = _table(records)
                left = {key: each - unsaved.get(key, _NONE) for key, each in self._unsaved.items()}
                self._unsaved = {key: each for key, each in left.items() if not each.empty}

    def _merged(self, kept: _Table, stored: _Table, unsaved: _Table) -> list[Record]:
        """What the store holds, or held when it was last seen, with what was learnt since; the latest of it."""
        now = self._clock()
        keys = dict.fromkeys(chain(kept, stored, unsaved))
        table = {key: (kept.get(key, _NONE) | stored.get(key, _NONE)) + unsaved.get(key, _NONE) for key in keys}
        latest = sorted(self._drop_old(table, now).items(), key=lambda pair: pair[1].last)[-_MOST:]
        latest.sort(key=lambda pair: pair[0])
        return [Record(model, each, msgspec.to_builtins(figures), slot) for (model, each, slot), figures in latest]

    def _totals(self, of: str | None = None) -> dict[tuple[str, str], Figures]:
        """What counts now, by model and format; of all models, or of one."""
        totals: dict[tuple[str, str], Figures] = {}
        for (model, format_name, _), figures in self._counted(of):
            totals[model, format_name] = totals.get((model, format_name), _NONE) + figures
        return totals

    def _counted(self, of: str | None = None) -> list[tuple[_Key, Figures]]:
        """What counts now, by slots; of all models, or of one."""
        now = self._clock()
        counted: _Table = {}
        with self._lock:
            for key, figures in chain(self._stored.items(), self._unsaved.items()):
                # A clock that was wrong may have left figures of a time that is yet to come, be it far off.
                if (of is None or key[0] == of) and abs(now - figures.last) <= self._ttl:
                    counted[key] = counted.get(key, _NONE) + figures
        return list(counted.items())

    def _rotate(self, now: float) -> None:
        """Forget what is old whenever another slot begins."""
        slot = self._slot_of(now)
        if slot != self._slot:
            self._slot = slot
            self._version += 1
            self._stored = self._drop_old(self._stored, now)
            self._unsaved = self._drop_old(self._unsaved, now)

    def _drop_old(self, table: _Table, now: float) -> _Table:
        return {key: each for key, each in table.items() if now - each.last <= self._ttl}

    def _slot_of(self, now: float) -> int:
        return int(now // (self._ttl / _SLOTS))


def _table(records: Iterable[Record]) -> _Table:
    return {(each.model, each.format, each.slot): msgspec.convert(each.figures, Figures) for each in records}


def _written(name: str) -> str:
    """A name as it can be written to a file, where it holds half of a character."""
    return name.encode("utf-8", "replace").decode("utf-8")
