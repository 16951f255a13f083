"""Grammars A, B and C: each call is told at the earliest character, and what a block promises is kept."""

from __future__ import annotations

from itertools import permutations
from typing import Literal

import pytest
from cuts import assert_same_in_every_cut, calls_of, events_of, in_pieces, merged, places_of, revoked_of, text_of

import streamparse as sp
from streamparse.dialects.engine.grammar import Dialect
from streamparse.dialects.grammars.call_json import ExtractedCall, extract_calls, extract_text
from streamparse.dialects.table import json_rows, marker_rows

ROWS: dict[str, Dialect] = {row.name: row for module in (json_rows, marker_rows) for row in module.ROWS}
TOOLS = [
    {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
    {"name": "ping", "parameters": {"type": "object", "properties": {}}},
]
PARIS = [("get_weather", {"city": "Paris"})]
BARE = ("bare-json", "fenced-json", "functools", "command-r-plus", "xlam", "guided-json-array", "react", "rwkv")
"""Rows whose examples have no marker of their own: these calls are told whole, at the brace that closes them."""
MARKED = [name for name in ROWS if name not in BARE]


def _closing(name: str) -> int:
    """Where the brace stands that closes the call in the example of a dialect."""
    text = ROWS[name].example
    return text.index("}") if name == "apertus" else text.rindex("}")


def _first(kind: type[sp.Event], dialect: str, text: str) -> int:
    """After how many characters the first event of a kind has come."""
    parser = sp.TextParser([dialect], tools=TOOLS)
    return next(at for at, char in enumerate(text, 1) for event in parser.feed(char) if isinstance(event, kind))


@pytest.mark.parametrize("name", ROWS)
def test_the_example_of_a_dialect_is_a_call(name: str) -> None:
    assert calls_of(events_of(sp.TextParser([name]), [ROWS[name].example])) == PARIS


@pytest.mark.parametrize("name", ROWS)
def test_the_place_of_a_call_says_whether_it_has_a_marker_of_its_own(name: str) -> None:
    parser = sp.TextParser([name], tools=TOOLS)
    events = parser.feed(ROWS[name].example)
    assert places_of(events) == ["bare" if name in BARE else "plain"]
    assert revoked_of(parser.close()) == ([(0, "cut")] if name in BARE else [])


@pytest.mark.parametrize("name", MARKED)
def test_a_call_with_a_marker_starts_at_the_first_character_of_its_arguments(name: str) -> None:
    text = ROWS[name].example
    assert _first(sp.ToolCallStart, name, text) == text.rindex("{") + 1


@pytest.mark.parametrize("name", BARE)
def test_a_bare_call_starts_and_is_complete_in_the_batch_of_the_brace_that_closes_it(name: str) -> None:
    text, closing = ROWS[name].example, _closing(name)
    parser = sp.TextParser([name], tools=TOOLS)
    before = [event for character in text[:closing] for event in parser.feed(character)]
    assert {type(event) for event in before} <= {sp.TextDelta}, "what stands before the call may be told"
    assert [type(event) for event in parser.feed(text[closing])] == [
        sp.ToolCallStart,
        sp.ToolCallDelta,
        sp.ToolCallComplete,
    ]


@pytest.mark.parametrize("name", MARKED)
def test_the_arguments_stream_character_by_character(name: str) -> None:
    text = ROWS[name].example
    assert _first(sp.ToolCallDelta, name, text) <= text.rindex("{") + len('{"city":')
    parser = sp.TextParser([name])
    inside = text.index("Paris") + 2
    parser.feed(text[:inside])
    assert parser.feed("x" * 9) == [sp.ToolCallDelta(0, "x" * 9)]


@pytest.mark.parametrize("name", ROWS)
def test_a_call_is_complete_at_the_brace_that_closes_it(name: str) -> None:
    assert _first(sp.ToolCallComplete, name, ROWS[name].example) == _closing(name) + 1


@pytest.mark.parametrize("name", ["deepseek-v3", "kimi-k2", "solar-open", "plamo3", "hermes", "cohere-action"])
def test_many_calls_in_small_pieces_keep_their_order(name: str) -> None:
    text = "\n".join([ROWS[name].example] * 50)
    events = events_of(sp.TextParser([name]), in_pieces(text, 3))
    assert calls_of(events) == PARIS * 50
    assert not text_of(events).strip()


def test_the_first_declared_tool_of_a_block_vouches_for_the_others() -> None:
    text = '[{"name": "ping", "arguments": {}}, {"name": "unknown", "arguments": {}}]'
    assert calls_of(events_of(sp.TextParser(tools=TOOLS), [text])) == [("ping", {}), ("unknown", {})]


def test_a_block_that_ends_before_another_call_has_its_name_is_an_error_and_no_text() -> None:
    parser = sp.TextParser()
    events = events_of(parser, ['<tool_calls>[{"name": "ping", "arguments": {}}, {"na'])
    assert calls_of(events) == [("ping", {})]
    assert text_of(events) == ""
    assert [error.code for error in parser.response.errors] == ["truncated_call"]


@pytest.mark.parametrize(
    "call",
    [
        '"name": "ping", "arguments": {}}',
        '{"name": "ping", "arguments": {},}',
        '{"name": "ping", "arguments": {}',
        "{'name': 'ping', 'arguments': {}}",
        '{"name": "ping", "arguments": {"x": True}}',
        '{"name": "ping", "arguments": {"x": 1,}}',
        '{"name": "ping", "arguments": {"x": "a\nb"}}',
        "{'name': \"ping\", 'arguments': {'x': 'it\\'s'}}",
    ],
    ids=lambda call: call.replace("\n", "\\n"),
)
def test_a_call_that_had_to_be_repaired_says_so(call: str) -> None:
    parser = sp.TextParser()
    events_of(parser, [f"<tool_call>\n{call}\n</tool_call>"])
    assert [(call.name, call.source) for call in parser.response.tool_calls] == [("ping", "repaired")]


@pytest.mark.parametrize("given", ["null", '""', '" "', "{}"])
def test_no_arguments_however_they_are_written_are_an_empty_object(given: str) -> None:
    events = events_of(sp.TextParser(), [f'<tool_call>{{"name": "ping", "arguments": {given}}}</tool_call>'])
    assert calls_of(events) == [("ping", {})]


@pytest.mark.parametrize("given", ["[1]", "3", '"soon"', '"[1]"'])
def test_arguments_that_are_no_object_are_an_error(given: str) -> None:
    parser = sp.TextParser()
    events_of(parser, [f'<tool_call>{{"name": "ping", "arguments": {given}}}</tool_call> So.'])
    assert not parser.response.tool_calls
    assert parser.response.content.strip().endswith("So.")


def test_what_might_be_a_call_without_a_marker_is_held_no_longer_than_its_limit() -> None:
    parser = sp.TextParser(tools=TOOLS, limits=sp.Limits(max_held_text=100))
    events = parser.feed('{"note": "' + "x" * 200)
    assert text_of(events).startswith('{"note": "xxx')


def test_bare_arguments_are_those_of_the_only_tool() -> None:
    events = events_of(sp.TextParser(["guided-json-array"], tools=TOOLS[:1]), in_pieces('{"city": "Paris"}', 1))
    assert calls_of(events) == PARIS


@pytest.mark.parametrize("text", ['{"town": "Paris"}', '{"name": "Paris"}', "{}"])
def test_an_object_that_the_only_tool_does_not_take_is_text(text: str) -> None:
    events = events_of(sp.TextParser(["guided-json-array"], tools=TOOLS[:1]), in_pieces(text, 1))
    assert calls_of(events) == []
    assert text_of(events) == text


def test_bare_arguments_are_nobodys_where_several_tools_are_declared() -> None:
    events = events_of(sp.TextParser(["guided-json-array"], tools=TOOLS), ['{"city": "Paris"}'])
    assert text_of(events) == '{"city": "Paris"}'


NO_CALLS = [
    '{"name": "ping", "city": "Paris"}',
    '{"city": {"of": "Paris"}, "name": "ping"}',
    '{"name": "", "arguments": {}}',
    '{: 1, "name": "ping", "arguments": {}}',
]


@pytest.mark.parametrize("text", NO_CALLS)
@pytest.mark.parametrize("named", [["hermes"], "auto"])
def test_an_object_whose_arguments_stand_elsewhere_is_no_call_without_arguments(
    named: list[str] | Literal["auto"], text: str
) -> None:
    whole = f"<tool_call>\n{text}\n</tool_call> So."
    events = assert_same_in_every_cut(lambda: sp.TextParser(named, tools=TOOLS), whole)
    assert (calls_of(events), text_of(events)) == ([], whole)


@pytest.mark.parametrize("key", ["arguments", "parameters", "args", "input"])
def test_arguments_are_known_by_any_of_their_names(key: str) -> None:
    text = f'<tool_call>{{"name": "get_weather", "{key}": {{"city": "Paris"}}}}</tool_call>'
    assert calls_of(events_of(sp.TextParser(["hermes"]), [text])) == PARIS


BARE_CALLS = [
    '```json\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n```',
    '[get_weather(city="Paris")]',
    'functools[{"name": "get_weather", "arguments": {"city": "Paris"}}]',
]


@pytest.mark.parametrize("call", BARE_CALLS)
def test_another_call_without_a_marker_of_its_own_counts_only_next_to_the_first(call: str) -> None:
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=TOOLS), f"{call}\n\n{call}\n")
    assert (calls_of(events), places_of(events)) == (PARIS * 2, ["bare"] * 2)
    assert (revoked_of(events), text_of(events)) == ([], "")


@pytest.mark.parametrize("call", BARE_CALLS)
def test_text_behind_bare_calls_revokes_all_of_them_and_their_text_comes_before_it(call: str) -> None:
    text = f"{call}\n\n{call}\nSo.\n{call}"
    events = assert_same_in_every_cut(lambda: sp.TextParser(tools=TOOLS), text)
    assert (calls_of(events), places_of(events)) == (PARIS * 2, ["bare"] * 2)
    assert (revoked_of(events), text_of(events)) == ([(0, "text_follows"), (1, "text_follows")], text)
    kinds = [type(event) for event in events]
    assert kinds.index(sp.TextDelta) > max(at for at, kind in enumerate(kinds) if kind is sp.ToolCallRevoked)


def test_the_text_of_a_bare_call_is_given_back_once_where_a_thought_is_closed_behind_it() -> None:
    call = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
    parser = sp.TextParser(tools=TOOLS)
    events = parser.feed(f"{call}</think>So.") + parser.close(stopped=True)
    assert (revoked_of(events), text_of(events)) == ([(0, "thought_closed")], f"{call}So.")


@pytest.mark.parametrize("call", BARE_CALLS)
def test_a_cut_behind_bare_calls_revokes_all_of_them(call: str) -> None:
    parser = sp.TextParser(tools=TOOLS)
    assert calls_of(parser.feed(f"{call}\n{call}\n")) == PARIS * 2
    events = parser.close()
    assert revoked_of(events) == [(0, "cut"), (1, "cut")]
    assert text_of(events) == f"{call}\n{call}\n"


@pytest.mark.parametrize("key", ["tool_calls", "toolCalls", "tool_uses", "calls"])
def test_an_envelope_of_calls_holds_a_list_of_them(key: str) -> None:
    call = {"name": "ping", "arguments": {}}
    assert list(extract_calls({key: [call, call]})) == [ExtractedCall("ping", {})] * 2
    assert list(extract_calls({key: call})) == []


@pytest.mark.parametrize(
    "key", ["function_call", "functionCall", "tool_call", "toolCall", "tool_use", "toolUse", "tool"]
)
def test_an_envelope_of_one_call_holds_it_alone(key: str) -> None:
    call = {"name": "ping", "arguments": {}}
    assert list(extract_calls({key: call})) == [ExtractedCall("ping", {})]
    assert list(extract_calls({key: [call]})) == []


def test_a_call_of_inkling_may_begin_as_its_prompt_ended() -> None:
    call = '<|message_model|>ping<|content_invoke_tool_json|>{"name": "ping", "args": {}}<|end_message|>'
    for text in (call * 2, call.removeprefix("<|message_model|>") + call):
        calls = calls_of(events_of(sp.TextParser(["inkling"], tools=TOOLS), [text]))
        assert [name for name, _ in calls] == ["ping", "ping"]


@pytest.mark.parametrize("members", ["", ', "parameters": {}'])
def test_an_action_of_command_r_is_a_call_only_with_its_parameters(members: str) -> None:
    text = f'Action:\n```json\n[{{"tool_name": "ping"{members}}}]\n```'
    calls = calls_of(events_of(sp.TextParser(["command-r-plus"], tools=TOOLS), [text]))
    assert calls == ([("ping", {})] if members else [])


@pytest.mark.parametrize("key", ["tool_name", "name"])
def test_an_action_may_call_its_tool_by_either_key(key: str) -> None:
    text = f'<|START_ACTION|>[{{"{key}": "ping", "parameters": {{}}}}]<|END_ACTION|>'
    events = events_of(sp.TextParser(["cohere-action"], tools=TOOLS), [text])
    assert (calls_of(events), text_of(events)) == ([("ping", {})], "")


@pytest.mark.parametrize(("value", "is_call"), [("1", True), ("\ufeff1", False)])
def test_a_member_that_is_no_sound_json_makes_no_call(value: str, is_call: bool) -> None:
    text = f'<tool_call>{{"name": "ping", "x": {value}, "arguments": {{}}}}</tool_call>'
    parser = sp.TextParser(["hermes"], tools=TOOLS)
    events = parser.feed(text) + parser.close(stopped=True)
    assert (calls_of(events), text_of(events)) == (([("ping", {})], "") if is_call else ([], text))


def test_a_call_that_had_to_be_repaired_keeps_its_id() -> None:
    text = "<tool_call>{'name': 'ping', 'id': 'given', 'arguments': {}}</tool_call>"
    parser = sp.TextParser(["hermes"], tools=TOOLS)
    events_of(parser, [text])
    assert [(call.id, call.source) for call in parser.response.tool_calls] == [("given", "repaired")]


LISTS = {
    "JSON": '[{"name": "unknown", "arguments": {"a": [1, {"b": "]"}]}}, {"name": "ping", "arguments": {}}]',
    "JSON that is none": '[{"name": "unknown", "arguments": {"a": <tool_call>}}, {"name": "ping", "arguments": {}}]',
    "Python": '[unknown(a=[1, {"b": "]"}]), ping()]',
    "Python that is none": "[unknown(a=[1, {), ping()]",
}


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_is_text_wherever_it_is_cut_before_a_declared_tool_vouches_for_it(kind: str) -> None:
    text = LISTS[kind]
    for end in range(text.index("ping")):
        for stopped in (True, False):
            parser = sp.TextParser(tools=TOOLS)
            events = parser.feed(text[:end]) + parser.close(stopped=stopped)
            assert (calls_of(events), text_of(events), parser.response.errors) == ([], text[:end], [])


def test_a_name_that_is_too_long_makes_no_call_of_a_shorter_one() -> None:
    for text in ("<|tool_calls|>[{'name': '%s', 'arguments': {}}]", '<tool_call>{"name": "%s", "arguments": {}}'):
        for size in (8, 9, 10, 11, 12, 40):
            parser = sp.TextParser(["sarashina", "hermes"], limits=sp.Limits(max_name=8))
            events = events_of(parser, [text % ("x" * size)])
            assert [name for name, _ in calls_of(events)] == (["x" * 8] if size == 8 else [])


def test_a_literal_whose_name_is_far_too_long_is_text() -> None:
    text = "<|tool_calls|>[{'name': '" + "x" * 40 + "', 'arguments': {}}]"
    events = events_of(sp.TextParser(["sarashina"], limits=sp.Limits(max_name=8)), [text])
    assert text_of(events) == text


def test_a_text_that_ends_before_the_recipient_of_its_call_is_known_is_text() -> None:
    for text in ("So", "get_weather", "get_weather\n", "al"):
        events = events_of(sp.TextParser(["functionary-v3.2"], tools=TOOLS), [text])
        assert text_of(events) == text


@pytest.mark.parametrize("name", sorted({*MARKED} - {"granite-20b-fc", "gigachat3", "llama3-json"}))
def test_a_comma_behind_the_end_of_a_block_is_text(name: str) -> None:
    """Where the format has no end of a block, the comma could come before another call."""
    events = events_of(sp.TextParser([name]), [ROWS[name].example.rstrip() + ","])
    assert text_of(events) == ","


def test_a_call_in_a_member_of_its_object_is_found_in_python_too() -> None:
    text = "<tool_call>{'function': {'name': 'ping', 'arguments': {'x': 1}}}</tool_call>"
    assert calls_of(events_of(sp.TextParser(["hermes"], tools=TOOLS), [text])) == [("ping", {"x": 1})]


@pytest.mark.parametrize("key", ["content", "text"])
def test_an_envelope_of_calls_may_hold_text_and_other_objects_do_not(key: str) -> None:
    assert extract_text({"tool_calls": [], key: "Well."}) == "Well."
    assert extract_text({"calls": None, key: "Well."}) == ""
    assert extract_text({"tool_calls": [], key: ["Well."]}) == ""


def test_a_cut_inside_a_list_of_bare_calls_revokes_those_before_it_and_reports_no_other() -> None:
    text = '[{"name": "ping", "arguments": {}}, {"name": "get_weather", "arguments": {"ci'
    parser = sp.TextParser(tools=TOOLS)
    events = parser.feed(text) + parser.close()
    assert (revoked_of(events), text_of(events), parser.response.errors) == ([(0, "cut")], text, [])


@pytest.mark.parametrize(
    "members",
    [
        '"name": "get_weather", "arguments": {"city": "Paris"}, "parameters": {"city": "Rome"}',
        '"name": "get_weather", "tool_name": "ping", "arguments": {"city": "Paris"}',
        '"arguments": {"city": "Paris"}, "name": "get_weather", "args": {"city": "Rome"}',
    ],
)
def test_a_call_that_says_its_name_or_its_arguments_twice_is_repaired(members: str) -> None:
    text = f"<tool_call>{{{members}}}</tool_call>"
    for pieces in ([text], list(text)):
        parser = sp.TextParser(["hermes"], tools=TOOLS)
        (call,) = [each for each in events_of(parser, pieces) if isinstance(each, sp.ToolCallComplete)]
        assert (call.arguments, call.source) == ({"city": "Paris"}, "repaired")


@pytest.mark.parametrize("key", ["id", "type", "function", "name", "tool_name", "city"])
def test_an_object_where_a_call_holds_a_word_makes_it_no_call(key: str) -> None:
    for text in (
        '{"name": "get_weather", "%s": {"city": "Paris"}}',
        '<tool_call>{"name": "ping", "%s": []}</tool_call>',
    ):
        events = events_of(sp.TextParser(tools=TOOLS), [text % key])
        assert (calls_of(events), text_of(events)) == ([], text % key)


HEADS = (
    '{"name": "get_weather", "arguments": {',
    '{ "name" :\n"get_weather" ,\t"parameters" : {',
    '"name": "get_weather", "arguments": {',
    '{"name": "functions.get_weather", "arguments": {',
    '{"name": "nobody", "arguments": {',
    '{"name": "no body", "arguments": {',
    '{"name": "get\\u005fweather", "arguments": {',
    '{"name": "get\tweather", "arguments": {',
    '{"name": "", "arguments": {',
    '{"name": "get_weather",, "arguments": {',
    '{"name": "get_weather", "name": "ping", "arguments": {',
    '{"name": "get_weather", "arguments": [',
    '{"name": "' + "n" * 300 + '", "arguments": {',
    '{"name":' + " " * 100 + '"get_weather", "arguments": {',
)


@pytest.mark.parametrize(
    "limits", [sp.Limits(), sp.Limits(max_name=8), sp.Limits(max_key=6), sp.Limits(max_call_args=40)]
)
@pytest.mark.parametrize("head", HEADS)
def test_the_head_of_a_call_is_read_at_once_as_in_pieces(head: str, limits: sp.Limits) -> None:
    text = f'<tool_call>{head}"city": "Paris"' + ("]" if head.endswith("[") else "}") + "}</tool_call> and more."
    for dialects in ("auto", ["hermes"]):
        for tools in (TOOLS, None):
            read = [sp.TextParser(dialects, tools=tools, limits=limits) for _ in range(2)]
            whole, pieces = (events_of(parser, cut) for parser, cut in zip(read, ([text], list(text)), strict=True))
            assert merged(whole) == merged(pieces)


MEMBERS: list[
    tuple[dict[str, str], str, str]
] = [  # what an object holds, and which rows read a call: none, some or all
    ({"name": '"get_weather"', "arguments": '{"city": "Paris"}'}, "all", '{"city": "Paris"}'),
    ({"name": '"get_weather"', "parameters": '{"city": "Paris"}', "type": '"function"'}, "all", '{"city": "Paris"}'),
    ({"name": '"get_weather"', "arguments": "{}", "id": '"a1"', "index": "0"}, "all", "{}"),
    ({"name": '"ping"', "arguments": "{}", "more": "[1]"}, "all", "{}"),
    ({"name": '"ping"'}, "marked", "{}"),
    ({"name": '"ping"', "type": '"function"'}, "marked", "{}"),
    ({"name": '"ping"', "type": '"function"', "id": '"a1"'}, "marked", "{}"),
    ({"name": '"ping"', "type": '"function"', "description": '"x"'}, "none", "{}"),
    ({"name": '"ping"', "type": '"function"', "index": "0"}, "none", "{}"),
    ({"name": '"ping"', "id": '"a1"', "status": '"x"'}, "none", "{}"),
    ({"name": '"ping"', "type": "{}"}, "none", "{}"),
]


@pytest.mark.parametrize(("dialect", "written"), [
    ("hermes", "<tool_call>{}</tool_call>"), ("lmstudio", "[TOOL_REQUEST]{}[END_TOOL_REQUEST]"),
    ("mistral-array", "[TOOL_CALLS][{}]"), ("bare-json", "{}"), ("fenced-json", "```json\n{}\n```"),
])  # fmt: skip
@pytest.mark.parametrize(("members", "rows", "raw"), MEMBERS)
def test_in_whatever_order_its_members_stand_an_object_is_the_same_call_or_none(
    dialect: str, written: str, members: dict[str, str], rows: str, raw: str
) -> None:
    is_call = rows == "all" or (rows == "marked" and dialect in MARKED)
    for order in permutations(members.items()):
        text = written.replace("{}", "{" + ", ".join(f'"{key}": {value}' for key, value in order) + "}")
        response = sp.parse_response({"choices": [{"message": {"content": text}}]}, dialects=[dialect], tools=TOOLS)
        told = [(call.name, call.raw) for call in response.tool_calls]
        assert told == ([(members["name"].strip('"'), raw)] if is_call else [])
        assert response.content.strip() == ("" if is_call else text)
