"""A real stream through a real client, under both event loops."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import pytest
from dictation import TOOLS, calls_of, hermes_call, listen, merged, text_of
from live_server import Scripted

import streamparse as sp

pytestmark = pytest.mark.live

CALLS = [("get_weather", {"city": "Paris", "days": 3}), ("search", {"query": "tea", "limit": 2})]
TAIL = "While they run, here is a long sentence that says nothing at all, and says it slowly, word after word."
ANSWER = "\n".join(["I will look.", *(hermes_call(*call) for call in CALLS), TAIL])

backends = pytest.mark.parametrize("backend", ["asyncio", "trio"])


def _chat(server: Scripted) -> dict[str, Any]:
    return {"url": server.url + "/v1/chat/completions", "json": server.chat(ANSWER)}


@backends
def test_an_async_loop_over_the_client_gives_the_events_of_the_bytes(hermes: Scripted, backend: str) -> None:
    async def read() -> list[sp.Event]:
        async with (
            httpx.AsyncClient(timeout=60) as client,
            client.stream("POST", **_chat(hermes)) as response,
            sp.aiter_events(response.aiter_bytes(), "openai-chat", tools=TOOLS) as events,
        ):
            return [event async for event in events]

    events = anyio.run(read, backend=backend)
    assert calls_of(events) == CALLS
    expected = listen(hermes, ANSWER).events
    # All but the last: its usage tells how much of the prompt was cached.
    assert _without_timings(events)[:-1] == _without_timings(expected)[:-1]


def _without_timings(events: list[sp.Event]) -> list[sp.Event]:
    """The merged events, but for the server's timings, which differ from answer to answer."""
    return merged(event for event in events if not (isinstance(event, sp.ProviderItem) and event.kind == "timings"))


def test_a_plain_loop_over_the_client_gives_the_calls(hermes: Scripted) -> None:
    with httpx.stream("POST", **_chat(hermes), timeout=60) as response:
        events = list(sp.iter_events(response.iter_bytes(), "openai-chat", tools=TOOLS))
    assert calls_of(events) == CALLS
    assert text_of(events).split() == f"I will look. {TAIL}".split()


@backends
def test_tools_run_while_the_model_still_writes(paced: Scripted, backend: str) -> None:
    @sp.tool(effect="read")
    async def get_weather(city: str, days: int = 1) -> str:
        """Tell the weather."""
        return f"{city}: {days} sunny days"

    @sp.tool(effect="read")
    async def search(query: str, limit: int = 10) -> str:
        """Search."""
        return f"{limit} pages about {query}"

    async def run() -> tuple[list[Any], list[sp.ToolResult]]:
        tools = [get_weather, search]
        async with (
            httpx.AsyncClient(timeout=60) as client,
            client.stream("POST", **_chat(paced)) as response,
            sp.aiter_events(response.aiter_bytes(), "openai-chat", tools=tools) as events,
            sp.ToolRunner(tools) as runner,
        ):
            return [item async for item in runner.run(events)], list(runner.results)

    items, results = anyio.run(run, backend=backend)
    end = next(place for place, item in enumerate(items) if isinstance(item, sp.Done))
    early = [item for item in items[:end] if isinstance(item, sp.ToolResult)]
    assert [result.tool_name for result in results] == ["get_weather", "search"]
    assert len(early) == len(results)
