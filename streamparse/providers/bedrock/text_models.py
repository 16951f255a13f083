"""The text APIs of models on Amazon Bedrock, which `invoke` wraps: each chunk is JSON with a piece of text.

https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters.html

| model | text | reason |
|---|---|---|
| Amazon Titan | `outputText` | `completionReason` |
| Meta Llama | `generation` | `stop_reason` |
| Anthropic Claude 2 | `completion` | `stop_reason` |
| Mistral | `outputs[0].text` | `outputs[0].stop_reason` |
| Cohere Command | `text` | `finish_reason` |
| Cohere Command R | `text` of the event `text-generation`; `tool_calls` of `tool-calls-generation` | `finish_reason` |

A whole answer has the same fields, in `results` (Titan) or `generations` (Cohere Command) as well.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from streamparse.limits import Limits
from streamparse.reading.lenient_json import argument_text
from streamparse.reading.messages import MessageWire
from streamparse.reading.outcomes import outcome_of
from streamparse.sink import Outcome, Sink
from streamparse.tools import Toolset

__all__ = ["BedrockText"]

_OUTCOMES: Final[dict[str, Outcome]] = {
    "content_filtered": "failed",
    "error_toxic": "failed",
    "error_limit": "failed",
    "user_cancel": "failed",
}
_TEXTS: Final = ("outputText", "generation", "completion")
_LISTS: Final = ("outputs", "results", "generations")
_COUNTS: Final = (
    "inputTextTokenCount",
    "totalOutputTextTokenCount",
    "prompt_token_count",
    "generation_token_count",
)


class _Call(msgspec.Struct, gc=False):
    name: str | None = None
    parameters: msgspec.Raw = msgspec.Raw()


class _Chunk(msgspec.Struct, gc=False):
    outputText: str | None = None
    generation: str | None = None
    completion: str | None = None
    text: str | None = None
    completionReason: str | None = None
    stop_reason: str | None = None
    finish_reason: str | None = None
    outputs: list[_Chunk] | None = None
    results: list[_Chunk] | None = None
    generations: list[_Chunk] | None = None
    event_type: str | None = None
    tool_calls: list[_Call] | None = None
    citations: list[Any] | None = None
    inputTextTokenCount: int | None = None
    totalOutputTextTokenCount: int | None = None
    prompt_token_count: int | None = None
    generation_token_count: int | None = None


class BedrockText(MessageWire[_Chunk]):
    """Tells what the chunks of a text API hold; Cohere's calls come whole."""

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:  # noqa: ARG002
        super().__init__(_Chunk, sink, limits)

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        if any(isinstance(message.get(key), str) for key in _TEXTS):
            return True
        is_command = "is_finished" in message or isinstance(message.get("event_type"), str)
        return is_command or any(isinstance(message.get(key), list) for key in _LISTS)

    def take(self, chunk: _Chunk) -> None:
        if chunk.tool_calls or (chunk.event_type or "").startswith("tool-calls"):
            self._take_calls(chunk)
        else:
            for text in (chunk.outputText, chunk.generation, chunk.completion, chunk.text):
                if text:
                    self._sink.text(text)
        for citation in chunk.citations or ():
            self._sink.item("citation", citation)
        for key in _LISTS:
            for inner in (getattr(chunk, key) or ())[:1]:
                self.take(inner)
        counts = {key: count for key in _COUNTS if (count := getattr(chunk, key)) is not None}
        if counts:
            self._sink.usage(counts)
        reason = chunk.completionReason or chunk.stop_reason or chunk.finish_reason
        if reason:
            word = reason.lower()
            self._sink.finish(reason, _OUTCOMES.get(word, outcome_of(word)))

    def _take_calls(self, chunk: _Chunk) -> None:
        """Cohere's calls; the text beside them is the plan, of which the events before have told the pieces."""
        if chunk.event_type == "tool-calls-generation" and chunk.text:
            self._sink.item("tool_plan", chunk.text)
        for call in chunk.tool_calls or ():
            if call.name:
                self._sink.call_whole(call.name, argument_text(call.parameters))
            else:
                self._sink.error("frame", "call_without_name", "a call without a name")
