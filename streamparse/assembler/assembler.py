"""The assembler: verbs come in, events go out.

A native call closes at the brace that closes its root object, because no valid JSON continues after it: that is the
earliest safe moment.  A call found in the text closes when its grammar says so.  `call` has the states of a call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.assembler.beginning import judge_beginning
from streamparse.assembler.call import CallState, State
from streamparse.assembler.event_log import EventLog, Offset, ParseHalted
from streamparse.assembler.names import clean_name, find_name_problem
from streamparse.assembler.room import Room
from streamparse.assembler.turn import Turn
from streamparse.events import (
    Done,
    Place,
    ProviderItem,
    ReasoningDelta,
    RefusalDelta,
    Scope,
    Source,
    TextDelta,
    ToolCallDelta,
    ToolCallStart,
)
from streamparse.json import JSONError, Mode
from streamparse.json.scan import Scanner
from streamparse.limits import Limits, most
from streamparse.patterns import BLANKS
from streamparse.response import FACTS, BrokenCall, Mark, ParsedResponse
from streamparse.sink import Call, Outcome
from streamparse.tools import Toolset

_FACTS_OF_PARTS = ("safety", "content_filters")
_NOTHING = ("", "null")
_MAX_ANNOUNCED = 64 * 1024  # bound: a start holds no longer name or id, however long the limits let them be
_EXCERPT = 200  # bound: characters of what is longer than that


class Assembler:
    """The `Sink` at the end of the line: makes the events of an answer, and keeps their sum in `record`.

    With the mode `strict` no arguments are repaired.
    """

    reads_markup = False

    def __init__(self, tools: Toolset, limits: Limits, mode: Mode = "lenient") -> None:
        self.record: EventLog = EventLog()
        self._tools = tools
        self._limits = limits
        self._mode: Mode = mode
        # So many calls are within both bounds.
        self._max_unchecked = min(most(limits.max_calls), most(limits.max_open_calls))
        self._room = Room(limits)
        # Up to this name and id together are within all bounds; without bounds, each is looked at.
        self._max_short = min(limits.max_name or 0, limits.max_id or 0, _EXCERPT)
        self._ids: dict[str, None] = {}  # of the calls so far; an empty set would be larger
        self._last_id = ""  # of the last call: it joins them with the next, for most answers have one call
        self._minted = 0
        self._open: dict[int, CallState] = {}  # the calls that are not closed, by index
        self._waiting: dict[int, CallState] = {}  # those of them that hold a `{}` which may be a placeholder
        # The buffers' own methods: text comes so often that one more call for each piece would show.
        self._add_content = self.record.content.write
        self._add_reasoning = self.record.reasoning.write
        self._turn = Turn()
        self._is_alert = False  # what comes next means more for what came before: a call waits, or a finish has come
        self.calls_found: int = 0
        """How many calls have started so far."""
        self.is_watching = True
        """Whether text, a thought or a call behind a finish takes it back; else who stands in front says when."""

    # -- for the parsers -----------------------------------------------------------------------------------------

    @property
    def has_ended(self) -> bool:
        """Whether the server ended its turn, and has not gone on since."""
        return self._turn.has_ended

    @property
    def has_stopped(self) -> bool:
        """Whether the model itself ended the turn: no limit cut it, and nothing failed."""
        return self._turn.has_stopped

    @property
    def marker(self) -> Offset | None:
        """Where the wire's own end marker is, once it has come and nothing that counts has followed it."""
        return self._turn.marker

    @property
    def is_silent(self) -> bool:
        """Whether nothing of an answer has come so far, nor its end, nor a failure; token counts are none of these."""
        return self.has_said_nothing and self.record.response.finish_reason is None and not self._turn.failure

    @property
    def is_empty(self) -> bool:
        """Whether the model ended its turn, for no call, and said nothing."""
        return self._turn.has_ended_for_no_call and self.has_said_nothing

    @property
    def has_said_nothing(self) -> bool:
        """Whether nothing that is part of an answer has come so far."""
        response = self.response
        content = response.content or response.reasoning or response.refusal or response.own_items
        return not (content or self.calls_found)

    @property
    def response(self) -> ParsedResponse:
        """The answer so far; another look costs only what came since."""
        response = self.record.sum_up()
        self._add_content = self.record.content.write
        self._add_reasoning = self.record.reasoning.write
        return response

    def start_late_call(
        self, name: str, id: str | None, place: Place, reason: str, repairs: tuple[str, ...] = ()
    ) -> CallState:
        """Start a call that was found only at the end, for that reason; `repairs` names what had to be mended."""
        call = self.call_start(name, id, "recovered", place)
        call.reason = reason
        call.repairs += repairs
        return call

    def look(self, index: int) -> dict[str, Any]:
        """Return the arguments of a call so far, or all of them once it is complete.

        Raises KeyError if there is no call of that index, or if it broke.
        """
        for call in reversed(self.record.response.tool_calls):
            if call.index == index:
                return call.arguments
        return self._open[index].read_so_far(self._limits)

    # -- verbs: text and items -----------------------------------------------------------------------------------

    def text(self, text: str) -> None:
        if self._is_alert:
            self._move_on()
        add = self._add_content  # to call it at once would take longer, for it is no method
        add(text)
        self.record.events.append(TextDelta(text))

    def reasoning(self, text: str) -> None:
        if self._is_alert:
            self._move_on()
        add = self._add_reasoning
        add(text)
        self.record.events.append(ReasoningDelta(text))

    def refusal(self, text: str) -> None:
        """Take a piece of a refusal.  A refused turn has no calls, whatever its finish reason is."""
        if self._is_alert:
            self._move_on()
        if not self._turn.revocation:
            self._take_back("refusal")
        self.record.add_refusal(text)
        self.record.events.append(RefusalDelta(text))

    def item(self, kind: str, data: Any, index: int | None = None) -> None:
        self.record.mark_item()
        self.record.events.append(ProviderItem(kind, data, index))
        self.record.response.items.append({"kind": kind, "data": data, "index": index})

    def fact(self, name: str, value: Any) -> None:
        response = self.record.response
        if name == "usage" and isinstance(value, dict):
            response.usage = (response.usage or {}) | value
        elif not value:
            return
        elif name not in FACTS:
            self.item(name, value)
            response.items[-1]["about"] = True
        elif name in _FACTS_OF_PARTS and isinstance(value, dict):
            setattr(response, name, (getattr(response, name) or {}) | value)
        elif name not in _FACTS_OF_PARTS and isinstance(value, str):
            setattr(response, name, value)

    # -- verbs: calls --------------------------------------------------------------------------------------------

    def call_start(
        self, name: str, id: str | None = None, source: Source = "native", place: Place = "field"
    ) -> CallState:  # fmt: skip
        if self._is_alert:
            self._move_on()
        index = self.calls_found
        if index >= self._max_unchecked:
            self._check_for_room(index)
        if self._last_id:
            self._ids[self._last_id] = None
        given = self._last_id = id if id and id not in self._ids else self._make_id(id, index)
        self.calls_found = index + 1
        record = self.record
        response = record.response
        content = record.content_before + record.content.tell()
        reasoning = record.reasoning_before + record.reasoning.tell()
        response.order.append(Mark("call", index, content, reasoning))
        call = CallState(index, given, name)
        if not self._open:
            call.room = self._room.first
        self._open[index] = call
        if source != "native":
            call.source, call.place, call.state = source, place, State.OPEN
            response.dialects[index] = "json-content" if source == "recovered" else record.dialect
            record.origins[index] = (source, place)
        if name.replace("-", "_").isidentifier() and len(name) + len(given) <= self._max_short:
            record.events.append(ToolCallStart(index, given, name))
        else:
            self._announce_doubtful(call, id or "")
        return call

    def call_arguments(self, call: Call, fragment: str, *, restarts: bool = False) -> None:
        assert isinstance(call, CallState)
        if restarts and call.state == State.NOT_AN_OBJECT:
            call.restart()
            call.enter(State.PENDING)
        if call.state == State.OPEN:
            if call.scanner is None or (end := call.scanner.scan(fragment)) < 0:
                self._emit(call, fragment)
            else:
                self._close_at(call, fragment, end)
        elif call.state == State.PENDING:
            if fragment.startswith('{"') and not call.prefix:  # nearly every call begins like this
                self._open_object(call)
                self.call_arguments(call, fragment)
            else:
                self._decide(call, call.prefix + fragment)
        elif call.state == State.NOT_AN_OBJECT:
            call.chunks.append(self._keep_within_limits(call, fragment))
        else:
            self._report_late(call, fragment)

    def call_teller(self, call: Call) -> Callable[[str], None]:
        assert isinstance(call, CallState)
        if call.source != "native":
            return self._make_emitter(call)
        scanner = call.scanner = call.scanner or Scanner(self._limits.max_depth)
        record, index, write = self.record, call.index, call.chunks.append

        def tell(fragment: str) -> None:
            if call.state != State.OPEN:
                self.call_arguments(call, fragment)
                return
            quote = scanner.quote
            is_inside = (  # of a string, as most fragments are; `scan` would find the same
                quote
                and quote not in fragment
                and (("\\" not in fragment and not scanner.overshoot) or scanner.goes_on(fragment))
            )
            if not is_inside and (end := scanner.scan(fragment)) >= 0:
                self._close_at(call, fragment, end)
                return
            room = call.room - len(fragment)
            if room < 0:
                self._emit(call, fragment)
            elif fragment:
                call.room = room
                write(fragment)
                record.events.append(ToolCallDelta(index, fragment))

        return tell

    def call_whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        has_open = bool(self._open)
        call = self.call_start(name, id)
        if call.state >= State.COMPLETE:
            return call
        if arguments.strip(BLANKS) in _NOTHING:
            if self._fail_missing(call, arguments):
                return call
            arguments = "{}"
        if has_open or len(arguments) > min(self._room.max_args, self._room.max_pending):
            self._emit(call, arguments)
        else:
            call.prefix = arguments
            self.record.events.append(ToolCallDelta(call.index, arguments))
        self._complete(call)
        return call

    def call_end(self, call: Call) -> None:
        assert isinstance(call, CallState)
        if call.state >= State.COMPLETE:
            return
        if call.source != "native":
            self._complete(call)
        elif not call.has_begun:  # only its own brace closes an open value
            self._settle(call)

    def call_repaired(self, call: Call) -> None:
        assert isinstance(call, CallState)
        call.mend_markup()

    def call_error(self, call: Call, code: str, message: str) -> None:
        """Give the call up; nothing if it is closed."""
        assert isinstance(call, CallState)
        if call.state >= State.COMPLETE:
            return
        self.record.response.broken_calls.append(BrokenCall(call.name, call.raw, call.id, code, call.index))
        call.enter(State.BROKEN)
        self._open.pop(call.index, None)
        self._waiting.pop(call.index, None)
        call.has_late_error = True  # what follows belongs to this error
        self.record.error("call", code, message, call.index)

    def call_revoke(self, call: Call, reason: str) -> None:
        self.record.revoke(call.index, reason)

    def calls_doubted(self, code: str, message: str) -> None:
        self.record.revoke_inband(code, message)

    # -- verbs: errors and the end -------------------------------------------------------------------------------

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        self.record.error(scope, code, message, None, offset)
        if code == "provider_error":
            self._fail(code)
        elif scope == "stream":
            self._turn.failure = self._turn.failure or code

    def finish(self, reason: str, outcome: Outcome = "stop") -> None:
        self.record.response.finish_reason = reason
        self._turn.outcome = outcome
        self._turn.has_ended = self._is_alert = True
        if outcome == "failed":
            self._fail(reason)
        elif outcome != "cut" and self._open:
            self._settle_pending()

    def end(self) -> None:
        turn = self._turn
        if not turn.has_ended:
            turn.has_ended = self._is_alert = True
            if self._open and turn.is_settled:
                self._settle_empty()
        turn.marker = turn.marker or Offset(self.record.position.offset)

    def go_on(self) -> None:
        self._turn.go_on()

    # -- the end, as the parsers see it --------------------------------------------------------------------------

    def stop(self) -> None:
        """The model ended the turn, as the caller says who feeds the text."""
        self._turn.outcome = "stop"
        self.end()

    def end_whole(self) -> None:
        """The answer came whole and decoded: no arguments will come for a call that has none."""
        self._settle_pending()
        self._fail_lacking()
        self.stop()

    def halt(self, code: str, message: str) -> None:
        """End the parse at a stream limit, with `Done`; raises `ParseHalted`."""
        self.error("stream", code, message)
        self.close()
        raise ParseHalted(code)

    def close(self, truncated: str | None = "stream_truncated") -> None:
        """Give up what is open and make `Done`; `truncated` is the code for a turn that never ended."""
        turn = self._turn
        if turn.is_closed:  # a limit was met while this settled what is open
            return
        turn.is_closed = True
        if truncated and turn.is_cut_off:
            self.record.error("stream", truncated, "the body ended before the server ended its turn")
            turn.failure = truncated
        if turn.is_settled and self._open:
            try:
                self._settle_empty()
            except ParseHalted:  # not even `{}` fits: what is open is cut
                pass
            self._fail_lacking()
        for call in list(self._open.values()):
            self.call_error(call, "truncated_call", f"the stream ended inside the call of {call.name!r}: {call.raw}")
        if turn.lacks_call(self.record.response):
            reason = self.record.response.finish_reason
            self.error("stream", "missing_call", f"the turn ended with {reason!r}, and there is no call")
        if truncated:
            self._check_for_answer()
        if turn.revocation:
            self._take_back(turn.revocation)
        if not turn.has_stopped:
            self.record.revoke_uncertain()
        response = self.record.response
        response.ok = not turn.failure and not self.record.has_taken_back
        self.record.events.append(Done(response.finish_reason, response.usage, response.ok))

    def _check_for_answer(self) -> None:
        """An end marker alone is no answer: before it come at least a reason or the token counts."""
        if self._turn.has_ended and self._turn.outcome is None and self.response.usage is None and self.is_silent:
            self.error("stream", "not_a_stream", "the answer has an end, and nothing before it")

    def _fail(self, reason: str) -> None:
        self._turn.failure = reason
        self._take_back(reason)

    def _take_back(self, reason: str) -> None:
        """Revoke the calls of the turn: those that are complete now, and at the end those that will be."""
        self._turn.revocation = reason
        self.record.revoke_all(reason)

    # -- the start and the end of a call -------------------------------------------------------------------------

    def _check_for_room(self, index: int) -> None:
        """End the parse if there are too many calls for another one."""
        max_calls, max_open = most(self._limits.max_calls), most(self._limits.max_open_calls)
        if index >= max_calls:
            self.halt("limit_calls", f"more than {max_calls} calls")
        if len(self._open) >= max_open:
            self.halt("limit_open_calls", f"more than {max_open} calls are open")

    def _announce_doubtful(self, call: CallState, id: str) -> None:
        """Make the start of a call whose name or id, as it came, is long or holds characters that names seldom hold."""
        if call.source == "native":
            call.name, is_markup = clean_name(call.name, self._tools)
            if is_markup:
                call.mend_markup()
        given, name = call.id, call.name
        start = ToolCallStart(
            call.index,
            given if len(given) <= _MAX_ANNOUNCED else given[:_EXCERPT],
            name if len(name) <= _MAX_ANNOUNCED else name[:_EXCERPT],
        )
        self.record.events.append(start)  # an error follows what is cut
        problem = find_name_problem(name, id, self._tools, self._limits)
        if problem is not None:
            self.call_error(call, *problem)

    def _make_id(self, id: str | None, index: int) -> str:
        """Return an id that no other call of the answer has: results find their calls by the id alone.

        A call that came without one gets `call_0`, `call_1`, ...  A server's own id that an earlier call has gets the
        call's index appended: LocalAI has one id for all calls, relays count anew, some count as we do.  Ids that are
        still to come cannot be known.
        """
        given = id
        while not given or given in self._ids:
            if id:
                given = f"{given}_{index}"
            else:
                given = f"call_{self._minted}"
                self._minted += 1
        return given

    def _complete(self, call: CallState) -> None:
        """The call is whole; it is given up instead if its arguments cannot be read, or it came twice."""
        if call.state >= State.COMPLETE:
            return
        raw = call.raw
        try:
            arguments = call.read_arguments(raw, self._mode, self._limits)
        except JSONError as error:
            message = f"the arguments of {call.name!r} are not a JSON object: {error.message}"
            self.call_error(call, error.code, message)
            return
        if not self.record.add_call(call, arguments, raw):
            message = f"the call of {call.name!r} came both natively and in the text"
            self.call_error(call, "duplicate_call", message)
            return
        call.enter(State.COMPLETE)
        self._open.pop(call.index, None)
        self._waiting.pop(call.index, None)
        if call.repairs:
            self.record.count_repairs(call.repairs)

    def _close_at(self, call: CallState, fragment: str, end: int) -> None:
        """The root object ends within a fragment, or its brackets do not match there."""
        assert call.scanner is not None
        self._emit(call, fragment[:end])
        if call.scanner.error is not None:
            self.call_error(call, call.scanner.error, f"the arguments of {call.name!r} are not JSON")
        else:
            self._complete(call)
        if end < len(fragment):
            self._report_late(call, fragment[end:])

    def _report_late(self, call: CallState, text: str) -> None:
        """Text after the end of a call: blanks are nothing, more is an error, once for each call."""
        if text.strip(BLANKS) and not call.has_late_error:
            call.has_late_error = True
            self.record.error("frame", "late_arguments", f"text after the arguments of {call.name!r} ({call.id})")

    # -- what the arguments of a native call are -----------------------------------------------------------------

    def _open_object(self, call: CallState) -> None:
        """The arguments are an object; its scanner is made only now, for a start has enough to do."""
        call.enter(State.OPEN)
        call.scanner = call.scanner or Scanner(self._limits.max_depth)

    def _decide(self, call: CallState, text: str) -> None:
        """Decide what the arguments are as soon as their first characters show it; until then keep them."""
        takes_nothing = self._tools.requires_arguments(call.name) is False
        beginning, at = judge_beginning(text, takes_nothing)
        if beginning == "undecided":
            call.prefix = text
        elif beginning == "placeholder":
            call.prefix = text[:at]  # blanks after it are nothing
            self._waiting[call.index] = call
            self._is_alert = True
        elif beginning == "replaced":
            self._waiting.pop(call.index, None)
            self._decide(call, text[at:])
        else:
            call.prefix = ""
            if beginning == "object":
                self._open_object(call)
            else:
                call.enter(State.NOT_AN_OBJECT)
            self.call_arguments(call, text)

    # -- calls whose end is not in their text: they have `{}` or nothing -----------------------------------------

    def _settle(self, call: CallState) -> None:
        """The call is over and its text is not an object that closed by itself: read what there is."""
        text = call.raw
        if self._fail_missing(call, text):
            return
        if text.strip(BLANKS) in _NOTHING:
            text = "{}"
        call.restart()
        self._emit(call, text)
        self._complete(call)

    def _move_on(self) -> None:
        """The model moved on: a call that waits with a `{}` is complete, and the turn has not ended yet."""
        self._is_alert = False
        if self.is_watching:
            self.go_on()
        for call in list(self._waiting.values()):
            self._settle(call)

    def _settle_pending(self) -> None:
        """The turn is over: calls that wait for arguments get `{}`, unless their tools require some."""
        for call in self._open_native():
            if not call.has_begun and not self._is_missing_arguments(call.name, call.raw):
                self._settle(call)

    def _settle_empty(self) -> None:
        """The turn is over for an unknown reason: only calls without any text, or with `{}`, get `{}`."""
        for call in self._open_native():
            empty = call.index in self._waiting or (call.state != State.OPEN and call.raw.strip(BLANKS) in _NOTHING)
            if empty and not self._is_missing_arguments(call.name, call.raw):
                self._settle(call)

    def _fail_lacking(self) -> None:
        """No more arguments come: calls that have none although their tools require some are errors."""
        for call in self._open_native():
            if call.state != State.OPEN:
                self._fail_missing(call, call.raw)

    def _open_native(self) -> list[CallState]:
        return [call for call in self._open.values() if call.source == "native"]

    def _is_missing_arguments(self, name: str, text: str) -> bool:
        """Whether a text holds no arguments, and the tool requires some."""
        return text.strip(BLANKS) in _NOTHING and self._tools.requires_arguments(name) is True

    def _fail_missing(self, call: CallState, text: str) -> bool:
        """Give the call up if it lacks its arguments; return whether it does."""
        lacks = self._is_missing_arguments(call.name, text)
        if lacks:
            self.call_error(call, "missing_arguments", f"no arguments for {call.name!r}")
        return lacks

    # -- deltas, as far as the limits have room ------------------------------------------------------------------

    def _emit(self, call: CallState, fragment: str) -> None:
        """Make a delta of a fragment."""
        room = call.room - len(fragment)
        if room < 0:
            fragment = self._keep_within_limits(call, fragment)
        else:
            call.room = room
        if fragment:
            call.chunks.append(fragment)
            self.record.events.append(ToolCallDelta(call.index, fragment))

    def _make_emitter(self, call: CallState) -> Callable[[str], None]:
        """Return the function that makes the deltas of a call; a closure costs less than a method.

        It refers to the call, so the call must not refer to it.
        """
        record, index, write = self.record, call.index, call.chunks.append

        def emit(fragment: str) -> None:
            room = call.room - len(fragment)
            if room < 0:
                fragment = self._keep_within_limits(call, fragment)
            else:
                call.room = room
            if fragment:
                write(fragment)
                record.events.append(ToolCallDelta(index, fragment))

        return emit

    def _keep_within_limits(self, call: CallState, fragment: str) -> str:
        """Return a fragment if it fits; else return "", after the call or the stream was given up.

        The call gets room for more, so that not every fragment has to be weighed against every open call.
        """
        if call.state >= State.COMPLETE:
            return ""
        excess = self._room.find_excess(call, len(fragment), self._open.values())
        if excess is None:
            return fragment
        left, is_stream_limit = excess
        self._give_up_at_limit(call, fragment[:left], is_stream_limit)
        return ""

    def _give_up_at_limit(self, call: CallState, part: str, is_stream_limit: bool) -> None:
        """Make a last delta of what still fits, and give up the stream or the call."""
        if call.state == State.OPEN and part:
            call.chunks.append(part)
            self.record.events.append(ToolCallDelta(call.index, part))
        if is_stream_limit:
            self.halt("limit_pending", f"the open calls exceed {self._room.max_pending} characters")
        self.call_error(call, "limit_args", f"the arguments exceed {self._room.max_args} characters")
