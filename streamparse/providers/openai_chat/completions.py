"""OpenAI's legacy completions: like chat chunks, but a choice holds plain `text`.  Local servers still speak it."""

from __future__ import annotations

from typing import Any

import msgspec

from streamparse.limits import Limits
from streamparse.reading.errors import Unwrapped, error_of
from streamparse.reading.messages import MessageWire
from streamparse.reading.outcomes import outcome_of
from streamparse.reading.wire import Plain
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["OpenAICompletions"]


class _Choice(msgspec.Struct, gc=False):
    text: str | None = None
    index: int | None = 0
    finish_reason: str | None = None
    stop_reason: Any = None  # DeepSeek on Bedrock; vLLM: what stopped it, beside the finish reason


class _Chunk(Unwrapped, gc=False):
    choices: list[_Choice] | None = None
    usage: dict[str, Any] | None = None


class OpenAICompletions(MessageWire[_Chunk]):
    """Tells what `text_completion` frames hold."""

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:  # noqa: ARG002
        super().__init__(_Chunk, sink, limits)
        self._text = sink.text
        self._choice = choice

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        choices = message.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            return "text" in choices[0] and not {"delta", "message"} & choices[0].keys()
        return choices == [] and message.get("object") == "text_completion"

    def plain(self, chunk: _Chunk) -> Plain | None:
        text = chunk.choices[0].text if chunk.choices else None
        alone = chunk == _Chunk(choices=[_Choice(text, self._choice)])
        return (self._text, text) if text and alone and not self._over else None

    def take(self, chunk: _Chunk) -> None:
        if self._over:
            self.ignored += 1
            return
        for choice in chunk.choices or ():
            if choice.index == self._choice or (choice.index is None and not self._choice):
                if choice.text:
                    self._text(choice.text)
                reason = choice.finish_reason or choice.stop_reason
                if reason and isinstance(reason, str):
                    self._sink.finish(reason, outcome_of(reason))
            else:
                self.ignored += 1
        if chunk.usage is not None:
            self._sink.usage(chunk.usage)
        if chunk.error or not chunk.choices:
            self._fail(error_of(chunk))
