"""JSON in the content: whole, alone at an end of the message, of declared tools; and taken out of the content."""

from __future__ import annotations

import json
from typing import Any

import pytest

import streamparse as sp
from streamparse.parser.composite import JSONContentParser
from streamparse.parser.late_calls import JSONRun
from streamparse.parser.whole_bodies import _cut_out
from streamparse.response import Mark

CALL = '{"name": "look", "arguments": {"q": 1}}'
ENVELOPE = f'{{"tool_calls": [{CALL}]}}'
TOOLS = [{"name": "look", "parameters": {"type": "object", "properties": {"q": {"type": "integer"}}}}]
FOUND = [("look", {"q": 1}, "recovered")]

ENVELOPES = {
    "toolCalls": f'{{"toolCalls": [{CALL}]}}',
    "tool_calls": f'{{"tool_calls": [{CALL}]}}',
    "tool_calls of OpenAI": json.dumps({"tool_calls": [{"type": "function", "function": json.loads(CALL)}]}),
    "arguments as text": json.dumps({"tool_calls": [{"function": {"name": "look", "arguments": '{"q": 1}'}}]}),
    "function_call": f'{{"function_call": {CALL}}}',
    "functionCall": '{"functionCall": {"name": "look", "args": {"q": 1}}}',
    "tool_call": f'{{"tool_call": {CALL}}}',
    "pretty": json.dumps({"toolCalls": [json.loads(CALL)]}, indent=2),
    "in a fence": f'```json\n{{"toolCalls": [{CALL}]}}\n```',
}


def _found(parsed: sp.ParsedResponse) -> list[tuple[str, Any, str]]:
    return [(call.name, call.arguments, call.source) for call in parsed.tool_calls]


@pytest.mark.parametrize("name", ENVELOPES)
def test_a_message_that_is_an_envelope_of_calls_is_read_with_and_without_tools(name: str) -> None:
    for tools in (TOOLS, None):
        for parser in (JSONContentParser(tools=tools), sp.CompositeParser(tools=tools)):
            parsed = parser.parse(ENVELOPES[name])
            assert (_found(parsed) or [call.source for call in parsed.tool_calls]) in (
                FOUND,
                [("look", {"q": 1}, "inband")],
            )
            assert parsed.content == ""


WITH_TOOLS = {
    "toolName": {"toolCalls": [{"toolName": "look", "args": {"q": 1}}]},
    "tool_uses": {"tool_uses": [{"recipient_name": "functions.look", "parameters": {"q": 1}}]},
    "action": {"action": "look", "action_input": {"q": 1}},
    "tool_name": {"tool_name": "look", "tool_input": {"q": 1}},
    "tool": {"tool": "look", "tool_input": {"q": 1}},
    "an object of the tool": {"tool": {"name": "look", "arguments": {"q": 1}}},
    "a function's name": {"function": "look", "arguments": {"q": 1}},
    "kwargs": {"name": "look", "kwargs": {"q": 1}},
    "a namespace": {"name": "functions.look", "arguments": {"q": 1}},
}


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_what_an_agent_framework_calls_a_call_is_one_of_a_declared_tool(name: str) -> None:
    text = json.dumps(WITH_TOOLS[name])
    for written in (text, f"```json\n{text}\n```"):
        parsed = JSONContentParser(tools=TOOLS).parse(written)
        assert (_found(parsed), parsed.content) == (FOUND, "")
        assert [call.place for call in parsed.tool_calls] == ["bare"]


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_it_is_text_within_prose_and_of_a_tool_that_is_not_declared(name: str) -> None:
    text = json.dumps(WITH_TOOLS[name])
    other = [{"name": "other", "parameters": {}}]
    for written, tools in (
        (f"Write\n{text}\nand wait.", TOOLS),
        (f"It is {text}", TOOLS),
        (f"I look.\n```json\n{text}\n```", TOOLS),
        (text, other),
    ):
        parsed = sp.parse_response(written, tools=tools)
        assert (parsed.tool_calls, parsed.content) == ([], written)


@pytest.mark.parametrize("name", ENVELOPES)
def test_an_envelope_that_names_no_declared_tool_is_text(name: str) -> None:
    parsed = JSONContentParser(tools=[{"name": "other", "parameters": {}}]).parse(ENVELOPES[name])
    assert (parsed.tool_calls, parsed.content) == ([], ENVELOPES[name])


@pytest.mark.parametrize(
    ("text", "content"),
    [
        (f"I look.\n{ENVELOPE}", "I look.\n"),
        (f"{ENVELOPE}\nThat should help.", "\nThat should help."),
        (f"{ENVELOPE}\n\n That should help. \n", "\n\n That should help. \n"),
        (f"I look.\n{ENVELOPE}\n{ENVELOPE}", "I look.\n"),
        (CALL, ""),
        (f"\n{CALL}\n{CALL}\n", "\n"),
        (f"```json\n{CALL}\n```", ""),
    ],
)
def test_an_envelope_at_an_end_of_the_message_and_json_that_is_all_of_it_are_taken_out(text: str, content: str) -> None:
    parsed = JSONContentParser(tools=TOOLS).parse(text)
    assert _found(parsed) == FOUND * text.count(CALL)
    assert parsed.content == content
    assert [mark.content <= len(content) for mark in parsed.order] == [True] * text.count(CALL)
    in_a_body = {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}
    assert JSONContentParser(tools=TOOLS).parse(in_a_body).tool_calls == parsed.tool_calls


@pytest.mark.parametrize(
    "text",
    [
        f"Write\n{CALL}\nand wait.",
        f"Write {CALL}",
        f"I look.\n{CALL}",
        f"I look.\n```json\n{CALL}\n```\n",
        f"{CALL}\nThat should help.",
        f"```json\n{CALL}\n```\n\n That should help. \n",
        f"I look.\n{CALL}\n{CALL}",
        f"I look.\n```json\n{ENVELOPE}\n```\n",
        f"Write\n{ENVELOPE}\nand wait.",
        f"I look.\n{CALL[:-1]}",
        f'{{"toolCalls": [{CALL}]',
        '{"toolCalls": []}',
        '{"name": "look"}',
        '{"name": "look", "arguments": "none"}',
        '{"q": 1}',
    ],
)
def test_what_stands_beside_prose_or_is_not_whole_or_no_call_is_text(text: str) -> None:
    parsed = JSONContentParser(tools=TOOLS).parse(text)
    assert (parsed.tool_calls, parsed.content) == ([], text)


def test_values_that_hold_calls_and_no_wire_are_read_like_their_json() -> None:
    for value in ({"toolCalls": [json.loads(CALL)]}, [json.loads(CALL)], json.loads(CALL)):
        parsed = JSONContentParser(tools=TOOLS).parse(value)
        assert _found(parsed) == FOUND
        assert parsed.content == ""


def test_nothing_is_believed_of_a_turn_that_was_cut_or_failed() -> None:
    for reason in ("content_filter", None):
        chunk = {"choices": [{"index": 0, "delta": {"content": CALL}, "finish_reason": reason}]}
        body = f"data: {json.dumps(chunk)}\n\n".encode()
        assert JSONContentParser(tools=TOOLS).parse(body).tool_calls == []


def test_where_a_call_was_found_json_is_no_other_call() -> None:
    other = CALL.replace("1", "2")
    parsed = sp.parse_response(f"<tool_call>{CALL}</tool_call>\nas in\n{other}", tools=TOOLS)
    assert _found(parsed) == [("look", {"q": 1}, "inband")]
    assert parsed.content == f"\nas in\n{other}"


def test_an_envelope_behind_another_call_is_part_of_its_run() -> None:
    for content, calls in ((ENVELOPE, 1), (f"Well.\n{ENVELOPE}", 1), (f"Well.\n{CALL}\n{ENVELOPE}", 0)):
        parsed = JSONContentParser(tools=TOOLS).parse(content)
        assert len(_found(parsed)) == calls, content


@pytest.mark.parametrize(
    "key", ["tool_calls", "toolCalls", "tool_uses", "function_call", "functionCall", "tool_call", "toolCall"]
)
@pytest.mark.parametrize("around", ["{}\nThat is my call.", "My call:\n{}"])
def test_an_envelope_at_an_end_of_the_content_is_calls(key: str, around: str) -> None:
    named = json.loads(CALL)
    envelope = json.dumps({key: [named] if key.endswith("s") else named})
    parsed = sp.CompositeParser(tools=TOOLS).parse(around.replace("{}", envelope))
    assert _found(parsed) == FOUND
    assert parsed.content.strip() == around.replace("{}", "").strip()


def test_what_stood_behind_an_envelope_keeps_its_place_in_the_rest() -> None:
    envelope = f'{{"content": "So.", "tool_calls": [{CALL}]}}'
    response = sp.ParsedResponse(content=f"I look.\n{envelope} Well.")
    places = [0, 8, 9, 8 + len(envelope), 8 + len(envelope) + 6]
    response.order = [Mark("item", number, place, 0) for number, place in enumerate(places)]
    _cut_out(response, JSONRun(8, 8 + len(envelope), [], True, False, "So."))
    assert response.content == "I look.\nSo. Well."
    assert [mark.content for mark in response.order] == [0, 8, 8, 11, 17]
