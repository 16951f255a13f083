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

from collections.abc import Callable
from io import StringIO
from typing import Any

from streamparse.sink import Call, Sink
from streamparse.tools import Toolset

__all__ = ["Fragments"]

_BLANK = " \t\r\n"


class _Slot:
    """One call as its fragments tell it; `call` is set once its name is certain."""

    __slots__ = ("call", "early", "id", "index", "name", "notes")

    def __init__(self, index: int | None, id: str, name: str) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.call: Call | None = None
        self.notes: list[tuple[str, Any]] = []  # items about it that came before its name was certain
        self.early = StringIO()  # arguments that came before the name

    @property
    def open(self) -> bool:
        """Whether the value is begun and not closed."""
        if self.call is None:
            return bool(self.early.tell())
        return not self.call.closed and not self.call.pending

    @property
    def closed(self) -> bool:
        return self.call is not None and self.call.closed


class Fragments:
    """Collects the fragments of an answer's calls, and tells them to the sink as calls."""

    def __init__(self, sink: Sink, tools: Toolset) -> None:
        self._sink = sink
        self._tools = tools
        self._by_index: dict[int, _Slot] = {}
        self._by_id: dict[str, _Slot] = {}
        self._last: _Slot | None = None
        self._unstarted: list[_Slot] = []
        self._flowing: int | None = -(2**63)  # the index of the call that took the last fragment
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
            if not (id or name or text):
                return
            slot = self._new(index, id, name)
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
        if slot.call is not None and index is not None:
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
        for slot in list(self._unstarted):
            if slot.name:
                self._start(slot)

    def close(self) -> None:
        """The answer is over: a call that never got a name is none."""
        self.settle()
        for slot in self._unstarted:
            raw = slot.early.getvalue()
            self._sink.error("frame", "call_without_name", f"a call ({slot.id or 'no id'}) without a name: {raw}")
        self._unstarted = []

    # -- inside ----------------------------------------------------------------------------------------

    def _find(self, index: int | None, id: str, name: str, text: str) -> _Slot | None:
        """The call that a fragment continues; None if it begins one."""
        if id and id in self._by_id:
            return self._of_id(index, id, name, text)
        if index is not None and index in self._by_index:
            slot: _Slot | None = self._by_index[index]
        elif index is None or not (id or name or _starts(text)):
            slot = self._last
        else:
            return None
        return slot if slot is not None and self._continues(slot, id, name, text) else None

    def _of_id(self, index: int | None, id: str, name: str, text: str) -> _Slot | None:
        """The call of a known id; None if another call begins that has it too (LocalAI has one id for all calls)."""
        slot = self._by_id[id]
        there = None if index is None else self._by_index.get(index)
        if there is not None and there.id == id:
            slot = there
        if not name or (text and not _starts(text)):
            return slot
        elsewhere = there is None and index is not None and slot.index is not None
        return None if elsewhere or self._is_another(slot, name) else slot

    def _is_another(self, slot: _Slot, name: str) -> bool:
        """Whether a name cannot be that of a call."""
        return name != slot.name and (slot.call is not None or not self._joins(slot.name, name))

    def _continues(self, slot: _Slot, id: str, name: str, text: str) -> bool:
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

    def _new(self, index: int | None, id: str, name: str) -> _Slot:
        self.settle()
        slot = _Slot(index, id, name)
        self._unstarted.append(slot)
        return slot

    def _rename(self, slot: _Slot, name: str) -> None:
        """A name for a call that may have one: a repetition, or its next piece."""
        if slot.call is None and name != slot.name and self._joins(slot.name, name):
            slot.name = name if slot.name and name.startswith(slot.name) and name in self._tools else slot.name + name

    def _joins(self, name: str, more: str) -> bool:
        if not name or not self._tools:
            return True
        whole = name + more
        return whole in self._tools or self._tools.begins(whole) or (more.startswith(name) and more in self._tools)

    def _tell(self, slot: _Slot, text: str) -> None:
        if slot.call is None and slot.name and (text or self._certain(slot.name)):
            self._start(slot)
        if slot.call is not None:
            if text:
                self._sink.call_arguments(slot.call, text)
        elif text:
            slot.early.write(text)

    def _certain(self, name: str) -> bool:
        """Whether a name is whole although nothing followed it yet."""
        return name in self._tools and not self._tools.begins(name)

    def _start(self, slot: _Slot) -> None:
        """Start a call, and before it those that appeared before it."""
        for earlier in list(self._unstarted):
            if earlier is not slot and not earlier.name:
                continue
            self._unstarted.remove(earlier)
            call = earlier.call = self._sink.call_start(earlier.name, earlier.id or None)
            for kind, data in earlier.notes:
                self._sink.item(kind, data, call.index)
            if earlier.early.tell():
                self._sink.call_arguments(call, earlier.early.getvalue())
            if earlier is slot:
                return


def _present(word: str | None) -> str:
    """Some servers send "" or "null" for an id or a name that is not there."""
    return "" if word is None or word in ("null", "None") or not word.strip(_BLANK) else word


def _starts(text: str) -> bool:
    """Whether a piece of arguments looks like the start of a value."""
    return text.lstrip(_BLANK)[:1] == "{"
