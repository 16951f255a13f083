"""What a turn does at the edges: what it takes for granted, and what is exactly on a limit."""

from datetime import UTC, datetime

import pytest
from turns import DONE, TEXT, complete

from streamparse.events import Done, Error, TextDelta, ToolCallRevoked, ToolCallStart
from streamparse.runtime.admission import find_needed
from streamparse.runtime.endings import CUT_INSIDE, DIFFERS, UNFINISHED
from streamparse.runtime.facts import (
    Abandoned,
    Answer,
    Approval,
    ApprovalRequest,
    Asked,
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
    Suspended,
    Wake,
    Withdrawn,
    Woke,
)
from streamparse.runtime.retries import find_jitter
from streamparse.runtime.turn import Turn
from streamparse.tools import StateChange, Streamed, Tool, ToolFailure, tool

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "d": {"type": "integer", "default": 2}, "m": {"type": "integer"}},
}


def do_nothing(**arguments):
    """Do nothing."""


READ = Tool("read", "", SCHEMA, do_nothing, "read")
WRITE = Tool("write", "", SCHEMA, do_nothing, "idempotent")
SEND = Tool("send", "", SCHEMA, do_nothing, "write")
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


def test_unless_said_quoted_and_late_calls_do_not_run_and_text_behind_a_call_counts():
    turn = Turn([READ, SEND])
    calls = complete(0, "read", place="quoted"), complete(1, "read", "recovered"), complete(2, "send", place="plain")
    said = hear(turn, *received(*calls, TEXT, TextDelta(" "), DONE))
    assert [result.failure.code for result in answers(said)] == ["quoted", "recovered", "divided"]


def test_a_quoted_call_that_may_run_is_no_text_behind_another():
    turn = Turn([READ, SEND], allow=["quoted"])
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


@pytest.mark.parametrize("at", [10.0, 11.0])
def test_what_fails_when_the_runs_time_is_over_is_answered_with_its_own_failure(at):
    """R12: what the tool says of its fault is the result; it is not tried again."""
    turn = Turn([WRITE], time_limit=10.0)
    hear(turn, *received(complete(0, "write"), TEXT))
    (answer,) = hear(turn, Returned(0, 1, at, failure=NO_LUCK))
    assert answer.result.failure == NO_LUCK
    assert answer.result.incomplete


@pytest.mark.parametrize("began", [True, False])
@pytest.mark.parametrize("retries", [0, 2])
def test_a_call_out_of_its_own_time_that_ends_when_the_runs_time_is_over_is_out_of_the_runs(began, retries):
    read = Tool("read", "", SCHEMA, do_nothing, "read", timeout=5.0, retries=retries)
    turn = Turn([read], time_limit=10.0)
    hear(turn, *received(complete(0, "read")), Woke(5.0))
    (answer,) = hear(turn, Returned(0, 1, 11.0, cancelled=True, began=began))
    assert answer.result.failure.code == "out_of_time"


def test_nobody_is_asked_once_the_time_of_the_run_is_over():
    turn = Turn([Tool("ask", "", SCHEMA, do_nothing, "read", needs_approval=True)], time_limit=10.0)
    hear(turn, *received(TEXT))
    said = hear(turn, *received(complete(0, "ask"), at=10.0))
    assert not any(isinstance(command, RequestApproval) for command in said)
    assert len(answers(said)) == 1


def test_a_call_that_is_answered_while_its_function_goes_on_is_not_answered_again_by_the_end_of_the_run():
    turn = Turn([Tool("read", "", SCHEMA, do_nothing, "read", timeout=5.0, retries=0)], time_limit=10.0)
    hear(turn, *received(complete(0, "read")), Woke(5.0))
    assert len(answers(hear(turn, Abandoned(0, 1, 6.0)))) == 1
    assert answers(hear(turn, Woke(10.0), Cancelled(11.0), Returned(0, 1, 12.0))) == []


def test_a_call_that_begins_behind_a_stop_is_answered_by_the_next_one():
    turn = Turn([READ])
    hear(turn, Cancelled(0.0), *received(ToolCallStart(0, "a", "read")))
    assert not turn.is_settled
    (result,) = answers(hear(turn, Cancelled(1.0)))
    assert (result.failure.code, turn.is_settled) == ("stopped", True)


def test_a_call_that_waits_for_approval_is_asked_about_again_after_a_crash_and_runs_once():
    turn = Turn([Tool("ask", "", SCHEMA, do_nothing, "write", needs_approval=True)])
    (first,) = hear(turn, *received(complete(0, "ask"), DONE))
    (again,) = hear(turn, Restarted(1.0))
    assert again == first
    assert starts(hear(turn, Approval(0, True, 2.0))) == [0]
    assert hear(turn, Approval(0, True, 3.0)) == []
    assert hear(turn, Approval(0, False, 3.0), Approval(5, True, 3.0)) == []


INNER = ApprovalRequest(0, "inner", "pay", {}, "other:0:0")


def test_a_call_has_all_its_time_left_once_its_function_waits_for_no_approval_of_its_own():
    turn = Turn([Tool("read", "", SCHEMA, do_nothing, "read", timeout=5.0)], time_limit=10.0)
    hear(turn, *received(complete(0, "read"), DONE), SourceEnded(0.0))
    hear(turn, Asked(0, INNER, 1.0), Asked(0, INNER, 2.0), Woke(5.0), Approval(0, True, 30.0), Woke(40.0))
    assert (turn.is_waiting, turn.waited) == (True, 39.0)
    hear(turn, Withdrawn(0, 101.0))
    assert (turn.is_waiting, turn.waited) == (False, 100.0)
    assert not any(isinstance(command, Cancel) for command in hear(turn, Woke(104.9)))
    assert any(isinstance(command, Cancel) for command in hear(turn, Woke(105.0)))


def test_a_call_whose_function_waits_is_not_put_off_and_waits_for_nothing_when_it_begins_again():
    turn = Turn([Tool("read", "", SCHEMA, do_nothing, "read", timeout=5.0)])
    hear(turn, *received(complete(0, "read"), DONE), SourceEnded(0.0), Asked(0, INNER, 1.0))
    assert turn.is_waiting
    assert hear(turn, Suspended(2.0)) == []
    assert turn.waiting == []
    assert starts(hear(turn, Restarted(3.0))) == [0]
    assert not turn.is_waiting
    assert hear(turn, Asked(7, INNER, 3.0), Approval(0, True, 3.0), Withdrawn(0, 3.0), Withdrawn(7, 3.0)) == []


def test_calls_that_wait_for_approval_are_put_off_only_once_no_function_runs():
    asks = Tool("ask", "", SCHEMA, do_nothing, "write", needs_approval=True)
    turn = Turn([READ, asks], timeout=None)
    hear(turn, *received(complete(0, "read"), complete(1, "ask"), DONE), SourceEnded(0.0))
    assert not turn.is_waiting
    assert hear(turn, Suspended(1.0)) == []
    assert (turn.waiting, turn.is_settled) == ([], False)
    hear(turn, Returned(0, 1, 2.0))
    assert turn.is_waiting
    hear(turn, Suspended(3.0))
    assert ([call.index for call in turn.waiting], turn.is_settled) == ([1], True)
    assert [result.failure and result.failure.code for result in turn.results] == [None, "waiting"]


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
    Tool("of anything", "", {"type": "object", "properties": {"v": True}}, do_nothing, "idempotent", lock="v"),
    Tool("unlocked", "", SCHEMA, do_nothing, "idempotent"),
    Tool("everything", "", SCHEMA, do_nothing, "read", lock="*"),
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
        (complete(0, "of value", v="aa"), complete(1, "of value", v="aa"), False),
        (complete(0, "of value", v="aa"), complete(1, "by function", v="aa"), False),
        (complete(0, "of value", v="aa"), complete(1, "by function", v=["bb", "aa"]), False),
        (complete(0, "of value", v="aa"), complete(1, "by function", v=["a", "bb"]), True),
        (complete(0, "of value", v="aa"), complete(1, "by function", v=None), True),
        (complete(0, "of value", v="aa"), complete(1, "by function", v=[]), True),
        (complete(0, "of value", v={"a": 1, "b": 2}), complete(1, "of value", v={"b": 2, "a": 1}), False),
        (complete(0, "of value", v="1"), complete(1, "of value", v=1), False),
        (complete(0, "of anything"), complete(1, "unlocked"), False),
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
    turn = Turn([Tool("read", "", SCHEMA, do_nothing, "read", retries=3)], timeout=None)
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


@pytest.mark.parametrize("place", ["bare", "thought", "quoted"])
def test_a_call_that_has_no_marker_of_its_own_waits_for_the_end_though_another_follows(place):
    turn = Turn([WRITE, READ], allow=("divided", "quoted"))
    assert starts(hear(turn, *received(complete(0, "write", place=place), complete(1, "read")))) == [1]
    assert starts(hear(turn, *received(DONE))) == [0]


def test_what_a_function_changed_before_it_was_left_behind_is_told():
    turn = Turn([READ], timeout=5.0)
    hear(turn, *received(complete(0, "read")), Woke(5.0))
    changed = StateChange("FileCreated", "a.txt")
    (result,) = answers(hear(turn, Abandoned(0, 1, 5.0, state_changes=(changed,))))
    assert result.state_changes == (changed,)


def test_what_all_attempts_changed_is_told():
    turn = Turn([READ], timeout=None)
    hear(turn, *received(complete(0, "read")))
    changes = [StateChange("FileCreated", name) for name in "ab"]
    hear(turn, Returned(0, 1, 0.0, failure=NO_LUCK, state_changes=(changes[0],)), Woke(1.0))
    (result,) = answers(hear(turn, Returned(0, 2, 2.0, state_changes=(changes[1],))))
    assert result.state_changes == tuple(changes)


# -- arguments that are streamed


async def write_part(path: str, content: Streamed[str], n: int = 0) -> None:
    """Write."""


def ask_if_many(call):
    return call.arguments.get("n", 0) > 1


PARTS = [
    Tool("by path", function=write_part, effect="idempotent", lock="path"),
    Tool("by content", function=write_part, effect="idempotent", lock="content"),
    Tool("by length", function=write_part, effect="idempotent", lock=lambda arguments: arguments["path"]),
    Tool("unlocked", function=write_part, effect="read"),
    Tool("write", function=write_part, effect="write"),
    Tool("asks", function=write_part, effect="read", needs_approval=True),
]


def opened(index=0, at=0.0, **arguments):
    return Opened(index, arguments, ("content",), at)


@pytest.mark.parametrize(
    "name, may_open",
    [("by path", True), ("by content", False), ("unlocked", True), ("write", False), ("asks", False)],
)
def test_a_function_is_called_before_its_call_is_whole_unless_lock_effect_or_approval_need_it_whole(name, may_open):
    said = hear(Turn(PARTS), *received(ToolCallStart(0, "a", name)), opened(path="x"))
    assert [type(command) for command in said] == [Open] * may_open
    for command in said:
        assert (command.index, command.attempt, command.id, command.name) == (0, 1, "a", name)
        assert (command.arguments, command.streamed, command.key) == ({"path": "x"}, ("content",), "run:0:0")


def test_a_call_that_is_whole_is_not_opened_and_none_is_opened_twice():
    turn = Turn(PARTS)
    whole = complete(0, "by path", path="x", content="y")
    assert hear(turn, *received(whole), opened(path="x")) == []
    said = hear(turn, *received(ToolCallStart(1, "b", "unlocked")), opened(1, path="z"), opened(1, path="z"))
    assert sum(isinstance(command, Open) for command in said) == 1


@pytest.mark.parametrize("before", [DONE, Done(None, None, False), Error("stream", "provider_error", "")], ids=repr)
def test_nothing_is_opened_behind_an_end(before):
    assert hear(Turn(PARTS), *received(ToolCallStart(0, "a", "unlocked"), before), opened(path="x")) == []


def test_nothing_is_opened_of_a_call_that_nobody_knows():
    assert hear(Turn(PARTS), opened(3, path="x")) == []


def test_a_function_that_was_opened_holds_its_lock_and_its_place_until_it_returns():
    turn = Turn(PARTS, limit=2)
    hear(turn, *received(ToolCallStart(0, "call-0", "by path")), opened(path="x"))
    calls = complete(1, "by path", path="x", content=""), complete(2, "by path", path="z", content="")
    assert starts(hear(turn, *received(*calls, TEXT))) == [2]
    whole = complete(0, "by path", path="x", content="y")
    assert starts(hear(turn, *received(whole, TEXT))) == [0]
    assert starts(hear(turn, Returned(0, 1, 1.0))) == [1]


def test_a_call_that_goes_on_otherwise_than_it_was_opened_is_broken_off_and_runs_anew():
    turn = Turn(PARTS)
    hear(turn, *received(ToolCallStart(0, "call-0", "unlocked")), opened(path="x"))
    (broken,) = [each for each in hear(turn, *received(complete(0, "unlocked", path="y", content="")))
                 if isinstance(each, Break)]  # fmt: skip
    assert (broken.index, broken.attempt) == (0, 1)
    (start, *_) = hear(turn, Returned(0, 1, 1.0, cancelled=True))
    assert (start.arguments, start.attempt) == ({"path": "y", "content": ""}, 1)


def test_a_function_that_was_broken_off_and_does_not_return_is_cancelled_when_its_time_is_over():
    turn = Turn(PARTS, timeout=5.0)
    hear(turn, *received(ToolCallStart(0, "call-0", "unlocked")), opened(path="x"))
    said = hear(turn, *received(Error("call", "malformed_call", "", 0), at=1.0))
    assert [type(command) for command in said] == [Break, Wake]
    assert said[1] == Wake(6.0)
    assert hear(turn, Woke(6.0)) == [Cancel(0, 1)]
    (answer,) = hear(turn, Returned(0, 1, 6.0, cancelled=True))
    assert (answer.result.failure.code, answer.result.attempts, answer.result.started) == ("malformed_call", 0, None)


@pytest.mark.parametrize("end", [Cancelled(1.0), Restarted(1.0)], ids=repr)
def test_what_was_opened_and_never_began_is_answered_as_what_was_cut(end):
    turn = Turn(PARTS)
    hear(turn, *received(ToolCallStart(0, "call-0", "unlocked")), opened(path="x"))
    said = hear(turn, end)
    if isinstance(end, Cancelled):
        assert [type(command) for command in said] == [Break, Cancel]
        said = hear(turn, Returned(0, 1, 1.0, cancelled=True))
    (result,) = answers(said)
    assert (result.attempts, result.failure.code) == (0, "stopped" if isinstance(end, Cancelled) else "unfinished")
    assert turn.is_settled


def breaks(commands):
    return [(each.index, each.attempt, each.reason) for each in commands if isinstance(each, Break)]


def open_one(**options):
    turn = Turn(PARTS, **options)
    hear(turn, *received(ToolCallStart(0, "call-0", "unlocked")), opened(path="x"))
    return turn


@pytest.mark.parametrize(
    "fact",
    [
        Misread(0, 1.0),
        *received(complete(0, "unlocked", id="b", path="x", content="y")),
        *received(complete(0, "by path", path="x", content="y")),
        *received(complete(0, "unlocked", path="z", content="y")),
    ],
    ids=repr,
)
def test_a_function_that_read_something_else_is_broken_off_and_told_why(fact):
    assert breaks(hear(open_one(), fact)) == [(0, 1, DIFFERS)]


@pytest.mark.parametrize(
    "event, reason",
    [
        (DONE, CUT_INSIDE),
        (Done(None, None, False), UNFINISHED),
        (Error("stream", "provider_error", ""), UNFINISHED),
        (complete(0, "unlocked", path="x", content="y", n="many"), "invalid call of 'unlocked'"),
    ],
    ids=repr,
)
def test_a_function_that_was_opened_in_vain_is_told_why(event, reason):
    ((_, _, told),) = breaks(hear(open_one(), *received(event)))
    assert reason in told


def test_what_is_broken_off_is_broken_off_once_and_answered_once():
    turn = open_one()
    end = Error("call", "malformed_call", "", 0)
    said = hear(turn, *received(end, end, Done(None, None, False)), Misread(0, 1.0), SourceEnded(1.0))
    assert len(breaks(said)) == 1
    assert answers(said) == []
    assert not turn.is_settled
    said = hear(turn, Returned(0, 1, 1.0))
    assert [result.failure.code for result in answers(said)] == ["malformed_call"]
    assert turn.is_settled


def test_a_report_that_something_was_misread_of_a_call_that_is_not_open_changes_nothing():
    turn = Turn(PARTS)
    assert hear(turn, Misread(4, 0.0)) == []
    assert breaks(hear(turn, *received(complete(0, "unlocked", path="x", content="")), Misread(0, 0.0))) == []


def test_a_function_that_was_opened_is_cancelled_when_the_run_ends():
    for fact, code in ((Cancelled(1.0), "stopped"), (Woke(9.0), "out_of_time")):
        turn = open_one(time_limit=9.0)
        assert Cancel(0, 1) in hear(turn, fact)
        (result,) = answers(hear(turn, Returned(0, 1, fact.at, cancelled=True)))
        assert result.failure.code == code


@pytest.mark.parametrize(
    "arguments",
    [{}, {"path": "x", "content": "whole"}, {"path": ["x"]}, {"path": "x", "n": "many"}, {"path": "x", "other": 1}],
    ids=repr,
)
def test_what_the_gate_would_not_let_pass_is_not_opened(arguments):
    turn = Turn(PARTS)
    assert hear(turn, *received(ToolCallStart(0, "a", "unlocked")), opened(**arguments)) == []


def test_an_error_of_a_frame_ends_no_call():
    turn = Turn([READ])
    error = Error("frame", "late_arguments", "", 0)
    said = hear(turn, *received(ToolCallStart(0, "call-0", "read"), error, complete(0, "read")))
    assert (starts(said), answers(said)) == ([0], [])


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_as_many_begin_at_one_time_as_there_are_places(limit):
    calls = [complete(index, "send") for index in range(4)]
    assert starts(hear(Turn([SEND], limit=limit), *received(*calls, DONE))) == list(range(limit))


def test_a_function_that_returns_nothing_has_the_value_none():
    turn = Turn([READ])
    hear(turn, *received(complete(0, "read")))
    (result,) = answers(hear(turn, Returned(0, 1, 1.0)))
    assert (result.result, result.success, result.truncated, result.failure) == (None, True, False, None)


def test_the_time_of_a_call_is_told_where_the_clock_is_set():
    for options, time in (({}, None), ({"epoch": 1e9}, datetime.fromtimestamp(1e9 + 7, UTC))):
        turn = Turn([READ], **options)
        hear(turn, *received(ToolCallStart(0, "call-0", "read"), at=7.0), *received(complete(0, "read"), at=8.0))
        (result,) = answers(hear(turn, Returned(0, 1, 9.0)))
        assert result.time == time


@pytest.mark.parametrize("is_done", [False, True])
def test_what_was_answered_before_a_stop_is_marked_unless_the_answer_had_ended(is_done):
    turn = Turn([READ])
    hear(turn, *received(complete(0, "read"), *([DONE] if is_done else [])), Returned(0, 1, 1.0))
    assert not turn.results[0].incomplete
    hear(turn, Cancelled(2.0))
    assert turn.results[0].incomplete == (not is_done)


def test_a_lock_must_be_known_before_a_function_is_opened():
    turn = Turn([Tool("by number", function=write_part, effect="idempotent", lock="n")])
    said = hear(turn, *received(ToolCallStart(0, "a", "by number")), opened(path="x"))
    assert said == []
    assert len(hear(turn, opened(path="x", n=1))) == 1


def test_only_functions_that_nobody_can_stop_are_named_where_no_place_is_free():
    slow = Tool("slow", "", SCHEMA, do_nothing, "read", timeout=100.0)
    turn = Turn([Tool("stuck", "", SCHEMA, do_nothing, "read"), slow, WRITE], limit=2, timeout=5.0)
    hear(turn, *received(complete(0, "stuck"), complete(1, "stuck")), Woke(5.0), Abandoned(0, 1, 5.0))
    hear(turn, Returned(1, 1, 5.0), *received(complete(2, "slow"), complete(3, "write"), at=6.0))
    hear(turn, *received(TextDelta("x"), at=7.0))
    assert answers(hear(turn, Woke(40.0))) == []  # the slow one is not stuck
    locked = Tool("locked", "", SCHEMA, do_nothing, "idempotent", lock="n")
    turn = Turn([locked, slow], limit=3, timeout=5.0)
    calls = complete(0, "locked", n=1), complete(1, "locked", n=1), complete(2, "slow")
    hear(turn, *received(*calls, TEXT), Woke(5.0), Abandoned(0, 1, 5.0))
    (result,) = answers(hear(turn, Woke(10.0)))
    assert "1 threads are held by tools that did not return (locked)" in result.error


def test_a_call_is_stuck_where_what_nobody_can_stop_has_all_places():
    turn = Turn([READ, WRITE], limit=1, timeout=5.0)
    hear(turn, *received(complete(0, "read"), complete(1, "read", n=1)), Woke(5.0), Abandoned(0, 1, 5.0))
    assert answers(hear(turn, Woke(9.9))) == []
    (result,) = answers(hear(turn, Woke(10.0)))
    assert (result.index, result.failure.kind) == (1, "timeout")
    assert "1 threads are held by tools that did not return (read)" in result.error


def test_the_next_attempt_begins_with_whatever_comes_when_its_time_is_there():
    turn = Turn([READ], timeout=None)
    hear(turn, *received(complete(0, "read")), Returned(0, 1, 0.0, failure=NO_LUCK))
    assert starts(hear(turn, *received(TEXT, at=0.05))) == []
    assert starts(hear(turn, *received(TEXT, at=0.3))) == [0]


@pytest.mark.parametrize("end", [Cancelled(0.5), *received(ToolCallRevoked(0, "call-0", "x"))], ids=repr)
def test_what_fails_while_it_is_cancelled_is_not_tried_again(end):
    turn = Turn([READ])
    hear(turn, *received(complete(0, "read")), end)
    (result,) = answers(hear(turn, Returned(0, 1, 1.0, failure=NO_LUCK)))
    assert (result.failure, result.attempts) == (NO_LUCK, 1)


def test_only_texts_that_the_tool_takes_so_are_streamed():
    turn = Turn(PARTS)
    said = hear(turn, *received(ToolCallStart(0, "a", "unlocked")), Opened(0, {"path": "x"}, ("content", "path"), 0.0))
    assert said == []


def test_what_was_checked_is_what_a_function_is_opened_with_though_others_change_it():
    turn = Turn([Tool("by number", function=write_part, effect="read")], limit=1)
    arguments = {"path": "x"}
    hear(turn, *received(ToolCallStart(0, "a", "by number")))
    (command,) = hear(turn, Opened(0, arguments, ("content",), 0.0))
    arguments["path"] = "../y"
    assert command.arguments == {"path": "x"}


def test_the_same_call_is_one_whatever_the_order_of_its_arguments():
    turn = Turn([Tool("write", "", {"type": "object"}, do_nothing, "read")])
    said = hear(turn, *received(complete(0, "write", id="x", a=1, b=2), complete(1, "write", id="x", b=2, a=1)))
    assert [answer.failure.code for answer in answers(said)] == ["duplicate_call"]


def test_only_a_turn_with_a_time_limit_is_limited():
    assert Turn([READ], time_limit=5.0).is_limited is True
    assert Turn([READ]).is_limited is False


def test_the_delays_of_many_calls_spread_over_twice_the_first_one():
    jitters = [find_jitter(f"run:{number}", 0) for number in range(200)]
    assert min(jitters) < 1.1
    assert max(jitters) > 1.9


def test_what_is_required_and_what_the_lock_needs_is_closed_before_a_function_is_opened():
    async def write(n: int, content: Streamed[str], path: str = "") -> None: ...

    assert find_needed(tool(effect="idempotent", lock="path")(write).tool) == {"n", "path"}


def test_a_refusal_is_nothing_that_was_cut():
    (result,) = answers(hear(Turn([READ]), *received(complete(0, "nobody"), DONE)))
    assert result.truncated is False


@pytest.mark.parametrize("truncated", [False, True])
def test_a_value_that_was_cut_says_so(truncated):
    turn = Turn([READ])
    hear(turn, *received(complete(0, "read")))
    (result,) = answers(hear(turn, Returned(0, 1, 1.0, "long", truncated=truncated)))
    assert (result.result, result.truncated) == ("long", truncated)
