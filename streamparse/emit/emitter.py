"""What the emitters share: which event becomes what, and what a client may be told of a call and of the end.

| event | what leaves |
|---|---|
| text, reasoning, refusal | at once, in the target's field; a refusal as text where there is no such field |
| call start and deltas | at once, as far as they are valid JSON (see `arguments`); Ollama's calls only whole |
| call complete | the rest of the arguments: for the first time the call is valid JSON |
| call error | the call stays unfinished, and the turn ends as one that was cut |
| call revoked | nothing: the end tells (`content_filter`, `refusal`, an error) |
| provider item | in the target's own place for it; nothing where there is none |
| error of a frame | nothing: what could be read is there |
| error of the stream | the target's own error; nothing after it |
| done | the target's finish reason and token counts; calls make of `stop` the target's word for calls |
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar
from uuid import uuid4

import msgspec

from streamparse.emit.answer import labelled, meaning_of_answer, problem_of
from streamparse.emit.arguments import Arguments
from streamparse.emit.reasons import Meaning, meaning_of
from streamparse.events import (
    Done,
    Error,
    Event,
    ProviderItem,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallRevoked,
    ToolCallStart,
)
from streamparse.response import ParsedResponse

__all__ = ["Emitter", "encode"]

encode = msgspec.json.Encoder().encode


class Emitter:
    """Writes the events of one answer as the bytes of another wire.

    `emit` gives an event's bytes at once (maybe none), `whole` the body of an answer that is not streamed.  `model`
    is what the answer says it is from; without `id` and `created` (seconds since 1970) they are made here.  `call_id`
    says under which id a call leaves.  With `signed` each thought can be told from the next, for signatures belong to
    them.  Events must be those of one answer in their order; one emitter writes one answer.
    """

    content_type: ClassVar[str]
    """The media type of a stream; a whole body is `application/json`."""
    id_prefix: ClassVar[str] = ""

    def __init__(
        self,
        *,
        model: str = "",
        id: str | None = None,
        created: int | None = None,
        call_id: Callable[[str], str] = str,
        signed: bool = False,
    ) -> None:
        self.model = model
        self.call_id = call_id
        self.signed = signed
        self.id = id if id is not None else self.id_prefix + uuid4().hex
        self.created = created if created is not None else int(time.time())
        self.over = False
        """Whether the stream's error is written, and nothing may follow it."""
        self._calls: dict[int, Arguments] = {}
        self._called = False
        self._broken = False
        self._refused = False
        self._writers: dict[type, Callable[[Any], bytes]] = {
            TextDelta: self._text,
            ReasoningDelta: self._reasoning,
            RefusalDelta: self._refuse,
            ToolCallStart: self._begin,
            ToolCallDelta: self._continue,
            ToolCallComplete: self._complete,
            ToolCallRevoked: self._revoke,
            ProviderItem: self._item,
            Error: self._error,
            Done: self._done,
        }
        self._prepare()

    def emit(self, event: Event) -> bytes:
        """Return the bytes that tell an event."""
        write = self._writers.get(event.__class__)
        return write(event) if write is not None else b""

    def whole(self, response: ParsedResponse) -> bytes:
        """Return the body that tells a whole answer; the target's error if the turn failed."""
        problem = self.problem(response)
        if problem is not None:
            return self.error_body(*problem)
        return encode(self._body(response, meaning_of_answer(response)))

    def problem(self, response: ParsedResponse) -> tuple[str, str] | None:
        """Return the code and the message of the error that `whole` writes; None if it writes an answer."""
        return problem_of(response)

    def error_body(self, code: str, message: str) -> bytes:
        """Return the body of a response whose status tells of an error."""
        raise NotImplementedError

    # -- what a target has to write ----------------------------------------------------------------------

    def _prepare(self) -> None:
        """Get ready for the first event."""
        raise NotImplementedError

    def _text(self, event: TextDelta) -> bytes:
        raise NotImplementedError

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        raise NotImplementedError

    def _refusal(self, event: RefusalDelta) -> bytes:
        return self._text(TextDelta(event.text))

    def _start(self, event: ToolCallStart) -> bytes:
        raise NotImplementedError

    def _arguments(self, index: int, text: str) -> bytes:
        raise NotImplementedError

    def _stop(self, event: ToolCallComplete) -> bytes:
        """The call is whole, and all of its arguments are written."""
        raise NotImplementedError

    def _item(self, event: ProviderItem) -> bytes:
        raise NotImplementedError

    def _failure(self, code: str, message: str) -> bytes:
        raise NotImplementedError

    def _end(self, done: Done, meaning: Meaning) -> bytes:
        raise NotImplementedError

    def _body(self, response: ParsedResponse, meaning: Meaning) -> dict[str, Any]:
        raise NotImplementedError

    # -- inside ----------------------------------------------------------------------------------------

    def _refuse(self, event: RefusalDelta) -> bytes:
        self._refused = True
        return self._refusal(event)

    def _revoke(self, event: ToolCallRevoked) -> bytes:  # noqa: ARG002
        self._called = False  # a turn is taken back as a whole
        return b""

    def _begin(self, event: ToolCallStart) -> bytes:
        self._calls[event.index] = Arguments()
        return self._start(event)

    def _continue(self, event: ToolCallDelta) -> bytes:
        text = self._calls[event.index].feed(event.arguments)
        return self._arguments(event.index, text) if text else b""

    def _complete(self, event: ToolCallComplete) -> bytes:
        rest = self._calls[event.index].finish(event)
        if rest is None:
            return self._break_off(event.index)
        self._called = True
        return (self._arguments(event.index, rest) if rest else b"") + self._stop(event)

    def _break_off(self, index: int) -> bytes:
        self._broken = True
        text = self._calls[index].break_off()
        return self._arguments(index, text) if text else b""

    def _error(self, event: Error) -> bytes:
        if event.scope == "stream":
            return self._fail(*labelled(event))
        if event.scope == "call":
            self._broken = True  # even if nothing of it has left
            return self._break_off(event.index) if event.index is not None else b""
        return b""

    def _fail(self, code: str, message: str) -> bytes:
        self._writers = {}
        self.over = True
        return self._failure(code, message)

    def _done(self, event: Done) -> bytes:
        meaning = meaning_of(
            event.finish_reason, ok=event.ok, called=self._called, broken=self._broken, refused=self._refused
        )
        if meaning == "error":
            return self._fail(event.finish_reason or "error", "the server took the turn back")
        return self._end(event, meaning)
