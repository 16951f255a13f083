"""A run that waits for its model holds little: measured with tracemalloc, beside the same number of tasks that wait."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

import streamparse as sp

RUNS = 50
MOST = 40 * 1024
CHUNK = b'data: {"choices":[{"index":0,"delta":{"content":"Hello "},"finish_reason":null}]}\n\n'
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'

pytestmark = pytest.mark.usefixtures("uncollected")


@sp.tool(effect="read")
def look(path: str) -> str:
    """Look."""
    return path


class _Waiting:
    """Tasks that all wait for one event, and how much they hold."""

    def __init__(self) -> None:
        self._go_on = asyncio.Event()
        self._number = 0

    async def wait(self) -> None:
        """Wait until all were measured."""
        self._number += 1
        await self._go_on.wait()

    async def measure(self, work: Callable[[], Awaitable[object]]) -> float:
        """Begin tasks, let them come to where they wait, and return the bytes of each."""
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        tasks = [asyncio.ensure_future(work()) for _ in range(RUNS)]
        while self._number < RUNS:
            await asyncio.sleep(0)
        for _ in range(10):  # what was read goes through its buffers
            await asyncio.sleep(0)
        gc.collect()
        size = (tracemalloc.get_traced_memory()[0] - before) / RUNS
        tracemalloc.stop()
        self._go_on.set()
        await asyncio.gather(*tasks)
        return size


async def _measure_runs() -> float:
    waiting = _Waiting()

    async def model(request: sp.Request) -> AsyncIterator[bytes]:
        request.body("openai", "m")

        async def answer() -> AsyncIterator[bytes]:
            yield CHUNK
            await waiting.wait()
            yield END

        return answer()

    agent: sp.Agent[None, str] = sp.Agent(model, [look], system="Be brief.")

    async def work() -> None:
        async with agent.run("Hello.") as run:
            async for _ in run:
                pass

    waiting._go_on.set()
    await work()  # what is made once in a process, is made
    waiting._number = 0
    waiting._go_on = asyncio.Event()
    return await waiting.measure(work)


async def _measure_tasks() -> float:
    waiting = _Waiting()
    return await waiting.measure(waiting.wait)


def test_a_run_that_waits_for_its_model_holds_at_most_40_kilobytes() -> None:
    runs, tasks = asyncio.run(_measure_runs()), asyncio.run(_measure_tasks())
    assert runs - tasks <= MOST
