"""OpenAI Chat Completions: server-sent events of `chat.completion.chunk`, or one `chat.completion`.

Thought goes into `reasoning_content`, as DeepSeek, vLLM and llama.cpp write it; what signs it, into
OpenRouter's `reasoning_details`.  The token counts ride on the chunk with the finish reason, so that no client meets a
chunk without choices that it did not ask for.  A stream that failed has no `[DONE]`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from streamparse.emit.emitter import Emitter, argument_text, encode, standing_calls
from streamparse.emit.reasons import Meaning
from streamparse.emit.usage import tokens_of
from streamparse.events import Done, ProviderItem, ReasoningDelta, RefusalDelta, TextDelta, ToolCallComplete
from streamparse.events import ToolCallStart as Start
from streamparse.response import ParsedResponse

__all__ = ["OpenAIChatEmitter"]

_OWN_ITEMS: Final = ("annotations", "executed_tools")
_ROLE: Final = b'"role":"assistant",'
_FORMAT: Final = "anthropic-claude-v1"


class OpenAIChatEmitter(Emitter):
    """Writes an answer as OpenAI Chat Completions does."""

    content_type: ClassVar[str] = "text/event-stream; charset=utf-8"
    id_prefix: ClassVar[str] = "chatcmpl-"

    def __init__(self, *, model: str = "", id: str | None = None, created: int | None = None) -> None:
        super().__init__(model=model, id=id, created=created)
        head = {"id": self.id, "object": "chat.completion.chunk", "created": self.created, "model": self.model}
        self._head = b"data: " + encode(head)[:-1] + b',"choices":[{"index":0,"delta":{'
        self._open = self._head + _ROLE  # the first chunk names the role

    def error_body(self, code: str, message: str) -> bytes:
        return encode({"error": {"message": message, "type": code, "param": None, "code": code}})

    def _text(self, event: TextDelta) -> bytes:
        return self._chunk(b'"content":' + encode(event.text))

    def _reasoning(self, event: ReasoningDelta) -> bytes:
        return self._chunk(b'"reasoning_content":' + encode(event.text))

    def _refusal(self, event: RefusalDelta) -> bytes:
        return self._chunk(b'"refusal":' + encode(event.text))

    def _start(self, event: Start) -> bytes:
        function = {"name": event.name, "arguments": ""}
        call = {"index": event.index, "id": event.id, "type": "function", "function": function}
        return self._chunk(b'"tool_calls":[' + encode(call) + b"]")

    def _arguments(self, index: int, text: str) -> bytes:
        return self._chunk(b'"tool_calls":[{"index":%d,"function":{"arguments":%b}}]' % (index, encode(text)))

    def _stop(self, event: ToolCallComplete) -> bytes:  # noqa: ARG002 - the JSON says it
        return b""

    def _item(self, event: ProviderItem) -> bytes:
        if event.kind in _OWN_ITEMS:
            return self._chunk(encode({event.kind: event.data})[1:-1])
        detail = _detail(event.kind, event.data)
        return self._chunk(encode({"reasoning_details": [detail]})[1:-1]) if detail is not None else b""

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
        return opening + delta + b'},"logprobs":null,"finish_reason":null}]}\n\n'

    def _body(self, response: ParsedResponse, meaning: Meaning) -> dict[str, Any]:
        choice = {"index": 0, "message": _message(response), "logprobs": None, "finish_reason": meaning}
        body = {"id": self.id, "object": "chat.completion", "created": self.created, "model": self.model}
        return {**body, "choices": [choice], **({"usage": _usage(response.usage)} if response.usage else {})}


def _message(response: ParsedResponse) -> dict[str, Any]:
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": argument_text(call)}}
        for call in standing_calls(response)
    ]
    details = [detail for item in response.items if (detail := _detail(item["kind"], item["data"])) is not None]
    optional: dict[str, Any] = {
        "reasoning_content": response.reasoning,
        "reasoning_details": details,
        **{item["kind"]: item["data"] for item in response.items if item["kind"] in _OWN_ITEMS},
        "tool_calls": calls,
    }
    content = response.content or (None if calls or response.refusal else "")
    message = {"role": "assistant", "content": content, "refusal": response.refusal or None}
    return message | {name: value for name, value in optional.items() if value}


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
