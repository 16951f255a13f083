"""OpenAI's legacy completions: like chat chunks, but a choice holds plain `text`.  Local servers still speak it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from streamparse.providers.openai_chat import facts
from streamparse.providers.openai_chat.chunks import NO_REASONS, ChunkWire
from streamparse.reading.errors import ErrorFields, find_error
from streamparse.reading.message_wire import find_outcome
from streamparse.reading.plain_strings import PlainString


class _Choice(msgspec.Struct, gc=False):
    text: str | None = None
    index: int | None = 0
    finish_reason: str | None = None
    stop_reason: Any = None  # DeepSeek on Bedrock; vLLM: what stopped it, besides the finish reason
    reasoning: str | None = None  # OpenRouter
    logprobs: Any = None


class _Chunk(ErrorFields, gc=False, kw_only=True):
    choices: list[_Choice] | None
    usage: dict[str, Any] | None = None


class _LooseChunk(_Chunk, gc=False):
    choices: list[_Choice] | None = None


class OpenAICompletions(ChunkWire[_Chunk]):
    """OpenAI's legacy completions: like chat chunks, but a choice holds plain `text`.  Local servers still speak it."""

    ignored: int

    shape: ClassVar[type[Any]] = _Chunk
    loose_shape: ClassVar[Any] = _LooseChunk

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        choices = message.get("choices")
        if isinstance(choices, list) and choices and isinstance(choices[0], dict):
            return "text" in choices[0] and not {"delta", "message"} & choices[0].keys()
        return choices == [] and message.get("object") == "text_completion"

    def _find_verb(self, _chunk: _Chunk) -> Callable[[str], None]:
        return self._text

    plain_strings: ClassVar[tuple[PlainString, ...]] = (PlainString(("choices", "text"), _find_verb, ("index",)),)

    def take(self, chunk: _Chunk) -> bool:
        if self._over:
            self.ignored += 1
            return False
        for choice in chunk.choices or ():
            if choice.index == self._choice or (choice.index is None and not self._choice):
                if choice.reasoning:
                    self._sink.reasoning(choice.reasoning)
                if choice.text:
                    self._text(choice.text)
                if choice.logprobs:
                    facts.send_logprobs(self._sink, choice.logprobs)
                reason = choice.finish_reason or choice.stop_reason
                if reason and isinstance(reason, str) and reason not in NO_REASONS:
                    self._sink.finish(reason, find_outcome(reason))
            else:
                self.ignored += 1
        if chunk.usage is not None:
            self._sink.fact("usage", chunk.usage)
        if chunk.error or chunk.choices == [] or chunk.base_resp:
            self._fail(find_error(chunk))
        return self._looks > 0 or chunk.usage is not None
