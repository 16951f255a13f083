"""What a text or a body is, with the evidence."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

import streamparse as sp
from streamparse import detection
from streamparse.cli.dialects import EXAMPLE_TOOLS
from streamparse.detection import Findings, detect_format
from streamparse.providers.adapters import ADAPTERS

CALL = '{"name": "look", "arguments": {}}'
MARKED = f"See:\n<tool_call>{CALL}</tool_call>"
CHAT: dict[str, Any] = {"choices": [{"index": 0, "message": {"content": MARKED}, "finish_reason": "stop"}]}


def test_a_text_shows_its_dialect_and_the_marker_that_says_so() -> None:
    found = detect_format(MARKED)
    assert (found.framing, found.wire, found.dialect, found.marker) == ("text", None, "hermes", "<tool_call>")
    assert [call.name for call in found.calls] == ["look"]
    assert (found.size, found.text) == (len(MARKED), len("See:\n"))


@pytest.mark.parametrize("form", [lambda body: body, json.dumps, lambda body: json.dumps(body).encode()])
def test_a_body_shows_its_wire_and_the_frame_that_says_so(form: Any) -> None:
    found = detect_format(form(CHAT))
    assert (found.wire, found.dialect, found.marker) == ("openai-chat", "hermes", "<tool_call>")
    assert (found.shown_by or "").startswith('{"choices": [{"index": 0')
    assert found.framing == ("values" if form(CHAT) is CHAT else "json")


def test_the_evidence_of_a_stream_is_the_first_frame_that_shows_it() -> None:
    body = b': wait\n\ndata: {"type": "ping"}\n\ndata: {"type": "message_stop"}\n\n'
    found = detect_format(body)
    assert (found.framing, found.wire, found.shown_by) == ("sse", "anthropic", '{"type": "message_stop"}')


@pytest.mark.parametrize(
    ("message", "origin"),
    [
        ({"content": "Yes.", "reasoning_content": "I think."}, "native"),
        ({"content": "<think>I think.</think>Yes."}, "in the text"),
        ({"content": "Yes."}, None),
    ],
)
def test_how_much_text_and_thought_there_is_and_where_the_thought_stood_is_told(
    message: Any, origin: str | None
) -> None:
    found = detect_format({"choices": [{"message": message, "finish_reason": "stop"}]})
    assert (found.text, found.reasoning, found.reasoning_from) == (4, 8 if origin else 0, origin)
    assert (found.finish_reason, found.ok, found.errors, found.frames) == ("stop", True, [], 1)


def test_what_is_nothing_known_says_so() -> None:
    assert detect_format("Hello.") == Findings(framing="text", size=6, text=6, ok=True)
    assert detect_format(None) == detect_format("") == Findings(framing="text", size=0, ok=True)
    for thing in ([], {"foo": 1}):
        found = detect_format(thing)
        assert (found.wire, found.dialect, found.calls, found.ok) == (None, None, [], False)
        assert found.errors
    for thing in (len, object()):
        with pytest.raises(TypeError, match="a response must be"):
            detect_format(thing)


def test_a_format_without_a_marker_is_seen_with_the_declared_tools() -> None:
    assert detect_format(CALL).dialect is None
    assert "bare-json" in detect_format(CALL).also or "llama3-json" in detect_format(CALL).also
    found = detect_format(CALL, [{"name": "look", "parameters": {}}])
    assert found.dialect == "bare-json"


@pytest.mark.parametrize("text", [MARKED, CALL, "<look></look>", "<get_weather>{}</get_weather>", "look()", "Hello."])
def test_a_dialect_is_tried_wherever_it_could_find_a_call(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = [{"name": "look", "parameters": {}}]
    found = detect_format(text, tools)
    monkeypatch.setattr(detection, "_has_opener", lambda *_: True)
    assert detect_format(text, tools) == found


@pytest.mark.parametrize("wire", sp.WIRES)
def test_the_findings_can_be_written_as_json(wire: str) -> None:
    import msgspec

    assert msgspec.json.decode(msgspec.json.encode(detect_format(MARKED + wire)), type=Findings).dialect == "hermes"


@cache
def _detect(text: str) -> Findings:
    """What a text is; most are the example of a row, and are asked for twice."""
    return detect_format(text, EXAMPLE_TOOLS)


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_text_shows_an_example_of_its_dialect_which_is_read_the_same_way(name: str) -> None:
    found = _detect(sp.DIALECTS[name].example)
    assert found.dialect in sp.DIALECTS
    assert (found.example, found.schema_style) == (sp.DIALECTS[found.dialect or ""].example, "json-schema")
    assert found.example is not None
    again = _detect(found.example)
    assert again.calls
    assert again.dialect == found.dialect


BODIES: dict[str, Any] = {
    "openai-chat": {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
    "openai-responses": [{"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}],
    "anthropic": {"content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
    "gemini": {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    "ollama-chat": {"message": {"tool_calls": [{"function": {"name": "f", "arguments": {}}}]}, "done": True},
    "bedrock-converse": [{"toolUse": {"toolUseId": "c", "name": "f", "input": {}}}],
    "cohere": {"role": "assistant", "tool_plan": "So.", "tool_calls": [{"id": "c", "function": {"name": "f"}}]},
}


@pytest.mark.parametrize("form", [lambda body: body, json.dumps, lambda body: json.dumps(body).encode()])
@pytest.mark.parametrize("wire", BODIES)
def test_a_message_shows_its_wire_an_example_of_it_and_how_tools_are_declared(wire: str, form: Any) -> None:
    found = detect_format(form(BODIES[wire]))
    assert (found.wire, [call.name for call in found.calls], found.errors) == (wire, ["f"], [])
    assert found.schema_style in ADAPTERS
    assert found.example is not None
    read = ADAPTERS[found.schema_style or ""].read_call(json.loads(found.example))
    assert (read.name, read.arguments) == ("get_weather", {"city": "Paris"})
    given = detect_format(found.example)
    assert given.calls == [] or given.calls[0].name == "get_weather"


def test_a_call_in_the_text_of_a_body_shows_the_example_of_its_dialect() -> None:
    found = detect_format(CHAT)
    assert (found.example, found.schema_style) == (sp.DIALECTS["hermes"].example, "openai")
    assert detect_format("Hello.").example is None


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"[{CALL}]",
        f"I look.\n```json\n{CALL}\n```",
        '{"toolCalls": [{"name": "look", "arguments": {}}]}',
        '<TOOL_CALL>{"name": "look", "arguments": {}}</TOOL_CALL>',
    ],
)
def test_the_calls_of_an_answer_are_those_that_are_parsed(text: str) -> None:
    tools = [{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {}}}]
    for known in (None, tools):
        assert detect_format(text, known).calls == sp.parse_response(text, tools=known).tool_calls
