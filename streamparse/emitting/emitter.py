"""What the emitters share: which event becomes what.

| event | what is sent |
|---|---|
| text, reasoning, refusal | at once, in the target's field; a refusal as text where there is no field for it |
| calls | piece by piece, see `calls`; Ollama's only whole |
| call revoked | nothing; the end of the answer shows it (`content_filter`, `refusal`, an error) |
| provider item | in the target's own place for it, if it has one |
| error of a frame | nothing: what could be read was sent |
| error of the stream | the target's own error, and nothing after it; one that names a filter waits for the end |
| done | the target's finish reason and token counts; after calls `stop` becomes the target's word for calls |
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from streamparse import events
from streamparse.emitting.calls import CallWriter
from streamparse.emitting.outcome import Outcome, read_outcome
from streamparse.response import ParsedResponse

encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode

UsagePlace: TypeAlias = Literal["end", "apart"]
"""Where OpenAI's token counts are: on the chunk that ends the answer, or on one of their own after it."""


class Emitter:
    """Writes the events of one answer as the bytes of another wire.

    `emit` gives an event's bytes at once (maybe none), `whole` the body of an answer that is not streamed.  `model`
    is what the answer names as its model; without `id` and `created` (seconds since 1970) they are made here.
    `call_id` maps a call's id to the one that is sent; no two calls get the same.  With `signed` each thought is kept
    apart from the next, since each has its own signature.  `usage` matters to OpenAI's wire only.  Events must be those
    of one answer, in order; one emitter writes one answer.
    """

    content_type: ClassVar[str]
    """The media type of a stream; a whole body is `application/json`."""
    id_prefix: ClassVar[str] = ""
    call_writer: ClassVar[type[CallWriter]] = CallWriter

    def __init__(
        self,
        *,
        model: str = "",
        id: str | None = None,
        created: int | None = None,
        call_id: Callable[[str], str] = str,
        signed: bool = False,
        usage: UsagePlace = "end",
    ) -> None:
        self.model = model
        self.call_id = call_id
        self.signed = signed
        self.usage = usage
        self.id: str = id if id is not None else self.id_prefix + uuid4().hex
        self.created: int = created if created is not None else int(time.time())
        self.over: bool = False
        """Whether the stream's error is written, and nothing may follow it."""
        self._ids = set[str]()  # ids that calls were sent under
        self._outcome = Outcome()
        self._calls = self.call_writer(self, self._outcome)
        self._writers: dict[type, Callable[[Any], bytes]] = {
            events.TextDelta: self._write_text,
            events.ReasoningDelta: self._write_reasoning,
            events.RefusalDelta: self._take_refusal,
            events.ToolCallStart: self._calls.begin,
            events.ToolCallDelta: self._calls.extend,
            events.ToolCallComplete: self._calls.complete,
            events.ToolCallRevoked: self._revoke,
            events.ProviderItem: self._take_item,
            events.Error: self._take_error,
            events.Done: self._take_end,
        }
        self._prepare()

    def emit(self, event: events.Event) -> bytes:
        """Return the bytes that an event becomes."""
        write = self._writers.get(event.__class__)
        return write(event) if write is not None else b""

    def whole(self, response: ParsedResponse) -> bytes:
        """Return the body of a whole answer; the target's error if the turn failed."""
        outcome, failure = self._read_outcome(response)
        if failure is not None:
            return self.write_error_body(*failure)
        self._ids.clear()
        return encode(self._make_body(response, outcome))

    def find_failure(self, response: ParsedResponse) -> tuple[str, str] | None:
        """Return the code and the message of the error that `whole` writes; None if it writes an answer."""
        return self._read_outcome(response)[1]

    def write_error_body(self, code: str, message: str, status: int | None = None) -> bytes:
        """Return the body of an error; the HTTP status says its kind, or the code if there is no status."""
        raise NotImplementedError

    # -- what a target has to write ----------------------------------------------------------------------

    def _prepare(self) -> None:
        """Get ready for the first event."""
        raise NotImplementedError

    def _write_text(self, event: events.TextDelta) -> bytes:
        raise NotImplementedError

    def _write_reasoning(self, event: events.ReasoningDelta) -> bytes:
        raise NotImplementedError

    def _write_refusal(self, event: events.RefusalDelta) -> bytes:
        return self._write_text(events.TextDelta(event.text))

    def write_call_start(self, event: events.ToolCallStart, /) -> bytes:
        raise NotImplementedError

    def write_arguments(self, index: int, text: str, /) -> bytes:
        raise NotImplementedError

    def write_call_end(self, event: events.ToolCallComplete, /) -> bytes:  # noqa: ARG002 - where the JSON says it
        return b""

    def _write_item(self, event: events.ProviderItem) -> bytes:  # noqa: ARG002 - where there is no place for any
        return b""

    def _write_failure(self, code: str, message: str) -> bytes:
        raise NotImplementedError

    def _write_end(self, done: events.Done) -> bytes:
        """Write the end of an answer that did not fail; `done` has the full finish reason."""
        raise NotImplementedError

    def _make_body(self, response: ParsedResponse, outcome: Outcome) -> dict[str, Any]:
        raise NotImplementedError

    def _read_outcome(self, response: ParsedResponse) -> tuple[Outcome, tuple[str, str] | None]:
        return read_outcome(response)

    # -- inside ----------------------------------------------------------------------------------------

    def _give_id(self, id: str, index: int) -> str:
        """Return the id under which a call is sent; call it once for each call.

        Some servers give two calls one id (a relay that counts anew, a model that was shown an id in its prompt).  The
        first that is sent keeps it; others get their index appended.
        """
        given = self.call_id(id)
        while given in self._ids:
            given = f"{given}_{index}"
        self._ids.add(given)
        return given

    def _take_refusal(self, event: events.RefusalDelta) -> bytes:
        self._outcome.refused = True
        return self._write_refusal(event)

    def _take_item(self, event: events.ProviderItem) -> bytes:
        self._outcome.take_item(event)
        return self._write_item(event)

    def _revoke(self, _event: events.ToolCallRevoked) -> bytes:
        self._outcome.called = False  # a server takes a turn back as a whole
        return b""

    def _take_error(self, event: events.Error) -> bytes:
        failure = self._outcome.take_error(event)
        if failure is not None:
            return self._fail(*failure)
        return self._calls.fail(event) if event.scope == "call" else b""

    def _fail(self, code: str, message: str) -> bytes:
        self._writers = {}
        self.over = True
        return self._write_failure(code, message)

    def _take_end(self, event: events.Done) -> bytes:
        self._outcome.end_turn(event.finish_reason, ok=event.ok)
        failure = self._outcome.failure
        if failure is not None:
            return self._fail(*failure)
        return self._write_end(replace(event, finish_reason=self._outcome.finish_reason))
