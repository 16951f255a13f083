"""Asks the model again when its calls cannot be run, at most a few times, and then gives up as text."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

import msgspec

from streamparse.recover import CompositeParser, Dialects
from streamparse.repair.findings import Finding
from streamparse.repair.guards import Guard
from streamparse.repair.verdict import Verdict, judge
from streamparse.response import ParsedResponse, ToolIntent
from streamparse.tools import ToolResult

__all__ = ["Ask", "Complaint", "RepairLoop", "Repaired", "Step", "as_text"]


class Complaint(msgspec.Struct, frozen=True):
    """What to tell the model in the next request: `message` in one line, `results` as the answers to its calls.

    `attempt` counts from 1; `response` is the answer that is complained of.
    """

    attempt: int
    message: str
    results: list[ToolResult]
    response: ParsedResponse


Ask: TypeAlias = Callable[[Complaint], Awaitable[Any]]
"""Sends the complaint to the model; returns its answer: a body in any form, or a `ParsedResponse`."""


class Step(msgspec.Struct, frozen=True):
    """One entry of the log of what was tried, with what was wrong after it ("" if nothing was)."""

    action: str
    """`answered`, `recovered` (from what the server refused), `asked`, `gave_up`, or the name of a strategy."""
    message: str = ""
    findings: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, action: str, verdict: Verdict) -> Step:
        """Log an action and what came of it."""
        of_calls = (finding for each in verdict.preflights for finding in each.findings)
        return cls(action, verdict.message, (*of_calls, *verdict.findings))


class Repaired(msgspec.Struct, frozen=True):
    """The answer in the end, and how it came about.  With `ok` false the answer is text: its calls are intents."""

    response: ParsedResponse
    ok: bool
    log: tuple[Step, ...] = ()


class RepairLoop:
    """Takes an answer; if its calls cannot be run, recovers what the server refused, then asks the model again.

    `ask` is called at most `max_attempts` times; what it raises passes through.  `wire` and `dialects` say how answers
    are read, the other keywords what a call must be (`preflight`).
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
        declared = list(tools)
        self._ask = ask
        self._max_attempts = max_attempts
        self._parser = CompositeParser(wire, dialects=dialects, tools=declared)
        self._generated = CompositeParser(tools=declared)
        self._judge = judge(declared, tier=tier, sanitise=sanitise, guards=guards)

    async def run(self, answer: Any) -> Repaired:
        """Return an answer whose calls may all be run, or, when that cannot be had, text."""
        log: list[Step] = []
        verdict = self._look("answered", answer, log)
        for attempt in range(1, self._max_attempts + 1):
            if verdict.ok:
                break
            complaint = Complaint(attempt, verdict.message, verdict.results, verdict.response)
            verdict = self._look("asked", await self._ask(complaint), log)
        if verdict.ok:
            return Repaired(verdict.response, True, tuple(log))
        return Repaired(as_text(verdict.response), False, (*log, Step("gave_up", verdict.message)))

    def _look(self, action: str, answer: Any, log: list[Step]) -> Verdict:
        response = answer if isinstance(answer, ParsedResponse) else self._parser.parse(answer)
        verdict = self._judge(response)
        log.append(Step.of(action, verdict))
        generation = None if verdict.ok else _failed_generation(response)
        if generation is None:
            return verdict
        recovered = self._judge(self._generated.parse(generation))
        if not recovered.response.tool_calls:
            return verdict
        log.append(Step.of("recovered", recovered))
        return recovered


def as_text(response: ParsedResponse) -> ParsedResponse:
    """Return an answer without calls: they stand in `intents`, and in the content if that is empty."""
    wanted = [ToolIntent(call.name, call.raw or json.dumps(call.arguments)) for call in response.tool_calls]
    wanted += [ToolIntent(broken.name, broken.raw) for broken in response.broken_calls]
    content = response.content if response.content.strip() else "\n".join(f"{each.name} {each.text}" for each in wanted)
    return msgspec.structs.replace(
        response, content=content, tool_calls=[], broken_calls=[], intents=[*response.intents, *wanted]
    )


def _failed_generation(response: ParsedResponse) -> str | None:
    """What the model wrote before the server refused it (Groq)."""
    texts = (item["data"] for item in response.items if item.get("kind") == "failed_generation")
    return next((text for text in texts if isinstance(text, str)), None)
