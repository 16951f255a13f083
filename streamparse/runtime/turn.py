"""Decides what happens in one turn: when each call may run, and that each gets exactly one answer.

A pure machine: facts in, commands out (`streamparse.runtime.facts`).  It has no tasks, no clock and no I/O,
and knows only the facts so far.  The shell that obeys it on an event loop is `streamparse.runtime.run`; the life of one
call is in `call`, the model's view of it in `endings`, and which calls may run at one time, and when, in `schedule`.

What a tool does decides the life of its calls:

| effect | starts | revoked, cancelled or out of time | on a failure that may pass | after a crash |
|---|---|---|---|---|
| `"read"` | at its closing byte | cancelled | again | again |
| `"idempotent"` | once the model moved on | cancelled; the model reads that it had begun | again, same key | again, same key |
| `"write"` | after `Done(ok=True)` | cancelled; "outcome unknown" | never | begun: "outcome unknown" |

The place of the call comes first:

| place | may run |
|---|---|
| `field` | as its tool says |
| `plain` | without effects, at its closing byte; with effects once the turn ended well, and nothing stands between and behind such calls (`breaks`) |
| `bare`, `thought` | once the turn ended well, and as `plain` |
| `quoted` | not at all |

A call that was found only at the end (`recovered`), or had to be repaired to be read (`repaired`), does not run.  When
the turn does not end well, no call begins any more; one that has begun may go on, and may be repeated.

`allow` loosens that.  `"recovered"`, `"repaired"`: such a call waits for the end of the turn, unless its tool has no
effects.  `"quoted"`: as `bare`.  `"divided"`: whatever stands between and behind calls of the text, they run, and an
idempotent one that is `plain` begins at the next call already, but never because of text.

Calls that share a lock, or of which one has `"*"`, never overlap unless all have no effect, and begin in call order:
a read waits for an earlier write.  A lock, and a place under `limit`, is free once the function has really returned.
"""  # noqa: E501 - a row of a table is one line

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Never

import msgspec

from streamparse import events
from streamparse.repair import Gate
from streamparse.repair.answers import describe_break
from streamparse.response import ToolCall
from streamparse.runtime import endings, facts
from streamparse.runtime.admission import Admitted, Allowed, admit, admit_open, find_open_locks, read_allowed
from streamparse.runtime.breaks import Breaks, read_arguments
from streamparse.runtime.call import Call, Ending
from streamparse.runtime.endings import refuse
from streamparse.runtime.retries import find_delay
from streamparse.runtime.schedule import Alarm, choose_next, find_due
from streamparse.tools import Tool, ToolFailure, ToolResult


class Turn:
    """The calls of one turn.

        turn = Turn(tools, limit=8)
        for command in turn.take(Received(event, at)): ...

    `tools` are those of the parser, or a `Gate` that calls must pass.  `limit` is how many functions run at one time.
    `timeout` is the seconds of each attempt, unless the tool says otherwise; `time_limit` those of the whole run, from
    its first fact, without those in which all that was left waited for an approval (`waited`).  `run_id` and `number`
    (the turn's in its run) make the idempotency keys.  `epoch` is the time, in seconds since 1970, at which the clock
    of the facts showed 0: with it the results say when their calls were made.  `asks` are the indexes of calls that
    need approval whatever their tools say.
    The other options are those of `ToolRunner`.
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
        allow: Collection[Allowed] = (),
        asks: Collection[int] = (),
        **old: Never,
    ) -> None:
        self._gate = tools if isinstance(tools, Gate) else Gate(tools)
        self._limit = limit
        self._timeout = timeout
        self._time_limit = time_limit
        self._run_id = run_id
        self._number = number
        self._epoch = epoch
        self._allow = read_allowed(allow, old)
        self._asks = frozenset(asks)
        self._now = float("-inf")
        self._over_at: float | None = None  # when the time of the whole run is over
        self.waited: float = 0.0
        self._waits = False  # since the latest fact all that is left waits for an approval
        self._alarm = Alarm()
        self._commands: list[facts.Command] = []
        self._calls: dict[int, Call] = {}
        self._live: dict[int, Call] = {}  # not answered, or their function has not returned
        self._early: list[Call] = []  # wait for the model to move on
        self._by_id: dict[str, set[tuple[str, bytes | None]]] = {}  # names and arguments of those that may run
        self._unanswered = 0
        self._breaks = Breaks()
        self._done = False
        self._incomplete = False
        self._stopped = ""  # why nothing may run any more
        self._source_over = False
        self._changed = False  # something may begin, or another moment is the next

    def take(self, fact: facts.Fact) -> list[facts.Command]:
        """Take in a fact; return the commands that follow, in this order."""
        commands: list[facts.Command] = []
        self._commands = commands
        if self._over_at is None and self._time_limit is not None:
            self._over_at = fact.at + self._time_limit
            self._changed = True
        self._pass_time(fact.at)
        if not isinstance(fact, (facts.Returned, facts.Abandoned)):
            self._end_if_over()
        elif self._is_over() and not self._done:  # what has ended is not to be cancelled, but its result says this
            self._incomplete = True
        self._dispatch(fact)
        self._end_if_over()
        if self._alarm.is_due(self._now):
            self._end_due_calls()
        if self._changed:
            self._begin_ready_calls()
        self._waits = self.is_waiting
        return commands

    def _pass_time(self, at: float) -> None:
        if self._waits and at > self._now:
            self.waited += at - self._now
            if self._over_at is not None:
                self._over_at += at - self._now
                self._changed = True
        self._now = max(self._now, at)

    @property
    def results(self) -> list[ToolResult]:
        """The results there are, in call order, with the marks of now: a call may be revoked once it is answered."""
        return [
            msgspec.structs.replace(call.result, revoked=call.revoked, incomplete=self._incomplete)
            for _, call in sorted(self._calls.items())
            if call.result is not None
        ]

    @property
    def is_settled(self) -> bool:
        """Whether no event follows, and every call is answered."""
        return self._source_over and not self._unanswered

    @property
    def is_limited(self) -> bool:
        """Whether the whole run has a time limit, which begins with the first fact."""
        return self._time_limit is not None

    @property
    def is_stopped(self) -> bool:
        """Whether the run was cancelled, or its time is over: what still is to be read is of no use."""
        return bool(self._stopped)

    @property
    def is_waiting(self) -> bool:
        """Whether an answer that ended well has calls left that all wait for an approval, or behind one that does.

        A call whose function waits for one counts as waiting, too.
        """
        if not (self._done and self._source_over) or self._incomplete or self._stopped or not self._unanswered:
            return False
        return all(call.phase == "asked" or call.awaits or call.can_begin(self._now) for call in self._live.values())

    @property
    def waiting(self) -> list[Call]:
        """The calls that were put off, in call order."""
        return [call for _, call in sorted(self._calls.items()) if call.is_put_off]

    @property
    def unreturned(self) -> list[Call]:
        """The calls whose functions have not returned, answered or not."""
        return [call for call in self._live.values() if call.occupies]

    def hold(self, call: Call) -> int:
        """Count a call of an earlier turn whose function has not returned: it keeps its locks and its place.

        Return its index in this turn: `Returned`, of the attempt 1, frees them.
        """
        index = min((0, *self._calls)) - 1
        held = msgspec.structs.replace(
            call, index=index, phase="answered", attempt=1, opening="none", result=None, place="field"
        )
        self._calls[index] = self._live[index] = held
        return index

    # -- facts -----------------------------------------------------------------------------------------

    def _dispatch(self, fact: facts.Fact) -> None:
        match fact:
            case facts.Received():
                self._receive(fact.event)
            case facts.Opened():
                self._offer(fact)
            case facts.Misread():
                self._break_misread(fact)
            case facts.Returned():
                self._end_attempt(fact)
            case facts.Abandoned():
                self._abandon_call(fact)
            case facts.Asked():
                self._begin_wait(fact)
            case facts.Approval() | facts.Withdrawn():
                self._take_decision(fact)
            case facts.Woke():
                self._alarm.forget()
                self._changed = True
            case facts.SourceEnded():
                self._end_source(endings.CUT_INSIDE)
            case facts.Cancelled():
                self._source_over = True
                self._end_run("stopped", endings.STOPPED)
            case facts.Suspended():
                self._suspend()
            case facts.Restarted():
                self._restart()

    def _receive(self, event: events.Event) -> None:
        match event:
            case events.TextDelta() | events.RefusalDelta():
                self._breaks.note_text(event.text)
                self._move_on(by_call=False)
            case events.ReasoningDelta():
                self._breaks.note_thought(event.text)
                self._move_on(by_call=False)
            case events.ToolCallStart():
                if event.index not in self._calls:
                    self._add(event)
                self._move_on(by_call=True)
            case events.ToolCallDelta():
                call = self._calls.get(event.index)
                if call is not None and call.phase == "incomplete":
                    self._breaks.note_arguments(call, event.arguments)
            case events.ToolCallComplete():
                self._complete_call(event)
            case events.ToolCallRevoked():
                self._revoke_call(event)
            case events.Error():
                self._take_error(event)
            case events.Done():
                self._end_answer(event)

    def _end_source(self, message: str) -> None:
        """No event follows; without a `Done` the turn has not ended well."""
        self._source_over = True
        if not self._done:
            self._fail_turn()
        for call in self._find_live():
            if call.phase == "incomplete":
                self._answer(call, refuse("execution", "unfinished", message))

    def _end_attempt(self, fact: facts.Returned) -> None:
        call = self._calls.get(fact.index)
        if call is None or not call.occupies or fact.attempt != call.last_attempt:
            return
        self._release(call)
        call.state_changes += fact.state_changes
        if call.is_open:
            self._close(call)
            return
        if call.phase != "running":  # it was abandoned, and is answered
            return
        if not fact.began:
            call.take_back_begin()
        if fact.cancelled:
            self._end_cancelled(call, fact.partial, repeatable=fact.began)
        elif fact.failure is not None:
            self._end_failed(call, fact.failure)
        else:
            self._answer(call, Ending(fact.value, truncated=fact.truncated))

    def _abandon_call(self, fact: facts.Abandoned) -> None:
        call = self._calls.get(fact.index)
        if call is not None and call.phase == "running" and fact.attempt == call.attempt:
            call.state_changes += fact.state_changes
            self._end_cancelled(call, fact.partial, repeatable=False, goes_on="; its thread goes on")

    def _begin_wait(self, fact: facts.Asked) -> None:
        call = self._calls.get(fact.index)
        if call is not None and call.phase == "running":
            call.begin_wait(self._now)
            self._changed = True

    def _take_decision(self, fact: facts.Approval | facts.Withdrawn) -> None:
        call = self._calls.get(fact.index)
        if call is not None and call.phase == "running" and call.awaits:
            call.end_wait(self._now)
            self._changed = True
        elif call is not None and call.phase == "asked" and isinstance(fact, facts.Approval):  # not answered meanwhile
            self._decide(call, fact)

    def _decide(self, call: Call, fact: facts.Approval) -> None:
        if fact.granted:
            self._make_ready(call)
        else:
            why = f": {fact.why[:300]}" if fact.why else ""
            self._answer(call, refuse("permission", "denied", f"the call was not run: it was denied{why}"))

    def _suspend(self) -> None:
        """Put off what waits for an approval, if all that is left does; it is not answered, and may be taken up."""
        if not self.is_waiting or self.unreturned:
            return
        ending = refuse("permission", "waiting", endings.WAITING)
        for call in self._find_live():
            call.is_put_off = True
            call.answer(ending, self._now, turn=self._number, incomplete=False, epoch=self._epoch)
            self._unanswered -= 1
            del self._live[call.index]

    def _restart(self) -> None:
        """Take up what a program that ended has left: what may be repeated begins again."""
        self._changed = True
        self._alarm.forget()
        for call in self._find_live():
            if call.is_open:
                self._release(call)
                self._close(call)
        self._end_source(endings.CRASHED_INSIDE)
        for call in list(self._live.values()):
            if call.occupies:
                self._release(call)
            if call.phase == "running" and (call.cancelled or call.effect == "write"):
                if not call.cancelled:
                    call.end_early("crashed", endings.CRASHED)
                self._end_cancelled(call, None, repeatable=True)  # its time was over: as if it had been cancelled
            elif call.phase == "running":
                self._make_ready(call)
            elif call.phase == "asked":
                self._request_approval(call)

    # -- the answer ------------------------------------------------------------------------------------

    def _complete_call(self, event: events.ToolCallComplete) -> None:
        call = self._calls.get(event.index)
        if call is not None and call.phase != "incomplete":
            return
        self._move_on(by_call=True)
        call = call or self._add(event)
        self._breaks.forget_arguments(call)
        tool = self._gate.tools.get(event.name)
        if (call.id, call.name) != (event.id, event.name):
            self._break(call, endings.DIFFERS)
        call.complete(event, tool, self._find_timeout(tool))
        if event.place != "field":
            self._breaks.note_call_in_text(call, event.arguments)
        self._changed = True
        if self._is_repeated(event):
            message = describe_break(event.name, "duplicate_call", "", None)
            self._answer(call, refuse("validation", "duplicate_call", message))
        elif self._incomplete:
            self._answer(call, refuse("execution", "unfinished", endings.UNFINISHED))
        elif self._done:
            self._answer(call, refuse("execution", "late", endings.LATE))
        else:
            self._admit(call, event)

    def _is_repeated(self, event: events.ToolCallComplete) -> bool:
        """Whether this very call was complete before: a fallback may find again, elsewhere, what already ran."""
        before = self._by_id.get(event.id)
        return before is not None and (event.name, _encode(event.arguments)) in before

    def _take_error(self, event: events.Error) -> None:
        if event.scope == "stream":
            self._fail_turn()
        elif event.scope == "call" and event.index is not None:
            call = self._calls.get(event.index)
            if call is not None and call.phase == "incomplete":
                self._note_broken(call, event.code)
                message = describe_break(call.name, event.code, event.message, call.tool)
                self._answer(call, refuse("validation", event.code, message))

    def _note_broken(self, call: Call, code: str) -> None:
        """Note where a call that broke stood; one that came twice confirms the one in the text."""
        written = self._breaks.forget_arguments(call)
        if code != "duplicate_call":
            call.place = "plain"  # at worst: only a whole call says its place
            return
        confirmed = self._breaks.find_confirmed(call.name, read_arguments(written), revoked=False)
        if confirmed is not None and confirmed.phase == "waiting" and confirmed.effect != "write":
            self._reach_moment(confirmed)

    def _revoke_call(self, event: events.ToolCallRevoked) -> None:
        call = self._calls.get(event.index)
        if call is None or call.phase == "incomplete":
            return
        call.revoked = True
        if event.reason in ("thought_goes_on", "thought_closed"):
            call.place = "thought"
        if call.phase != "answered":
            reason = f"the call was revoked ({event.reason[:200]})"
            self._end_call(call, "revoked", reason, f"{reason}; it was not run")

    def _end_answer(self, event: events.Done) -> None:
        if not event.ok:
            self._fail_turn()
        self._done = True
        is_divided = "divided" not in self._allow and self._breaks.is_divided(
            self._calls.values(), with_quoted="quoted" in self._allow
        )
        for call in self._find_live():
            if call.phase == "incomplete":  # and will stay so
                self._break(call, endings.CUT_INSIDE)
            elif call.phase != "waiting":
                continue
            elif is_divided and call.has_effect_in_text:
                self._answer(call, refuse("validation", "divided", endings.DIVIDED))
            else:
                self._reach_moment(call)

    # -- arguments that are streamed -------------------------------------------------------------------

    def _offer(self, fact: facts.Opened) -> None:
        """Let the function of a call that is still being written be called, if it may be."""
        call = self._calls.get(fact.index)
        if call is None or call.phase != "incomplete" or call.opening != "none" or self._incomplete or self._done:
            return
        written = ToolCall(call.name, fact.arguments, call.id, index=call.index)
        admitted = admit_open(written, frozenset(fact.streamed), self._gate)
        if admitted is not None:
            call.offer(admitted.arguments, fact.streamed, admitted.locks)
            self._changed = True

    def _break_misread(self, fact: facts.Misread) -> None:
        call = self._calls.get(fact.index)
        if call is not None and call.phase == "incomplete":
            self._break(call, endings.DIFFERS)

    def _break(self, call: Call, reason: str) -> None:
        """Break off the function of a call that was opened; unless the call is answered, it goes on as any other."""
        if call.opening == "open":
            self._commands.append(call.break_off(self._now, reason))
        elif call.opening == "offered":
            call.close()
        self._changed = True

    def _close(self, call: Call) -> None:
        """Note that the function that was opened has returned, before the call has begun."""
        call.close()
        if call.ending is not None:
            self._give_answer(call, call.ending)

    # -- when a call may begin -------------------------------------------------------------------------

    def _admit(self, call: Call, event: events.ToolCallComplete) -> None:
        """Take a whole call through the gate, and find the moment from which on it may begin."""
        admitted = admit(event, self._gate, self._allow)
        is_native = event.place == "field"
        is_double = is_native and self._breaks.find_confirmed(event.name, event.arguments, revoked=True) is not None
        call.changes = admitted.changes
        if isinstance(admitted, Ending):
            self._answer(call, admitted)
            return
        if is_native and not is_double:
            self._breaks.note_native_call(event.index)
        if event.id:
            self._by_id.setdefault(event.id, set()).add((event.name, _encode(event.arguments)))
        if call.opening == "open" and not _is_continued(call, event, admitted):
            self._break(call, endings.DIFFERS)
        call.arguments, call.locks = admitted.arguments, admitted.locks
        call.needs_approval = admitted.needs_approval or event.index in self._asks
        if call.effect == "read" and event.place in ("field", "plain"):
            self._reach_moment(call)
        elif (
            call.effect == "idempotent"
            and event.source in ("native", "inband")
            and (is_native or (event.place == "plain" and "divided" in self._allow))
        ):
            self._early.append(call)

    def _move_on(self, *, by_call: bool) -> None:
        """Let the calls begin that waited for the model to go on; one in the text waits for another call."""
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
        """Let a call begin as soon as it is approved and its locks are free."""
        if call.needs_approval:
            self._request_approval(call)
        else:
            self._make_ready(call)

    def _request_approval(self, call: Call) -> None:
        self._commands.append(facts.RequestApproval(call.ask()))

    def _make_ready(self, call: Call, delay: float = 0.0) -> None:
        call.make_ready(self._now + delay)
        self._changed = True

    def _begin_ready_calls(self) -> None:
        self._changed = False
        if any(call.phase == "ready" or call.opening == "offered" for call in self._live.values()):
            for call in choose_next(self._live.values(), self._limit, self._now):
                self._commands.append(call.open() if call.opening == "offered" else call.begin(self._now))
        moments = [] if self._over_at is None or self._stopped or self.is_waiting else [self._over_at]
        due = (find_due(call, self._now) for call in self._live.values())
        wake = self._alarm.set([*moments, *(moment for moment in due if moment is not None)])
        if wake is not None:
            self._commands.append(wake)

    # -- when a call must end --------------------------------------------------------------------------

    def _end_due_calls(self) -> None:
        self._changed = True
        for call in self._find_live():
            due = find_due(call, self._now)
            if due is None or due > self._now:
                continue
            if call.opening == "broken":
                self._cancel(call, "timed_out", call.reason)
                call.deadline = None
            elif call.phase == "running":
                self._cancel(call, "timed_out", f"the tool timed out after {call.timeout:g} s")
            else:  # it has found no place for too long
                held = (each for each in self._live.values() if each.occupies and each.phase == "answered")
                self._answer(call, endings.describe_no_place(call, held))

    def _fail_turn(self) -> None:
        """Note that the turn has not ended well: nothing begins any more."""
        self._incomplete = True
        for call in list(self._live.values()):
            if call.phase == "incomplete":
                self._break(call, endings.UNFINISHED)
            elif not call.attempt:
                self._answer(call, refuse("execution", "unfinished", endings.UNFINISHED))

    def _is_over(self) -> bool:
        return self._over_at is not None and self._now >= self._over_at

    def _end_if_over(self) -> None:
        if self._is_over():
            self._end_run("out_of_time", endings.OUT_OF_TIME)

    def _end_run(self, code: str, reason: str) -> None:
        """End the whole run: nothing begins, and what runs is cancelled; also what an event has added since."""
        self._stopped = self._stopped or code
        if not self._done:
            self._incomplete = True
        for call in self._find_live():
            if call.phase != "answered":
                self._end_call(call, code, reason, f"{reason}{endings.NOT_RUN}")
            if call.is_open:
                self._cancel(call, code, reason)

    def _end_call(self, call: Call, code: str, reason: str, never_begun: str) -> None:
        """End a call for good, whatever it does; `never_begun` is the message if it never began."""
        if call.phase == "running":
            self._cancel(call, code, reason)
        elif call.attempt:  # it waits for its next attempt
            call.end_early(code, reason)
            self._end_cancelled(call, None, repeatable=False)
        else:
            self._answer(call, refuse("execution", code, never_begun))

    def _cancel(self, call: Call, code: str, reason: str) -> None:
        """Have the function of a call cancelled, once."""
        if not call.cancelled:
            self._commands.append(facts.Cancel(call.index, call.last_attempt))
        call.end_early(code, reason)
        self._changed = True

    # -- answers ---------------------------------------------------------------------------------------

    def _end_failed(self, call: Call, failure: ToolFailure) -> None:
        """Try a failed call again, or answer it."""
        # Neither revoked nor stopped, and there is time for another attempt.
        if call.tool is not None and call.cancelled in ("", "timed_out") and not self._is_over():
            delay = find_delay(call.tool, failure, call.retries, call.key)
            if delay is not None:
                call.retries += 1
                self._make_ready(call, delay)
                return
        self._answer(call, endings.describe_failed(call, failure))

    def _end_cancelled(self, call: Call, partial: Any, *, repeatable: bool, goes_on: str = "") -> None:
        """End a call whose function was cancelled or abandoned."""
        if self._is_over():  # which counts for more than the call's own time limit
            call.end_early("out_of_time", endings.OUT_OF_TIME)
        if call.cancelled != "timed_out":
            self._answer(call, endings.describe_cancelled(call, goes_on))
            return
        failure = endings.describe_timeout(call, partial, goes_on)
        if repeatable:
            self._end_failed(call, failure)
        else:
            self._answer(call, endings.describe_failed(call, failure))

    def _answer(self, call: Call, ending: Ending) -> None:
        """Answer a call; one that was opened is broken off first, and answered once its function has returned."""
        if call.phase == "ending":
            return
        if call.is_open:
            self._break(call, ending.error or "")
            call.phase, call.ending = "ending", ending
        else:
            self._give_answer(call, ending)

    def _give_answer(self, call: Call, ending: Ending) -> None:
        result = call.answer(ending, self._now, turn=self._number, incomplete=self._incomplete, epoch=self._epoch)
        self._unanswered -= 1
        if not call.occupies:
            del self._live[call.index]
        self._changed = True
        self._commands.append(facts.Answer(result))

    # -- the calls -------------------------------------------------------------------------------------

    def _add(self, event: events.ToolCallStart | events.ToolCallComplete) -> Call:
        """Add a call that the model writes."""
        tool = self._gate.tools.get(event.name)
        key = f"{self._run_id}:{self._number}:{event.index}"
        locks = frozenset() if tool is None else find_open_locks(tool)
        call = Call(event.index, event.id, event.name, tool, key, self._find_timeout(tool), locks, made=self._now)
        self._calls[event.index] = self._live[event.index] = call
        self._unanswered += 1
        self._breaks.note_start(event.index)
        return call

    def _find_live(self) -> list[Call]:
        """Return in call order the calls that are not answered, or whose function has not returned."""
        return [call for _, call in sorted(self._live.items())]

    def _find_timeout(self, tool: Tool | None) -> float | None:
        return self._timeout if tool is None or tool.timeout is None else tool.timeout

    def _release(self, call: Call) -> None:
        """Free the place and the locks of a call whose function has returned."""
        call.occupies = False
        if call.phase == "answered":
            del self._live[call.index]
        self._changed = True


def _is_continued(call: Call, event: events.ToolCallComplete, admitted: Admitted) -> bool:
    """Whether a call that has passed the gate is the one that was opened, with the rest of its arguments."""
    written = {name: event.arguments.get(name) for name in call.streamed}
    is_same = _encode({**call.opened, **written}) == _encode(admitted.arguments)
    return is_same and call.open_locks == admitted.locks and not admitted.needs_approval


def _encode(arguments: dict[str, Any]) -> bytes | None:
    """Write arguments so that equal ones, and no others, are equal: to Python `1`, `1.0` and `True` are.

    None for what cannot be written, which no gate lets pass.
    """
    try:
        return msgspec.json.encode(arguments, order="sorted")
    except (TypeError, ValueError, RecursionError):
        return None
