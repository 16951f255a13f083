"""The library as a user's type checker sees it: `make test` checks this file, and nothing runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_type

import streamparse as sp
from streamparse import Done, TextDelta, ToolCallComplete
from streamparse.dialects import dialect_from_template
from streamparse.providers.anthropic.wire import Anthropic
from streamparse.providers.bedrock.wire import BedrockConverse
from streamparse.providers.cohere.wire import Cohere
from streamparse.providers.gemini.wire import Gemini
from streamparse.providers.ollama.wire import OllamaChat, OllamaGenerate
from streamparse.providers.openai_chat.completions import OpenAICompletions
from streamparse.providers.openai_chat.wire import OpenAIChat
from streamparse.providers.openai_responses.wire import OpenAIResponses
from streamparse.reading.wire import Wire
from streamparse.sink import Sink
from streamparse.tools import Toolset


@sp.tool(effect="read")
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def feed(chunks: Iterable[bytes]) -> str:
    parser = sp.StreamParser("openai-chat", tools=[add], limits=sp.Limits(max_calls=3))
    for chunk in chunks:
        assert_type(parser.feed(chunk), list[sp.Event])
    for event in parser.close():
        match event:
            case TextDelta(text=text):
                return text
            case ToolCallComplete(arguments=arguments):
                assert_type(arguments, dict[str, Any])
            case Done(ok=ok):
                assert_type(ok, bool)
            case _:
                pass
    return parser.response.content


def text_of(declared: Mapping[str, Any]) -> str:
    parser = sp.TextParser([dialect_from_template(declared), "hermes"])
    assert_type(parser.feed(""), list[sp.Event])
    return parser.response.content


def loop(chunks: Iterable[bytes]) -> None:
    for event in sp.iter_events(chunks, "auto", dialects=["hermes"]):
        assert_type(event, sp.Event)


async def run(chunks: AsyncIterator[bytes]) -> list[sp.ToolResult]:
    async with sp.aiter_events(chunks) as events, sp.ToolRunner([add]) as runner:
        async for item in runner.run(events):
            assert_type(item, sp.Event | sp.ToolResult | sp.Progress | sp.ApprovalRequest)
        return runner.results


@sp.tool(effect="idempotent", lock="path", needs_approval=lambda call: call.arguments["path"] != "a", timeout=30)
async def write(path: str, ctx: sp.ToolContext[list[str]]) -> str:
    await ctx.progress("started")
    assert_type(ctx.deps, list[str])
    raise sp.ToolError("network", "no route", suggestion="retry later")


async def decide(chunks: AsyncIterator[bytes]) -> None:
    async with sp.aiter_events(chunks) as events, sp.ToolRunner([write], time_limit=60) as runner:
        run = runner.run(events, deps=["a"])
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                run.approve(item)
                run.deny(item, "why")
            elif isinstance(item, sp.ToolResult) and item.failure is not None:
                assert_type(item.exit_code, int | None)


def whole(body: bytes) -> list[sp.ToolCall]:
    assert_type(add(1, 2), int)
    return sp.parse_response(body).tool_calls


@dataclass
class Invoice:
    total: float


@dataclass
class Refund:
    total: float


async def ask(url: str) -> None:
    local = sp.http_model(url, "openai-chat", "qwen3-coder")
    models = [local]
    assert_type(sp.Agent(models, [add]), sp.Agent[str])
    assert_type(sp.Agent(local, output_type=Invoice | Refund), sp.Agent[Any])
    assert_type(sp.Agent(local, output_type=Literal["yes", "no"]), sp.Agent[Any])
    agent = sp.Agent([local], stop=[sp.max_turns(3), lambda _: None], output_type=Invoice)
    assert_type(agent, sp.Agent[Invoice])
    assert_type((await agent.run("?")).output, Invoice | None)


def wires(sink: Sink) -> list[Wire]:
    """Every wire has the shape of one, which its row in the table does not show."""
    made = (sink, Toolset(), sp.Limits())
    chat: list[Wire] = [OpenAIChat(*made), OpenAICompletions(*made), OllamaChat(*made), OllamaGenerate(*made)]
    return [*chat, Cohere(*made), OpenAIResponses(*made), Anthropic(*made), Gemini(*made), BedrockConverse(*made)]
