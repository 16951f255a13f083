"""The laws of calls whose arguments are streamed, under random answers, failures, and a crash at every step.

An open function is no beginning (R2, R3, R10): it begins with `Start`, at the end of its text; it holds its locks and
its place before (R7); what it was opened with is what the whole call says (R8), or it is broken off; its call is
answered once, after it has returned (R1).
"""

from hypothesis import given, settings
from hypothesis import strategies as st
from turns import DONE, FAILED, TEXT

import streamparse as sp
from streamparse.repair import Gate
from streamparse.runtime.facts import (
    Answer,
    Approval,
    Break,
    Cancel,
    Cancelled,
    Misread,
    Open,
    Opened,
    Received,
    RequestApproval,
    Restarted,
    Returned,
    SourceEnded,
    Start,
    Wake,
    Woke,
)
from streamparse.runtime.turn import Turn
from streamparse.tools import ToolFailure


async def write(path: str, content: sp.Streamed[str], n: int = 0) -> str:
    return ""


async def read(path: str) -> str:
    return ""


OPENABLE = {"reads", "idempotent", "free"}
GATE = Gate(
    [
        sp.Tool("reads", function=write, effect="read", lock="path"),
        sp.Tool("idempotent", function=write, effect="idempotent", lock="path", retries=1),
        sp.Tool("free", function=write, effect="idempotent"),
        sp.Tool("writes", function=write, effect="write", lock="path"),
        sp.Tool("asks", function=write, effect="idempotent", lock="path", needs_approval=True),
        sp.Tool("read", function=read, effect="read", lock="path"),
        sp.Tool("all", function=write, effect="idempotent", lock="*"),
    ]
)
LIMITS = {"timeout": 5.0, "time_limit": 30.0}
FATAL = sp.Error("stream", "provider_error", "")


class Known:
    """What is known of one call; `function` is None, or it is open, broken, or runs."""

    def __init__(self, index, name, path):
        self.index, self.name, self.path = index, name, path
        self.tool = GATE.tools.get(name)
        self.event = self.opened = self.function = self.answer = None
        self.offered = None  # the arguments that it may be opened with, once they are known
        self.is_offered = self.is_misread = self.is_revoked = self.is_error = self.granted = False
        self.starts = 0

    @property
    def arguments(self):
        return None if self.event is None else self.event.arguments

    @property
    def has_effect(self):
        return self.tool.effect != "read"

    def holds(self):
        """The locks that it holds or needs: those that were opened, and those of the whole call."""
        if self.tool.lock is None:
            return set()
        known = [each for each in (self.arguments, self.opened, self.offered) if each is not None]
        if self.tool.lock == "*" or not known:
            return {"*"}
        return {each["path"] for each in (self.arguments, self.opened) if each is not None} or {self.offered["path"]}


def clash(one, other):
    if not (one.has_effect or other.has_effect):
        return False
    mine, theirs = one.holds(), other.holds()
    return bool(mine & theirs) or (bool(mine and theirs) and "*" in mine | theirs) or "*" in mine | theirs


class World:
    """A turn, what obeys it, and an account of both."""

    def __init__(self, limit):
        self.limit, self.now = limit, 0.0
        self.turn = self._make()
        self.facts, self.said, self.events, self.wakes = [], [], [], []
        self.calls, self.asked = {}, {}
        self.bad = self.stopped = self.over = False

    def _make(self):
        return Turn(GATE, self.limit, run_id="r", **LIMITS)

    @property
    def done(self):
        return any(isinstance(event, sp.Done) for event in self.events)

    def hear(self, fact):
        self._note(fact)
        commands = self.turn.take(fact)
        self.facts.append(fact)
        self.said.append(commands)
        for command in commands:
            self._obey(command)
        assert sum(call.function is not None for call in self.calls.values()) <= self.limit, "R7: places"
        for call in self.calls.values():
            if call.function == "open":
                assert not self.stopped
                assert not self.bad, "an open function hears of the bad end at once"
                assert not (call.event is not None and self._has_evidence(call)), "it begins at once"

    def _note(self, fact):
        if self.facts and self.now >= self.facts[0].at + LIMITS["time_limit"]:
            self.stopped = True
        self.over = self.over or isinstance(fact, (SourceEnded, Restarted, Cancelled))
        match fact:
            case Cancelled():
                self.stopped = True
            case SourceEnded() | Restarted() if not self.done:
                self.bad = True
            case Received(event=event):
                self._note_event(event)
            case Misread(index=index):
                self.calls[index].is_misread = True
            case _:
                pass
        if isinstance(fact, Restarted):
            for call in self.calls.values():
                call.function = None
            self.asked = {}

    def _note_event(self, event):
        self.events.append(event)
        match event:
            case sp.ToolCallComplete(index):
                self.calls[index].event = event
            case sp.ToolCallRevoked(index):
                self.calls[index].is_revoked = True
            case sp.Error("call", _, _, index):
                self.calls[index].is_error = True
            case sp.Error() | sp.Done(ok=False):
                self.bad = True

    def _obey(self, command):
        match command:
            case Open(index):
                self._check_open(self.calls[index], command)
            case Break(index, attempt, reason):
                call = self.calls[index]
                assert (call.function, attempt) == ("open", 1)
                assert reason
                assert not self._is_fine(call), "broken off for nothing"
                call.function = "broken"
            case Start(index):
                self._check_start(self.calls[index], command)
            case Cancel(index, attempt):
                call = self.calls[index]
                assert call.function in ("running", "broken")
                assert attempt == call.starts + (call.function == "broken")
            case RequestApproval(request):
                assert request.tool_name == "asks"
                self.asked[request.index] = request
            case Answer(result):
                self._check_answer(self.calls[result.index], result)
            case Wake(at):
                self.wakes.append(at)

    def _is_fine(self, call):
        """Whether nothing speaks against a call that was opened."""
        cut = call.event is None and (self.over or self.done)
        differs = cut or call.is_misread or (call.event is not None and not self._is_continued(call))
        bad = self.bad or self.stopped or call.is_revoked or call.is_error or differs
        place = "field" if call.event is None else call.event.place
        odd = call.event is not None and (call.event.source in ("recovered", "repaired") or place == "quoted")
        return not (bad or odd or (self.done and self._is_divided(call)))

    def _is_continued(self, call):
        return {**call.opened, "content": call.arguments["content"]} == call.arguments

    def _is_divided(self, call):
        """Whether a call with effects is in the text, and a break follows one of those that are."""
        if call.event is None or call.event.place == "field" or not call.has_effect:
            return False
        behind = self._find_last_break()
        return any(
            each.index < behind and each.has_effect
            for each in self.calls.values()
            if (each.is_error if each.event is None else self._counts_in_text(each))
        )

    def _counts_in_text(self, call):
        was_draft = call.event.place == "thought" and call.is_revoked
        return call.event.place not in ("field", "quoted") and not was_draft and call.index not in self._confirmed

    def _find_last_break(self):
        """Find behind which calls there is text, or a native call that repeats none that was revoked."""
        started, behind, whole, revoked = 0, 0, [], set()
        self._confirmed = set()
        for event in self.events:
            match event:
                case sp.ToolCallStart(index):
                    started = index + 1
                case sp.TextDelta():
                    behind = started
                case sp.ToolCallRevoked(index):
                    revoked.add(index)
                case sp.ToolCallComplete(index, place=place) if place != "field":
                    whole.append(event)
                case sp.ToolCallComplete(index, source=source) if source != "recovered":
                    same = [each for each in whole if (each.name, each.arguments) == (event.name, event.arguments)]
                    same = [each.index for each in same if each.index in revoked - self._confirmed]
                    self._confirmed |= set(same[:1])
                    behind = behind if same else max(behind, index)
        return behind

    def _has_evidence(self, call):
        place, ended_well = call.event.place, DONE in self.events and not self.bad
        if call.event.source in ("recovered", "repaired") or place == "quoted":
            return False
        if not call.has_effect:
            return ended_well or place in ("field", "plain")
        behind = self.events[self.events.index(call.event) + 1 :]
        if place == "field" and call.tool.effect == "idempotent" and any(map(goes_on, behind)):
            return True
        return ended_well and not self._is_divided(call)

    def _may_not_overlap(self, call):
        for other in self.calls.values():
            if other is call:
                continue
            assert not (other.function and clash(call, other)), "R7: overlap"
            waits = other.index < call.index and other.answer is None
            assert not (waits and clash(call, other)), "R7: order"

    def _check_open(self, call, command):
        assert call.name in OPENABLE | {"all"}, "it is to get its text whole"
        assert (call.event, call.function, call.answer, call.starts) == (None, None, None, 0)
        assert not self.bad
        assert not self.stopped
        assert not self.done
        assert not call.is_misread
        assert (command.attempt, command.id, command.name) == (1, f"call-{call.index}", call.name)
        assert command.streamed == ("content",)
        call.opened, call.function = command.arguments, "open"
        assert command.arguments == {"path": call.path}
        self._may_not_overlap(call)

    def _check_start(self, call, start):
        assert call.event is not None
        assert call.answer is None
        assert not self.stopped
        assert not call.is_revoked
        assert start.arguments == call.arguments, "R8"
        assert call.starts or not self.bad, "R3"
        assert call.starts or self._has_evidence(call), "R2"
        assert not (call.starts and call.tool.effect == "write"), "R10"
        assert call.granted or call.name != "asks"
        assert start.attempt == call.starts + 1
        assert call.function in (None, "open")
        if call.function == "open":
            assert self._is_continued(call), "R8"
            assert not call.is_misread, "R8"
        else:
            call.opened = None
            self._may_not_overlap(call)
        call.function, call.starts = "running", call.starts + 1

    def _check_answer(self, call, result):
        assert call.answer is None, "R1"
        assert call.function is None, "R1: the function may clean up first"
        assert result.attempts == call.starts
        assert result.success or result.error
        assert call.starts or not result.success
        call.answer = result

    # -- what happens -----------------------------------------------------------------------------------

    def find(self, position, wanted):
        found = [call for call in self.calls.values() if wanted(call)]
        return found[position] if position < len(found) else None

    def write(self, name, path):
        index = len(self.calls)
        self.calls[index] = Known(index, name, path)
        self.hear(Received(sp.ToolCallStart(index, f"call-{index}", name), self.now))

    def close(self, call, kind):
        arguments = {"path": call.path} if call.name == "read" else {"path": call.path, "content": "text"}
        arguments |= {"other": {"path": "c"}, "more": {"n": 1} if call.name != "read" else {}}.get(kind, {})
        source = (
            "native" if kind in ("native", "other", "more") else kind if kind in ("recovered", "repaired") else "inband"
        )
        place = kind if kind in ("plain", "bare", "thought", "quoted") else "field"
        event = sp.ToolCallComplete(call.index, f"call-{call.index}", call.name, arguments, source, "", place)
        self.hear(Received(event, self.now))

    def end(self, call, outcome):
        """Let a function return; one that is open and not broken does not."""
        was, call.function = call.function, None
        failure = None if outcome == "value" or was == "broken" else ToolFailure(outcome, "no luck")
        value = "value" if failure is None else None
        self.hear(Returned(call.index, max(call.starts, 1), self.now, value, failure))

    def decide(self, granted):
        for index in list(self.asked):
            del self.asked[index]
            self.calls[index].granted = granted
            self.hear(Approval(index, granted, self.now))

    def pass_time(self, seconds):
        self.now += seconds
        due = [at for at in self.wakes if at <= self.now]
        self.wakes = [at for at in self.wakes if at > self.now]
        for _ in due:
            self.hear(Woke(self.now))

    def crash(self):
        again = self._make()
        assert [again.take(fact) for fact in self.facts] == self.said, "R5: one order of facts, one state"
        self.turn, self.wakes = again, []
        self.hear(Restarted(self.now))

    def finish(self):
        self.hear(SourceEnded(self.now))
        for _ in range(100):
            if self.turn.is_settled:
                break
            self.decide(granted=True)
            for call in self.calls.values():
                if call.function in ("running", "broken"):
                    self.end(call, "value")
            self.pass_time(1.0)
        assert self.turn.is_settled
        assert all(call.answer is not None and call.function is None for call in self.calls.values()), "R1"


def goes_on(event):
    return isinstance(event, (sp.TextDelta, sp.ReasoningDelta, sp.ToolCallStart, sp.ToolCallComplete, sp.Done))


def is_open_for_writing(call):
    return call.event is None and not call.is_error


def take(world, step):
    """Let a step happen, as far as it can; returns whether no event may follow."""
    kind, *more = step
    match kind:
        case "write":
            world.write(*more)
        case "written":  # a call from its first word to its last
            name, path, opening, kind = more
            world.write(name, path)
            for each in (("open", -1, opening), ("close", -1, kind)):
                take_of_call(world, *each)
        case "text":
            world.hear(Received(TEXT, world.now))
        case "fatal":
            world.hear(Received(FATAL, world.now))
        case "time":
            world.pass_time(*more)
        case "decide":
            world.decide(*more)
        case "crash":
            world.crash()
        case "cancel":
            world.hear(Cancelled(world.now))
        case _:
            take_of_call(world, kind, *more)
    return kind in ("crash", "cancel")


def take_of_call(world, kind, position, *more):
    if kind == "end":
        call = world.find(position, lambda call: call.function in ("running", "broken"))
    elif kind == "revoke":
        call = world.find(position, lambda call: call.event is not None)
    else:
        call = world.find(position, is_open_for_writing)
    if call is None:
        return
    match kind:
        case "open" if not call.is_offered:
            call.is_offered = True
            path = {"path": call.path} if more[0] == "right" else {"path": {}} if more[0] == "wrong" else {}
            call.offered = path if more[0] == "right" else None
            world.hear(Opened(call.index, path, ("content",), world.now))
        case "misread" if call.is_offered:
            world.hear(Misread(call.index, world.now))
        case "close":
            world.close(call, *more)
        case "error":
            world.hear(Received(sp.Error("call", "malformed_call", "", call.index), world.now))
        case "revoke":
            world.hear(Received(sp.ToolCallRevoked(call.index, f"call-{call.index}", "error"), world.now))
        case "end":
            world.end(call, *more)


first = st.integers(0, 1)
names = st.sampled_from([*sorted(OPENABLE), *sorted(OPENABLE), "asks", *GATE.tools])
openings = st.sampled_from(["right"] * 6 + ["wrong", "none"])
writing = st.tuples(
    st.just("write"),
    names,
    st.sampled_from("ab"),
)
opening = st.tuples(st.just("open"), first, openings)
KINDS = ["native"] * 6 + ["other", "more", "recovered", "repaired", "plain", "plain", "bare", "thought", "quoted"]
closing = st.tuples(st.just("close"), first, st.sampled_from(KINDS))
happening = st.one_of(
    st.tuples(st.just("end"), first, st.sampled_from(["value", "network", "execution"])),
    st.tuples(st.sampled_from(["misread", "error", "revoke"]), first),
    st.tuples(st.just("time"), st.sampled_from([0.3, 6.0, 14.0])),
    st.tuples(st.just("decide"), st.booleans()),
    *[st.just(("text",))] * 2,
)
rarely = st.sampled_from([("text",)] * 9 + [("fatal",), ("crash",), ("cancel",)])
written = st.tuples(st.just("written"), names, st.sampled_from("ab"), openings, st.sampled_from(KINDS))
steps = st.one_of(writing, opening, closing, written, written, happening, rarely)
late = st.one_of(happening, rarely).filter(
    lambda step: step[0] in ("end", "revoke", "time", "decide", "crash", "cancel")
)
scripts = given(
    st.integers(0, 12).flatmap(lambda least: st.lists(steps, min_size=least, max_size=16)),  # left alone they are short
    st.sampled_from([DONE, DONE, FAILED, None]), st.lists(late, max_size=6),
    st.integers(1, 3),
)  # fmt: skip
USUAL = settings().max_examples
EXAMPLES = max(USUAL, min(USUAL * 5 // 2, 500))


def play(world, before, last, after):
    for step in before:
        if take(world, step):
            break
    else:
        if last is not None:
            world.hear(Received(last, world.now))
    for step in after:
        take(world, step)


@settings(max_examples=EXAMPLES)
@scripts
def test_whatever_happens_the_laws_hold_for_streamed_arguments(before, last, after, limit):
    world = World(limit)
    play(world, before, last, after)
    world.finish()


@settings(max_examples=EXAMPLES)
@scripts
def test_the_laws_hold_for_streamed_arguments_with_a_crash_at_every_step(before, last, after, limit):
    script = [step for step in (*before, *after) if step != ("crash",)]
    for length in range(len(script) + 1):
        world = World(limit)
        is_ended = length > len(before)
        play(world, script[: min(length, len(before))], last if is_ended else None, script[len(before) : length])
        world.crash()
        world.finish()


def test_the_generated_scripts_open_begin_and_break():
    """What the laws are about does happen."""
    seen = set()

    @settings(max_examples=150, database=None)
    @scripts
    def collect(before, last, after, limit):
        world = World(limit)
        play(world, before, last, after)
        world.finish()
        opened = {command.index for commands in world.said for command in commands if isinstance(command, Open)}
        for command in (command for commands in world.said for command in commands):
            seen.add(type(command))
            if isinstance(command, Start) and command.index in opened:
                seen.add("begun")

    collect()
    assert seen >= {Open, Break, Start, Cancel, Answer, RequestApproval, Wake, "begun"}
