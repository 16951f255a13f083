"""What a prompt asks for is what is parsed."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from cuts import end_of
from hypothesis import given
from hypothesis import strategies as st
from thoroughness import usual_examples

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS
from streamparse.writing.prompts import PROMPTS, example_call, format_calls_as_text, format_system_prompt

Unit = Literal["metric", "imperial"]


def get_weather(city: str, unit: Unit, days: int, hourly: bool) -> str:
    """Look the weather up."""
    return city * days + unit * hourly


def mark(tags: list[str], weights: dict[str, float], note: str | None) -> str:
    """Mark something."""
    return note or str(tags) + str(weights)


NOW = sp.Tool("now", "What time it is.", {"type": "object", "properties": {}})
POINT = sp.Tool(
    "go_to",
    "Go somewhere.",
    {
        "type": "object",
        "properties": {"place": {"$ref": "#/$defs/place"}, "fast": {"type": "boolean"}},
        "required": ["place"],
        "$defs": {
            "place": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "floor": {"type": "integer"}},
                "required": ["name", "floor"],
            }
        },
    },
)
TOOLS: list[Any] = [get_weather, mark, NOW, POINT]
ONE_BY_ONE = [(dialect, tool) for dialect in PROMPTS for tool in TOOLS]


def _found(text: str, dialect: str) -> sp.ParsedResponse:
    parser = sp.TextParser([dialect], tools=TOOLS)
    parser.feed(text)
    end_of(parser)
    return parser.response


@pytest.mark.parametrize(("dialect", "tool"), ONE_BY_ONE)
def test_the_example_of_a_prompt_is_parsed_to_the_call_that_it_shows(dialect: str, tool: Any) -> None:
    (declared,) = ADAPTERS["generic"].read_tools(ADAPTERS["generic"].format_tools([tool]))
    shown = example_call(declared)
    example = format_calls_as_text([shown], dialect)
    assert example in format_system_prompt([tool], dialect)
    found = _found(example, dialect)
    assert [(call.name, call.arguments, call.source) for call in found.tool_calls] == [
        (shown.name, shown.arguments, "inband")
    ]
    assert not found.content.strip()
    assert not found.errors


@pytest.mark.parametrize("dialect", [dialect for dialect in PROMPTS if dialect != "react"])
def test_several_calls_are_written_as_the_dialect_reads_them(dialect: str) -> None:
    made = [
        sp.ToolCall("get_weather", {"city": "Zürich", "unit": "metric", "days": 3, "hourly": False}),
        sp.ToolCall("go_to", {"place": {"name": 'the "old" town', "floor": -1}, "fast": True}),
    ]
    found = _found(format_calls_as_text(made, dialect), dialect)
    assert [(call.name, call.arguments) for call in found.tool_calls] == [(call.name, call.arguments) for call in made]


def test_a_prompt_lists_every_tool_with_its_schema() -> None:
    prompt = format_system_prompt(TOOLS)
    for tool in ADAPTERS["generic"].read_tools(ADAPTERS["generic"].format_tools(TOOLS)):
        assert f'"name":"{tool.name}"' in prompt


def test_without_tools_there_is_no_prompt() -> None:
    assert format_system_prompt([]) == ""


def test_every_provider_falls_back_on_a_dialect_that_has_a_prompt() -> None:
    for adapter in ADAPTERS.values():
        assert adapter.format_system_prompt([NOW]) == format_system_prompt([NOW], adapter.traits.dialect)


def test_every_prompt_is_for_a_dialect_that_is_read() -> None:
    assert set(PROMPTS) <= set(sp.DIALECTS)


def test_an_unknown_dialect_raises_and_lists_the_known() -> None:
    with pytest.raises(ValueError, match=r"no prompt for the dialect 'klingon'; .*known are: hermes, "):
        format_system_prompt([NOW], "klingon")


SEARCH = sp.Tool(
    "search",
    "Search.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "n": {"type": "integer"},
            "o": {"type": "object"},
            "x": {},
            "u": {"type": ["string", "null"]},
            "in put": {"type": "string"},
        },
    },
)
PIECES = [
    *("</parameter>", "<parameter=a>", "</function>", "<function=search>", "</tool_call>", "<tool_call>", "<tool_sep>"),
    *(
        "</arg_value>",
        "<arg_key>",
        "</invoke>",
        '<invoke name="search">',
        "</search>",
        "<search>",
        "</query>",
        "<query>",
    ),
    *('<|"|>', "<escape>", "<|im_end|>", "<|tool_call_end|>", "<end_function_call>", "<tool_call|>", "</think>", "```"),
    *("\n", "\r", "\r\n", "\t", " ", "\0", "\u2028", "a", "é", "😀", "<", "/", '"', "'", "{", "}", "[", "]", "(", ")"),
    *(",", ":", ";", "=", "\\", "null", "true", "12", "1.0", '{"a": 1}', "&lt;", "Observation:"),
]
NAMES = ["query", "n", "o", "x", "u", "in put", "it's", "a.b", "extra key!", "a<b", "", "ключ", "a b c", "arguments"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=5).map("".join)
PLAIN = TEXTS | st.sampled_from([1, -2, 1.5, True, None, False, 0, 12345678901234567890, 1e30])
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
)
ARGUMENTS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3)


def _read(text: str, dialect: str, tools: list[Any]) -> list[tuple[str, str]]:
    parser = sp.TextParser([dialect], tools=tools)
    parser.feed(text)
    end_of(parser)
    assert not parser.response.content.strip()
    assert not any(call.revoked for call in parser.response.tool_calls)
    return [(call.name, json.dumps(call.arguments)) for call in parser.response.tool_calls]


@pytest.mark.parametrize("dialect", PROMPTS)
@usual_examples(30)
@given(st.lists(ARGUMENTS, min_size=1, max_size=2))
def test_calls_that_are_written_are_read_back_or_refused(dialect: str, made: list[dict[str, Any]]) -> None:
    calls = [sp.ToolCall("search", arguments) for arguments in made[: 1 if dialect == "react" else 2]]
    try:
        text = format_calls_as_text(calls, dialect, [SEARCH])
    except ValueError:
        assert dialect in ("pythonic", "lfm2", "olmo3", "gemma4", "functiongemma"), "all others can say all arguments"
        return
    assert _read(text, dialect, [SEARCH]) == [("search", json.dumps(call.arguments)) for call in calls]


@pytest.mark.parametrize("dialect", PROMPTS)
@pytest.mark.parametrize(
    "text", ["\nlead", "trail\n", "trail\r", "", " ", "</parameter>", "</arg_value>", "</query>", '<|"|>', "<escape>"]
)
def test_a_text_is_read_back_with_its_breaks_and_whatever_markup_it_holds(dialect: str, text: str) -> None:
    call = sp.ToolCall("search", {"query": text})
    for tools in ([], [SEARCH]):
        written = format_calls_as_text([call], dialect, tools)
        assert _read(written, dialect, [SEARCH]) == [("search", json.dumps(call.arguments))]


@pytest.mark.parametrize("dialect", PROMPTS)
@pytest.mark.parametrize("text", ["12", "null", "true", '{"a": 1}', "1.0"])
def test_a_text_that_looks_like_json_stays_a_text(dialect: str, text: str) -> None:
    for name in ("query", "x"):
        for tools in ([], [SEARCH]):
            written = format_calls_as_text([sp.ToolCall("search", {name: text})], dialect, tools)
            assert _read(written, dialect, [SEARCH]) == [("search", json.dumps({name: text}))]


BARE = ("bare-json", "fenced-json", "functools", "react", "tool-name-tag", "pythonic")
"""Dialects whose calls have no marker of their own."""


@pytest.mark.parametrize("dialect", PROMPTS)
def test_a_call_without_a_required_argument_is_text_where_it_has_no_marker_of_its_own(dialect: str) -> None:
    strict = sp.Tool("search", "", {**SEARCH.parameters, "required": ["query"]})
    written = format_calls_as_text([sp.ToolCall("search", {"x": "12"})], dialect)
    parser = sp.TextParser([dialect], tools=[strict])
    parser.feed(written)
    end_of(parser)
    told = [(call.name, call.arguments) for call in parser.response.tool_calls if call.source == "inband"]
    if dialect in BARE:
        assert (told, parser.response.content) == ([], written)
    else:
        assert (told, parser.response.content.strip()) == ([("search", {"x": "12"})], "")


SPACED = sp.Tool("send", "", {"type": "object", "properties": {"in put": {"type": "string"}}, "required": ["in put"]})


WORDS_ONLY = ("tool-name-tag", "pythonic", "lfm2", "olmo3")
"""Dialects in which a parameter's name is a tag's or an identifier."""


@pytest.mark.parametrize("dialect", [dialect for dialect in PROMPTS if dialect not in WORDS_ONLY])
def test_a_name_with_a_blank_is_taught_as_it_is_read(dialect: str) -> None:
    call = sp.ToolCall("send", {"in put": "text"})
    written = format_calls_as_text([call], dialect, [SPACED])
    assert written in format_system_prompt([SPACED], dialect)
    assert _read(written, dialect, [SPACED]) == [("send", '{"in put": "text"}')]


@pytest.mark.parametrize("dialect", WORDS_ONLY)
def test_a_prompt_that_cannot_teach_a_name_says_so(dialect: str) -> None:
    with pytest.raises(ValueError, match=f"'{dialect}' cannot say /properties/in put of 'send'"):
        format_system_prompt([NOW, SPACED], dialect)


def test_a_call_that_cannot_be_said_names_the_argument() -> None:
    with pytest.raises(ValueError, match="'pythonic' cannot say /in put of 'send'"):
        format_calls_as_text([sp.ToolCall("send", {"in put": "x"})], "pythonic")
