"""The bytes of one wire in, the bytes of another out; no I/O."""

from __future__ import annotations

from typing import Final

import msgspec

from streamparse.emitting.emitter import Emitter
from streamparse.emitting.outcome import read_error
from streamparse.events import Event, ReasoningDelta, TextDelta
from streamparse.parser import StreamParser
from streamparse.proxy.standing import StandingCalls
from streamparse.response import ParsedResponse, ToolCall

__all__ = ["Rewriter"]

_SAID: Final = (TextDelta, ReasoningDelta)
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Rewriter:
    """Reads an answer with a parser, and writes it with an emitter; `b""` means that nothing leaves yet.

    The answer is the first one: behind the server's end marker nothing is read, in whatever pieces it comes.
    """

    def __init__(self, parser: StreamParser, emitter: Emitter) -> None:
        parser.stop_at_marker()
        self._parser = parser
        self._feed = parser.feed
        self.emitter = emitter
        self._emit = emitter.emit
        self._standing = StandingCalls(parser.origin_of)

    @property
    def response(self) -> ParsedResponse:
        """The answer so far, without the calls that do not leave."""
        return self._standing.without_kept(self._parser.response)

    @property
    def over(self) -> bool:
        """Whether nothing is to come: the server said its last word, or the client was told of an error."""
        return self.emitter.over or self._parser.over

    @property
    def failed(self) -> bool:
        """Whether the answer is an error, and no whole body can tell more."""
        return self.emitter.problem(self.response) is not None

    @property
    def problem(self) -> str:
        """The code of the error that ended the answer; "" if none did."""
        errors = [error.code for error in self.response.errors if error.scope == "stream"]
        return errors[0] if errors else ""

    def feed(self, chunk: bytes) -> bytes:
        """Take what came of the answer; return what the client is sent, in one piece."""
        events = self._feed(chunk)
        if len(events) == 1 and events[0].__class__ in _SAID:
            return self._emit(events[0])
        return self._written(events)

    def close(self) -> bytes:
        """Take the end of the answer."""
        return self._written(self._parser.close())

    def abort(self, message: str) -> bytes:
        """Take that the connection to the server broke; the client is told in its own wire's way."""
        return self._written(self._parser.abort("transport_error", message))

    def whole(self) -> bytes:
        """Close, and return the body of an answer that is not streamed."""
        self._written(self._parser.close())
        return self.emitter.whole(self.response)

    def failure(self, status: int) -> bytes:
        """Close, and return the body that goes with a status which tells of an error."""
        self._written(self._parser.close())
        errors = [error for error in self.response.errors if error.scope == "stream"]
        told = read_error(errors[0]) if errors else ("upstream_error", f"the server answered with status {status}")
        return self.emitter.error_body(*told, status)

    def as_written(self, body: bytes) -> bool:
        """Whether the body can stay.

        It is what was asked for (servers stream that were told not to), nothing was hidden in its text, and each of
        its calls can be run as it stands.
        """
        if not _is_object(body):
            return False
        response = self.response
        foreign = any(error.scope == "stream" and error.code != "provider_error" for error in response.errors)
        recovered = any(call.source == "recovered" for call in response.tool_calls)
        if foreign or response.broken_calls or recovered or not self._ids_stand(response.tool_calls):
            return False
        plain = StreamParser(self._parser.wire or "auto", dialects=())
        plain.feed(body)
        plain.close()
        return _gist(plain.response) == _gist(response)

    def _ids_stand(self, calls: list[ToolCall]) -> bool:
        """Whether each call came with an id that no other has; Ollama's need none."""
        own = {call.id for call in calls if self.emitter.call_id(call.id) == call.id}
        return len(own) == len(calls) or self._parser.wire == "ollama-chat"

    def _written(self, events: list[Event]) -> bytes:
        return b"".join([self._emit(event) for event in self._standing.pass_on(events)])


def _is_object(body: bytes) -> bool:
    try:
        _OBJECT.decode(body)
    except (ValueError, RecursionError):
        return False
    return True


def _gist(response: ParsedResponse) -> tuple[object, ...]:
    return response.content, response.reasoning, response.tool_calls, response.broken_calls
