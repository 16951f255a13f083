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

import re
import time
from collections.abc import Callable
from typing import Any, ClassVar
from uuid import uuid4

import msgspec

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
from streamparse.response import ParsedResponse, ToolCall

__all__ = ["Emitter", "argument_text", "encode", "problem_of", "standing_calls"]

encode = msgspec.json.Encoder().encode

_LABELLED = re.compile(r"([\w.\-]{1,64}): (.*)", re.DOTALL)


class Emitter:
    """Writes the events of one answer as the bytes of another wire.

    `emit` gives an event's bytes at once (maybe none), `whole` the body of an answer that is not streamed.  `model`
    is what the answer says it is from; without `id` and `created` (seconds since 1970) they are made here.
    Events must be those of one answer in their order; one emitter writes one answer.
    """

    content_type: ClassVar[str]
    """The media type of a stream; a whole body is `application/json`."""
    id_prefix: ClassVar[str] = ""

    def __init__(self, *, model: str = "", id: str | None = None, created: int | None = None) -> None:
        self.model = model
        self.id = id if id is not None else self.id_prefix + uuid4().hex
        self.created = created if created is not None else int(time.time())
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

    @property
    def over(self) -> bool:
        """Whether the stream's error is written, and nothing may follow it."""
        return not self._writers

    def emit(self, event: Event) -> bytes:
        """Return the bytes that tell an event."""
        write = self._writers.get(event.__class__)
        return write(event) if write is not None else b""

    def whole(self, response: ParsedResponse) -> bytes:
        """Return the body that tells a whole answer; the target's error if the turn failed."""
        problem = problem_of(response)
        if problem is not None:
            return self.error_body(*problem)
        return encode(self._body(response, _meaning(response)))

    def error_body(self, code: str, message: str) -> bytes:
        """Return the body of a response whose status tells of an error."""
        raise NotImplementedError

    # -- what a target has to write ----------------------------------------------------------------------

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
            return self._fail(*_labelled(event))
        if event.scope == "call" and event.index is not None:
            return self._break_off(event.index)
        return b""

    def _fail(self, code: str, message: str) -> bytes:
        self._writers = {}  # nothing may follow
        return self._failure(code, message)

    def _done(self, event: Done) -> bytes:
        meaning = meaning_of(
            event.finish_reason, ok=event.ok, called=self._called, broken=self._broken, refused=self._refused
        )
        if meaning == "error":
            return self._fail(event.finish_reason or "error", "the server took the turn back")
        return self._end(event, meaning)


def standing_calls(response: ParsedResponse) -> list[ToolCall]:
    """The calls that a client may run."""
    return [call for call in response.tool_calls if not call.revoked]


def argument_text(call: ToolCall) -> str:
    """A call's arguments as JSON text: the model's own if it can stand."""
    return encode(call.arguments).decode() if call.source == "recovered" or not call.raw else call.raw


def problem_of(response: ParsedResponse) -> tuple[str, str] | None:
    """Return why the turn failed as a code and a message; None if it did not, or a filter ended it."""
    for error in response.errors:
        if error.scope == "stream":
            return _labelled(error)
    if _meaning(response) == "error":
        return response.finish_reason or "error", "the server took the turn back"
    return None


def _meaning(response: ParsedResponse) -> Meaning:
    return meaning_of(
        response.finish_reason,
        ok=response.ok,
        called=bool(standing_calls(response)),
        broken=bool(response.broken_calls),
        refused=bool(response.refusal),
    )


def _labelled(error: Error) -> tuple[str, str]:
    """The code and the message of an error; a provider's own code stands before its message."""
    label = _LABELLED.fullmatch(error.message) if error.code == "provider_error" else None
    return (label[1], label[2]) if label else (error.code, error.message)
