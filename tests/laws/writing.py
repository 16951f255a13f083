"""Writes the frames of an answer as servers of each wire do: text, thoughts, calls in pieces or whole, the end.

A `Writer` gives messages, `Framing` makes bytes of them.  Both know the protocols only, and share no code with the
library; what few servers do beside the protocol (a name on each fragment, no id, one id for all) is an argument.
"""

# ruff: noqa: ARG002 - each writer says only what its protocol has
from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from aws_messages import header, message

__all__ = ["STYLES", "WRITERS", "Fragment", "Message", "Writer", "frame_of"]


class Message(NamedTuple):
    """One JSON message, with the name of its event where the protocol has one; `data` instead is sent as it is."""

    value: dict[str, Any]
    event: str = ""
    data: str = ""


class Fragment(NamedTuple):
    """A piece of a call as a server writes it: the parts that are None are left out."""

    number: int
    """Which call of the answer, from 0."""
    arguments: str | None = None
    name: str | None = None
    id: str | None = None
    index: int | None = None


class Writer:
    """Writes one answer: what is the same for all wires; each wire overrides what it can say."""

    wire: ClassVar[str]
    has_thoughts: ClassVar[bool] = True
    has_calls: ClassVar[bool] = True
    has_pieces: ClassVar[bool] = True
    """Whether arguments come in pieces, of several calls by turns."""
    is_final: ClassVar[bool] = False
    """Whether nothing behind the end counts."""

    def begin(self) -> list[Message]:
        return []

    def text(self, text: str) -> list[Message]:
        raise NotImplementedError

    def thought(self, text: str) -> list[Message]:
        raise NotImplementedError

    def text_and_thought(self, text: str, thought: str) -> list[Message]:
        """Both in one message, the text before the thought; empty where the wire has no such message."""
        return []

    def call_start(self, fragment: Fragment) -> list[Message]:
        raise NotImplementedError

    def call_piece(self, fragment: Fragment) -> list[Message]:
        raise NotImplementedError

    def call_stop(self, number: int) -> list[Message]:
        return []

    def call_whole(self, fragment: Fragment) -> list[Message]:
        raise NotImplementedError

    def end(self, has_calls: bool) -> list[Message]:
        raise NotImplementedError


class Chat(Writer):
    wire = "openai-chat"
    is_final = True

    def _delta(self, **delta: Any) -> list[Message]:
        return [Message({"id": "c", "choices": [{"index": 0, "delta": delta}]})]

    def text(self, text: str) -> list[Message]:
        return self._delta(content=text)

    def thought(self, text: str) -> list[Message]:
        return self._delta(reasoning_content=text)

    def text_and_thought(self, text: str, thought: str) -> list[Message]:
        return self._delta(content=text, reasoning_content=thought)

    def call_piece(self, fragment: Fragment) -> list[Message]:
        function = {"name": fragment.name, "arguments": fragment.arguments}
        parts = {"index": fragment.index, "id": fragment.id}
        call = {key: value for key, value in parts.items() if value is not None}
        call["function"] = {key: value for key, value in function.items() if value is not None}  # type: ignore[assignment]
        return self._delta(tool_calls=[call])

    call_start = call_whole = call_piece

    def end(self, has_calls: bool) -> list[Message]:
        reason = "tool_calls" if has_calls else "stop"
        finish = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
        return [Message(finish), Message({}, data="[DONE]")]


class Completions(Writer):
    wire = "openai-completions"
    has_thoughts = has_calls = False
    is_final = True

    def text(self, text: str) -> list[Message]:
        return [Message({"object": "text_completion", "choices": [{"index": 0, "text": text}]})]

    def end(self, has_calls: bool) -> list[Message]:
        finish = {"object": "text_completion", "choices": [{"index": 0, "text": "", "finish_reason": "stop"}]}
        return [Message(finish), Message({}, data="[DONE]")]


class Typed(Writer):
    """Events that are named by their type."""

    def _event(self, type: str, **fields: Any) -> Message:
        return Message({"type": type, **fields}, event=type)


class Responses(Typed):
    wire = "openai-responses"

    def __init__(self) -> None:
        self._opened: set[str] = set()
        self._arguments: dict[int, str] = {}
        self._ids: set[str | None] = set()

    def begin(self) -> list[Message]:
        return [self._event("response.created", response={"id": "r", "status": "in_progress", "output": []})]

    def text(self, text: str) -> list[Message]:
        opened = [] if "m" in self._opened else [self._added(0, {"type": "message", "id": "m", "content": []})]
        self._opened.add("m")
        place = {"item_id": "m", "output_index": 0, "content_index": 0}
        return [*opened, self._event("response.output_text.delta", **place, delta=text)]

    def thought(self, text: str) -> list[Message]:
        opened = [] if "t" in self._opened else [self._added(1, {"type": "reasoning", "id": "t", "summary": []})]
        self._opened.add("t")
        place = {"item_id": "t", "output_index": 1, "summary_index": 0}
        return [*opened, self._event("response.reasoning_summary_text.delta", **place, delta=text)]

    def _added(self, index: int, item: dict[str, Any]) -> Message:
        return self._event("response.output_item.added", output_index=index, item=item)

    def _item(self, fragment: Fragment, arguments: str) -> dict[str, Any]:
        item = {"type": "function_call", "id": f"fc{fragment.number}", "call_id": fragment.id, "name": fragment.name}
        return {key: value for key, value in item.items() if value is not None} | {"arguments": arguments}

    def call_start(self, fragment: Fragment) -> list[Message]:
        self._arguments[fragment.number] = ""
        self._ids.add(fragment.id)
        return [self._added(fragment.number + 2, self._item(fragment, ""))]

    def call_piece(self, fragment: Fragment) -> list[Message]:
        self._arguments[fragment.number] += fragment.arguments or ""
        place = {"item_id": f"fc{fragment.number}", "output_index": fragment.number + 2}
        return [self._event("response.function_call_arguments.delta", **place, delta=fragment.arguments)]

    def call_stop(self, number: int) -> list[Message]:
        place = {"item_id": f"fc{number}", "output_index": number + 2}
        return [self._event("response.function_call_arguments.done", **place, arguments=self._arguments[number])]

    def call_whole(self, fragment: Fragment) -> list[Message]:
        """A call that is told once it is done; of those that share an id, each is added before."""
        item = self._item(fragment, fragment.arguments or "")
        done = self._event("response.output_item.done", output_index=fragment.number + 2, item=item)
        is_known = fragment.id in self._ids
        self._ids.add(fragment.id)
        return [*self.call_start(fragment), done] if is_known else [done]

    def end(self, has_calls: bool) -> list[Message]:
        response = {"id": "r", "status": "completed", "output": [], "usage": {"input_tokens": 1, "output_tokens": 2}}
        return [self._event("response.completed", response=response)]


class Anthropic(Typed):
    wire = "anthropic"

    def __init__(self) -> None:
        self._opened: set[str] = set()

    def begin(self) -> list[Message]:
        return [self._event("message_start", message={"id": "m", "type": "message", "content": []})]

    def _start(self, index: int, block: dict[str, Any]) -> Message:
        return self._event("content_block_start", index=index, content_block=block)

    def _delta(self, index: int, **delta: str) -> Message:
        return self._event("content_block_delta", index=index, delta=delta)

    def text(self, text: str) -> list[Message]:
        opened = [] if "text" in self._opened else [self._start(0, {"type": "text", "text": ""})]
        self._opened.add("text")
        return [*opened, self._delta(0, type="text_delta", text=text)]

    def thought(self, text: str) -> list[Message]:
        opened = [] if "thought" in self._opened else [self._start(1, {"type": "thinking", "thinking": ""})]
        self._opened.add("thought")
        return [*opened, self._delta(1, type="thinking_delta", thinking=text)]

    def _block(self, fragment: Fragment) -> dict[str, Any]:
        block = {"type": "tool_use", "id": fragment.id, "name": fragment.name, "input": {}}
        return {key: value for key, value in block.items() if value is not None}

    def call_start(self, fragment: Fragment) -> list[Message]:
        return [self._start(fragment.number + 2, self._block(fragment))]

    def call_piece(self, fragment: Fragment) -> list[Message]:
        return [self._delta(fragment.number + 2, type="input_json_delta", partial_json=fragment.arguments or "")]

    def call_stop(self, number: int) -> list[Message]:
        return [self._event("content_block_stop", index=number + 2)]

    def call_whole(self, fragment: Fragment) -> list[Message]:
        return [*self.call_start(fragment), *self.call_piece(fragment), *self.call_stop(fragment.number)]

    def end(self, has_calls: bool) -> list[Message]:
        reason = "tool_use" if has_calls else "end_turn"
        delta = self._event("message_delta", delta={"stop_reason": reason}, usage={"output_tokens": 3})
        return [delta, self._event("message_stop")]


class Gemini(Writer):
    wire = "gemini"
    has_pieces = False

    def _parts(self, *parts: dict[str, Any]) -> list[Message]:
        return [Message({"candidates": [{"content": {"role": "model", "parts": list(parts)}, "index": 0}]})]

    def text(self, text: str) -> list[Message]:
        return self._parts({"text": text})

    def thought(self, text: str) -> list[Message]:
        return self._parts({"thought": True, "text": text})

    def text_and_thought(self, text: str, thought: str) -> list[Message]:
        return self._parts({"text": text}, {"text": thought, "thought": True})

    def call_whole(self, fragment: Fragment) -> list[Message]:
        call = {"name": fragment.name, "id": fragment.id, "args": json.loads(fragment.arguments or "{}")}
        return self._parts({"functionCall": {key: value for key, value in call.items() if value is not None}})

    def end(self, has_calls: bool) -> list[Message]:
        return [
            Message({"candidates": [{"finishReason": "STOP", "index": 0}], "usageMetadata": {"totalTokenCount": 3}})
        ]


class OllamaChat(Writer):
    wire = "ollama-chat"
    has_pieces = False
    is_final = True

    def _line(self, **message: Any) -> list[Message]:
        return [Message({"model": "m", "message": {"role": "assistant", **message}, "done": False})]

    def text(self, text: str) -> list[Message]:
        return self._line(content=text)

    def thought(self, text: str) -> list[Message]:
        return self._line(content="", thinking=text)

    def text_and_thought(self, text: str, thought: str) -> list[Message]:
        return self._line(content=text, thinking=thought)

    def call_whole(self, fragment: Fragment) -> list[Message]:
        function = {"name": fragment.name, "arguments": json.loads(fragment.arguments or "{}")}
        call = {"function": function} | ({} if fragment.id is None else {"id": fragment.id})
        return self._line(content="", tool_calls=[call])

    def end(self, has_calls: bool) -> list[Message]:
        return [Message({"model": "m", "message": {"content": ""}, "done": True, "done_reason": "stop"})]


class OllamaGenerate(Writer):
    wire = "ollama-generate"
    has_calls = False
    is_final = True

    def text(self, text: str) -> list[Message]:
        return [Message({"model": "m", "response": text, "done": False})]

    def thought(self, text: str) -> list[Message]:
        return [Message({"model": "m", "response": "", "thinking": text, "done": False})]

    def text_and_thought(self, text: str, thought: str) -> list[Message]:
        return [Message({"model": "m", "response": text, "thinking": thought, "done": False})]

    def end(self, has_calls: bool) -> list[Message]:
        return [Message({"model": "m", "response": "", "done": True, "done_reason": "stop"})]


class Bedrock(Writer):
    wire = "bedrock-converse"

    def begin(self) -> list[Message]:
        return [Message({"role": "assistant"}, event="messageStart")]

    def _delta(self, index: int, **delta: Any) -> list[Message]:
        return [Message({"contentBlockIndex": index, "delta": delta}, event="contentBlockDelta")]

    def text(self, text: str) -> list[Message]:
        return self._delta(0, text=text)

    def thought(self, text: str) -> list[Message]:
        return self._delta(1, reasoningContent={"text": text})

    def call_start(self, fragment: Fragment) -> list[Message]:
        use = {"toolUseId": fragment.id, "name": fragment.name}
        start = {"toolUse": {key: value for key, value in use.items() if value is not None}}
        return [Message({"contentBlockIndex": fragment.number + 2, "start": start}, event="contentBlockStart")]

    def call_piece(self, fragment: Fragment) -> list[Message]:
        return self._delta(fragment.number + 2, toolUse={"input": fragment.arguments or ""})

    def call_stop(self, number: int) -> list[Message]:
        return [Message({"contentBlockIndex": number + 2}, event="contentBlockStop")]

    def call_whole(self, fragment: Fragment) -> list[Message]:
        return [*self.call_start(fragment), *self.call_piece(fragment), *self.call_stop(fragment.number)]

    def end(self, has_calls: bool) -> list[Message]:
        reason = "tool_use" if has_calls else "end_turn"
        return [Message({"stopReason": reason}, "messageStop"), Message({"usage": {"totalTokens": 3}}, "metadata")]


class Cohere(Typed):
    wire = "cohere"

    def begin(self) -> list[Message]:
        return [self._event("message-start", id="m", delta={"message": {"role": "assistant", "content": []}})]

    def text(self, text: str) -> list[Message]:
        return [self._event("content-delta", index=0, delta={"message": {"content": {"text": text}}})]

    def thought(self, text: str) -> list[Message]:
        return [self._event("content-delta", index=1, delta={"message": {"content": {"thinking": text}}})]

    def _call(self, type: str, fragment: Fragment, **call: Any) -> list[Message]:
        return [self._event(type, index=fragment.number, delta={"message": {"tool_calls": call}})]

    def call_start(self, fragment: Fragment) -> list[Message]:
        function = {"name": fragment.name, "arguments": ""}
        id = {} if fragment.id is None else {"id": fragment.id}
        return self._call("tool-call-start", fragment, **id, function=function)

    def call_piece(self, fragment: Fragment) -> list[Message]:
        return self._call("tool-call-delta", fragment, function={"arguments": fragment.arguments})

    def call_stop(self, number: int) -> list[Message]:
        return [self._event("tool-call-end", index=number)]

    def call_whole(self, fragment: Fragment) -> list[Message]:
        return [*self.call_start(fragment), *self.call_piece(fragment), *self.call_stop(fragment.number)]

    def end(self, has_calls: bool) -> list[Message]:
        reason = "TOOL_CALL" if has_calls else "COMPLETE"
        return [self._event("message-end", delta={"finish_reason": reason, "usage": {"tokens": {"output_tokens": 2}}})]


WRITERS: dict[str, type[Writer]] = {
    writer.wire: writer
    for writer in (
        Chat,
        Responses,
        Anthropic,
        Gemini,
        OllamaChat,
        OllamaGenerate,
        Bedrock,
        Cohere,
        Completions,
    )
}  # fmt: skip


# -- messages as bytes -----------------------------------------------------------------------------------------

LINES = ("ollama-chat", "ollama-generate")
STYLES = ("usual", "spaced", "raw", "reversed", "padded", "comment", "crlf", "tight", "numbered", "named")
"""How a frame differs from the one before: all mean the same, and few have the form of the usual one."""


def frame_of(wire: str, written: Message, style: str, length: int) -> bytes:
    """The bytes of a message; `length` is that of what a style adds."""
    value = written.value
    if style == "reversed":
        value = dict(reversed(value.items()))
    if style == "padded":
        value = value | {"p": "x" * length}
    if wire == "bedrock-converse":
        headers = header(":event-type", written.event) + header(":content-type", "application/json")
        return message(headers + header(":message-type", "event"), json.dumps(value).encode())
    spaces = (", ", ": ") if style == "spaced" else (",", ":")
    data = written.data or json.dumps(value, ensure_ascii=style != "raw", separators=spaces)
    end = "\r\n" if style == "crlf" else "\n"
    if wire in LINES:
        return ((end if style == "comment" else "") + data + end).encode("utf-8")
    before: dict[str, Callable[[], str]] = {
        "comment": lambda: f": {'x' * length}\n\n",
        "numbered": lambda: f"id: {length}\n",
        "named": lambda: f"event: {written.event}\n" if written.event else "retry: 1\n",
    }
    head = before.get(style, str)()
    return f"{head}data:{'' if style == 'tight' else ' '}{data}{end}{end}".encode()
