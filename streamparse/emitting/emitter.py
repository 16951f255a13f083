"""What the emitters share: which event becomes what, and what a client may be told of a call and of the end.

| event | what leaves |
|---|---|
| text, reasoning, refusal | at once, in the target's field; a refusal as text where there is no such field |
| calls | piece by piece, see `calls`; Ollama's only whole |
| call revoked | nothing: the end tells (`content_filter`, `refusal`, an error) |
| provider item | in the target's own place for it; nothing where there is none |
| error of a frame | nothing: what could be read is there |
| error of the stream | the target's own error; nothing after it; one that names a filter waits for the end |
| done | the target's finish reason and token counts; calls make of `stop` the target's word for calls |
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeAlias
from uuid import uuid4

import msgspec
from msgspec.structs import replace

from streamparse.emitting.answer import (
    INCOMPLETE_DETAILS,
    STOP_DETAILS,
    explained,
    labelled,
    meaning_of_answer,
    names_filter,
    problem_of,
    taken_back,
)
from streamparse.emitting.calls import CallWriter
from streamparse.emitting.ids import CallIds
from streamparse.emitting.meanings import Meaning, meaning_of
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
from streamparse.finish_reasons import find_full_reason
from streamparse.response import ParsedResponse

__all__ = ["Emitter", "UsagePlace", "encode"]

encode = msgspec.json.Encoder().encode

UsagePlace: TypeAlias = Literal["end", "apart"]
"""Where OpenAI's token counts stand: on the chunk that ends the answer, or on one of their own behind it."""


class Emitter(CallWriter):
    """Writes the events of one answer as the bytes of another wire.

    `emit` gives an event's bytes at once (maybe none), `whole` the body of an answer that is not streamed.  `model`
    is what the answer says it is from; without `id` and `created` (seconds since 1970) they are made here.  `call_id`
    says under which id a call leaves; no two calls leave under one.  With `signed` each thought can be told from the
    next, for signatures belong to them.  `usage` is for OpenAI alone.  Events must be those of one answer in their
    order; one emitter writes one answer.
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
        usage: UsagePlace = "end",
    ) -> None:
        self.model = model
        self.call_id = call_id
        self.call_ids = CallIds(call_id)
        self.signed = signed
        self.usage = usage
        self.id = id if id is not None else self.id_prefix + uuid4().hex
        self.created = created if created is not None else int(time.time())
        self.over = False
        """Whether the stream's error is written, and nothing may follow it."""
        super().__init__()
        self._refused = False
        self._filter: Error | None = None  # names a filter; the end tells whether it ended the turn
        self._ending: dict[str, Any] = {}  # items that explain the end
        self._writers: dict[type, Callable[[Any], bytes]] = {
            TextDelta: self._text,
            ReasoningDelta: self._reasoning,
            RefusalDelta: self._refuse,
            ToolCallStart: self._begin,
            ToolCallDelta: self._continue,
            ToolCallComplete: self._complete,
            ToolCallRevoked: self._revoke,
            ProviderItem: self._take_item,
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
        self.call_ids = CallIds(self.call_id)
        return encode(self._body(response, meaning_of_answer(response)))

    def problem(self, response: ParsedResponse) -> tuple[str, str] | None:
        """Return the code and the message of the error that `whole` writes; None if it writes an answer."""
        return problem_of(response)

    def error_body(self, code: str, message: str, status: int | None = None) -> bytes:
        """Return the body of an error; its kind is that of the HTTP status, or else what the code stands for."""
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

    def _take_item(self, event: ProviderItem) -> bytes:
        if event.kind in (STOP_DETAILS, INCOMPLETE_DETAILS):
            self._ending[event.kind] = event.data
        return self._item(event)

    @property
    def _explanation(self) -> str:
        """Why a filter ended the turn, if one did and the server says why."""
        return explained(self._filter, self._ending.get(STOP_DETAILS))

    def _revoke(self, event: ToolCallRevoked) -> bytes:  # noqa: ARG002
        self._called = False  # a turn is taken back as a whole
        return b""

    def _error(self, event: Error) -> bytes:
        if event.scope != "stream":
            return self._fault(event) if event.scope == "call" else b""
        if names_filter(event):
            self._filter = event
            return b""
        return self._fail(*labelled(event))

    def _fail(self, code: str, message: str) -> bytes:
        self._writers = {}
        self.over = True
        return self._failure(code, message)

    def _done(self, event: Done) -> bytes:
        reason = find_full_reason(event.finish_reason, self._ending.get(INCOMPLETE_DETAILS))
        meaning = meaning_of(reason, ok=event.ok, called=self._called, broken=self._broken, refused=self._refused)
        if meaning == "error":
            named = self._filter
            return self._fail(*(labelled(named) if named else taken_back(reason, self._doubt)))
        return self._end(replace(event, finish_reason=reason), meaning)
