"""Which fragment belongs to which call: openai-chat and its relatives.

A fragment has an index, an id, a name and a piece of the arguments, and each of them is wrong on some server.  What is
never wrong is the syntax of the arguments: whether a call's value has not begun, is open or is closed.  The rules:

1. A new id with a name, or with the start of a value while no value is open, begins a call.
2. The same id, or the same index while the value can accept the fragment, continues it: unless the fragment can be
   the start of a call, and its name or its index contradicts.  With a known id only a named one can: an index alone
   proves nothing (rule 7), and what has no name cannot run.
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
from functools import partial
from operator import attrgetter
from typing import Any, Final

from streamparse.limits import Limits, most
from streamparse.patterns import BLANKS
from streamparse.reading.pieces import Budget, PendingCall, PendingText, begins_object
from streamparse.sink import Call, Sink
from streamparse.tools import Toolset

_ABSENT: Final = ("null", "None")  # what some servers send, besides blanks, for an id or a name that is not there
_NONE: Final = -(2**63)  # source: no server's index is so low
_NO_TEXT: Final = PendingText(Budget(0))  # of calls that have a name from the start: their arguments start them


class JoinedCall(PendingCall, eq=False):
    """A call whose fragments are joined.  `place` is its number in order of appearance."""

    place: int = 0
    items: list[tuple[str, Any]] | None = None  # what came with it before its name was certain

    @property
    def is_open(self) -> bool:
        """Whether the value is begun and not closed."""
        if self.call is None:
            return bool(self.early)
        return not self.call.closed and not self.call.pending

    @property
    def is_closed(self) -> bool:
        """Whether the call's life is over."""
        return self.call is not None and self.call.closed


class Fragments:
    """Collects the fragments of an answer's calls, and sends them to the sink as calls.

    A call starts once its name is certain, in order of appearance.  `max_calls` bounds how many are without a name,
    `max_call_args` their arguments, all together.
    """

    __slots__ = (  # most answers have no calls, and an idle parser shall hold little for them
        *("_appeared", "_budget", "_by_id", "_by_index", "_declared", "_flow", "_flowing", "_has_refused", "_last"),
        *("_limits", "_named", "_nameless", "_send_more", "_sink", "_tools"),
    )

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits) -> None:
        self._sink = sink
        self._tools = tools
        self._declared = tools.names
        self._limits = limits
        self._budget = Budget(most(limits.max_call_args))
        self._by_index: dict[int, JoinedCall] = {}
        self._by_id: dict[str, JoinedCall] = {}
        self._last: JoinedCall | None = None
        self._appeared = 0
        """How many calls there are so far."""
        self._named: list[JoinedCall] = []  # those that have not started, by place
        self._nameless: dict[JoinedCall, None] = {}
        self._has_refused = False
        self._flowing: int | None = _NONE  # the index of the call that took the last fragment
        self._flow: Call
        self._send_more: Callable[[str], None]

    def has_told(self, index: int | None, id: str | None) -> bool:
        """Whether the call of an id, else of an index, is over."""
        pending = self._by_id.get(id or "") or self._by_index.get(_NONE if index is None else index)
        return pending is not None and pending.is_closed

    def add(self, index: int | None, id: str | None, name: str | None, arguments: str | None) -> None:
        """Take one fragment; absent parts are None or blank."""
        if id is None and name is None and index == self._flowing and arguments and not self._flow.closed:
            self._send_more(arguments)  # nearly every fragment
            return
        id = "" if not id or id in _ABSENT or not id.strip(BLANKS) else id
        name = "" if not name or name in _ABSENT or not name.strip(BLANKS) else name
        text = arguments or ""
        pending = self._find(index, id, name, text) if self._last is not None else None
        if pending is None:
            if not (name or ((id or text) and self._can_keep())):
                return
            if self._named:
                self.start_named()
            early = _NO_TEXT if name else PendingText(self._budget)
            pending = JoinedCall(early, id, name, index, None, self._appeared)
            self._appeared += 1
            if name:
                self._named.append(pending)
            else:
                self._nameless[pending] = None
        else:
            self._add_missing(pending, index, id, name)
        if pending.id:
            self._by_id[pending.id] = pending
        if index is not None:
            self._by_index[index] = pending
        self._last = pending
        if text or pending.name in self._declared:
            self._send(pending, text)
        if pending.call is None or index is None:
            self._flowing = _NONE
        else:
            self._flowing, self._flow = index, pending.call
            self._send_more = self._sink.call_teller(pending.call)

    def find_teller(self, index: int | None, id: str | None, name: str | None) -> Callable[[str], None]:
        """Return what takes the arguments of fragments that are the same but for these, one after the other."""
        if id is None and name is None and index == self._flowing and not self._flow.closed:
            return self._send_more
        return partial(self.add, index, id, name)

    def attach(self, kind: str, data: Any) -> None:
        """Send an item that belongs to the call that took the last fragment."""
        pending = self._last
        if pending is None:
            self._sink.item(kind, data)
        elif pending.call is None:
            pending.items = pending.items or []
            pending.items.append((kind, data))
        else:
            self._sink.item(kind, data, pending.call.index)

    def start_named(self) -> None:
        """No more names come: start the calls that have one and no arguments yet."""
        if self._named:
            self._start(self._named[-1])

    def close(self) -> None:
        """The answer is over: a call that never got a name is an error."""
        self.start_named()
        for pending in self._nameless:
            name = pending.id or "no id"
            self._sink.error("frame", "call_without_name", f"a call ({name}) without a name: {pending.early}")
        self._nameless.clear()

    # -- which call ------------------------------------------------------------------------------------

    def _find(self, index: int | None, id: str, name: str, text: str) -> JoinedCall | None:
        """The call that a fragment continues; None if it begins one."""
        if id and id in self._by_id:
            return self._find_by_id(index, id, name, text)
        if index is not None and index in self._by_index:
            pending: JoinedCall | None = self._by_index[index]
        elif index is None or not (id or name or begins_object(text)):
            pending = self._last
        else:
            return None
        return pending if pending is not None and self._can_continue(pending, id, name, text) else None

    def _find_by_id(self, index: int | None, id: str, name: str, text: str) -> JoinedCall | None:
        """The call of a known id; None if another call begins that has it too (LocalAI has one id for all calls)."""
        pending = self._by_id[id]
        there = None if index is None else self._by_index.get(index)
        if there is not None and there.id == id:
            pending = there
        if not name or (text and not begins_object(text)):
            return pending
        is_elsewhere = there is None and index is not None and pending.index is not None
        return None if is_elsewhere or self._is_another(pending, name) else pending

    def _is_another(self, pending: JoinedCall, name: str) -> bool:
        """Whether a name cannot be that of a call."""
        return name != pending.name and (pending.call is not None or not self._can_join(pending.name, name))

    def _can_continue(self, pending: JoinedCall, id: str, name: str, text: str) -> bool:
        """Whether a fragment whose index points at a call belongs to it."""
        has_new_id = bool(id and pending.id)  # a known id was found before
        if has_new_id and name:
            return pending.is_open and name == pending.name and bool(text) and not begins_object(text)
        if pending.is_closed:
            return not (name or has_new_id) or (name == pending.name and not begins_object(text))
        if has_new_id:  # without a name it can be no call of its own
            return True
        if name and not pending.is_open:
            return name == pending.name or self._can_join(pending.name, name)
        return True

    # -- calls that have not started -------------------------------------------------------------------

    def _can_keep(self) -> bool:
        """Whether another call without a name can be kept; that it cannot is reported once."""
        max_nameless = most(self._limits.max_calls)
        can_keep = len(self._nameless) < max_nameless
        if not (can_keep or self._has_refused):
            self._has_refused = True
            self._sink.error("frame", "limit_calls", f"more than {max_nameless} calls are without a name")
        return can_keep

    def _add_missing(self, pending: JoinedCall, index: int | None, id: str, name: str) -> None:
        """Add what a fragment has that its call did not have yet."""
        if name:
            self._rename(pending, name)
        if not pending.id:
            pending.id = id
        if pending.index is None:
            pending.index = index

    def _rename(self, pending: JoinedCall, name: str) -> None:
        """A name for a call that may have one: a repetition, or its next piece; one beyond its limit grows no more."""
        is_whole = pending.call is not None or name == pending.name or len(pending.name) > most(self._limits.max_name)
        if is_whole or not self._can_join(pending.name, name):
            return
        if not pending.name:
            del self._nameless[pending]
            insort(self._named, pending, key=attrgetter("place"))
        pending.name = name if self._grows(pending.name, name) else pending.name + name

    def _can_join(self, name: str, more: str) -> bool:
        if not name or not self._tools:
            return True
        whole = name + more
        return whole in self._tools or self._tools.begins(whole) or self._grows(name, more)

    def _grows(self, name: str, more: str) -> bool:
        """Whether the second is the first with more behind it, and is or begins a declared tool."""
        return bool(name) and more.startswith(name) and (more in self._tools or self._tools.begins(more))

    # -- sending ---------------------------------------------------------------------------------------

    def _send(self, pending: JoinedCall, text: str) -> None:
        name = pending.name
        # Without arguments a name is certain if it is a tool's and no other tool's begins with it.
        if pending.call is None and name and (text or (name in self._declared and not self._tools.begins(name))):
            self._start(pending)
        if pending.call is not None:
            if text:
                self._sink.call_arguments(pending.call, text)
        elif text and not pending.early.add(text):
            message = f"the arguments of calls without a name are too long ({pending.id})"
            self._sink.error("frame", "limit_args", message)

    def _start(self, pending: JoinedCall) -> None:
        """Start a call that has a name, and before it those that appeared before it."""
        end = self._named.index(pending) + 1
        started, self._named = self._named[:end], self._named[end:]
        for each in started:
            self._begin(each)

    def _begin(self, pending: JoinedCall) -> None:
        call = pending.call = self._sink.call_start(pending.name, pending.id or None)
        early = pending.early.take()
        for kind, data in pending.items or ():
            self._sink.item(kind, data, call.index)
        if pending.early.is_lost:
            self._sink.call_error(call, "limit_args", f"too many arguments came before the name of {pending.name!r}")
        elif early:
            self._sink.call_arguments(call, early)
