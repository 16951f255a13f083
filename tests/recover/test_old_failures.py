"""What the older literature tells of parsers that went wrong, one test each."""

from __future__ import annotations

from typing import Any

import pytest
from cuts import events_of

import streamparse as sp
from streamparse.repair import PathGuard, preflight

TOOLS = [
    {
        "name": "search",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    }
]


def _chat(content: str | None, *calls: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, "tool_calls": list(calls)}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}]}


@pytest.mark.parametrize(
    "inside",
    [
        '{"name": "search", "arguments": {"query": "x"',
        '{"name": "search", "arguments": {"query": x}}',
        '{"name": "search", "arguments": ["query"',
    ],
)
def test_malformed_json_in_markup_is_no_call_and_not_lost(inside: str) -> None:
    text = f"I look.\n<tool_call>{inside}</tool_call>"
    parsed = sp.parse_response(_chat(text), tools=TOOLS)
    assert parsed.tool_calls == []
    (broken,) = parsed.broken_calls
    assert (broken.name, broken.raw in inside, "query" in broken.raw) == ("search", True, True)
    assert parsed.content == "I look.\n"
    parser = sp.TextParser(tools=TOOLS)
    events_of(parser, [text])
    assert parsed.broken_calls == parser.response.broken_calls


def test_json_that_can_be_healed_in_markup_is_a_call_that_says_so() -> None:
    text = "<tool_call>{'name': 'search', 'arguments': {'query': 'x',}}</tool_call>"
    (call,) = sp.parse_response(_chat(text), tools=TOOLS).tool_calls
    assert (call.name, call.arguments, call.source) == ("search", {"query": "x"}, "repaired")


def test_a_call_in_the_native_field_and_in_the_content_is_one_call() -> None:
    native = {"id": "call_abc", "type": "function", "function": {"name": "search", "arguments": '{"query":"x"}'}}
    text = '<tool_call>\n{"name": "search", "arguments": {"query": "x"}}\n</tool_call>'
    for parser in (sp.CompositeParser(tools=TOOLS), sp.CompositeParser(strategy="first", tools=TOOLS)):
        parsed = parser.parse(_chat(text, native))
        assert [(call.name, call.id, call.source) for call in parsed.tool_calls] == [("search", "call_abc", "native")]
        assert "<tool_call>" not in parsed.content
        assert "duplicate_call" in [error.code for error in parsed.errors]


def test_a_hallucinated_tool_in_markup_is_told_by_its_name_and_never_becomes_a_declared_one() -> None:
    text = '<tool_call>{"name": "serach", "arguments": {"query": "x"}}</tool_call>'
    parsed = sp.parse_response(_chat(text), tools=TOOLS)
    assert [call.name for call in parsed.tool_calls] == ["serach"]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "serach", "arguments": {"query": "x"}}',
        '{"tool_calls": [{"name": "serach", "arguments": {}}]}',
        "I'll use the serach tool.",
    ],
)
def test_a_hallucinated_tool_without_markup_is_text(text: str) -> None:
    parsed = sp.parse_response(_chat(text), tools=TOOLS)
    assert (parsed.tool_calls, parsed.intents, parsed.content) == ([], [], text)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_use>{"name": "search", "arguments": {"query": "x"}}</tool_use>',
        '<tool_use>\n{"name": "search", "input": {"query": "x"}}\n</tool_use>',
        '<tool_use>{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "x"}}</tool_use>',
        '<tool_use id="toolu_1" name="search">{"query": "x"}</tool_use>',
        '<tool_use name="search"><input>{"query": "x"}</input></tool_use>',
        "<tool_use><name>search</name><input><query>x</query></input></tool_use>",
        "<tool_use><name>search</name><arguments><query>x</query></arguments></tool_use>",
    ],
)
def test_tool_use_markup_in_openai_mode_is_a_call_and_leaves_the_content(text: str) -> None:
    parsed = sp.parse_response(_chat(f"I look.\n{text}"), "openai-chat", tools=TOOLS)
    assert [(call.name, call.arguments) for call in parsed.tool_calls] == [("search", {"query": "x"})]
    assert parsed.content == "I look.\n"


def test_a_native_block_of_another_provider_in_openai_mode_is_read_by_its_own_wire() -> None:
    block = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "x"}}
    body = {"type": "message", "role": "assistant", "content": [block], "stop_reason": "tool_use"}
    (call,) = sp.parse_response(body, tools=TOOLS).tool_calls
    assert (call.name, call.id, call.source) == ("search", "toolu_1", "native")


def test_the_id_of_tool_use_markup_is_the_calls() -> None:
    text = '<tool_use>{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"query": "x"}}</tool_use>'
    (call,) = sp.parse_response(_chat(text), "openai-chat", tools=TOOLS).tool_calls
    assert (call.id, call.source) == ("toolu_1", "inband")


def test_tool_use_markup_streamed_in_openai_mode_is_a_call_at_its_last_brace() -> None:
    parser = sp.StreamParser("openai-chat", tools=TOOLS)
    text = '<tool_use>\n{"name": "search", "input": {"query": "x"}}'
    pieces = [{"choices": [{"index": 0, "delta": {"content": character}}]} for character in text]
    events = [parser.feed(piece) for piece in pieces]
    assert [isinstance(event, sp.ToolCallComplete) for event in events[-1]].count(True) == 1
    assert not any(isinstance(event, sp.ToolCallComplete) for batch in events[:-1] for event in batch)
    parser.close()


def test_a_call_in_markup_of_a_tool_above_its_tier_may_not_run() -> None:
    pytest.importorskip("jsonschema_rs")
    tools = [sp.Tool("wipe", parameters={"type": "object"}, tier=2)]
    text = '<tool_call>{"name": "wipe", "arguments": {}}</tool_call>'
    (call,) = sp.parse_response(_chat(text), tools=tools).tool_calls
    assert [finding.code for finding in preflight(call, tools, tier=1).findings] == ["locked_tool"]
    assert preflight(call, tools, tier=2).ok


@pytest.mark.parametrize("path", ["../../etc/passwd", "/etc/passwd", "a/..%2f..%2fb", "C:\\\\x"])
def test_a_path_in_markup_that_leads_out_of_its_folder_may_not_be_read(path: str) -> None:
    pytest.importorskip("jsonschema_rs")
    tools = [sp.Tool("read", parameters={"type": "object", "properties": {"path": {"type": "string"}}})]
    text = f'<tool_use>{{"name": "read", "input": {{"path": "{path}"}}}}</tool_use>'
    (call,) = sp.parse_response(_chat(text), tools=tools).tool_calls
    checked = preflight(call, tools, guards=[PathGuard("path")])
    assert [(finding.code, finding.path) for finding in checked.findings] == [("path_traversal", "/path")]


@pytest.mark.parametrize(
    "text",
    [
        '<Tool_Call>{"name": "search", "arguments": {"query": "x"}}</Tool_Call>',
        '<tool-call>{"name": "search", "arguments": {"query": "x"}}</tool-call>',
        '<TOOLS>{"name": "search", "arguments": {"query": "x"}}</TOOLS>',
        '<FUNCTION_CALL>{"name": "search", "arguments": {"query": "x"}}</FUNCTION_CALL>',
        "<Function=search><Parameter=query>x</Parameter></Function>",
        "<Tool_Call><Function=search><Parameter=query>x</Parameter></Function></Tool_Call>",
        '<Invoke name="search"><Parameter name="query">x</Parameter></Invoke>',
        '<Function-Calls><Invoke name="search"><Parameter name="query">x</Parameter></Invoke></Function-Calls>',
    ],
)
def test_tags_in_capitals_or_with_hyphens_are_mended_and_that_is_said(text: str) -> None:
    parser = sp.TextParser(tools=TOOLS)
    parser.feed(text)
    parser.close(stopped=True)
    assert [(call.name, call.arguments, call.source) for call in parser.response.tool_calls] == [
        ("search", {"query": "x"}, "repaired")
    ]
    assert parser.stats.leniencies == {"markup": 1}


MENDED = '<Tool_Call>{"name": "search", "arguments": {"query": "x"}}</Tool_Call>'


@pytest.mark.parametrize(
    ("text", "calls"),
    [(MENDED, 1), (f"see {MENDED}", 1), (f"{MENDED} there", 0), (MENDED * 2, 2), (f"{MENDED}\n{MENDED} there", 0)],
)
def test_mended_markup_is_calls_only_where_nothing_visible_follows(text: str, calls: int) -> None:
    assert len(sp.parse_response(text, tools=TOOLS).tool_calls) == calls


def test_mended_markup_that_exceeds_a_limit_is_no_call_at_all() -> None:
    for limit, calls in ((2, 2), (1, 0)):
        assert len(sp.parse_response(MENDED * 2, tools=TOOLS, limits=sp.Limits(max_calls=limit)).tool_calls) == calls


@pytest.mark.parametrize("strategy", ["merge", "first"])
def test_without_dialects_a_text_holds_neither_calls_nor_intents(strategy: Any) -> None:
    for text in (MENDED, '{"name": "search", "arguments": {"query": "x"}}', 'I will call search(query="x").'):
        parsed = sp.CompositeParser(strategy=strategy, dialects=(), tools=TOOLS).parse(text)
        assert (parsed.content, parsed.tool_calls, parsed.intents) == (text, [], [])
