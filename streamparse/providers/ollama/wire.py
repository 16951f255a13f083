"""Ollama's own wires: `/api/chat` and `/api/generate`.

NDJSON; the last line has `done: true`.  Calls come whole, their arguments an object; `done_reason` is
`stop` after calls too.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from streamparse.reading.decode import get_fields
from streamparse.reading.message_wire import MessageWire, find_outcome, send_whole_call
from streamparse.reading.wire import UnknownMessage


class _Function(msgspec.Struct, gc=False):
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw()


class _Call(msgspec.Struct, gc=False):
    id: str | None = None
    function: _Function | None = None


class _Message(msgspec.Struct, gc=False):
    content: str | None = None
    thinking: str | None = None
    tool_calls: list[_Call] | None = None
    images: list[Any] | None = None


class _Line(msgspec.Struct, gc=False):
    # In the order of the server's fields, which msgspec looks for first.
    message: _Message | None = None
    response: str | None = None
    thinking: str | None = None
    done: bool = False
    done_reason: str | None = None
    error: Any = None
    detail: Any = None
    image: str | None = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    total_duration: int | None = None
    load_duration: int | None = None
    prompt_eval_duration: int | None = None
    eval_duration: int | None = None
    logprobs: list[Any] | None = None


class _Facts(msgspec.Struct, gc=False):
    model: str | None = None
    logprobs: list[Any] | None = None


_COUNTS = tuple(name for name in _Line.__struct_fields__ if name.endswith(("_count", "_duration")))


# -- the wires -----------------------------------------------------------------------------------------


class OllamaChat(MessageWire[_Line]):
    """Ollama's `/api/chat`; lines of `/api/generate` are read as well."""

    ignored: int

    shape: ClassVar[type[Any]] = _Line
    facts: ClassVar[type[Any] | None] = _Facts
    reads: ClassVar[tuple[str, ...]] = ("ollama-generate",)

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        return "done" in message and "response" not in message

    def take(self, line: _Line) -> bool:
        if self._over:
            self.ignored += 1
            return False
        message = line.message
        if message is not None:
            if message.thinking:
                self._sink.reasoning(message.thinking)
            if message.content:
                self._text(message.content)
            if message.tool_calls or message.images:
                self._send_rest(message)
        else:
            if line.thinking:
                self._sink.reasoning(line.thinking)
            if line.response:
                self._text(line.response)
            if line.image:
                self._sink.item("image", line.image)
            elif line.response is None and not (line.thinking or line.done):
                raise UnknownMessage
        if line.error or line.detail:
            self._fail(line.error or line.detail)
        if line.done:
            self._finish(line)
        return self._looks > 0 or line.logprobs is not None

    def _send_rest(self, message: _Message) -> None:
        for call in message.tool_calls or ():
            function = call.function or _Function()
            send_whole_call(self._sink, function.name, function.arguments, call.id)
        if message.images:
            self._sink.item("images", message.images)

    def _finish(self, line: _Line) -> None:
        self._send_usage(get_fields(line, _COUNTS) or None)
        if line.done_reason:
            self._sink.finish(line.done_reason, find_outcome(line.done_reason))
        self._sink.end()
        self._over = True


class OllamaGenerate(OllamaChat):
    """Ollama's `/api/generate`; lines of `/api/chat` are read as well."""

    reads: ClassVar[tuple[str, ...]] = ("ollama-chat",)

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        return "done" in message and "response" in message
