"""R1 to R12, as far as a turn can be held to them, under all that can happen to it.

Random answers, tools, ends, approvals, wake-ups and cancellations, in any order, late and repeated; and a crash at
every step.  What is asserted stands in `laws`.
"""

import json
from itertools import combinations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import Laws
from turns import DONE, FAILED, TEXT, complete

from streamparse.events import (
    Error,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallDelta,
    ToolCallRevoked,
    ToolCallStart,
)
from streamparse.repair import Finding, Gate
from streamparse.runtime.facts import (
    Abandoned,
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
from streamparse.tools import Tool, ToolFailure

# -- tools, and what is to be thought of a call -------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "default": 1}, "m": {"type": "integer"}},
    "additionalProperties": False,
}
ASKS_ABOUT, NOBODY_KNOWS, GUARDED, NO_LOCK = 3, 6, 7, 5


def do_nothing(**arguments):
    """Do nothing."""


def find_locks(arguments):
    n = arguments.get("n", 1)
    if n == NOBODY_KNOWS:
        raise LookupError(n)
    return None if n == NO_LOCK else [n % 2, "odd"] if n % 2 else "0"


def asks_about(call):
    if call.arguments.get("n") == NOBODY_KNOWS:
        raise LookupError
    return call.arguments.get("n") == ASKS_ABOUT


def refuse(call):
    if call.arguments.get("n") == GUARDED:
        yield Finding("guarded", "not this one")


LOCKS = {"free": None, "n": "n", "m": "m", "all": "*", "odd": find_locks}
ASKS = {"": False, " asks": True, " may ask": asks_about}
EFFECTS = ["read", "idempotent", "write"]
TOOLS = [
    *(
        Tool(f"{effect} {lock}{asks}", "", SCHEMA, do_nothing, effect, lock=LOCKS[lock], needs_approval=ASKS[asks],
             retries=2 if lock == "free" else 1, timeout=2.0 if lock == "odd" else None)
        for effect in EFFECTS for lock in LOCKS for asks in ASKS
    ),
    Tool("no function", "", SCHEMA),
    Tool("locked away", "", SCHEMA, do_nothing, tier=1),
]  # fmt: skip
GATE = Gate(TOOLS, guards=[refuse])
NAMES = [tool.name for tool in TOOLS[:-2]]


def judge(event):
    """What the declarations say of a call: (code of the refusal, arguments, locks, whether somebody is asked)."""
    tool = GATE.tools.get(event.name)
    code = {"no function": "no_function", "locked away": "locked_tool"}.get(event.name, "")
    if tool is None:
        code = "unknown_tool"
    arguments = dict(event.arguments)
    if arguments.get("n") == "2":
        arguments["n"] = 2  # coerced
    if arguments.get("n") == "many":
        code = code or "wrong_type"
    elif arguments.get("n") == GUARDED:
        code = code or "guarded"
    if code:
        return code, None, frozenset(), False
    if arguments.get("n") == NOBODY_KNOWS and (callable(tool.lock) or callable(tool.needs_approval)):
        return "declaration_failed", None, frozenset(), False
    n, m = arguments.get("n", 1), arguments.get("m")
    asks = tool.needs_approval if isinstance(tool.needs_approval, bool) else n == ASKS_ABOUT
    return "", arguments, frozenset(_find_locks(tool, n, m)), asks


def _find_locks(tool, n, m):
    if tool.lock == "n":
        return {str(n)}
    if tool.lock == "m":
        return {"*" if m is None else str(m)}
    if tool.lock is None or tool.lock == "*":
        return set() if tool.lock is None else {"*"}
    return set() if n == NO_LOCK else {"1", "odd"} if n % 2 else {"0"}


# -- what obeys a turn -------------------------------------------------------------------------------------

FAILURES = {
    **{kind: ToolFailure(kind, "no luck") for kind in ("execution", "timeout", "network", "fatal")},
    "soon": ToolFailure("quota", "too often", details={"retry_after": 3}),
    "much later": ToolFailure("quota", "too often", details={"Retry-After": "61"}),
    "never": ToolFailure("network", "gone", recoverable=False),
}


class World:
    """A turn, and what it commands: functions that run, people who are asked, a clock."""

    def __init__(self, options, crash_at=None):
        self.options, self.crash_at = options, crash_at
        self.now, self.facts, self.said = options["first"], [], []
        self.turn = self._make()
        self.laws = Laws(GATE.tools, judge, number=3, **self._laws_options())
        self.running, self.cancelled, self.left, self.asked, self.wakes = {}, set(), {}, [], []
        self.is_over = False  # no event follows

    def _make(self):
        options = {name: value for name, value in self.options.items() if name != "first"}
        return Turn(GATE, run_id="r", number=3, **options)

    def _laws_options(self):
        return {name: value for name, value in self.options.items() if name != "first"}

    def hear(self, fact):
        commands = self.turn.take(fact)
        self.facts.append(fact)
        self.said.append(commands)
        self.laws.hear(fact, commands, self.turn.waited)
        for command in commands:
            self._obey(command)
        self.laws.check_results(self.turn.results, is_settled=self.turn.is_settled, is_stopped=self.turn.is_stopped)

    def _obey(self, command):
        match command:
            case Start(index, attempt):
                self.running[index] = attempt
            case Cancel(index):
                self.cancelled.add(index)
            case RequestApproval(request):
                self.asked.append(request.index)
            case Wake(at):
                self.wakes.append(at)

    def end(self, index, outcome, if_cancelled=None):
        """Let a function return, raise, give way to its cancellation, or be left behind."""
        attempt, was_cancelled = self.running[index], index in self.cancelled
        outcome = if_cancelled if was_cancelled and if_cancelled else outcome
        if outcome == "left" and not was_cancelled:
            outcome = "value"
        del self.running[index]
        self.cancelled.discard(index)
        if outcome == "left":
            self.left[index] = attempt
            self.hear(Abandoned(index, attempt, self.now, partial=f"half of {attempt}"))
        elif outcome in FAILURES:
            self.hear(Returned(index, attempt, self.now, failure=FAILURES[outcome]))
        elif outcome in ("cancelled", "unbegun") and was_cancelled:
            shown = "a part" if index % 2 else None
            self.hear(Returned(index, attempt, self.now, cancelled=True, began=outcome == "cancelled", partial=shown))
        else:
            value = {"n": attempt, "of": index}
            self.hear(Returned(index, attempt, self.now, value, truncated=outcome == "cut"))

    def return_late(self, index):
        attempt = self.left.pop(index)
        self.hear(Returned(index, attempt, self.now, "much too late"))

    def hang(self, index):
        """Let the time of an attempt be over, and its function not return."""
        self.pass_time(5.0)
        if index in self.cancelled:
            self.end(index, "left")

    def decide(self, index, granted):
        self.asked.remove(index)
        self.hear(Approval(index, granted, self.now, "because" * 99))

    def pass_time(self, seconds):
        """Let time pass; each wake-up comes when it was asked for, or at once if that is over."""
        until = self.now + seconds
        while self.wakes and min(self.wakes) <= until:
            at = min(self.wakes)
            self.wakes.remove(at)
            self.now = max(self.now, at)
            self.hear(Woke(self.now))
        self.now = max(self.now, until)

    def crash(self):
        """Fold the facts so far into another turn, and go on with that one."""
        self.refold()
        self.running, self.cancelled, self.left, self.asked, self.wakes = {}, set(), {}, [], []
        self.is_over = True
        self.hear(Restarted(self.now))

    def refold(self):
        """R5: the facts in their order are the state."""
        self.turn = self._make()
        assert [self.turn.take(fact) for fact in self.facts] == self.said

    def take(self, step):
        """Let a step happen, as far as it can."""
        if step == DOUBLE:
            for event in self._double():
                self.take(event)
        elif not isinstance(step, tuple):
            if not self.is_over:
                self.hear(Received(self._number(step), self.now))
            return
        kind, *more = step
        self._take_named(kind, *more)

    def _double(self):
        """The events of a native call that is the double of the latest one in the text."""
        in_text = [
            call.event for call in self.laws.calls.values() if call.place == "plain" and call.event and not call.revoked
        ]
        if in_text and in_text[-1].source == "inband":
            index = max(self.laws.calls) + 1
            yield ToolCallStart(index, f"call-{index}", in_text[-1].name)
            yield ToolCallDelta(index, json.dumps(in_text[-1].arguments))
            yield Error("call", "duplicate_call", "", index)

    def _number(self, event):
        """Give a call that is to be a new one its index."""
        if getattr(event, "index", 0) != NEW:
            return event
        index = max(self.laws.calls, default=-1) + 1
        id = f"call-{index}" if event.id == f"call-{NEW}" else event.id
        return msgspec.structs.replace(event, index=index, id=id)

    def _take_named(self, kind, which=0, how=None, if_cancelled=None):
        among = {
            "end": self.running, "hang": self.running, "revoke": self.running, "late": self.left, "decide": self.asked,
        }.get(kind)  # fmt: skip
        if among is not None:
            if among:
                self._take_among(kind, list(among)[which % len(among)], how, if_cancelled)
        elif kind == "time":
            self.pass_time(which)
        elif kind == "lag":  # the event loop was busy: what is due comes later than other facts
            self.now += which
        elif kind == "wake":
            self.hear(Woke(self.now))
        elif kind == "stale":  # reported twice, too late, or of a call that nobody knows
            attempt = self.running.get(which, self.left.get(which))
            if attempt is None or how != 0:
                self.hear(Returned(which, (attempt or 0) + how, self.now, "stale"))
            if which not in self.running or how != 0:
                self.hear(Abandoned(which, self.running.get(which, 1) + how, self.now))
        elif kind == "unasked":
            if which not in self.asked:
                self.hear(Approval(which, how, self.now))
        elif kind == "stop":
            self.hear(Cancelled(self.now))
        elif kind == "end of source" and not self.is_over:
            self.is_over = True
            self.hear(SourceEnded(self.now))
        elif kind == "crash":
            self.crash()

    def _take_among(self, kind, index, how, if_cancelled):
        if kind == "end":
            self.end(index, how, if_cancelled)
        elif kind == "hang":
            self.hang(index)
        elif kind == "late":
            self.return_late(index)
        elif kind == "decide":
            self.decide(index, how)
        elif not self.is_over:
            self.hear(Received(ToolCallRevoked(index, "x", "error" * 99), self.now))

    def finish(self, *, hangs=False):
        """R1, R6: all comes to an end."""
        self.take(("end of source",))
        for _ in range(100):
            if self.turn.is_settled:
                break
            for index in list(self.asked):
                self.decide(index, True)
            for index in list(self.running):
                if not hangs or index in self.cancelled or not self.wakes:
                    self.end(index, "left" if hangs else "cancelled")
            if not self.wakes and not self.asked and not self.running:
                self.take(("late", 0))  # only this can help, where no time is set
            self.pass_time(max(min(self.wakes, default=self.now) - self.now, 0) + 0.001)
        assert self.turn.is_settled
        assert all(call.answer is not None for call in self.laws.calls.values()), "R1: an answer for each"
        self.refold()


# -- what happens ------------------------------------------------------------------------------------------

NEW = -1
DOUBLE = ("double",)
indexes = st.integers(0, 4)
often_new = st.one_of(st.just(NEW), st.just(NEW), indexes)
names = st.sampled_from(NAMES)
arguments = st.one_of(
    *[st.fixed_dictionaries({"n": st.integers(0, 3)})] * 4,
    st.fixed_dictionaries({}, optional={"n": st.sampled_from([0, 1, 5, 6, 7, "2", "many"]), "m": st.integers(0, 1)}),
)


def calls(names=names, sources=("native",), places=("field",)):
    return st.builds(
        lambda index, name, arguments, source, place, id: complete(index, name, source, id, place, **arguments),
        often_new, names, arguments, st.sampled_from(sources), st.sampled_from(places),
        st.sampled_from([None, None, None, None, "same", ""]),
    )  # fmt: skip


REASONS = ["error" * 99, "text_follows", "thought_goes_on", "thought_closed"]
revocations = st.builds(ToolCallRevoked, indexes, st.just("x"), st.sampled_from(REASONS))
events = st.one_of(
    calls(),
    calls(),
    calls(st.sampled_from([name for name in NAMES if "ask" not in name])),
    calls(sources=["inband"], places=["plain", "plain", "bare", "thought", "quoted"]),
    calls(sources=["recovered", "repaired", "native"], places=["field", "plain", "bare", "quoted"]),
    calls(st.sampled_from(["unknown", "no function", "locked away"]), places=["field", "quoted"]),
    st.builds(ToolCallStart, often_new, st.just("x"), st.sampled_from([*NAMES, "unknown", "no function"])),
    revocations,
    st.builds(
        Error,
        st.sampled_from(["call", "call", "frame"]),
        st.sampled_from(["malformed_call", "duplicate_call"]),
        st.just(""),
        indexes,
    ),
    st.just(DOUBLE),
    st.sampled_from([TEXT, TEXT, TextDelta(" "), TextDelta(""), ReasoningDelta("hm"), RefusalDelta("no")]),
)
ends = st.sampled_from([DONE, DONE, FAILED, Error("stream", "provider_error", "")])
OUTCOMES = ["value", "value", "value", "cut", *FAILURES]
IF_CANCELLED = ["cancelled", "cancelled", "unbegun", "left", "value", "network"]
which = st.integers(0, 3)
happenings = st.one_of(
    st.tuples(st.just("end"), which, st.sampled_from(OUTCOMES), st.sampled_from(IF_CANCELLED)),
    st.tuples(st.just("end"), which, st.sampled_from(OUTCOMES), st.sampled_from(IF_CANCELLED)),
    st.tuples(st.sampled_from(["hang", "hang", "late", "revoke"]), which),
    st.tuples(st.just("decide"), which, st.sampled_from([True, True, False])),
    st.tuples(st.sampled_from(["time", "time", "lag"]), st.sampled_from([0.05, 0.2, 1.0, 2.0, 5.0, 11.0])),
    st.one_of(
        st.tuples(st.just("stale"), indexes, st.sampled_from([-1, 1, 0])),
        st.tuples(st.just("unasked"), indexes, st.booleans()),
        st.sampled_from([("wake",), ("stop",), ("end of source",), ("crash",)]),
    ),
)
steps = st.one_of(events, events, events, happenings, happenings)
late_steps = st.one_of(happenings, happenings, revocations, events)


@st.composite
def scripts(draw):
    before = draw(st.lists(steps, min_size=draw(st.sampled_from([0, 6, 12])), max_size=20))
    after = draw(st.lists(late_steps, max_size=12))
    last = draw(st.one_of(st.just(DONE), st.just(DONE), ends, st.none()))
    return [*before, *([] if last is None else [last]), *after]


options = st.fixed_dictionaries({
    "limit": st.integers(1, 3),
    "timeout": st.sampled_from([5.0, 5.0, None]),
    "time_limit": st.sampled_from([20.0, None]),
    "allow": st.sampled_from([(), (), (), *combinations(["recovered", "repaired", "quoted", "divided"], 2)]),
    "first": st.sampled_from([0.0, 1000.0]),
})  # fmt: skip
USUAL = settings().max_examples
EXAMPLES = max(USUAL, min(USUAL * 5 // 2, 500))


@settings(max_examples=EXAMPLES)
@given(scripts(), options, st.booleans())
def test_whatever_happens_the_laws_hold(script, options, hangs):
    world = World(options)
    for step in script:
        world.take(step)
    world.finish(hangs=hangs)


@settings(max_examples=EXAMPLES)
@given(scripts(), options)
def test_whatever_happens_the_laws_hold_with_a_crash_at_every_step(script, options):
    for length in range(len(script) + 1):
        world = World(options)
        for step in script[:length]:
            world.take(step)
        world.crash()
        for step in script[length:]:
            world.take(step)
        world.finish()
