"""Deltas: fragments of argument text become events, as far as the limits have room for them."""

from __future__ import annotations

from collections.abc import Callable

from streamparse.assembler.call import CLOSED, OPEN, CallState
from streamparse.assembler.event_log import Record
from streamparse.events import ToolCallDelta
from streamparse.limits import Limits, most

__all__ = ["Deltas"]

_ROOM = 4 * 1024  # characters that a call may take before its pieces are joined and the limits looked at again


class Deltas:
    """Makes the deltas of all calls; `open` holds those that are not closed, by index.

    `halt` ends the parse at a stream limit and does not return; `give_up` ends one call with an error.
    """

    def __init__(
        self,
        record: Record,
        limits: Limits,
        open: dict[int, CallState],
        halt: Callable[[str, str], None],
        give_up: Callable[[CallState, str, str], None],
    ) -> None:
        self._record = record
        self._max_args = most(limits.max_call_args)
        self._max_pending = most(limits.max_pending)
        self._max_alone = min(self._max_args, self._max_pending)
        self._open = open
        self._halt = halt
        self._give_up = give_up

    def pourer(self, call: CallState) -> Callable[[str], None]:
        """The way of nearly every delta; a closure, for it costs less than a method."""
        record, index, write = self._record, call.index, call.pieces.append

        def pour(fragment: str) -> None:
            room = call.room - len(fragment)
            if room < 0:
                fragment = self.fitting(call, fragment)
            else:
                call.room = room
            if fragment:
                write(fragment)
                record.events.append(ToolCallDelta(index, fragment))

        return pour

    def whole(self, call: CallState, text: str) -> None:
        """Make one delta of a call's whole text."""
        if self._open or len(text) > self._max_alone:
            self._open[call.index] = call
            self.pourer(call)(text)
        else:
            call.head = text
            self._record.events.append(ToolCallDelta(call.index, text))

    def fitting(self, call: CallState, fragment: str) -> str:
        """Return the part of a fragment that fits; if it is not all, the call or the stream is given up.

        The call gets room for more, so that not every fragment has to be weighed against every open call.
        """
        if call.state == CLOSED:
            return ""
        pending = self._max_pending - sum(each.size for each in self._open.values())
        left = min(pending, self._max_args - call.size)
        size = len(fragment)
        if size > left:
            self._overflow(call, fragment[:left], left == pending)
            return ""
        if pending < _ROOM * len(self._open):
            for each in self._open.values():
                each.room = 0
        call.room = max(0, min(left, _ROOM) - size)
        return fragment

    def _overflow(self, call: CallState, part: str, pending: bool) -> None:
        """Make of what still fits a last delta, and give up the stream or the call."""
        if call.state == OPEN and part:
            call.pieces.append(part)
            self._record.events.append(ToolCallDelta(call.index, part))
        if pending:
            self._halt("limit_pending", f"the open calls exceed {self._max_pending} characters")
        self._give_up(call, "limit_args", f"the arguments exceed {self._max_args} characters")
