"""What Amazon Bedrock's `invoke` wraps: messages of the model's own API, whose wire shows as that of a body does.

https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html

Claude speaks like Anthropic, gpt-oss like OpenAI's chat, Nova in the events of Converse.  Models with a text API of
their own are read below.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

import msgspec

from streamparse.frames import Frame
from streamparse.limits import Limits
from streamparse.providers.anthropic.wire import METRICS
from streamparse.reading.decode import decode_frame, decode_untyped, get_fields, read_excerpt
from streamparse.reading.errors import find_error, report_provider_error
from streamparse.reading.message_wire import MessageWire, find_listed_outcome, send_whole_call
from streamparse.reading.wire import UNDECIDED_FRAMES, WIRES, UnknownMessage, Wire, find_claimant
from streamparse.sink import Sink
from streamparse.tools import Toolset

# -- ----------------------------------------------------------------------------------------------------
# The text APIs of models on Amazon Bedrock, which `invoke` wraps: each chunk is JSON with a piece of text.
#
# https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html
#
# | model | text | reason |
# |---|---|---|
# | Amazon Titan | `outputText` | `completionReason` |
# | Meta Llama | `generation` | `stop_reason` |
# | Anthropic Claude 2 | `completion` | `stop_reason` |
# | Mistral | `outputs[0].text` | `outputs[0].stop_reason` |
# | Cohere Command | `text` | `finish_reason` |
# | Cohere Command R | `text` of `text-generation`; `tool_calls` of `tool-calls-generation` | `finish_reason` |
#
# A whole answer has the same fields, in `results` (Titan) or `generations` (Cohere Command) as well.


_TEXTS: Final = ("outputText", "generation", "completion")
_LISTS: Final = ("outputs", "results", "generations")


_GUARDRAIL: Final = "amazon-bedrock-guardrailAction"
_INTERVENED: Final = "INTERVENED"


class _Call(msgspec.Struct, gc=False):
    name: str | None = None
    parameters: msgspec.Raw = msgspec.Raw()


class _Counts(msgspec.Struct, gc=False):
    inputTextTokenCount: int | None = None
    totalOutputTextTokenCount: int | None = None
    prompt_token_count: int | None = None
    generation_token_count: int | None = None


class _Chunk(_Counts, gc=False):
    outputText: str | None = None
    generation: str | None = None
    completion: str | None = None
    text: str | None = None
    completionReason: str | None = None
    guardrail: str | None = msgspec.field(default=None, name=_GUARDRAIL)
    stop_reason: str | None = None
    finish_reason: str | None = None
    outputs: list[_Chunk] | None = None
    results: list[_Chunk] | None = None
    generations: list[_Chunk] | None = None
    event_type: str | None = None
    tool_calls: list[_Call] | None = None
    citations: list[Any] | None = None


_NOTHING: Final = _Chunk()


class BedrockText(MessageWire[_Chunk]):
    """Reads the chunks of a text API; Cohere's calls come whole.

    Where a guardrail has blocked the answer, no reason comes; where it has masked a part of it, one does.
    """

    shape: ClassVar[type[Any]] = _Chunk
    _is_blocked = False
    _has_reason = False

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        if any(isinstance(message.get(key), str) for key in _TEXTS):
            return True
        is_command = "is_finished" in message or isinstance(message.get("event_type"), str)
        return is_command or any(isinstance(message.get(key), list) for key in _LISTS)

    def take(self, chunk: _Chunk) -> None:
        if chunk == _NOTHING:
            raise UnknownMessage
        if chunk.tool_calls or (chunk.event_type or "").startswith("tool-calls"):
            # Cohere's calls; the text with them is the plan, whose pieces came in the events before.
            if chunk.event_type == "tool-calls-generation" and chunk.text:
                self._sink.item("tool_plan", chunk.text)
            for call in chunk.tool_calls or ():
                send_whole_call(self._sink, call.name, call.parameters)
        else:
            for text in (chunk.outputText, chunk.generation, chunk.completion, chunk.text):
                if text:
                    self._sink.text(text)
        for citation in chunk.citations or ():
            self._sink.item("citation", citation)
        for key in _LISTS:
            for inner in (getattr(chunk, key) or ())[:1]:
                self.take(inner)
        self._send_usage(get_fields(chunk, _Counts.__struct_fields__) or None)
        self._is_blocked = self._is_blocked or chunk.guardrail == _INTERVENED
        reason = chunk.completionReason or chunk.stop_reason or chunk.finish_reason
        if reason:
            self._has_reason = True
            self._sink.finish(reason, find_listed_outcome(reason))

    def close(self) -> None:
        super().close()
        if self._is_blocked and not self._has_reason:
            self._sink.finish(_INTERVENED, "failed")


# -- ----------------------------------------------------------------------------------------------------

_METRICS: Final = METRICS.encode()
_ACTION: Final = _GUARDRAIL.encode()
_CONVERSE: Final = "bedrock-converse"
_CLAUDE: Final = "anthropic"
"""Its wire sends the metrics itself."""


class Invoked:
    """Gives each message to its wire, once one shows."""

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int) -> None:
        self._sink = sink
        self._options = (tools, limits, choice)
        self._name = ""
        self._wire: Wire | None = None
        self._undecided: list[Frame] = []
        self._lost = 0  # messages of no wire
        self._has_intervened = False  # a guardrail has blocked or masked something, which is reported once

    @property
    def ignored(self) -> int:
        """How many messages were passed over."""
        return self._lost + (self._wire.ignored if self._wire is not None else 0)

    def take(self, data: bytes, converse: Callable[[Frame], None]) -> None:
        """Take the next message; `converse` takes those that are events of Converse."""
        frame = Frame(data)
        if self._name == _CONVERSE:
            converse(frame)
        elif self._wire is not None:
            self._send(self._wire, frame)
        elif self._lost:
            self._lost += 1
        else:
            self._decide(frame, converse)

    def close(self) -> None:
        """The body is over: messages that showed no wire are an error."""
        if self._wire is not None:
            self._wire.close()
        elif self._undecided:
            self._refuse()

    def _decide(self, frame: Frame, converse: Callable[[Frame], None]) -> None:
        """Find out the wire; messages that do not show it wait."""
        message = decode_frame(frame)
        is_text = isinstance(message, dict) and BedrockText.claims(message, b"")
        name = None if is_text else find_claimant(message, b"")
        if not (is_text or name) and find_error(message) is not None:
            report_provider_error(self._sink, message)
            return
        self._undecided.append(frame)
        if is_text:
            self._begin("", BedrockText, converse)
        elif name is not None:
            self._begin(name, WIRES[name], converse)
        elif len(self._undecided) >= UNDECIDED_FRAMES:
            self._refuse()

    def _begin(self, name: str, wire: type[Wire], converse: Callable[[Frame], None]) -> None:
        self._name = name
        if name != _CONVERSE:
            self._wire = wire(self._sink, *self._options)
        waiting, self._undecided = self._undecided, []
        for frame in waiting:
            self.take(frame.data, converse)

    def _send(self, wire: Wire, frame: Frame) -> None:
        wire.frame(frame)
        if self._name != _CLAUDE and _METRICS in frame.data:
            metrics = decode_untyped(frame.data).get(METRICS)
            if metrics is not None:
                self._sink.item(METRICS, metrics)
        if not self._has_intervened and _ACTION in frame.data:
            self._has_intervened = decode_untyped(frame.data).get(_GUARDRAIL) == _INTERVENED
            if self._has_intervened:
                self._sink.item(_GUARDRAIL, _INTERVENED)

    def _refuse(self) -> None:
        """No wire speaks like these messages."""
        excerpt = read_excerpt(self._undecided[0])
        self._lost = len(self._undecided)
        self._undecided.clear()
        self._sink.error("stream", "not_a_stream", f"what was invoked speaks like no known wire: {excerpt!r}")
