"""The calls of a chat answer that have not started: each one as its fragments tell it, until its name is certain."""

from __future__ import annotations

from bisect import insort
from io import StringIO
from operator import attrgetter
from typing import Any

from streamparse.limits import Limits, most
from streamparse.sink import Call, Sink

__all__ = ["Slot", "Unstarted"]


class Slot:
    """One call; `call` is set once it has started.  `place` is where it stands among all by appearance."""

    __slots__ = ("call", "early", "id", "index", "lost", "name", "notes", "place")

    def __init__(self, place: int, index: int | None, id: str, name: str) -> None:
        self.place = place
        self.index = index
        self.id = id
        self.name = name
        self.call: Call | None = None
        self.notes: list[tuple[str, Any]] = []  # items about it that came before its name was certain
        self.early = StringIO()  # arguments that came before the name
        self.lost = False  # more of them came than may be kept

    @property
    def open(self) -> bool:
        """Whether the value is begun and not closed."""
        if self.call is None:
            return bool(self.early.tell())
        return not self.call.closed and not self.call.pending

    @property
    def closed(self) -> bool:
        """Whether the call's life is over."""
        return self.call is not None and self.call.closed


class Unstarted:
    """Keeps such calls, and starts them.

    `max_calls` bounds how many are without a name, `max_call_args` their arguments, all together.
    """

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._nameless: dict[Slot, None] = {}
        self._named: list[Slot] = []  # by place
        self._begun = 0
        self._room = most(limits.max_call_args)
        self._max_nameless = most(limits.max_calls)
        self._refused = False

    def admits(self, name: str) -> bool:
        """Whether another call can be kept; that one without a name cannot is told once."""
        admitted = bool(name) or len(self._nameless) < self._max_nameless
        if not (admitted or self._refused):
            self._refused = True
            self._sink.error("frame", "limit_calls", f"more than {self._max_nameless} calls are without a name")
        return admitted

    def add(self, index: int | None, id: str, name: str) -> Slot:
        """Keep a new call."""
        slot = Slot(self._begun, index, id, name)
        self._begun += 1
        if name:
            self._named.append(slot)
        else:
            self._nameless[slot] = None
        return slot

    def name(self, slot: Slot, name: str) -> None:
        """Give a call its name, or the longer one that it turns out to have."""
        if not slot.name:
            del self._nameless[slot]
            insort(self._named, slot, key=attrgetter("place"))
        slot.name = name

    def keep(self, slot: Slot, text: str) -> None:
        """Keep arguments that come before the name; if they are too long, nothing more of the call is kept."""
        if slot.lost:
            return
        if len(text) > self._room:
            slot.lost = True
            self._sink.error("frame", "limit_args", f"the arguments of calls without a name are too long ({slot.id})")
            return
        self._room -= len(text)
        slot.early.write(text)

    def start(self, slot: Slot) -> None:
        """Start a call that has a name, and before it those that appeared before it."""
        end = self._named.index(slot) + 1
        started, self._named = self._named[:end], self._named[end:]
        for each in started:
            self._begin(each)

    def settle(self) -> None:
        """No more names come: start the calls that have one."""
        if self._named:
            self.start(self._named[-1])

    def close(self) -> None:
        """The answer is over: a call that never got a name is none."""
        self.settle()
        for slot in self._nameless:
            raw = slot.early.getvalue()
            self._sink.error("frame", "call_without_name", f"a call ({slot.id or 'no id'}) without a name: {raw}")
        self._nameless.clear()

    def _begin(self, slot: Slot) -> None:
        call = slot.call = self._sink.call_start(slot.name, slot.id or None)
        early, slot.early = slot.early.getvalue(), StringIO()
        self._room += len(early)
        for kind, data in slot.notes:
            self._sink.item(kind, data, call.index)
        if slot.lost:
            self._sink.call_error(call, "limit_args", f"too many arguments came before the name of {slot.name!r}")
        elif early:
            self._sink.call_arguments(call, early)
