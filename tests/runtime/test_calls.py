"""The policy without any task: what starts when, and one answer for each call."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from turns import DONE, FAILED, TEXT, complete

from streamparse.events import (
    Error,
    ReasoningDelta,
    RefusalDelta,
    ToolCallDelta,
    ToolCallRevoked,
    ToolCallStart,
)
from streamparse.runtime.calls import Calls
from streamparse.runtime.settings import Settings
from streamparse.tools import Tool, Toolset


def do_nothing():
    """Do nothing."""


TOOLS = Toolset.of(
    [Tool(early, function=do_nothing, early=early) for early in ("closed", "superseded", "finish")]
    + [Tool("upper", function=do_nothing, early="closed", tier=1), Tool("declared-only")]
)


class Turn:
    """Calls whose starts and answers are written down."""

    def __init__(self, *events, limit=8, tier=0, run_recovered=True):
        settings = Settings(
            tools=TOOLS,
            limit=limit,
            timeout=None,
            max_result=100,
            max_buffered=10,
            tier=tier,
            run_recovered=run_recovered,
            clock=lambda: 0.0,
        )
        self.running, self.begun, self.answers = [], [], []
        self.calls = Calls(settings, self._start, self.answers.append)
        self.take(*events)

    def _start(self, call):
        call.started = 0.0
        self.running.append(call)
        self.begun.append(call.event.index)

    def take(self, *events):
        for event in events:
            self.calls.take(event)
        return self

    def end(self, position=0):
        self.calls.ended(self.running.pop(position), "value", None, 1.0)
        return self

    @property
    def errors(self):
        return [answer.error for answer in self.answers]


def test_a_closed_tool_begins_with_its_call():
    assert Turn(complete(0, "closed")).begun == [0]


@pytest.mark.parametrize(
    "event",
    [TEXT, ReasoningDelta("hm"), RefusalDelta("no"), ToolCallStart(1, "b", "x"), complete(1, "unknown"), DONE],
    ids=lambda event: type(event).__name__,
)
def test_a_superseded_tool_begins_when_the_model_goes_on(event):
    turn = Turn(complete(0, "superseded"))
    assert turn.begun == []
    assert turn.take(event).begun == [0]


@pytest.mark.parametrize(
    "event",
    [ToolCallDelta(0, ""), Error("frame", "late_arguments", "", 0)],
    ids=lambda event: type(event).__name__,
)
def test_what_belongs_to_the_same_call_does_not_supersede_it(event):
    assert Turn(complete(0, "superseded"), event).begun == []


@pytest.mark.parametrize("name", ["superseded", "finish"])
def test_a_turn_that_did_not_end_well_runs_nothing_that_waited(name):
    turn = Turn(complete(0, name), FAILED)
    assert turn.begun == []
    assert turn.errors == ["the turn did not finish; the call was not run"]
    assert turn.calls.results[0].incomplete


def test_a_finish_tool_begins_only_when_the_turn_ended_well():
    turn = Turn(complete(0, "finish"), TEXT, ToolCallStart(1, "b", "finish"))
    assert turn.begun == []
    assert turn.take(DONE).begun == [0]


def test_what_waited_for_the_end_begins_in_call_order():
    assert Turn(complete(1, "finish"), complete(0, "finish"), complete(2, "superseded"), DONE).begun == [0, 1, 2]


def test_a_repaired_call_waits_for_the_end_unless_its_tool_says_closed():
    turn = Turn(*(complete(i, n, "recovered") for i, n in enumerate(["closed", "superseded", "finish"])), TEXT)
    assert turn.begun == [0]
    assert turn.take(DONE).begun == [0, 1, 2]


def test_a_repaired_call_does_not_run_against_the_policy():
    turn = Turn(complete(0, "closed", "recovered"), DONE, run_recovered=False)
    assert (turn.begun, len(turn.answers)) == ([], 1)


@pytest.mark.parametrize(
    "name, why",
    [("shell", "there is no tool 'shell'"), ("upper", "not unlocked"), ("declared-only", "cannot be run here")],
)
def test_a_call_that_must_not_run_is_answered_at_once(name, why):
    turn = Turn(complete(0, name))
    assert turn.begun == []
    assert why in turn.errors[0]


def test_an_unlocked_tier_runs():
    assert Turn(complete(0, "upper"), tier=1).begun == [0]


def test_the_answer_to_an_unknown_tool_lists_the_known_ones():
    assert "closed, superseded, finish" in Turn(complete(0, "Closed")).errors[0]


@pytest.mark.parametrize("again", [complete(0, "closed", n=1), complete(4, "closed", "recovered", id="call-0")])
def test_a_call_that_is_complete_twice_runs_once(again):
    turn = Turn(complete(0, "closed"), again, DONE).end()
    assert (turn.begun, len(turn.answers), len(turn.calls.results)) == ([0], 1, 1)


@pytest.mark.parametrize(
    "second", [complete(1, "closed", id="call-0", n=1), complete(1, "closed"), complete(1, "closed", id="")]
)
def test_different_calls_run_even_if_the_server_repeats_an_id(second):
    assert Turn(complete(0, "closed"), second).begun == [0, 1]


def test_calls_without_ids_are_told_apart_by_index():
    assert Turn(complete(0, "closed", id=""), complete(1, "closed", id="")).begun == [0, 1]


def test_a_revoked_call_that_waits_never_runs():
    turn = Turn(complete(0, "finish"), ToolCallRevoked(0, "call-0", "content_filter"), DONE)
    assert turn.begun == []
    assert "content_filter" in turn.errors[0]
    assert turn.answers[0].revoked


def test_a_revoked_call_that_waits_for_a_free_place_never_runs():
    turn = Turn(complete(0, "closed"), complete(1, "closed"), ToolCallRevoked(1, "call-1", "error"), limit=1)
    assert turn.end().begun == [0]
    assert [result.revoked for result in turn.calls.results] == [False, True]


def test_a_revoked_call_that_runs_keeps_its_result_marked():
    turn = Turn(complete(0, "closed"), ToolCallRevoked(0, "call-0", "error"), FAILED).end()
    (result,) = turn.answers
    assert (result.result, result.error, result.revoked, result.incomplete) == ("value", None, True, True)


def test_a_revoked_call_that_has_ended_keeps_its_result_marked():
    turn = Turn(complete(0, "closed")).end().take(ToolCallRevoked(0, "call-0", "error"), FAILED)
    (result,) = turn.calls.results
    assert (result.result, result.revoked, result.incomplete) == ("value", True, True)
    assert len(turn.answers) == 1


def test_a_call_that_was_never_complete_can_be_revoked_without_harm():
    assert Turn(ToolCallRevoked(7, "x", "error"), DONE).answers == []


def test_a_source_that_ends_without_done_has_not_ended_well():
    turn = Turn(complete(0, "finish"))
    turn.calls.source_ended()
    assert turn.errors == ["the turn did not finish; the call was not run"]


def test_a_stopped_run_answers_what_runs_and_what_waits():
    turn = Turn(complete(0, "closed"), complete(1, "finish"))
    turn.calls.stop()
    assert turn.errors == ["the run was stopped before the tool had ended"] * 2


def test_results_are_in_call_order():
    turn = Turn(*(complete(index, "closed") for index in (2, 0, 1))).end(2).end(0).end(0)
    assert [answer.index for answer in turn.answers] == [1, 2, 0]
    assert [result.index for result in turn.calls.results] == [0, 1, 2]


names = st.sampled_from([*TOOLS, "unknown"])
events = st.one_of(
    st.builds(complete, st.integers(0, 5), names, st.sampled_from(["native", "recovered"])),
    st.builds(ToolCallRevoked, st.integers(0, 5), st.just("x"), st.just("error")),
    st.just(TEXT),
    st.integers(0, 3),  # the tool at this place ends, if it runs
)


@given(st.lists(events, max_size=20), st.sampled_from([DONE, FAILED, None]), st.integers(1, 3))
def test_each_call_gets_exactly_one_answer_and_effects_need_a_good_end(steps, last, limit):
    turn, completed = Turn(limit=limit), {}
    for step in steps:
        if not isinstance(step, int):
            turn.take(step)
            if type(step) is type(DONE_CALL):
                completed.setdefault(step.index, step)
        elif step < len(turn.running):
            turn.end(step)
        assert len(turn.running) <= limit
        assert all(completed[index].name not in ("finish", "upper", "unknown") for index in turn.begun)
    if last is not None:
        turn.take(last)
    turn.calls.source_ended()
    while turn.running:
        turn.end()
    turn.calls.stop()
    assert sorted(answer.index for answer in turn.answers) == sorted(completed)
    assert [result.index for result in turn.calls.results] == sorted(completed)
    assert len(turn.begun) == len(set(turn.begun))
    if last is not DONE:
        assert all(completed[index].name != "finish" for index in turn.begun)


DONE_CALL = complete(0, "closed")
