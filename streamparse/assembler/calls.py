"""The calls of one answer: each call's life, from its start to its completion or its error.

A native call closes at the brace that closes its root object, for no valid JSON continues after it; that is
the earliest safe moment.  A call found in text closes when its grammar says so.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from streamparse.assembler.call import CLOSED, ODD, OPEN, PENDING, CallState
from streamparse.assembler.deltas import Deltas
from streamparse.assembler.doubles import Doubles
from streamparse.assembler.names import Names, shown
from streamparse.assembler.record import Record
from streamparse.events import Source, ToolCallComplete, ToolCallRevoked, ToolCallStart
from streamparse.jsonread import JSONError, Mode
from streamparse.jsonscan import Scanner
from streamparse.limits import Limits, most
from streamparse.patterns import plain
from streamparse.response import BrokenCall, ToolCall
from streamparse.sink import Call
from streamparse.tools import Toolset

__all__ = ["Calls"]

_BLANK = " \t\r\n"
_UNDECIDED = plain(r"[ \t\r\n]*(?:\{[ \t\r\n]*)?")
_PLACEHOLDER = plain(r"[ \t\r\n]*\{[ \t\r\n]*\}")
_NOTHING = ("", "null")
_MOST_UNDECIDED = 64  # characters; looking at more again and again would make the work grow with its square


class Calls:
    """The verbs about calls, and what they make.

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
        self._record = record
        self._tools = tools
        self._limits = limits
        self._mode: Mode = mode
        self._mint = mint
        self._halt = halt
        self._max_calls = most(limits.max_calls)
        self._max_open = most(limits.max_open_calls)
        self._names = Names(tools, limits)
        self._deltas = Deltas(record, limits, self.open, halt, self.error)
        self._started = 0
        self._late: set[int] = set()
        self._doubles = Doubles()

    def __len__(self) -> int:
        """How many calls have started."""
        return self._started

    def start(self, name: str, id: str | None = None, source: Source = "native") -> Call:
        call = self._begin(name, id, source)
        if source == "native":
            call.scanner = Scanner(self._limits.max_depth)
        else:
            written = "json-content" if source == "recovered" else self._record.dialect
            self._record.response.formats[call.index] = written
        if call.state != CLOSED:
            call.pour = self._deltas.pourer(call)
            self.open[call.index] = call
        return call

    def arguments(self, call: Call, fragment: str) -> None:
        assert isinstance(call, CallState)
        if call.state == OPEN:
            if call.scanner is None or (end := call.scanner.scan(fragment)) < 0:
                call.pour(fragment)
            else:
                self._close_at(call, fragment, end)
        elif call.state == CLOSED:
            self._late_text(call, fragment)
        elif call.state == PENDING:
            self._decide(call, call.head + fragment)
        else:
            call.pieces.append(self._deltas.fitting(call, fragment))

    def teller(self, call: Call) -> Callable[[str], None]:
        assert isinstance(call, CallState)
        scanner, pour = call.scanner, call.pour
        if scanner is None:
            return pour

        def tell(fragment: str) -> None:
            if call.state != OPEN:
                self.arguments(call, fragment)
            elif (end := scanner.scan(fragment)) < 0:
                pour(fragment)
            else:
                self._close_at(call, fragment, end)

        return tell

    def whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        call = self._begin(name, id, "native")
        if call.state == CLOSED:
            return call
        if arguments.strip(_BLANK) in _NOTHING:
            if self._lacks(name, arguments):
                self._miss(call)
                return call
            arguments = "{}"
        self._deltas.whole(call, arguments)
        self._complete(call)
        return call

    def end(self, call: Call) -> None:
        assert isinstance(call, CallState)
        if call.state == CLOSED:
            return
        if call.source != "native":
            self._complete(call)
        elif call.state != OPEN:  # an open value may not be closed by hearsay
            self.settle(call)

    def repaired(self, call: Call) -> None:
        assert isinstance(call, CallState)
        call.repaired = True

    def error(self, call: Call, code: str, message: str) -> None:
        assert isinstance(call, CallState)
        if call.state == CLOSED:
            return
        raw = call.raw
        self._record.response.broken_calls.append(BrokenCall(call.name, raw, call.id, code, call.index))
        self._close_call(call)
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

    def revoke(self, place: int, reason: str) -> None:
        """Take back the complete call that is at `place` among those of the answer."""
        calls = self._record.response.tool_calls
        call = calls[place]
        calls[place] = replace(call, revoked=True)
        self._record.events.append(ToolCallRevoked(call.index, call.id, reason))

    # -- inside --------------------------------------------------------------------------------------

    def _begin(self, name: str, id: str | None, source: Source) -> CallState:
        """Announce a call; it is closed at once if its name or id cannot be."""
        if self.waiting:
            self.supersede()
        index = self._started
        if index >= self._max_calls:
            self._halt("limit_calls", f"more than {self._max_calls} calls")
        if len(self.open) >= self._max_open:
            self._halt("limit_open_calls", f"more than {self._max_open} calls are open")
        call = CallState(index, id or self._mint(), name, source, PENDING if source == "native" else OPEN)
        self._started += 1
        self._record.mark("call", index)
        self._record.events.append(ToolCallStart(index, shown(call.id), shown(name)))
        fault = self._names.fault(name, call.id)
        if fault is not None:
            self.error(call, *fault)
        return call

    def _decide(self, call: CallState, head: str) -> None:
        """Decide what a native call's arguments are, as soon as their first characters tell."""
        undecided = _UNDECIDED.match(head)
        assert undecided is not None
        if undecided.end() == len(head) <= _MOST_UNDECIDED:
            call.head = head
            return
        placeholder = _PLACEHOLDER.match(head)
        if placeholder is not None:
            self._placeholder(call, head, placeholder.end())
            return
        call.head = ""
        call.state = OPEN if "{" in undecided[0] else ODD
        self.arguments(call, head)

    def _placeholder(self, call: CallState, head: str, end: int) -> None:
        """`{}` is complete if the tool takes nothing; else real arguments may replace it."""
        rest = head[end:].lstrip(_BLANK)
        if self._tools.requires_arguments(call.name) is False or (rest and rest[0] != "{"):
            call.head = ""
            call.state = OPEN
            self.arguments(call, head)
        elif rest:
            call.head = ""
            self.waiting.pop(call.index, None)
            self._decide(call, rest)
        else:
            call.head = head[:end]  # blanks behind it are nothing
            self.waiting[call.index] = call

    def supersede(self) -> None:
        """The model moved on: what waits behind a `{}` is complete with it."""
        for call in list(self.waiting.values()):
            self.settle(call)

    def settle_pending(self) -> None:
        """The turn is over: native calls that wait for arguments have none; those that require some wait on."""
        for call in list(self.open.values()):
            if call.source == "native" and call.state != OPEN and not self._lacks(call.name, call.raw):
                self.settle(call)

    def settle_lacking(self) -> None:
        """No more arguments come: native calls that have none and require some are errors."""
        for call in list(self.open.values()):
            if call.source == "native" and call.state != OPEN and self._lacks(call.name, call.raw):
                self._miss(call)

    def give_up(self) -> None:
        """The stream is over: what is open was cut."""
        for call in list(self.open.values()):
            self.error(call, "truncated_call", f"the stream ended inside the call of {call.name!r}: {call.raw}")

    def settle(self, call: CallState) -> None:
        """The call is over and its text is not an object that closed by itself: read what there is."""
        text = call.raw
        if self._lacks(call.name, text):
            self._miss(call)
            return
        if text.strip(_BLANK) in _NOTHING:
            text = "{}"
        call.restart()
        call.pour(text)
        self._complete(call)

    def _lacks(self, name: str, text: str) -> bool:
        """Whether a text holds no arguments, and the tool requires some."""
        return text.strip(_BLANK) in _NOTHING and self._tools.requires_arguments(name) is True

    def _miss(self, call: CallState) -> None:
        self.error(call, "missing_arguments", f"no arguments for {call.name!r}")

    def _close_at(self, call: CallState, fragment: str, end: int) -> None:
        """The root object ends within a fragment, or what should be one turns out to be none."""
        assert call.scanner is not None
        call.pour(fragment[:end])
        if call.scanner.error is not None:
            self.error(call, call.scanner.error, f"the arguments of {call.name!r} are not JSON")
        else:
            self._complete(call)
        self._late_text(call, fragment[end:])

    def _complete(self, call: CallState) -> None:
        if call.state == CLOSED:
            return
        raw = call.raw
        try:
            arguments, source = call.arguments(raw, self._mode, self._limits)
        except JSONError as error:
            self.error(call, error.code, f"the arguments of {call.name!r} are not a JSON object: {error.message}")
            return
        if self._doubles.has(call, arguments):
            self.error(call, "duplicate_call", f"the call of {call.name!r} came both natively and in the text")
            return
        self._close_call(call)
        if call.repairs:
            self._record.leniencies.update(call.repairs)
        found = ToolCall(call.name, arguments, call.id, source, raw, call.index)
        self._record.response.tool_calls.append(found)
        self._record.events.append(ToolCallComplete(call.index, call.id, call.name, arguments, source, raw))

    def _late_text(self, call: CallState, text: str) -> None:
        """Text after the end of a call: blanks are nothing, more is an anomaly, told once for each call."""
        if text.strip(_BLANK) and call.index not in self._late:
            self._late.add(call.index)
            self._record.error("frame", "late_arguments", f"text after the arguments of {call.name!r} ({call.id})")

    def _close_call(self, call: CallState) -> None:
        call.state = CLOSED
        call.room = -1  # nothing fits any more
        self.open.pop(call.index, None)
        self.waiting.pop(call.index, None)
