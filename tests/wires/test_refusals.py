"""A refused turn has no calls: whichever wire told of the refusal, before or after them, streamed or whole."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import events_of

import streamparse as sp

ARGUMENTS = '{"city":"Paris"}'
CALL = {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": ARGUMENTS}}
ITEM = {"type": "function_call", "id": "fc", "call_id": "a", "name": "get_weather", "arguments": ARGUMENTS}
USED = {"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Paris"}}
NO = {"type": "message", "id": "m", "content": [{"type": "refusal", "refusal": "No."}]}


def _chat(refusal: str | None, calls: list[Any]) -> dict[str, Any]:
    message = {"content": None, "refusal": refusal, "tool_calls": calls}
    return {"object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def _response(*items: dict[str, Any]) -> dict[str, Any]:
    return {"object": "response", "status": "completed", "output": list(items)}


REFUSED = {
    "openai-chat": _chat("No.", [CALL]),
    "openai-responses": _response(ITEM, NO),
    "openai-responses, refused first": _response(NO, ITEM),
    "anthropic": {"type": "message", "content": [USED], "stop_reason": "refusal"},
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_whole_answer_that_is_refused_has_no_call_that_stands(name: str) -> None:
    parser = sp.StreamParser(name.partition(",")[0])
    events_of(parser, [json.dumps(REFUSED[name]).encode()])
    for response in (parser.response, sp.parse_response(REFUSED[name])):
        assert [(call.name, call.revoked) for call in response.tool_calls] == [("get_weather", True)]
        assert not response.ok


@pytest.mark.parametrize("body", [_chat("No.", []), _response(NO)], ids=["openai-chat", "openai-responses"])
def test_an_answer_that_is_only_refused_in_words_has_ended_well(body: dict[str, Any]) -> None:
    parsed = sp.parse_response(body)
    assert (parsed.refusal, parsed.ok) == ("No.", True)


def test_calls_are_taken_back_before_the_first_word_of_the_refusal_is_told() -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **CALL}]}}]})
    events = parser.feed({"choices": [{"index": 0, "delta": {"refusal": "No"}}]})
    assert events == [sp.ToolCallRevoked(0, "a", "refusal"), sp.RefusalDelta("No")]
    assert parser.feed({"choices": [{"index": 0, "delta": {"refusal": "."}}]}) == [sp.RefusalDelta(".")]


def test_a_blank_refusal_is_none() -> None:
    for blank in (None, ""):
        parsed = sp.parse_response(_chat(blank, [CALL]))
        assert parsed.ok
        assert not parsed.tool_calls[0].revoked
