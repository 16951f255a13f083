"""OpenAI Chat Completions: server-sent events of `chat.completion.chunk`, or one `chat.completion`.

Thought goes into `reasoning_content`, as DeepSeek, vLLM and llama.cpp write it; what signs it, into
OpenRouter's `reasoning_details`, beside the thought itself if thoughts are signed one by one.  Their entries are
numbered: the official client sums lists up by `index`, and raises where a second list has none.  So are the calls,
without a gap and in the order in which they leave, for it takes an index as a place.  LiteLLM's `thinking_blocks` leave
whole, in one list before the end: Anthropic, to whom they go back, takes none that is numbered.

Why a filter ended the turn stands in `refusal`, the one field of a message that tells people why there is no answer.

With `usage="apart"`, for clients that ask by `stream_options: {"include_usage": true}`, the token counts stand on a
chunk of their own behind the end, which has no choices, and all others have `usage: null`.  Else they ride on the chunk
with the finish reason, as DeepSeek, Groq and xAI write it: whoever looks finds them, and no client meets a chunk
without choices that it did not ask for.  A stream that failed has no `[DONE]`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar, Final

from streamparse.emitting.answer import argument_text, explanation_of, standing_calls
from streamparse.emitting.emitter import Emitter, encode
from streamparse.emitting.error_kinds import OPENAI_KINDS, kind_of
from streamparse.emitting.meanings import Meaning
from streamparse.events import Done, ProviderItem, ReasoningDelta, RefusalDelta, TextDelta, ToolCallComplete
from streamparse.events import ToolCallStart as Start
from streamparse.providers.openai_chat.emitted_items import (
    AUDIO,
    CUSTOM,
    EXTRA,
    LISTS,
    SOURCES,
    custom_call,
    custom_calls,
    extra_of,
    extras,
    message_items,
    sources,
)
from streamparse.providers.openai_chat.reasoning_details import BLOCKS, Blocks, blocks_in, detail_of, details_in
from streamparse.providers.openai_chat.token_counts import chat_counts
from streamparse.response import ParsedResponse
from streamparse.writing.answer_parts import ends_detail

__all__ = ["OpenAIChatEmitter"]

_CLOSING: Final = b'},"logprobs":null,"finish_reason":null}]'
_DONE: Final = b"data: [DONE]\n\n"
_ROLE: Final = b'"role":"assistant",'
_DETAILS: Final = "reasoning_details"
_TEXTS: Final = ("text", "summary")


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
        self._sources: dict[str, Any] = {}
        self._entry: dict[str, Any] = {}  # of the details of thought, which has begun
        self._blocks = Blocks()

    def error_body(self, code: str, message: str, status: int | None = None) -> bytes:
        kind = kind_of(OPENAI_KINDS, code, status)
        return encode({"error": {"message": message, "type": kind, "param": None, "code": code}})

    def _text(self, event: TextDelta) -> bytes:
        opening, self._open = self._open, self._head  # as `_chunk`, the short way for nearly every event
        return opening + b'"content":' + encode(event.text) + self._closing

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        self._blocks.think(event.text)
        text = encode(event.text)
        return self._chunk(b'"reasoning_content":' + text + (self._detailed(text) if self.signed else b""))

    def _detailed(self, text: bytes) -> bytes:
        """The same thought in the entry that its signature will belong to."""
        kind = b"summary" if self._entry.get("type") == "reasoning.summary" else b"text"
        detail = b'{"type":"reasoning.%b","%b":%b,"index":%d}' % (kind, kind, text, self._listed[_DETAILS])
        return b',"%b":[%b]' % (_DETAILS.encode(), detail)

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
        if event.kind in LISTS:
            return self._list(event.kind, event.data if isinstance(event.data, list) else [event.data])
        if event.kind == AUDIO:
            return self._chunk(encode({AUDIO: event.data})[1:-1])
        if event.kind == CUSTOM:
            return self._add_custom(event.data)
        if event.kind == BLOCKS:
            self._blocks.add(event.data)
        elif event.kind in SOURCES:
            self._sources[event.kind] = event.data
        extra = extra_of(event.kind, event.data)
        if extra is not None:
            return self._add_extra(event.index, extra)
        detail = detail_of(event.kind, event.data)
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
        return self._chunk(encode({_DETAILS: [news | {"index": self._listed[_DETAILS]}]})[1:-1])

    def _add_extra(self, index: int | None, extra: Any) -> bytes:
        """Add to a call what its provider wants back with it; the official client wants a function in each piece."""
        head = self._let_go(index)
        if index not in self._places:
            return head
        piece = {"index": self._places[index], "function": {"arguments": ""}, EXTRA: extra}
        return head + self._chunk(b'"tool_calls":[' + encode(piece) + b"]")

    def _add_custom(self, data: Any) -> bytes:
        """Add a call of a tool that takes text, which comes whole; it ends a turn as any other."""
        call = custom_call(data)
        if call is None:
            return b""
        self._called = True
        place = self._places[-1 - len(self._places)] = len(self._places)
        id = self.call_ids.give(call["id"], place)
        return self._chunk(b'"tool_calls":[' + encode({"index": place, **call, "id": id}) + b"]")

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
        blocks = self._blocks.whole
        head = self._chunk(encode({BLOCKS: blocks})[1:-1]) if blocks else b""
        if meaning == "content_filter" and not self._refused and self._explanation:
            head += self._refusal(RefusalDelta(self._explanation))
        role = self._open[len(self._head) : -1]
        end = head + self._head + role + b'},"logprobs":null,"finish_reason":"%b"}]' % meaning.encode()
        end += b"," + encode(self._sources)[1:-1] if self._sources else b""
        counts = encode(chat_counts(done.usage)) if done.usage is not None else b"null"
        if self.usage == "apart":
            apart = self._beginning + b'],"usage":%b}\n\n' % counts if done.usage is not None else b""
            return end + b',"usage":null}\n\n' + apart + _DONE
        return end + (b',"usage":%b}\n\n' % counts if done.usage is not None else b"}\n\n") + _DONE

    def _chunk(self, delta: bytes) -> bytes:
        opening, self._open = self._open, self._head
        return opening + delta + self._closing

    def _body(self, response: ParsedResponse, meaning: Meaning) -> dict[str, Any]:
        filtered = meaning == "content_filter"
        message = self._answer(response, response.refusal or (explanation_of(response) if filtered else ""))
        reason = "tool_calls" if meaning == "stop" and "tool_calls" in message else meaning
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
        body = {"id": self.id, "object": "chat.completion", "created": self.created, "model": self.model}
        return {
            **body,
            "choices": [choice],
            **sources(response),
            **({"usage": chat_counts(response.usage)} if response.usage else {}),
        }

    def _answer(self, response: ParsedResponse, refusal: str) -> dict[str, Any]:
        functions = [(call, {"name": call.name, "arguments": argument_text(call)}) for call in standing_calls(response)]
        beside = extras(response)
        calls = [
            {"id": self.call_ids.give(call.id, call.index), "type": "function", "function": function}
            | beside.get(call.index, {})
            for call, function in functions
        ]
        customs = enumerate(custom_calls(response), len(calls))
        calls += [{**call, "id": self.call_ids.give(call["id"], place)} for place, call in customs]
        content = response.content or (None if calls or refusal else "")
        message = {"role": "assistant", "content": content, "refusal": refusal or None}
        return message | _optional(response, calls)


def _optional(response: ParsedResponse, calls: list[dict[str, Any]]) -> dict[str, Any]:
    """The fields of a message that are there only if they hold something."""
    optional: dict[str, Any] = {
        "reasoning_content": response.reasoning,
        _DETAILS: details_in(response),
        BLOCKS: blocks_in(response),
        **message_items(response),
        "tool_calls": calls,
    }
    return {name: value for name, value in optional.items() if value}
