"""The turn of the demo: what the model says, and the two tools that it calls.

The answer holds text, two calls and more text.  The calls are written in the text itself, as local models do.
"""

from __future__ import annotations

import json
import time
from bisect import bisect_left
from itertools import accumulate
from typing import Any

import anyio

import streamparse as sp
from streamparse.testing import Recording

__all__ = ["ANSWER", "PADDING", "Bench", "closing_moments"]

PADDING = 120
"""Idle layers: with them the model writes about 200 tokens a second on one core."""

TOOL_SECONDS = 0.4

ANSWER = """\
I will look at the weather and at the trains.
<tool_call>
{"name": "get_weather", "arguments": {"city": "Lisbon", "days": 3}}
</tool_call>
<tool_call>
{"name": "find_trains", "arguments": {"origin": "Porto", "destination": "Lisbon"}}
</tool_call>
While they run, here is what I can tell you already: the fast train takes three hours, \
the slow one is the one with the view, and a window seat on the right side has the sea most of the way."""


class Bench:
    """Two read-only tools, which may start as soon as their call is whole, and the moments at which they did."""

    def __init__(self) -> None:
        self.started: list[float] = []
        self.zero = time.perf_counter()  # the clock of a `ToolRunner`, too

    def now(self) -> float:
        """Seconds since the request was sent."""
        return time.perf_counter() - self.zero

    @sp.tool(effect="read")
    async def get_weather(self, city: str, days: int = 1) -> str:
        """Tell the weather of a city."""
        self.started.append(self.now())
        await anyio.sleep(TOOL_SECONDS)
        return f"{city}: sunny for {days} days"

    @sp.tool(effect="read")
    async def find_trains(self, origin: str, destination: str) -> str:
        """Find trains between two cities."""
        self.started.append(self.now())
        await anyio.sleep(TOOL_SECONDS)
        return f"{origin} to {destination}: 9:05, 11:05"

    @property
    def tools(self) -> list[Any]:
        """The tools, for a parser and a runner."""
        return [self.get_weather, self.find_trains]


def closing_moments(recording: Recording) -> list[float]:
    """When the last byte of each call was read, in seconds: we know without the parser what the model was to say."""
    ends = [place for place in range(len(ANSWER)) if ANSWER.startswith("\n</tool_call>", place)]
    said, offset, closing = 0, 0, list[int]()
    for line in recording.body.splitlines(keepends=True):
        offset += len(line)
        if line.startswith(b"data: {"):
            said += sum(len(c["delta"].get("content") or "") for c in json.loads(line[6:])["choices"])
        while len(closing) < len(ends) and said >= ends[len(closing)]:
            closing.append(offset)
    read_up_to = list(accumulate(read.n for read in recording.reads))
    return [recording.reads[bisect_left(read_up_to, offset)].t / 1000 for offset in closing]
