"""What came of an answer: what was reported as a call, what stands at the end, and what a `ToolRunner` began.

`EFFECTS` are the tools' declarations of when they may start.  Those in `HARMFUL` have effects.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import anyio
import msgspec

import streamparse as sp

__all__ = ["EFFECTS", "HARMFUL", "Begun", "Call", "begun_calls", "complete_calls", "declare", "standing_calls"]

EFFECTS = ("write", "idempotent", "read")
"""Values of `effect`: after a good end, once the model moved on, at the closing byte."""
HARMFUL = ("write", "idempotent")


class Call(NamedTuple):
    """A complete call, to be compared."""

    name: str
    arguments: dict[str, Any]
    place: str
    source: str


class Begun(NamedTuple):
    """A call that a runner began, and whether it did so before the end of the turn."""

    name: str
    arguments: dict[str, Any]
    early: bool


def complete_calls(events: Iterable[sp.Event]) -> list[Call]:
    """Every call that was reported complete, the revoked ones too."""
    return [
        Call(event.name, event.arguments, event.place, event.source)
        for event in events
        if isinstance(event, sp.ToolCallComplete)
    ]


def standing_calls(events: Sequence[sp.Event]) -> list[Call]:
    """The calls that were complete and not revoked."""
    revoked = {event.index for event in events if isinstance(event, sp.ToolCallRevoked)}
    return complete_calls(
        event for event in events if isinstance(event, sp.ToolCallComplete) and event.index not in revoked
    )


class _Bench:
    """Tools that note that they began, and the source that says whether the turn was over then."""

    def __init__(self, tools: Iterable[sp.Tool], effect: str) -> None:
        self.begun: list[Begun] = []
        self.over = False
        self.tools = [declare(tool, effect, self._function(tool.name)) for tool in tools]

    def _function(self, name: str) -> Any:
        async def note(**arguments: Any) -> str:
            self.begun.append(Begun(name, arguments, not self.over))
            return "noted"

        return note

    async def source(self, events: Sequence[sp.Event]) -> AsyncIterator[sp.Event]:
        for event in events:
            self.over = self.over or isinstance(event, sp.Done)
            yield event


def declare(tool: sp.Tool, effect: str = "write", function: Any = None) -> sp.Tool:
    """The tool as a runner takes it."""
    declared: Any = effect
    return sp.Tool(tool.name, tool.description, tool.parameters, function, effect=declared)


async def _run(events: Sequence[sp.Event], tools: Iterable[sp.Tool], effect: str) -> list[Begun]:
    bench = _Bench(tools, effect)
    async with sp.ToolRunner(bench.tools) as runner:
        async for _ in runner.run(bench.source(events)):
            pass
    return bench.begun


def begun_calls(
    answers: Sequence[Sequence[sp.Event]], tools: Sequence[sp.Tool], effects: Sequence[str] = EFFECTS
) -> Iterator[dict[str, list[Begun]]]:
    """What the default runner begins of each answer, by the effect that all tools declare.

    An answer in which no call was ever complete is not run, for there is nothing that a runner could begin.  Of equal
    answers one is run.
    """

    seen: dict[tuple[bytes, str], list[Begun]] = {}

    async def run_once(events: Sequence[sp.Event], effect: str) -> list[Begun]:
        key = msgspec.json.encode(events), effect
        if key not in seen:
            seen[key] = await _run(events, tools, effect) if complete_calls(events) else []
        return seen[key]

    async def run_all() -> list[dict[str, list[Begun]]]:
        return [{effect: await run_once(events, effect) for effect in effects} for events in answers]

    yield from anyio.run(run_all)
