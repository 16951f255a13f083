"""The ends of a call: how it is announced, and how it is over: complete, given up, or taken back."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from streamparse.assembler.call import BLANK, CLOSED, OPEN, PENDING, CallState
from streamparse.assembler.duplicates import Doubles
from streamparse.assembler.event_log import Record
from streamparse.assembler.names import Ids, Names, shown
from streamparse.events import Source, ToolCallComplete, ToolCallRevoked, ToolCallStart
from streamparse.json import JSONError, Mode
from streamparse.limits import Limits, most
from streamparse.response import BrokenCall, ToolCall
from streamparse.sink import Call
from streamparse.tools import Toolset

__all__ = ["Ends"]


class Ends:
    """Makes the events about calls as a whole; `Deltas` makes those in between.

    `open` holds the calls that are not closed yet, by index; `waiting` those of them that hold a `{}` which
    may be a placeholder.  `halt` ends the parse at a stream limit and does not return.
    """

    def __init__(
        self,
        record: Record,
        tools: Toolset,
        limits: Limits,
        mode: Mode,
        mint: Callable[[], str],
        halt: Callable[[str, str], None],
    ) -> None:
        self.open: dict[int, CallState] = {}
        self.waiting: dict[int, CallState] = {}
        self.has_taken_back = False
        """Whether a call was taken back for another reason than that it is none."""
        self._record = record
        self._limits = limits
        self._mode: Mode = mode
        self._ids = Ids(mint)
        self._halt = halt
        self._max_calls = most(limits.max_calls)
        self._max_open = most(limits.max_open_calls)
        self._names = Names(tools, limits)
        self._doubles = Doubles()
        self._started = 0
        self._late: set[int] = set()  # calls after which text was told of

    def __len__(self) -> int:
        """How many calls have started."""
        return self._started

    def announce(self, name: str, id: str | None, source: Source) -> CallState:
        """Announce a call; it is closed at once if its name or id cannot be."""
        index = self._started
        if index >= self._max_calls:
            self._halt("limit_calls", f"more than {self._max_calls} calls")
        if len(self.open) >= self._max_open:
            self._halt("limit_open_calls", f"more than {self._max_open} calls are open")
        call = CallState(index, self._ids.give(id, index), name, source, PENDING if source == "native" else OPEN)
        self._started += 1
        self._record.mark("call", index)
        self._record.events.append(ToolCallStart(index, shown(call.id), shown(name)))
        fault = self._names.fault(name, id or "")
        if fault is not None:
            self.error(call, *fault)
        return call

    def complete(self, call: CallState) -> None:
        """The call is whole; it is given up instead if its arguments cannot be read, or it came twice."""
        if call.state == CLOSED:
            return
        raw = call.raw
        try:
            arguments, source = call.arguments(raw, self._mode, self._limits)
        except JSONError as error:
            self.error(call, error.code, f"the arguments of {call.name!r} are not a JSON object: {error.message}")
            return
        double = self._doubles.find(call, arguments)
        if double is not None and not self._yields(double, call):
            self.error(call, "duplicate_call", f"the call of {call.name!r} came both natively and in the text")
            return
        self._close(call)
        if call.repairs:
            self._record.leniencies.update(call.repairs)
        found = ToolCall(call.name, arguments, call.id, source, raw, call.index, place=call.place)
        self._record.response.tool_calls.append(found)
        self._record.events.append(ToolCallComplete(call.index, call.id, call.name, arguments, source, raw, call.place))

    def _yields(self, double: int, call: CallState) -> bool:
        """Whether the same call in the text makes room for a native one, because it does not count as that does.

        It was revoked, is no plain call, had to be repaired, or text follows it.
        """
        if call.source != "native":
            return False
        found = next((each for each in self._record.response.tool_calls if each.index == double), None)
        if found is None:
            return False
        counts = found.place == "plain" and found.source == "inband" and not found.revoked
        if counts and not self._record.has_text_since(double):
            return False
        self.revoke_call(found, "duplicate_call")
        return True

    def error(self, call: Call, code: str, message: str) -> None:
        """Give the call up; nothing if it is over."""
        assert isinstance(call, CallState)
        if call.state == CLOSED:
            return
        raw = call.raw
        self._record.response.broken_calls.append(BrokenCall(call.name, raw, call.id, code, call.index))
        self._close(call)
        self._late.add(call.index)  # what follows belongs to this error
        self._record.error("call", code, message, call.index)

    def doubted(self, code: str, message: str) -> None:
        """Take back the complete calls that were found in the text."""
        found, in_text = self._record.response.tool_calls, self._record.response.formats
        doubted = [place for place, call in enumerate(found) if not call.revoked and call.index in in_text]
        if doubted:
            self._record.error("call", code, message)
        for place in doubted:
            self.revoke(place, code)

    def revoke_call(self, call: Call | ToolCall, reason: str) -> None:
        """Take back a call that is none, if it is complete and was not taken back before."""
        for place, found in enumerate(self._record.response.tool_calls):
            if found.index == call.index and not found.revoked:
                self._mark_revoked(place, reason)

    def revoke_uncertain(self) -> None:
        """The answer was cut: take back the calls that only a good end makes certain."""
        for place, found in enumerate(self._record.response.tool_calls):
            if found.place in ("bare", "thought") and not found.revoked:
                self.revoke(place, "cut")

    def revoke(self, place: int, reason: str) -> None:
        """Take back the complete call that is at `place` among those of the answer."""
        self.has_taken_back = True
        self._mark_revoked(place, reason)

    def _mark_revoked(self, place: int, reason: str) -> None:
        calls = self._record.response.tool_calls
        call = calls[place]
        calls[place] = replace(call, revoked=True)
        self._record.events.append(ToolCallRevoked(call.index, call.id, reason))

    def late(self, call: CallState, text: str) -> None:
        """Text after the end of a call: blanks are nothing, more is an anomaly, told once for each call."""
        if text.strip(BLANK) and call.index not in self._late:
            self._late.add(call.index)
            self._record.error("frame", "late_arguments", f"text after the arguments of {call.name!r} ({call.id})")

    def _close(self, call: CallState) -> None:
        call.state = CLOSED
        call.room = -1  # nothing fits any more
        self.open.pop(call.index, None)
        self.waiting.pop(call.index, None)
