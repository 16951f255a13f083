"""The life of one call, as the turn sees it.

    incomplete ──▶ waiting ──▶ asked ──▶ ready ⇄ running ──▶ answered
                       └────────▶ ending ──────────────────────▲

| phase | the call |
|---|---|
| `incomplete` | is still being written by the model |
| `waiting` | is whole, and waits for the moment that its effect asks for |
| `asked` | waits for an approval |
| `ready` | may begin as soon as its locks and a place are free, and its delay is over |
| `running` | has begun, and its function has not ended |
| `ending` | will not begin; its function was opened before, and has not ended |
| `answered` | has its one result |

A call may skip any phase but the last.  Why it changes its phase is decided in `turn`.

The function of a call with a streamed argument may be called while the call is `incomplete`: it is then open, holds its
locks and a place, and has not begun.  It begins at the end of its argument; or it is broken off, and the call goes on
as if it had never been opened.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import msgspec

from streamparse.events import Place, ToolCallComplete
from streamparse.runtime.facts import ApprovalRequest, Break, Open, Start
from streamparse.tools import Effect, StateChange, Tool, ToolFailure, ToolResult

Phase: TypeAlias = Literal["incomplete", "waiting", "asked", "ready", "running", "ending", "answered"]

Opening: TypeAlias = Literal["none", "offered", "open", "broken"]
"""Whether the function may be called before the call is whole, was called so, was broken off."""


class Ending(msgspec.Struct, frozen=True):
    """How a call ended: with a value, or with a failure and the text that says so to the model.

    `changes` are what the gate changed in the arguments of a call that it refused.
    """

    value: Any = None
    failure: ToolFailure | None = None
    error: str | None = None
    truncated: bool = False
    changes: tuple[str, ...] = ()


class Call(msgspec.Struct, eq=False):
    """One call.

    `key` is its idempotency key, `timeout` the seconds of each attempt.  `attempt` is 0 until it has begun, `retries`
    counts those that followed a failure.  `occupies` says that its function has not returned: it holds its locks and a
    place, answered or not.  `cancelled` is the code of why it is to end before its function returns, `reason` the same
    in words.  `opened` are the arguments with which its function may be called, or was, before the call was whole;
    `streamed` names those that follow, `open_locks` are what it holds.  `ending` is how it ends once its function has.
    `is_put_off` says that it waits for an approval beyond this turn, `awaits` how many approvals its function waits
    for, since `awaits_since`.  `made` is when the model began to write it,
    `stuck_since` since when it waits for what is held by functions that cannot be stopped.
    """

    index: int
    id: str
    name: str
    tool: Tool | None
    key: str
    timeout: float | None
    locks: frozenset[str] = frozenset()
    phase: Phase = "incomplete"
    place: Place = "field"
    arguments: dict[str, Any] | None = None
    changes: tuple[str, ...] = ()
    needs_approval: bool = False
    attempt: int = 0
    retries: int = 0
    occupies: bool = False
    cancelled: str = ""
    reason: str = ""
    started: float | None = None
    deadline: float | None = None
    not_before: float = float("-inf")
    stuck_since: float | None = None
    opening: Opening = "none"
    opened: dict[str, Any] = {}
    streamed: tuple[str, ...] = ()
    open_locks: frozenset[str] = frozenset()
    ending: Ending | None = None
    revoked: bool = False
    made: float = 0.0
    state_changes: tuple[StateChange, ...] = ()
    result: ToolResult | None = None
    is_put_off: bool = False
    awaits: int = 0
    awaits_since: float = 0.0

    @property
    def effect(self) -> Effect:
        """The effect of its tool; of an unknown tool the worst."""
        return "write" if self.tool is None else self.tool.effect

    @property
    def has_effect_in_text(self) -> bool:
        """Whether it stands in the text, and calls a declared tool with effects."""
        return self.place != "field" and self.tool is not None and self.tool.effect != "read"

    @property
    def is_open(self) -> bool:
        """Whether its function was called before the call was whole, and has not returned."""
        return self.opening in ("open", "broken")

    @property
    def last_attempt(self) -> int:
        """The number of the attempt that was begun or opened last."""
        return self.attempt + 1 if self.is_open else self.attempt

    def can_begin(self, now: float) -> bool:
        """Whether only locks and places keep it from beginning."""
        return self.phase == "ready" and self.not_before <= now

    def offer(self, arguments: dict[str, Any], streamed: tuple[str, ...], locks: frozenset[str]) -> None:
        """Let its function be called with arguments that are still being written."""
        self.opening, self.opened, self.streamed = "offered", arguments, streamed
        self.locks = self.open_locks = locks

    def open(self) -> Open:
        """Call its function before the call is whole."""
        self.opening, self.occupies = "open", True
        return Open(self.index, self.last_attempt, self.id, self.name, self.opened, self.streamed, self.key)

    def break_off(self, now: float, reason: str) -> Break:
        """Have the function end that was opened."""
        self.opening = "broken"
        self.deadline = None if self.timeout is None else now + self.timeout
        return Break(self.index, self.last_attempt, reason)

    def close(self) -> None:
        """The function that was opened has returned, and has not begun."""
        self.opening, self.deadline = "none", None
        self.open_locks = frozenset()
        self.cancelled = self.reason = ""

    def complete(self, event: ToolCallComplete, tool: Tool | None, timeout: float | None) -> None:
        """The model has closed it."""
        self.id, self.name, self.tool, self.timeout = event.id, event.name, tool, timeout
        self.place, self.arguments = event.place, event.arguments
        self.locks = frozenset()
        self.phase = "waiting"
        if not self.is_open:
            self.close()

    def ask(self) -> ApprovalRequest:
        """Have it wait for an approval."""
        self.phase = "asked"
        return ApprovalRequest(self.index, self.id, self.name, self.arguments or {}, self.key)

    def begin_wait(self, now: float) -> None:
        """Its function waits for an approval."""
        if not self.awaits:
            self.awaits_since = now
        self.awaits += 1

    def end_wait(self, now: float) -> None:
        """One of these was given or refused; the time of waiting is not that of the attempt."""
        self.awaits -= 1
        if not self.awaits and self.deadline is not None:
            self.deadline += now - self.awaits_since

    def make_ready(self, at: float) -> None:
        """Let it begin at that time, or later."""
        self.phase, self.not_before = "ready", at
        self.cancelled = self.reason = ""

    def begin(self, now: float) -> Start:
        """Begin an attempt."""
        self.phase, self.occupies, self.stuck_since, self.awaits = "running", True, None, 0
        self.opening, self.open_locks = "none", frozenset()
        self.attempt += 1
        self.started = now if self.started is None else self.started
        self.deadline = None if self.timeout is None else now + self.timeout
        return Start(self.index, self.attempt, self.id, self.name, self.arguments or {}, self.key, self.deadline)

    def take_back_begin(self) -> None:
        """The attempt was ended before its function was called: it has not begun."""
        self.attempt -= 1
        self.started = self.started if self.attempt else None

    def end_early(self, code: str, reason: str) -> None:
        """Note why it is to end before its function returns; the first reason counts, but for a time-out."""
        if self.cancelled in ("", "timed_out"):
            self.cancelled, self.reason = code, reason

    def answer(self, ending: Ending, now: float, *, turn: int, incomplete: bool, epoch: float | None) -> ToolResult:
        """End its life with a result; `epoch` is the time, since 1970, at which the clock of `now` showed 0."""
        self.phase = "answered"
        ended = None if self.started is None else now
        self.result = ToolResult(
            self.id, self.name, ending.value, ending.error, self.index,
            seconds=0.0 if self.started is None else now - self.started,
            revoked=self.revoked, incomplete=incomplete, started=self.started, ended=ended,
            changes=self.changes, arguments=self.arguments, failure=ending.failure, attempts=self.attempt,
            truncated=ending.truncated, turn=turn, state_changes=self.state_changes,
            time=None if epoch is None else datetime.fromtimestamp(epoch + self.made, UTC),
        )  # fmt: skip
        return self.result
