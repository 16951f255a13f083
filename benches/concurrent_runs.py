"""Many agents in one process, whose models speak 100 tokens a second each, from memory: ours and others'.

    .venv-peers/bin/python benches/concurrent_runs.py             # writes the table of docs/internals/performance.md
    .venv-peers/bin/python benches/concurrent_runs.py --one streamparse 1000

Each run has two answers of text, the first of which ends with a call of a tool.  They come through the same transport
of httpx, one token a message, each when it is due.  The lag of a token is the time from then until its consumer has
it.  What a core sustains follows from the CPU time of the fewest runs.  Where it is asked for more, the lag grows with
the length of the answers.  Each measurement is a process of its own, which is ended after two minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.metadata import version
from statistics import quantiles
from typing import Any

import httpx
from performance import PAGE, replace_between

__all__ = ["LIBRARIES", "main"]

URL = "http://model.invalid/v1"
TOKENS = 100
"""Of each answer."""
PAUSE = 0.01
RUNS = (100, 1000)
MOST_SECONDS = 120


def _frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return b"data: " + json.dumps({**head, "choices": [choice]}).encode() + b"\n\n"


_TEXT = [
    _frame({"role": "assistant", "content": ""}),
    *(_frame({"content": f"word{number} "}) for number in range(TOKENS)),
]
_FUNCTION = {"name": "look", "arguments": '{"place": "north"}'}
_CALL = _frame({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": _FUNCTION}]})
ANSWERS = [
    [*_TEXT, _CALL, _frame({}, "tool_calls"), b"data: [DONE]\n\n"],
    [*_TEXT, _frame({}, "stop"), b"data: [DONE]\n\n"],
]


class Body(httpx.AsyncByteStream):
    """An answer whose messages come when they are due; those times are left for its consumer, token by token."""

    def __init__(self, frames: list[bytes], due: list[float]) -> None:
        self._frames, self._due = frames, due

    async def __aiter__(self) -> AsyncIterator[bytes]:
        begun = time.perf_counter()
        for number, frame in enumerate(self._frames):
            moment = begun + number * PAUSE
            if 1 <= number <= TOKENS:
                self._due.append(moment)
            await asyncio.sleep(max(moment - time.perf_counter(), 0))
            yield frame


class Run:
    """One run: the client of its model, and the lags of its tokens."""

    def __init__(self) -> None:
        self._due: list[float] = []
        self.lags: list[float] = []
        self.client = httpx.AsyncClient(transport=httpx.MockTransport(self._answer))
        self.tokens = 0

    def _answer(self, request: httpx.Request) -> httpx.Response:
        is_second = b'"role":"tool"' in request.content.replace(b": ", b":")
        body = Body(ANSWERS[is_second], self._due)
        return httpx.Response(200, headers={"content-type": "text/event-stream"}, stream=body)

    def note(self, text: str) -> None:
        """Note the text that a consumer has got: its words are the tokens."""
        now = time.perf_counter()
        for _ in range(text.count("word")):
            self.lags.append(now - self._due[self.tokens])
            self.tokens += 1


# -- libraries: each makes, once, what runs an agent to its end --------------------------------------------------------


def _streamparse() -> Callable[[Run], Awaitable[None]]:
    import streamparse as sp

    @sp.tool(effect="read")
    async def look(place: str) -> str:
        """Look at a place."""
        return f"a door in the {place}"

    async def run(own: Run) -> None:
        agent: sp.Agent[None, str] = sp.Agent(sp.http_model(URL, "openai-chat", "m", client=own.client), [look])
        async with agent.run("Go on.") as running:
            async for item in running:
                if isinstance(item, sp.TextDelta):
                    own.note(item.text)

    return run


def _pydantic_ai() -> Callable[[Run], Awaitable[None]]:
    from openai import AsyncOpenAI
    from pydantic_ai import Agent
    from pydantic_ai.messages import PartDeltaEvent, PartStartEvent, TextPart, TextPartDelta
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    def look(place: str) -> str:
        """Look at a place."""
        return f"a door in the {place}"

    async def run(own: Run) -> None:
        client = AsyncOpenAI(base_url=URL, api_key="none", http_client=own.client)
        agent = Agent(OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client)), tools=[look])
        async with agent.run_stream_events("Go on.") as events:
            async for event in events:
                if isinstance(event, PartDeltaEvent) and isinstance(event.delta, TextPartDelta):
                    own.note(event.delta.content_delta)
                elif isinstance(event, PartStartEvent) and isinstance(event.part, TextPart):
                    own.note(event.part.content)

    return run


def _openai_agents() -> Callable[[Run], Awaitable[None]]:
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
    from openai import AsyncOpenAI

    set_tracing_disabled(True)

    @function_tool
    async def look(place: str) -> str:
        """Look at a place."""
        return f"a door in the {place}"

    async def run(own: Run) -> None:
        client = AsyncOpenAI(base_url=URL, api_key="none", http_client=own.client)
        agent = Agent(name="agent", model=OpenAIChatCompletionsModel("m", client), tools=[look])
        async for event in Runner.run_streamed(agent, "Go on.").stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                own.note(event.data.delta)

    return run


LIBRARIES: dict[str, tuple[str, Callable[[], Callable[[Run], Awaitable[None]]]]] = {
    "streamparse": ("llm-streamparse", _streamparse),
    "pydantic-ai": ("pydantic-ai-slim", _pydantic_ai),
    "openai-agents": ("openai-agents", _openai_agents),
}
"""The distribution of each, and what makes its runs."""

# -- measuring -------------------------------------------------------------------------------------------------------


async def measure(name: str, count: int) -> dict[str, float]:
    """Run so many agents at one time; return the CPU seconds of a token, and lags in milliseconds."""
    run = LIBRARIES[name][1]()
    await run(Run())  # what is made once in a process, is made
    runs = [Run() for _ in range(count)]
    begun = time.process_time()

    async def begin(number: int, own: Run) -> None:
        await asyncio.sleep(number * PAUSE / count)  # servers do not speak in step
        await run(own)

    await asyncio.gather(*(begin(number, own) for number, own in enumerate(runs)))
    spent = time.process_time() - begun
    tokens = sum(own.tokens for own in runs)
    if tokens != 2 * TOKENS * count:
        raise AssertionError(f"{name} has given {tokens} tokens of {2 * TOKENS * count}")
    cuts = quantiles((lag for own in runs for lag in own.lags), n=100)
    return {"seconds": spent / tokens, "p50": cuts[49] * 1000, "p99": cuts[98] * 1000}


def measure_apart(name: str, count: int) -> dict[str, float] | None:
    """Measure in a process of its own; None if that takes too long."""
    command = [sys.executable, __file__, "--one", name, str(count)]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=MOST_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    found: dict[str, float] = json.loads(done.stdout)
    return found


def write_table() -> str:
    """Measure all; return the table in Markdown."""
    heads = [
        "library",
        "µs of CPU a token",
        "runs a core sustains",
        *(f"lag of {count:,}, p50 / p99" for count in RUNS),
    ]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    for name, (distribution, _) in LIBRARIES.items():
        found = [measure_apart(name, count) for count in RUNS]
        seconds = found[0]["seconds"] if found[0] else float("nan")
        cells = [
            f"{lag['p50']:,.0f} / {lag['p99']:,.0f} ms" if lag else f"not done in {MOST_SECONDS} s" for lag in found
        ]
        head = f"{name} {version(distribution)} | {seconds * 1e6:,.0f} | {PAUSE / seconds:,.0f}"
        lines.append(f"| {head} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> int:
    """Measure one row, or write the table."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    arguments.add_argument("--one", nargs=2, metavar=("LIBRARY", "RUNS"))
    given = arguments.parse_args()
    if given.one:
        name, count = given.one
        print(json.dumps(asyncio.run(measure(name, int(count)))))
    else:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(replace_between(page, "concurrent-runs", write_table()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
