"""The assembler: the only author of events, indexes, ids and completeness.

A call's life:

    call_start ─▶ PENDING ─▶ OPEN ─▶ CLOSED
                     │  └────▶ ODD ──▲
                     └───────────────┘

PENDING: nothing that counts has come (blanks, or `{` `}` that may be a placeholder); nothing was streamed.
OPEN: the root object has begun; each fragment is a delta at once.
ODD: the text begins with something else than `{` (`null`, a string that holds the object); it is kept
until the call is over.  CLOSED: complete, or given up with an error; what follows may add nothing.

A native call closes at the brace that closes its root object, for no valid JSON continues after it; that is
the earliest safe moment.  A call found in text closes when its grammar says so.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from io import StringIO
from itertools import count
from typing import Any, Final, NamedTuple, Protocol

from msgspec.structs import replace

from streamparse.events import (
    Done,
    Error,
    Event,
    ProviderItem,
    ReasoningDelta,
    RefusalDelta,
    Scope,
    Source,
    TextDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallRevoked,
    ToolCallStart,
)
from streamparse.jsonread import JSONError, Mode, read
from streamparse.jsonscan import Scanner
from streamparse.limits import Limits
from streamparse.response import BrokenCall, ParsedResponse, ToolCall
from streamparse.sink import Call, Outcome
from streamparse.tools import Toolset

__all__ = ["Assembler", "At", "Halt", "Place", "mint_ids"]

PENDING: Final = 0
OPEN: Final = 1
ODD: Final = 2
CLOSED: Final = 3

_BLANK = " \t\r\n"
_UNDECIDED = re.compile(r"[ \t\r\n]*(?:\{[ \t\r\n]*)?")
_PLACEHOLDER = re.compile(r"[ \t\r\n]*\{[ \t\r\n]*\}")
_MOST_UNDECIDED = 64  # characters; looking at more again and again would make the work grow with its square
_SHOWN = 200


class Halt(Exception):
    """A stream limit ended the parse; `Done` has been made.  Never leaves the library."""


class Place(Protocol):
    """Something that stands at an offset of the stream: a frame, a framer."""

    @property
    def offset(self) -> int | None: ...


class At(NamedTuple):
    """A bare offset."""

    offset: int | None


def mint_ids() -> Callable[[], str]:
    """Return a maker of ids for calls that came without one: `call_0`, `call_1`, ..."""
    numbers = count()
    return lambda: f"call_{next(numbers)}"


class _Call:
    """One call's state."""

    __slots__ = (
        "doubled",
        "head",
        "id",
        "index",
        "name",
        "repaired",
        "room",
        "scanner",
        "source",
        "state",
        "text",
        "write",
    )

    def __init__(self, index: int, id: str, name: str, source: Source, limits: Limits) -> None:
        self.index = index
        self.id = id
        self.name = name
        self.source = source
        self.state = PENDING if source == "native" else OPEN
        self.head = ""  # what came while PENDING
        self.text = StringIO()
        self.write = self.text.write
        self.room = _most(limits.max_call_args)  # characters that still fit
        # For a call found in text it is the grammar that watches for the end.
        self.scanner = Scanner(limits.max_depth) if source == "native" else None
        self.repaired = False
        self.doubled = False  # the same call came the other way too

    @property
    def closed(self) -> bool:
        return self.state == CLOSED

    @property
    def pending(self) -> bool:
        return self.state == PENDING


class Assembler:
    """Turns verbs into events; keeps every call's life and the sum of the answer.

    `place` is where in the stream the verbs being told come from; errors carry its offset.
    """

    def __init__(
        self, tools: Toolset, limits: Limits, mint: Callable[[], str] | None = None, mode: Mode = "lenient"
    ) -> None:
        self.place: Place = At(None)
        self._tools = tools
        self._limits = limits
        self._mint = mint or mint_ids()
        self._mode: Mode = mode
        self.events: list[Event] = []
        self._calls: list[_Call] = []
        self._open: dict[int, _Call] = {}  # not closed yet, by index
        self._waiting: dict[int, _Call] = {}  # of these, those that hold a `{}` which may be a placeholder
        self._room = _most(limits.max_pending)  # characters that still fit, all open calls together
        self._content = StringIO()
        self._add_content = self._content.write
        self._reasoning = StringIO()
        self._refusal = StringIO()
        self._late: set[int] = set()
        self._ways: set[bool] = set()  # whether calls came natively, and whether in the text
        self._response = ParsedResponse(tool_calls=[], broken_calls=[], items=[], errors=[])
        self._ended = False
        self._failed = ""  # why the turn does not count
        self._taken_back = ""  # why the server took the turn back, if it did
        self._done = False

    # -- what was made -------------------------------------------------------------------------------

    def take(self) -> list[Event]:
        """Return the events made since the last time; the same as swapping `events` for a new list."""
        events = self.events
        self.events = []
        return events

    @property
    def calls_found(self) -> int:
        """How many calls have started so far."""
        return len(self._calls)

    @property
    def ended(self) -> bool:
        """Whether the server ended its turn."""
        return self._ended

    @property
    def open_calls(self) -> bool:
        """Whether any call has started and not closed."""
        return bool(self._open)

    @property
    def response(self) -> ParsedResponse:
        """The answer so far."""
        response = self._response
        response.content = self._content.getvalue()
        response.reasoning = self._reasoning.getvalue()
        response.refusal = self._refusal.getvalue()
        return response

    # -- text ----------------------------------------------------------------------------------------

    def text(self, text: str) -> None:
        if self._waiting:
            self._supersede()
        self._add_content(text)
        self.events.append(TextDelta(text))

    def reasoning(self, text: str) -> None:
        if self._waiting:
            self._supersede()
        self._reasoning.write(text)
        self.events.append(ReasoningDelta(text))

    def refusal(self, text: str) -> None:
        if self._waiting:
            self._supersede()
        self._refusal.write(text)
        self.events.append(RefusalDelta(text))

    def item(self, kind: str, data: Any, index: int | None = None) -> None:
        self.events.append(ProviderItem(kind, data, index))
        self._response.items.append({"kind": kind, "data": data, "index": index})

    # -- calls ---------------------------------------------------------------------------------------

    def call_start(self, name: str, id: str | None = None, source: Source = "native") -> Call:
        if self._waiting:
            self._supersede()
        limits = self._limits
        if limits.max_calls is not None and len(self._calls) >= limits.max_calls:
            self.halt("limit_calls", f"more than {limits.max_calls} calls")
        if limits.max_open_calls is not None and len(self._open) >= limits.max_open_calls:
            self.halt("limit_open_calls", f"more than {limits.max_open_calls} calls are open")
        call = _Call(len(self._calls), id or self._mint(), name, source, limits)
        self._calls.append(call)
        self._ways.add(source == "native")
        self._open[call.index] = call
        self.events.append(ToolCallStart(call.index, _shown(call.id), _shown(name)))
        if limits.max_name is not None and len(name) > limits.max_name:
            self.call_error(call, "limit_name", f"a name of {len(name)} characters")
        elif limits.max_id is not None and len(call.id) > limits.max_id:
            self.call_error(call, "limit_id", f"an id of {len(call.id)} characters")
        return call

    def call_arguments(self, call: Call, fragment: str) -> None:
        assert isinstance(call, _Call)
        if call.state == OPEN:
            if call.scanner is None or (end := call.scanner.scan(fragment)) < 0:
                self._delta(call, fragment)
            else:
                self._close_at(call, fragment, end)
        elif call.state == CLOSED:
            self._late_text(call, fragment)
        elif call.state == PENDING:
            self._begin(call, call.head + fragment)
        else:
            call.write(self._fitting(call, fragment))

    def call_teller(self, call: Call) -> Callable[[str], None]:
        assert isinstance(call, _Call)
        assert call.scanner is None, "a native call is watched for its end"
        return partial(self._delta, call)

    def call_whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        call = self.call_start(name, id)
        assert isinstance(call, _Call)
        call.write(self._fitting(call, arguments))
        if call.state != CLOSED:
            self._settle(call, whole=True)
        return call

    def call_end(self, call: Call) -> None:
        assert isinstance(call, _Call)
        if call.state == CLOSED:
            return
        if call.source != "native":
            self._complete(call)
        elif call.state != OPEN:  # an open value may not be closed by hearsay
            self._settle(call)

    def call_repaired(self, call: Call) -> None:
        assert isinstance(call, _Call)
        call.repaired = True

    def call_error(self, call: Call, code: str, message: str) -> None:
        assert isinstance(call, _Call)
        if call.state == CLOSED:
            return
        raw = call.head + call.text.getvalue()
        self._response.broken_calls.append(BrokenCall(call.name, raw, call.id, code, call.index))
        self._close_call(call)
        self._late.add(call.index)  # what follows belongs to this error
        self._error("call", code, message, call.index)

    # -- the end -------------------------------------------------------------------------------------

    def usage(self, usage: dict[str, Any]) -> None:
        self._response.usage = {**(self._response.usage or {}), **usage}

    def finish(self, reason: str, outcome: Outcome = "stop") -> None:
        self._response.finish_reason = reason
        self._ended = True
        if outcome == "failed":
            self._take_back(reason)
        elif outcome == "stop":
            for call in list(self._open.values()):
                if call.source == "native" and call.state != OPEN:
                    self._settle(call)

    def end(self) -> None:
        self._ended = True

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        self._error(scope, code, message, None, offset)
        if code == "provider_error":
            self._take_back(code)
        elif scope == "stream":
            self._failed = self._failed or code

    def halt(self, code: str, message: str) -> None:
        """End the parse at a stream limit, with `Done`; raises `Halt`."""
        self.error("stream", code, message)
        self.close()
        raise Halt(code)

    def close(self, truncated: str | None = "stream_truncated") -> None:
        """Give up what is open and make `Done`; `truncated` is the code for a turn that never ended."""
        if self._done:
            return
        self._done = True
        if truncated and not self._ended and not self._failed:
            self._error("stream", truncated, "the body ended before the server ended its turn")
            self._failed = truncated
        for call in list(self._open.values()):
            raw = call.head + call.text.getvalue()
            self.call_error(call, "truncated_call", f"the stream ended inside the call of {call.name!r}: {raw}")
        if self._taken_back:
            self._take_back(self._taken_back)
        response = self._response
        response.ok = not self._failed
        self.events.append(Done(response.finish_reason, response.usage, response.ok))

    # -- inside --------------------------------------------------------------------------------------

    def _begin(self, call: _Call, head: str) -> None:
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
        self.call_arguments(call, head)

    def _placeholder(self, call: _Call, head: str, end: int) -> None:
        """`{}` is complete if the tool takes nothing; else real arguments may replace it."""
        rest = head[end:].lstrip(_BLANK)
        if self._tools.requires_arguments(call.name) is False or (rest and rest[0] != "{"):
            call.head = ""
            call.state = OPEN
            self.call_arguments(call, head)
        elif rest:
            call.head = ""
            self._waiting.pop(call.index, None)
            self._begin(call, rest)
        else:
            call.head = head[:end]  # blanks behind it are nothing
            self._waiting[call.index] = call

    def _supersede(self) -> None:
        """The model moved on: what waits behind a `{}` is complete with it."""
        for call in list(self._waiting.values()):
            self._settle(call)

    def _settle(self, call: _Call, whole: bool = False) -> None:
        """The call is over and its text is not an object that closed by itself: read what there is."""
        text = call.head + call.text.getvalue()
        kept = text.strip(_BLANK)
        if kept in ("", "null") and not whole and self._tools.requires_arguments(call.name):
            self.call_error(call, "missing_arguments", f"no arguments for {call.name!r}")
            return
        if kept in ("", "null"):
            text = "{}"
        call.head = ""
        call.text = StringIO()
        call.write = call.text.write
        if call.state == ODD or whole:
            call.room += len(text)  # they were counted when they were kept
        self._delta(call, text)
        self._complete(call)

    def _close_at(self, call: _Call, fragment: str, end: int) -> None:
        """The root object ends within a fragment, or what should be one turns out to be none."""
        assert call.scanner is not None
        self._delta(call, fragment[:end])
        if call.scanner.error is not None:
            self.call_error(call, call.scanner.error, f"the arguments of {call.name!r} are not JSON")
        else:
            self._complete(call)
        self._late_text(call, fragment[end:])

    def _delta(self, call: _Call, fragment: str) -> None:
        size = len(fragment)
        if size > call.room or size > self._room:
            fragment = self._fitting(call, fragment)
        else:
            call.room -= size
            self._room -= size
        if fragment:
            call.write(fragment)
            self.events.append(ToolCallDelta(call.index, fragment))

    def _fitting(self, call: _Call, fragment: str) -> str:
        """Return the part of a fragment that fits; if it is not all, the call or the stream is given up."""
        most = min(call.room, self._room)
        if call.state == CLOSED:
            return ""
        if len(fragment) > most and most == self._room:
            self.halt("limit_pending", f"the open calls exceed {self._limits.max_pending} characters")
        if len(fragment) > most:
            part = fragment[:most]
            if call.state == OPEN and part:
                call.write(part)
                self.events.append(ToolCallDelta(call.index, part))
            self.call_error(call, "limit_args", f"the arguments exceed {self._limits.max_call_args} characters")
            return ""
        call.room -= len(fragment)
        self._room -= len(fragment)
        return fragment

    def _complete(self, call: _Call) -> None:
        if call.state == CLOSED:
            return
        raw = call.text.getvalue()
        try:
            arguments, source = self._decode(call, raw)
        except JSONError as error:
            self.call_error(call, error.code, f"the arguments of {call.name!r} are not a JSON object: {error.message}")
            return
        if self._doubles(call, arguments):
            self.call_error(call, "duplicate_call", f"the call of {call.name!r} came both natively and in the text")
            return
        self._close_call(call)
        found = ToolCall(call.name, arguments, call.id, source, raw, call.index)
        self._response.tool_calls.append(found)
        self.events.append(ToolCallComplete(call.index, call.id, call.name, arguments, source, raw))

    def _doubles(self, call: _Call, arguments: dict[str, Any]) -> bool:
        """Whether the same call came before by the other way: natively and in the text.

        Some servers parse a call and leak its text too.  Of one way, the same call twice is two calls.
        """
        if len(self._ways) < 2:
            return False
        native = call.source == "native"
        for earlier in self._response.tool_calls:
            other = self._calls[earlier.index]
            if (
                (other.source == "native") != native
                and not other.doubled
                and (other.name, earlier.arguments) == (call.name, arguments)
            ):
                other.doubled = True
                return True
        return False

    def _decode(self, call: _Call, raw: str) -> tuple[dict[str, Any], Source]:
        """Read a call's argument text; a value in a string (encoded twice) counts as a repair."""
        try:
            reading = read(raw, self._mode, self._limits)
        except JSONError:
            if call.source == "native" or self._mode == "strict":
                raise
            reading = read(raw, "heal", self._limits)
        value, repaired = reading.value, bool(reading.repairs) or call.repaired
        if isinstance(value, str) and self._mode != "strict":
            value, repaired = read(value, self._mode, self._limits).value, True
        if not isinstance(value, dict):
            raise JSONError("invalid_arguments", f"found {type(value).__name__}", 0)
        return value, "recovered" if repaired else call.source

    def _late_text(self, call: _Call, text: str) -> None:
        """Text after the end of a call: blanks are nothing, more is an anomaly, told once for each call."""
        if text.strip(_BLANK) and call.index not in self._late:
            self._late.add(call.index)
            self._error("frame", "late_arguments", f"text after the arguments of {call.name!r} ({call.id})")

    def _close_call(self, call: _Call) -> None:
        call.state = CLOSED
        call.room = -1  # nothing fits any more
        if self._limits.max_pending is not None:
            self._room += call.text.tell()
        self._open.pop(call.index, None)
        self._waiting.pop(call.index, None)

    def _error(
        self, scope: Scope, code: str, message: str, index: int | None = None, offset: int | None = None
    ) -> None:
        event = Error(scope, code, message, index, self.place.offset if offset is None else offset)
        self.events.append(event)
        self._response.errors.append(event)

    def _take_back(self, reason: str) -> None:
        """The server ended the turn with a failure: no call of it stands."""
        self._failed = self._taken_back = reason
        calls = self._response.tool_calls
        for position, call in enumerate(calls):
            if not call.revoked:
                calls[position] = replace(call, revoked=True)
                self.events.append(ToolCallRevoked(call.index, call.id, reason))


def _most(limit: int | None) -> int:
    return sys.maxsize if limit is None else limit


def _shown(word: str) -> str:
    """Names and ids over every bound are cut in the event that announces them; an error follows it."""
    return word if len(word) <= 64 * 1024 else word[:_SHOWN]
