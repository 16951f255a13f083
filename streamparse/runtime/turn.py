"""Decides what happens in one turn: when each call may run, and that each gets exactly one answer.

A pure machine: facts in, commands out (`streamparse.runtime.facts`).  It has no tasks, no clock and no I/O; what it
knows is what the facts said so far.  The shell that obeys it on an event loop is `streamparse.runtime.run`.

What a tool does decides the life of its calls:

| effect | starts | revoked, cancelled or out of time | on a failure that may pass | after a crash |
|---|---|---|---|---|
| `"none"` | at its closing byte | cancelled | again | again |
| `"idempotent"` | once the model moved on | cancelled; the model is told that it had begun | again, same key | again, same key |
| `"once"` | after `Done(ok=True)` | cancelled; told as "outcome unknown" | never | begun: "outcome unknown" |

Where the call stood comes first:

| place | may run |
|---|---|
| `field` | as its tool says |
| `plain` | as its tool says; with an effect only where no visible text follows the last call of the answer's text, which the end of the turn alone can tell (`trailing="run"`: once another call follows, or the turn ended well) |
| `bare`, `thought` | once the turn ended well, and as `plain` |
| `quoted` | not at all; with `run_quoted` as `bare` |

A call that had to be repaired to be read (`recovered`) does not run; with `run_recovered` it waits for the end of the
turn unless its tool has no effect.  When the turn does not end well, what has not begun never begins; what has begun
may go on, and may be repeated.

Calls that share a lock, or of which one has `"*"`, never overlap unless all have no effect, and begin in call order:
a read waits for an earlier write.  A lock, and a place under `limit`, is free once the function has really returned.
"""  # noqa: E501 - a row of a table is one line

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, Final, Literal, TypeAlias

import msgspec

from streamparse.events import (
    Done,
    Error,
    Place,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallComplete,
    ToolCallRevoked,
    ToolCallStart,
)
from streamparse.repair import Gate
from streamparse.repair.answers import describe_break
from streamparse.runtime.admission import Locks, Refused, admit, find_open_locks
from streamparse.runtime.facts import (
    Abandoned,
    Answer,
    Approval,
    ApprovalRequest,
    Cancel,
    Cancelled,
    Command,
    Fact,
    Received,
    RequestApproval,
    Restarted,
    Returned,
    SourceEnded,
    Start,
    Wake,
    Woke,
)
from streamparse.runtime.retries import find_delay
from streamparse.tools import Effect, ErrorKind, StateChange, Tool, ToolFailure, ToolResult, format_error_for_model

__all__ = ["Trailing", "Turn"]

Trailing: TypeAlias = Literal["refuse", "run"]
"""What becomes of calls in the text, of tools with effects, that visible text follows."""

Phase: TypeAlias = Literal["waiting", "asked", "ready", "running", "answered"]

UNFINISHED: Final = "the turn did not finish; the call was not run"
STOPPED: Final = "the run was stopped before the tool had ended"
OUT_OF_TIME: Final = "the time of the whole run was over before the tool had ended"
CRASHED: Final = "the program ended before the tool had"
LATE: Final = "the call came after the end of the answer; it was not run"
TRAILED: Final = (
    "the call was not run: text followed it in the answer, so it may only have been an example; "
    "if it is meant, call again, with nothing behind the call"
)
HAD_BEGUN: Final[dict[Effect, str]] = {
    "none": "",
    "idempotent": "; it had begun, and may be called again",
    "once": "; it had begun, and its outcome is unknown",
}
FIND_OUT: Final = "find out what came of it before you call it again"


class Call(msgspec.Struct, eq=False):
    """One call: it waits for its moment, is asked about, is ready, runs, is answered; it may skip all but the last.

    `attempt` is 0 until it has begun.  `occupies` is whether its function has not returned: it holds its locks and a
    place, answered or not.  `cancelled` is the code of why it is to be cancelled.
    """

    index: int
    id: str
    name: str
    place: Place = "field"
    tool: Tool | None = None
    arguments: dict[str, Any] | None = None
    changes: tuple[str, ...] = ()
    locks: frozenset[str] = frozenset()
    needs_approval: bool = False
    phase: Phase = "waiting"
    attempt: int = 0
    retries: int = 0
    occupies: bool = False
    cancelled: str = ""
    reason: str = ""
    started: float | None = None
    deadline: float | None = None
    not_before: float = 0.0
    stuck_since: float | None = None
    revoked: bool = False
    made: float = 0.0
    state_changes: tuple[StateChange, ...] = ()
    result: ToolResult | None = None

    @property
    def needs_silence(self) -> bool:
        """Whether the call stood in the text, and its tool has effects: visible text behind it speaks against it."""
        return self.place != "field" and self.tool is not None and self.tool.effect != "none"


class Turn:
    """The calls of one turn.

        turn = Turn(tools, limit=8)
        for command in turn.take(Received(event, at)): ...

    `tools` are those of the parser, or a `Gate` that calls must pass.  `limit` is how many functions run at one time.
    `timeout` is the seconds of each attempt, unless the tool says otherwise; `time_limit` those of the whole run, from
    its first fact.  `run_id` and `number` (the turn's in its run) make the idempotency keys.
    `epoch` is the time, in seconds since 1970, at which the clock of the facts showed 0: with it the results say when
    their calls were made.  The other options are
    those of `ToolRunner`.
    """

    def __init__(
        self,
        tools: Iterable[Any] | Gate | None,
        limit: int = 8,
        *,
        timeout: float | None = 60.0,
        time_limit: float | None = None,
        run_id: str = "run",
        number: int = 0,
        epoch: float | None = None,
        run_recovered: bool = False,
        run_quoted: bool = False,
        trailing: Trailing = "refuse",
    ) -> None:
        self._gate = tools if isinstance(tools, Gate) else Gate(tools)
        self._limit = limit
        self._timeout = timeout
        self._time_limit = time_limit
        self._run_id = run_id
        self._number = number
        self._epoch = epoch
        self._run_recovered = run_recovered
        self._run_quoted = run_quoted
        self._trailing = trailing
        self._now = float("-inf")
        self._over_at: float | None = None  # when the time of the whole run is over
        self._commands: list[Command] = []
        self._calls: dict[int, Call] = {}
        self._live: dict[int, Call] = {}  # not answered, or their function has not returned
        self._open: dict[int, ToolCallStart] = {}  # began to be written, and are neither complete nor broken
        self._early: list[Call] = []  # wait for the model to move on
        self._by_id: dict[str, set[tuple[str, bytes | None]]] = {}  # names and arguments of those that may run
        self._unanswered = 0
        self._trailed = False  # visible text stands behind the last call in the text
        self._done = False
        self._incomplete = False
        self._stopped = ""  # why nothing may run any more
        self._source_over = False
        self._changed = False  # something may begin, or another deadline is the next
        self._next_due: float | None = None
        self._wake_at: float | None = None

    def take(self, fact: Fact) -> list[Command]:
        """Hear what happened; return what is to be done, in this order."""
        commands: list[Command] = []
        self._commands = commands
        if self._over_at is None and self._time_limit is not None:
            self._over_at = fact.at + self._time_limit
            self._changed = True
        self._now = max(self._now, fact.at)
        if self._over_at is not None and self._now >= self._over_at:
            self._end_run("out_of_time", OUT_OF_TIME)
        FACTS[type(fact)](self, fact)
        if self._next_due is not None and self._now >= self._next_due:
            self._end_what_is_due()
        if self._changed:
            self._begin_what_may()
        return commands

    @property
    def results(self) -> list[ToolResult]:
        """The results there are, in call order."""
        return [call.result for _, call in sorted(self._calls.items()) if call.result is not None]

    @property
    def is_settled(self) -> bool:
        """Whether no event follows, and every call is answered."""
        return self._source_over and not self._unanswered

    @property
    def is_stopped(self) -> bool:
        """Whether the run was cancelled, or its time is over: what still is to be read is of no use."""
        return bool(self._stopped)

    # -- facts -----------------------------------------------------------------------------------------

    def _receive(self, fact: Received) -> None:
        handle = EVENTS.get(type(fact.event))
        if handle is not None:
            handle(self, fact.event)

    def _source_ended(self, _: SourceEnded) -> None:
        self._source_over = True
        if not self._done:
            self._fail_turn()
        self._answer_open("unfinished", "the stream ended inside the call; it was not run")

    def _returned(self, fact: Returned) -> None:
        call = self._calls.get(fact.index)
        if call is None or not call.occupies or fact.attempt != call.attempt:
            return
        self._release(call)
        call.state_changes += fact.state_changes
        if call.phase != "running":  # it was left behind, and is answered
            return
        if not fact.began:
            call.attempt -= 1
            call.started = call.started if call.attempt else None
        if fact.cancelled:
            self._end_cancelled(call, fact.partial, repeatable=fact.began)
        elif fact.failure is not None:
            self._end_failed(call, fact.failure)
        else:
            self._answer(call, fact.value, truncated=fact.truncated)

    def _abandoned(self, fact: Abandoned) -> None:
        call = self._calls.get(fact.index)
        if call is not None and call.phase == "running" and fact.attempt == call.attempt:
            call.state_changes += fact.state_changes
            self._end_cancelled(call, fact.partial, repeatable=False, goes_on="; its thread goes on")

    def _approval(self, fact: Approval) -> None:
        call = self._calls.get(fact.index)
        if call is None or call.phase != "asked":  # it was answered meanwhile
            return
        if fact.granted:
            self._make_ready(call)
        else:
            why = f": {fact.why[:300]}" if fact.why else ""
            self._refuse(call, "permission", "denied", f"the call was not run: it was denied{why}")

    def _cancel_run(self, _: Cancelled) -> None:
        self._source_over = True
        self._end_run("stopped", STOPPED)

    def _woke(self, _: Woke) -> None:
        self._wake_at = None
        self._changed = True

    def _restarted(self, _: Restarted) -> None:
        self._source_over = self._changed = True
        self._wake_at = None
        if not self._done:
            self._fail_turn()
        self._answer_open("unfinished", "the program ended inside the call; it was not run")
        for call in list(self._live.values()):
            if call.occupies:
                self._release(call)
            if call.phase == "running" and (call.cancelled or self._effect(call) == "once"):
                self._cancel_call(call, call.cancelled or "crashed", call.reason or CRASHED, tell_shell=False)
                self._end_cancelled(call, None, repeatable=False)
            elif call.phase == "running":
                self._make_ready(call)
            elif call.phase == "asked":
                self._request_approval(call)

    # -- events ----------------------------------------------------------------------------------------

    def _call_began(self, event: ToolCallStart) -> None:
        if event.index not in self._calls and event.index not in self._open:
            self._open[event.index] = event
            self._unanswered += 1
        self._move_on(by_call=True)

    def _call_completed(self, event: ToolCallComplete) -> None:
        if event.index in self._calls:
            return
        if event.index in self._open:
            self._close(event.index)
        self._move_on(by_call=True)
        if event.place == "quoted" and not self._run_quoted:
            self._trailed = True  # it is text
        elif event.place != "field":
            self._trailed = False
        tool = self._gate.tools.get(event.name)
        call = self._add(Call(event.index, event.id, event.name, event.place, tool, event.arguments))
        if self._repeats(event):
            told = describe_break(event.name, "duplicate_call", "", None)
            self._refuse(call, "validation", "duplicate_call", told)
        elif self._incomplete or self._done:
            self._refuse(call, "execution", *(("unfinished", UNFINISHED) if self._incomplete else ("late", LATE)))
        else:
            self._admit(call, event)

    def _failed(self, event: Error) -> None:
        if event.scope == "stream":
            self._fail_turn()
        elif event.scope == "call" and event.index is not None and event.index in self._open:
            call = self._add_open(self._close(event.index))
            told = describe_break(call.name, event.code, event.message, call.tool)
            self._refuse(call, "validation", event.code, told)

    def _text_followed(self, event: TextDelta) -> None:
        if not self._trailed and self._calls:
            self._trailed = not event.text.isspace() and event.text != ""
        self._move_on(by_call=False)

    def _went_on(self, _: ReasoningDelta | RefusalDelta) -> None:
        self._move_on(by_call=False)

    def _call_revoked(self, event: ToolCallRevoked) -> None:
        call = self._calls.get(event.index)
        if call is None:
            return
        call.revoked = True
        told = f"the call was revoked ({event.reason[:200]})"
        if call.phase == "running":
            self._cancel_call(call, "revoked", told)
        elif call.phase == "answered":
            self._mark(call)
        elif call.attempt:
            self._cancel_call(call, "revoked", told, tell_shell=False)
            self._end_cancelled(call, None, repeatable=False)
        else:
            self._refuse(call, "execution", "revoked", f"{told}; it was not run")

    def _turn_ended(self, event: Done) -> None:
        if not event.ok:
            self._fail_turn()
        self._done = True
        for call in sorted(self._live.values(), key=_by_index):
            if call.phase != "waiting":
                continue
            if self._trailed and call.needs_silence and self._trailing == "refuse":
                self._refuse(call, "validation", "trailed", TRAILED)
            else:
                self._reach_moment(call)

    # -- when a call may begin -------------------------------------------------------------------------

    def _repeats(self, event: ToolCallComplete) -> bool:
        """Whether this very call was complete before: a fallback may find again, elsewhere, what already ran."""
        before = self._by_id.get(event.id)
        return before is not None and (event.name, _encode(event.arguments)) in before

    def _admit(self, call: Call, event: ToolCallComplete) -> None:
        admitted = admit(event, self._gate, run_recovered=self._run_recovered, run_quoted=self._run_quoted)
        call.changes = admitted.changes
        if isinstance(admitted, Refused):
            self._refuse(call, admitted.kind, admitted.code, admitted.message)
            return
        if event.id:
            self._by_id.setdefault(event.id, set()).add((event.name, _encode(event.arguments)))
        call.arguments, call.locks = admitted.arguments, admitted.locks
        call.needs_approval = admitted.needs_approval
        effect = self._effect(call)
        if effect == "none" and event.place in ("field", "plain"):
            self._reach_moment(call)
        elif (
            effect == "idempotent"
            and event.source != "recovered"
            and (event.place == "field" or (event.place == "plain" and self._trailing == "run"))
        ):
            self._early.append(call)

    def _move_on(self, *, by_call: bool) -> None:
        """Start what waited for the model to go on; for a call in the text only another call is that."""
        if not self._early:
            return
        early, self._early = self._early, []
        for call in early:
            if call.phase != "waiting":
                continue
            if by_call or call.place == "field":
                self._reach_moment(call)
            else:
                self._early.append(call)

    def _reach_moment(self, call: Call) -> None:
        if call.needs_approval:
            self._request_approval(call)
        else:
            self._make_ready(call)

    def _request_approval(self, call: Call) -> None:
        call.phase = "asked"
        request = ApprovalRequest(call.index, call.id, call.name, call.arguments or {}, self._key(call))
        self._commands.append(RequestApproval(request))

    def _make_ready(self, call: Call, delay: float = 0.0) -> None:
        call.phase = "ready"
        call.not_before = self._now + delay
        self._changed = True

    def _begin_what_may(self) -> None:
        """Begin what is ready, in call order, as far as places and locks are free."""
        self._changed = False
        if any(call.phase == "ready" for call in self._live.values()):
            occupied = [call for call in self._live.values() if call.occupies]
            left = [call for call in occupied if call.phase == "answered"]
            held, never_freed = _hold(occupied), _hold(left)
            places = self._limit - len(occupied)
            for call in self._in_order():
                assert call.tool is not None
                if call.phase == "ready":
                    if places > 0 and call.not_before <= self._now and held.allow(call.tool, call.locks):
                        self._begin(call)
                        places -= 1
                    else:
                        is_stuck = len(left) >= self._limit or not never_freed.allow(call.tool, call.locks)
                        call.stuck_since = (call.stuck_since or self._now) if is_stuck else None
                held.hold(call.tool, call.locks)
        self._plan_next()

    def _in_order(self) -> list[Call]:
        """The calls that a later one may have to wait for: those that are to run, and those that are still written."""
        calls = [call for call in self._live.values() if call.tool is not None]
        for event in self._open.values():
            tool = self._gate.tools.get(event.name)
            if tool is not None and tool.function is not None:
                calls.append(Call(event.index, event.id, event.name, tool=tool, locks=find_open_locks(tool)))
        return sorted(calls, key=_by_index)

    def _begin(self, call: Call) -> None:
        assert call.tool is not None
        call.phase, call.occupies, call.stuck_since = "running", True, None
        call.attempt += 1
        call.started = self._now if call.started is None else call.started
        seconds = self._timeout if call.tool.timeout is None else call.tool.timeout
        call.deadline = None if seconds is None else self._now + seconds
        self._commands.append(
            Start(call.index, call.attempt, call.id, call.name, call.arguments or {}, self._key(call), call.deadline)
        )

    # -- time ------------------------------------------------------------------------------------------

    def _plan_next(self) -> None:
        """Find the next moment at which something is due, and ask to be woken then."""
        due = [] if self._over_at is None or self._stopped else [self._over_at]
        for call in self._live.values():
            moment = self._find_due(call)
            if moment is not None:
                due.append(moment)
        self._next_due = min(due, default=None)
        if self._next_due is not None and (self._wake_at is None or self._next_due < self._wake_at):
            self._wake_at = self._next_due
            self._commands.append(Wake(self._next_due))

    def _find_due(self, call: Call) -> float | None:
        if call.phase == "running":
            return None if call.cancelled else call.deadline
        if call.phase != "ready":
            return None
        if call.not_before > self._now:
            return call.not_before
        seconds = self._timeout if call.tool is None or call.tool.timeout is None else call.tool.timeout
        return None if call.stuck_since is None or seconds is None else call.stuck_since + seconds

    def _end_what_is_due(self) -> None:
        self._changed = True
        for call in sorted(self._live.values(), key=_by_index):
            if call.phase == "running" and not call.cancelled:
                if call.deadline is not None and call.deadline <= self._now:
                    self._cancel_call(call, "timed_out", f"the tool timed out after {self._seconds(call):g} s")
            elif call.phase == "ready" and call.stuck_since is not None:
                due = self._find_due(call)
                if due is not None and due <= self._now:
                    self._end_stuck(call)

    def _end_stuck(self, call: Call) -> None:
        held = [each.name for each in self._live.values() if each.occupies and each.phase == "answered"]
        told = (
            f"the tool was not run: no place became free in {self._seconds(call):g} s; "
            f"{len(held)} threads are held by tools that did not return ({', '.join(held)[:200]})"
        )
        self._refuse(call, "timeout", "no_place", told)

    def _seconds(self, call: Call) -> float:
        seconds = self._timeout if call.tool is None or call.tool.timeout is None else call.tool.timeout
        return float("inf") if seconds is None else seconds

    # -- bad ends --------------------------------------------------------------------------------------

    def _fail_turn(self) -> None:
        """Note that the turn has not ended well: nothing begins any more."""
        self._incomplete = True
        for call in self._calls.values():
            if call.phase == "answered":
                self._mark(call)
            elif not call.attempt:
                self._refuse(call, "execution", "unfinished", UNFINISHED)

    def _end_run(self, code: str, message: str) -> None:
        """End the whole run: nothing begins, and what runs is cancelled."""
        if self._stopped:
            return
        self._stopped = code
        if not self._done:
            self._incomplete = True
        for call in sorted(self._calls.values(), key=_by_index):
            if call.phase == "answered":
                self._mark(call)
            elif call.phase == "running":
                self._cancel_call(call, code, message)
            elif call.attempt:
                self._cancel_call(call, code, message, tell_shell=False)
                self._end_cancelled(call, None, repeatable=False)
            else:
                self._refuse(call, "execution", code, message)
        self._answer_open(code, message)

    def _answer_open(self, code: str, message: str) -> None:
        for index in sorted(self._open):
            self._refuse(self._add_open(self._close(index)), "execution", code, message)

    def _cancel_call(self, call: Call, code: str, message: str, *, tell_shell: bool = True) -> None:
        """Note why a call that has begun is to end, and have its function cancelled; the first reason stands."""
        if call.cancelled and call.cancelled != "timed_out":
            return
        if tell_shell and not call.cancelled:
            self._commands.append(Cancel(call.index, call.attempt))
        call.cancelled, call.reason = code, message
        self._changed = True

    # -- answers ---------------------------------------------------------------------------------------

    def _end_failed(self, call: Call, failure: ToolFailure) -> None:
        assert call.tool is not None
        if call.cancelled in ("", "timed_out"):  # neither revoked nor stopped
            delay = find_delay(call.tool, failure, call.retries, self._key(call))
            if delay is not None:
                call.retries += 1
                call.cancelled = call.reason = ""
                self._make_ready(call, delay)
                return
        self._answer(call, failure=failure, error=format_error_for_model(failure, call.name))

    def _end_cancelled(self, call: Call, partial: Any, *, repeatable: bool, goes_on: str = "") -> None:
        """End a call whose function was cancelled, or is left behind."""
        code, reason = call.cancelled or "stopped", call.reason or STOPPED
        begun = HAD_BEGUN[self._effect(call)] if call.attempt else "; it was not run"
        is_unknown = call.attempt > 0 and self._effect(call) == "once"
        if code != "timed_out":
            kind: ErrorKind = "timeout" if code == "out_of_time" else "execution"
            advice = f"; {FIND_OUT}" if is_unknown else ""
            self._refuse(call, kind, code, f"{reason}{goes_on}{begun}{advice}")
            return
        details: dict[str, Any] = {"limit_seconds": self._seconds(call)}
        if partial is not None:
            details["partial_output"] = partial
        advice = FIND_OUT if is_unknown else ""
        failure = ToolFailure("timeout", f"{reason}{goes_on}{begun}", code, details, suggestion=advice)
        if repeatable:
            self._end_failed(call, failure)
        else:
            self._answer(call, failure=failure, error=format_error_for_model(failure, call.name))

    def _refuse(self, call: Call, kind: ErrorKind, code: str, message: str) -> None:
        """Answer with a message that says all that the model must know."""
        self._answer(call, failure=ToolFailure(kind, message, code), error=message)

    def _answer(
        self,
        call: Call,
        value: Any = None,
        *,
        failure: ToolFailure | None = None,
        error: str | None = None,
        truncated: bool = False,
    ) -> None:
        call.phase = "answered"
        ended = None if call.started is None else self._now
        call.result = ToolResult(
            call.id, call.name, value, error, call.index,
            seconds=0.0 if ended is None or call.started is None else ended - call.started,
            revoked=call.revoked, incomplete=self._incomplete, started=call.started, ended=ended,
            changes=call.changes, arguments=call.arguments, failure=failure, attempts=call.attempt,
            truncated=truncated, turn=self._number, time=self._find_time(call.made), state_changes=call.state_changes,
        )  # fmt: skip
        self._unanswered -= 1
        if not call.occupies:
            del self._live[call.index]
        self._changed = True
        self._commands.append(Answer(call.result))

    def _mark(self, call: Call) -> None:
        """Put the marks of now on a result that was handed over before."""
        if call.result is not None:
            call.result = msgspec.structs.replace(call.result, revoked=call.revoked, incomplete=self._incomplete)

    # -- the calls -------------------------------------------------------------------------------------

    def _add(self, call: Call) -> Call:
        self._calls[call.index] = self._live[call.index] = call
        call.made = self._now
        self._unanswered += 1
        return call

    def _close(self, index: int) -> ToolCallStart:
        self._unanswered -= 1
        self._changed = True
        return self._open.pop(index)

    def _add_open(self, event: ToolCallStart) -> Call:
        """Add a call that never became whole."""
        return self._add(Call(event.index, event.id, event.name, tool=self._gate.tools.get(event.name)))

    def _release(self, call: Call) -> None:
        """Free the place and the locks of a call whose function has returned."""
        call.occupies = False
        if call.phase == "answered":
            del self._live[call.index]
        self._changed = True

    def _find_time(self, at: float) -> datetime | None:
        return None if self._epoch is None else datetime.fromtimestamp(self._epoch + at, UTC)

    def _key(self, call: Call) -> str:
        return f"{self._run_id}:{self._number}:{call.index}"

    def _effect(self, call: Call) -> Effect:
        return "once" if call.tool is None else call.tool.effect


def _by_index(call: Call) -> int:
    return call.index


def _encode(arguments: dict[str, Any]) -> bytes | None:
    """Write arguments so that equal ones, and no others, are equal: to Python `1`, `1.0` and `True` are.

    None for what cannot be written, which no gate lets pass.
    """
    try:
        return msgspec.json.encode(arguments, order="sorted")
    except (TypeError, ValueError, RecursionError):
        return None


def _hold(calls: Iterable[Call]) -> Locks:
    held = Locks()
    for call in calls:
        if call.tool is not None:
            held.hold(call.tool, call.locks)
    return held


FACTS: dict[type, Callable[[Turn, Any], None]] = {
    Received: Turn._receive,
    SourceEnded: Turn._source_ended,
    Returned: Turn._returned,
    Abandoned: Turn._abandoned,
    Approval: Turn._approval,
    Cancelled: Turn._cancel_run,
    Woke: Turn._woke,
    Restarted: Turn._restarted,
}
EVENTS: dict[type, Callable[[Turn, Any], None]] = {
    TextDelta: Turn._text_followed,
    ReasoningDelta: Turn._went_on,
    RefusalDelta: Turn._went_on,
    ToolCallStart: Turn._call_began,
    ToolCallComplete: Turn._call_completed,
    ToolCallRevoked: Turn._call_revoked,
    Error: Turn._failed,
    Done: Turn._turn_ended,
}
