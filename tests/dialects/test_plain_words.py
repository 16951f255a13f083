"""Tags that are plain words: only a tool that is declared makes them a call."""

from __future__ import annotations

from typing import Any

import pytest
from cuts import calls_of, text_of

import streamparse as sp

TOOLS = [{"name": "look", "parameters": {"type": "object", "properties": {}}}]


@pytest.mark.parametrize(
    ("tag", "is_plain"),
    [("tools", True), ("function", True), ("tool", True), ("toolcall", False), ("tool_use", False)],
)
def test_a_tag_that_is_a_plain_word_opens_no_call_of_an_unknown_tool(tag: str, is_plain: bool) -> None:
    for name, is_call in (("look", True), ("see", not is_plain)):
        text = f'<{tag}>{{"name": "{name}", "arguments": {{}}}}</{tag}>'
        parser = sp.TextParser(tools=TOOLS)
        events = parser.feed(text) + parser.close(stopped=True)
        assert (len(calls_of(events)), text_of(events)) == ((1, "") if is_call else (0, text))


@pytest.mark.parametrize(
    ("tag", "is_plain"), [("tool", True), ("tools", True), ("function", True), ("tool_use", False)]
)
def test_a_tag_that_is_a_plain_word_and_holds_tags_opens_no_call_of_an_unknown_tool(tag: str, is_plain: bool) -> None:
    for name, is_call in (("look", True), ("see", not is_plain)):
        text = f"<{tag}><name>{name}</name><at>sea</at></{tag}>"
        parser = sp.TextParser(["tool-tag"], tools=TOOLS)
        events = parser.feed(text) + parser.close(stopped=True)
        assert (len(calls_of(events)), text_of(events)) == ((1, "") if is_call else (0, text))


@pytest.mark.parametrize("tag", ["tools", "tool", "tool_call", "function_call"])
@pytest.mark.parametrize("inside", ['look\n{"at": "sea"}', "<name>look</name><at>sea</at>"])
def test_a_tag_holds_a_call_in_several_forms(tag: str, inside: str) -> None:
    events = sp.TextParser(tools=TOOLS).feed(f"<{tag}>{inside}</{tag}>")
    assert calls_of(events) == [("look", {"at": "sea"})]


@pytest.mark.parametrize(
    "inside",
    ["look see", '{"name": "look", "parameters": {"type": "object", "properties": {}}}', "look\nsee"],
)
def test_a_list_of_tools_between_tags_is_no_call(inside: str) -> None:
    text = f"<tools>{inside}</tools>"
    parser = sp.TextParser(tools=TOOLS)
    events = parser.feed(text) + parser.close(stopped=True)
    assert (calls_of(events), text_of(events)) == ([], text)


@pytest.mark.parametrize(
    ("lead", "is_call"),
    [
        *((lead, True) for lead in ("Thought:", "Question:", "Plan:", "Reflection:", "\n Thought:")),
        *((lead, False) for lead in ("Thoughts:", "So:", "Thought", "A Thought:")),
    ],
)
def test_an_action_behind_text_counts_where_the_text_begins_as_its_format_does(lead: str, is_call: bool) -> None:
    text = f'{lead} I look.\nAction: look\nAction Input: {{"at": "sea"}}\n'
    assert len(calls_of(sp.TextParser(tools=TOOLS).feed(f"{text}Observation:"))) == is_call


@pytest.mark.parametrize(
    ("required", "arguments"), [(["a"], [{"a": "ls"}]), (["x"], []), (["a", "x"], []), (["a", "b"], []), ([], [])]
)
def test_a_text_is_the_one_declared_parameter_that_the_tool_requires(required: list[str], arguments: list[Any]) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": required}
    parser = sp.TextParser(["cwm"], tools=[{"name": "f", "parameters": schema}])
    parser.feed("<tool: f>\nls\n</tool>")
    parser.close(stopped=True)
    assert [call.arguments for call in parser.response.tool_calls] == arguments
