"""Decides when each call may run, and gives each exactly one result.  Does no I/O and knows no tasks.

| the tool says | its call may run |
|---|---|
| `early="closed"` | at once |
| `early="superseded"` | once the model went on with something else, or the turn ended well |
| `early="finish"` | once the turn ended well |

A call that had to be repaired to be read waits for the end of the turn unless its tool says "closed".
When the turn does not end well, what has not begun never runs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

from streamparse.events import (
    Done,
    Event,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallComplete,
    ToolCallRevoked,
    ToolCallStart,
)
from streamparse.runtime.settings import Settings
from streamparse.tools import Tool, ToolResult

__all__ = ["Call", "Calls"]

LISTED_NAMES = 20
"""Names of known tools that the answer to an unknown one lists."""


class Call(msgspec.Struct, eq=False):
    """One call's life: pending, then running, then ended with a result; or at once from pending to ended."""

    event: ToolCallComplete
    tool: Tool | None
    started: float | None = None
    running: bool = False
    revoked: bool = False
    result: ToolResult | None = None

    @property
    def pending(self) -> bool:
        """Whether nothing has come of the call yet."""
        return not self.running and self.result is None


class Calls:
    """The calls of one turn.

    `start` is called when a call is to run now, at most `limit` at a time; whoever runs it reports to `ended`.
    `answer` is called with each result, once for each call.
    """

    def __init__(self, settings: Settings, start: Callable[[Call], None], answer: Callable[[ToolResult], None]) -> None:
        self._settings = settings
        self._start = start
        self._answer = answer
        self._calls: dict[int, Call] = {}
        self._seen: set[tuple[str, str, bytes]] = set()
        self._superseded: list[Call] = []  # wait for the model to move on
        self._finish: list[Call] = []  # wait for the turn to end well
        self._queue: deque[Call] = deque()  # may run, and wait for a free place
        self._running = 0
        self._done = False
        self._incomplete = False

    @property
    def results(self) -> list[ToolResult]:
        """The results there are, in call order."""
        return [call.result for _, call in sorted(self._calls.items()) if call.result is not None]

    def take(self, event: Event) -> None:
        """Note what happened; may start and answer calls."""
        handle = HANDLERS.get(type(event))
        if handle is not None:
            handle(self, event)

    def source_ended(self) -> None:
        """Note that no event follows; without a `Done` the turn has not ended well."""
        if not self._done:
            self._turn_failed()

    def stop(self) -> None:
        """Answer all that has no result yet; nothing starts any more."""
        for call in self._calls.values():
            if call.result is None:
                self._settle(call, error="the run was stopped before the tool had ended")

    def ended(self, call: Call, value: Any, error: str | None, at: float) -> None:
        """Note that a tool has returned, failed or timed out; the next call may take its place."""
        self._running -= 1
        call.running = False
        self._settle(call, value, error, at)
        while self._queue and self._running < self._settings.limit:
            self._begin(self._queue.popleft())

    def _completed(self, event: ToolCallComplete) -> None:
        if self._is_repeated(event):
            return
        self._moved_on(event)
        call = Call(event, self._settings.tools.get(event.name))
        self._calls[event.index] = call
        refusal = self._refusal(call)
        if refusal is not None or call.tool is None:
            self._settle(call, error=refusal)
        elif call.tool.early == "closed":
            self._approve(call)
        elif call.tool.early == "superseded" and event.source != "recovered":
            self._superseded.append(call)
        else:
            self._finish.append(call)

    def _is_repeated(self, event: ToolCallComplete) -> bool:
        """Whether this very call was complete before: a fallback may find again, elsewhere, what already ran."""
        if event.index in self._calls:
            return True
        if not event.id:
            return False
        identity = (event.id, event.name, msgspec.json.encode(event.arguments, order="sorted"))
        if identity in self._seen:
            return True
        self._seen.add(identity)
        return False

    def _refusal(self, call: Call) -> str | None:
        """Why the call must not run, for the model."""
        tool, name = call.tool, call.event.name
        if tool is None:
            known = ", ".join(list(self._settings.tools)[:LISTED_NAMES])
            return f"there is no tool {name[:80]!r}; the tools are: {known or 'none'}"
        if tool.function is None:
            return f"the tool {name!r} cannot be run here"
        if tool.tier > self._settings.tier:
            return f"the tool {name!r} is not unlocked"
        if call.event.source == "recovered" and not self._settings.run_recovered:
            return "the call was not written correctly; it was not run"
        return None

    def _moved_on(self, _: Event) -> None:
        if self._superseded:
            waiting, self._superseded = self._superseded, []
            for call in waiting:
                self._approve(call)

    def _revoked(self, event: ToolCallRevoked) -> None:
        call = self._calls.get(event.index)
        if call is None:
            return
        call.revoked = True
        if call.pending:
            self._settle(call, error=f"the call was revoked ({event.reason[:200]}); it was not run")
        else:
            self._mark(call)

    def _turn_ended(self, event: Done) -> None:
        self._done = True
        if not event.ok:
            self._turn_failed()
            return
        waiting = sorted(self._superseded + self._finish, key=lambda call: call.event.index)
        self._superseded, self._finish = [], []
        for call in waiting:
            self._approve(call)

    def _turn_failed(self) -> None:
        self._incomplete = True
        for call in self._calls.values():
            if call.pending:
                self._settle(call, error="the turn did not finish; the call was not run")
            else:
                self._mark(call)

    def _approve(self, call: Call) -> None:
        if self._running < self._settings.limit:
            self._begin(call)
        else:
            self._queue.append(call)

    def _begin(self, call: Call) -> None:
        if call.pending:  # not answered while it waited
            call.running = True
            self._running += 1
            self._start(call)

    def _settle(self, call: Call, value: Any = None, error: str | None = None, at: float | None = None) -> None:
        seconds = at - call.started if at is not None and call.started is not None else 0.0
        call.running = False
        call.result = ToolResult(
            call.event.id, call.event.name, value, error, call.event.index, seconds,
            call.revoked, self._incomplete, call.started, at,
        )  # fmt: skip
        self._answer(call.result)

    def _mark(self, call: Call) -> None:
        """Put the marks of now on a result that was handed over before."""
        if call.result is not None:
            call.result = msgspec.structs.replace(call.result, revoked=call.revoked, incomplete=self._incomplete)


HANDLERS: dict[type, Callable[[Calls, Any], None]] = {
    TextDelta: Calls._moved_on,
    ReasoningDelta: Calls._moved_on,
    RefusalDelta: Calls._moved_on,
    ToolCallStart: Calls._moved_on,
    ToolCallComplete: Calls._completed,
    ToolCallRevoked: Calls._revoked,
    Done: Calls._turn_ended,
}
