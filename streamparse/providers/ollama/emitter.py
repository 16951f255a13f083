"""Ollama's `/api/chat`: a line of JSON for each piece, or one body.

Calls come whole, their arguments an object.  The last line has `done: true` and the counts; `done_reason` is `stop`
after calls too.  A turn that failed, or that a filter ended, is a line with `error`: there is no other word for it.
The separators of Unicode leave escaped: the official client takes them for ends of lines.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from streamparse.emitting.answer import (
    explanation_of,
    meaning_of_answer,
    nameless,
    problem_of,
    reason_of,
    standing_calls,
)
from streamparse.emitting.emitter import Emitter, encode
from streamparse.emitting.meanings import Meaning
from streamparse.events import (
    Done,
    ProviderItem,
    ReasoningDelta,
    TextDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
)
from streamparse.response import ParsedResponse
from streamparse.usage import count_tokens

__all__ = ["OllamaChatEmitter"]

_DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
_SEPARATOR: Final = re.compile("\x85|\u2028|\u2029".encode())
_COUNTS = ("prompt_eval_count", "eval_count", *_DURATIONS)


class OllamaChatEmitter(Emitter):
    """Writes an answer as Ollama does."""

    content_type: ClassVar[str] = "application/x-ndjson"

    def _prepare(self) -> None:
        moment = datetime.fromtimestamp(self.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._who = {"model": self.model, "created_at": moment}
        self._written = 0  # calls
        self._head = _line(self._who)[:-1] + b',"message":{"role":"assistant",'

    def error_body(self, code: str, message: str, status: int | None = None) -> bytes:  # noqa: ARG002 - a text alone
        return encode({"error": _words(code, message)})

    def problem(self, response: ParsedResponse) -> tuple[str, str] | None:
        if meaning_of_answer(response) == "content_filter":
            return _filtered(reason_of(response), explanation_of(response))
        return problem_of(response)

    def _text(self, event: TextDelta) -> bytes:
        text = encode(event.text) if event.text.isascii() else _line(event.text)  # the short way for nearly every event
        return self._head + b'"content":' + text + b'},"done":false}\n'

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        return self._head + b'"content":"","thinking":' + _line(event.text) + b'},"done":false}\n'

    def _begin(self, event: ToolCallStart) -> bytes:  # noqa: ARG002 - calls come whole
        return b""

    def _continue(self, event: ToolCallDelta) -> bytes:  # noqa: ARG002
        return b""

    def _break_off(self, index: int) -> bytes:  # noqa: ARG002
        return b""

    def _complete(self, event: ToolCallComplete) -> bytes:
        self._called = True
        call = _call(self.call_ids.give(event.id, event.index), self._written, event.name, event.arguments)
        self._written += 1
        return self._head + b'"content":"","tool_calls":[' + _line(call) + b']},"done":false}\n'

    def _item(self, event: ProviderItem) -> bytes:  # noqa: ARG002 - there is no place for any
        return b""

    def _failure(self, code: str, message: str) -> bytes:
        return _line({"error": _words(code, message)}) + b"\n"

    def _end(self, done: Done, meaning: Meaning) -> bytes:
        if meaning == "content_filter":
            return self._fail(*_filtered(done.finish_reason, self._explanation))
        end = {"message": {"role": "assistant", "content": ""}, **_ending(done.finish_reason, done.usage, meaning)}
        return _line({**self._who, **end}) + b"\n"

    def _body(self, response: ParsedResponse, meaning: Meaning) -> dict[str, Any]:
        calls = [
            _call(self.call_ids.give(call.id, call.index), place, call.name, call.arguments)
            for place, call in enumerate(standing_calls(response))
        ]
        optional: dict[str, Any] = {"thinking": response.reasoning, "tool_calls": calls}
        message: dict[str, Any] = {"role": "assistant", "content": response.content + response.refusal}
        message |= {name: value for name, value in optional.items() if value}
        return {**self._who, "message": message, **_ending(reason_of(response), response.usage, meaning)}


def _line(value: Any) -> bytes:
    """JSON in which nothing ends a line for a reader that goes by Unicode."""
    data = encode(value)
    return data if data.isascii() else _SEPARATOR.sub(_escape, data)


def _escape(separator: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(separator[0].decode())


def _words(code: str, message: str) -> str:
    return message if nameless(code) else f"{code}: {message}"


def _filtered(reason: str | None, explanation: str) -> tuple[str, str]:
    return "content_filter", explanation or f"the server ended the turn: {reason}"


def _call(id: str, place: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "function": {"index": place, "name": name, "arguments": arguments}}


def _ending(reason: str | None, usage: dict[str, Any] | None, meaning: Meaning) -> dict[str, Any]:
    word = "length" if meaning == "length" else reason if reason in ("load", "unload") else "stop"
    if usage is not None and "eval_count" not in usage and "prompt_eval_count" not in usage:
        tokens = count_tokens(usage)
        usage = {"prompt_eval_count": tokens.prompt, "eval_count": tokens.completion}
    counts = {name: usage[name] for name in _COUNTS if name in usage} if usage else {}
    return {"done": True, "done_reason": word, **counts}
