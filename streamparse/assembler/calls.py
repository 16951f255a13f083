"""The verbs about calls: what each fragment of arguments is, and which of them is the last.

A native call closes at the brace that closes its root object, for no valid JSON continues after it; that is
the earliest safe moment.  A call found in text closes when its grammar says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.assembler.call import BLANK, CLOSED, ODD, OPEN, PENDING, CallState
from streamparse.assembler.deltas import Deltas
from streamparse.assembler.ends import Ends
from streamparse.assembler.record import Record
from streamparse.events import Place, Source
from streamparse.jsonscan import Scanner
from streamparse.limits import Limits
from streamparse.patterns import plain
from streamparse.sink import Call
from streamparse.tools import Toolset

__all__ = ["Calls"]

_UNDECIDED = plain(r"[ \t\r\n]*(?:\{[ \t\r\n]*)?")
_PLACEHOLDER = plain(r"[ \t\r\n]*\{[ \t\r\n]*\}")
_NOTHING = ("", "null")
_MOST_UNDECIDED = 64  # characters; looking at more again and again would make the work grow with its square


class Calls:
    """The verbs about calls: decides what each fragment is, and when a call is over.

    `ends` tells how calls begin and end; `halt` ends the parse at a stream limit and does not return.
    """

    def __init__(
        self, record: Record, tools: Toolset, limits: Limits, ends: Ends, halt: Callable[[str, str], None]
    ) -> None:
        self._record = record
        self._tools = tools
        self._limits = limits
        self._ends = ends
        self._open = ends.open
        self._waiting = ends.waiting
        self._complete = ends.complete
        self._deltas = Deltas(record, limits, ends.open, halt, ends.error)

    def start(
        self, name: str, id: str | None = None, source: Source = "native", place: Place = "field"
    ) -> Call:  # fmt: skip
        if self._waiting:
            self.supersede()
        call = self._ends.announce(name, id, source)
        call.place = place
        if source == "native":
            call.scanner = Scanner(self._limits.max_depth)
        else:
            written = "json-content" if source == "recovered" else self._record.dialect
            self._record.response.formats[call.index] = written
            self._record.origins[call.index] = (source, place)
        if call.state != CLOSED:
            call.pour = self._deltas.pourer(call)
            self._open[call.index] = call
        return call

    def arguments(self, call: Call, fragment: str) -> None:
        assert isinstance(call, CallState)
        if call.state == OPEN:
            if call.scanner is None or (end := call.scanner.scan(fragment)) < 0:
                call.pour(fragment)
            else:
                self._close_at(call, fragment, end)
        elif call.state == CLOSED:
            self._ends.late(call, fragment)
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
        if self._waiting:
            self.supersede()
        call = self._ends.announce(name, id, "native")
        if call.state == CLOSED:
            return call
        if arguments.strip(BLANK) in _NOTHING:
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
        elif not call.has_begun:  # an open value may not be closed by hearsay
            self._settle(call)

    def repaired(self, call: Call) -> None:
        assert isinstance(call, CallState)
        call.repaired = True

    def supersede(self) -> None:
        """The model moved on: what waits behind a `{}` is complete with it."""
        for call in list(self._waiting.values()):
            self._settle(call)

    def settle_pending(self) -> None:
        """The turn is over: native calls that wait for arguments have none; those that require some wait on."""
        for call in list(self._open.values()):
            if call.source == "native" and not call.has_begun and not self._lacks(call.name, call.raw):
                self._settle(call)

    def settle_empty(self) -> None:
        """The turn is over, why is not said: native calls that have got no arguments, or `{}`, have none."""
        for call in list(self._open.values()):
            empty = call.index in self._waiting or (call.state != OPEN and call.raw.strip(BLANK) in _NOTHING)
            if call.source == "native" and empty and not self._lacks(call.name, call.raw):
                self._settle(call)

    def settle_lacking(self) -> None:
        """No more arguments come: native calls that have none and require some are errors."""
        for call in list(self._open.values()):
            if call.source == "native" and call.state != OPEN and self._lacks(call.name, call.raw):
                self._miss(call)

    def give_up(self) -> None:
        """The stream is over: what is open was cut."""
        for call in list(self._open.values()):
            self._ends.error(call, "truncated_call", f"the stream ended inside the call of {call.name!r}: {call.raw}")

    def look(self, index: int) -> dict[str, Any]:
        """Return the arguments of an open call so far.  Raises KeyError if it is not open."""
        return self._open[index].look(self._limits)

    # -- inside --------------------------------------------------------------------------------------

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
        rest = head[end:].lstrip(BLANK)
        if self._tools.requires_arguments(call.name) is False or (rest and rest[0] != "{"):
            call.head = ""
            call.state = OPEN
            self.arguments(call, head)
        elif rest:
            call.head = ""
            self._waiting.pop(call.index, None)
            self._decide(call, rest)
        else:
            call.head = head[:end]  # blanks behind it are nothing
            self._waiting[call.index] = call

    def _settle(self, call: CallState) -> None:
        """The call is over and its text is not an object that closed by itself: read what there is."""
        text = call.raw
        if self._lacks(call.name, text):
            self._miss(call)
            return
        if text.strip(BLANK) in _NOTHING:
            text = "{}"
        call.restart()
        call.pour(text)
        self._complete(call)

    def _lacks(self, name: str, text: str) -> bool:
        """Whether a text holds no arguments, and the tool requires some."""
        return text.strip(BLANK) in _NOTHING and self._tools.requires_arguments(name) is True

    def _miss(self, call: CallState) -> None:
        self._ends.error(call, "missing_arguments", f"no arguments for {call.name!r}")

    def _close_at(self, call: CallState, fragment: str, end: int) -> None:
        """The root object ends within a fragment, or what should be one turns out to be none."""
        assert call.scanner is not None
        call.pour(fragment[:end])
        if call.scanner.error is not None:
            self._ends.error(call, call.scanner.error, f"the arguments of {call.name!r} are not JSON")
        else:
            self._complete(call)
        self._ends.late(call, fragment[end:])
