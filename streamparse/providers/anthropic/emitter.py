"""Anthropic Messages: server-sent events around content blocks, or one `message`.

    message_start (content_block_start content_block_delta* content_block_stop)* message_delta message_stop

Text and thought share one block as long as nothing else comes between.  A signature ends the thought before it; a
citation belongs to the text that it comes with, up to the next border.  Each call is a block of its own, which stays
open next to others until the call is complete.  The block of a call that broke never stops, and the turn ends with
`max_tokens`.  The token counts of the prompt are known only at the end, and are there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from streamparse import events
from streamparse.emitting.emitter import Emitter, encode
from streamparse.emitting.outcome import STOP_DETAILS, Ending, Outcome, find_kind, is_unnamed
from streamparse.providers.anthropic.facts import TURN_ITEMS, is_own_block, to_own_item
from streamparse.response import ParsedResponse, ToolCall
from streamparse.usage import count_tokens
from streamparse.writing.answer_parts import arrange_answer
from streamparse.writing.parts import CITATION, TEXT_BORDER, Item, Text, Thought

_WORDS: Final[dict[Ending, str]] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}
_OWN_WORDS: Final[dict[str, Ending]] = {
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "model_context_window_exceeded": "length",
}
_KINDS: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
"""The types of errors: https://docs.anthropic.com/en/api/errors, and `ErrorType` of the official client."""
_THINKING: Final = {"type": "thinking", "thinking": "", "signature": ""}
_TEXT: Final = {"type": "text", "text": ""}
_NO_USAGE: Final = {"input_tokens": 0, "output_tokens": 0}


class AnthropicEmitter(Emitter):
    """Writes an answer as Anthropic does."""

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    id_prefix: ClassVar[str] = "msg_"

    def _prepare(self) -> None:
        self._opening = self._write_message_start()  # sent before the first event
        self._blocks = 0
        self._kind = ""  # of the block that is open for text or thought
        self._place = 0  # its index
        self._call_places: dict[int, int] = {}
        self._turn: dict[str, Any] = {}
        self._extras: dict[str, Any] = {}

    def write_error_body(self, code: str, message: str, status: int | None = None) -> bytes:
        kind = find_kind(_KINDS, code, status)
        words = message if code == kind or code.isdecimal() or is_unnamed(code) else f"{code}: {message}"
        return encode({"type": "error", "error": {"type": kind, "message": words}})

    def _write_text(self, event: events.TextDelta) -> bytes:
        head = self._enter("text", _TEXT) if self._kind != "text" else b""
        return head + _write_delta(self._place, b'"text_delta","text":', event.text)

    def _write_reasoning(self, event: events.ReasoningDelta) -> bytes:
        head = self._enter("thinking", _THINKING) if self._kind != "thinking" else b""
        return head + _write_delta(self._place, b'"thinking_delta","thinking":', event.text)

    def write_call_start(self, event: events.ToolCallStart, /) -> bytes:
        left = self._leave()
        self._call_places[event.index] = self._blocks
        return left + self._begin_block(_make_tool_use(self._give_id(event.id, event.index), event.name, {}))

    def write_arguments(self, index: int, text: str, /) -> bytes:
        return _write_delta(self._call_places[index], b'"input_json_delta","partial_json":', text)

    def write_call_end(self, event: events.ToolCallComplete, /) -> bytes:
        return _write_block_stop(self._call_places[event.index])

    def _write_item(self, event: events.ProviderItem) -> bytes:
        kind, data = to_own_item(event.kind, event.data)
        if kind == "signature":
            return self._add_to_block("thinking", _THINKING, {"type": "signature_delta", kind: data}) + self._leave()
        if kind == CITATION:
            return self._add_to_block("text", _TEXT, {"type": kind, "citation": data})
        if kind == TEXT_BORDER:
            return self._leave()
        if is_own_block(kind, data):
            left = self._leave()
            return left + self._begin_block(data) + _write_block_stop(self._blocks - 1)
        if kind in TURN_ITEMS:
            self._turn[kind] = data
        elif kind == "context_management":
            self._extras[kind] = data
        return b""

    def _write_failure(self, code: str, message: str) -> bytes:
        return b"event: error\ndata: " + self.write_error_body(code, message) + b"\n\n"

    def _write_end(self, done: events.Done) -> bytes:
        left = self._leave()
        turn = _describe_end(self._outcome) | self._turn
        usage = {"output_tokens": 0} | _count(done.usage)
        ending = _write_event("message_delta", {"delta": turn, "usage": usage, **self._extras})
        return self._take_opening() + left + ending + _write_event("message_stop", {})

    # -- inside ----------------------------------------------------------------------------------------

    def _take_opening(self) -> bytes:
        opening, self._opening = self._opening, b""
        return opening

    def _add_to_block(self, kind: str, block: dict[str, Any], delta: dict[str, Any]) -> bytes:
        """Add to the open block of text or of thought; begin one if none is open."""
        head = self._enter(kind, block) if self._kind != kind else b""
        return head + _write_event("content_block_delta", {"index": self._place, "delta": delta})

    def _enter(self, kind: str, block: dict[str, Any]) -> bytes:
        """Begin a block of text or of thought."""
        left = self._leave()
        self._kind, self._place = kind, self._blocks
        return left + self._begin_block(block)

    def _leave(self) -> bytes:
        """End the open block of text or of thought, if one is open."""
        kind, self._kind = self._kind, ""
        return _write_block_stop(self._place) if kind else b""

    def _begin_block(self, block: dict[str, Any]) -> bytes:
        index, self._blocks = self._blocks, self._blocks + 1
        return self._take_opening() + _write_event("content_block_start", {"index": index, "content_block": block})

    def _write_message_start(self) -> bytes:
        message = {**self._make_head(), "content": [], "stop_reason": None, "stop_sequence": None, "usage": _NO_USAGE}
        return _write_event("message_start", {"message": message})

    def _make_head(self) -> dict[str, Any]:
        return {"id": self.id, "type": "message", "role": "assistant", "model": self.model}

    def _make_body(self, response: ParsedResponse, outcome: Outcome) -> dict[str, Any]:
        items = {item["kind"]: item["data"] for item in response.items}
        turn: dict[str, Any] = {kind: items[kind] for kind in TURN_ITEMS if kind in items}
        ending = _describe_end(outcome) | turn
        content, usage = _make_blocks(response, self._give_id), _NO_USAGE | _count(response.usage)
        return {**self._make_head(), "content": content, **ending, "usage": usage}


def _make_blocks(response: ParsedResponse, give_id: Callable[[str, int], str]) -> list[dict[str, Any]]:
    """Return the blocks of a whole answer, in the order in which they came."""
    blocks: list[dict[str, Any]] = []
    for part in arrange_answer(response):
        match part:
            case Text():
                _extend(blocks, "text", part.text)
            case Thought():
                _extend(blocks, "thinking", part.text)
            case ToolCall():
                blocks.append(_make_tool_use(give_id(part.id, part.index), part.name, part.arguments))
            case Item():
                _add_item(blocks, *to_own_item(part.kind, part.data))
    return [block for block in blocks if block]


def _add_item(blocks: list[dict[str, Any]], kind: str, data: Any) -> None:
    if kind == "signature":
        _extend(blocks, "thinking", "")
        blocks[-1][kind] = data
    elif kind == CITATION:
        _extend(blocks, "text", "")
        blocks[-1].setdefault("citations", []).append(data)
    elif kind == TEXT_BORDER:
        blocks.append({})
    elif is_own_block(kind, data):
        blocks.append(data)


def _extend(blocks: list[dict[str, Any]], kind: str, text: str) -> None:
    """Add to the last block, or to a new one if it is of another kind or a thought that is signed."""
    last = blocks[-1] if blocks else {}
    if last.get("type") != kind or last.get("signature"):
        last = dict(_THINKING if kind == "thinking" else _TEXT)
        blocks.append(last)
    last[kind] += text


def _describe_end(outcome: Outcome) -> dict[str, Any]:
    """Return the fields that say how a turn ended; no server but Anthropic's knows the category of a refusal."""
    word = "refusal" if outcome.refused else _choose_word(outcome.finish_reason, outcome.ending)
    details = {"type": "refusal", "category": None, "explanation": outcome.explanation}
    explained = {STOP_DETAILS: details} if word == "refusal" and outcome.explanation else {}
    return {"stop_reason": word, "stop_sequence": None, **explained}


def _choose_word(reason: str | None, ending: Ending) -> str:
    """Return the stop reason; the server's own word if it is one of Anthropic's and still true."""
    return reason if reason is not None and _OWN_WORDS.get(reason) == ending else _WORDS[ending]


def _make_tool_use(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def _write_event(kind: str, fields: dict[str, Any]) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), encode({"type": kind, **fields}))


def _write_delta(index: int, head: bytes, text: str) -> bytes:
    begin = b'event: content_block_delta\ndata: {"type":"content_block_delta","index":%d,"delta":{"type":%b'
    return begin % (index, head) + encode(text) + b"}}\n\n"


def _write_block_stop(index: int) -> bytes:
    return b'event: content_block_stop\ndata: {"type":"content_block_stop","index":%d}\n\n' % index


def _count(usage: dict[str, Any] | None) -> dict[str, Any]:
    """Return the token counts in Anthropic's words; its own counts stay as they are."""
    if usage is None or ("input_tokens" in usage and "total_tokens" not in usage):
        return usage or {}
    tokens = count_tokens(usage)
    counts = {"input_tokens": tokens.prompt - tokens.cached, "output_tokens": tokens.completion}
    return counts | ({"cache_read_input_tokens": tokens.cached} if tokens.cached else {})
