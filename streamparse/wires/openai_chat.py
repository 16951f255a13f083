"""OpenAI Chat Completions, and everything that speaks like it.

Server-sent events, each a `chat.completion.chunk`, ended by `data: [DONE]`; or one whole `chat.completion`.
What the many servers add or leave out is in the tables of `docs/wires.md`.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from streamparse.limits import Limits
from streamparse.sink import Sink
from streamparse.tools import Toolset
from streamparse.wires.chat_chunk import Chunk, Delta, Part
from streamparse.wires.fragments import Fragments
from streamparse.wires.messages import MessageWire
from streamparse.wires.openai_completions import OpenAICompletions
from streamparse.wires.outcomes import outcome_of

__all__ = ["OpenAIChat"]


class OpenAIChat(MessageWire[Chunk]):
    """Tells what `chat.completion.chunk` frames hold."""

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:
        super().__init__(Chunk, sink, limits, _with_argument_text)
        self._text = sink.text
        self._choice = choice
        self._fragments = Fragments(sink, tools)

    @staticmethod
    def claims(message: dict[str, Any], event: bytes, /) -> bool:
        if OpenAICompletions.claims(message, event):
            return False
        return "choices" in message or str(message.get("object", "")).startswith("chat.completion")

    def take(self, chunk: Chunk) -> None:
        if self._over:
            self.ignored += 1
            return
        for choice in chunk.choices or ():
            if choice.index != self._choice and (choice.index is not None or self._choice):
                self.ignored += 1
                continue
            delta = choice.delta or choice.message
            if delta is not None:
                content = delta.content
                if delta.reasoning_content or delta.reasoning or delta.reasoning_details:
                    self._take_thought(delta)
                elif isinstance(content, str):
                    if content:
                        self._text(content)
                elif content:
                    self._take_parts(content)
                if delta.tool_calls or delta.refusal or delta.function_call is not None:
                    self._take_action(delta)
                if delta.annotations or delta.executed_tools:
                    self._take_items(delta)
            if choice.finish_reason:
                self._fragments.settle()
                self._sink.finish(choice.finish_reason, outcome_of(choice.finish_reason))
        if chunk.usage or chunk.error or chunk.x_groq or chunk.message or chunk.detail:
            self._take_rest(chunk)

    def close(self) -> None:
        self._fragments.close()

    # -- inside ----------------------------------------------------------------------------------------

    def _take_thought(self, delta: Delta) -> None:
        """A delta with a thought, in whichever field, before its text."""
        thought = delta.reasoning_content or delta.reasoning  # at once in both: the same
        if thought:
            self._sink.reasoning(thought)
        for detail in delta.reasoning_details or ():
            if not thought and (detail.text or detail.summary):
                self._sink.reasoning(detail.text or detail.summary or "")
            if detail.data or detail.signature:  # encrypted or signed: the provider wants it back
                fields = {name: value for name, value in msgspec.to_builtins(detail).items() if value is not None}
                self._sink.item(detail.type or "reasoning_details", fields)
        if isinstance(delta.content, str):
            self._text(delta.content)
        elif delta.content:
            self._take_parts(delta.content)

    def _take_items(self, delta: Delta) -> None:
        """What the server found or ran by itself."""
        if delta.annotations:
            self._sink.item("annotations", delta.annotations)
        if delta.executed_tools:
            self._sink.item("executed_tools", delta.executed_tools)

    def _take_rest(self, chunk: Chunk) -> None:
        """What few chunks have: token counts, an error."""
        if chunk.usage is not None:
            self._sink.usage(chunk.usage)
        elif chunk.x_groq is not None and chunk.x_groq.usage is not None:
            self._sink.usage(chunk.x_groq.usage)
        if chunk.error:
            self._fail({"error": chunk.error, "code": chunk.code, "message": chunk.message})
        elif (chunk.message or chunk.detail) and not chunk.choices:  # vLLM, SGLang and Dynamo, without a wrapper
            self._fail({"code": chunk.code, "message": chunk.message, "detail": chunk.detail})

    def _take_action(self, delta: Delta) -> None:
        """A delta with a piece of a refusal or of calls."""
        if delta.refusal:
            self._sink.refusal(delta.refusal)
        add = self._fragments.add
        for fragment in delta.tool_calls or ():
            function = fragment.function
            if function is None:
                add(fragment.index, fragment.id, None, None)
            else:
                add(fragment.index, fragment.id, function.name, function.arguments)
        if delta.function_call is not None and not delta.tool_calls:
            add(None, None, delta.function_call.name, delta.function_call.arguments)

    def _take_parts(self, parts: list[Part]) -> None:
        for part in parts:
            if thinking := _thinking(part.thinking):
                self._sink.reasoning(thinking)
            elif part.text:
                self._text(part.text)


def _thinking(thinking: str | list[Any] | None) -> str:
    """The text of a thought, which may come in typed parts of its own (Mistral)."""
    parts = [{"text": thinking}] if isinstance(thinking, str) else thinking or ()
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "".join(text for text in texts if isinstance(text, str))


def _with_argument_text(chunk: dict[str, Any]) -> None:
    """Some relays send arguments as an object: make it the text that the protocol wants."""
    for choice in _objects(chunk.get("choices")):
        for part in _objects([choice.get("delta"), choice.get("message")]):
            for call in _objects(part.get("tool_calls")):
                function = call.get("function")
                if isinstance(function, dict) and isinstance(function.get("arguments"), (dict, list)):
                    function["arguments"] = json.dumps(function["arguments"], ensure_ascii=False)


def _objects(values: Any) -> list[dict[str, Any]]:
    """The objects of what should be a list of them."""
    return [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
