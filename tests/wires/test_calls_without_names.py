"""Calls whose names come late or never: what is kept of them is bounded, and what is lost is said."""

from __future__ import annotations

import json
from typing import Any

from cuts import assert_same_in_every_cut

import streamparse as sp


def _fragment(index: int, id: str = "", name: str = "", arguments: str = "") -> bytes:
    call: dict[str, Any] = {"index": index, "function": {"name": name or None, "arguments": arguments}}
    if id:
        call |= {"id": id, "type": "function"}
    chunk = {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def _codes(events: list[sp.Event]) -> list[str]:
    return [event.code for event in events if isinstance(event, sp.Error)]


def test_that_too_many_calls_are_without_a_name_is_said_once() -> None:
    parser = sp.StreamParser("openai-chat", limits=sp.Limits(max_calls=2))
    events = [event for index in range(5) for event in parser.feed(_fragment(index, f"c{index}", arguments='{"a"'))]
    assert _codes(events) == ["limit_calls"]
    assert _codes(parser.close()).count("call_without_name") == 2


def test_a_call_whose_arguments_before_its_name_are_too_long_is_broken_when_the_name_comes() -> None:
    parser = sp.StreamParser("openai-chat", limits=sp.Limits(max_call_args=40))
    events = parser.feed(_fragment(0, "c0", arguments='{"a": "' + "x" * 60))
    assert _codes(events) == ["limit_args"]
    assert parser.feed(_fragment(0, arguments="yyy")) == []  # nothing more of it is kept
    parser.feed(_fragment(0, name="f"))
    parser.close()
    assert [(call.name, call.code) for call in parser.response.broken_calls] == [("f", "limit_args")]
    assert parser.response.tool_calls == []


def test_the_name_that_comes_behind_the_arguments_may_be_that_of_no_declared_tool() -> None:
    parser = sp.StreamParser("openai-chat", tools=[{"name": "g"}])
    parser.feed(_fragment(0, "c0", arguments='{"a"') + _fragment(0, name="f") + _fragment(0, arguments=": 1}"))
    parser.close()
    assert [(call.name, call.arguments) for call in parser.response.tool_calls] == [("f", {"a": 1})]


def test_the_arguments_of_a_complete_call_are_those_of_its_index() -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed(_fragment(0, "c0", "f", '{"a": 1}') + _fragment(1, "c1", "g", '{"b": 2}'))
    assert (parser.partial(0), parser.partial(1)) == ({"a": 1}, {"b": 2})


def test_a_block_of_a_call_without_a_name_is_an_error_and_passed_on_with_its_input() -> None:
    messages: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "t", "name": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a": 1}'}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_stop"},
    ]
    body = "".join(f"event: {message['type']}\ndata: {json.dumps(message)}\n\n" for message in messages)
    events = assert_same_in_every_cut(lambda: sp.StreamParser("anthropic"), body.encode(), most=20)
    assert _codes(events) == ["call_without_name"]
    assert events[1:] == [
        sp.ProviderItem("tool_use", {"id": "t", "input": {"a": 1}}, 0),
        sp.Done(None, None, ok=True),
    ]
