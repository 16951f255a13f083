"""What an agent does between its turns, by facts alone."""

import msgspec
import pytest

from streamparse.events import Error
from streamparse.response import BrokenCall, ParsedResponse, ToolCall, ToolIntent
from streamparse.runtime import History, max_repeats, max_seconds, max_tokens, max_turns
from streamparse.runtime.loop import (
    ANSWER_NOW,
    ASK_AGAIN,
    AnswerEnded,
    Command,
    Decided,
    Fact,
    Finish,
    Interrupted,
    Loop,
    RequestFailed,
    Resumed,
    Send,
    Started,
    TakeUp,
    Wait,
    Waited,
)
from streamparse.runtime.model_failures import ModelFailure
from streamparse.runtime.rounds import WaitingCall
from streamparse.tools import ToolFailure, ToolResult

ASKED = History(system="be brief").with_prompt("hello")
OVERLOADED = ModelFailure("overloaded", status=529, is_retryable=True)
REFUSED = ModelFailure("no such model", status=404)
WAITING = WaitingCall("run:0:0", 0, "look", {}, "write")
CUT = Error("stream", "stream_truncated", "the body ended before the server ended its turn", None, 10)
MISSING = Error("stream", "missing_call", "the turn ended with 'tool_calls', and there is no call", None, 10)


def text(said="hi", **fields):
    return ParsedResponse(content=said, **{"finish_reason": "stop", "ok": True, **fields})


def calling(*names, ok=True, **fields):
    calls = [ToolCall(name, {}, f"c{index}", index=index) for index, name in enumerate(names)]
    return ParsedResponse(tool_calls=calls, finish_reason="tool_calls", ok=ok, **fields)


def result(index=0, name="look", value="seen", attempts=1, **fields):
    return ToolResult(f"c{index}", name, value, index=index, attempts=attempts, arguments={}, **fields)


def begin(**options):
    loop = Loop(**options)
    sent = loop.take(Started(ASKED, 0.0))
    assert isinstance(sent, Send)
    return loop, sent


def last_prompt(loop):
    return loop.history.entries[-1].parts[0].text


def test_a_text_alone_is_the_output_and_ends_the_run():
    loop, sent = begin()
    assert sent == Send(0, ASKED, 0)
    assert loop.take(AnswerEnded(text("hi"), 1.0)) == Finish(None, "hi", True)
    assert len(loop.history.entries) == 2


def test_after_calls_the_next_request_holds_their_results():
    loop, _ = begin()
    sent = loop.take(AnswerEnded(calling("look"), 1.0, (result(),)))
    assert (sent.number, sent.model) == (1, 0)
    assert sent.history.entries[-1].results == (result(),)


def test_a_tool_that_ends_the_run_does_so_with_its_value_when_it_succeeds():
    loop, _ = begin(ending=frozenset(("submit",)))
    failed = result(0, "submit", None, error="no", failure=ToolFailure("execution", "no"))
    assert isinstance(loop.take(AnswerEnded(calling("submit"), 1.0, (failed,))), Send)
    results = (result(0, "look"), result(1, "submit", 42))
    assert loop.take(AnswerEnded(calling("look", "submit"), 2.0, results)) == Finish(None, 42, True)
    assert loop.history.entries[-1].results == results


MEANT = text('Sure:\n{"name": "look"}', intents=[ToolIntent("look", '{"name": "look"}', is_call=True)])
SAID = text("I'll use the look tool.", intents=[ToolIntent("look", "I'll use the look tool.")])


def test_a_model_whose_text_ends_like_a_call_is_asked_once_whether_it_meant_one():
    loop, _ = begin()
    sent = loop.take(AnswerEnded(MEANT, 1.0))
    assert (sent.number, sent.history) == (1, loop.history)
    assert last_prompt(loop) == ASK_AGAIN
    assert loop.history.entries[-2].response.tool_calls == []
    assert loop.take(AnswerEnded(MEANT, 2.0)) == Finish(None, MEANT.content, True)


def test_a_model_that_then_calls_goes_on_and_may_be_asked_again_after_its_call():
    loop, _ = begin()
    loop.take(AnswerEnded(MEANT, 1.0))
    assert isinstance(loop.take(AnswerEnded(calling("look"), 2.0, (result(),))), Send)
    assert isinstance(loop.take(AnswerEnded(MEANT, 3.0)), Send)
    assert loop.take(AnswerEnded(text("done"), 4.0)) == Finish(None, "done", True)


NOT_ASKED = {
    "prose that speaks of a tool": (SAID, {}),
    "an answer that was cut": (msgspec.structs.replace(MEANT, finish_reason="length"), {}),
    "an agent that does not ask": (MEANT, {"ask_again": False}),
    "a run that may not ask": (MEANT, {"stops": [max_turns(1)]}),
}


@pytest.mark.parametrize(("answer", "options"), NOT_ASKED.values(), ids=NOT_ASKED)
def test_else_a_text_is_the_output_at_once(answer, options):
    loop, _ = begin(**options)
    finish = loop.take(AnswerEnded(answer, 1.0))
    assert (finish.output, finish.has_output) == (answer.content, True)


def test_calls_that_did_not_run_are_counted_by_their_code():
    loop, _ = begin()
    refused = [
        result(index, value=None, attempts=attempts, error="no", failure=ToolFailure("validation", "no", code))
        for index, (code, attempts) in enumerate([("divided", 0), ("divided", 0), ("raised", 1), ("recovered", 0)])
    ]
    loop.take(AnswerEnded(calling(*["look"] * 5), 1.0, (*refused, result(4))))
    loop.take(AnswerEnded(calling("look"), 2.0, (refused[0],)))
    assert loop.refused == {"divided": 3, "recovered": 1}


def test_a_revoked_call_ends_no_run():
    loop, _ = begin(ending=frozenset(("submit",)))
    revoked = result(0, "submit", 42, revoked=True)
    answer = calling("submit", ok=False, errors=[MISSING])
    assert isinstance(loop.take(AnswerEnded(answer, 1.0, (revoked,))), Send)


SEARCH = {"kind": "server_tool_use", "data": {"type": "server_tool_use", "id": "s"}, "index": None}


def test_a_pause_in_which_nothing_was_said_is_an_empty_answer():
    loop, _ = begin()
    assert isinstance(loop.take(AnswerEnded(text("", finish_reason="pause_turn"), 1.0)), Send)
    assert "empty" in last_prompt(loop)


@pytest.mark.parametrize("output_tool", [None, "final_answer"])
@pytest.mark.parametrize(("said", "items"), [("I search.", []), ("", [SEARCH])])
def test_an_answer_that_its_server_has_paused_is_sent_back_and_goes_on(said, items, output_tool):
    loop, _ = begin(output_tool=output_tool, stops=[max_turns(3)])
    paused = AnswerEnded(text(said, finish_reason="pause_turn", items=items), 1.0, provider="anthropic")
    assert loop.take(paused) == Send(0, loop.history, 1)
    assert [type(entry).__name__ for entry in loop.history.entries] == ["Prompt", "Round"]
    assert isinstance(loop.take(paused), Send)
    assert loop.take(paused).stopped_by == "max_turns: 3"


def test_the_output_is_what_was_said_before_and_after_a_pause_but_not_before_a_call():
    loop, _ = begin()
    loop.take(AnswerEnded(calling("now", content="I look. "), 1.0, (result(0, "now"),)))
    for at, said in ((2.0, "Paris "), (3.0, "")):
        items = [] if said else [SEARCH]
        loop.take(AnswerEnded(text(said, finish_reason="pause_turn", items=items), at, provider="anthropic"))
    assert loop.take(AnswerEnded(text("is lovely."), 4.0)).output == "Paris is lovely."


def test_with_an_output_tool_text_is_asked_again_and_the_arguments_are_the_output():
    loop, _ = begin(output_tool="final_answer", ending=frozenset(("final_answer",)))
    assert isinstance(loop.take(AnswerEnded(text(), 1.0)), Send)
    assert "final_answer" in last_prompt(loop)
    answered = msgspec.structs.replace(result(0, "final_answer", "cut"), arguments={"n": 1})
    assert loop.take(AnswerEnded(calling("final_answer"), 2.0, (answered,))) == Finish(None, {"n": 1}, True, True)


def test_an_answer_without_its_call_is_asked_again_at_most_twice_in_a_row():
    loop, _ = begin()
    broken = ParsedResponse(content="I will look.", finish_reason="tool_calls", errors=[MISSING])
    for at in (1.0, 2.0):
        assert isinstance(loop.take(AnswerEnded(broken, at)), Send)
        assert "there is no call" in last_prompt(loop)
    assert loop.take(AnswerEnded(broken, 3.0)) == Finish("broken_answers")


def test_a_good_answer_between_them_begins_the_count_anew():
    loop, _ = begin()
    for at in range(1, 7):
        assert isinstance(loop.take(AnswerEnded(text(""), at)), Send)
        assert isinstance(loop.take(AnswerEnded(calling("look"), at, (result(),))), Send)


def test_of_a_broken_answer_with_calls_their_results_alone_tell_what_was_wrong():
    loop, _ = begin()
    broken = BrokenCall("look", "{", "c0", "truncated_call")
    answer = ParsedResponse(
        broken_calls=[broken], finish_reason="length", errors=[Error("call", "truncated_call", "cut", 0, 9)]
    )
    refused = result(attempts=0, error="the call was cut", failure=ToolFailure("validation", "cut"))
    sent = loop.take(AnswerEnded(answer, 1.0, (refused,)))
    assert sent.history.entries[-1].results == (refused,)


def test_an_answer_that_broke_before_any_tool_began_is_forgotten_and_asked_for_again():
    loop, _ = begin()
    wait = loop.take(AnswerEnded(text("hal", ok=False, finish_reason=None, errors=[CUT]), 1.0))
    assert isinstance(wait, Wait)
    assert wait.until > 1.0
    assert loop.was_discarded
    assert loop.history == ASKED
    sent = loop.take(Waited(wait.until))
    assert (sent.history, sent.number) == (ASKED, 1)


@pytest.mark.parametrize("code", ["provider_error", "transport_error", "empty_body", "not_a_stream", "frame_checksum"])
def test_an_answer_in_which_the_server_failed_is_asked_for_again_and_the_model_is_not_told(code):
    loop, _ = begin()
    failed = Error("stream", code, "overloaded", None, 10)
    wait = loop.take(AnswerEnded(text("hal", ok=False, finish_reason=None, errors=[failed]), 1.0))
    assert isinstance(wait, Wait)
    assert (loop.was_discarded, loop.failure) == (True, ModelFailure(f"{code}: overloaded", is_retryable=True))
    assert loop.take(Waited(wait.until)).history == ASKED


def test_an_answer_that_broke_after_a_tool_had_begun_stays():
    loop, _ = begin()
    answer = calling("look", ok=False, errors=[CUT])
    wait = loop.take(AnswerEnded(answer, 1.0, (result(),)))
    assert not loop.was_discarded
    sent = loop.take(Waited(wait.until))
    assert sent.history.entries[-1].results == (result(),)


def test_a_connection_that_breaks_behind_a_good_end_costs_no_answer():
    loop, _ = begin()
    broken = ModelFailure("ReadError", is_retryable=True)
    assert loop.take(AnswerEnded(text("Done."), 1.0, failure=broken)) == Finish(None, "Done.", True)
    assert not loop.was_discarded
    assert loop.failure == broken


def test_a_round_says_which_model_it_came_from():
    loop, _ = begin()
    loop.take(AnswerEnded(text("Done."), 1.0, provider="anthropic", model="claude-sonnet-4-5"))
    assert loop.history.rounds[-1].model == "claude-sonnet-4-5"


def test_a_run_that_is_cancelled_before_it_begins_asks_nothing_and_has_its_history():
    loop = Loop()
    loop.take(Interrupted(0.0))
    assert loop.take(Started(ASKED, 0.0)) == Finish("cancelled")
    assert loop.history == ASKED


def test_what_was_heard_may_be_said_behind_the_cancel():
    loop, _ = begin()
    loop.take(Interrupted(1.0))
    loop.take(Interrupted(1.1, "One"))
    loop.take(AnswerEnded(text("One, two", ok=False, errors=[CUT]), 2.0))
    assert loop.history.rounds[-1].heard == "One"


@pytest.mark.parametrize(
    "end", [AnswerEnded(text("", ok=False, errors=[CUT]), 3.0), RequestFailed(ModelFailure("cancelled"), 3.0)]
)
def test_what_was_heard_is_of_the_latest_answer_that_has_a_text(end):
    loop, _ = begin()
    spoken = msgspec.structs.replace(calling("look"), content="Let me look.")
    assert isinstance(loop.take(AnswerEnded(spoken, 1.0, (result(),))), Send)
    loop.take(Interrupted(2.0, "Let me"))
    assert loop.take(end) == Finish("cancelled")
    assert [each.heard for each in loop.history.rounds][:2] in (["Let me"], ["Let me", None])


@pytest.mark.parametrize("reason", [False, True, 1])
def test_a_stop_returns_a_text_or_nothing(reason):
    with pytest.raises(TypeError, match="a stop returns"):
        begin(stops=[lambda _: reason])


def test_a_request_is_repeated_twice_and_then_sent_to_the_next_model_which_stays():
    loop, _ = begin(models=2)
    at = 0.0
    for _ in range(2):
        wait = loop.take(RequestFailed(OVERLOADED, at))
        assert isinstance(wait, Wait)
        at = wait.until
        assert loop.take(Waited(at)).model == 0
    assert loop.take(RequestFailed(OVERLOADED, at)).model == 1
    assert loop.take(AnswerEnded(calling("look"), at, (result(),))).model == 1


def test_what_cannot_be_repeated_goes_to_the_next_model_at_once_and_then_ends_the_run():
    loop, _ = begin(models=2)
    assert loop.take(RequestFailed(REFUSED, 1.0)).model == 1
    assert loop.take(RequestFailed(REFUSED, 2.0)) == Finish("model_failed")
    assert loop.failure == REFUSED


def test_the_numbers_of_two_requests_are_never_the_same():
    loop, first = begin(models=3)
    numbers = [first.number, *(loop.take(RequestFailed(REFUSED, at)).number for at in (1.0, 2.0))]
    assert len({*numbers}) == 3


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (ParsedResponse(refusal="I can't", finish_reason="stop", ok=True), "refusal"),
        (ParsedResponse(content="x", finish_reason="content_filter"), "filter"),
    ],
)
def test_a_refusal_and_a_filter_end_the_run_without_an_output(response, reason):
    loop, _ = begin()
    assert loop.take(AnswerEnded(response, 1.0)) == Finish(reason)


def test_a_text_that_ends_by_length_is_the_output_and_says_so():
    loop, _ = begin()
    assert loop.take(AnswerEnded(text("hal", finish_reason="length"), 1.0)) == Finish("length", "hal", True)


def test_a_fatal_failure_and_a_missing_approval_end_the_run_although_the_answer_was_cut():
    cut = calling("look", "look", ok=False, errors=[CUT])
    fatal = result(0, error="over", failure=ToolFailure("fatal", "over"))
    loop, _ = begin()
    assert loop.take(AnswerEnded(cut, 1.0, (fatal, result(1)))) == Finish("fatal")
    assert loop.failure.message.startswith("stream_truncated")
    loop, _ = begin()
    denied = result(1, error="denied", attempts=0, failure=ToolFailure("permission", "denied", "denied"))
    assert loop.take(AnswerEnded(cut, 1.0, (result(), denied), waiting=(WAITING,))) == Finish("approval")
    loop, _ = begin()
    assert isinstance(loop.take(AnswerEnded(cut, 1.0, (denied,), waiting=(WAITING,))), Wait)


def test_a_fatal_failure_ends_the_run_after_all_calls_are_answered():
    loop, _ = begin()
    fatal = result(0, error="over", failure=ToolFailure("fatal", "over"))
    assert loop.take(AnswerEnded(calling("look", "look"), 1.0, (fatal, result(1)))) == Finish("fatal")
    assert len(loop.history.entries[-1].results) == 2


def test_a_call_that_waits_for_approval_ends_the_run():
    loop, _ = begin()
    assert loop.take(AnswerEnded(calling("look"), 1.0, (result(),), waiting=(WAITING,))) == Finish("approval")


def take_up():
    """A run that takes up the one call of its latest answer, which had waited for an approval."""
    loop, _ = begin()
    placeholder = result(attempts=0, error="it waits", failure=ToolFailure("permission", "it waits", "waiting"))
    loop.take(AnswerEnded(calling("look"), 1.0, (placeholder,), waiting=(WAITING,)))
    assert loop.take(Decided(2.0)) == TakeUp((WAITING,))
    assert loop.finish is None
    return loop


def test_a_run_goes_on_with_the_results_of_the_calls_that_waited():
    sent = take_up().take(Resumed((result(),), 3.0))
    assert isinstance(sent, Send)
    assert sent.history.entries[-1].results == (result(),)


def test_where_another_call_still_waits_the_run_ends_again():
    assert take_up().take(Resumed((result(),), 3.0, waiting=(WAITING,))) == Finish("approval")


def test_a_fatal_failure_of_a_call_that_waited_ends_the_run():
    fatal = result(0, error="over", failure=ToolFailure("fatal", "over"))
    loop = take_up()
    assert loop.take(Resumed((fatal,), 3.0)) == Finish("fatal")
    assert loop.history.entries[-1].results == (fatal,)


def test_a_run_that_is_cancelled_while_calls_that_waited_run_keeps_their_results():
    loop = take_up()
    assert loop.take(Interrupted(3.0)) is None
    assert loop.take(Resumed((result(),), 4.0)) == Finish("cancelled")
    assert loop.history.entries[-1].results == (result(),)


def test_a_decision_on_a_history_without_calls_that_wait_begins_as_without_one():
    assert Loop().take(Started(ASKED, 0.0, decides=True)) == Send(0, ASKED, 0)
    assert Loop().take(Decided(0.0)) is None


def test_the_last_answer_is_asked_for_once_although_its_request_is_sent_again():
    loop, _ = begin(stops=[max_repeats(2, answer=True)])
    loop.take(AnswerEnded(calling("look"), 1.0, (result(),)))
    sent = loop.take(AnswerEnded(calling("look"), 1.0, (result(),)))
    assert (sent.is_last, last_prompt(loop)) == (True, ANSWER_NOW)
    wait = loop.take(RequestFailed(OVERLOADED, 2.0))
    assert loop.take(Waited(wait.until)) == Send(0, sent.history, sent.number + 1, is_last=True)


@pytest.mark.parametrize(
    ("stop", "reason", "turns"),
    [
        (max_turns(3), "max_turns: 3", 3),
        (max_tokens(25), "max_tokens: 25", 3),
        (max_seconds(4), "max_seconds: 4", 4),
        (max_repeats(2), "max_repeats: 2", 2),
        (lambda state: "dear" if state.tokens.completion > 5 else None, "dear", 2),
    ],
)
def test_a_stop_ends_the_run_before_the_next_request(stop, reason, turns):
    loop, _ = begin(stops=[stop])
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    done = 0
    command: Command | None = None
    while not isinstance(command, Finish):
        done += 1
        command = loop.take(AnswerEnded(calling("look", usage=usage), float(done), (result(),)))
    assert (command.stopped_by, done) == (reason, turns)


def test_a_stop_takes_no_output_away():
    loop, _ = begin(stops=[max_turns(1)])
    assert loop.take(AnswerEnded(text("hi"), 1.0)) == Finish(None, "hi", True)


def test_other_results_are_no_repetition():
    loop, _ = begin(stops=[max_repeats(2)])
    for number in range(5):
        assert isinstance(loop.take(AnswerEnded(calling("look"), 1.0, (result(value=number),))), Send)


def test_the_time_of_the_run_is_over_while_a_model_is_asked():
    loop, _ = begin(stops=[max_seconds(5)])
    assert loop.deadline == 5.0
    late = ModelFailure("out of time")
    assert loop.take(RequestFailed(late, 5.0)) == Finish("max_seconds: 5")


def test_of_an_answer_that_the_time_cut_the_text_stays():
    loop, _ = begin(stops=[max_seconds(5)])
    command = loop.take(AnswerEnded(text("hal", ok=False, finish_reason=None, errors=[CUT]), 5.0))
    assert command == Finish("max_seconds: 5")
    assert loop.history.entries[-1].response.content == "hal"


def test_a_cancelled_run_keeps_what_was_heard_of_the_answer():
    loop, _ = begin()
    assert loop.take(Interrupted(1.0, heard="on the")) is None
    cut = text("on the one hand", ok=False, finish_reason=None, errors=[CUT])
    assert loop.take(AnswerEnded(cut, 1.1)) == Finish("cancelled")
    assert loop.history.entries[-1].heard == "on the"


def test_what_was_heard_may_be_said_when_the_run_is_over():
    loop, _ = begin()
    loop.take(AnswerEnded(text("on the one hand"), 1.0))
    assert loop.take(Interrupted(2.0, heard="on")) == Finish(None, "on the one hand", True)
    assert loop.history.entries[-1].heard == "on"


def test_a_run_that_is_cancelled_while_it_waits_ends():
    loop, _ = begin()
    loop.take(RequestFailed(OVERLOADED, 1.0))
    assert loop.take(Interrupted(1.1)) == Finish("cancelled")
    assert loop.history == ASKED


def test_facts_and_commands_survive_json():
    facts = [
        Started(ASKED, 0.0),
        RequestFailed(OVERLOADED, 1.0),
        Waited(2.0),
        AnswerEnded(calling("look"), 3.0, (result(),), "openai"),
        Interrupted(4.0, "he"),
    ]
    loop, again = Loop(), Loop()
    for fact in facts:
        command = loop.take(fact)
        copied = msgspec.json.decode(msgspec.json.encode(fact), type=Fact)
        assert again.take(copied) == command
        if command is not None:
            assert msgspec.json.decode(msgspec.json.encode(command), type=Command) == command


def test_another_cancel_does_not_take_back_what_was_heard():
    loop, _ = begin()
    loop.take(Interrupted(1.0, "One"))
    loop.take(Interrupted(1.1))
    loop.take(AnswerEnded(text("One, two", ok=False, errors=[CUT]), 2.0))
    assert loop.history.rounds[-1].heard == "One"


def test_a_good_answer_gives_the_next_request_all_its_attempts():
    loop, _ = begin()
    at = 0.0
    for _ in range(3):
        for _ in range(2):
            wait = loop.take(RequestFailed(OVERLOADED, at))
            assert isinstance(wait, Wait)
            at = wait.until
            assert isinstance(loop.take(Waited(at)), Send)
        assert isinstance(loop.take(AnswerEnded(calling("look"), at, (result(),))), Send)


def test_of_several_times_the_first_to_be_over_counts():
    loop, _ = begin(stops=[max_seconds(7), max_turns(2), max_seconds(5)])
    assert loop.deadline == 5.0
