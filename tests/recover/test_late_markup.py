"""Calls that are found in the markup of a text once it is whole: which dialects count, and what is told of them."""

from __future__ import annotations

from typing import Any

import pytest

import streamparse as sp

LOOK = [{"name": "look", "parameters": {}}]
OF_HERMES = '<TOOL_CALL>{"name": "look", "arguments": {}}</TOOL_CALL>'
OF_QWEN = "<Function=look><parameter=a>1</parameter></function>"
OF_KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.look:0<|tool_call_argument_begin|>{}<|tool_call_end|>"
    "<|tool_calls_section_end|>"
)


def _names(text: str, dialects: Any, tools: Any = None) -> list[str]:
    calls = sp.TextParser(tools=tools, dialects=dialects)
    calls.feed(text)
    calls.close(stopped=True)
    assert {call.source for call in calls.response.tool_calls} <= {"repaired"}
    return [call.name for call in calls.response.tool_calls]


@pytest.mark.parametrize("dialects", ["auto", "all", ["hermes"], ["hermes", "auto"], ["kimi-k2", "auto"], ["all"]])
def test_markup_in_doubt_is_read_in_the_dialects_that_were_asked_for(dialects: Any) -> None:
    assert _names(OF_HERMES, dialects, LOOK) == ["look"]


@pytest.mark.parametrize("dialects", [["kimi-k2"], ["kimi-k2", "reasoning"], "reasoning", ()])
def test_markup_in_doubt_is_no_call_of_a_dialect_that_was_not_asked_for(dialects: Any) -> None:
    assert _names(OF_HERMES, dialects, LOOK) == []


@pytest.mark.parametrize("others", [(), ("auto",), ("all",)])
def test_a_dialect_that_is_named_finds_no_less_beside_the_others(others: tuple[str, ...]) -> None:
    assert _names(OF_QWEN, ["qwen3-coder", *others]) == ["look"]
    assert _names(OF_QWEN, others) == []  # without its name only for declared tools


def _answer(text: str) -> sp.ParsedResponse:
    """Read a text of a server that parses calls itself, so that their markup is not looked for as it comes."""
    body = {"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}
    return sp.parse_response(body, "anthropic", tools=LOOK)


def test_a_call_that_is_found_late_has_its_own_id() -> None:
    found = _answer(OF_KIMI)
    assert [(call.name, call.id, call.source) for call in found.tool_calls] == [
        ("look", "functions.look:0", "recovered")
    ]
    assert found.dialects == {0: "json-content"}


def test_where_the_text_as_it_is_holds_no_call_it_is_mended() -> None:
    assert [call.name for call in _answer(OF_HERMES).tool_calls] == ["look"]


def test_markup_in_doubt_counts_only_if_it_names_declared_tools_alone() -> None:
    other = OF_HERMES.replace("look", "find")
    assert _names(other, "auto", LOOK) == []
    assert _names(OF_HERMES + other, "auto", LOOK) == []
    assert _names(OF_HERMES + other, "auto", [*LOOK, {"name": "find", "parameters": {}}]) == ["look", "find"]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        (OF_QWEN.lower(), {"plain": 1}),
        (OF_HERMES.lower().replace("look", "other"), {}),
        (f"Write `{OF_HERMES.lower()}`.", {"quoted": 1}),
        ("[look(a=1)]", {"bare": 1}),
        ('{"name": "look", "arguments": {}}', {"bare": 1}),
        ("Hi.", {}),
    ],
)
def test_the_calls_that_were_left_as_text_are_counted(text: str, calls: dict[str, int]) -> None:
    parser = sp.TextParser((), tools=LOOK)
    parser.feed(text)
    parser.close(stopped=True)
    assert parser.stats.unread_calls == calls


OPENED_BY_NOTHING = "I look.\n\n<function=look>\n<parameter=a>\n1\n</parameter>\n</function>"


@pytest.mark.parametrize("end", ["", "\n</tool_call>", "\n"])
def test_a_function_after_prose_whose_block_nothing_opened_is_repaired(end: str) -> None:
    assert _names(OPENED_BY_NOTHING + end, "auto", LOOK) == ["look"]


def test_such_a_function_is_text_in_the_middle_of_prose_quoted_or_of_no_declared_tool() -> None:
    for text in (
        f"{OPENED_BY_NOTHING}\nThat is how it looks.",
        f"```\n{OPENED_BY_NOTHING}\n```",
        OPENED_BY_NOTHING.replace("look.\n\n", "look: "),
        OPENED_BY_NOTHING.replace("function=look", "function=find"),
    ):
        assert _names(text, "auto", LOOK) == [], text
    assert _names(OPENED_BY_NOTHING, "auto") == []


@pytest.mark.parametrize("before", ["", "I look.\n"])
def test_a_call_between_typographic_quotes_is_repaired(before: str) -> None:
    text = before + "<tool_call>\n{“name”: “look”, “arguments”: {“a”: “b”}}\n</tool_call>"
    parsed = sp.parse_response(text, tools=[{"name": "look"}])
    assert [(call.name, call.arguments, call.source) for call in parsed.tool_calls] == [
        ("look", {"a": "b"}, "repaired")
    ]


@pytest.mark.parametrize("tools", [None, LOOK])
@pytest.mark.parametrize("text", ["It is (nearly) done [1].", "a < b, and `c`", "x{y}"])
def test_brackets_in_prose_are_no_call(text: str, tools: Any) -> None:
    body = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
    }
    parsed = sp.parse_response(body, "anthropic", tools=tools)
    assert (parsed.content, parsed.tool_calls, parsed.ok) == (text, [], True)
