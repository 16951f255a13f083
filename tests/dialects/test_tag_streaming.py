"""The formats of tags stream: a call starts with its name, a string comes as it is written, the close tag completes.

Where the tags are those of a tool's name, nothing is told before the closing tag."""

from __future__ import annotations

from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of, events_of, in_pieces, places_of, revoked_of, text_of

import streamparse as sp
from streamparse.dialects.table import child_rows, tag_rows

ROWS = [
    row
    for module in (tag_rows, child_rows)
    for row in module.ROWS
    # The text of the first could be prose until its end; in the examples of the others it is JSON.
    if row.name not in ("tool-text-tag", "glm-5.3", "cwm", "longcat")
]
NAMES = [row.name for row in ROWS]
MARKED = [row for row in ROWS if row.name != "tool-name-tag"]
MARKED_NAMES = [row.name for row in MARKED]
TOOLS = [
    {
        "name": "get_weather",
        "parameters": {
            "properties": {
                "city": {"type": "string"},
                "days": {"type": "integer"},
                "note": {"type": ["string", "null"]},
            }
        },
    }
]
LONG = "It rains, and (perhaps) it pours: 12 mm today.  "


def _told(name: str, text: str, tools: list[dict[str, Any]] | None = TOOLS) -> list[list[sp.Event]]:
    """The events of each character."""
    parser = sp.TextParser([name], tools=tools)
    return [parser.feed(character) for character in text]


def _arguments(events: list[sp.Event]) -> str:
    return "".join(event.arguments for event in events if isinstance(event, sp.ToolCallDelta))


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_the_example_of_a_format_is_read_in_every_cut(row: Any) -> None:
    events = assert_same_in_every_cut(lambda: sp.TextParser([row.name], tools=TOOLS), row.example)
    assert calls_of(events) == [("get_weather", {"city": "Paris"})]


@pytest.mark.parametrize("row", MARKED, ids=MARKED_NAMES)
def test_a_string_is_told_character_by_character(row: Any) -> None:
    before, after = row.example.split("Paris")
    told = _told(row.name, before + LONG + after)
    for size in range(1, len(LONG) + 1):
        seen = [event for events in told[: len(before) + size] for event in events]
        assert _arguments(seen) == '{"city": "' + LONG[:size]


@pytest.mark.parametrize("row", MARKED, ids=MARKED_NAMES)
def test_without_a_schema_what_can_only_be_a_string_is_told_as_it_comes(row: Any) -> None:
    before, after = row.example.split("Paris")
    tools = [{"name": "get_weather"}]
    seen = [event for events in _told(row.name, before + LONG + after, tools)[: len(before) + 10] for event in events]
    assert _arguments(seen) == '{"city": "' + LONG[:10]


@pytest.mark.parametrize("row", MARKED, ids=MARKED_NAMES)
def test_a_call_starts_before_its_first_value(row: Any) -> None:
    before = row.example.split("Paris")[0]
    started = [event for events in _told(row.name, before) for event in events]
    assert [event for event in started if isinstance(event, sp.ToolCallStart)] == [
        sp.ToolCallStart(0, "call_0", "get_weather")
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tool-name-tag", f"<get_weather>\n<city>{LONG}</city>\n</get_weather>"),
        ("tool-text-tag", f"<get_weather>{LONG}</get_weather>"),
    ],
)
def test_a_call_in_the_tag_of_its_name_is_told_whole_with_the_character_that_closes_it(name: str, text: str) -> None:
    tools = [{"name": "get_weather", "parameters": {"properties": {"city": {"type": "string"}}, "required": ["city"]}}]
    *before, last = _told(name, text, tools)
    assert [event for events in before for event in events] == []
    assert [type(event) for event in last] == [sp.ToolCallStart, sp.ToolCallDelta, sp.ToolCallComplete]
    assert places_of(last) == ["bare"]
    parser = sp.TextParser([name], tools=tools)
    cut = parser.feed(text) + parser.close()
    assert revoked_of(cut) == [(0, "cut")]
    assert text_of(cut) == text


@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_call_is_complete_with_the_character_that_ends_its_closing_tag(row: Any) -> None:
    told = _told(row.name, row.example)
    [place] = [
        number for number, events in enumerate(told) if any(isinstance(event, sp.ToolCallComplete) for event in events)
    ]
    opened = row.example.index("get_weather")
    closes = ("invoke>", "</function>", "call>", "</get_weather>", "</tool>", "<|close|>call<|sep|>", "call:end|>")
    ends = [row.example.index(close, opened) + len(close) - 1 for close in closes if close in row.example[opened:]]
    assert place in ends


def test_a_string_that_may_be_null_is_told_once_it_cannot_be() -> None:
    text = "<tool_call>get_weather<arg_key>note</arg_key><arg_value>nu"
    parser = sp.TextParser(["glm-4.7"], tools=TOOLS)
    assert _arguments(parser.feed(text)) == ""
    assert _arguments(parser.feed("t")) == '{"note": "nut'


def test_a_number_is_told_when_its_tag_closes() -> None:
    parser = sp.TextParser(["glm-4.7"], tools=TOOLS)
    assert _arguments(parser.feed("<tool_call>get_weather<arg_key>days</arg_key><arg_value>12</arg_value>")) == ""
    assert _arguments(parser.feed("</tool_call>")) == '{"days": 12}'


def test_arguments_beyond_their_limit_are_an_error_and_the_next_call_is_read() -> None:
    limits = sp.Limits(max_call_args=100)
    call = "<tool_call>get_weather<arg_key>{}</arg_key><arg_value>{}</arg_value></tool_call>"
    for key in ("city", "other"):
        parser = sp.TextParser(["glm-4.7"], tools=TOOLS, limits=limits)
        text = call.format(key, "[" + "1," * 200) + call.format("city", "Rome")
        events = [event for character in text for event in parser.feed(character)] + parser.close()
        assert [error.code for error in parser.response.errors] == ["limit_args"]
        assert calls_of(events) == [("get_weather", {"city": "Rome"})]


def test_more_nesting_than_is_followed_is_an_error() -> None:
    mark = "]<]minimax[>["
    deep = f"{mark}<n>" * 200 + "x" + f"{mark}</n>" * 200
    parser = sp.TextParser(["minimax-m3"])
    parser.feed(f'{mark}<tool_call>{mark}<invoke name="f">{mark}<o>{deep}{mark}</o>{mark}</invoke>{mark}</tool_call>')
    parser.close()
    assert [call.name for call in parser.response.broken_calls] == ["f"]
    assert parser.response.tool_calls == []


def test_a_tag_that_closes_itself_is_a_call_without_arguments() -> None:
    text = "<tool_call>\n<function=now/>\n<function=now />\n</tool_call>"
    events = assert_same_in_every_cut(lambda: sp.TextParser(["qwen3-coder"]), text)
    assert calls_of(events) == [("now", {}), ("now", {})]


def test_a_closing_tag_may_name_its_parameter_and_is_marked_as_repaired() -> None:
    text = "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter city>\n</function>\n</tool_call>"
    events = assert_same_in_every_cut(lambda: sp.TextParser(["qwen3-coder"], tools=TOOLS), text)
    told = [(event.arguments, event.source) for event in events if isinstance(event, sp.ToolCallComplete)]
    assert told == [({"city": "Paris"}, "repaired")]


def test_a_sentence_behind_a_marker_is_told_as_soon_as_it_can_be_no_call() -> None:
    parser = sp.TextParser()
    said = "Use <tool_call> as the "
    assert "".join(event.text for event in parser.feed(said) if isinstance(event, sp.TextDelta)) == said


def test_line_breaks_that_glm_writes_in_two_characters_are_no_part_of_a_value() -> None:
    pairs = (
        r"\n<arg_key>city</arg_key>\n<arg_value>Paris\n</arg_value>\n<arg_key>days</arg_key>\n<arg_value>2</arg_value>"
    )
    text = rf"<tool_call>get_weather{pairs}\n</tool_call>"
    events = assert_same_in_every_cut(lambda: sp.TextParser(["glm-4.5"], tools=TOOLS), text)
    assert calls_of(events) == [("get_weather", {"city": r"Paris\n", "days": 2})]


@pytest.mark.parametrize(
    ("kinds", "hollow"),
    [
        *(("array", []), ("object", {}), (["array", "object"], []), ("string", None), ("integer", None)),
        *((["array", "string"], None), (["array", "null"], None)),
    ],
)
def test_an_element_that_holds_nothing_is_what_its_schema_permits(kinds: Any, hollow: Any) -> None:
    """A closing tag of another name does not end it."""
    properties = {"a": {"type": kinds}, "c": {"type": "string"}}
    tool = {"name": "f", "parameters": {"type": "object", "properties": properties}}
    mark = "]<]minimax[>["
    for blank in ("", " ", "\n"):
        empty = blank if hollow is None else hollow
        for name in ("a", "b"):
            rest = f"{blank}{mark}</{name}>{mark}<c>1{mark}</c>"
            text = f'{mark}<tool_call>{mark}<invoke name="f">{mark}<a>{rest}{mark}</invoke>{mark}</tool_call>'
            expected = {"a": empty, "c": "1"} if name == "a" else {"a": rest}
            for size in (1, len(text)):
                events = events_of(sp.TextParser(["minimax-m3"], tools=[tool]), in_pieces(text, size))
                assert calls_of(events) == [("f", expected)]
