"""What real servers do that the API's documentation does not say: a stream for each deviation.

They were all written for this comparison after what servers and relays have been seen to send. Where another library
reads a deviation well, the row stays: a table of a rival's faults alone would say nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import zip_longest
from typing import TypeVar

from peers.streams import (
    AnthropicStream,
    ChatStream,
    Json,
    OllamaStream,
    ResponsesStream,
    Stream,
    cut,
)

__all__ = ["make_quirks"]

_PARIS: Json = {"city": "Paris"}
_ROME: Json = {"city": "Rome", "days": 2}
_FILE: Json = {"path": "a.py", "content": 'def f(x):\n    return {"a": [x, "}"]}\n'}
_UNICODE: Json = {"path": "é.md", "content": "Zürich 東京 😀"}
_HALF_A_CALL = '{"path": "a.py", "content": "def f('

_MAKERS: list[Callable[[], Stream]] = []


def make_quirks() -> list[Stream]:
    """One stream with each deviation, in the order of the table."""
    return [make() for make in _MAKERS]


_Writer = TypeVar("_Writer", bound=Stream)


def _add_quirks_of(kind: type[_Writer], wire: str) -> Callable[[str, str], Callable[[Callable[[_Writer], None]], None]]:
    """Return a decorator for what writes one deviation, given its name and what the server does."""

    def quirk(name: str, what: str) -> Callable[[Callable[[_Writer], None]], None]:
        def register(write: Callable[[_Writer], None]) -> None:
            def make() -> Stream:
                stream = kind(name, wire, what)
                stream.begin()
                write(stream)
                return stream

            _MAKERS.append(make)

        return register

    return quirk


_chat = _add_quirks_of(ChatStream, "openai-chat")
_anthropic = _add_quirks_of(AnthropicStream, "anthropic")
_responses = _add_quirks_of(ResponsesStream, "openai-responses")
_ollama = _add_quirks_of(OllamaStream, "ollama-chat")


# -- OpenAI chat: which fragment belongs to which call --------------------------------------------------------------


@_chat("all calls on index 0", "relays and older builds number every call 0; the ids differ")
def _(stream: ChatStream) -> None:
    stream.call(0, "get_weather", _PARIS, "call_a")
    stream.call(0, "get_weather", _ROME, "call_b")
    stream.end()


@_chat("no index", "Gemini's OpenAI endpoint left it out; each call is whole in one chunk")
def _(stream: ChatStream) -> None:
    for name, arguments, identifier in (("get_weather", _PARIS, "call_a"), ("write_file", _FILE, "call_b")):
        stream.fragment(None, json.dumps(arguments), id=identifier, type="function", name=name)
        stream.close(name, arguments)
    stream.end()


@_chat("one id for all calls", "LocalAI gives all calls of an answer one id; the indexes differ")
def _(stream: ChatStream) -> None:
    stream.call(0, "get_weather", _PARIS, "call_a")
    stream.call(1, "get_weather", _ROME, "call_a")
    stream.end()


@_chat("name and id on every fragment", "Groq and others repeat them on each delta")
def _(stream: ChatStream) -> None:
    for piece in cut(json.dumps(_ROME)):
        stream.fragment(0, piece, id="call_a", type="function", name="get_weather")
    stream.close("get_weather", _ROME)
    stream.end()


@_chat("a new id on every fragment", "some relays make up an id for each chunk")
def _(stream: ChatStream) -> None:
    stream.start(0, "get_weather", "call_0")
    for number, piece in enumerate(cut(json.dumps(_ROME)), 1):
        stream.fragment(0, piece, id=f"call_{number}", type="function")
    stream.close("get_weather", _ROME)
    stream.end()


@_chat("empty ids and names", "later fragments carry an empty id and an empty name")
def _(stream: ChatStream) -> None:
    stream.start(0, "get_weather", "call_0")
    for piece in cut(json.dumps(_ROME)):
        stream.fragment(0, piece, id="", type="function", name="")
    stream.close("get_weather", _ROME)
    stream.end()


@_chat("ids and names that are null", "servers that serialise every field of a fragment")
def _(stream: ChatStream) -> None:
    stream.start(0, "get_weather", "call_0")
    for piece in cut(json.dumps(_ROME)):
        stream.fragment(0, piece, id=None, type=None, name=None)
    stream.close("get_weather", _ROME)
    stream.end()


@_chat("indexes begin at 1", "some servers count from one")
def _(stream: ChatStream) -> None:
    stream.call(1, "get_weather", _PARIS, "call_a")
    stream.call(2, "get_weather", _ROME, "call_b")
    stream.end()


@_chat("calls that interleave", "the fragments of two calls alternate")
def _(stream: ChatStream) -> None:
    stream.start(0, "get_weather", "call_a")
    stream.start(1, "get_weather", "call_b")
    both = (list(cut(json.dumps(_PARIS))), list(cut(json.dumps(_ROME))))
    for number, pieces in enumerate(zip_longest(*both), 1):
        for index, arguments in enumerate((_PARIS, _ROME)):
            if pieces[index] is not None:
                stream.fragment(index, pieces[index])
            if number == len(both[index]):
                stream.close("get_weather", arguments)
    stream.end()


# -- OpenAI chat: what the arguments are ----------------------------------------------------------------------------


@_chat("a call whole in one chunk", "Ollama's and others' OpenAI endpoints do not stream arguments")
def _(stream: ChatStream) -> None:
    stream.fragment(0, json.dumps(_FILE), id="call_a", type="function", name="write_file")
    stream.close("write_file", _FILE)
    stream.end()


@_chat("arguments as an object", "some servers send the object itself, not its text")
def _(stream: ChatStream) -> None:
    stream.fragment(0, _PARIS, id="call_a", type="function", name="get_weather")
    stream.close("get_weather", _PARIS)
    stream.end()


@_chat("no arguments at all", "a tool without parameters, and no fragment of arguments")
def _(stream: ChatStream) -> None:
    stream.fragment(0, id="call_a", type="function", name="now")
    stream.delta({}, "tool_calls")
    stream.close("now", {})
    stream.add(b"data: [DONE]\n\n", 0)


@_chat("{} before the arguments", "a placeholder in the first fragment, the real arguments after it")
def _(stream: ChatStream) -> None:
    stream.fragment(0, "{}", id="call_a", type="function", name="get_weather")
    for piece in cut(json.dumps(_ROME)):
        stream.fragment(0, piece)
    stream.close("get_weather", _ROME)
    stream.end()


@_chat("the old function_call", "servers that still speak the API of 2023")
def _(stream: ChatStream) -> None:
    stream.delta({"function_call": {"name": "get_weather", "arguments": ""}})
    for piece in cut(json.dumps(_PARIS)):
        stream.delta({"function_call": {"arguments": piece}})
    stream.close("get_weather", _PARIS)
    stream.end("function_call")


# -- OpenAI chat: how it ends ---------------------------------------------------------------------------------------


@_chat("finish reason stop", "several servers say `stop` although there are calls")
def _(stream: ChatStream) -> None:
    stream.call(0, "get_weather", _PARIS)
    stream.end("stop")


@_chat("finish reason with the last fragment", "no chunk of its own for the finish reason")
def _(stream: ChatStream) -> None:
    call = {"index": 0, "id": "call_a", "type": "function"}
    stream.delta(
        {"tool_calls": [{**call, "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}]}, "stop"
    )
    stream.close("get_weather", _PARIS)
    stream.add(b"data: [DONE]\n\n", 0)


def _cut_a_call(stream: ChatStream) -> None:
    """The stream stops in the middle of the arguments."""
    stream.start(0, "write_file", "call_a")
    stream.fragment(0, _HALF_A_CALL)
    stream.is_cut = True


@_chat("cut by length", "the arguments are cut: no call may be given out")
def _(stream: ChatStream) -> None:
    _cut_a_call(stream)
    stream.end("length")


@_chat("cut by length, said as tool_calls", "llama.cpp and others name the tool, not the limit")
def _(stream: ChatStream) -> None:
    _cut_a_call(stream)
    stream.end("tool_calls")


@_chat("the connection is cut", "no finish reason, no end marker: no call may be given out")
def _(stream: ChatStream) -> None:
    _cut_a_call(stream)


@_chat("an error in the stream", "OpenRouter and relays send it as a chunk, with status 200")
def _(stream: ChatStream) -> None:
    _cut_a_call(stream)
    stream.add(b'data: {"error":{"message":"the provider is overloaded","code":502}}\n\n')
    stream.add(b"data: [DONE]\n\n", 0)


# -- OpenAI chat: the frames ----------------------------------------------------------------------------------------


@_chat("comments and CRLF", "keep-alive comments and lines that end in CRLF (OpenRouter, proxies)")
def _(stream: ChatStream) -> None:
    stream.call(0, "get_weather", _PARIS)
    stream.end()
    stream.rewrite(lambda read: b": PROCESSING\r\n\r\n" + read.replace(b"\n", b"\r\n"))


@_chat("no space after data:", "the specification allows it")
def _(stream: ChatStream) -> None:
    stream.call(0, "get_weather", _PARIS)
    stream.end()
    stream.rewrite(lambda read: read.replace(b"data: ", b"data:", 1))


@_chat("reads that cut characters", "a proxy cuts the bytes anywhere, here every seven")
def _(stream: ChatStream) -> None:
    stream.call(0, "write_file", _UNICODE)
    stream.end()
    closed = stream.calls[0].closed_at
    cuts = [*range(7, closed, 7), closed, *range(closed + 7, stream.size, 7), stream.size]
    whole = b"".join(stream.reads)
    stream.reads = [whole[start:end] for start, end in zip([0, *cuts], cuts, strict=False)]
    stream.tokens = [1] * len(cuts)


# -- OpenAI chat: calls that the server leaves in the text ----------------------------------------------------------


def _in_text(name: str, what: str, opened: str, closed: str) -> None:
    """`opened` ends where the call closes; if it is empty there is no call."""

    @_chat(name, what)
    def _(stream: ChatStream) -> None:
        stream.text(opened)
        if opened:
            stream.close("get_weather", _PARIS)
        stream.text(closed)
        stream.end("stop")


_WEATHER = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
_NO_PARSER = "a local server without a parser for its model"
_in_text("hermes in the content", _NO_PARSER, f"<tool_call>\n{_WEATHER}", "\n</tool_call>")
_in_text(
    "qwen3-coder in the content",
    _NO_PARSER,
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n</function>",
    "\n</tool_call>",
)
_in_text("mistral in the content", _NO_PARSER, '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}', "")
_in_text(
    "kimi in the content",
    _NO_PARSER,
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Paris"}',
    "<|tool_call_end|><|tool_calls_section_end|>",
)
_in_text(
    "only quoted",
    "a call between backticks explains, it does not call",
    "",
    f"Write `<tool_call>{_WEATHER}</tool_call>` to call a tool.",
)


# -- Anthropic ------------------------------------------------------------------------------------------------------


@_anthropic("stops only at the end", "llama.cpp sends the stops of all blocks together")
def _(stream: AnthropicStream) -> None:
    stream.call(0, "get_weather", _PARIS)
    stream.call(1, "get_weather", _ROME)
    stream.stop(0)
    stream.stop(1)
    stream.end()


@_anthropic("no input deltas", "a tool without parameters: the API sends no delta")
def _(stream: AnthropicStream) -> None:
    stream.start_call(0, "now")
    stream.stop(0)
    stream.close("now", {})
    stream.end()


@_anthropic("the input in the start", "relays that have the whole input put it there")
def _(stream: AnthropicStream) -> None:
    stream.start_call(0, "get_weather", _PARIS)
    stream.stop(0)
    stream.close("get_weather", _PARIS)
    stream.end()


@_anthropic("pings, and events of tomorrow", "the documentation asks readers to pass over unknown events")
def _(stream: AnthropicStream) -> None:
    stream.event({"type": "ping"}, 0)
    stream.event({"type": "something_new", "index": 0, "detail": {}}, 0)
    stream.call(0, "get_weather", _PARIS)
    stream.stop(0)
    stream.end()


@_anthropic("cut by max_tokens", "the arguments are cut: no call may be given out")
def _(stream: AnthropicStream) -> None:
    stream.start_call(0, "write_file")
    stream.fragment(0, _HALF_A_CALL)
    stream.stop(0)
    stream.is_cut = True
    stream.end("max_tokens")


@_anthropic("cut before the first delta", "as above; the block has a stop, and no input")
def _(stream: AnthropicStream) -> None:
    stream.start_call(0, "write_file")
    stream.stop(0)
    stream.is_cut = True
    stream.end("max_tokens")


# -- Responses ------------------------------------------------------------------------------------------------------


@_responses("arguments only when done", "servers that write calls whole send no deltas")
def _(stream: ResponsesStream) -> None:
    item, text = stream.start(0, "get_weather"), json.dumps(_PARIS)
    stream.finish_arguments(0, item, text)
    stream.close("get_weather", _PARIS)
    stream.end([stream.stop(0, item, text)])


@_responses("calls that interleave", "the deltas of two items alternate")
def _(stream: ResponsesStream) -> None:
    items = [stream.start(index, "get_weather") for index in range(2)]
    both = (list(cut(json.dumps(_PARIS))), list(cut(json.dumps(_ROME))))
    for number, pieces in enumerate(zip_longest(*both), 1):
        for index, arguments in enumerate((_PARIS, _ROME)):
            if pieces[index] is not None:
                stream.fragment(index, pieces[index])
            if number == len(both[index]):
                stream.close("get_weather", arguments)
    for index, arguments in enumerate((_PARIS, _ROME)):
        stream.finish_arguments(index, items[index], json.dumps(arguments))
        items[index] = stream.stop(index, items[index], json.dumps(arguments))
    stream.end(items)


@_responses("the connection is cut", "no event says that the response is over")
def _(stream: ResponsesStream) -> None:
    stream.start(0, "write_file")
    stream.fragment(0, _HALF_A_CALL)
    stream.is_cut = True


# -- Ollama ---------------------------------------------------------------------------------------------------------


@_ollama("hermes in the content", "a template that the server does not know: the call stays in the content")
def _(stream: OllamaStream) -> None:
    stream.text("<tool_call>\n" + _WEATHER)
    stream.close("get_weather", _PARIS)
    stream.text("\n</tool_call>")
    stream.end()


@_ollama("arguments as a string", "servers that speak like Ollama send the JSON text")
def _(stream: OllamaStream) -> None:
    stream.call("get_weather", json.dumps(_PARIS))
    stream.close("get_weather", _PARIS)
    stream.end()


@_ollama("two calls in one line", "newer servers send all calls of an answer together")
def _(stream: OllamaStream) -> None:
    calls = [{"function": {"name": "get_weather", "arguments": arguments}} for arguments in (_PARIS, _ROME)]
    stream.line({"tool_calls": calls})
    stream.close("get_weather", _PARIS)
    stream.close("get_weather", _ROME)
    stream.end()
