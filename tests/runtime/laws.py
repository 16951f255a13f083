"""The laws of a turn, told from its facts and commands alone.

`Laws` hears each fact together with the commands that were given for it, and keeps its own account of what is known:
which calls are whole, what is to be thought of them, what runs, what is due.  It knows the declarations of the tools,
and nothing of how a turn works.  It asserts

* what must not happen: a start without evidence, approval, place or lock, a second answer, a cancellation for nothing;
* what must not be missing: once a call may begin, be asked about, be cancelled or be answered, this is so at once, and
  a turn that waits for a time has asked to be woken by then.
"""

from __future__ import annotations

import json
from typing import Any

from streamparse.events import (
    Done,
    Error,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallRevoked,
    ToolCallStart,
)
from streamparse.runtime.facts import (
    Abandoned,
    Answer,
    Approval,
    Cancel,
    Cancelled,
    Received,
    RequestApproval,
    Restarted,
    Returned,
    SourceEnded,
    Start,
    Wake,
    Woke,
)

RETRIED = ("timeout", "network", "quota")
GOES_ON = (TextDelta, ReasoningDelta, RefusalDelta, ToolCallStart, ToolCallComplete, Done)
EVERYTHING = "*"


class Known:
    """What is known of one call."""

    def __init__(self, event, tool):
        self.index, self.id, self.name, self.tool = event.index, event.id, event.name, tool
        self.event = None
        self.place = "field"
        self.verdict = ""  # the code that it must be answered with at once, if any
        self.arguments = None
        self.locks = frozenset()
        self.asks = self.asked = self.granted = False
        self.attempts = 0  # that began
        self.starts = []  # their times
        self.running = self.left = self.cancelled = False
        self.timed_out = False  # its latest attempt was cancelled for its time
        self.deadline = None
        self.retries = 0
        self.window = None  # between which times the next attempt is to begin
        self.stuck_since = None
        self.maybe_stuck_since = None  # if what may be read either way is read as the model moving on
        self.key = None
        self.revoked = False
        self.was_draft = self.was_broken = False
        self.confirmed = False  # it is in the text, and came natively, too
        self.answer = None

    @property
    def effect(self):
        return "write" if self.tool is None else self.tool.effect

    @property
    def occupies(self):
        return self.running or self.left


class Laws:
    """An account of a turn; `judge` says of a whole call `(code of the refusal, arguments, locks, asks)`."""

    def __init__(self, tools, judge, *, limit, timeout, time_limit, allow, number):
        self.tools, self.judge, self.limit, self.number = tools, judge, limit, number
        self.timeout, self.time_limit, self.allow = timeout, time_limit, allow
        self.now, self.first = float("-inf"), None
        self.calls, self.events, self.wakes = {}, [], []
        self.breaks = []  # the first index behind each, and whether it is a thought
        self.done = self.done_well = self.bad = self.source_over = self.divided_at_end = False
        self.stopped = ""
        self.waits = (False, False)  # whether all that is left waits for an approval: surely, perhaps
        self.least_waited = self.most_waited = self.waited = 0.0

    # -- what is known ----------------------------------------------------------------------------------

    def hear(self, fact, commands, waited):
        self.first = fact.at if self.first is None else self.first
        self._pass_time(fact.at, waited)
        is_running = not self.stopped
        if isinstance(fact, (Returned, Abandoned)):  # what has ended is not to be stopped
            self._note(fact)
            self._stop_if_time_is_over()
        else:  # what comes later finds the run stopped
            self._stop_if_time_is_over()
            commands = self._check_end_of_time(commands, fact) if is_running and self.stopped else commands
            self._note(fact)
        for command in commands:
            self._check(command, fact)
        started = [command.index for command in commands if isinstance(command, Start)]
        assert started == sorted(started)
        for call in list(self.calls.values()):
            self._check_nothing_is_missing(call, fact, started, is_running and bool(self.stopped))
        assert sum(call.occupies for call in self.calls.values()) <= self.limit, "R7: a place is held"
        self._check_wakes()
        self.waits = (self._all_wait(surely=True), self._all_wait(surely=False))

    def _pass_time(self, at, waited):
        """Check the time that is said to count for no limit."""
        passed = max(at - self.now, 0.0) if any(self.waits) else 0.0
        surely, perhaps = self.waits
        self.least_waited += passed * surely
        self.most_waited += passed * perhaps
        self.waited = waited
        assert self.least_waited - 1e-6 <= waited <= self.most_waited + 1e-6, "waiting for an approval counts"
        self.now = max(self.now, at)

    def _all_wait(self, *, surely):
        """Whether an answer has ended well, nothing runs, and an approval must come before anything else can happen."""
        if not (self.done_well and self.source_over) or self.bad or self.stopped:
            return False
        open_calls = [call for call in self.calls.values() if call.answer is None]
        if not open_calls or any(call.occupies for call in self.calls.values()):
            return False
        return all(
            call.window is None or self.now >= call.window[surely]
            for call in open_calls
            if not call.asked or call.granted
        )

    def _stop_if_time_is_over(self):
        if self.time_limit is not None and self.now >= self.first + self.time_limit + self.waited:
            self._stop("out_of_time")

    def _check_end_of_time(self, commands, fact):
        """Check what was commanded because the time of the run is over; return the rest."""
        rest = list(commands)
        while rest and (isinstance(rest[0], Cancel) or _has_code(rest[0], "out_of_time")):
            if isinstance(rest[0], Answer) and rest[0].result.index not in self.calls:
                break  # of a call that this very fact begins
            self._check(rest.pop(0), Woke(fact.at))
        return rest

    def check_results(self, results, *, is_settled, is_stopped):
        """R5, and that each result has the marks of now."""
        answered = sorted(index for index, call in self.calls.items() if call.answer is not None)
        assert [result.index for result in results] == answered, "R5: in call order"
        for result in results:
            call = self.calls[result.index]
            assert (result.revoked, result.incomplete) == (call.revoked, self.bad), "R1: its marks"
            assert (result.result, result.error, result.attempts) == (
                call.answer.result, call.answer.error, call.answer.attempts,
            )  # fmt: skip
        assert is_settled == (self.source_over and len(answered) == len(self.calls))
        assert is_stopped == bool(self.stopped)

    def _note(self, fact):
        match fact:
            case Received(event=event):
                self._note_event(event)
            case Woke() if self.wakes and min(self.wakes) <= self.now:
                self.wakes.remove(min(self.wakes))
            case SourceEnded():
                self.source_over = True
                self.bad = self.bad or not self.done
            case Cancelled():
                self.source_over = True
                self._stop("stopped")
            case Restarted():
                self.source_over = True
                self.bad = self.bad or not self.done
                self.wakes = []
                for call in self.calls.values():
                    call.left = False
                    if call.running:
                        self._note_crash_of(call)
                    call.asked = False  # nobody who was asked is left
            case Returned(index=index, attempt=attempt) if index in self.calls:
                self._note_return(self.calls[index], fact, attempt)
            case Abandoned(index=index, attempt=attempt) if self._has_attempt(index, attempt):
                self.calls[index].running, self.calls[index].left = False, True
            case Approval(index=index, granted=granted) if index in self.calls and self.calls[index].asked:
                call = self.calls[index]
                call.granted = call.granted or (granted and call.answer is None)
                if not granted and call.answer is None and not call.verdict and not call.starts and not call.granted:
                    call.verdict = "denied"

    def _has_attempt(self, index, attempt):
        return index in self.calls and self.calls[index].running and self.calls[index].attempts == attempt

    def _note_crash_of(self, call):
        call.running = False
        if call.cancelled:
            self._note_failure(call, "timeout", None)
        elif call.effect != "write":
            call.window = (self.now, self.now)

    def _stop(self, code):
        self.stopped = self.stopped or code
        self.bad = self.bad or not self.done

    def _note_return(self, call, fact, attempt):
        if not call.occupies or attempt != call.attempts:
            return
        was_left, call.running, call.left = call.left, False, False
        if not was_left and not fact.began:
            call.attempts -= 1
            call.starts.pop()
        if was_left or call.answer is not None:
            return
        if fact.began and (fact.failure is not None or fact.cancelled):
            self._note_failure(call, "timeout" if fact.failure is None else fact.failure.kind, fact.failure)

    def _note_failure(self, call, kind, failure):
        """Find when a call is to be tried again, if it is."""
        wanted = 0.0 if failure is None else failure.retry_after or 0.0
        may_pass = kind in RETRIED and (failure is None or failure.recoverable) and wanted <= 60
        is_over = call.revoked or self.stopped or (call.cancelled and not call.timed_out)
        if may_pass and not is_over and call.effect != "write" and call.retries < call.tool.retries:
            low, high = (max(wanted, min(10.0, first * 2**call.retries)) for first in (0.1, 0.2))
            call.window = (self.now + low, self.now + high)
            call.retries += 1

    def _note_event(self, event):
        self.events.append(event)
        match event:
            case ToolCallStart(index=index) if index not in self.calls:
                self.calls[index] = Known(event, self.tools.get(event.name))
            case ToolCallComplete(index=index) if index not in self.calls or (
                self.calls[index].event is None and self.calls[index].answer is None
            ):
                self._note_whole_call(event)
            case ToolCallRevoked(index=index, reason=reason) if index in self.calls and self._is_known(index):
                self.calls[index].revoked = True
                self.calls[index].was_draft = self.calls[index].was_draft or reason.startswith("thought_")
            case Error(scope="call", code=code, index=index) if index in self.calls and not self._is_known(index):
                self._note_broken_call(self.calls[index], code)
            case Error(scope="stream"):
                self.bad = True
            case TextDelta(text=text) | RefusalDelta(text=text) | ReasoningDelta(text=text) if text.strip():
                self.breaks.append((max(self.calls, default=-1) + 1, isinstance(event, ReasoningDelta)))
            case Done(ok=ok):
                self.bad = self.bad or not ok
                if ok and not self.bad and not self.done:
                    self.done_well, self.divided_at_end = True, self._is_divided()
                self.done = True

    def _is_known(self, index):
        return self.calls[index].event is not None or self.calls[index].answer is not None

    def _is_divided(self):
        """Whether a break follows a call in the text of a tool with effects."""
        return any(
            call.index < behind and not (is_thought and call.place == "thought")
            for behind, is_thought in self.breaks for call in self.calls.values() if self._counts_in_text(call)
        )  # fmt: skip

    def _counts_in_text(self, call):
        if call.tool is None or call.effect == "read" or call.confirmed or call.was_draft:
            return False
        if call.event is None:
            return call.was_broken
        if call.place == "quoted":
            return "quoted" in self.allow
        return call.place != "field" and not (call.place == "thought" and call.revoked)

    def _note_broken_call(self, call, code):
        """One that came twice confirms the same one in the text; of any other nobody knows where it stood."""
        call.was_broken = code != "duplicate_call"
        if call.was_broken:
            return
        written = "".join(
            each.arguments for each in self.events if isinstance(each, ToolCallDelta) and each.index == call.index
        )
        self._confirm(call.name, json.loads(written or "{}"), revoked=False)

    def _confirm(self, name, arguments, *, revoked):
        """Find the first call of the text that is the same as a native one; return whether there is one."""
        for event in self.events:
            other = self.calls.get(getattr(event, "index", None))
            if (
                other is None
                or other.event is not event
                or _write([name, arguments]) != _write([other.name, event.arguments])
            ):
                continue
            if other.place != "field" and not other.confirmed and other.revoked == revoked:
                other.confirmed, other.place = True, "field"
                return True
        return False

    def _note_whole_call(self, event):
        call = self.calls[event.index] = Known(event, self.tools.get(event.name))
        call.event, call.place, call.arguments = event, event.place, event.arguments
        code, arguments, locks, asks = self.judge(event)
        twins = [other for other in self.calls.values() if other.index != event.index and _are_one(other, call)]
        if any(twin.verdict in ("", "denied") for twin in twins):  # what was denied once is not asked again
            call.verdict = "duplicate_call"
        elif self.bad:
            call.verdict = "unfinished"
        elif self.done or self.stopped:
            call.verdict = "late"
        else:
            is_double = event.place == "field" and self._confirm(event.name, event.arguments, revoked=True)
            self._admit(call, code, arguments, locks, asks)
            if event.place == "field" and not is_double and not call.verdict:
                self.breaks.append((event.index, False))

    def _admit(self, call, code, arguments, locks, asks):
        source, place = call.event.source, call.event.place
        if source in ("recovered", "repaired") and source not in self.allow and call.tool is not None:
            call.verdict = source
        elif place == "quoted" and "quoted" not in self.allow and call.tool is not None:
            call.verdict = "quoted"
        elif code:
            call.verdict = code
        else:
            call.arguments, call.locks, call.asks = arguments, locks, asks

    # -- what may be ------------------------------------------------------------------------------------

    def _has_evidence(self, call, *, surely=False):
        """R2: whether the moment of a call's effect has come; `surely` leaves out what may be read either way."""
        waits_for_the_end = call.place in ("bare", "thought", "quoted") or (
            call.event.source in ("recovered", "repaired") and call.effect != "read"
        )
        if call.confirmed and call.effect != "write":
            return True
        in_text = call.place != "field" and call.effect != "read"
        if call.effect == "read" and not waits_for_the_end:
            return True
        if self.done_well:
            return not (in_text and self.divided_at_end and "divided" not in self.allow)
        if waits_for_the_end or call.effect == "write" or (in_text and "divided" not in self.allow):
            return False
        behind = self.events[[each is call.event for each in self.events].index(True) + 1 :]
        behind = [each for each in behind if not isinstance(each, ToolCallComplete) or each.index != call.index]
        if in_text:
            behind = [each for each in behind if isinstance(each, (ToolCallStart, ToolCallComplete))]
        return any(isinstance(each, GOES_ON) and (not surely or self._is_news(each)) for each in behind)

    def _is_news(self, event):
        """Whether an event surely is more of the answer: a call that nobody has heard of, a text that is not empty."""
        if isinstance(event, (ToolCallStart, ToolCallComplete)):
            return next(each for each in self.events if getattr(each, "index", None) == event.index) is event
        return getattr(event, "text", "x") != ""

    def _may_run(self, call, *, surely=True):
        """Whether nothing but time, place and locks keeps a call from beginning."""
        return (
            call.event is not None and call.answer is None and not call.verdict and not call.revoked
            and not self.stopped and not call.occupies and (call.granted or not call.asks)
            and (bool(call.starts) or (not self.bad and self._has_evidence(call, surely=surely)))
        )  # fmt: skip

    def _clash(self, one, other):
        """R7: whether two calls may not run at one time."""
        if one.effect == other.effect == "read":
            return False
        mine, theirs = self._locks_of(one), self._locks_of(other)
        return EVERYTHING in mine | theirs or bool(mine & theirs)

    def _locks_of(self, call):
        if call.event is None:  # still written: at worst everything
            return frozenset() if call.tool.lock is None else frozenset((EVERYTHING,))
        return call.locks

    def _blockers(self, call):
        """The calls that this one must wait for, by their locks."""
        for other in self.calls.values():
            if other is call or other.tool is None or other.tool.function is None:
                continue
            waits = other.index < call.index and other.answer is None
            if (other.occupies or waits) and self._clash(call, other):
                yield other

    # -- what was commanded -----------------------------------------------------------------------------

    def _check(self, command, fact):
        match command:
            case Start():
                self._check_start(self.calls[command.index], command)
            case Cancel(index, attempt):
                self._check_cancel(self.calls[index], attempt)
            case RequestApproval(request):
                self._check_request(self.calls[request.index], request)
            case Answer(result):
                self._check_answer(self.calls[result.index], result, fact)
            case Wake(at):
                assert at > self.now, "a turn is woken later, not at once"
                self.wakes.append(at)

    def _check_start(self, call, start):
        assert call.event is not None, "R2: a call is whole before it begins"
        assert not call.verdict, f"R8: {call.verdict}"
        assert call.answer is None
        assert not call.occupies, "R7: the function has not returned"
        assert not call.revoked
        assert not self.stopped, "R3"
        if call.starts:
            assert call.effect != "write", "R10: at most once"
            assert call.window is not None
            assert self.now >= call.window[0], "too early to be tried again"
        else:
            assert not self.bad, "R3"
            assert self._has_evidence(call), "R2"
        assert call.granted or not call.asks, "R2: approval"
        assert (start.id, start.name, start.arguments) == (call.id, call.name, call.arguments), "R8"
        assert sum(other.occupies for other in self.calls.values()) < self.limit, "R7: places"
        assert not list(self._blockers(call)), "R7: locks"
        assert start.attempt == call.attempts + 1
        assert start.key == (call.key or start.key)
        assert all(other.key != start.key for other in self.calls.values() if other is not call)
        seconds = self._seconds(call)
        assert start.deadline == (None if seconds is None else self.now + seconds)
        call.key, call.deadline, call.attempts = start.key, start.deadline, start.attempt
        call.starts.append(self.now)
        call.running, call.cancelled, call.timed_out, call.window, call.stuck_since = True, False, False, None, None
        call.maybe_stuck_since = None

    def _seconds(self, call):
        return call.tool.timeout if call.tool.timeout is not None else self.timeout

    def _check_cancel(self, call, attempt):
        assert (call.running, call.attempts, call.cancelled) == (True, attempt, False)
        is_late = call.deadline is not None and self.now >= call.deadline
        assert call.revoked or self.stopped or is_late, "cancelled for nothing"
        call.cancelled, call.timed_out = True, is_late and not call.revoked and not self.stopped

    def _check_request(self, call, request):
        assert call.asks
        assert not call.granted
        assert call.answer is None
        assert not call.verdict
        assert not self.bad
        assert not self.stopped
        assert self._has_evidence(call), "nobody is asked about what may never come"
        assert (request.call_id, request.tool_name, request.arguments) == (call.id, call.name, call.arguments), "R8"
        assert request.key == (call.key or request.key)
        call.key, call.asked = request.key, True

    def _check_answer(self, call, result, fact):
        assert call.answer is None, "R1: one answer"
        call.answer = result
        assert (result.call_id, result.tool_name, result.index) == (call.id, call.name, call.index)
        assert (result.turn, result.attempts) == (self.number, call.attempts)
        assert (result.revoked, result.incomplete) == (call.revoked, self.bad)
        assert result.arguments == call.arguments, "R8"
        began = call.starts[0] if call.attempts else None
        assert result.started == began
        assert (result.ended, result.seconds) == ((None, 0.0) if began is None else (self.now, self.now - began))
        assert result.success == (result.failure is None) == (result.error is None)
        own = fact if isinstance(fact, Returned) and fact.index == call.index else None
        if result.success:
            assert own is not None
            assert (result.result, result.truncated) == (own.value, own.truncated), "R12"
            assert own.failure is None
            assert not own.cancelled
            return
        assert result.result is None
        assert 0 < len(result.error) <= 1000, "R11"
        if own is not None and own.failure is not None:
            assert result.failure == own.failure, "R12"
            return
        assert result.failure.code == self._expect_code(call, fact, result), result.failure
        self._check_words(call, result, fact)

    def _expect_code(self, call, fact, result):
        """The reason for an answer that is no tool's word."""
        if call.verdict:
            return call.verdict
        if call.event is None:  # never whole
            is_told = isinstance(fact, Received) and isinstance(fact.event, Error) and fact.event.index == call.index
            if is_told and result.failure.code != "out_of_time":  # then its time was over before it was heard
                return fact.event.code
            return result.failure.code if result.failure.code in ("stopped", "out_of_time", "unfinished") else "?"
        if result.failure.code == "no_place":
            seconds = self._seconds(call)
            assert seconds is not None
            assert call.maybe_stuck_since is not None
            assert self.now >= call.maybe_stuck_since + seconds
            return "no_place"
        code = result.failure.code
        reasons = [
            ("timed_out", call.cancelled and call.timed_out and not call.revoked and not self.stopped),
            (code, call.revoked and code == self.stopped),
            ("revoked", call.revoked),
            (self.stopped, self.stopped),
            ("unfinished", not call.starts and self.bad),
            ("crashed", isinstance(fact, Restarted)),
        ]
        return next((code for code, holds in reasons if holds), "divided")

    def _check_words(self, call, result, fact):
        """R1: what had begun is told in words."""
        code, told = result.failure.code, result.error
        if code not in ("revoked", "stopped", "out_of_time", "timed_out", "crashed"):
            return
        if call.attempts == 0:
            assert "had begun" not in told
        elif call.effect == "write":
            assert "it had begun, and its outcome is unknown" in told
            assert "find out what came of it before you call it again" in told
        else:
            assert ("it had begun, and may be called again" in told) == (call.effect == "idempotent")
        assert ("its thread goes on" in told) == isinstance(fact, Abandoned)
        if code == "timed_out":
            assert result.failure.kind == "timeout"
            assert result.failure.details["limit_seconds"] == self._seconds(call)
            shown = getattr(fact, "partial", None)
            assert result.failure.details.get("partial_output") == shown

    # -- what must not be missing -----------------------------------------------------------------------

    def _check_nothing_is_missing(self, call, fact, started, was_stopped):
        if call.running and not call.cancelled:
            assert not call.revoked, "a revoked call is cancelled"
            assert not self.stopped, "what runs is cancelled"
            assert call.deadline is None or self.now < call.deadline, "a call out of time is cancelled"
        if call.answer is None:
            assert not self._must_be_answered(call, fact, was_stopped), "R1: an answer is missing"
        if self._may_be_asked(call):
            assert call.asked, f"nobody was asked about {call.index} {fact}"
        is_ready = self._may_run(call)
        has_come = call.window is None or self.now >= call.window[1]
        clash = list(self._blockers(call)) if is_ready else []
        if is_ready and has_come and not clash:
            assert sum(other.occupies for other in self.calls.values()) >= self.limit, "it may begin, and has not"
            assert not any(index > call.index for index in started), "a later call took its place"
        self._note_stuck(call, is_ready=is_ready)

    def _note_stuck(self, call, *, is_ready):
        left = [other for other in self.calls.values() if other.left]
        may_be_stuck = self._may_run(call, surely=False) and (
            len(left) >= self.limit or any(self._clash(call, other) for other in left)
        )
        is_stuck = is_ready and may_be_stuck
        call.stuck_since = (self.now if call.stuck_since is None else call.stuck_since) if is_stuck else None
        if not may_be_stuck:
            call.maybe_stuck_since = None
        elif call.maybe_stuck_since is None:
            call.maybe_stuck_since = self.now
        seconds = self._seconds(call) if is_stuck else None
        if is_stuck and seconds is not None:
            come = max(call.stuck_since + seconds, call.window[1] if call.window else 0)
            assert self.now < come, "it waits for what never comes"

    def _may_be_asked(self, call):
        return (
            call.asks and not call.granted and not self.bad and not self.stopped and call.answer is None
            and not call.verdict and not call.revoked and call.event is not None
            and self._has_evidence(call, surely=True)
        )  # fmt: skip

    def _must_be_answered(self, call, fact, was_stopped):
        if call.verdict or (self.stopped and not call.running and call.event is not None):
            return True
        if call.event is None:
            broken = isinstance(fact, Received) and isinstance(fact.event, Error) and fact.event.index == call.index
            is_over = isinstance(fact, (SourceEnded, Restarted, Cancelled)) or was_stopped
            return is_over or (broken and fact.event.scope == "call")
        if call.left or (call.revoked and not call.running):
            return True
        if not call.starts:
            is_divided = self.done_well and not self._has_evidence(call)
            return self.bad or is_divided
        return not call.running and call.window is None

    def _check_wakes(self):
        soonest = min(self.wakes, default=float("inf"))
        if self.time_limit is not None and not self.stopped and not self._all_wait(surely=False):
            assert soonest <= self.first + self.time_limit + self.waited, "nobody watches the time of the run"
        for call in self.calls.values():
            if call.running and not call.cancelled and call.deadline is not None:
                assert soonest <= call.deadline, "nobody watches the time of a call"
            if call.answer is None and call.window is not None and self.now < call.window[0]:
                assert soonest <= call.window[1], "nobody watches the time of the next attempt"
            if call.stuck_since is not None and self._seconds(call) is not None and call.answer is None:
                due = max(call.stuck_since + self._seconds(call), call.window[1] if call.window else 0)
                assert soonest <= due, "nobody watches what is stuck"


def _has_code(command, code):
    failure = command.result.failure if isinstance(command, Answer) else None
    return failure is not None and failure.code == code


def _are_one(one, other):
    """Whether two whole calls are the same one, found twice: the same wire id, name and arguments."""
    if one.event is None or not one.event.id:
        return False
    return (one.event.id, one.name, _write(one.event.arguments)) == (
        other.event.id, other.name, _write(other.event.arguments),
    )  # fmt: skip


def _write(arguments: Any) -> str:
    return json.dumps(arguments, sort_keys=True)
