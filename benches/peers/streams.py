"""Streams that every library of the comparison reads, written so that what is right is known.

A stream is a list of reads, each one whole frame. At the frame that closes a call's arguments its place is noted, in
bytes and in tokens: no reader can know that the call is whole earlier, and a reader is late by what it takes beyond.

Each frame has all the fields that the provider's own API sends, so that a library with strict models has no reason to
reject it that the deviation itself does not give.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

__all__ = [
    "MS_PER_TOKEN",
    "TOOLS",
    "AnthropicStream",
    "Call",
    "ChatStream",
    "Json",
    "OllamaStream",
    "ResponsesStream",
    "Stream",
    "compact",
    "cut",
    "make_anthropic",
    "make_chat",
    "make_ollama",
    "make_responses",
    "source_code",
]

Json = dict[str, Any]

MS_PER_TOKEN = 20
"""The pace of every stream: 50 tokens a second."""
_PIECE = 5
"""Characters of one token."""

TOOLS: list[Json] = [
    {
        "name": "get_weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
    {
        "name": "write_file",
        "description": "Write a file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    },
    {"name": "now", "description": "The time.", "parameters": {"type": "object", "properties": {}}},
]
"""The tools of every request."""


@dataclass(frozen=True)
class Call:
    """A call that a stream holds; after `closed_at` bytes, and so many reads, its arguments are known to be whole."""

    name: str
    arguments: Json
    closed_at: int = 0
    closed_in: int = 0


@dataclass
class Stream:
    """The reads of one answer and the calls in it."""

    name: str
    wire: str
    what: str = ""
    """What the server does that the API's documentation does not say, and who does it."""
    reads: list[bytes] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    """For each read, the tokens that the model writes before the server can send it."""
    size: int = 0
    is_cut: bool = False
    """Whether the last call never becomes whole: it must not be given out."""

    def begin(self) -> None:
        """Write what comes before any text or call; some wires have nothing there."""

    def add(self, read: bytes, tokens: int = 1) -> None:
        self.reads.append(read)
        self.tokens.append(tokens)
        self.size += len(read)

    def close(self, name: str, arguments: Json) -> None:
        """Note that the read before closed a call."""
        self.calls.append(Call(name, arguments, self.size, len(self.reads)))

    def find_ms(self, reads: int) -> int:
        """Return when the last of so many reads arrives, in milliseconds after the request."""
        return sum(self.tokens[:reads]) * MS_PER_TOKEN

    def rewrite(self, change: Callable[[bytes], bytes]) -> None:
        """Change the bytes of each read; the calls close in the same reads as before."""
        self.reads = [change(read) for read in self.reads]
        ends = [0, *accumulate(map(len, self.reads))]
        self.calls = [Call(call.name, call.arguments, ends[call.closed_in], call.closed_in) for call in self.calls]
        self.size = ends[-1]

    def rejoin(self, size: int) -> Stream:
        """Return the same bytes in reads of `size`, for what is not measured in tokens."""
        whole = b"".join(self.reads)
        reads = [whole[at : at + size] for at in range(0, len(whole), size)]
        return Stream(self.name, self.wire, self.what, reads, self.calls, [1] * len(reads), self.size, self.is_cut)


def compact(message: Json) -> str:
    """JSON as most servers write it."""
    return json.dumps(message, separators=(",", ":"), ensure_ascii=False)


def cut(text: str, size: int = _PIECE) -> Iterator[str]:
    """Cut a text as tokens cut it."""
    return (text[at : at + size] for at in range(0, len(text), size))


def source_code(size: int) -> str:
    """About so many characters of a file to write; its quotes and braces are none of the format around it."""
    return "x = {'a': [1]}\n" * max(size // 15, 1)


def _file(index: int, size: int) -> Json:
    return {"path": f"{index}.py", "content": source_code(size)}


# -- OpenAI chat ----------------------------------------------------------------------------------------------------


class ChatStream(Stream):
    """Writes chunks of the chat wire."""

    def begin(self) -> None:
        self.delta({"role": "assistant", "content": ""})

    def delta(self, delta: Json, finish: str | None = None, tokens: int = 1) -> None:
        self.chunk([{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}], tokens)

    def chunk(self, choices: list[Json], tokens: int, **more: Any) -> None:
        head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1732200000, "model": "m-1"}
        self.add(f"data: {compact({**head, 'choices': choices, **more})}\n\n".encode(), tokens)

    def text(self, text: str, size: int = _PIECE) -> None:
        for piece in cut(text, size):
            self.delta({"content": piece})

    def fragment(self, index: int | None, arguments: Any = None, **more: Any) -> None:
        """One fragment of a call; `more` may have an id, a type and a name."""
        function = {"name": more.pop("name")} if "name" in more else {}
        if arguments is not None:
            function["arguments"] = arguments
        place = {} if index is None else {"index": index}
        self.delta({"tool_calls": [{**place, **more, "function": function}]})

    def start(self, index: int | None, name: str, identifier: str) -> None:
        """The first fragment of a call, as documented."""
        self.fragment(index, "", id=identifier, type="function", name=name)

    def call(self, index: int, name: str, arguments: Json, identifier: str = "", size: int = _PIECE) -> None:
        """A call as documented: first the name, then the arguments in pieces."""
        self.start(index, name, identifier or f"call_{len(self.calls)}")
        for piece in cut(json.dumps(arguments), size):
            self.fragment(index, piece)
        self.close(name, arguments)

    def end(self, finish: str = "tool_calls") -> ChatStream:
        """The model's last token brings the finish reason; usage and the end marker follow at once."""
        self.delta({}, finish)
        self.chunk([], 0, usage={"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18})
        self.add(b"data: [DONE]\n\n", 0)
        return self


def make_chat(sizes: Iterable[int], text: str = "Let me look at that.", piece: int = _PIECE) -> Stream:
    """A chat stream as documented: a text, then a call for each size, which is that of one argument in characters."""
    stream = ChatStream("as documented", "openai-chat")
    stream.begin()
    stream.text(text, piece)
    for index, size in enumerate(sizes):
        stream.call(index, "write_file", _file(index, size), size=piece)
    return stream.end("tool_calls" if stream.calls else "stop")


# -- Anthropic ------------------------------------------------------------------------------------------------------


class _TypedStream(Stream):
    def event(self, message: Json, tokens: int = 1) -> None:
        self.add(f"event: {message['type']}\ndata: {compact(message)}\n\n".encode(), tokens)


class AnthropicStream(_TypedStream):
    """Writes Anthropic's events."""

    def begin(self) -> None:
        message = {"id": "msg_01", "type": "message", "role": "assistant", "model": "m-1", "content": []}
        usage = {"input_tokens": 9, "output_tokens": 1}
        self.event({"type": "message_start", "message": {**message, **_STOP, "usage": usage}})

    def start(self, index: int, block: Json) -> None:
        self.event({"type": "content_block_start", "index": index, "content_block": block}, 0)

    def start_call(self, index: int, name: str, given: Json | None = None) -> None:
        self.start(index, {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": given or {}})

    def delta(self, index: int, delta: Json) -> None:
        self.event({"type": "content_block_delta", "index": index, "delta": delta})

    def fragment(self, index: int, text: str) -> None:
        self.delta(index, {"type": "input_json_delta", "partial_json": text})

    def stop(self, index: int) -> None:
        """The server knows that a block is over once the model has written its next token."""
        self.event({"type": "content_block_stop", "index": index})

    def text(self, index: int, text: str, size: int = _PIECE) -> None:
        self.start(index, {"type": "text", "text": ""})
        for piece in cut(text, size):
            self.delta(index, {"type": "text_delta", "text": piece})
        self.stop(index)

    def call(self, index: int, name: str, arguments: Json, size: int = _PIECE) -> None:
        """A call without its stop."""
        self.start_call(index, name)
        for piece in cut(json.dumps(arguments), size):
            self.fragment(index, piece)
        self.close(name, arguments)

    def end(self, reason: str = "tool_use") -> AnthropicStream:
        delta = {**_STOP, "stop_reason": reason}
        self.event({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}}, 0)
        self.event({"type": "message_stop"}, 0)
        return self


_STOP = {"stop_reason": None, "stop_sequence": None}


def make_anthropic(sizes: Iterable[int], text: str = "Let me look at that.", piece: int = _PIECE) -> Stream:
    """Anthropic's events as documented, like `make_chat`."""
    stream = AnthropicStream("as documented", "anthropic")
    stream.begin()
    stream.text(0, text, piece)
    for index, size in enumerate(sizes, 1):
        stream.call(index, "write_file", _file(index, size), piece)
        stream.stop(index)
    return stream.end("tool_use" if stream.calls else "end_turn")


# -- Responses ------------------------------------------------------------------------------------------------------


class ResponsesStream(_TypedStream):
    """Writes the events of OpenAI's Responses."""

    def number(self, message: Json, tokens: int = 1) -> None:
        self.event({**message, "sequence_number": len(self.reads)}, tokens)

    def begin(self) -> None:
        self.number({"type": "response.created", "response": {**_RESPONSE, "status": "in_progress"}})

    def text(self, text: str, size: int = _PIECE) -> Json:
        place = {"item_id": "msg_0", "output_index": 0, "content_index": 0}
        item: Json = {"id": "msg_0", "type": "message", "role": "assistant", "content": []}
        started = {**item, "status": "in_progress"}
        part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
        self.number({"type": "response.output_item.added", "output_index": 0, "item": started}, 0)
        self.number({"type": "response.content_part.added", **place, "part": part}, 0)
        for piece in cut(text, size):
            self.number({"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []})
        part = {**part, "text": text}
        self.number({"type": "response.output_text.done", **place, "text": text, "logprobs": []})
        self.number({"type": "response.content_part.done", **place, "part": part}, 0)
        item = {**item, "content": [part], "status": "completed"}
        self.number({"type": "response.output_item.done", "output_index": 0, "item": item}, 0)
        return item

    def start(self, index: int, name: str) -> Json:
        item = {"id": f"fc_{index}", "type": "function_call", "call_id": f"call_{index}", "name": name, "arguments": ""}
        started = {**item, "status": "in_progress"}
        self.number({"type": "response.output_item.added", "output_index": index, "item": started}, 0)
        return item

    def fragment(self, index: int, text: str) -> None:
        place = {"item_id": f"fc_{index}", "output_index": index}
        self.number({"type": "response.function_call_arguments.delta", **place, "delta": text})

    def finish_arguments(self, index: int, item: Json, text: str) -> None:
        """The server knows that an item is over once the model has written its next token."""
        place = {"item_id": item["id"], "output_index": index, "name": item["name"]}
        self.number({"type": "response.function_call_arguments.done", **place, "arguments": text})

    def stop(self, index: int, item: Json, text: str) -> Json:
        item = {**item, "arguments": text, "status": "completed"}
        self.number({"type": "response.output_item.done", "output_index": index, "item": item}, 0)
        return item

    def call(self, index: int, name: str, arguments: Json, size: int = _PIECE) -> Json:
        item, text = self.start(index, name), json.dumps(arguments)
        for piece in cut(text, size):
            self.fragment(index, piece)
        self.close(name, arguments)
        self.finish_arguments(index, item, text)
        return self.stop(index, item, text)

    def end(self, output: list[Json]) -> ResponsesStream:
        whole = {**_RESPONSE, "status": "completed", "output": output, "usage": _RESPONSES_USAGE}
        self.number({"type": "response.completed", "response": whole}, 0)
        return self


_RESPONSE: Json = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1732200000,
    "model": "m-1",
    "output": [],
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "usage": None,
}
_RESPONSES_USAGE = {
    "input_tokens": 9,
    "input_tokens_details": {"cached_tokens": 0},
    "output_tokens": 9,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 18,
}


def make_responses(sizes: Iterable[int], text: str = "Let me look at that.", piece: int = _PIECE) -> Stream:
    """OpenAI's Responses as documented, like `make_chat`."""
    stream = ResponsesStream("as documented", "openai-responses")
    stream.begin()
    items = [stream.text(text, piece)]
    items += [stream.call(index, "write_file", _file(index, size), piece) for index, size in enumerate(sizes, 1)]
    return stream.end(items)


# -- Ollama ---------------------------------------------------------------------------------------------------------


class OllamaStream(Stream):
    """Writes Ollama's lines."""

    def line(self, message: Json, **more: Any) -> None:
        head = {"model": "m-1", "created_at": "2024-11-21T00:00:00Z", "done": False}
        whole = {**head, "message": {"role": "assistant", "content": "", **message}, **more}
        self.add(f"{compact(whole)}\n".encode())

    def text(self, text: str, size: int = _PIECE) -> None:
        for piece in cut(text, size):
            self.line({"content": piece})

    def call(self, name: str, arguments: Any) -> None:
        self.line({"tool_calls": [{"function": {"name": name, "arguments": arguments}}]})

    def end(self) -> OllamaStream:
        self.line({}, done=True, done_reason="stop", eval_count=9, prompt_eval_count=9)
        return self


def make_ollama(sizes: Iterable[int], text: str = "Let me look at that.", piece: int = _PIECE) -> Stream:
    """Ollama's lines as documented, like `make_chat`, but each call is whole in one line."""
    stream = OllamaStream("as documented", "ollama-chat")
    stream.text(text, piece)
    for index, size in enumerate(sizes):
        stream.call("write_file", _file(index, size))
        stream.close("write_file", _file(index, size))
    return stream.end()
