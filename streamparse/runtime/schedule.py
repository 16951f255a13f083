"""Which calls may begin now, and when the clock must be looked at again.

Calls begin in call order.  One waits while a call that holds what it needs runs, or comes before it and is not
answered: also one that the model still writes, whose needs are not known yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streamparse.runtime.admission import EVERYTHING
from streamparse.runtime.call import Call
from streamparse.runtime.facts import Wake
from streamparse.tools import Tool


class Locks:
    """The locks that some calls hold, and whether another call may run at the same time.

    Two calls may, if neither has an effect; else if they share no lock and none has `"*"`.
    """

    def __init__(self) -> None:
        self._of_readers: set[str | None] = set()  # None: there is one, with locks or without
        self._of_writers: set[str | None] = set()

    def hold(self, tool: Tool, locks: frozenset[str]) -> None:
        """Add a call's locks."""
        held = self._of_readers if tool.effect == "read" else self._of_writers
        held.update(locks, (None,))

    def allow(self, tool: Tool, locks: frozenset[str]) -> bool:
        """Whether a call with these locks may run at the same time as those that hold some."""
        if _has_clash(locks, self._of_writers):
            return False
        return tool.effect == "read" or not _has_clash(locks, self._of_readers)


def _has_clash(locks: frozenset[str], held: set[str | None]) -> bool:
    return bool(held) and (EVERYTHING in locks or EVERYTHING in held or not locks.isdisjoint(held))


def choose_next(calls: Iterable[Call], limit: int, now: float) -> Iterator[Call]:
    """Yield those that may begin, or be opened, of all that are not answered or whose function has not returned.

    One that was opened has its locks and its place already.
    Notes on the others whether only functions that cannot be stopped keep them from beginning.
    """
    occupied = [call for call in calls if call.occupies]
    unstoppable = [call for call in occupied if call.phase == "answered"]
    held, never_freed = _hold(occupied), _hold(unstoppable)
    places = limit - len(occupied)
    for call in sorted(calls, key=lambda call: call.index):
        if call.tool is None or call.tool.function is None:
            continue
        if call.phase == "ready" and call.is_open:
            if call.opening == "open":
                yield call
        elif call.phase == "ready" or call.opening == "offered":
            if places > 0 and call.not_before <= now and held.allow(call.tool, call.locks):
                places -= 1
                yield call
            elif call.phase == "ready":
                is_stuck = len(unstoppable) >= limit or not never_freed.allow(call.tool, call.locks)
                since = now if call.stuck_since is None else call.stuck_since
                call.stuck_since = since if is_stuck else None
        held.hold(call.tool, call.locks | call.open_locks)


def find_due(call: Call, now: float) -> float | None:
    """Return when something is to happen to a call unless a fact comes before."""
    if call.phase == "running" or call.opening == "broken":
        return None if call.cancelled or call.awaits else call.deadline
    if call.phase != "ready":
        return None
    if call.not_before > now:
        return call.not_before
    return None if call.stuck_since is None or call.timeout is None else call.stuck_since + call.timeout


class Alarm:
    """The next moment at which something is due, and the one for which a wake-up was asked."""

    def __init__(self) -> None:
        self._due: float | None = None
        self._asked: float | None = None

    def is_due(self, now: float) -> bool:
        """Whether the moment has come."""
        return self._due is not None and now >= self._due

    def set(self, moments: Iterable[float]) -> Wake | None:
        """Set the earliest of some moments; return the wake-up to ask for, if none as early was."""
        self._due = min(moments, default=None)
        if self._due is None or (self._asked is not None and self._asked <= self._due):
            return None
        self._asked = self._due
        return Wake(self._due)

    def forget(self) -> None:
        """Forget the wake-up: it has come, or never will."""
        self._asked = None


def _hold(calls: Iterable[Call]) -> Locks:
    held = Locks()
    for call in calls:
        if call.tool is not None:
            held.hold(call.tool, call.locks | call.open_locks)
    return held
