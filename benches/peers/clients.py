"""Each library as its own documentation uses it to read the calls of a stream.

A client is made once, outside the clock; `read` then reads one stream and yields each call at the moment at which the
library declares it whole. Where a library declares nothing (raw chunks), the calls are those that a user gets who joins
fragments by index, as its documentation shows, and takes them for whole at the finish reason.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, NamedTuple

from peers.source import Source, async_transport, transport
from peers.streams import TOOLS

__all__ = ["CLIENTS", "Client", "Found", "Read"]


class Found(NamedTuple):
    """A call as a library gives it out, whether it takes it back later or not.

    The arguments are JSON text, or an object if that is what the library gives.
    """

    name: str
    arguments: Any


Read = Callable[[str], Iterator[Found]]
"""Reads the loaded source, whose wire is given, to its end."""


class Client(NamedTuple):
    """A way to read streams: what it is called, the distribution it comes from, the wires it reads."""

    name: str
    distribution: str
    wires: tuple[str, ...]
    make: Callable[[Source], Read]


CLIENTS: list[Client] = []
"""All of them, ours first."""


def _client(
    name: str, distribution: str, *wires: str
) -> Callable[[Callable[[Source], Read]], Callable[[Source], Read]]:
    def decorate(make: Callable[[Source], Read]) -> Callable[[Source], Read]:
        CLIENTS.append(Client(name, distribution, wires, make))
        return make

    return decorate


def _consume(events: Callable[[], AsyncIterator[Found]]) -> Iterator[Found]:
    """Run an asynchronous reader; each of its results is seen when it comes."""
    runner = asyncio.Runner()
    try:
        iterator = events()
        while True:
            try:
                yield runner.run(anext(iterator))  # type: ignore[arg-type]
            except StopAsyncIteration:
                return
    finally:
        runner.close()


_PROMPT: list[Any] = [{"role": "user", "content": "Go on."}]
_CHAT_TOOLS: list[Any] = [{"type": "function", "function": tool} for tool in TOOLS]
_ANTHROPIC_TOOLS: list[Any] = [
    {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]} for tool in TOOLS
]
_REQUEST = {"model": "m-1", "messages": _PROMPT, "tools": _CHAT_TOOLS, "stream": True}
_RESPONSES_TOOLS: list[Any] = [{"type": "function", **tool, "strict": False} for tool in TOOLS]


# -- streamparse ----------------------------------------------------------------------------------------------------

_WIRES = ("openai-chat", "anthropic", "openai-responses", "ollama-chat")


@_client("streamparse", "llm-streamparse", *_WIRES)
def _streamparse(source: Source) -> Read:
    import streamparse as sp
    from streamparse.tools import Toolset

    tools, limits = Toolset.of(TOOLS), sp.Limits(max_call_args=None)

    def read(wire: str) -> Iterator[Found]:
        parser = sp.StreamParser(wire, tools=tools, limits=limits)
        for chunk in source:
            for event in parser.feed(chunk):
                if isinstance(event, sp.ToolCallComplete):
                    yield Found(event.name, event.arguments)
        parser.close()

    return read


@_client("streamparse, over httpx", "llm-streamparse", *_WIRES)
def _streamparse_httpx(source: Source) -> Read:
    import httpx

    import streamparse as sp
    from streamparse.tools import Toolset

    client = httpx.Client(transport=transport(httpx, source))
    tools, limits = Toolset.of(TOOLS), sp.Limits(max_call_args=None)

    def read(wire: str) -> Iterator[Found]:
        with client.stream("POST", "http://localhost/v1", json=_REQUEST) as response:
            for event in sp.iter_events(response, wire, tools=tools, limits=limits):
                if isinstance(event, sp.ToolCallComplete):
                    yield Found(event.name, event.arguments)

    return read


# -- OpenAI ---------------------------------------------------------------------------------------------------------


@_client("httpx-sse + json", "httpx-sse", "openai-chat")
def _httpx_sse(source: Source) -> Read:
    import httpx
    from httpx_sse import connect_sse

    client = httpx.Client(transport=transport(httpx, source))

    def read(_: str) -> Iterator[Found]:
        calls: dict[int, Any] = {}
        with connect_sse(client, "POST", "http://localhost/v1/chat/completions", json=_REQUEST) as events:
            for event in events.iter_sse():
                if event.data == "[DONE]":
                    break
                for choice in json.loads(event.data)["choices"]:
                    for call in choice["delta"].get("tool_calls") or ():
                        known = calls.setdefault(call["index"], {"name": "", "arguments": ""})
                        known["name"] = known["name"] or call["function"].get("name")
                        known["arguments"] += call["function"].get("arguments") or ""
                    if choice["finish_reason"]:
                        yield from (Found(call["name"], call["arguments"]) for call in calls.values())
                        calls = {}

    return read


def _openai(source: Source) -> Any:
    import httpx2
    import openai

    http = httpx2.Client(transport=transport(httpx2, source))
    return openai.OpenAI(api_key="none", base_url="http://localhost/v1", http_client=http, max_retries=0)


def _async_openai(source: Source) -> Any:
    import httpx2
    import openai

    http = httpx2.AsyncClient(transport=async_transport(httpx2, source))
    return openai.AsyncOpenAI(api_key="none", base_url="http://localhost/v1", http_client=http, max_retries=0)


@_client("openai, raw chunks", "openai", "openai-chat")
def _openai_raw(source: Source) -> Read:
    client = _openai(source)

    def read(_: str) -> Iterator[Found]:
        calls: dict[int, Any] = {}
        for chunk in client.chat.completions.create(model="m-1", messages=_PROMPT, tools=_CHAT_TOOLS, stream=True):
            for choice in chunk.choices:
                for call in choice.delta.tool_calls or ():
                    if call.index not in calls:
                        calls[call.index] = call
                    else:
                        calls[call.index].function.arguments += call.function.arguments
                if choice.finish_reason:
                    yield from (Found(call.function.name, call.function.arguments) for call in calls.values())
                    calls = {}

    return read


@_client("openai, .stream() events", "openai", "openai-chat")
def _openai_events(source: Source) -> Read:
    client = _openai(source)

    def read(_: str) -> Iterator[Found]:
        with client.chat.completions.stream(model="m-1", messages=_PROMPT, tools=_CHAT_TOOLS) as stream:
            for event in stream:
                if event.type == "tool_calls.function.arguments.done":
                    yield Found(event.name, event.arguments)

    return read


@_client("openai, Responses, raw events", "openai", "openai-responses")
def _openai_responses(source: Source) -> Read:
    client = _openai(source)

    def read(_: str) -> Iterator[Found]:
        for event in client.responses.create(model="m-1", input="Go on.", tools=_RESPONSES_TOOLS, stream=True):
            if event.type == "response.output_item.done" and event.item.type == "function_call":
                yield Found(event.item.name, event.item.arguments)

    return read


@_client("openai, Responses, .stream() events", "openai", "openai-responses")
def _openai_responses_events(source: Source) -> Read:
    client = _openai(source)

    def read(_: str) -> Iterator[Found]:
        with client.responses.stream(model="m-1", input="Go on.", tools=_RESPONSES_TOOLS) as stream:
            for event in stream:
                if event.type == "response.output_item.done" and event.item.type == "function_call":
                    yield Found(event.item.name, event.item.arguments)

    return read


# -- Anthropic, Ollama ----------------------------------------------------------------------------------------------


def _anthropic(source: Source) -> Any:
    import anthropic
    import httpx2

    http = httpx2.Client(transport=transport(httpx2, source))
    return anthropic.Anthropic(api_key="none", base_url="http://localhost", http_client=http, max_retries=0)


@_client("anthropic, raw events", "anthropic", "anthropic")
def _anthropic_raw(source: Source) -> Read:
    client = _anthropic(source)

    def read(_: str) -> Iterator[Found]:
        blocks: dict[int, Any] = {}
        request = {"model": "m-1", "max_tokens": 9, "messages": _PROMPT, "tools": _ANTHROPIC_TOOLS}
        for event in client.messages.create(**request, stream=True):
            if event.type == "content_block_start" and event.content_block.type == "tool_use":
                blocks[event.index] = [event.content_block.name, ""]
            elif event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                blocks[event.index][1] += event.delta.partial_json
            elif event.type == "content_block_stop" and event.index in blocks:
                name, arguments = blocks.pop(event.index)
                yield Found(name, arguments or "{}")

    return read


@_client("anthropic, .stream() events", "anthropic", "anthropic")
def _anthropic_events(source: Source) -> Read:
    client = _anthropic(source)

    def read(_: str) -> Iterator[Found]:
        request = {"model": "m-1", "max_tokens": 9, "messages": _PROMPT, "tools": _ANTHROPIC_TOOLS}
        with client.messages.stream(**request) as stream:
            for event in stream:
                if event.type == "content_block_stop" and event.content_block.type == "tool_use":
                    yield Found(event.content_block.name, event.content_block.input)

    return read


@_client("ollama", "ollama", "ollama-chat")
def _ollama(source: Source) -> Read:
    import httpx
    import ollama

    client = ollama.Client(host="http://localhost", transport=transport(httpx, source))

    def read(_: str) -> Iterator[Found]:
        for part in client.chat(model="m-1", messages=_PROMPT, tools=_CHAT_TOOLS, stream=True):
            for call in part.message.tool_calls or ():
                yield Found(call.function.name, dict(call.function.arguments))

    return read


# -- frameworks -----------------------------------------------------------------------------------------------------


@_client("litellm", "litellm", "openai-chat")
def _litellm(source: Source) -> Read:
    import litellm

    client = _openai(source)

    def read(_: str) -> Iterator[Found]:
        request = {"model": "openai/m-1", "messages": _PROMPT, "tools": _CHAT_TOOLS, "api_key": "none"}
        chunks = list(litellm.completion(**request, stream=True, client=client))
        response = litellm.stream_chunk_builder(chunks)
        for call in response.choices[0].message.tool_calls or ():
            yield Found(call.function.name, call.function.arguments)

    return read


@_client("langchain-openai", "langchain-openai", "openai-chat")
def _langchain(source: Source) -> Read:
    import httpx2
    from langchain_openai import ChatOpenAI

    http = httpx2.Client(transport=transport(httpx2, source))
    model = ChatOpenAI(model="m-1", api_key="none", base_url="http://localhost/v1", http_client=http, max_retries=0)
    bound = model.bind_tools(_CHAT_TOOLS)

    def read(_: str) -> Iterator[Found]:
        answer: Any = None
        for chunk in bound.stream("Go on."):
            answer = chunk if answer is None else answer + chunk
        for call in answer.tool_calls:
            yield Found(call["name"], call["args"])

    return read


@_client("pydantic-ai", "pydantic-ai-slim", "openai-chat")
def _pydantic_ai(source: Source) -> Read:
    from pydantic_ai.messages import ModelRequest, PartEndEvent, ToolCallPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.tools import ToolDefinition

    model = OpenAIChatModel("m-1", provider=OpenAIProvider(openai_client=_async_openai(source)))
    tools = [
        ToolDefinition(name=tool["name"], parameters_json_schema=tool["parameters"], description=tool["description"])
        for tool in TOOLS
    ]
    parameters = ModelRequestParameters(function_tools=tools, allow_text_output=True)

    async def events() -> AsyncIterator[Found]:
        async with model.request_stream([ModelRequest.user_text_prompt("Go on.")], None, parameters) as answer:
            async for event in answer:
                if isinstance(event, PartEndEvent) and isinstance(event.part, ToolCallPart):
                    yield Found(event.part.tool_name, event.part.args)

    return lambda _: _consume(events)


@_client("openai-agents", "openai-agents", "openai-chat")
def _openai_agents(source: Source) -> Read:
    from agents import ModelSettings, OpenAIChatCompletionsModel
    from agents.models.interface import ModelTracing
    from agents.tool import FunctionTool

    model = OpenAIChatCompletionsModel("m-1", _async_openai(source))

    async def invoke(*_: Any) -> str:
        return ""

    tools = [
        FunctionTool(tool["name"], tool["description"], tool["parameters"], invoke, strict_json_schema=False)
        for tool in TOOLS
    ]

    async def events() -> AsyncIterator[Found]:
        stream = model.stream_response(
            None,
            "Go on.",
            ModelSettings(),
            tools,
            None,
            [],
            ModelTracing.DISABLED,
            previous_response_id=None,
            conversation_id=None,
            prompt=None,
        )
        async for event in stream:
            if event.type == "response.output_item.done" and event.item.type == "function_call":
                yield Found(event.item.name, event.item.arguments)

    return lambda _: _consume(events)
