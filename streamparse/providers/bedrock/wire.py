"""Amazon Bedrock: the events of Converse, and what `invoke` wraps.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html

Each message of the AWS event stream is one event, named in its header:

    messageStart (contentBlockStart? contentBlockDelta* contentBlockStop)* messageStop metadata

Only calls have a contentBlockStart.  `chunk` is one message of the model's own API in base64, whose wire shows as that
of a body does (`bedrock_invoke`); Nova's are Converse events that are named in their JSON, as boto3 hands them over:
`{"contentBlockDelta": {...}}`.  An exception is an event too.  Whole bodies are read as well.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

import msgspec

from streamparse.frames import Frame
from streamparse.limits import Limits
from streamparse.patterns import lazy_re
from streamparse.providers.bedrock.invoke import Invoked
from streamparse.reading.blocks import Blocks
from streamparse.reading.decode import decode_untyped, get_fields, write_argument_text, write_initial_arguments
from streamparse.reading.message_wire import MessageWire, find_listed_outcome
from streamparse.reading.wire import UnknownMessage
from streamparse.sink import Sink
from streamparse.tools import Toolset

# -- ----------------------------------------------------------------------------------------------------
# The shape of an event of Converse, or of a whole body: only the fields that are read.


class ToolUse(msgspec.Struct, gc=False):
    name: str = ""
    toolUseId: str = ""
    type: str | None = None
    input: Any = None


class Thought(msgspec.Struct, gc=False):
    """Reasoning: in a delta its fields are its own, in a whole message text and signature lie one level deeper."""

    text: str | None = None
    signature: str | None = None
    redactedContent: str | None = None
    reasoningText: dict[str, Any] | None = None


class Delta(msgspec.Struct, gc=False):
    """A piece of a block, or a whole one."""

    text: str | None = None
    toolUse: ToolUse | None = None
    reasoningContent: Thought | None = None
    citation: Any = None
    citationsContent: Any = None
    toolResult: Any = None
    image: Any = None


class Message(msgspec.Struct, gc=False):
    content: list[Delta] = []


class Output(msgspec.Struct, gc=False):
    message: Message | None = None


class Exceptions(msgspec.Struct, gc=False):
    """An error that is named in its JSON."""

    internalServerException: Any = None
    modelStreamErrorException: Any = None
    modelTimeoutException: Any = None
    serviceUnavailableException: Any = None
    throttlingException: Any = None
    validationException: Any = None


class Named(Exceptions, gc=False):
    """An event that is named in its JSON."""

    contentBlockDelta: Event | None = None
    contentBlockStart: Event | None = None
    contentBlockStop: Event | None = None
    messageStart: Event | None = None
    messageStop: Event | None = None
    metadata: Event | None = None
    chunk: Event | None = None


class Event(Named, gc=False):
    """An event, or one that is named in its JSON."""

    contentBlockIndex: int | None = None
    delta: Delta | None = None
    start: Delta | None = None
    payload: bytes | None = msgspec.field(default=None, name="bytes")
    role: str | None = None
    stopReason: str | None = None
    usage: dict[str, Any] | None = None
    metrics: Any = None
    trace: Any = None
    additionalModelResponseFields: Any = None
    output: Output | None = None
    serviceTier: Any = None


# -- ----------------------------------------------------------------------------------------------------

_EXCEPTIONS: Final = Exceptions.__struct_fields__
_EVENTS: Final = tuple(name for name in Named.__struct_fields__ if name not in _EXCEPTIONS)
_NOTHING: Final = Event()
_NO_DELTA: Final = Delta()
_FAILURE: Final = lazy_re(rb"(?i).+(?:error|exception)$")
_CALLS: Final = (None, "tool_use")
"""The types of a call of the caller's tools (Nova 2 names it); with another one the server runs the tool itself."""
_ASSESSMENTS: Final = {"prompt": "inputAssessment", "answer": "outputAssessments"}
_ITEMS: Final = ("metrics", "trace", "additionalModelResponseFields")


class BedrockConverse(MessageWire[Event]):
    """Amazon Bedrock: the events of Converse, and what `invoke` wraps."""

    ignored: int

    shape: ClassVar[type[Any]] = Event
    parses_calls: ClassVar[bool] = True

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:
        super().__init__(sink, tools, limits, choice)
        self._blocks = Blocks(sink, limits)
        self._arguments = self._blocks.add_arguments
        self._invoked = Invoked(sink, tools, limits, choice)

    @staticmethod
    def claims(message: dict[str, Any], event: bytes, /) -> bool:
        name = event.decode("ascii", "replace")
        if name in _EVENTS or _FAILURE.match(event):
            return name != "chunk" or "bytes" in message
        named_inside = len(message) == 1 and next(iter(message)) in (*_EVENTS, *_EXCEPTIONS)
        return named_inside or ("output" in message and "stopReason" in message)

    def frame(self, frame: Frame) -> None:
        if frame.event and _FAILURE.match(frame.event):
            name = frame.event.decode("ascii", "replace")
            self._fail({"message": name, **decode_untyped(frame.data), "code": name})
            return
        super().frame(frame)

    def take(self, event: Event) -> None:
        delta = event.delta
        if delta is not None:
            if delta.text:
                self._text(delta.text)
            elif delta.toolUse is not None:
                piece = delta.toolUse.input
                if piece:
                    text = piece if isinstance(piece, str) else write_argument_text(piece)
                    self._arguments(event.contentBlockIndex, text)
            elif event.contentBlockIndex is None and delta == _NO_DELTA:
                raise UnknownMessage
            elif delta.text is None:
                self._take_delta(event.contentBlockIndex, delta)
        elif event.payload is not None:
            self._invoked.take(event.payload, self.frame)
            self.ignored = self._invoked.ignored
        elif event.start is not None:
            self._start(event.contentBlockIndex, event.start)
        elif event.contentBlockIndex is not None:
            self._blocks.stop(event.contentBlockIndex)
        elif event.role is not None:
            self._sink.go_on()
            self._blocks.restart()
        else:
            self._take_other(event)

    def close(self) -> None:
        super().close()
        self._invoked.close()

    # -- inside ----------------------------------------------------------------------------------------

    def _take_other(self, event: Event) -> None:
        """Take an event that is named in its JSON, the end of the turn, what was counted, or a whole body."""
        for name in _EVENTS:
            inner = getattr(event, name)
            if inner is not None:
                self.take(inner)
                return
        if event == _NOTHING:
            raise UnknownMessage
        for name, error in get_fields(event, _EXCEPTIONS).items():
            self._fail({"message": name, **(error if isinstance(error, dict) else {}), "code": name})
        if event.output is not None and event.output.message is not None:
            for index, block in enumerate(event.output.message.content):
                self._take_whole(index, block)
        if event.usage:
            self._sink.fact("usage", event.usage)
        self._send_items(event, _ITEMS)
        self._send_facts(event)
        if event.stopReason:
            outcome = find_listed_outcome(event.stopReason)
            self._blocks.finish(cut=outcome == "cut")
            self._sink.finish(event.stopReason, outcome)

    def _send_facts(self, event: Event) -> None:
        """How the answer was served, and what a guardrail found."""
        tier = event.serviceTier
        self._sink.fact("service_tier", tier.get("type") if isinstance(tier, dict) else None)
        guardrail = event.trace.get("guardrail") if isinstance(event.trace, dict) else None
        if isinstance(guardrail, dict):
            found = {place: guardrail.get(name) for place, name in _ASSESSMENTS.items()}
            self._sink.fact("safety", {place: value for place, value in found.items() if value})

    def _start(self, index: int | None, block: Delta) -> None:
        """A block starts: a call, or one that will be an item."""
        call = block.toolUse
        if call is None:
            kind, item = _find_content(block)
            self._blocks.start_item(index, kind, item if isinstance(item, dict) else {"content": item})
        elif call.type in _CALLS:
            self._blocks.start_call(index, call.name, call.toolUseId, write_initial_arguments(call.input))
        else:
            self._blocks.start_item(index, call.type, msgspec.to_builtins(call))

    def _take_delta(self, index: int | None, delta: Delta) -> None:
        """A piece of thought, or one without a verb of its own."""
        thought = delta.reasoningContent
        if thought is None:
            kind, value = _find_content(delta)
            fields = value if isinstance(value, dict) else {"content": value}
            if not self._blocks.extend(index, fields):
                self._sink.item(kind, value, index)
            return
        inner = thought.reasoningText or {}
        text, signature = thought.text or inner.get("text"), thought.signature or inner.get("signature")
        if text and isinstance(text, str):
            self._sink.reasoning(text)
        if signature and isinstance(signature, str):
            self._blocks.sign(index, signature)
        if thought.redactedContent:
            self._sink.item("redactedContent", thought.redactedContent, index)

    def _take_whole(self, index: int, block: Delta) -> None:
        call = block.toolUse
        if block.text:
            self._sink.text(block.text)
        elif call is not None and call.type in _CALLS:
            self._blocks.start_call(index, call.name, call.toolUseId, write_argument_text(call.input))
        elif call is not None:
            self._start(index, block)
        else:
            self._take_delta(index, block)
        self._blocks.stop(index)


def _find_content(block: Delta) -> tuple[str, Any]:
    """The name and the value of the content of a block that is neither text, call nor thought."""
    found = get_fields(block, ("citation", "citationsContent", "toolResult", "image"))
    return next(iter(found.items()), ("content", None))
