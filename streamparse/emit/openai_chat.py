"""OpenAI Chat Completions: server-sent events of `chat.completion.chunk`, or one `chat.completion`.

Thought goes into `reasoning_content`, as DeepSeek, vLLM and llama.cpp write it; what signs it, into
OpenRouter's `reasoning_details`, beside the thought itself if thoughts are signed one by one.  Their entries are
numbered: the official client sums lists up by `index`, and raises where a second list has none.  The token counts ride
on the chunk with the finish reason, so that no client meets a chunk without choices that it did not ask for.  A stream
that failed has no `[DONE]`.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar, Final

from streamparse.emit.answer import argument_text, standing_calls
from streamparse.emit.emitter import Emitter, encode
from streamparse.emit.reasons import Meaning
from streamparse.emit.usage import tokens_of
from streamparse.events import Done, ProviderItem, ReasoningDelta, RefusalDelta, TextDelta, ToolCallComplete
from streamparse.events import ToolCallStart as Start
from streamparse.response import ParsedResponse, parts_of

__all__ = ["OpenAIChatEmitter"]

_OWN_ITEMS: Final = ("annotations", "executed_tools")
_CLOSING: Final = b'},"logprobs":null,"finish_reason":null}]}\n\n'
_ROLE: Final = b'"role":"assistant",'
_DETAILS: Final = "reasoning_details"
_FORMAT: Final = "anthropic-claude-v1"


class OpenAIChatEmitter(Emitter):
    """Writes an answer as OpenAI Chat Completions does."""

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    id_prefix: ClassVar[str] = "chatcmpl-"

    def _prepare(self) -> None:
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        self._head = b"data: " + encode(head)[:-1] + b',"choices":[{"index":0,"delta":{'
        self._open = self._head + _ROLE  # the first chunk names the role
        self._listed = Counter[str]()  # how many entries of each list are out
        if self.signed:
            self._writers[ReasoningDelta] = self._signed_reasoning

    def error_body(self, code: str, message: str) -> bytes:
        return encode({"error": {"message": message, "type": code, "param": None, "code": code}})

    def _text(self, event: TextDelta) -> bytes:
        opening, self._open = self._open, self._head  # as `_chunk`, the short way for nearly every event
        return opening + b'"content":' + encode(event.text) + _CLOSING

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        return self._chunk(b'"reasoning_content":' + encode(event.text))

    def _signed_reasoning(self, event: ReasoningDelta) -> bytes:
        text = encode(event.text)
        detail = b'{"type":"reasoning.text","text":%b,"index":%d}' % (text, self._listed[_DETAILS])
        return self._chunk(b'"reasoning_content":%b,"%b":[%b]' % (text, _DETAILS.encode(), detail))

    def _refusal(self, event: RefusalDelta) -> bytes:
        return self._chunk(b'"refusal":' + encode(event.text))

    def _start(self, event: Start) -> bytes:
        function = {"name": event.name, "arguments": ""}
        call = {"index": event.index, "id": self.call_id(event.id), "type": "function", "function": function}
        return self._chunk(b'"tool_calls":[' + encode(call) + b"]")

    def _arguments(self, index: int, text: str) -> bytes:
        return self._chunk(b'"tool_calls":[{"index":%d,"function":{"arguments":%b}}]' % (index, encode(text)))

    def _stop(self, event: ToolCallComplete) -> bytes:  # noqa: ARG002 - the JSON says it
        return b""

    def _item(self, event: ProviderItem) -> bytes:
        if event.kind in _OWN_ITEMS:
            return self._list(event.kind, event.data if isinstance(event.data, list) else [event.data])
        detail = _detail(event.kind, event.data)
        return self._list(_DETAILS, [detail]) if detail is not None else b""

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
        usage = b',"usage":' + encode(_usage(done.usage)) if done.usage is not None else b""
        role = self._open[len(self._head) : -1]
        return (
            self._head
            + role
            + b'},"logprobs":null,"finish_reason":"%b"}]%b}\n\ndata: [DONE]\n\n'
            % (
                meaning.encode(),
                usage,
            )
        )

    def _chunk(self, delta: bytes) -> bytes:
        opening, self._open = self._open, self._head
        return opening + delta + _CLOSING

    def _body(self, response: ParsedResponse, meaning: Meaning) -> dict[str, Any]:
        choice = {"index": 0, "message": self._answer(response), "logprobs": None, "finish_reason": meaning}
        body = {"id": self.id, "object": "chat.completion", "created": self.created, "model": self.model}
        return {**body, "choices": [choice], **({"usage": _usage(response.usage)} if response.usage else {})}

    def _answer(self, response: ParsedResponse) -> dict[str, Any]:
        functions = [(call, {"name": call.name, "arguments": argument_text(call)}) for call in standing_calls(response)]
        calls = [
            {"id": self.call_id(call.id), "type": "function", "function": function} for call, function in functions
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
    details: list[dict[str, Any]] = []
    thought = ""
    for part in parts_of(response):
        if isinstance(part, ReasoningDelta):
            thought += part.text
        elif isinstance(part, ProviderItem) and (detail := _detail(part.kind, part.data)) is not None:
            signs = part.kind == "signature" and thought
            details.append(detail | ({"text": thought} if signs else {}) | {"index": len(details)})
            thought = "" if signs else thought
    return details


def _detail(kind: str, data: Any) -> dict[str, Any] | None:
    """What signs or hides a thought, as an entry of `reasoning_details`."""
    if kind.startswith("reasoning.") and isinstance(data, dict):
        return data
    if kind == "signature":
        return {"type": "reasoning.text", "signature": data, "format": _FORMAT}
    if kind == "redacted_thinking" and isinstance(data, dict):
        return {"type": "reasoning.encrypted", "data": data.get("data"), "format": _FORMAT}
    return None


def _usage(usage: dict[str, Any] | None) -> dict[str, Any]:
    if usage is not None and "prompt_tokens" in usage:
        return usage
    tokens = tokens_of(usage)
    counts: dict[str, Any] = {"prompt_tokens": tokens.prompt, "completion_tokens": tokens.answer}
    counts["total_tokens"] = tokens.prompt + tokens.answer
    if tokens.cached:
        counts["prompt_tokens_details"] = {"cached_tokens": tokens.cached}
    if tokens.thought:
        counts["completion_tokens_details"] = {"reasoning_tokens": tokens.thought}
    return counts
