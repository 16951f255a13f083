"""Google Gemini and Vertex AI: `streamGenerateContent`, with `alt=sse` or as one growing JSON array.

A chunk holds candidates, a candidate parts, and a part is one of many things.  Calls come whole, their arguments an
object, or in pieces (`partialArgs`).  There is no end marker: a candidate has a `finishReason`, some bodies just end.
A signature goes back on the very part that it came with, so a text that is signed begins with `content_block_start`;
after a text without that item, it came in an empty part of its own.
The Interactions API (`streamparse.providers.gemini.interactions`) is read too, and so are dumps of Google's SDK and the
envelope of Code Assist.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

import msgspec

from streamparse.limits import Limits
from streamparse.providers.gemini.interactions import InteractionEvent, Interactions
from streamparse.providers.gemini.partial_args import ArgumentWriter, PartialArg, PathError
from streamparse.providers.gemini.sdk_dump import is_dumped, restore_fields, restore_message
from streamparse.reading.decode import get_fields, read_argument_text
from streamparse.reading.message_wire import MessageWire, find_listed_outcome, read_struct
from streamparse.reading.wire import UnknownMessage
from streamparse.sink import Call, Sink
from streamparse.tools import Toolset

# -- ----------------------------------------------------------------------------------------------------
# The shape of a `GenerateContentResponse`, or of an event of an interaction: only the fields that are read.


class FunctionCall(msgspec.Struct, gc=False):
    """A call, or a piece of one."""

    name: str | None = None
    args: msgspec.Raw = msgspec.Raw()
    id: str | None = None
    partialArgs: list[PartialArg] | None = None
    willContinue: bool | None = None


class PartItems(msgspec.Struct, gc=False):
    """What a part may be that is sent on as it came."""

    executableCode: Any = None
    codeExecutionResult: Any = None
    inlineData: Any = None
    fileData: Any = None
    toolCall: Any = None
    toolResponse: Any = None
    functionResponse: Any = None


class Part(PartItems, gc=False):
    """One of many things."""

    text: str | None = None
    thought: bool | None = None
    functionCall: FunctionCall | None = None
    thoughtSignature: str | None = None


class Content(msgspec.Struct, gc=False):
    parts: list[Part] | None = None


class Notes(msgspec.Struct, gc=False):
    """Sources and citations."""

    groundingMetadata: Any = None
    citationMetadata: Any = None
    urlContextMetadata: Any = None


class Candidate(Notes, gc=False):
    content: Content | None = None
    finishReason: str | int | None = None
    index: int | None = None
    finishMessage: str | None = None
    safetyRatings: Any = None
    logprobsResult: Any = None


class Feedback(msgspec.Struct, gc=False):
    """Why the prompt was refused, and what was found in it."""

    blockReason: str | int | None = None
    blockReasonMessage: str | None = None
    safetyRatings: Any = None


class Chunk(InteractionEvent, gc=False):
    """A chunk; Code Assist sends each in an envelope: `{"response": {...}, "traceId": ...}`."""

    candidates: list[Candidate] | None = None
    usageMetadata: dict[str, Any] | None = None
    promptFeedback: Feedback | None = None
    error: Any = None
    response: Chunk | None = None


class _Usage(msgspec.Struct, gc=False):
    serviceTier: str | None = None


class _Facts(msgspec.Struct, gc=False):
    """What a chunk says about the answer, which each repeats."""

    modelVersion: str | None = None
    responseId: str | None = None
    usageMetadata: _Usage | None = None
    response: _Facts | None = None


# -- ----------------------------------------------------------------------------------------------------

_NOTHING: Final = "{} \t\r\n"
_FIELDS: Final = frozenset(("candidates", "promptFeedback", "usageMetadata", "prompt_feedback", "usage_metadata"))


class _Decoder:
    """Decodes messages; the first one shows whether they are dumps of an SDK's objects."""

    __slots__ = ("fast", "is_dump")

    def __init__(self, fast: Callable[[bytes], Chunk]) -> None:
        self.fast = fast
        self.is_dump: bool | None = None

    def __call__(self, data: bytes) -> Chunk:
        if self.is_dump is None:
            self.is_dump = is_dumped(data)
        return self.fast(restore_message(data) if self.is_dump else data)


class Gemini(MessageWire[Chunk]):
    """Google Gemini and Vertex AI: `streamGenerateContent`, with `alt=sse` or as one growing JSON array."""

    ignored: int

    shape: ClassVar[type[Any]] = Chunk
    parses_calls: ClassVar[bool] = True

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:
        super().__init__(sink, tools, limits, choice)
        self._decoder = _Decoder(self.decode)
        self.decode: Callable[[bytes], Any] = self._decoder  # until a message was taken
        self._interactions = Interactions(sink, limits)
        self._usage: dict[str, Any] | None = None  # cumulative, but later ones leave out counts
        self._call: Call | None = None  # whose arguments come in pieces
        self._writer = ArgumentWriter()
        self._id: str | None = None  # and its id, if it has one

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        if not _FIELDS.isdisjoint(message):
            return True
        envelope = message.get("response")
        if isinstance(envelope, dict) and not _FIELDS.isdisjoint(envelope):
            return True
        error = message.get("error")
        if isinstance(error, dict) and isinstance(error.get("code"), int) and isinstance(error.get("status"), str):
            return True
        return Interactions.claims(message)

    def take(self, chunk: Chunk) -> bool:
        if self.decode is self._decoder and not self._decoder.is_dump:
            self.decode = self._decoder.fast
        if self._over:
            self.ignored += 1
            return False
        ends = False
        if chunk.candidates is not None:
            for candidate in chunk.candidates:
                if candidate.index == self._choice or (candidate.index is None and not self._choice):
                    self._take_candidate(candidate)
                    ends = candidate.finishReason is not None
                else:
                    self.ignored += 1
        elif chunk.event_type is not None or chunk.object == "interaction":
            self._interactions.take(chunk)
        elif chunk.response is not None:
            self.take(chunk.response)
        elif chunk.usageMetadata is None and chunk.promptFeedback is None:
            raise UnknownMessage
        if chunk.usageMetadata is not None:
            self._usage = chunk.usageMetadata if self._usage is None else self._usage | chunk.usageMetadata
        if chunk.promptFeedback is not None or chunk.error is not None:
            self._take_failure(chunk)
        return self._looks > 0 or ends

    def read_facts(self, data: bytes) -> None:
        self._looks -= 1
        facts = read_struct(restore_message(data) if self._decoder.is_dump else data, _Facts)
        facts = facts.response or facts if facts is not None else _Facts()
        if facts.modelVersion and facts.responseId:
            self._looks = 0
        self._sink.fact("model", facts.modelVersion)
        self._sink.fact("id", facts.responseId)
        if facts.usageMetadata is not None:
            self._sink.fact("service_tier", facts.usageMetadata.serviceTier)

    def close(self) -> None:
        super().close()
        self._interactions.close()
        self._send_usage(self._usage)

    # -- inside ----------------------------------------------------------------------------------------

    def _mend(self, message: dict[str, Any]) -> None:
        if self._decoder.is_dump:
            restored = restore_fields(message)
            message.clear()
            message.update(restored)

    def _take_candidate(self, candidate: Candidate) -> None:
        content = candidate.content
        if content is not None and content.parts:
            for part in content.parts:
                text = part.text
                if text:
                    if part.thoughtSignature is not None:
                        self._sink.item("content_block_start", {"type": "text"})
                    if part.thought:
                        self._sink.reasoning(text)
                    else:
                        self._text(text)
                if not text or part.thoughtSignature is not None or part.functionCall is not None:
                    self._take_rest(part)
        if candidate.groundingMetadata or candidate.citationMetadata or candidate.urlContextMetadata:
            self._send_new_items(candidate, Notes.__struct_fields__)
        if candidate.safetyRatings:
            self._sink.fact("safety", {"answer": candidate.safetyRatings})
        if candidate.logprobsResult:
            self._sink.fact("logprobs", candidate.logprobsResult)
        if candidate.finishReason is not None:
            self._finish(str(candidate.finishReason), candidate.finishMessage)

    def _take_rest(self, part: Part) -> None:
        """What few parts have: a call, a signature, what the server itself did."""
        call = None
        if part.functionCall is not None:
            call = self._take_call(part.functionCall)
        elif not part.text:
            self._send_items(part, PartItems.__struct_fields__)
        if part.thoughtSignature:
            self._sink.item("thought_signature", part.thoughtSignature, None if call is None else call.index)

    def _take_call(self, function: FunctionCall) -> Call | None:
        """Send a call, or a piece of one, and return it; a further piece has no name, or the same id again."""
        call = self._call
        if function.name and (call is None or not self._is_continued_by(call, function)):
            self._end_call()
            if not (function.willContinue or function.partialArgs):
                return self._sink.call_whole(function.name, read_argument_text(function.args), function.id or None)
            call = self._call = self._sink.call_start(function.name, function.id or None)
            self._writer = ArgumentWriter()
            self._id = function.id
        elif call is None:
            if function.partialArgs or bytes(function.args):
                self._sink.error("frame", "call_without_name", "a call, or a piece of one, without a name")
            return None
        try:
            for part in function.partialArgs or ():
                self._sink.call_arguments(call, self._writer.write(part))
        except PathError as error:
            self._sink.call_error(call, "malformed_call", f"the arguments of {call.name!r}: {error}")
        whole = read_argument_text(function.args)
        if whole.strip(_NOTHING) and not self._writer.has_begun:
            self._call = None
            self._sink.call_arguments(call, whole)
        elif not function.willContinue:
            self._end_call()
        return call

    def _is_continued_by(self, call: Call, function: FunctionCall) -> bool:
        """Whether a piece with a name is one of the open call; without ids only the end of a string is."""
        if call.name != function.name or (function.id or None) != (self._id or None):
            return False
        return bool(self._id) or not self._writer.can_end

    def _end_call(self) -> None:
        """The call in pieces is over, unless a string of it is open: then it was cut."""
        call, self._call = self._call, None
        if call is not None and self._writer.can_end:
            self._sink.call_arguments(call, self._writer.close())
            self._sink.call_end(call)

    def _finish(self, reason: str, message: str | None) -> None:
        outcome = find_listed_outcome(reason)
        if outcome == "stop":
            self._end_call()
        if outcome == "failed" and message:
            self._fail({"code": reason, "message": message})
        self._sink.finish(reason, outcome)

    def _take_failure(self, chunk: Chunk) -> None:
        feedback = chunk.promptFeedback
        if feedback is not None and (found := get_fields(feedback)):
            self._sink.fact("safety", {"prompt": found})
        if feedback is not None and feedback.blockReason is not None:
            if feedback.blockReasonMessage:
                self._fail({"code": feedback.blockReason, "message": feedback.blockReasonMessage})
            self._sink.finish(f"BLOCKED:{feedback.blockReason}", "failed")
        self._fail(chunk.error)
