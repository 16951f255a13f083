"""The bytes of one wire in, the bytes of another out; no I/O."""

from __future__ import annotations

from streamparse.emit import Emitter
from streamparse.events import Event
from streamparse.parser import StreamParser
from streamparse.response import ParsedResponse

__all__ = ["Rewriter"]


class Rewriter:
    """Reads an answer with a parser, and writes it with an emitter; `b""` means that nothing leaves yet."""

    def __init__(self, parser: StreamParser, emitter: Emitter) -> None:
        self._parser = parser
        self._feed = parser.feed
        self.emitter = emitter
        self._emit = emitter.emit

    @property
    def response(self) -> ParsedResponse:
        """The answer so far."""
        return self._parser.response

    @property
    def failed(self) -> bool:
        """Whether the answer is an error, and no whole body can tell more."""
        return self.emitter.problem(self.response) is not None

    def feed(self, chunk: bytes) -> bytes:
        """Take what came of the answer; return what the client is sent, in one piece."""
        events = self._feed(chunk)
        return self._emit(events[0]) if len(events) == 1 else self._written(events)

    def close(self) -> bytes:
        """Take the end of the answer."""
        return self._written(self._parser.close())

    def abort(self, message: str) -> bytes:
        """Take that the connection to the server broke; the client is told in its own wire's way."""
        return self._written(self._parser.abort("transport_error", message))

    def whole(self) -> bytes:
        """Close, and return the body of an answer that is not streamed."""
        self._parser.close()
        return self.emitter.whole(self._parser.response)

    def as_written(self, body: bytes) -> bool:
        """Whether the body can stay: nothing was hidden in its text, and each of its calls can be run as it stands."""
        response = self._parser.response
        foreign = any(error.scope == "stream" and error.code != "provider_error" for error in response.errors)
        if foreign or response.broken_calls or any(call.source == "recovered" for call in response.tool_calls):
            return False
        plain = StreamParser(self._parser.wire or "auto", dialects=())
        plain.feed(body)
        plain.close()
        return _gist(plain.response) == _gist(response)

    def _written(self, events: list[Event]) -> bytes:
        return b"".join([self._emit(event) for event in events])


def _gist(response: ParsedResponse) -> tuple[object, ...]:
    return response.content, response.reasoning, response.tool_calls, response.broken_calls
