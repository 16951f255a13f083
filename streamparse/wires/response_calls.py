"""The calls of one OpenAI response: which event belongs to which, and what of it is news."""

from __future__ import annotations

from streamparse.limits import Limits
from streamparse.sink import Sink
from streamparse.wires.response_items import CallItem, Items

__all__ = ["Calls"]


class Calls:
    """Tells the calls of a response; every method may be given the same thing again.

    Argument text of a call that was never added waits for its name, which the item has when it is done.
    """

    def __init__(self, sink: Sink, limits: Limits) -> None:
        self._sink = sink
        self._room = limits.max_call_args  # characters that may wait
        self._items = Items(CallItem)

    def added(self, name: str, ids: tuple[str | None, str | None], index: int | None, arguments: str) -> None:
        """A call begins, with its call id and its item id; it may have its arguments already (xAI, transformers)."""
        call = self._items.named(*ids) or self._items.add(None, index)
        self._begin(call, name, ids, index)
        self._feed(call, arguments)

    def of(self, id: str | None, index: int | None) -> CallItem:
        """The call that a piece of arguments belongs to; one that was never added begins here, without a name."""
        return self._items.find(id, index) or self._still_open(index) or self._items.add(id, index)

    def keep(self, call: CallItem, fragment: str) -> None:
        """Keep a piece of arguments for a call without a name."""
        if self._room is None or call.early.tell() + len(fragment) <= self._room:
            call.early.write(fragment)

    def arguments_done(self, id: str | None, index: int | None, arguments: str) -> None:
        """The arguments are said to be whole; LM Studio sends them only so."""
        call = self._items.find(id, index)
        if call is not None and call.call is not None and arguments:
            self._feed(call, arguments)
            self._sink.call_end(call.call)

    def done(
        self, name: str, ids: tuple[str | None, str | None], index: int | None, arguments: str, whole: bool
    ) -> None:
        """The item is said to be done, and `whole` if its status does not say otherwise."""
        call = self._items.named(*ids) or self._unfinished(name, index) or self._items.add(None, index)
        self._begin(call, name, ids, index)
        call.done = True
        self._feed(call, arguments or call.early.getvalue())
        if call.call is not None and whole:
            self._sink.call_end(call.call)

    def close(self) -> None:
        """No more events come: argument text without a call is an error."""
        for call in self._items.all:
            if call.call is None and call.early.tell():
                self._sink.error("frame", "orphan_arguments", f"arguments of no call: {call.early.getvalue()}")

    # -- inside ----------------------------------------------------------------------------------------

    def _begin(self, call: CallItem, name: str, ids: tuple[str | None, str | None], index: int | None) -> None:
        for id in ids:
            self._items.also(call, id, index)
        if call.call is None and name:
            call.name = name
            call.call = self._sink.call_start(name, ids[0] or ids[1] or None)
        elif call.call is None:
            self._sink.error("frame", "call_without_name", f"a call ({ids[0] or ids[1] or 'no id'}) without a name")

    def _feed(self, call: CallItem, arguments: str) -> None:
        """Give a call its arguments, unless it has some."""
        if arguments and call.call is not None and not call.fed:
            call.fed = True
            self._sink.call_arguments(call.call, arguments)

    def _still_open(self, index: int | None) -> CallItem | None:
        """The last call, if a piece without an index and with an unknown id can only be its."""
        last = self._items.last
        return last if index is None and last is not None and last.call is not None and not last.call.closed else None

    def _unfinished(self, name: str, index: int | None) -> CallItem | None:
        """The call of an index whose ids have changed since."""
        call = self._items.find(None, index)
        return call if call is not None and not call.done and call.name in ("", name) else None
