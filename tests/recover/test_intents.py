"""Intents: what a model says it is going to do, and not what it denies, offers, quotes or writes in code."""

from __future__ import annotations

import pytest

import streamparse as sp
from streamparse.parser.intents import HeuristicParser

TOOLS = [{"name": name, "parameters": {}} for name in ("search", "read_file", "web_search")]


def _intents(text: str, tools: object = TOOLS) -> list[tuple[str, str]]:
    parsed = HeuristicParser(tools=tools).parse(text)  # type: ignore[arg-type]
    assert parsed.tool_calls == []
    assert parsed.content == text
    return [(intent.name, intent.text) for intent in parsed.intents]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I'll use the search tool for that.", "search"),
        ("I’ll use the `search` tool for that.", "search"),
        ("I will now call read_file to see it.", "read_file"),
        ("Let me call `read_file()` first.", "read_file"),
        ("I'm going to use the function read_file.", "read_file"),
        ("I am using the search function now.", "search"),
        ("We need to use the Web Search tool.", "web_search"),
        ("I should first run the tool named **read_file**.", "read_file"),
        ("Let's try the functions.search tool.", "search"),
        ("I could not find it, so I'll use the search tool.", "search"),
        ("I'll use the search tool to see if it rains.", "search"),
    ],
)
def test_a_sentence_that_announces_a_declared_tool_is_an_intent(text: str, name: str) -> None:
    assert _intents(f"Hm. {text} Wait.") == [(name, text)]


@pytest.mark.parametrize(
    "text",
    [
        "I won't use the search tool.",
        "I will not use the search tool.",
        "I don't need to use the search tool.",
        "There is no way I'll use the search tool.",
        "If you like, I'll use the search tool.",
        "I'll use the search tool if you like.",
        "I'll use the search tool for that, unless you object",
        "I should use the search tool only if asked.",
        "I doubt that I should use the search tool.",
        "I would refuse to say that I'll use the search tool.",
        "You could use the search tool.",
        "I used the search tool.",
        "I'll use the magic tool.",
        "I'll use my knowledge.",
        "I'll search for it.",
        'It said "I\'ll use the search tool" and stopped.',
        "> I'll use the search tool.",
        "```\nI'll use the search tool.\n```",
        "```\nI'll use the search tool.",
        "Write `I'll use the search tool` there.",
        "Should I use the search tool?",
        "",
    ],
)
def test_what_is_denied_offered_past_quoted_or_code_is_none(text: str) -> None:
    assert _intents(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("I'll use the search tool for that.", ["search"]),
        ("I'll call the tool `find_it`.", ["find_it"]),
        ("I'll use the right tool.", []),
        ("I'll use the following tool:", []),
        ("I'll use the function to find it.", []),
        ("I'll use Python.", []),
        ("I'll call them tomorrow.", []),
    ],
)
def test_without_declared_tools_only_a_plainly_named_one_counts(text: str, names: list[str]) -> None:
    assert [name for name, _ in _intents(text, None)] == names


def test_each_tool_counts_once_and_a_tool_that_is_called_is_no_intent() -> None:
    text = "I'll use the search tool. Then I'll call read_file. Again I will use the search tool."
    assert [name for name, _ in _intents(text)] == ["search", "read_file"]
    call = '<tool_call>{"name": "search", "arguments": {}}</tool_call>'
    for parser in (sp.CompositeParser(tools=TOOLS), sp.CompositeParser(strategy="first", tools=TOOLS)):
        parsed = parser.parse(text + call)
        assert [intent.name for intent in parsed.intents] == ["read_file"]
        assert [call.name for call in parsed.tool_calls] == ["search"]


def test_the_calls_of_an_answer_are_left_to_the_other_parsers() -> None:
    call = {"id": "c0", "function": {"name": "read_file", "arguments": "{}"}}
    message = {"role": "assistant", "content": "I'll use the search tool.", "tool_calls": [call]}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    parsed = HeuristicParser(tools=TOOLS).parse(body)
    assert ([intent.name for intent in parsed.intents], parsed.tool_calls) == (["search"], [])


def test_nothing_is_looked_for_in_the_text_with_dialects_off() -> None:
    assert sp.parse_response("I'll use the search tool.", dialects=(), tools=TOOLS).intents == []
