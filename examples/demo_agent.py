"""The agent of the demo: a turn with three tools of 0.3 s each, called natively, with text behind the calls.

The turn is run in three ways: the tools start as each call closes, all at the end of the stream, or one after the other
at its end.  No agent can end a turn before `max(stream, last call + tool)`; how much longer it takes is what it costs.

llama.cpp lets no text follow a native call.  So it sends what the model writes as it is, and `streamparse proxy` in
front of it reads the calls out of the text and sends them in fields of their own.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import anyio
import httpx
from live_server import CHAT, running_proxy, running_server

import streamparse as sp
from streamparse.testing import Recording, replaying

__all__ = ["ANSWER", "MODES", "Run", "make_tools", "measure_agent", "replayed_agent", "report_agent", "served_agent"]

PADDING = 120
TOOL_SECONDS = 0.3

ANSWER = """\
I will look at the weather, at the trains, and for a room.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Lisbon"}}
</tool_call>
<tool_call>
{"name": "find_trains", "arguments": {"origin": "Porto", "destination": "Lisbon"}}
</tool_call>
<tool_call>
{"name": "find_rooms", "arguments": {"city": "Lisbon"}}
</tool_call>
While they run, here is what I can tell you already: the fast train takes three hours, \
the slow one is the one with the view, and a window seat on the right side has the sea most of the way."""

MODES: dict[str, dict[str, Any]] = {
    "as each call closes": {"effect": "read"},
    "all at the end of the stream": {"effect": "write"},
    "one after the other, at the end": {"effect": "write", "lock": "*"},
}
"""When the tools start, and what they declare for that."""


class Source(NamedTuple):
    """Where the turn comes from."""

    url: str
    prompt: str


class Run(NamedTuple):
    """What one run took, in seconds since it began."""

    last_call: float
    stream: float
    wall: float

    @property
    def least(self) -> float:
        """What it must take: no call is known before its last byte, and no stream is over before its end."""
        return max(self.stream, self.last_call + TOOL_SECONDS)


@contextmanager
def served_agent(pad_layers: int = PADDING) -> Iterator[Source]:
    """A llama.cpp server that is told what to say, behind the proxy."""
    with running_server(pad_layers=pad_layers, pure_content=True) as server, running_proxy(server.url) as url:
        yield Source(url, server.script(ANSWER))


@contextmanager
def replayed_agent(folder: Path) -> Iterator[Source]:
    """A recording of that turn."""
    with replaying(Recording.load(folder / "llamacpp-proxied")) as url:
        yield Source(url, "Go on.")


async def get_weather(city: str) -> str:
    """Tell the weather of a city."""
    await anyio.sleep(TOOL_SECONDS)
    return f"It is sunny in {city}."


async def find_trains(origin: str, destination: str) -> str:
    """Find trains between two cities."""
    await anyio.sleep(TOOL_SECONDS)
    return f"{origin} to {destination}: 9:05, 11:05"


async def find_rooms(city: str) -> str:
    """Find a room."""
    await anyio.sleep(TOOL_SECONDS)
    return f"There is one in {city} with a view."


def make_tools(**declared: Any) -> list[sp.Tool]:
    """The three tools, declared alike."""
    return [sp.Tool(each.__name__, function=each, **declared) for each in (get_weather, find_trains, find_rooms)]


async def measure_agent(source: Source, rounds: int) -> dict[str, list[Run]]:
    """Run the turn in each way, by turns, so that none of them gets the better moments."""
    runs: dict[str, list[Run]] = {mode: [] for mode in MODES}
    async with httpx.AsyncClient(timeout=60) as client:
        await _run(source, client, make_tools())  # the server keeps what it has read of the prompt
        for _ in range(rounds):
            for mode, declared in MODES.items():
                runs[mode].append(await _run(source, client, make_tools(**declared)))
    return runs


async def _run(source: Source, client: httpx.AsyncClient, tools: list[sp.Tool]) -> Run:
    """Run one turn with an agent."""
    reads: list[tuple[float, bytes]] = []

    async def model(request: sp.Request) -> AsyncIterator[bytes]:
        asked = client.build_request("POST", source.url + CHAT, json=request.body("openai", "copy"))
        return listen(await client.send(asked, stream=True))

    async def listen(response: httpx.Response) -> AsyncIterator[bytes]:
        async for chunk in response.aiter_bytes():
            reads.append((time.perf_counter() - began, chunk))
            yield chunk

    agent = sp.Agent(model, tools, stop=[sp.max_turns(1)], settings={"temperature": 0})
    began = time.perf_counter()
    async with agent.run(source.prompt) as run:
        results = [item async for item in run if isinstance(item, sp.ToolResult)]
    wall = time.perf_counter() - began
    assert [result.error for result in results] == [None] * len(tools)
    return Run(_find_last_call(reads, tools), reads[-1][0], wall)


def _find_last_call(reads: Iterable[tuple[float, bytes]], tools: list[sp.Tool]) -> float:
    """When the last byte of the last call was read; found afterwards, so that it costs the run nothing."""
    parser = sp.StreamParser("openai-chat", tools=tools)
    return max(
        moment for moment, chunk in reads for event in parser.feed(chunk) if isinstance(event, sp.ToolCallComplete)
    )


def report_agent(runs: dict[str, list[Run]]) -> str:
    """Say what each way takes, as the median of its runs."""
    every = [run for each in runs.values() for run in each]
    last, end = median(run.last_call for run in every), median(run.stream for run in every)
    lines = [
        f"An agent's turn: three native calls, each of a tool of {TOOL_SECONDS} s, then text.",
        f"The last call was whole at {last:.2f} s, the stream over at {end:.2f} s (medians of {len(every)} runs).",
        f"{'the tools start':<34}{'wall time':<12}over max(stream, last call + tool)",
    ]
    for mode, each in runs.items():
        wall, over = median(run.wall for run in each), median(run.wall - run.least for run in each)
        share = median(run.wall / run.least - 1 for run in each)
        lines.append(f"{mode:<34}{wall:7.3f} s   {over * 1000:7.1f} ms, {share:.1%}")
    return "\n".join(lines)
