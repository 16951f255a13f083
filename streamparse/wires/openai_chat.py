"""OpenAI Chat Completions, and everything that speaks like it.

Server-sent events, each a `chat.completion.chunk`, ended by `data: [DONE]`; or one whole `chat.completion`.
What the many servers add or leave out is in the tables of `docs/wires.md`.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from streamparse.frames import Frame
from streamparse.limits import Limits
from streamparse.sink import Outcome, Sink
from streamparse.tools import Toolset
from streamparse.wires.decode import FrameDecoder
from streamparse.wires.errors import tell_provider_error
from streamparse.wires.fragments import Fragments
from streamparse.wires.openai_completions import OpenAICompletions

__all__ = ["OpenAIChat"]

_OUTCOMES: Final[dict[str, Outcome]] = {
    "length": "cut",
    "max_tokens": "cut",
    "content_filter": "failed",
    "refusal": "failed",  # relays of Anthropic's stop reason
    "error": "failed",
}


class _Function(msgspec.Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class _Fragment(msgspec.Struct, gc=False):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Part(msgspec.Struct, gc=False):
    """Mistral sends content as a list of typed parts: text, and thinking with parts of its own."""

    type: str | None = None
    text: str | None = None
    thinking: str | list[Any] | None = None


class _Detail(msgspec.Struct, gc=False):
    """An entry of OpenRouter's `reasoning_details`."""

    type: str | None = None
    text: str | None = None
    summary: str | None = None
    data: str | None = None
    signature: str | None = None
    id: str | None = None
    format: str | None = None
    index: int | None = None


class _Delta(msgspec.Struct, gc=False):
    content: str | list[_Part] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[_Detail] | None = None
    refusal: str | None = None
    tool_calls: list[_Fragment] | None = None
    function_call: _Function | None = None
    annotations: list[Any] | None = None
    executed_tools: list[Any] | None = None  # Groq runs some tools itself


class _Choice(msgspec.Struct, gc=False):
    index: int | None = 0
    delta: _Delta | None = None
    message: _Delta | None = None
    finish_reason: str | None = None


class _Groq(msgspec.Struct, gc=False):
    usage: dict[str, Any] | None = None


class _Chunk(msgspec.Struct, gc=False):
    choices: list[_Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None
    message: Any = None
    detail: Any = None
    code: Any = None
    x_groq: _Groq | None = None


class OpenAIChat:
    """Tells what `chat.completion.chunk` frames hold."""

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:
        self._sink = sink
        self._text = sink.text
        self._choice = choice
        self._decoder = FrameDecoder(_Chunk, sink, limits, _with_argument_text)
        self.decode = self._decoder.fast
        self._fragments = Fragments(sink, tools)
        self._over = False
        self.ignored = 0

    @staticmethod
    def claims(message: dict[str, Any], event: bytes, /) -> bool:
        if OpenAICompletions.claims(message, event):
            return False
        return "choices" in message or str(message.get("object", "")).startswith("chat.completion")

    def frame(self, frame: Frame) -> None:
        try:
            chunk = self.decode(frame.data)
        except (ValueError, RecursionError):
            mended = self._odd(frame)
            if mended is None:
                return
            chunk = mended
        if frame.event == b"error" or frame.field != b"data":
            self._beside(frame, chunk)
        else:
            self.take(chunk)

    def take(self, chunk: _Chunk) -> None:
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
                self._sink.finish(choice.finish_reason, _OUTCOMES.get(choice.finish_reason, "stop"))
        if chunk.usage or chunk.error is not None or chunk.x_groq or chunk.message or chunk.detail:
            self._take_rest(chunk)

    def close(self) -> None:
        self._fragments.close()

    # -- inside ----------------------------------------------------------------------------------------

    def _take_thought(self, delta: _Delta) -> None:
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

    def _take_items(self, delta: _Delta) -> None:
        """What the server found or ran by itself."""
        if delta.annotations:
            self._sink.item("annotations", delta.annotations)
        if delta.executed_tools:
            self._sink.item("executed_tools", delta.executed_tools)

    def _take_rest(self, chunk: _Chunk) -> None:
        """What few chunks have: token counts, an error."""
        if chunk.usage is not None:
            self._sink.usage(chunk.usage)
        elif chunk.x_groq is not None and chunk.x_groq.usage is not None:
            self._sink.usage(chunk.x_groq.usage)
        if chunk.error is not None:
            tell_provider_error(self._sink, chunk.error)
        elif (chunk.message or chunk.detail) and not chunk.choices:  # vLLM, SGLang and Dynamo, without a wrapper
            tell_provider_error(self._sink, {"code": chunk.code, "message": str(chunk.message or chunk.detail)})

    def _take_action(self, delta: _Delta) -> None:
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

    def _take_parts(self, parts: list[_Part]) -> None:
        for part in parts:
            if part.thinking:
                self._sink.reasoning(_thinking(part.thinking))
            elif part.text:
                self._text(part.text)

    def _odd(self, frame: Frame) -> _Chunk | None:
        """A frame that is no chunk at first sight."""
        data = frame.data.strip()
        if data == b"[DONE]":
            self._over = True
            self._sink.end()
            return None
        if frame.field not in (b"data", b"error", b"") or not data:
            return None
        if frame.event == b"error" and data[:1] != b"{":
            tell_provider_error(self._sink, data.decode("utf-8", "replace"))
            return None
        return self._decoder.slow(frame)

    def _beside(self, frame: Frame, chunk: _Chunk) -> None:
        """A field or an event that the protocol does not know: an error, or nothing."""
        if self._over:
            self.ignored += 1
        elif chunk.error is not None:
            tell_provider_error(self._sink, chunk.error)
        elif frame.field == b"error" or frame.event == b"error":
            tell_provider_error(self._sink, _loose(frame.data))


def _loose(data: bytes) -> Any:
    """Read the JSON of a reported error, or take it as words."""
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")


def _thinking(thinking: str | list[Any]) -> str:
    if isinstance(thinking, str):
        return thinking
    return "".join(part.get("text") or "" for part in thinking if isinstance(part, dict))


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
