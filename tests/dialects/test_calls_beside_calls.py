"""A call beside others: each of a declared tool has what its tool requires."""

from __future__ import annotations

from typing import Any

import pytest
from cuts import calls_of, text_of

import streamparse as sp

TOOLS = [
    {"name": "look", "parameters": {"type": "object", "properties": {}}},
    {
        "name": "run",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    },
]


def _read(text: str) -> list[sp.Event]:
    parser = sp.TextParser(tools=TOOLS)
    return parser.feed(text) + parser.close(stopped=True)


@pytest.mark.parametrize(
    ("text", "calls", "left"),
    [
        ('<tool name="run"/>\n<tool name="look"/>', [("look", {})], '<tool name="run"/>\n'),
        ("[run(), look()]", [], "[run(), look()]"),
        ('[{"name": "run", "arguments": {}}, {"name": "look", "arguments": {}}]', [], None),
    ],
)
def test_a_call_without_what_its_tool_requires_is_text_before_another(text: str, calls: Any, left: str | None) -> None:
    events = _read(text)
    assert (calls_of(events), text_of(events)) == (calls, text if left is None else left)


def test_a_bare_list_is_text_if_a_later_call_lacks_what_its_tool_requires() -> None:
    events = _read("[look(), run()]")
    revoked = {event.index for event in events if isinstance(event, sp.ToolCallRevoked)}
    assert revoked == {event.index for event in events if isinstance(event, sp.ToolCallComplete)}
    assert text_of(events) == "[look(), run()]"


def test_a_tag_behind_a_certain_call_that_lacks_what_its_tool_requires_is_an_error() -> None:
    events = _read('<tool name="look"/>\n<tool name="run"/>')
    assert calls_of(events) == [("look", {})]
    assert [error.code for error in events if isinstance(error, sp.Error)] == ["missing_arguments"]


def test_calls_that_are_recovered_have_what_their_tools_require() -> None:
    text = '[{"name": "run", "arguments": {}}, {"name": "look", "arguments": {}}]'
    assert sp.parse_response(text, tools=TOOLS).tool_calls == []


@pytest.mark.parametrize(
    "text",
    [
        '<|channel|>commentary t=functions.run <|constrain|>json<|message|>{"command": "ls"}<|call|>',
        '<|channel|>commentary t=functions.run <|constrain|>json<|message|>{"command": "ls"}',
        ' to=run<|message|><atem:function_calls>\n<attem:invoke name="run">',
    ],
)
def test_a_header_that_is_malformed_is_an_error_and_its_message_is_text(text: str) -> None:
    events = _read(text)
    assert [error.code for error in events if isinstance(error, sp.Error)] == ["malformed_call"]
    assert calls_of(events) == []
    assert text_of(events).strip() == text.partition("<|message|>")[2].removesuffix("<|call|>")


def test_an_answer_in_a_format_that_its_header_names_is_no_call() -> None:
    events = _read('<|channel|>final <|constrain|>json<|message|>{"total": 3}<|return|>')
    assert (text_of(events), [each for each in events if isinstance(each, sp.Error)]) == ('{"total": 3}', [])
