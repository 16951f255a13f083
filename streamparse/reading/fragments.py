"""Which fragment belongs to which call: openai-chat and its relatives.

A fragment has an index, an id, a name and a piece of the arguments, and each of them lies somewhere.  What
never lies is the arguments' own syntax: whether a call's value is not begun, open or closed.  The rules:

1. A new id with a name, or with the start of a value while no value is open, begins a call.
2. The same id, or the same index while the value can accept the fragment, continues it: unless the fragment can be
   the start of a call, and its name or its index contradicts.
3. On a closed call, a fragment that starts a value begins a call if it is named or has a new id; else it is late.
4. Blank and `"null"` ids and names are absent; a repeated id or name says nothing.
5. A new id without a name while a value is open continues it: some servers make an id for each fragment.
6. A name in pieces is joined while no argument has come, if the whole is, or begins, a declared tool.
7. Indexes are names, not numbers: negative, gapped, one-based are all one; calls count by appearance.
8. No fragment is dropped for being a repetition: repetition is legal data.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable
from io import StringIO
from operator import attrgetter
from typing import Any, Final

from streamparse.limits import Limits, most
from streamparse.sink import Call, Sink
from streamparse.tools import Toolset

# -- ----------------------------------------------------------------------------------------------------
# The calls of a chat answer that have not started: each one as its fragments tell it, until its name is certain.


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


# -- ----------------------------------------------------------------------------------------------------

_BLANK: Final = " \t\r\n"
_NONE: Final = -(2**63)  # no server's index


class Fragments:
    """Collects the fragments of an answer's calls, and tells them to the sink as calls."""

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits) -> None:
        self._sink = sink
        self._tools = tools
        self._by_index: dict[int, Slot] = {}
        self._by_id: dict[str, Slot] = {}
        self._last: Slot | None = None
        self._unstarted = Unstarted(sink, limits)
        self._max_name = most(limits.max_name)
        self._flowing: int | None = _NONE  # the index of the call that took the last fragment
        self._flow: Call
        self._tell_more: Callable[[str], None]

    def add(self, index: int | None, id: str | None, name: str | None, arguments: str | None) -> None:
        """Take one fragment; absent parts are None or blank."""
        if id is None and name is None and index == self._flowing and arguments and not self._flow.closed:
            self._tell_more(arguments)  # nearly every fragment
            return
        id, name, text = _present(id), _present(name), arguments or ""
        slot = self._find(index, id, name, text)
        if slot is None:
            if not (id or name or text) or not self._unstarted.admits(name):
                return
            self.settle()
            slot = self._unstarted.add(index, id, name)
        elif name:
            self._rename(slot, name)
        if id and not slot.id:
            slot.id = id
        if slot.id:
            self._by_id[slot.id] = slot
        if index is not None:
            self._by_index[index] = slot
            slot.index = index if slot.index is None else slot.index
        self._last = slot
        self._tell(slot, text)
        if slot.call is None or index is None:
            self._flowing = _NONE
        else:
            self._flowing, self._flow = index, slot.call
            self._tell_more = self._sink.call_teller(slot.call)

    def note(self, kind: str, data: Any) -> None:
        """Tell an item about the call that took the last fragment."""
        slot = self._last
        if slot is not None and slot.call is None:
            slot.notes.append((kind, data))
        else:
            self._sink.item(kind, data, slot.call.index if slot is not None and slot.call is not None else None)

    def settle(self) -> None:
        """No more names come: start the calls that have one and no arguments yet."""
        self._unstarted.settle()

    def close(self) -> None:
        """The answer is over: a call that never got a name is none."""
        self._unstarted.close()

    # -- inside ----------------------------------------------------------------------------------------

    def _find(self, index: int | None, id: str, name: str, text: str) -> Slot | None:
        """The call that a fragment continues; None if it begins one."""
        if id and id in self._by_id:
            return self._of_id(index, id, name, text)
        if index is not None and index in self._by_index:
            slot: Slot | None = self._by_index[index]
        elif index is None or not (id or name or _starts(text)):
            slot = self._last
        else:
            return None
        return slot if slot is not None and self._continues(slot, id, name, text) else None

    def _of_id(self, index: int | None, id: str, name: str, text: str) -> Slot | None:
        """The call of a known id; None if another call begins that has it too (LocalAI has one id for all calls)."""
        slot = self._by_id[id]
        there = None if index is None else self._by_index.get(index)
        if there is not None and there.id == id:
            slot = there
        if not name or (text and not _starts(text)):
            return slot
        elsewhere = there is None and index is not None and slot.index is not None
        return None if elsewhere or self._is_another(slot, name) else slot

    def _is_another(self, slot: Slot, name: str) -> bool:
        """Whether a name cannot be that of a call."""
        return name != slot.name and (slot.call is not None or not self._joins(slot.name, name))

    def _continues(self, slot: Slot, id: str, name: str, text: str) -> bool:
        """Whether a fragment whose index points at a call belongs to it."""
        new_id = bool(id and slot.id)  # a known id was found before
        if new_id and name:
            return slot.open and name == slot.name and bool(text) and not _starts(text)
        if slot.closed:
            return not (name or new_id) or (name == slot.name and not _starts(text))
        if new_id:  # without a name it can be no call of its own
            return True
        if name and not slot.open:
            return name == slot.name or self._joins(slot.name, name)
        return True

    def _rename(self, slot: Slot, name: str) -> None:
        """A name for a call that may have one: a repetition, or its next piece; one beyond its limit grows no more."""
        whole = slot.call is not None or name == slot.name or len(slot.name) > self._max_name
        if not whole and self._joins(slot.name, name):
            grown = slot.name and name.startswith(slot.name) and name in self._tools
            self._unstarted.name(slot, name if grown else slot.name + name)

    def _joins(self, name: str, more: str) -> bool:
        if not name or not self._tools:
            return True
        whole = name + more
        return whole in self._tools or self._tools.begins(whole) or (more.startswith(name) and more in self._tools)

    def _tell(self, slot: Slot, text: str) -> None:
        if slot.call is None and slot.name and (text or self._certain(slot.name)):
            self._unstarted.start(slot)
        if slot.call is not None:
            if text:
                self._sink.call_arguments(slot.call, text)
        elif text:
            self._unstarted.keep(slot, text)

    def _certain(self, name: str) -> bool:
        """Whether a name is whole although nothing followed it yet."""
        return name in self._tools and not self._tools.begins(name)


def _present(word: str | None) -> str:
    """Some servers send "" or "null" for an id or a name that is not there."""
    return "" if word is None or word in ("null", "None") or not word.strip(_BLANK) else word


def _starts(text: str) -> bool:
    """Whether a piece of arguments looks like the start of a value."""
    return text.lstrip(_BLANK)[:1] == "{"
