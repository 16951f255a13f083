"""The calls of one OpenAI response: which event belongs to which, and what of it is news.

What is said to be the arguments when they are done is held against the deltas: it tells what no delta told, the end of
a value included, and an error if the deltas told something else.
"""

from __future__ import annotations

from io import StringIO
from typing import Any, TypeAlias

from streamparse.limits import Limits
from streamparse.sink import Call, Sink
from streamparse.wires.raw import lenient
from streamparse.wires.response_items import CallItem, Items

__all__ = ["Calls", "Ids"]

Ids: TypeAlias = tuple[str | None, str | None]
"""The id of a call, and that of its item."""


class Calls:
    """Tells the calls of a response; every method may be given the same thing again.

    Argument text of a call that was never added waits for its name, which the item has when it is done.
    """

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._room = limits.max_call_args  # characters that may wait
        self._items = Items(CallItem)

    def added(self, name: str, ids: Ids, index: int | None, arguments: str) -> None:
        """A call begins; it may have its arguments already (xAI, transformers)."""
        call = self._added_before(name, ids, index) or self._items.add(None, index)
        self._begin(call, name, ids, index)
        self._feed(call, arguments)

    def of(self, id: str | None, index: int | None) -> CallItem:
        """The call that a piece of arguments belongs to; one that was never added begins here, without a name."""
        return self._items.find(id, index) or self._still_open(index) or self._items.add(id, index)

    def keep(self, call: CallItem, fragment: str) -> None:
        """Keep a piece of arguments for a call without a name."""
        if self._room is None or call.early.tell() + len(fragment) <= self._room:
            call.early.write(fragment)

    def arguments_done(self, id: str | None, index: int | None, name: str, arguments: str) -> None:
        """The arguments are said to be whole; LM Studio sends them only so."""
        call = self._items.find(id, index) or self._latest(name, index) or self._items.add(id, index)
        if call.call is not None and arguments:
            self._confirm(call, arguments)
            self._sink.call_end(call.call)
        elif call.call is None:
            call.id, call.name = id, call.name or name
            if arguments:
                call.early = StringIO()
                self.keep(call, arguments)

    def done(self, name: str, ids: Ids, index: int | None, arguments: str, whole: bool) -> None:
        """The item is said to be done, and `whole` if its status does not say otherwise."""
        known = self._done_before(name, ids, index, arguments)
        call = known or self._unfinished(name, index) or self._items.add(None, index)
        early = call.early.getvalue() if call.call is None else ""
        self._begin(call, name, ids, index)
        call.done = True
        self._confirm(call, arguments or early)
        if call.call is not None and whole:
            self._sink.call_end(call.call)

    def settle(self) -> None:
        """No more items come: calls that have a name and arguments are calls, under the ids that are known."""
        for call in self._items.all:
            if call.call is None and call.name and call.early.tell():
                self._begin(call, call.name, (None, call.id), None)
                self._feed(call, call.early.getvalue())

    def close(self) -> None:
        """No more events come: argument text without a call is an error.

        Where the response did not end, its item, which has the call's id, may have been cut off with the rest.
        """
        for call in self._items.all:
            if call.call is None and call.early.tell():
                self._sink.error("frame", "orphan_arguments", f"arguments of no call: {call.early.getvalue()}")

    # -- inside ----------------------------------------------------------------------------------------

    def _begin(self, call: CallItem, name: str, ids: Ids, index: int | None) -> None:
        for id in ids:
            self._items.also(call, id, index)
        if call.call is None and name:
            call.name = name
            call.index = index
            call.call = self._sink.call_start(name, ids[0] or ids[1] or None)
        elif call.call is None:
            self._sink.error("frame", "call_without_name", f"a call ({ids[0] or ids[1] or 'no id'}) without a name")

    def _feed(self, call: CallItem, arguments: str) -> None:
        """Give a call its arguments, unless it has some."""
        if arguments and call.call is not None and call.call.pending:
            self._sink.call_arguments(call.call, arguments)

    def _confirm(self, call: CallItem, arguments: str) -> None:
        """Hold what a call's arguments are said to be at its end against what came; each text once."""
        if not arguments or call.call is None or arguments == call.said:
            return
        call.said = arguments
        told = "" if call.call.pending else call.call.raw
        if not call.call.closed and arguments.startswith(told):
            self._sink.call_arguments(call.call, arguments[len(told) :])
        elif arguments != told and not _alike(arguments, told):
            self._contradict(call.call, arguments)

    def _contradict(self, call: Call, arguments: str) -> None:
        """Pieces of the arguments are missing, or came to another call."""
        if call.closed:
            self._sink.call_arguments(call, arguments)  # late, which is an error
        else:
            self._sink.call_error(call, "malformed_call", f"the arguments of {call.name!r} are said to be others")

    def _named(self, name: str, ids: Ids, index: int | None) -> CallItem | None:
        """The call of an item, else of a call's id, which some servers give to several calls."""
        known = self._items.named(ids[1]) or self._items.named(ids[0])
        if known is None or known is self._items.named(ids[1]) or not known.name or name in ("", known.name):
            return known
        there = None if index is None else self._items.find(None, index)
        return there if there is not None and there.name == name else None

    def _added_before(self, name: str, ids: Ids, index: int | None) -> CallItem | None:
        """The call that is added again: the same item, or one of the same id at the same place."""
        known = self._named(name, ids, index)
        if known is None or known is self._items.named(ids[1]) or None in (index, known.index):
            return known
        return known if known.index == index else None

    def _done_before(self, name: str, ids: Ids, index: int | None, arguments: str) -> CallItem | None:
        """The call that is said to be done; none if that one was done with other arguments, at another place."""
        known = self._named(name, ids, index)
        if known is None or known is self._items.named(ids[1]) or None in (index, known.index):
            return known
        is_another = known.done and known.index != index and not _alike(arguments, known.said)
        return None if is_another else known

    def _latest(self, name: str, index: int | None) -> CallItem | None:
        """The last call, if what is said without an index and with an unknown id can be its."""
        last = self._items.last
        return last if index is None and last is not None and last.call and name in ("", last.name) else None

    def _still_open(self, index: int | None) -> CallItem | None:
        """The last call, if a piece without an index and with an unknown id can only be its."""
        last = self._items.last
        return last if index is None and last is not None and last.call is not None and not last.call.closed else None

    def _unfinished(self, name: str, index: int | None) -> CallItem | None:
        """The call of an index whose ids have changed since."""
        call = self._items.find(None, index)
        return call if call is not None and not call.done and call.name in ("", name) else None


def _alike(one: str, other: str) -> bool:
    """Whether two texts are the same arguments, written in two ways."""
    return bool(_value(one) == _value(other))


def _value(text: str) -> Any:
    try:
        return lenient(text.encode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return text
