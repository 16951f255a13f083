"""What users keep of an answer is read as the answer was: by what its parts show, however many show nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from anthropic.types import Message
from google.genai.types import Candidate, Content

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS
from streamparse.providers.partial_bodies import complete_body

CALL = {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}}
TEXT = {"type": "text", "text": "So."}
SERVER = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "s", "content": []}

BLOCKS: dict[str, dict[str, Any]] = {
    "web_search_tool_result": FOUND,
    "web_fetch_tool_result": {"type": "web_fetch_tool_result", "tool_use_id": "s", "content": {"url": "u"}},
    "mcp_tool_use": {"type": "mcp_tool_use", "id": "m", "name": "n", "server_name": "s", "input": {}},
    "mcp_tool_result": {"type": "mcp_tool_result", "tool_use_id": "m", "is_error": False, "content": []},
    "code_execution_tool_result": {"type": "code_execution_tool_result", "tool_use_id": "s", "content": {}},
    "container_upload": {"type": "container_upload", "file_id": "f"},
    "compaction": {"type": "compaction", "content": "short"},
    "a_kind_yet_to_come": {"type": "a_kind_yet_to_come", "x": 1},
}


def _message(*blocks: dict[str, Any]) -> dict[str, Any]:
    said = {"id": "m", "type": "message", "role": "assistant", "model": "claude", "content": list(blocks)}
    return {**said, "stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 2}}


def _calls(response: sp.ParsedResponse) -> list[tuple[str, Any, str]]:
    return [(call.name, call.arguments, call.source) for call in response.tool_calls]


FORMS: dict[str, Callable[[Any], Any]] = {
    "a dict": lambda body: body,
    "a text": json.dumps,
    "bytes": lambda body: json.dumps(body).encode(),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("wire", ["auto", "anthropic"])
@pytest.mark.parametrize("kind", BLOCKS)
def test_a_message_with_a_block_of_the_servers_own_keeps_its_calls(kind: str, wire: str, form: str) -> None:
    parsed = sp.parse_response(FORMS[form](_message(TEXT, BLOCKS[kind], CALL)), wire)
    assert _calls(parsed) == [("f", {"a": 1}, "native")]
    assert (parsed.content, parsed.finish_reason, parsed.ok) == ("So.", "tool_use", True)
    assert [(item["kind"], item["data"]) for item in parsed.items] == [(kind, BLOCKS[kind])]
    assert not parsed.errors


def test_a_message_of_the_sdk_with_results_of_the_server_keeps_calls_and_signatures() -> None:
    thought = {"type": "thinking", "thinking": "hm", "signature": "sig"}
    given = _message(thought, SERVER, FOUND, CALL)
    parsed = sp.parse_response(Message.model_validate(given))
    assert _calls(parsed) == [("f", {"a": 1}, "native")]
    assert (parsed.reasoning, parsed.finish_reason) == ("hm", "tool_use")
    assert [item["kind"] for item in parsed.items] == ["signature", "server_tool_use", "web_search_tool_result"]


@pytest.mark.parametrize("content", ["So.", [{"type": "output_text", "text": "So."}]])
def test_a_message_among_the_items_of_responses_is_one_without_its_type_and_its_parts(content: Any) -> None:
    thought = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]}
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": 1}'}
    parsed = sp.parse_response([thought, {"role": "assistant", "content": content}, call])
    assert (parsed.reasoning, parsed.content, _calls(parsed)) == ("hm", "So.", [("f", {"a": 1}, "native")])
    assert not parsed.errors


def test_a_message_without_content_has_its_reason_to_end() -> None:
    assert sp.parse_response({**_message(), "stop_reason": "end_turn"}).finish_reason == "end_turn"


PARTS: dict[str, Any] = {
    "Anthropic's message without the body around it": {"role": "assistant", "content": [FOUND, CALL]},
    "Anthropic's blocks": [BLOCKS["a_kind_yet_to_come"], CALL],
    "Anthropic's blocks beside calls that are none": {"role": "assistant", "content": [CALL], "tool_calls": None},
    "items of the Responses API": [
        {"type": "web_search_call", "id": "w", "status": "completed"},
        {"type": "function_call", "call_id": "t", "name": "f", "arguments": '{"a": 1}'},
    ],
    "items of the Responses API beside those yet to come": [
        {"type": "a_kind_yet_to_come"},
        {"type": "function_call", "call_id": "t", "name": "f", "arguments": '{"a": 1}'},
    ],
    "a turn of the Responses API": [
        {"role": "assistant", "content": "So."},
        {"type": "function_call", "call_id": "t", "name": "f", "arguments": '{"a": 1}'},
    ],
    "outputs of Gemini's Interactions": [
        {"type": "thought", "signature": "s"},
        {"type": "function_call", "id": "t", "name": "f", "arguments": {"a": 1}},
    ],
    "Gemini's content": {
        "role": "model",
        "parts": [{"executableCode": {"code": "1"}}, {"functionCall": {"name": "f", "args": {"a": 1}}}],
    },
    "Gemini's candidate": {
        "content": {
            "role": "model",
            "parts": [{"aKindYetToCome": {}}, {"functionCall": {"name": "f", "args": {"a": 1}}}],
        },
        "finishReason": "STOP",
    },
    "Gemini's parts": [{"text": "So."}, {"function_call": {"name": "f", "args": {"a": 1}}}],
    "Converse's message": {
        "role": "assistant",
        "content": [
            {"guardContent": {"text": {"text": "x"}}},
            {"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}}},
        ],
    },
    "Converse's parts": [{"toolUse": {"toolUseId": "t", "name": "f", "input": {"a": 1}}}],
    "a message whose calls have no function inside": {
        "role": "assistant",
        "tool_calls": [{"id": "t", "name": "f", "arguments": {"a": 1}}],
    },
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("form", FORMS)
def test_a_part_of_an_answer_keeps_its_call(part: str, form: str) -> None:
    parsed = sp.parse_response(FORMS[form](PARTS[part]))
    assert _calls(parsed) == [("f", {"a": 1}, "native")]
    assert parsed.ok
    assert not parsed.errors


def test_parts_that_are_objects_of_the_google_sdk_keep_their_calls() -> None:
    content = Content.model_validate(PARTS["Gemini's content"])
    for thing in (content, Candidate(content=content), list(content.parts or [])):
        assert _calls(sp.parse_response(thing)) == [("f", {"a": 1}, "native")], type(thing)


def test_a_candidate_without_content_says_why() -> None:
    parsed = sp.parse_response({"content": {"role": "model"}, "finishReason": "MALFORMED_FUNCTION_CALL"})
    assert (parsed.finish_reason, parsed.ok) == ("MALFORMED_FUNCTION_CALL", False)


@pytest.mark.parametrize("provider", ADAPTERS)
@pytest.mark.parametrize("blocks", [(TEXT, CALL), (CALL,), (TEXT,), (TEXT, SERVER, FOUND, CALL)])
def test_an_answer_that_is_sent_back_can_be_read_again(provider: str, blocks: tuple[dict[str, Any], ...]) -> None:
    parsed = sp.parse_response(_message(*blocks))
    again = sp.parse_response(sp.as_message(parsed, provider))
    assert _calls(again) == _calls(parsed)
    assert again.content == parsed.content
    assert again.ok


def test_parts_of_a_chat_message_stay_its_own() -> None:
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parsed = sp.parse_response({"role": "assistant", "content": [thought, TEXT]})
    assert (parsed.reasoning, parsed.content) == ("hm", "So.")
    called = [{"id": "t", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}]
    assert _calls(sp.parse_response({"role": "assistant", "content": [TEXT], "tool_calls": called})) == [
        ("f", {"a": 1}, "native")
    ]


@pytest.mark.parametrize(
    "answer",
    [
        [{"type": "phone_call", "at": "noon"}],
        [{"type": "thought", "text": "hm"}, {"type": "text", "text": "x"}],
        [{"text": "a"}, {"text": "b"}],
        [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}],
        {"content": {"a": 1}, "finishReason": "done"},
    ],
)
def test_json_that_only_resembles_an_answer_is_the_text_that_it_is(answer: Any) -> None:
    text = json.dumps(answer)
    parsed = sp.parse_response(text)
    assert (parsed.content, parsed.tool_calls, parsed.ok) == (text, [], True)


@pytest.mark.parametrize("kind", ["ai", "AIMessageChunk"])
@pytest.mark.parametrize("content", [{}, {"content": None}, {"content": 3}])
def test_what_only_has_the_type_of_a_message_is_none(kind: str, content: dict[str, Any]) -> None:
    assert complete_body({"type": kind, **content}) is None
    assert complete_body({"type": kind, "content": "Hello."}) is not None


CHAT = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "So."}, "finish_reason": "stop"}]}
RESULTS: dict[str, tuple[dict[str, Any], tuple[str, list[str], bool]]] = {
    "OpenAI": (
        {"id": "b", "custom_id": "1", "response": {"status_code": 200, "body": CHAT}, "error": None},
        ("So.", [], True),
    ),
    "OpenAI, refused": (
        {"id": "b", "custom_id": "1", "response": {"status_code": 400, "body": {"error": {"message": "no"}}}},
        ("", ["no"], False),
    ),
    "OpenAI, expired": (
        {"id": "b", "custom_id": "1", "response": None, "error": {"code": "batch_expired", "message": "late"}},
        ("", ["batch_expired: late"], False),
    ),
    "Anthropic": (
        {"custom_id": "1", "result": {"type": "succeeded", "message": _message(TEXT, CALL)}},
        ("So.", [], True),
    ),
    "Anthropic, refused": (
        {
            "custom_id": "1",
            "result": {"type": "errored", "error": {"type": "error", "error": {"type": "bad", "message": "no"}}},
        },
        ("", ["bad: no"], False),
    ),
    "Bedrock": ({"recordId": "1", "modelInput": {}, "modelOutput": _message(TEXT, CALL)}, ("So.", [], True)),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("line", RESULTS)
def test_a_line_of_the_results_of_a_batch_is_the_answer_in_it(line: str, form: str) -> None:
    result, expected = RESULTS[line]
    parsed = sp.parse_response(FORMS[form](result))
    said = [error.message for error in parsed.errors]
    assert (parsed.content, said, parsed.ok) == expected
