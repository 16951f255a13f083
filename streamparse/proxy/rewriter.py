"""The bytes of one wire in, the bytes of another out; no I/O.

A client runs the calls that it is sent, and nothing can be taken back.  So `CallFilter` decides which are sent:

| a call | is sent |
|---|---|
| in the server's own field, or in its own markup in open text | piece by piece |
| without a marker of its own, in a thought, or quoted | whole, at a good end of the answer; never if it was revoked |
| that is found only at the end, in text that was sent already | never: it stays text |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec
from msgspec.structs import replace

from streamparse import events
from streamparse.emitting import Emitter, read_error
from streamparse.json.json_safety import try_decode
from streamparse.parser import StreamParser
from streamparse.response import ParsedResponse, ToolCall

_PROSE: Final = (events.TextDelta, events.ReasoningDelta)
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_CERTAIN: Final = ("field", "plain")


class Rewriter:
    """Reads an answer with a parser, and writes it with an emitter; `b""` means that nothing is sent yet.

    The answer is the first one: after the server's end marker nothing is read, in whatever pieces it comes.
    """

    def __init__(self, parser: StreamParser, emitter: Emitter) -> None:
        parser.stop_at_marker()
        self._parser = parser
        self._feed = parser.feed
        self.emitter = emitter
        self._emit = emitter.emit
        self._filter = CallFilter(parser.origin_of)

    @property
    def response(self) -> ParsedResponse:
        """The answer so far, without the calls that are not sent."""
        return self._filter.hide_calls(self._parser.response)

    @property
    def over(self) -> bool:
        """Whether nothing is to come: the server ended its answer, or the client was sent an error."""
        return self.emitter.over or self._parser.over

    @property
    def failed(self) -> bool:
        """Whether the answer is an error, which is all that a whole body can say."""
        return self.emitter.find_failure(self.response) is not None

    @property
    def problem(self) -> str:
        """The code of the error that ended the answer; "" if none did."""
        errors = [error.code for error in self.response.errors if error.scope == "stream"]
        return errors[0] if errors else ""

    def feed(self, chunk: bytes) -> bytes:
        """Take the next piece of the answer; return what the client is sent, in one piece."""
        batch = self._feed(chunk)
        if len(batch) == 1 and batch[0].__class__ in _PROSE:
            return self._emit(batch[0])
        return self._write(batch)

    def close(self) -> bytes:
        """Take the end of the answer."""
        return self._write(self._parser.close())

    def abort(self, message: str) -> bytes:
        """Take that the connection to the server broke; return that in the words of the client's wire."""
        return self._write(self._parser.abort("transport_error", message))

    def whole(self) -> bytes:
        """Close, and return the body of an answer that is not streamed."""
        self.close()
        return self.emitter.whole(self.response)

    def write_failure(self, status: int) -> bytes:
        """Close, and return the body that goes with a status of an error."""
        self.close()
        errors = [error for error in self.response.errors if error.scope == "stream"]
        error = read_error(errors[0]) if errors else ("upstream_error", f"the server answered with status {status}")
        return self.emitter.write_error_body(*error, status)

    def can_stay(self, body: bytes) -> bool:
        """Whether the server's body can be sent as it is.

        It is what was asked for (some servers stream although they should not), nothing was hidden in its text, and
        each of its calls can be run as it is.
        """
        if try_decode(_OBJECT.decode, body) is None:
            return False
        response = self.response
        foreign = any(error.scope == "stream" and error.code != "provider_error" for error in response.errors)
        repaired = any(call.source == "repaired" for call in response.tool_calls)
        if foreign or response.broken_calls or repaired or not self._has_own_ids(response.tool_calls):
            return False
        plain = StreamParser(self._parser.wire or "auto", dialects=())
        plain.feed(body)
        plain.close()
        return _sum_up(plain.response) == _sum_up(response)

    def _has_own_ids(self, calls: list[ToolCall]) -> bool:
        """Whether each call came with an id that no other has; Ollama's need none."""
        own = {call.id for call in calls if self.emitter.call_id(call.id) == call.id}
        return len(own) == len(calls) or self._parser.wire == "ollama-chat"

    def _write(self, batch: list[events.Event]) -> bytes:
        return b"".join([self._emit(event) for event in self._filter.pass_on(batch)])


def _sum_up(response: ParsedResponse) -> tuple[object, ...]:
    return response.content, response.reasoning, response.tool_calls, response.broken_calls


class CallFilter:
    """Passes the events of one answer on, without the calls that do not count; `origin_of` is the parser's."""

    def __init__(self, origin_of: Callable[[int], tuple[events.Source, events.Place]]) -> None:
        self._origin_of = origin_of
        self._waiting: dict[int, list[events.Event]] = {}
        self._hidden: set[int] = set()  # calls that are never sent

    def pass_on(self, batch: list[events.Event]) -> list[events.Event]:
        """Return what may be sent now, in order."""
        return [each for event in batch for each in self._take(event)]

    def hide_calls(self, response: ParsedResponse) -> ParsedResponse:
        """Return the answer without the calls that are never sent."""
        if not self._hidden:
            return response
        hidden = self._hidden
        return replace(
            response,
            tool_calls=[call for call in response.tool_calls if call.index not in hidden],
            broken_calls=[call for call in response.broken_calls if call.index not in hidden],
            order=[mark for mark in response.order if mark.what != "call" or mark.index not in hidden],
            errors=[error for error in response.errors if error.scope != "call" or error.index not in hidden],
        )

    def _take(self, event: events.Event) -> list[events.Event]:
        match event:
            case events.ToolCallStart(index=index):
                self._begin(index)
            case events.ToolCallRevoked(index=index) if index in self._waiting:
                del self._waiting[index]
                self._hidden.add(index)
            case events.Done():
                return [*self._release(event.ok), event]
        return self._follow(event)

    def _begin(self, index: int) -> None:
        source, place = self._origin_of(index)
        if source == "recovered":
            self._hidden.add(index)
        elif place not in _CERTAIN:
            self._waiting[index] = []

    def _follow(self, event: events.Event) -> list[events.Event]:
        """Return an event that may be sent; keep it if its call waits."""
        index = _find_call(event)
        if index is None:
            return [event]
        if index in self._waiting:
            self._waiting[index].append(event)
            return []
        return [] if index in self._hidden else [event]

    def _release(self, ok: bool) -> list[events.Event]:
        """Return what waited for a good end; at a bad one only calls that broke are sent."""
        waiting, self._waiting = self._waiting, {}
        leaving = {index: batch for index, batch in waiting.items() if ok or isinstance(batch[-1], events.Error)}
        self._hidden.update(waiting.keys() - leaving.keys())
        return [event for batch in leaving.values() for event in batch]


def _find_call(event: events.Event) -> int | None:
    """Return the index of the call that an event belongs to."""
    if isinstance(event, (events.ToolCallStart, events.ToolCallDelta, events.ToolCallComplete, events.ToolCallRevoked)):
        return event.index
    return event.index if isinstance(event, events.Error) and event.scope == "call" else None
