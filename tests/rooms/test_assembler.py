"""The verbs of the assembler alone: what each makes of an answer, without a wire that calls them."""

from __future__ import annotations

from typing import Any

import pytest

import streamparse as sp
from streamparse.assembler import Assembler, ParseHalted
from streamparse.response import Mark
from streamparse.tools import Toolset

HALVES = ('{"a":', "1}")


def _assembler(**limits: int) -> Assembler:
    return Assembler(Toolset(), sp.Limits(**limits))


def _tell_call(assembler: Assembler, name: str = "f", arguments: str = '{"a":1}', **start: Any) -> None:
    call = assembler.call_start(name, **start)
    assembler.call_arguments(call, arguments)
    assembler.call_end(call)


def _errors(assembler: Assembler) -> list[tuple[str, str, int | None]]:
    events = assembler.record.take()
    return [(event.scope, event.code, event.index) for event in events if isinstance(event, sp.Error)]


def test_a_fragment_of_nothing_tells_nothing() -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    tell = assembler.call_teller(call)
    for fragment in ("", '{"a', "", '":1}', ""):
        tell(fragment)
    deltas = [event.arguments for event in assembler.record.take() if isinstance(event, sp.ToolCallDelta)]
    assert deltas == ['{"a', '":1}']


def test_an_answer_that_nothing_has_ended_was_cut() -> None:
    assembler = _assembler()
    assembler.text("ab")
    assembler.close()
    assert _errors(assembler) == [("stream", "stream_truncated", None)]


def test_an_item_is_kept_with_its_call_and_its_place() -> None:
    assembler = _assembler()
    assembler.text("ab")
    assembler.item("signature", "s", 3)
    assembler.item("audio", {"id": 1})
    assert assembler.record.take()[1:] == [
        sp.ProviderItem("signature", "s", 3),
        sp.ProviderItem("audio", {"id": 1}, None),
    ]
    assert assembler.response.items == [
        {"kind": "signature", "data": "s", "index": 3},
        {"kind": "audio", "data": {"id": 1}, "index": None},
    ]
    assert assembler.response.order == [Mark("item", 0, 2, 0), Mark("item", 1, 2, 0)]


def test_the_place_of_a_call_counts_what_came_before_each_look_and_since() -> None:
    assembler = _assembler()
    for text in ("ab", "cde", "f"):
        assembler.text(text)
        assembler.reasoning(text[:1])
        _tell_call(assembler)
        assert assembler.response.content.endswith(text)
    assert assembler.response.order == [Mark("call", 0, 2, 1), Mark("call", 1, 5, 2), Mark("call", 2, 6, 3)]


def test_of_calls_that_are_not_native_the_format_is_kept() -> None:
    assembler = _assembler()
    assembler.record.dialect = "hermes"
    _tell_call(assembler, source="native", place="field")
    _tell_call(assembler, arguments='{"a":2}', source="inband", place="plain")
    _tell_call(assembler, arguments='{"a":3}', source="recovered", place="bare")
    assert assembler.response.dialects == {1: "hermes", 2: "json-content"}


def test_only_calls_in_the_text_are_revoked_as_such_and_one_error_says_why() -> None:
    assembler = _assembler()
    _tell_call(assembler)
    assembler.calls_doubted("markup_in_code", "a document")
    assert _errors(assembler) == []
    for value in (2, 3):
        _tell_call(assembler, arguments=f'{{"a":{value}}}', source="inband", place="plain")
    assembler.calls_doubted("markup_in_code", "a document")
    assert _errors(assembler) == [("call", "markup_in_code", None)]
    assert [call.revoked for call in assembler.response.tool_calls] == [False, True, True]


@pytest.mark.parametrize("source", ["native", "inband"])
@pytest.mark.parametrize("by_teller", [False, True])
@pytest.mark.parametrize("piece", [1, 7, 30, 500])
def test_arguments_end_at_their_limit_however_they_are_told(source: Any, by_teller: bool, piece: int) -> None:
    assembler = _assembler(max_call_args=100)
    call = assembler.call_start("f", source=source, place="plain")
    tell = assembler.call_teller(call) if by_teller else None
    text = '{"a":"' + "x" * 494
    for at in range(0, len(text), piece):
        if tell is not None:
            tell(text[at : at + piece])
        else:
            assembler.call_arguments(call, text[at : at + piece])
    told = "".join(event.arguments for event in assembler.record.events if isinstance(event, sp.ToolCallDelta))
    assert told == text[:100]
    assert ("call", "limit_args", 0) in _errors(assembler)


@pytest.mark.parametrize("size", [100, 101])
def test_a_whole_call_has_the_same_limits(size: int) -> None:
    assembler = _assembler(max_call_args=100)
    assembler.call_whole("f", '{"a":"' + "x" * (size - 8) + '"}')
    assert len(assembler.response.tool_calls) == (size == 100)
    assert _errors(assembler) == ([] if size == 100 else [("call", "limit_args", 0)])


def test_a_whole_call_whose_name_may_not_be_is_broken_and_not_complete() -> None:
    assembler = _assembler(max_name=3)
    assembler.call_whole("name", '{"a":1}')
    assert assembler.response.tool_calls == []
    assert [broken.code for broken in assembler.response.broken_calls] == ["limit_name"]


def test_calls_beyond_the_limits_end_the_answer() -> None:
    for limits, code in (({"max_calls": 2}, "limit_calls"), ({"max_open_calls": 2}, "limit_open_calls")):
        assembler = _assembler(**limits)
        for _ in range(2):
            assembler.call_arguments(assembler.call_start("f"), '{"a":')
        with pytest.raises(ParseHalted):
            assembler.call_start("f")
        assert ("stream", code, None) in _errors(assembler)


def test_calls_that_have_ended_leave_room_for_others_to_open() -> None:
    assembler = _assembler(max_open_calls=2)
    for _ in range(5):
        _tell_call(assembler)
    assert len(assembler.response.tool_calls) == 5
    assert _errors(assembler) == []


@pytest.mark.parametrize("between", ["", "x", " and "])
def test_a_native_call_is_the_double_of_one_in_the_text_unless_text_follows_that_one(between: str) -> None:
    assembler = _assembler()
    _tell_call(assembler, arguments='{"a":1}', source="inband", place="plain")
    assembler.text("then")
    _tell_call(assembler, arguments='{"a":2}', source="inband", place="plain")
    assembler.text(between)
    _tell_call(assembler, arguments='{"a":2}')
    revoked = [(call.source, call.revoked) for call in assembler.response.tool_calls]
    if between:
        assert revoked == [("inband", False), ("inband", True), ("native", False)]
    else:
        assert revoked == [("inband", False), ("inband", False)]
        assert [broken.code for broken in assembler.response.broken_calls] == ["duplicate_call"]


@pytest.mark.parametrize("first", ["text", "reasoning", "refusal", "item", "usage", "call", "nothing"])
def test_an_end_of_nothing_is_no_stream(first: str) -> None:
    assembler = _assembler()
    match first:
        case "usage":
            assembler.fact("usage", {"input_tokens": 1})
        case "call":
            _tell_call(assembler)
        case "item":
            assembler.item("audio", 1)
        case "text" | "reasoning" | "refusal":
            getattr(assembler, first)("a")
    assembler.end()
    assembler.close()
    codes = [code for scope, code, _ in _errors(assembler) if scope == "stream"]
    assert ("not_a_stream" in codes) is (first == "nothing")


def test_fragments_of_a_call_are_one_call_whatever_comes_between() -> None:
    assembler = _assembler()
    calls = [assembler.call_start("f"), assembler.call_start("g")]
    for half in HALVES:
        for call in calls:
            assembler.call_arguments(call, half)
        assembler.text("x")
    assert [(call.name, call.raw) for call in assembler.response.tool_calls] == [("f", '{"a":1}'), ("g", '{"a":1}')]
    assert assembler.response.content == "xx"


@pytest.mark.parametrize("before", ["Y2lwaGVy", '"{', "null"])
def test_text_that_begins_no_object_gives_way_to_the_arguments(before: str) -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    assembler.call_arguments(call, before)
    assembler.call_arguments(call, HALVES[0], restarts=True)
    assert assembler.look(0) == {}
    assembler.call_arguments(call, HALVES[1], restarts=True)  # once an object has begun, nothing is dropped
    events = assembler.record.take()
    assert [event.arguments for event in events if isinstance(event, sp.ToolCallDelta)] == list(HALVES)
    assert [event.raw for event in events if isinstance(event, sp.ToolCallComplete)] == ["".join(HALVES)]


@pytest.mark.parametrize(
    ("arguments", "is_odd", "repairs"),
    [
        ('{"a":1}', False, {}),
        ('{"a":1}', True, {"markup": 1}),
        ('{"a":1,}', False, {"trailing_comma": 1}),
        ('{"a":1,}', True, {"markup": 1, "trailing_comma": 1}),
    ],
)
def test_what_had_to_be_repaired_of_a_call_is_counted(arguments: str, is_odd: bool, repairs: dict[str, int]) -> None:
    assembler = _assembler()
    call = assembler.call_start("f", source="inband")
    assembler.call_arguments(call, arguments)
    if is_odd:
        assembler.call_repaired(call)
    assembler.call_end(call)
    assert assembler.record.leniencies == repairs
    assert [each.source for each in assembler.response.tool_calls] == ["repaired" if repairs else "inband"]
    assert [each.reason for each in assembler.response.tool_calls] == [next(iter(repairs), "")]


@pytest.mark.parametrize("id", [None, "", "c"])
def test_a_name_of_invisible_characters_is_an_error_whatever_the_id(id: str | None) -> None:
    assembler = Assembler(Toolset(), sp.Limits())
    assembler.call_start("a\u202eb", id)
    assert [(error.code, error.index) for error in assembler.response.errors] == [("name_characters", 0)]


def test_a_refusal_hides_no_missing_call() -> None:
    for calls in (0, 1):
        assembler = _assembler()
        for _ in range(calls):
            _tell_call(assembler)
        assembler.refusal("No.")
        assembler.finish("tool_calls", "tools")
        assembler.end()
        assembler.close()
        codes = [code for _, code, _ in _errors(assembler)]
        assert codes == ([] if calls else ["missing_call"])
