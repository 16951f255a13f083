"""OpenAI Chat Completions: server-sent events of `chat.completion.chunk`, or one `chat.completion`.

Thought goes into `reasoning_content`, as DeepSeek, vLLM and llama.cpp write it; what signs it, into
OpenRouter's `reasoning_details`, beside the thought itself if thoughts are signed one by one.  Their entries are
numbered: the official client sums lists up by `index`, and raises where a second list has none.  So are the calls,
without a gap and in the order in which they leave, for it takes an index as a place.

With `usage="apart"`, for clients that ask by `stream_options: {"include_usage": true}`, the token counts stand on a
chunk of their own behind the end, which has no choices, and all others have `usage: null`.  Else they ride on the chunk
with the finish reason, as DeepSeek, Groq and xAI write it: whoever looks finds them, and no client meets a chunk
without choices that it did not ask for.  A stream that failed has no `[DONE]`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar, Final

from streamparse.emit.answer import argument_text, standing_calls
from streamparse.emit.emitter import Emitter, encode
from streamparse.emit.failures import OPENAI_KINDS, kind_of
from streamparse.emit.reasons import Meaning
from streamparse.emit.usage import tokens_of
from streamparse.events import Done, ProviderItem, ReasoningDelta, RefusalDelta, TextDelta, ToolCallComplete
from streamparse.events import ToolCallStart as Start
from streamparse.response import AnswerPart, ParsedResponse, details_of, ends_detail, parts_of

__all__ = ["OpenAIChatEmitter"]

_OWN_ITEMS: Final = ("annotations", "executed_tools")
_CLOSING: Final = b'},"logprobs":null,"finish_reason":null}]'
_DONE: Final = b"data: [DONE]\n\n"
_ROLE: Final = b'"role":"assistant",'
_DETAILS: Final = "reasoning_details"
_TEXTS: Final = ("text", "summary")
_EXTRA: Final = "extra_content"
_FORMAT: Final = "anthropic-claude-v1"


class OpenAIChatEmitter(Emitter):
    """Writes an answer as OpenAI Chat Completions does."""

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    id_prefix: ClassVar[str] = "chatcmpl-"

    def _prepare(self) -> None:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        self._beginning = b"data: " + encode(head)[:-1] + b',"choices":['
        self._head = self._beginning + b'{"index":0,"delta":{'
        self._closing = _CLOSING + (b',"usage":null}\n\n' if self.usage == "apart" else b"}\n\n")
        self._open = self._head + _ROLE  # the first chunk names the role
        self._listed = Counter[str]()  # how many entries of each list are out
        self._places: dict[int, int] = {}  # of the calls that are out
        self._entry: dict[str, Any] = {}  # of the details of thought, which has begun
        if self.signed:
            self._writers[ReasoningDelta] = self._signed_reasoning

    def error_body(self, code: str, message: str, status: int | None = None) -> bytes:
        kind = kind_of(OPENAI_KINDS, code, status)
        return encode({"error": {"message": message, "type": kind, "param": None, "code": code}})

    def _text(self, event: TextDelta) -> bytes:
        opening, self._open = self._open, self._head  # as `_chunk`, the short way for nearly every event
        return opening + b'"content":' + encode(event.text) + self._closing

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        return self._chunk(b'"reasoning_content":' + encode(event.text))

    def _signed_reasoning(self, event: ReasoningDelta) -> bytes:
        text = encode(event.text)
        kind = b"summary" if self._entry.get("type") == "reasoning.summary" else b"text"
        detail = b'{"type":"reasoning.%b","%b":%b,"index":%d}' % (kind, kind, text, self._listed[_DETAILS])
        return self._chunk(b'"reasoning_content":%b,"%b":[%b]' % (text, _DETAILS.encode(), detail))

    def _refusal(self, event: RefusalDelta) -> bytes:
        return self._chunk(b'"refusal":' + encode(event.text))

    def _start(self, event: Start) -> bytes:
        place = self._places[event.index] = len(self._places)
        function = {"name": event.name, "arguments": ""}
        id = self.call_ids.give(event.id, event.index)
        call = {"index": place, "id": id, "type": "function", "function": function}
        return self._chunk(b'"tool_calls":[' + encode(call) + b"]")

    def _arguments(self, index: int, text: str) -> bytes:
        piece = b'"tool_calls":[{"index":%d,"function":{"arguments":%b}}]' % (self._places[index], encode(text))
        return self._chunk(piece)

    def _stop(self, event: ToolCallComplete) -> bytes:  # noqa: ARG002 - the JSON says it
        return b""

    def _item(self, event: ProviderItem) -> bytes:
        if event.kind in _OWN_ITEMS:
            return self._list(event.kind, event.data if isinstance(event.data, list) else [event.data])
        extra = _extra(event.kind, event.data)
        if extra is not None:
            return self._add_extra(event.index, extra)
        detail = _detail(event.kind, event.data)
        return self._add_detail(detail) if detail is not None else b""

    def _add_detail(self, detail: dict[str, Any]) -> bytes:
        """Add to the entries of thought: what neither signs nor hides one begins one, which thoughts go into."""
        known, self._entry = self._entry, {} if ends_detail(detail) else detail
        if known and (self._entry or any(known.get(key) != detail.get(key) for key in ("type", "index"))):
            known = {}
            self._listed[_DETAILS] += 1
        told = _TEXTS if self.signed else ()
        news = {key: value for key, value in detail.items() if key == "type" or known.get(key) != value}
        news = {key: value for key, value in news.items() if key not in told}
        if not self._entry:
            return self._list(_DETAILS, [news])
        self.signed = True
        self._writers[ReasoningDelta] = self._signed_reasoning
        return self._chunk(encode({_DETAILS: [news | {"index": self._listed[_DETAILS]}]})[1:-1])

    def _add_extra(self, index: int | None, extra: Any) -> bytes:
        """Add to a call what its provider wants back with it; the official client wants a function in each piece."""
        head = self._let_go(index)
        if index not in self._places:
            return head
        piece = {"index": self._places[index], "function": {"arguments": ""}, _EXTRA: extra}
        return head + self._chunk(b'"tool_calls":[' + encode(piece) + b"]")

    def _list(self, name: str, entries: list[Any]) -> bytes:
        """Add to a list of the message."""
        begun = self._listed[name]
        self._listed[name] += len(entries)
        numbered = [
            entry | {"index": place} if isinstance(entry, dict) and (begun or name == _DETAILS) else entry
            for place, entry in enumerate(entries, begun)
        ]
        return self._chunk(encode({name: numbered})[1:-1])

    def _failure(self, code: str, message: str) -> bytes:
        return b"data: " + self.error_body(code, message) + b"\n\n"

    def _end(self, done: Done, meaning: Meaning) -> bytes:
        role = self._open[len(self._head) : -1]
        end = self._head + role + b'},"logprobs":null,"finish_reason":"%b"}]' % meaning.encode()
        counts = encode(_usage(done.usage)) if done.usage is not None else b"null"
        if self.usage == "apart":
            apart = self._beginning + b'],"usage":%b}\n\n' % counts if done.usage is not None else b""
            return end + b',"usage":null}\n\n' + apart + _DONE
        return end + (b',"usage":%b}\n\n' % counts if done.usage is not None else b"}\n\n") + _DONE

    def _chunk(self, delta: bytes) -> bytes:
        opening, self._open = self._open, self._head
        return opening + delta + self._closing

    def _body(self, response: ParsedResponse, meaning: Meaning) -> dict[str, Any]:
        choice = {"index": 0, "message": self._answer(response), "logprobs": None, "finish_reason": meaning}
        body = {"id": self.id, "object": "chat.completion", "created": self.created, "model": self.model}
        return {**body, "choices": [choice], **({"usage": _usage(response.usage)} if response.usage else {})}

    def _answer(self, response: ParsedResponse) -> dict[str, Any]:
        functions = [(call, {"name": call.name, "arguments": argument_text(call)}) for call in standing_calls(response)]
        extras = _extras(response)
        calls = [
            {"id": self.call_ids.give(call.id, call.index), "type": "function", "function": function}
            | extras.get(call.index, {})
            for call, function in functions
        ]
        content = response.content or (None if calls or response.refusal else "")
        message = {"role": "assistant", "content": content, "refusal": response.refusal or None}
        return message | _optional(response, calls)


def _optional(response: ParsedResponse, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of a message that are there only if they hold something."""
    optional: dict[str, Any] = {
        "reasoning_content": response.reasoning,
        _DETAILS: _details(response),
        **{item["kind"]: item["data"] for item in response.items if item["kind"] in _OWN_ITEMS},
        "tool_calls": calls,
    }
    return {name: value for name, value in optional.items() if value}


def _details(response: ParsedResponse) -> list[dict[str, Any]]:
    """What signs or hides thoughts, each signature with its thought."""
    pieces = (_piece(part) for part in parts_of(response))
    entries = details_of(piece for piece in pieces if piece is not None)
    return [entry | {"index": place} for place, entry in enumerate(entries)]


def _piece(part: AnswerPart) -> str | dict[str, Any] | None:
    """What a part is of the entries: a thought, or a piece of one."""
    if isinstance(part, ReasoningDelta):
        return part.text
    return _detail(part.kind, part.data) if isinstance(part, ProviderItem) else None


def _extras(response: ParsedResponse) -> dict[int | None, dict[str, Any]]:
    """What providers want back with calls, by their indexes."""
    found = [(item.get("index"), _extra(item["kind"], item["data"])) for item in response.items]
    return {index: {_EXTRA: extra} for index, extra in found if extra is not None}


def _extra(kind: str, data: Any) -> Any:
    """What a call's provider wants back with it, as Google's own server for this wire writes it beside the call."""
    if kind == "thought_signature":
        return {"google": {"thought_signature": data}}
    return data if kind == _EXTRA else None


def _detail(kind: str, data: Any) -> dict[str, Any] | None:
    """What signs or hides a thought, as an entry of `reasoning_details`."""
    if kind.startswith("reasoning.") and isinstance(data, dict):
        return data
    if kind == "signature":
        return {"type": "reasoning.text", "signature": data, "format": _FORMAT}
    if kind == "redacted_thinking" and isinstance(data, dict):
        return {"type": "reasoning.encrypted", "data": data.get("data"), "format": _FORMAT}
    return None


def _usage(usage: dict[str, Any]) -> dict[str, Any]:
    """The counts in the words of the target, its three always among them; its own stay as they are."""
    tokens = tokens_of(usage)
    counts: dict[str, Any] = {"prompt_tokens": tokens.prompt, "completion_tokens": tokens.answer}
    counts["total_tokens"] = tokens.prompt + tokens.answer
    if "prompt_tokens" in usage:
        return counts | {name: value for name, value in usage.items() if value is not None}
    if tokens.cached:
        counts["prompt_tokens_details"] = {"cached_tokens": tokens.cached}
    if tokens.thought:
        counts["completion_tokens_details"] = {"reasoning_tokens": tokens.thought}
    return counts
