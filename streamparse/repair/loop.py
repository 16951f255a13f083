"""Asks the model again when its calls cannot be run, at most a few times, and then gives up as text."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

import msgspec

from streamparse.dialects import Dialects
from streamparse.repair.guards import Guard
from streamparse.repair.looking import Attempts, Look, Repaired
from streamparse.response import ParsedResponse
from streamparse.tools import ToolResult

__all__ = ["Ask", "Complaint", "RepairLoop"]


class Complaint(msgspec.Struct, frozen=True):
    """What to tell the model in the next request: `message` in one line, `results` as the answers to its calls.

    `attempt` counts from 1; `response` is the answer that is complained of.
    """

    attempt: int
    message: str
    results: list[ToolResult]
    response: ParsedResponse


Ask: TypeAlias = Callable[[Complaint], Awaitable[Any]]
"""Sends the complaint to the model; returns its answer: a body in any form, or a `ParsedResponse`.

Where a client raises for what a server refuses, the answer is the body of its exception (`error.body` in most SDKs).
"""


class RepairLoop:
    """Takes an answer; if its calls cannot be run, recovers what the server refused, then asks the model again.

    `ask` is called at most `max_attempts` times; what it raises passes through.  `wire` and `dialects` say how answers
    are read, the other keywords what a call must be (`preflight`).  Raises ValueError if `max_attempts` is negative.
    """

    def __init__(
        self,
        ask: Ask,
        tools: Iterable[Any],
        *,
        max_attempts: int = 2,
        wire: str = "auto",
        dialects: Dialects = "auto",
        tier: int = 0,
        sanitise: bool = False,
        guards: Iterable[Guard] = (),
    ) -> None:
        if max_attempts < 0:
            raise ValueError(f"`max_attempts` is a count, not {max_attempts!r}")
        self._ask = ask
        self._attempts = range(1, max_attempts + 1)
        self._look = Look([*tools], wire=wire, dialects=dialects, tier=tier, sanitise=sanitise, guards=guards)

    async def run(self, answer: Any) -> Repaired:
        """Return an answer whose calls may all be run, or, when that cannot be had, the last one as text."""
        attempts = Attempts(self._look)
        verdict = attempts.take("answered", answer)
        for attempt in self._attempts:
            if verdict.ok:
                break
            complaint = Complaint(attempt, verdict.message, verdict.results, verdict.response)
            verdict = attempts.take("asked", await self._ask(complaint))
        return attempts.outcome(verdict)
