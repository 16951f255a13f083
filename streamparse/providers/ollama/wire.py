"""Ollama's own wires: `/api/chat` and `/api/generate`.

NDJSON; the last line has `done: true`.  Calls come whole, their arguments an object; `done_reason` is
`stop` after calls too.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from streamparse.reading.decode import get_fields
from streamparse.reading.message_wire import MessageWire, find_outcome, send_whole_call


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


class _Line(msgspec.Struct, gc=False):
    # In the order of the server's fields, which msgspec looks for first.
    message: _Message | None = None
    response: str | None = None
    thinking: str | None = None
    done: bool = False
    done_reason: str | None = None
    error: Any = None
    detail: Any = None
    prompt_eval_count: int | None = None
    eval_count: int | None = None
    total_duration: int | None = None
    load_duration: int | None = None
    prompt_eval_duration: int | None = None
    eval_duration: int | None = None


_COUNTS = tuple(name for name in _Line.__struct_fields__ if name.endswith(("_count", "_duration")))


class OllamaChat(MessageWire[_Line]):
    """Ollama's `/api/chat`; lines of `/api/generate` are read as well."""

    shape = _Line
    reads: ClassVar[tuple[str, ...]] = ("ollama-generate",)

    @staticmethod
    def claims(message: dict[str, Any], _event: bytes, /) -> bool:
        return "done" in message and "response" not in message

    def take(self, line: _Line) -> None:
        if self._over:
            self.ignored += 1
            return
        message = line.message
        if message is not None:
            if message.thinking:
                self._sink.reasoning(message.thinking)
            if message.content:
                self._text(message.content)
            if message.tool_calls:
                self._send_calls(message.tool_calls)
        else:
            if line.thinking:
                self._sink.reasoning(line.thinking)
            if line.response:
                self._text(line.response)
        if line.error or line.detail:
            self._fail(line.error or line.detail)
        if line.done:
            self._finish(line)

    def _send_calls(self, calls: list[_Call]) -> None:
        for call in calls:
            function = call.function or _Function()
            send_whole_call(self._sink, function.name, function.arguments, call.id)

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
