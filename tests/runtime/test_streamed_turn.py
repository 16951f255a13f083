"""What a turn commands for a streamed argument, fact by fact."""

import msgspec
import pytest
from turns import DONE, FAILED, complete

import streamparse as sp
from streamparse.runtime.facts import (
    Answer,
    Break,
    Cancel,
    Cancelled,
    Command,
    Fact,
    Misread,
    Open,
    Opened,
    Received,
    Restarted,
    Returned,
    SourceEnded,
    Start,
    Wake,
    Woke,
)
from streamparse.runtime.turn import Turn


@sp.tool(effect="idempotent", lock="path", timeout=5)
async def write(path: str, content: sp.Streamed[str]) -> str:
    return ""


BEGUN = sp.ToolCallStart(0, "call-0", "write")
WHOLE = complete(0, "write", path="a", content="text")


def opened(path="a", at=0.0, streamed=("content",)):
    return Opened(0, {"path": path}, streamed, at)


def take(*facts, **options):
    """Take facts; return the turn, and what it commands for the last of them but to be woken."""
    turn = Turn([write], **options)
    commands = []
    for each in facts:
        commands = leave_out_wakes(turn.take(each if hasattr(each, "at") else Received(each, 0.0)))
    return turn, commands


def leave_out_wakes(commands):
    return [command for command in commands if not isinstance(command, Wake)]


def test_a_function_is_opened_with_what_is_there():
    _, commands = take(BEGUN, opened())
    assert commands == [Open(0, 1, "call-0", "write", {"path": "a"}, ("content",), "run:0:0")]


@pytest.mark.parametrize(
    "fact",
    [
        opened(streamed=("other",)),
        Opened(0, {}, ("content",), 0.0),
        Opened(0, {"path": "a", "content": "text"}, ("content",), 0.0),
        Opened(0, {"path": {}}, ("content",), 0.0),
        Opened(7, {"path": "a"}, ("content",), 0.0),
    ],
    ids=["another-name", "no-path", "not-streamed", "bad-path", "no-call"],
)
def test_nothing_is_opened_that_could_not_pass(fact):
    assert take(BEGUN, fact)[1] == []


@pytest.mark.parametrize(
    "before", [(WHOLE,), (DONE,), (FAILED,), (Cancelled(0.0),)], ids=["whole", "done", "failed", "cancelled"]
)
def test_nothing_is_opened_that_is_whole_or_over(before):
    assert take(BEGUN, *before, opened())[1] == []


def test_the_beginning_is_the_end_of_the_text_and_its_time_counts_from_there():
    _, commands = take(BEGUN, opened(), Received(WHOLE, 3.0), Received(DONE, 4.0))
    assert commands == [Start(0, 1, "call-0", "write", {"path": "a", "content": "text"}, "run:0:0", 9.0)]


def test_the_result_counts_from_the_beginning():
    facts = (BEGUN, opened(), Received(WHOLE, 3.0), Received(DONE, 4.0), Returned(0, 1, 6.0, "written"))
    _, (answer,) = take(*facts)
    assert (answer.result.started, answer.result.ended, answer.result.seconds) == (4.0, 6.0, 2.0)


def test_what_is_broken_off_is_answered_once_it_has_returned():
    facts = (BEGUN, opened(), SourceEnded(1.0))
    turn, commands = take(*facts)
    (broken,) = commands
    assert (type(broken), broken.index, broken.attempt) == (Break, 0, 1)
    assert turn.results == []
    assert not turn.is_settled
    _, (answer,) = take(*facts, Returned(0, 1, 2.0, "written"))
    assert isinstance(answer, Answer)
    assert (answer.result.result, answer.result.failure.code, answer.result.attempts) == (None, "unfinished", 0)
    assert answer.result.started is None


def test_a_function_that_was_broken_off_is_cancelled_once_when_its_time_is_over():
    facts = (BEGUN, opened(), SourceEnded(1.0))
    turn, _ = take(*facts)
    assert leave_out_wakes(turn.take(Woke(5.9))) == []
    assert turn.take(Woke(6.0)) == [Cancel(0, 1)]
    assert turn.take(Woke(60.0)) == []
    (answer,) = turn.take(Returned(0, 1, 61.0, cancelled=True))
    assert answer.result.failure.code == "unfinished"


def test_a_turn_asks_to_be_woken_when_the_time_to_clean_up_is_over():
    turn = Turn([write])
    for fact in (Received(BEGUN, 0.0), opened()):
        turn.take(fact)
    assert Wake(6.0) in turn.take(SourceEnded(1.0))


def test_no_time_is_over_while_the_model_writes():
    turn = Turn([write])
    turn.take(Received(BEGUN, 0.0))
    assert not any(isinstance(command, Wake) for command in turn.take(opened()))
    assert turn.take(Woke(1000.0)) == []


def test_the_end_of_the_run_breaks_and_cancels_what_is_open():
    _, commands = take(BEGUN, opened(), Cancelled(1.0))
    assert [type(command) for command in commands] == [Break, Cancel]
    turn, commands = take(BEGUN, opened(), SourceEnded(31.0), time_limit=30.0)
    assert [type(command) for command in commands] == [Break, Cancel]
    (answer,) = turn.take(Returned(0, 1, 31.0, cancelled=True))
    assert answer.result.failure.code == "out_of_time"


def test_what_differs_is_broken_off_and_then_runs_whole():
    other = complete(0, "write", path="b", content="text")
    turn, commands = take(BEGUN, opened(), other, DONE)
    assert commands == []
    assert [type(command) for command in turn.take(Returned(0, 1, 1.0))][:1] == [Start]


@pytest.mark.parametrize(
    "event", [complete(0, "write", id="another", path="a", content="text"), complete(0, "write", path="b", content="t")]
)
def test_another_id_or_another_argument_breaks_off_what_was_opened(event):
    assert [type(command) for command in take(BEGUN, opened(), event)[1]] == [Break]


def test_what_was_misread_is_broken_off_and_then_runs_whole():
    turn, commands = take(BEGUN, opened(), Misread(0, 0.0))
    assert [type(command) for command in commands] == [Break]
    assert turn.take(Received(WHOLE, 1.0)) == []
    turn.take(Received(DONE, 1.0))
    (start, *_) = turn.take(Returned(0, 1, 1.0))
    assert start == Start(0, 1, "call-0", "write", {"path": "a", "content": "text"}, "run:0:0", 6.0)


def test_while_it_is_broken_off_its_old_lock_is_held_and_so_is_its_new_one():
    turn, _ = take(BEGUN, opened(), complete(0, "write", path="b", content="text"))
    for index, path in ((1, "a"), (2, "b"), (3, "c")):
        turn.take(Received(complete(index, "write", path=path, content="text"), 1.0))
    starts = [command.index for command in turn.take(Received(DONE, 1.0)) if isinstance(command, Start)]
    assert starts == [3]
    starts = [command.index for command in turn.take(Returned(0, 1, 2.0)) if isinstance(command, Start)]
    assert starts == [0, 1]


def test_a_call_that_waits_for_its_lock_is_opened_when_it_is_free():
    turn = Turn([write])
    turn.take(Received(WHOLE, 0.0))
    (start, _) = turn.take(Received(sp.ToolCallStart(1, "call-1", "write"), 0.0))
    assert isinstance(start, Start)
    assert turn.take(Opened(1, {"path": "a"}, ("content",), 0.0)) == []
    commands = turn.take(Returned(0, 1, 1.0, "written"))
    assert [(type(each), each.index) for each in commands if isinstance(each, Open)] == [(Open, 1)]


def test_after_a_crash_inside_the_call_it_has_not_begun():
    turn, commands = take(BEGUN, opened(), Restarted(1.0))
    (answer,) = commands
    assert answer.result.failure.code == "unfinished"
    assert answer.result.attempts == 0
    assert turn.is_settled


def test_after_a_crash_of_one_that_was_broken_off_its_answer_is_given():
    _, (answer,) = take(BEGUN, opened(), SourceEnded(0.5), Restarted(1.0))
    assert "the stream ended inside the call" in answer.result.error


def test_after_a_crash_a_call_that_had_begun_runs_again_with_the_whole_text():
    _, commands = take(BEGUN, opened(), WHOLE, DONE, Restarted(1.0))
    assert commands == [Start(0, 2, "call-0", "write", {"path": "a", "content": "text"}, "run:0:0", 6.0)]


def test_a_function_that_returns_before_the_call_is_whole_is_called_again_with_all_of_it():
    turn, _ = take(BEGUN, opened(), Returned(0, 1, 1.0, "too early"))
    assert turn.results == []
    turn.take(Received(WHOLE, 2.0))
    (start, *_) = turn.take(Received(DONE, 2.0))
    assert (start.attempt, start.arguments["content"]) == (1, "text")


def test_its_facts_and_commands_are_the_same_once_they_were_written_as_json():
    facts = [Received(BEGUN, 0.0), opened(), Misread(0, 0.0), SourceEnded(1.0)]
    assert msgspec.json.decode(msgspec.json.encode(facts), type=list[Fact]) == facts
    turn = Turn([write])
    commands = [command for fact in facts for command in turn.take(fact)]
    assert {Open, Break} <= {type(command) for command in commands}
    assert msgspec.json.decode(msgspec.json.encode(commands), type=list[Command]) == commands
