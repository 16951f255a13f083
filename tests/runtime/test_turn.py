"""The policy without any task: what starts when, and one answer for each call."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from turns import DONE, FAILED, TEXT, complete

from streamparse.errors import CODES
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
from streamparse.repair import Finding, Gate, preflight
from streamparse.response import ToolCall
from streamparse.runtime.facts import (
    Abandoned,
    Answer,
    Cancel,
    Cancelled,
    Received,
    Restarted,
    Returned,
    SourceEnded,
    Start,
    Wake,
    Woke,
)
from streamparse.runtime.retries import find_delay
from streamparse.runtime.turn import Turn as Machine
from streamparse.tools import Tool, ToolFailure, Toolset


def do_nothing(**more):
    """Do nothing."""


CITY = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 9}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = Toolset.of(
    [
        *(Tool(effect, function=do_nothing, effect=effect) for effect in ("read", "idempotent", "write")),
        Tool("upper", function=do_nothing, effect="read", tier=1),
        Tool("declared-only"),
        Tool("city", "", CITY, do_nothing, effect="read"),
    ]
)
PLACES = ["field", "plain", "bare", "quoted", "thought"]
IN_TEXT = ["plain", "bare", "thought"]


class Turn:
    """A turn whose starts and answers are written down."""

    def __init__(self, *events, tier=0, guards=(), **options):
        self.machine = Machine(Gate(TOOLS, tier=tier, guards=guards), timeout=None, **options)
        self.running, self.begun, self.answers = [], [], []
        self.take(*events)

    def hear(self, *facts):
        for fact in facts:
            for command in self.machine.take(fact):
                if isinstance(command, Start):
                    self.running.append(command)
                    self.begun.append(command.index)
                elif isinstance(command, Answer):
                    self.answers.append(command.result)
        return self

    def take(self, *events):
        return self.hear(*(Received(event, 0.0) for event in events))

    def end(self, position=0):
        start = self.running.pop(position)
        return self.hear(Returned(start.index, start.attempt, 1.0, "value"))

    def end_source(self):
        return self.hear(SourceEnded(1.0))

    def stop(self):
        """Cancel the run; what runs is cancelled at once."""
        self.hear(Cancelled(1.0))
        while self.running:
            start = self.running.pop(0)
            self.hear(Returned(start.index, start.attempt, 1.0, cancelled=True))
        return self

    @property
    def results(self):
        return self.machine.results

    @property
    def errors(self):
        return [answer.error for answer in self.answers]


def test_a_closed_tool_begins_with_its_call():
    assert Turn(complete(0, "read")).begun == [0]


@pytest.mark.parametrize(
    "event",
    [TEXT, ReasoningDelta("hm"), RefusalDelta("no"), ToolCallStart(1, "b", "x"), complete(1, "unknown"), DONE],
    ids=lambda event: type(event).__name__,
)
def test_a_superseded_tool_begins_when_the_model_goes_on(event):
    turn = Turn(complete(0, "idempotent"))
    assert turn.begun == []
    assert turn.take(event).begun == [0]


@pytest.mark.parametrize(
    "event",
    [ToolCallDelta(0, ""), Error("frame", "late_arguments", "", 0)],
    ids=lambda event: type(event).__name__,
)
def test_what_belongs_to_the_same_call_does_not_supersede_it(event):
    assert Turn(complete(0, "idempotent"), event).begun == []


@pytest.mark.parametrize("name", ["idempotent", "write"])
def test_a_turn_that_did_not_end_well_runs_nothing_that_waited(name):
    turn = Turn(complete(0, name), FAILED)
    assert turn.begun == []
    assert turn.errors == ["the turn did not finish; the call was not run"]
    assert turn.results[0].incomplete


def test_a_finish_tool_begins_only_when_the_turn_ended_well():
    turn = Turn(complete(0, "write"), TEXT, ToolCallStart(1, "b", "write"))
    assert turn.begun == []
    assert turn.take(DONE).begun == [0]


def test_what_waited_for_the_end_begins_in_call_order():
    assert Turn(complete(1, "write"), complete(0, "write"), complete(2, "idempotent"), DONE).begun == [0, 1, 2]


@pytest.mark.parametrize("source", ["recovered", "repaired"])
def test_a_repaired_call_that_may_run_waits_for_the_end_unless_its_tool_says_closed(source):
    calls = (complete(i, n, source) for i, n in enumerate(["read", "idempotent", "write"]))
    turn = Turn(*calls, TEXT, allow=(source,))
    assert turn.begun == [0]
    assert turn.take(DONE).begun == [0, 1, 2]


SOURCES = {"repaired": "not written correctly", "recovered": "found only at the end"}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("source", SOURCES)
def test_a_call_that_was_mended_or_found_late_does_not_run_and_the_model_is_told_how_to_call(source, place):
    turn = Turn(complete(0, "city", source, place=place, city="Bern"), DONE)
    assert (turn.begun, len(turn.answers)) == ([], 1)
    assert SOURCES[source] in turn.errors[0]
    assert "city (required), days" in turn.errors[0]
    assert turn.answers[0].failure.code == source


@pytest.mark.parametrize("source", SOURCES)
def test_each_word_allows_the_calls_of_its_own_source(source):
    call = complete(0, "city", source, city="Bern")
    assert [Turn(call, DONE, allow={each}).begun for each in SOURCES] == [
        [0] if each == source else [] for each in SOURCES
    ]


@pytest.mark.parametrize(
    ("reason", "words"),
    [("wire", "not looked for"), ("too_long", "too long"), ("unnamed", "in a form that is not read")],
)
def test_of_a_call_that_was_found_late_the_model_reads_why(reason, words):
    call = msgspec.structs.replace(complete(0, "city", "recovered", place="plain", city="Bern"), reason=reason)
    assert words in Turn(call, DONE).errors[0]


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
    assert "read" in Turn(complete(0, "Closed")).errors[0]


def test_an_index_that_is_complete_twice_runs_once():
    turn = Turn(complete(0, "read"), complete(0, "read", n=1), DONE).end()
    assert (turn.begun, len(turn.answers), len(turn.results)) == ([0], 1, 1)


@pytest.mark.parametrize("other", [True, 1.0, "1", [1], {"a": 1}])
def test_calls_of_one_id_whose_arguments_python_takes_for_equal_are_two(other):
    turn = Turn(complete(0, "read", id="x", n=[{"a": 1}]), complete(1, "read", id="x", n=[{"a": other}]))
    assert turn.begun == [0, 1]


def test_a_call_that_did_not_run_is_not_what_another_repeats():
    turn = Turn(complete(0, "read", id="x", place="quoted"), complete(1, "read", id="x"))
    assert turn.begun == [1]


def test_what_runs_is_what_was_checked_though_others_change_the_event():
    event = complete(0, "write", path=["a"])
    turn = Turn(event)
    event.arguments["path"].append("../b")
    turn.take(DONE)
    assert turn.running[0].arguments == {"path": ["a"]}


@pytest.mark.parametrize("source", ["native", "recovered", "repaired"])
def test_the_same_call_at_another_index_does_not_run_again_and_is_answered(source):
    turn = Turn(complete(0, "read"), complete(4, "read", source, id="call-0"), DONE).end()
    assert (turn.begun, [result.index for result in turn.results]) == ([0], [0, 4])
    assert "the first one stands" in turn.results[1].error


@pytest.mark.parametrize(
    "second", [complete(1, "read", id="call-0", n=1), complete(1, "read"), complete(1, "read", id="")]
)
def test_different_calls_run_even_if_the_server_repeats_an_id(second):
    assert Turn(complete(0, "read"), second).begun == [0, 1]


def test_calls_without_ids_are_told_apart_by_index():
    assert Turn(complete(0, "read", id=""), complete(1, "read", id="")).begun == [0, 1]


def test_a_revoked_call_that_waits_never_runs():
    turn = Turn(complete(0, "write"), ToolCallRevoked(0, "call-0", "content_filter"), DONE)
    assert turn.begun == []
    assert "content_filter" in turn.errors[0]
    assert turn.answers[0].revoked


def test_a_revoked_call_that_waits_for_a_free_place_never_runs():
    turn = Turn(complete(0, "read"), complete(1, "read"), ToolCallRevoked(1, "call-1", "error"), limit=1)
    assert turn.end().begun == [0]
    assert [result.revoked for result in turn.results] == [False, True]


def test_a_revoked_call_that_runs_keeps_its_result_marked():
    turn = Turn(complete(0, "read"), ToolCallRevoked(0, "call-0", "error"), FAILED).end()
    (result,) = turn.answers
    assert (result.result, result.error, result.revoked, result.incomplete) == ("value", None, True, True)


def test_a_revoked_call_that_has_ended_keeps_its_result_marked():
    turn = Turn(complete(0, "read")).end().take(ToolCallRevoked(0, "call-0", "error"), FAILED)
    (result,) = turn.results
    assert (result.result, result.revoked, result.incomplete) == ("value", True, True)
    assert len(turn.answers) == 1


def test_a_call_that_was_never_complete_can_be_revoked_without_harm():
    assert Turn(ToolCallRevoked(7, "x", "error"), DONE).answers == []


def test_a_source_that_ends_without_done_has_not_ended_well():
    turn = Turn(complete(0, "write"))
    turn.end_source()
    assert turn.errors == ["the turn did not finish; the call was not run"]


def test_a_stopped_run_answers_what_runs_and_what_waits():
    turn = Turn(complete(0, "read"), complete(1, "write"))
    turn.stop()
    stopped = "the run was stopped before the tool had ended"
    assert sorted(turn.errors) == [stopped, f"{stopped}; it was not run"]


def test_results_are_in_call_order():
    turn = Turn(*(complete(index, "read") for index in (2, 0, 1))).end(2).end(0).end(0)
    assert [answer.index for answer in turn.answers] == [1, 2, 0]
    assert [result.index for result in turn.results] == [0, 1, 2]


# -- the gate


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"city": ["Bern"]},
        {"city": "x" * 10},
        {"city": "Bern", "days": 0},
        {"city": "Bern", "days": "many"},
        {"city": "Bern", "nights": 1},
    ],
    ids=repr,
)
def test_what_preflight_refuses_does_not_run_and_is_told_in_its_words(arguments):
    turn = Turn(complete(0, "city", **arguments), DONE)
    looked = preflight(ToolCall("city", arguments), TOOLS)
    assert not looked.ok
    assert (turn.begun, turn.errors) == ([], [looked.message])


VIOLATIONS = {
    "maximum": ({"maximum": 3}, 4),
    "minimum": ({"minimum": 3}, 2),
    "pattern": ({"pattern": "^a$"}, "b"),
    "maxLength": ({"maxLength": 1}, "ab"),
    "items": ({"items": {"type": "integer"}}, ["x"]),
    "maxItems": ({"maxItems": 1}, [1, 2]),
    "nested required": ({"required": ["b"]}, {}),
    "nested enum": ({"properties": {"b": {"enum": [1]}}}, {"b": 2}),
    "nested closed": ({"properties": {}, "additionalProperties": False}, {"b": 2}),
    "anyOf const": ({"anyOf": [{"const": 1}, {"const": 2}]}, 3),
    "$ref": ({"$ref": "#/$defs/three"}, 4),
    "not": ({"not": {"const": 1}}, 1),
}


@pytest.mark.parametrize("schema, value", VIOLATIONS.values(), ids=VIOLATIONS)
def test_nothing_runs_against_any_keyword_of_its_schema(schema, value):
    whole = {"type": "object", "properties": {"a": schema}, "$defs": {"three": {"const": 3}}}
    tool = Tool("f", "", whole, do_nothing, effect="read")
    (answer,) = Machine([tool]).take(Received(complete(0, "f", a=value), 0.0))
    assert not answer.result.success


def test_what_preflight_converts_runs_converted_and_the_result_says_so():
    turn = Turn(complete(0, "city", city="Bern", days="3"))
    (call,) = turn.running
    assert call.arguments == {"city": "Bern", "days": 3}
    turn.end()
    (result,) = turn.answers
    assert result.arguments == {"city": "Bern", "days": 3}
    assert result.changes == ("days: '3' was read as 3",)


def test_what_runs_as_it_was_written_has_no_changes():
    (result,) = Turn(complete(0, "city", city="Bern")).end().answers
    assert (result.changes, result.arguments) == ((), {"city": "Bern"})


def test_a_guard_keeps_a_call_from_running():
    def no_bern(call):
        if call.arguments["city"] == "Bern":
            yield Finding("read", "Bern is closed")

    turn = Turn(complete(0, "city", city="Bern"), complete(1, "city", city="Basel"), guards=[no_bern])
    assert turn.begun == [1]
    assert "Bern is closed" in turn.errors[0]


def test_a_guard_that_raises_keeps_a_call_from_running():
    def broken(call):
        raise OSError("gone")

    turn = Turn(complete(0, "city", city="Bern"), DONE, guards=[broken])
    assert turn.begun == []
    assert "a guard failed" in turn.errors[0]


# -- places


@pytest.mark.parametrize("place", PLACES)
def test_only_calls_in_fields_and_in_open_text_with_markup_start_early(place):
    turn = Turn(complete(0, "read", place=place))
    assert turn.begun == ([0] if place in ("field", "plain") else [])


@pytest.mark.parametrize("place", ["bare", "thought"])
@pytest.mark.parametrize("name", ["read", "idempotent", "write"])
@pytest.mark.parametrize(
    "between", [complete(1, "read", place="plain"), ToolCallStart(1, "b", "x"), TextDelta("\n")], ids=str
)
def test_bare_calls_and_those_of_thoughts_begin_after_a_good_end(place, name, between):
    turn = Turn(complete(0, name, place=place), between)
    assert 0 not in turn.begun
    assert 0 in turn.take(DONE).begun
    assert 0 not in Turn(complete(0, name, place=place), between, FAILED).begun


@pytest.mark.parametrize("name", ["read", "idempotent", "write"])
def test_a_quoted_call_does_not_run_and_the_model_is_told_why(name):
    turn = Turn(complete(0, name, place="quoted"), DONE)
    assert turn.begun == []
    assert "only quotes" in turn.errors[0]


def test_a_quoted_call_that_may_run_waits_for_a_good_end():
    turn = Turn(complete(0, "read", place="quoted"), allow=["quoted"])
    assert turn.begun == []
    assert turn.take(DONE).begun == [0]


BREAKS = [TEXT, RefusalDelta("I can't."), ReasoningDelta("No."), complete(1, "write")]


@pytest.mark.parametrize("name", ["idempotent", "write"])
@pytest.mark.parametrize("behind", BREAKS, ids=lambda event: type(event).__name__)
@pytest.mark.parametrize("place", IN_TEXT)
def test_what_stands_behind_a_call_of_the_text_keeps_all_in_the_text_that_have_effects_from_running(
    name, behind, place
):
    calls = complete(0, name, place=place), behind, complete(2, name, place=place)
    if place == "thought" and isinstance(behind, ReasoningDelta):
        assert Turn(*calls, DONE).begun == [0, 2]
        return
    native = [1] if isinstance(behind, ToolCallComplete) else []
    turn = Turn(*calls, DONE)
    assert turn.begun == native
    assert {answer.failure.code for answer in turn.answers} == {"divided"}
    assert all("with nothing between and behind the calls" in error for error in turn.errors)
    assert Turn(*calls[:2], DONE).begun == native
    assert Turn(*calls, DONE, allow=["divided"]).begun == [0, *native, 2]


@pytest.mark.parametrize(
    "behind", [TextDelta("\n \u2003"), TextDelta(""), ReasoningDelta("\n"), RefusalDelta(" ")], ids=str
)
def test_white_space_divides_nothing(behind):
    calls = complete(0, "write", place="plain"), behind, complete(1, "write", place="plain"), behind
    assert Turn(*calls, DONE).begun == [0, 1]


def test_what_stands_before_the_first_call_of_the_text_divides_nothing():
    before = TEXT, ReasoningDelta("hm"), complete(0, "write"), TEXT
    assert Turn(*before, complete(1, "write", place="plain"), DONE).begun == [0, 1]


def test_calls_without_effects_and_native_ones_neither_care_for_breaks_nor_count_before_them():
    turn = Turn(
        complete(0, "read", place="plain"), complete(1, "write"), TEXT, complete(2, "write", place="plain"), DONE
    )
    assert turn.begun == [0, 1, 2]
    assert Turn(complete(0, "read", place="thought"), TEXT, DONE).begun == [0]


REFUSED = {
    "an unknown tool": complete(1, "unknown", place="plain"),
    "a quoted call": complete(1, "write", place="quoted"),
    "a tool that is locked": complete(1, "upper", place="plain"),
    "a call that was found late": complete(1, "read", "recovered", place="plain"),
    "a native call of an unknown tool": complete(1, "unknown"),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_a_call_that_is_refused_is_no_break(call):
    assert Turn(complete(0, "write", place="plain"), call, DONE).begun == [0]
    assert Turn(call, TEXT, complete(2, "write", place="plain"), DONE).begun == [2]


UNFIT = {
    "its tool cannot be run here": [complete(0, "declared-only", place="plain")],
    "it was repaired": [complete(0, "write", "repaired", place="plain")],
    "it broke": [ToolCallStart(0, "call-0", "write"), Error("call", "malformed_call", "", 0)],
    "it was revoked because text followed": [
        complete(0, "write", place="bare"),
        ToolCallRevoked(0, "x", "text_follows"),
    ],
}


@pytest.mark.parametrize("call", UNFIT.values(), ids=UNFIT)
def test_a_call_with_effects_that_does_not_run_itself_stands_before_a_break_all_the_same(call):
    assert Turn(*call, TEXT, complete(1, "write", place="plain"), DONE).begun == []
    assert Turn(*call, complete(1, "write", place="plain"), DONE).begun == [1]


def test_what_its_schema_refuses_stands_before_a_break_too():
    machine = Machine([Tool("city", "", CITY, do_nothing), Tool("write", "", {}, do_nothing)])
    turn = Turn()
    turn.machine = machine
    turn.take(complete(0, "city", place="plain", city=["Bern"]), TEXT, complete(1, "write", place="plain"), DONE)
    assert turn.begun == []
    assert [answer.failure.code for answer in turn.answers] == ["wrong_type", "divided"]


@pytest.mark.parametrize("reason", ["thought_goes_on", "thought_closed"])
def test_what_was_drafted_in_a_thought_does_not_stand_before_a_break(reason):
    for place in ("thought", "bare"):
        draft = complete(0, "write", place=place), ToolCallRevoked(0, "call-0", reason), ReasoningDelta("<tool_call>")
        assert Turn(*draft, TEXT, complete(1, "write", place="plain"), DONE).begun == [1]


def test_a_quoted_call_that_may_run_stands_before_a_break():
    calls = complete(0, "write", place="quoted"), TEXT, complete(1, "write", place="plain"), DONE
    assert Turn(*calls).begun == [1]
    assert Turn(*calls, allow=["quoted"]).begun == []


def test_text_of_a_call_that_was_taken_back_is_text_behind_the_one_before_it():
    again = complete(1, "read", place="bare"), ToolCallRevoked(1, "call-1", "prose"), TextDelta('{"name": "x"}')
    assert Turn(complete(0, "write", place="plain"), *again, DONE).begun == []


def double(index, name, *fragments, code="duplicate_call"):
    """A native call that is the same as one in the text."""
    deltas = (ToolCallDelta(index, fragment) for fragment in fragments)
    return [ToolCallStart(index, f"call-{index}", name), *deltas, Error("call", code, "", index)]


@pytest.mark.parametrize("fragments", [['{"n":', " 1.0}"], ['"{\\"n\\": 1}"']], ids=["in pieces", "twice encoded"])
def test_a_native_call_that_came_in_the_text_too_confirms_that_one(fragments):
    call = complete(0, "write", "inband", place="plain", n=1)
    again = double(1, "write", *fragments)
    assert Turn(call, *again, DONE).begun == [0]
    assert Turn(call, *again, complete(2, "write"), DONE).begun == [0, 2]
    assert Turn(call, *again, TEXT, complete(2, "write", place="plain"), DONE).begun == [0, 2]


def test_a_confirmed_call_counts_as_a_native_one_from_then_on():
    turn = Turn(complete(0, "idempotent", "inband", place="plain"))
    assert turn.begun == []
    assert turn.take(*double(1, "idempotent", "")).begun == [0]
    assert Turn(
        complete(0, "idempotent", "inband", place="plain"), *double(1, "idempotent", "{}"), TEXT, DONE
    ).begun == [0]


OTHERS = {
    "other arguments": double(2, "write", '{"n": 2}'),
    "an equal value of another type": double(2, "write", '{"n": true}'),
    "no object": double(2, "write", "[1]"),
    "another tool": double(2, "idempotent", '{"n": 1}'),
    "another error": double(2, "write", '{"n": 1}', code="malformed_call"),
}


@pytest.mark.parametrize("again", OTHERS.values(), ids=OTHERS)
def test_a_call_that_is_not_the_same_confirms_nothing(again):
    calls = complete(0, "write", "inband", place="plain", n=1), complete(1, "write", n=3)
    assert Turn(*calls, *again, DONE).begun == [1]


def test_each_call_in_the_text_is_confirmed_by_a_call_of_its_own():
    calls = (complete(index, "write", "inband", place="plain") for index in (0, 1))
    assert Turn(*calls, *double(2, "write", "{}"), TEXT, DONE).begun == [0]
    calls = (complete(index, "write", "inband", place="plain") for index in (0, 1))
    assert Turn(*calls, *double(2, "write", "{}"), *double(3, "write", "{}"), TEXT, DONE).begun == [0, 1]


def test_a_native_call_in_whose_favour_one_of_the_text_was_revoked_is_no_break():
    calls = [complete(index, name, "inband", place="bare") for index, name in enumerate(["write", "idempotent"])]
    again = ToolCallRevoked(0, "call-0", "duplicate_call"), complete(2, "write")
    assert Turn(*calls, *again, DONE).begun == [1, 2]
    assert Turn(*calls, complete(2, "write"), DONE).begun == [2]


def test_of_a_call_in_the_text_only_another_call_says_that_the_model_moved_on():
    call = complete(0, "idempotent", place="plain")
    for event in (TEXT, ReasoningDelta("hm"), RefusalDelta("no")):
        assert Turn(call, event, allow=["divided"]).begun == []
    for event in (ToolCallStart(1, "b", "x"), complete(1, "unknown"), DONE):
        assert Turn(call, event, allow=["divided"]).begun == [0]


def test_that_no_text_follows_is_known_at_the_end_alone():
    turn = Turn(complete(0, "idempotent", place="plain"), ToolCallStart(1, "b", "x"))
    assert turn.begun == []
    assert turn.take(DONE).begun == [0]


# -- bad ends


@pytest.mark.parametrize("end", [FAILED, Error("stream", "transport_error", "gone"), None], ids=str)
def test_nothing_begins_after_a_bad_end(end):
    turn = Turn(complete(0, "read"), complete(1, "read"), complete(2, "write"), limit=1)
    if end is None:
        turn.end_source()
    else:
        turn.take(end)
    turn.end().take(complete(3, "read"), DONE)
    assert turn.begun == [0]
    assert [result.index for result in turn.results] == [0, 1, 2, 3]
    assert all(result.error for result in turn.results[1:])


def test_a_call_behind_the_end_does_not_run():
    turn = Turn(DONE, complete(0, "read"))
    assert turn.begun == []
    assert "after the end" in turn.errors[0]


# -- broken calls

BROKEN = [code for code in CODES if code in (
    "truncated_call", "invalid_arguments", "missing_arguments", "duplicate_call", "malformed_call", "limit_args",
    "limit_name", "limit_id",
)]  # fmt: skip


@pytest.mark.parametrize("code", BROKEN)
def test_a_broken_call_is_answered_with_what_was_wrong_and_what_to_do(code):
    turn = Turn(ToolCallStart(0, "a", "city"), Error("call", code, "something", 0), DONE)
    (result,) = turn.answers
    assert (result.call_id, result.tool_name, result.index, result.success) == ("a", "city", 0, False)
    assert CODES[code] in result.error
    assert any(advice in result.error for advice in ("call it again", "city (required), days", "the first one stands"))


def test_a_broken_call_of_an_unknown_tool_is_answered():
    assert "one whole call" in Turn(ToolCallStart(0, "a", "x"), Error("call", "malformed_call", "", 0)).errors[0]


def test_an_error_of_a_call_that_is_whole_or_never_began_is_no_second_answer():
    turn = Turn(complete(0, "read"), Error("call", "malformed_call", "", 0), Error("call", "limit_name", "", 1))
    turn.take(Error("frame", "late_arguments", "", 0), Error("call", "limit_name", ""), DONE).end()
    assert [answer.error for answer in turn.answers] == [None]


@pytest.mark.parametrize("way", ["end_source", "stop"])
def test_a_call_that_began_and_nothing_more_came_of_is_answered(way):
    turn = Turn(ToolCallStart(0, "a", "city"), ToolCallDelta(0, '{"ci'))
    getattr(turn, way)()
    assert [(answer.call_id, answer.success) for answer in turn.answers] == [("a", False)]


# -- locks, time, attempts

NUMBER = {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
LOCKED = [
    Tool("read", "", NUMBER, do_nothing, "read", lock="n"),
    Tool("write", "", NUMBER, do_nothing, "idempotent", lock="n"),
    Tool("bash", "", NUMBER, do_nothing, "write", lock="*"),
    Tool("pair", "", NUMBER, do_nothing, "idempotent", lock=lambda arguments: ["1", str(arguments["n"])]),
    Tool("free", "", NUMBER, do_nothing, "read", retries=1),
]


def hear(machine, *facts):
    """The commands after all facts: starts as (index, attempt), the others by name."""
    said = [command for fact in facts for command in machine.take(fact)]
    return [(each.index, each.attempt) if isinstance(each, Start) else each for each in said]


def starts(commands):
    return [each for each in commands if isinstance(each, tuple)]


def received(*events, at=0.0):
    return [Received(event, at) for event in events]


def test_a_read_waits_for_an_earlier_write_of_the_same_and_for_no_other():
    machine = Machine(LOCKED)
    calls = complete(0, "write", n=1), complete(1, "read", n=1), complete(2, "read", n=2)
    assert starts(hear(machine, *received(*calls))) == [(0, 1), (2, 1)]
    assert starts(hear(machine, Returned(0, 1, 1.0))) == [(1, 1)]


def test_a_call_with_a_lower_index_waits_for_one_that_runs():
    machine = Machine(LOCKED)
    assert starts(hear(machine, *received(complete(1, "read", n=1)))) == [(1, 1)]
    assert starts(hear(machine, *received(complete(0, "write", n=1), TEXT))) == []
    assert starts(hear(machine, Returned(1, 1, 1.0))) == [(0, 1)]


def test_reads_that_share_a_lock_run_at_one_time():
    assert starts(hear(Machine(LOCKED), *received(complete(0, "read", n=1), complete(1, "read", n=1)))) == [
        (0, 1), (1, 1),
    ]  # fmt: skip


def test_a_call_that_locks_everything_holds_back_what_has_no_lock():
    machine = Machine(LOCKED)
    assert starts(hear(machine, *received(complete(0, "bash"), complete(1, "free"), TEXT))) == []
    assert starts(hear(machine, *received(DONE))) == [(0, 1)]
    assert starts(hear(machine, Returned(0, 1, 1.0))) == [(1, 1)]


def test_a_call_that_is_still_written_holds_back_later_ones_for_what_it_locks_is_not_known():
    machine = Machine(LOCKED)
    opened = ToolCallStart(0, "a", "write")
    assert starts(hear(machine, *received(opened, complete(1, "read", n=1), complete(2, "free")))) == []
    assert starts(hear(machine, *received(Error("call", "malformed_call", "", 0)))) == [(1, 1), (2, 1)]


def test_an_argument_that_is_not_given_locks_its_default():
    machine = Machine(LOCKED)
    calls = complete(0, "write"), complete(1, "read", n=1), complete(2, "read", n=2)
    assert starts(hear(machine, *received(*calls))) == [(0, 1), (2, 1)]


def test_a_lock_may_be_a_function_of_the_arguments():
    machine = Machine(LOCKED)
    calls = complete(0, "pair", n=2), complete(1, "read", n=1), complete(2, "read", n=2), complete(3, "read", n=3)
    assert starts(hear(machine, *received(*calls))) == [(0, 1), (3, 1)]


def test_what_is_left_behind_keeps_its_lock_until_it_returns():
    machine = Machine(LOCKED, timeout=5.0)
    hear(machine, *received(complete(0, "write", n=1), complete(1, "read", n=1)))
    assert hear(machine, Woke(5.0))[0] == Cancel(0, 1)
    (answer, wake) = hear(machine, Abandoned(0, 1, 5.0))
    assert "it had begun, and may be called again" in answer.result.error
    assert wake == Wake(10.0)
    (other,) = hear(Machine(LOCKED), *received(complete(1, "read", n=1)))[:1]
    assert other == (1, 1)
    assert starts(hear(machine, Returned(0, 1, 6.0))) == [(1, 1)]


def test_a_call_that_only_what_was_left_behind_holds_back_is_answered_when_its_time_is_over():
    machine = Machine(LOCKED, timeout=5.0)
    hear(machine, *received(complete(0, "write", n=1), complete(1, "read", n=1)), Woke(5.0), Abandoned(0, 1, 5.0))
    (answer,) = hear(machine, Woke(10.0))
    assert (answer.result.index, answer.result.attempts, answer.result.failure.code) == (1, 0, "no_place")


def test_a_failure_that_may_pass_is_tried_again_when_its_time_has_come():
    machine = Machine(LOCKED, timeout=None)
    hear(machine, *received(complete(0, "free")))
    failure = ToolFailure("quota", "too often", details={"Retry-After": "7"})
    assert hear(machine, Returned(0, 1, 1.0, failure=failure)) == [Wake(8.0)]
    assert hear(machine, Woke(7.9)) == [Wake(8.0)]
    assert starts(hear(machine, Woke(8.0))) == [(0, 2)]
    (answer,) = hear(machine, Returned(0, 2, 9.0, failure=failure))
    assert (answer.result.attempts, answer.result.failure.kind) == (2, "quota")


@given(st.sampled_from(["timeout", "network", "quota"]), st.integers(0, 9), st.text(max_size=5))
def test_a_delay_grows_from_100_ms_to_10_s_and_is_the_same_for_the_same_call(kind, retries, key):
    tool = Tool("f", function=do_nothing, effect="read", retries=10)
    delay = find_delay(tool, ToolFailure(kind, ""), retries, key)
    assert min(10, 0.1 * 2**retries) <= delay <= min(10, 0.2 * 2**retries)
    assert delay == find_delay(tool, ToolFailure(kind, ""), retries, key)
    assert find_delay(tool, ToolFailure(kind, "", details={"retry_after": 61}), retries, key) is None
    assert find_delay(tool, ToolFailure(kind, "", details={"retry_after": "Fri, 31 Dec"}), retries, key) == delay


def test_the_time_of_the_run_is_over_in_the_middle_of_the_answer():
    machine = Machine(LOCKED, timeout=None, time_limit=10.0)
    hear(machine, *received(complete(0, "free"), complete(1, "bash")))
    said = hear(machine, *received(TEXT, at=10.0))
    assert said[0] == Cancel(0, 1)
    assert (said[1].result.index, said[1].result.failure.code) == (1, "out_of_time")
    assert machine.is_stopped
    assert starts(hear(machine, *received(DONE, complete(2, "free"), at=11.0))) == []


@pytest.mark.parametrize("name, again", [("read", True), ("write", True), ("bash", False)])
def test_after_a_crash_what_had_begun_is_repeated_unless_it_must_not_happen_twice(name, again):
    machine = Machine(LOCKED)
    assert starts(hear(machine, *received(complete(0, name), DONE))) == [(0, 1)]
    said = hear(machine, Restarted(9.0))
    assert starts(said) == ([(0, 2)] if again else [])
    assert again or "its outcome is unknown" in said[0].result.error


# -- all of it

names = st.sampled_from([*TOOLS, "unknown"])
steps_of_turns = st.one_of(
    st.builds(
        complete,
        st.integers(0, 5),
        names,
        st.sampled_from(["native", "inband", "recovered", "repaired"]),
        place=st.sampled_from(PLACES),
        id=st.sampled_from([None, "same", ""]),
    ),
    st.builds(ToolCallStart, st.integers(0, 5), st.just("x"), names),
    st.builds(ToolCallRevoked, st.integers(0, 5), st.just("x"), st.just("error")),
    st.builds(Error, st.sampled_from(["call", "frame"]), st.sampled_from(BROKEN), st.just(""), st.integers(0, 5)),
    st.sampled_from([TEXT, TextDelta(" "), ReasoningDelta("hm"), Error("stream", "provider_error", "")]),
    st.integers(0, 3),  # the tool at this place ends, if it runs
)


def _may_have_begun(event, seen):
    """Whether the evidence that a call's start asks for is there, by the page about the design."""
    effect = TOOLS[event.name].effect
    ended_well = any(isinstance(each, Done) and each.ok for each in seen)
    at = seen.index(event)
    if any((isinstance(each, Done) and not each.ok) or each == FATAL for each in seen[:at]):
        return False
    if event.source in ("recovered", "repaired") or event.place == "quoted":
        return False
    if effect == "read":
        return event.place in ("field", "plain") or ended_well
    if event.place == "field":
        return ended_well or (effect == "idempotent" and len(seen) > at + 1)
    texts = [number for number, each in enumerate(seen) if isinstance(each, TextDelta) and each.text.strip()]
    in_text = [number for number, each in enumerate(seen) if getattr(each, "place", "field") in IN_TEXT]
    return ended_well and not any(number > in_text[-1] for number in texts)


FATAL = Error("stream", "provider_error", "")


@given(st.lists(steps_of_turns, max_size=20), st.sampled_from([DONE, FAILED, None]), st.integers(1, 3))
def test_each_call_gets_exactly_one_answer_and_nothing_begins_before_its_evidence(steps, last, limit):
    turn, calls, seen = Turn(limit=limit), {}, []
    for step in [*steps, *([last] if last is not None else [])]:
        if isinstance(step, int):
            if step < len(turn.running):
                turn.end(step)
            continue
        seen.append(step)
        if isinstance(step, ToolCallStart | ToolCallComplete):
            calls.setdefault(step.index, step)
        if isinstance(step, ToolCallComplete) and isinstance(calls[step.index], ToolCallStart):
            broken = any(result.index == step.index for result in turn.results)
            calls[step.index] = calls[step.index] if broken else step
        before = len(turn.begun)
        turn.take(step)
        assert len(turn.running) <= limit
        assert all(_may_have_begun(calls[index], seen) for index in turn.begun[before:])
    turn.end_source()
    while turn.running:
        turn.end()
    turn.stop()
    assert sorted(answer.index for answer in turn.answers) == sorted(calls)
    assert [result.index for result in turn.results] == sorted(calls)
    assert len(turn.begun) == len(set(turn.begun))
