"""What a turn does at the edges: what it takes for granted, and what is exactly on a limit."""

import pytest
from turns import DONE, TEXT, complete

from streamparse.events import Done, Error, TextDelta, ToolCallRevoked, ToolCallStart
from streamparse.runtime.facts import (
    Abandoned,
    Answer,
    Approval,
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

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "d": {"type": "integer", "default": 2}, "m": {"type": "integer"}},
}


def do_nothing(**arguments):
    """Do nothing."""


READ = Tool("read", "", SCHEMA, do_nothing, "none")
WRITE = Tool("write", "", SCHEMA, do_nothing, "idempotent")
SEND = Tool("send", "", SCHEMA, do_nothing, "once")
NO_LUCK = ToolFailure("network", "no route")


def hear(turn, *facts):
    return [command for fact in facts for command in turn.take(fact)]


def received(*events, at=0.0):
    return [Received(event, at) for event in events]


def starts(commands):
    return [command.index for command in commands if isinstance(command, Start)]


def answers(commands):
    return [command.result for command in commands if isinstance(command, Answer)]


def test_unless_said_eight_run_at_one_time_for_sixty_seconds_in_the_first_turn_of_a_run():
    turn = Turn([READ])
    said = hear(turn, *received(*(complete(index, "read") for index in range(9))))
    assert starts(said) == list(range(8))
    assert (said[0].key, said[0].deadline, said[0].attempt) == ("run:0:0", 60.0, 1)
    (result,) = answers(hear(turn, Returned(0, 1, 1.0, "value")))
    assert (result.turn, result.attempts) == (0, 1)


def test_a_key_is_made_of_the_run_the_turn_and_the_index():
    (start, _) = hear(Turn([READ], run_id="r", number=7), *received(complete(3, "read")))
    assert start.key == "r:7:3"


def test_unless_said_a_run_may_take_any_time():
    turn = Turn([READ], timeout=None)
    assert hear(turn, *received(complete(0, "read")), *received(TEXT, at=1e9))[1:] == []


def test_unless_said_quoted_and_repaired_calls_do_not_run_and_text_behind_a_call_counts():
    turn = Turn([READ, SEND])
    calls = complete(0, "read", place="quoted"), complete(1, "read", "recovered"), complete(2, "send", place="plain")
    said = hear(turn, *received(*calls, TEXT, TextDelta(" "), DONE))
    assert [result.failure.code for result in answers(said)] == ["quoted", "recovered", "trailed"]


def test_a_quoted_call_that_may_run_is_no_text_behind_another():
    turn = Turn([READ, SEND], run_quoted=True)
    calls = complete(0, "send", place="plain"), complete(1, "read", place="quoted")
    assert starts(hear(turn, *received(*calls, DONE))) == [0, 1]


def test_time_does_not_go_back():
    turn = Turn([READ], timeout=5.0)
    hear(turn, *received(TextDelta("a"), at=10.0))
    (start, wake) = hear(turn, *received(complete(0, "read"), at=3.0))
    assert (start.deadline, wake) == (15.0, Wake(15.0))


def test_what_ends_at_the_very_end_of_the_runs_time_is_not_cancelled():
    turn = Turn([READ], time_limit=10.0)
    hear(turn, *received(complete(0, "read")))
    (answer,) = hear(turn, Returned(0, 1, 10.0, "value"))
    assert answer.result.result == "value"
    assert turn.is_stopped


def test_what_fails_when_the_runs_time_is_over_is_not_tried_again():
    turn = Turn([WRITE], time_limit=10.0)
    hear(turn, *received(complete(0, "write"), TEXT))
    (answer,) = hear(turn, Returned(0, 1, 11.0, failure=NO_LUCK))
    assert answer.result.failure.code == "out_of_time"
    assert "it had begun, and may be called again" in answer.result.error


def test_nobody_is_asked_once_the_time_of_the_run_is_over():
    turn = Turn([Tool("ask", "", SCHEMA, do_nothing, "none", needs_approval=True)], time_limit=10.0)
    hear(turn, *received(TEXT))
    said = hear(turn, *received(complete(0, "ask"), at=10.0))
    assert not any(isinstance(command, RequestApproval) for command in said)
    assert len(answers(said)) == 1


def test_a_call_that_begins_behind_a_stop_is_answered_by_the_next_one():
    turn = Turn([READ])
    hear(turn, Cancelled(0.0), *received(ToolCallStart(0, "a", "read")))
    assert not turn.is_settled
    (result,) = answers(hear(turn, Cancelled(1.0)))
    assert (result.failure.code, turn.is_settled) == ("stopped", True)


def test_a_call_that_waits_for_approval_is_asked_about_again_after_a_crash_and_runs_once():
    turn = Turn([Tool("ask", "", SCHEMA, do_nothing, "once", needs_approval=True)])
    (first,) = hear(turn, *received(complete(0, "ask"), DONE))
    (again,) = hear(turn, Restarted(1.0))
    assert again == first
    assert starts(hear(turn, Approval(0, True, 2.0))) == [0]
    assert hear(turn, Approval(0, True, 3.0)) == []
    assert hear(turn, Approval(0, False, 3.0), Approval(5, True, 3.0)) == []


@pytest.mark.parametrize("fact", [Abandoned(1, 1, 1.0), Abandoned(0, 2, 1.0), Returned(0, 2, 1.0), Returned(9, 1, 1.0)])
def test_a_report_of_what_does_not_run_changes_nothing(fact):
    turn = Turn([READ], timeout=None)
    hear(turn, *received(complete(0, "read")))
    assert hear(turn, fact) == []
    assert len(answers(hear(turn, Returned(0, 1, 2.0)))) == 1
    assert hear(turn, Abandoned(0, 1, 3.0), Returned(0, 1, 3.0)) == []


def test_an_index_without_a_call_and_a_call_without_an_error_are_no_answers():
    turn = Turn([READ])
    events = Error("call", "limit_name", "", None), Error("call", "malformed_call", "", 4), ToolCallRevoked(4, "", "x")
    assert hear(turn, *received(*events, DONE), SourceEnded(1.0)) == []
    assert turn.is_settled


def test_a_call_that_is_still_written_when_it_is_revoked_is_whole_later():
    turn = Turn([READ])
    said = hear(turn, *received(ToolCallStart(0, "a", "read"), ToolCallRevoked(0, "a", "x"), complete(0, "read")))
    assert starts(said) == [0]


def test_a_second_end_does_not_mend_the_first():
    turn = Turn([SEND])
    said = hear(turn, *received(complete(0, "send"), Done(None, None, False), DONE))
    assert [result.failure.code for result in answers(said)] == ["unfinished"]
    assert turn.results[0].incomplete


def test_a_second_end_that_is_bad_marks_what_was_answered():
    turn = Turn([READ])
    hear(turn, *received(complete(0, "read")), Returned(0, 1, 1.0), *received(DONE))
    assert not turn.results[0].incomplete
    hear(turn, *received(Done(None, None, False)))
    assert turn.results[0].incomplete


def test_a_turn_is_settled_once_the_source_has_ended_and_all_is_answered():
    turn = Turn([READ])
    hear(turn, *received(complete(0, "read"), DONE))
    assert not turn.is_settled
    hear(turn, SourceEnded(1.0))
    assert not turn.is_settled
    hear(turn, Returned(0, 1, 2.0))
    assert turn.is_settled
    assert not turn.is_stopped


def test_one_wake_up_is_asked_for_each_time_and_a_later_one_when_it_came():
    turn = Turn([READ], timeout=5.0)
    assert hear(turn, *received(complete(0, "read")))[1:] == [Wake(5.0)]
    assert hear(turn, *received(complete(1, "read"), at=1.0))[1:] == []
    assert answers(hear(turn, Returned(0, 1, 2.0)))
    assert hear(turn, Woke(5.0)) == [Wake(6.0)]


# -- what is locked

LOCKS = [
    Tool("of default", "", SCHEMA, do_nothing, "idempotent", lock="d"),
    Tool("of nothing", "", SCHEMA, do_nothing, "idempotent", lock="m"),
    Tool("of value", "", {"type": "object", "properties": {"v": {}}}, do_nothing, "idempotent", lock="v"),
    Tool(
        "by function",
        "",
        {"type": "object", "properties": {"v": {}}},
        do_nothing,
        "idempotent",
        lock=lambda arguments: arguments.get("v"),
    ),
    Tool("unlocked", "", SCHEMA, do_nothing, "idempotent"),
    Tool("everything", "", SCHEMA, do_nothing, "none", lock="*"),
    Tool("not here", "", SCHEMA, lock="*"),
]


@pytest.mark.parametrize(
    "first, second, are_apart",
    [
        (complete(0, "of default"), complete(1, "of default", d=2), False),
        (complete(0, "of default"), complete(1, "of default", d=3), True),
        (complete(0, "of default", d=3), complete(1, "of default", d=3), False),
        (complete(0, "of nothing"), complete(1, "of nothing", m=3), False),
        (complete(0, "of nothing", m=2), complete(1, "of nothing", m=3), True),
        (complete(0, "of value", v="a"), complete(1, "of value", v="a"), False),
        (complete(0, "of value", v="a"), complete(1, "by function", v="a"), False),
        (complete(0, "of value", v="a"), complete(1, "by function", v=["b", "a"]), False),
        (complete(0, "of value", v="a"), complete(1, "by function", v=["b", "c"]), True),
        (complete(0, "of value", v="a"), complete(1, "by function", v=None), True),
        (complete(0, "of value", v="a"), complete(1, "by function", v=[]), True),
        (complete(0, "of value", v={"a": 1, "b": 2}), complete(1, "of value", v={"b": 2, "a": 1}), False),
        (complete(0, "of value", v="1"), complete(1, "of value", v=1), False),
        (complete(0, "by function", v="*"), complete(1, "unlocked"), False),
        (complete(0, "unlocked"), complete(1, "unlocked"), True),
        (complete(0, "unlocked"), complete(1, "everything"), False),
        (complete(0, "everything"), complete(1, "everything"), True),
        (complete(0, "everything"), complete(1, "unlocked"), False),
        (ToolCallStart(0, "a", "unlocked"), complete(1, "unlocked"), True),
        (ToolCallStart(0, "a", "of value"), complete(1, "unlocked"), False),
        (ToolCallStart(0, "a", "not here"), complete(1, "unlocked"), True),
        (ToolCallStart(0, "a", "unknown"), complete(1, "unlocked"), True),
    ],
    ids=repr,
)
def test_calls_that_share_a_lock_are_kept_apart_and_others_are_not(first, second, are_apart):
    began = starts(hear(Turn(LOCKS), *received(first, second, TEXT)))
    assert (1 in began) == are_apart


def test_a_lock_that_is_held_by_what_was_left_behind_is_free_when_it_returns():
    turn = Turn(LOCKS, timeout=5.0)
    hear(turn, *received(complete(0, "unlocked"), complete(1, "everything"), TEXT), Woke(5.0), Abandoned(0, 1, 5.0))
    assert starts(hear(turn, Returned(0, 1, 6.0))) == [1]


# -- the next attempt


def test_a_call_is_tried_again_as_often_as_its_tool_says():
    turn = Turn([Tool("read", "", SCHEMA, do_nothing, "none", retries=3)], timeout=None)
    hear(turn, *received(complete(0, "read")))
    moments, now = [], 0.0
    for attempt in range(1, 5):
        said = hear(turn, Returned(0, attempt, now, failure=NO_LUCK))
        if attempt < 4:
            ((wake,)) = [command.at for command in said if isinstance(command, Wake)]
            moments.append(wake - now)
            now = wake
            assert starts(hear(turn, Woke(now))) == [0]
    assert answers(said)[0].attempts == 4
    assert all(low <= moment <= 2 * low for low, moment in zip((0.1, 0.2, 0.4), moments, strict=True))


@pytest.mark.parametrize(
    "failure, again",
    [
        (ToolFailure("quota", "", details={"retry_after": 60}), 60.0),
        (ToolFailure("quota", "", details={"retry_after": 60.5}), None),
        (ToolFailure("quota", "", details={"retry_after": 0.01}), 0.2),
        (ToolFailure("network", "", recoverable=False), None),
        (ToolFailure("execution", ""), None),
        (ToolFailure("fatal", ""), None),
    ],
)
def test_a_failure_says_whether_and_when_there_is_another_attempt(failure, again):
    turn = Turn([READ], timeout=None)
    hear(turn, *received(complete(0, "read")))
    said = hear(turn, Returned(0, 1, 0.0, failure=failure))
    wakes = [command.at for command in said if isinstance(command, Wake)]
    assert bool(wakes) == (again is not None)
    assert all(again / 2 <= wake <= again for wake in wakes)
    assert len(answers(said)) == (again is None)


def test_calls_that_fail_at_one_moment_are_tried_again_at_different_ones():
    turn = Turn([READ], timeout=None)
    hear(turn, *received(*(complete(index, "read") for index in range(4))))
    for index in range(4):
        hear(turn, Returned(index, 1, 1.0, failure=NO_LUCK))
    moments, now = set(), 1.0
    while len(moments) < 4:
        now += 0.0001
        moments |= {now} if starts(hear(turn, Woke(now))) else set()
        assert now < 1.3
