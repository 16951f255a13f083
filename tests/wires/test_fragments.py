"""What is kept of one call while the next fragments come: names, and the room of arguments that have no name yet."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from call_counts import count_calls
from cuts import assert_same_in_every_cut, calls_of

import streamparse as sp


def _fragment(index: int, name: str | None, arguments: str, id: str | None = None) -> dict[str, Any]:
    return {"index": index, "id": id, "function": {"name": name, "arguments": arguments}}


def _body(*fragments: dict[str, Any]) -> bytes:
    deltas = [{"choices": [{"index": 0, "delta": {"tool_calls": [each]}}]} for each in fragments]
    frames = [*deltas, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}]
    return b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames) + b"data: [DONE]\n\n"


TOOLS = [{"name": "a", "parameters": {}}, {"name": "b", "parameters": {}}]


def _read(body: bytes, limits: sp.Limits | None = None, tools: Any = ()) -> tuple[list[Any], list[str]]:
    """The calls and the codes of the errors, in every cut."""
    events = assert_same_in_every_cut(
        lambda: sp.StreamParser("openai-chat", limits=limits or sp.Limits(), tools=tools), body, most=20
    )
    return calls_of(events), [event.code for event in events if isinstance(event, sp.Error)]


def test_another_name_on_an_open_value_begins_no_call() -> None:
    body = _body(_fragment(0, "a", '{"x": ', "i"), _fragment(0, "b", "1"), _fragment(0, "b", "}"))
    assert _read(body, tools=TOOLS) == ([("a", {"x": 1})], [])


def test_an_id_of_which_no_call_can_be_is_told_in_part() -> None:
    parser = sp.StreamParser("openai-chat")
    start, error = parser.feed(_body(_fragment(0, "a", "", "i" * 100_000)))[:2]
    assert isinstance(start, sp.ToolCallStart)
    assert isinstance(error, sp.Error)
    assert (start.id, error.code) == ("i" * 200, "limit_id")


def test_a_call_whose_fragments_all_have_its_id_and_its_name_is_one() -> None:
    fragments = [_fragment(0, "a", text, "i") for text in ("", '{"x": ', "1", "}")]
    assert _read(_body(*fragments), tools=TOOLS) == ([("a", {"x": 1})], [])
    for each in fragments:
        del each["index"]
    assert _read(_body(*fragments), tools=TOOLS) == ([("a", {"x": 1})], [])


def test_a_nameless_fragment_of_a_known_id_is_of_its_call_whatever_its_index() -> None:
    start = _fragment(0, "a", "", "i")
    assert _read(_body(start, _fragment(1, None, '{"x": 1}', "i")), tools=TOOLS) == ([("a", {"x": 1})], [])
    late = _body(start, _fragment(0, None, '{"x": 1}', "i"), _fragment(1, None, '{"y": 2}', "i"))
    assert _read(late, tools=TOOLS) == ([("a", {"x": 1})], ["late_arguments"])
    other = _body(start, _fragment(1, "b", "", "j"), _fragment(1, None, '{"x": 1}', "i"), _fragment(1, None, "{}", "j"))
    assert _read(other, tools=TOOLS) == ([("a", {"x": 1}), ("b", {})], [])
    named = _body(start, _fragment(0, None, '{"x": 1}', "i"), _fragment(1, "a", '{"y": 2}', "i"))
    assert _read(named, tools=TOOLS) == ([("a", {"x": 1}), ("a", {"y": 2})], [])


@pytest.mark.parametrize("absent", ["null", "None", "", " ", None])
def test_a_name_and_an_id_that_say_nothing_are_absent(absent: str | None) -> None:
    body = _body(_fragment(0, "a", '{"x": ', "i"), _fragment(0, absent, "1}", absent), _fragment(1, "b", "{}", absent))
    assert _read(body) == ([("a", {"x": 1}), ("b", {})], [])
    late = _body(_fragment(0, absent, '{"x": 1}', "i"), _fragment(0, "a", "", absent))
    assert _read(late) == ([("a", {"x": 1})], [])


def test_a_name_gives_back_the_room_that_the_arguments_before_it_took() -> None:
    arguments = '{"x": "' + "y" * 20 + '"}'
    fragments = []
    for index in range(5):
        fragments += [_fragment(index, None, arguments, f"i{index}"), _fragment(index, f"n{index}", "")]
    called = [(f"n{index}", {"x": "y" * 20}) for index in range(5)]
    assert _read(_body(*fragments), sp.Limits(max_call_args=len(arguments) + 5)) == (called, [])


def test_arguments_without_names_share_one_room() -> None:
    arguments = '{"x": "' + "y" * 20 + '"}'
    fragments = [_fragment(index, None, arguments, f"i{index}") for index in range(2)]
    fragments += [_fragment(index, f"n{index}", "") for index in range(2)]
    calls, codes = _read(_body(*fragments), sp.Limits(max_call_args=len(arguments) + 5))
    assert (calls, codes) == ([("n0", {"x": "y" * 20})], ["limit_args", "limit_args"])


def test_an_id_that_comes_after_the_name_is_the_calls_id() -> None:
    body = _body(_fragment(0, "a", ""), _fragment(0, None, "", "i"), _fragment(0, None, '{"x": 1}'))
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-chat"), body)
    assert [(event.id, event.name) for event in events if isinstance(event, sp.ToolCallComplete)] == [("i", "a")]


def test_a_whole_message_goes_on_with_the_calls_of_the_deltas_before_it_by_their_indexes() -> None:
    deltas = [_fragment(1, "a", ""), _fragment(2, "b", "")]
    whole = [_fragment(1, "a", '{"x": 1}'), _fragment(2, "b", "{}")]
    frames = [{"choices": [{"index": 0, "delta": {"tool_calls": deltas}}]}]
    frames += [{"choices": [{"index": 0, "message": {"tool_calls": whole}, "finish_reason": "tool_calls"}]}]
    body = b"".join(b"data: " + json.dumps(frame).encode() + b"\n\n" for frame in frames)
    assert _read(body) == ([("a", {"x": 1}), ("b", {})], [])


def test_a_name_that_begins_with_the_one_before_it_and_is_no_tool_begins_another_call() -> None:
    body = _body(_fragment(0, "a", ""), _fragment(0, "ab", "{}"))
    assert _read(body, tools=TOOLS) == ([("a", {}), ("ab", {})], [])


def test_a_new_id_at_a_new_index_begins_a_call_whose_name_may_follow() -> None:
    first = _fragment(0, "a", '{"x": ', "i")
    assert _read(
        _body(first, _fragment(1, None, "", "j"), _fragment(1, "b", '{"y": 2}'), _fragment(0, None, "1}"))
    ) == (
        [("b", {"y": 2}), ("a", {"x": 1})],
        [],
    )


@pytest.mark.parametrize(("text", "codes"), [("", []), (" \n", []), ("x", ["late_arguments"])])
def test_the_name_of_a_closed_call_once_more_begins_no_call_without_a_value(text: str, codes: list[str]) -> None:
    body = _body(_fragment(0, "a", '{"x": 1}', "i"), _fragment(0, "a", text))
    assert _read(body, tools=TOOLS) == ([("a", {"x": 1})], codes)


def test_a_value_at_a_new_index_begins_a_call_whose_name_may_follow() -> None:
    first = _fragment(0, "a", '{"x": ', "i")
    body = _body(first, _fragment(1, None, '{"y": 2}'), _fragment(1, "b", ""), _fragment(0, None, "1}"))
    assert _read(body, tools=TOOLS) == ([("b", {"y": 2}), ("a", {"x": 1})], [])


def test_what_follows_a_call_in_fragments_of_its_form_is_late_once() -> None:
    begun = [_fragment(0, "a", "", "i"), _fragment(0, None, '{"x"'), _fragment(0, None, ": 1"), _fragment(0, None, "}")]
    late = [_fragment(0, None, text) for text in (" ", "late", "later")]
    assert _read(_body(*begun, *late), tools=TOOLS) == ([("a", {"x": 1})], ["late_arguments"])


def test_fragments_of_calls_in_turns_stay_with_their_calls() -> None:
    starts = [_fragment(0, "a", "", "i"), _fragment(1, "b", "", "j")]
    turns = [_fragment(index, None, text) for text in ('{"x": "', "]", "}", '\\"', "'", '"}') for index in (0, 0, 1)]
    turns = [each for number, each in enumerate(turns) if number not in (0, 15)]  # one `{"x": "` and one `"}` for each
    body = _body(*starts, *turns)
    assert _read(body, tools=TOOLS) == ([("a", {"x": "]]}}\"\"''"}), ("b", {"x": "]}\"'"})], [])


def test_a_fragment_inside_a_string_takes_few_calls() -> None:
    """Cutting, decoding and telling it are twelve calls, those into C included."""
    parser = sp.StreamParser("openai-chat", tools=TOOLS)
    parser.feed(_body(_fragment(0, "a", '{"x": "', "i")).split(b"\n\n")[0] + b"\n\n")
    pieces = [_body(_fragment(0, None, text)).split(b"\n\n")[0] + b"\n\n" for text in ("a", "b", "c", "d")]
    counts = [count_calls(partial(parser.feed, piece)) for piece in pieces]
    assert counts[-1] <= 12, counts
