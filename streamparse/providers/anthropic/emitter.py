"""Anthropic Messages: server-sent events around content blocks, or one `message`.

    message_start (content_block_start content_block_delta* content_block_stop)* message_delta message_stop

Text and thought share one block as long as nothing else comes between.  Each call is a block of its own, which stays
open beside others until the call is complete.  The block of a call that broke never stops, and the turn ends with
`max_tokens`.  The token counts of the prompt are known only at the end, and stand there.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from streamparse.emitting.answer import STOP_DETAILS, explanation_of, nameless, reason_of
from streamparse.emitting.emitter import Emitter, encode
from streamparse.emitting.error_kinds import ANTHROPIC_KINDS, kind_of
from streamparse.emitting.meanings import Meaning
from streamparse.events import Done, ProviderItem, ReasoningDelta, TextDelta, ToolCallComplete, ToolCallStart
from streamparse.providers.anthropic.emitted_blocks import BORDER, as_own, blocks_of, is_own_block
from streamparse.response import ParsedResponse
from streamparse.usage import count_tokens

__all__ = ["AnthropicEmitter"]

_WORDS: Final[dict[Meaning, str]] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_OWN_WORDS: Final[dict[str, Meaning]] = {
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "model_context_window_exceeded": "length",
}
_TURN_ITEMS: Final = ("stop_sequence", STOP_DETAILS, "container")
_THINKING: Final = {"type": "thinking", "thinking": "", "signature": ""}
_TEXT: Final = {"type": "text", "text": ""}


class AnthropicEmitter(Emitter):
    """Writes an answer as Anthropic does."""

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    id_prefix: ClassVar[str] = "msg_"

    def _prepare(self) -> None:
        self._opening = self._message_start()  # goes out before whatever is first
        self._blocks = 0
        self._kind = ""  # of the block that is open for text or thought
        self._place = 0  # its index
        self._call_places: dict[int, int] = {}
        self._turn: dict[str, Any] = {}
        self._extras: dict[str, Any] = {}

    def error_body(self, code: str, message: str, status: int | None = None) -> bytes:
        kind = kind_of(ANTHROPIC_KINDS, code, status)
        words = message if code == kind or code.isdecimal() or nameless(code) else f"{code}: {message}"
        return encode({"type": "error", "error": {"type": kind, "message": words}})

    def _text(self, event: TextDelta) -> bytes:
        head = self._enter("text", _TEXT) if self._kind != "text" else b""
        return head + _delta(self._place, b'"text_delta","text":', event.text)

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        head = self._enter("thinking", _THINKING) if self._kind != "thinking" else b""
        return head + _delta(self._place, b'"thinking_delta","thinking":', event.text)

    def _start(self, event: ToolCallStart) -> bytes:
        left = self._leave()
        self._call_places[event.index] = self._blocks
        id = self.call_ids.give(event.id, event.index)
        return left + self._block({"type": "tool_use", "id": id, "name": event.name, "input": {}})

    def _arguments(self, index: int, text: str) -> bytes:
        return _delta(self._call_places[index], b'"input_json_delta","partial_json":', text)

    def _stop(self, event: ToolCallComplete) -> bytes:
        return _block_stop(self._call_places[event.index])

    def _item(self, event: ProviderItem) -> bytes:
        event = as_own(event)
        data: Any = event.data
        if event.kind == "signature":
            return self._sign(data)
        if event.kind == "citations_delta":
            head = self._enter("text", _TEXT) if self._kind != "text" else b""
            delta = {"type": "citations_delta", "citation": data}
            return head + _event("content_block_delta", {"index": self._place, "delta": delta})
        if event.kind == BORDER:
            return self._leave()
        if is_own_block(event):
            left = self._leave()
            return left + self._block(data) + _block_stop(self._blocks - 1)
        if event.kind in _TURN_ITEMS:
            self._turn[event.kind] = data
        elif event.kind == "context_management":
            self._extras[event.kind] = data
        return b""

    def _sign(self, signature: Any) -> bytes:
        head = self._enter("thinking", _THINKING) if self._kind != "thinking" else b""
        delta = {"type": "signature_delta", "signature": signature}
        return head + _event("content_block_delta", {"index": self._place, "delta": delta}) + self._leave()

    def _failure(self, code: str, message: str) -> bytes:
        return b"event: error\ndata: " + self.error_body(code, message) + b"\n\n"

    def _end(self, done: Done, meaning: Meaning) -> bytes:
        left = self._leave()
        word = self._word(done.finish_reason, meaning)
        turn = {"stop_reason": word, "stop_sequence": None, **_details(word, self._explanation), **self._turn}
        usage = {"output_tokens": 0} | _usage(done.usage)
        ending = _event("message_delta", {"delta": turn, "usage": usage, **self._extras})
        return self._first() + left + ending + _event("message_stop", {})

    # -- inside ----------------------------------------------------------------------------------------

    def _word(self, reason: str | None, meaning: Meaning) -> str:
        return "refusal" if self._refused else _word(reason, meaning)

    def _first(self) -> bytes:
        opening, self._opening = self._opening, b""
        return opening

    def _enter(self, kind: str, block: dict[str, Any]) -> bytes:
        """Begin a block of text or of thought."""
        left = self._leave()
        self._kind, self._place = kind, self._blocks
        return left + self._block(block)

    def _leave(self) -> bytes:
        """End the open block of text or of thought, if there is one."""
        kind, self._kind = self._kind, ""
        return _block_stop(self._place) if kind else b""

    def _block(self, block: dict[str, Any]) -> bytes:
        index, self._blocks = self._blocks, self._blocks + 1
        return self._first() + _event("content_block_start", {"index": index, "content_block": block})

    def _message_start(self) -> bytes:
        message = self._message() | {"content": [], "stop_reason": None, "stop_sequence": None}
        return _event("message_start", {"message": message | {"usage": {"input_tokens": 0, "output_tokens": 0}}})

    def _message(self) -> dict[str, Any]:
        return {"id": self.id, "type": "message", "role": "assistant", "model": self.model}

    def _body(self, response: ParsedResponse, meaning: Meaning) -> dict[str, Any]:
        items = {item["kind"]: item["data"] for item in response.items}
        turn: dict[str, Any] = {kind: items[kind] for kind in _TURN_ITEMS if kind in items}
        word = "refusal" if response.refusal else _word(reason_of(response), meaning)
        ending = {"stop_reason": word, "stop_sequence": None, **_details(word, explanation_of(response)), **turn}
        content, usage = blocks_of(response, self.call_ids), _NO_USAGE | _usage(response.usage)
        return {**self._message(), "content": content, **ending, "usage": usage}


_NO_USAGE: Final = {"input_tokens": 0, "output_tokens": 0}


def _word(reason: str | None, meaning: Meaning) -> str:
    """The target's word; the server's own if it is one of the target's and still true."""
    return reason if reason is not None and _OWN_WORDS.get(reason) == meaning else _WORDS[meaning]


def _details(word: str, explanation: str) -> dict[str, Any]:
    """What explains a refusal, of which no server but Anthropic's knows the category."""
    told = {"type": "refusal", "category": None, "explanation": explanation}
    return {STOP_DETAILS: told} if word == "refusal" and explanation else {}


def _event(kind: str, fields: dict[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), encode({"type": kind, **fields}))


def _delta(index: int, head: bytes, text: str) -> bytes:
    return b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":%b%b}}\n\n' % (
        index,
        head,
        encode(text),
    )


def _block_stop(index: int) -> bytes:
    return b'event: content_block_stop\ndata: {"type":"content_block_stop","index":%d}\n\n' % index


def _usage(usage: dict[str, Any] | None) -> dict[str, Any]:
    """The counts in the target's words; those that are its own already stay as they are."""
    if usage is None or ("input_tokens" in usage and "total_tokens" not in usage):
        return usage or {}
    tokens = count_tokens(usage)
    counts = {"input_tokens": tokens.prompt - tokens.cached, "output_tokens": tokens.completion}
    return counts | ({"cache_read_input_tokens": tokens.cached} if tokens.cached else {})
