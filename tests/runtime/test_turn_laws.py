"""The laws of a turn, under random answers, tools, failures, cancellations, and a crash at every step.

R1 one answer each; R2 nothing begins before its evidence; R3 nothing begins after a bad end; R5 results in call order,
and the same facts give the same commands; R7 locks and places; R8 what runs is what was checked; R12 what a tool says
is its result.
"""

from hypothesis import given, settings
from hypothesis import strategies as st
from turns import DONE, FAILED, TEXT, complete

from streamparse.events import Done, Error, ReasoningDelta, TextDelta, ToolCallComplete, ToolCallRevoked, ToolCallStart
from streamparse.repair import Gate
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
from streamparse.runtime.turn import Turn
from streamparse.tools import RETRYABLE, Tool, ToolFailure

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
LOCKS = {"free": None, "n": "n", "all": "*", "odd": lambda arguments: f"odd {arguments['n'] % 2}"}
KINDS = ["validation", "execution", "timeout", "network", "quota", "fatal"]
LIMITS = {"timeout": 5.0, "time_limit": 20.0}


def do_nothing(**arguments):
    """Do nothing."""


def _declare(effect, lock, asks):
    name = f"{effect} {lock}{' asks' if asks else ''}"
    return Tool(name, "", SCHEMA, do_nothing, effect, lock=LOCKS[lock], needs_approval=asks, retries=2)


GATE = Gate([_declare(*kind) for effect in ("none", "idempotent", "once") for lock in LOCKS
             for kind in ((effect, lock, False), (effect, lock, True))])  # fmt: skip


def overlap_is_forbidden(one, other):
    """Whether two calls may not run at one time, by the page about the design."""
    (first, mine), (second, theirs) = ((GATE.tools[each.name], each.arguments["n"]) for each in (one, other))
    if first.effect == second.effect == "none":
        return False
    if "*" in (first.lock, second.lock):
        return True
    kinds = [{"n": ("n", n), None: None}.get(tool.lock, ("odd", n % 2)) if not callable(tool.lock) else ("odd", n % 2)
             for tool, n in ((first, mine), (second, theirs))]  # fmt: skip
    return None not in kinds and kinds[0] == kinds[1]


class World:
    """A turn, what obeys it, and what is known of both without asking the turn."""

    def __init__(self, limit):
        self.limit, self.now, self.facts, self.said = limit, 0.0, [], []
        self.turn = self._make()
        self.events, self.whole, self.began_to_be_written = [], {}, set()
        self.running, self.cancelled, self.left = {}, set(), {}
        self.starts, self.answers, self.asked, self.granted, self.revoked = {}, {}, {}, set(), set()
        self.keys, self.given = {}, {}
        self.ended_badly = self.stopped = False
        self.wakes = []

    def _make(self):
        return Turn(GATE, self.limit, run_id="r", number=3, **LIMITS)

    @property
    def done(self):
        return any(isinstance(event, Done) for event in self.events)

    def hear(self, fact):
        self._note(fact)
        commands = self.turn.take(fact)
        self.facts.append(fact)
        self.said.append(commands)
        for command in commands:
            self._obey(command)
        assert len(self.running) + len(self.left) <= self.limit

    def _note(self, fact):
        if self.facts and self.now >= self.facts[0].at + LIMITS["time_limit"]:
            self.stopped = True
        if isinstance(fact, Cancelled):
            self.stopped = True
        if isinstance(fact, (Restarted, SourceEnded)) and not self.done:
            self.ended_badly = True
        if isinstance(fact, Restarted):
            self.running, self.cancelled, self.left = {}, set(), {}
        if isinstance(fact, Received):
            self._note_event(fact.event)

    def _note_event(self, event):
        known = event.index if isinstance(event, (ToolCallStart, ToolCallComplete)) else None
        if isinstance(event, ToolCallComplete) and known not in self.whole and known not in self.answers:
            self.whole[known] = event
        if known is not None:
            self.began_to_be_written.add(known)
        if isinstance(event, ToolCallRevoked) and event.index in self.whole:
            self.revoked.add(event.index)
        if event in (FATAL, FAILED):
            self.ended_badly = True
        self.events.append(event)

    def _obey(self, command):
        match command:
            case Start(index, attempt):
                self._check_start(command)
                self.running[index] = attempt
                self.starts.setdefault(index, []).append(attempt)
            case Cancel(index, attempt):
                assert self.running[index] == attempt
                self.cancelled.add(index)
            case RequestApproval(request):
                assert GATE.tools[request.tool_name].needs_approval
                assert request.arguments == self.whole[request.index].arguments
                self.asked[request.index] = request
            case Answer(result):
                assert result.index not in self.answers, "R1: two answers"
                self.answers[result.index] = result
                self._check_answer(result)
            case Wake(at):
                self.wakes.append(at)

    def _check_start(self, start):
        index, call = start.index, self.whole[start.index]
        tool, again = GATE.tools[call.name], index in self.starts
        assert index not in self.answers
        assert index not in self.running
        assert index not in self.revoked
        assert not self.stopped
        assert start.arguments == call.arguments, "R8"
        assert self.keys.setdefault(index, start.key) == start.key
        assert len(set(self.keys.values())) == len(self.keys)
        assert not (again and tool.effect == "once"), "at most once, over any crash"
        assert again or not self.ended_badly, "R3"
        assert again or self._has_evidence(call), "R2"
        assert index in self.granted or not tool.needs_approval, "R2: approval"
        for other in {**self.running, **self.left}:
            assert not overlap_is_forbidden(call, self.whole[other]), "R7: overlap"
        for other in range(index):
            waits = other in self.whole and other not in self.answers
            assert not (waits and overlap_is_forbidden(call, self.whole[other])), "R7: order"

    def _has_evidence(self, call):
        effect = GATE.tools[call.name].effect
        ended_well = DONE in self.events
        if call.source == "recovered" or call.place == "quoted":
            return False
        if effect == "none":
            return ended_well or call.place in ("field", "plain")
        if call.place == "field":
            behind = self.events[self.events.index(call) + 1 :]
            return ended_well or (effect == "idempotent" and any(isinstance(each, GOES_ON) for each in behind))
        before = self.events[: self.events.index(DONE)] if ended_well else []
        texts = [at for at, each in enumerate(before) if isinstance(each, TextDelta) and each.text.strip()]
        calls = [at for at, each in enumerate(before) if getattr(each, "place", "") in ("plain", "bare", "thought")]
        return ended_well and not any(at > calls[-1] for at in texts)

    def _check_answer(self, result):
        index = result.index
        assert result.success == (result.failure is None)
        assert result.attempts == len(self.starts.get(index, []))
        assert result.revoked == (index in self.revoked)
        assert result.turn == 3
        if index in self.starts:
            assert result.arguments == self.whole[index].arguments, "R8"
        if result.success:
            assert self.given[index] == ("value", result.result), "R12"
        elif result.failure.code == "raised":
            assert self.given[index] == ("failure", result.failure.kind), "R12"
            tool = GATE.tools[self.whole[index].name]
            assert tool.effect == "once" or result.failure.kind not in RETRYABLE or result.attempts > 2
        elif index in self.starts and self.whole[index] and GATE.tools[self.whole[index].name].effect == "once":
            assert "its outcome is unknown" in result.error

    def end(self, index, outcome):
        attempt = self.running.pop(index)
        was_cancelled = index in self.cancelled
        self.cancelled.discard(index)
        if outcome == "left" and was_cancelled:
            self.left[index] = attempt
            self.hear(Abandoned(index, attempt, self.now))
        elif outcome in KINDS:
            self.given[index] = "failure", outcome
            self.hear(Returned(index, attempt, self.now, failure=ToolFailure(outcome, "no luck")))
        elif outcome == "cancelled" and was_cancelled:
            self.hear(Returned(index, attempt, self.now, cancelled=True))
        else:
            self.given[index] = "value", f"value {attempt}"
            self.hear(Returned(index, attempt, self.now, f"value {attempt}"))

    def return_late(self, index):
        attempt = self.left.pop(index)
        self.hear(Returned(index, attempt, self.now, "much too late"))

    def hang(self, index):
        """Let the time of an attempt be over, and its function not return."""
        self.pass_time(LIMITS["timeout"])
        if index in self.cancelled:
            self.end(index, "left")

    def repeat_report(self, index):
        """Report an attempt that is over once more."""
        last = self.starts[index][-1]
        attempt = last - 1 if self.running.get(index) == last or index in self.left else last
        self.hear(Returned(index, attempt, self.now, "reported twice"))

    def decide(self, index, granted):
        del self.asked[index]
        if granted:
            self.granted.add(index)
        self.hear(Approval(index, granted, self.now, "because"))

    def pass_time(self, seconds):
        self.now += seconds
        due = [at for at in self.wakes if at <= self.now]
        self.wakes = [at for at in self.wakes if at > self.now]
        for _ in due:
            self.hear(Woke(self.now))

    def crash(self):
        """Fold the facts so far into another turn, which must say the same; go on with that one."""
        again = self._make()
        assert [again.take(fact) for fact in self.facts] == self.said, "R5: one order of facts, one state"
        self.turn, self.wakes = again, []
        begun = {index for index in self.running if GATE.tools[self.whole[index].name].effect != "once"}
        begun -= self.cancelled
        self.asked = {}
        self.hear(Restarted(self.now))
        for index in begun:
            assert index not in self.answers or self.stopped, "what had begun is repeated"
            assert len(self.starts[index]) > 1 or self.stopped or self._must_wait(index), "what had begun is repeated"

    def _must_wait(self, index):
        earlier = [other for other in self.whole if other < index and other not in self.answers]
        running = [other for other in self.running if other != index]
        clashes = [
            other for other in {*earlier, *running} if overlap_is_forbidden(self.whole[index], self.whole[other])
        ]
        return bool(clashes) or index in self.answers or len(self.running) >= self.limit

    def finish(self):
        """Let all end: every call is answered, in call order."""
        self.hear(SourceEnded(self.now))
        for _ in range(200):
            if self.turn.is_settled:
                break
            for index in list(self.asked):
                self.decide(index, True)
            for index in list(self.running):
                self.end(index, "cancelled")
            self.pass_time(1.0)
        assert self.turn.is_settled
        assert set(self.answers) == self.began_to_be_written, "R1: one answer each"
        assert [result.index for result in self.turn.results] == sorted(self.answers), "R5"


FATAL = Error("stream", "provider_error", "")
GOES_ON = (TextDelta, ReasoningDelta, ToolCallStart, ToolCallComplete, Done)
indexes = st.integers(0, 4)
names = st.sampled_from([*GATE.tools, "unknown"])
calls = st.builds(
    complete, indexes, names, st.sampled_from(["native"] * 4 + ["inband", "recovered"]), n=st.integers(0, 3),
    place=st.sampled_from(["field"] * 4 + ["plain", "plain", "bare", "thought", "quoted"]),
)  # fmt: skip
UNASKED = [name for name, tool in GATE.tools.items() if not tool.needs_approval]
whole_calls = st.builds(complete, indexes, st.sampled_from(UNASKED), n=st.integers(0, 1))
calls_in_text = st.builds(complete, indexes, st.sampled_from(UNASKED), st.just("inband"), n=st.just(0),
                          place=st.sampled_from(["plain", "bare"]))  # fmt: skip
happenings = st.one_of(
    st.tuples(st.just("end"), st.integers(0, 3), st.sampled_from(["value", "value", "left", "cancelled", *KINDS])),
    st.tuples(st.sampled_from(["late", "late", "hang", "hang", "twice"]), st.integers(0, 2)),
    st.tuples(st.just("decide"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("time"), st.sampled_from([0.2, 1.0, 5.0, 11.0])),
    st.sampled_from([("crash",), ("cancel",)]),
)
steps = st.one_of(
    calls,
    whole_calls,
    whole_calls,
    calls_in_text,
    st.builds(ToolCallStart, indexes, st.just("x"), names),
    st.builds(ToolCallRevoked, indexes, st.just("x"), st.just("error")),
    st.builds(Error, st.just("call"), st.just("malformed_call"), st.just(""), indexes),
    st.sampled_from([TEXT, TextDelta(" "), ReasoningDelta("hm"), FATAL]),
    happenings,
    happenings,
)
late_steps = st.one_of(happenings, st.builds(ToolCallRevoked, indexes, st.just("x"), st.just("error")))


def take(world, step):
    """Let a step happen, as far as it can; returns whether it was a crash."""
    kind, *more = step if isinstance(step, tuple) else ("event",)
    if kind == "event":
        world.hear(Received(step, world.now))
    elif kind == "end" and len(world.running) > more[0]:
        world.end([*world.running][more[0]], more[1])
    elif kind == "late" and len(world.left) > more[0]:
        world.return_late([*world.left][more[0]])
    elif kind == "hang" and len(world.running) > more[0]:
        world.hang([*world.running][more[0]])
    elif kind == "twice" and len(world.starts) > more[0]:
        world.repeat_report([*world.starts][more[0]])
    elif kind == "decide" and len(world.asked) > more[0]:
        world.decide([*world.asked][more[0]], more[1])
    elif kind == "time":
        world.pass_time(more[0])
    elif kind == "cancel":
        world.hear(Cancelled(world.now))
    elif kind == "crash":
        world.crash()
    return kind in ("crash", "cancel")


turns = given(
    st.lists(steps, max_size=20),
    st.sampled_from([DONE, DONE, DONE, FAILED, None]),
    st.lists(late_steps, max_size=8),
    st.integers(1, 3),
)
EXAMPLES = max(500, settings().max_examples)


@settings(max_examples=EXAMPLES)
@turns
def test_whatever_happens_the_laws_hold(before, last, after, limit):
    world = World(limit)
    for step in before:
        if take(world, step):  # no event follows
            break
    else:
        if last is not None:
            take(world, last)
    for step in after:
        take(world, step)
    world.finish()


@settings(max_examples=EXAMPLES)
@turns
def test_whatever_happens_the_laws_hold_with_a_crash_at_every_step(before, last, after, limit):
    script = [step for step in (*before, *([] if last is None else [last]), *after) if step != ("crash",)]
    for length in range(len(script) + 1):
        world = World(limit)
        for step in script[:length]:
            if take(world, step):
                break
        world.crash()
        world.finish()
