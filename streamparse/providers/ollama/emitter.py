"""Ollama's `/api/chat` and `/api/generate`: a line of JSON for each piece, or one body.

Calls come whole, their arguments an object.  The last line has `done: true` and the counts; `done_reason` is `stop`
after calls too.  A turn that failed, or that a filter ended, is a line with `error`; the wire has no other word for it.
The separators of Unicode are escaped: the official client takes them for ends of lines.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, ClassVar, Final

from streamparse.emitting.calls import CallWriter, WholeCallWriter
from streamparse.emitting.emitter import Emitter, encode
from streamparse.emitting.outcome import Outcome, is_unnamed, list_runnable_calls, read_outcome
from streamparse.events import Done, ReasoningDelta, TextDelta, ToolCallComplete
from streamparse.response import ParsedResponse
from streamparse.usage import count_tokens

_DURATIONS = ("total_duration", "load_duration", "prompt_eval_duration", "eval_duration")
_SEPARATOR: Final = re.compile("\x85|\u2028|\u2029".encode())
_COUNTS = ("prompt_eval_count", "eval_count", *_DURATIONS)


class OllamaChatEmitter(Emitter):
    """Writes an answer as Ollama does."""

    content_type: ClassVar[str] = "application/x-ndjson"
    call_writer: ClassVar[type[CallWriter]] = WholeCallWriter

    def _prepare(self) -> None:
        moment = datetime.fromtimestamp(self.created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._who = {"model": self.model, "created_at": moment}
        self._written = 0  # calls
        self._last: dict[str, Any] = {"message": {"role": "assistant", "content": ""}}
        self._head = _encode_line(self._who)[:-1] + b',"message":{"role":"assistant",'

    def write_error_body(self, code: str, message: str, status: int | None = None) -> bytes:  # noqa: ARG002 - a text alone
        return encode({"error": _write_words(code, message)})

    def _read_outcome(self, response: ParsedResponse) -> tuple[Outcome, tuple[str, str] | None]:
        outcome, failure = read_outcome(response)
        return outcome, _describe_filter(outcome) if outcome.ending == "content_filter" else failure

    def _write_text(self, event: TextDelta) -> bytes:
        # The fast path of nearly every event.
        text = encode(event.text) if event.text.isascii() else _encode_line(event.text)
        return self._head + b'"content":' + text + b'},"done":false}\n'

    def _write_reasoning(self, event: ReasoningDelta) -> bytes:
        return self._head + b'"content":"","thinking":' + _encode_line(event.text) + b'},"done":false}\n'

    def write_call_end(self, event: ToolCallComplete, /) -> bytes:
        call = _make_call(self._give_id(event.id, event.index), self._written, event.name, event.arguments)
        self._written += 1
        return self._head + b'"content":"","tool_calls":[' + _encode_line(call) + b']},"done":false}\n'

    def _write_failure(self, code: str, message: str) -> bytes:
        return _encode_line({"error": _write_words(code, message)}) + b"\n"

    def _write_end(self, done: Done) -> bytes:
        if self._outcome.ending == "content_filter":
            return self._fail(*_describe_filter(self._outcome))
        end = {**self._who, **self._last, **_describe_end(self._outcome, done.usage)}
        return _encode_line(end) + b"\n"

    def _make_body(self, response: ParsedResponse, outcome: Outcome) -> dict[str, Any]:
        calls = [
            _make_call(self._give_id(call.id, call.index), place, call.name, call.arguments)
            for place, call in enumerate(list_runnable_calls(response))
        ]
        optional: dict[str, Any] = {"thinking": response.reasoning, "tool_calls": calls}
        message: dict[str, Any] = {"role": "assistant", "content": response.content + response.refusal}
        message |= {name: value for name, value in optional.items() if value}
        return {**self._who, "message": message, **_describe_end(outcome, response.usage)}


class OllamaGenerateEmitter(OllamaChatEmitter):
    """Writes an answer as `/api/generate` does, which knows no calls: they are left out."""

    def _prepare(self) -> None:
        super()._prepare()
        self._head = _encode_line(self._who)[:-1] + b',"response":'
        self._last = {"response": ""}

    def _write_text(self, event: TextDelta) -> bytes:
        return self._head + _encode_line(event.text) + b',"done":false}\n'

    def _write_reasoning(self, event: ReasoningDelta) -> bytes:
        return self._head + b'"","thinking":' + _encode_line(event.text) + b',"done":false}\n'

    def write_call_end(self, event: ToolCallComplete, /) -> bytes:  # noqa: ARG002 - it has no place
        return b""

    def _make_body(self, response: ParsedResponse, outcome: Outcome) -> dict[str, Any]:
        thought = {"thinking": response.reasoning} if response.reasoning else {}
        said = {"response": response.content + response.refusal, **thought}
        return {**self._who, **said, **_describe_end(outcome, response.usage)}


def _encode_line(value: Any) -> bytes:
    """Return JSON without characters that end a line for a reader that goes by Unicode."""
    data = encode(value)
    return data if data.isascii() else _SEPARATOR.sub(_escape, data)


def _escape(separator: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(separator[0].decode())


def _write_words(code: str, message: str) -> str:
    return message if is_unnamed(code) else f"{code}: {message}"


def _describe_filter(outcome: Outcome) -> tuple[str, str]:
    return "content_filter", outcome.explanation or f"the server ended the turn: {outcome.finish_reason}"


def _make_call(id: str, place: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"id": id, "function": {"index": place, "name": name, "arguments": arguments}}


def _describe_end(outcome: Outcome, usage: dict[str, Any] | None) -> dict[str, Any]:
    reason = outcome.finish_reason
    word = "length" if outcome.ending == "length" else reason if reason in ("load", "unload") else "stop"
    if usage is not None and "eval_count" not in usage and "prompt_eval_count" not in usage:
        tokens = count_tokens(usage)
        usage = {"prompt_eval_count": tokens.prompt, "eval_count": tokens.completion}
    counts = {name: usage[name] for name in _COUNTS if name in usage} if usage else {}
    return {"done": True, "done_reason": word, **counts}
