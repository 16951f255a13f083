"""Cohere: what holds for all of its streams; each deviation has a golden stream of its own."""

from __future__ import annotations

import pytest
from cuts import events_of, plain
from fixture_streams import NAMES, make_parser, read_body

import streamparse as sp

STREAMS = [name for name in NAMES if name.startswith("cohere-") and "instead-of-a-stream" not in name]


def _parser(name: str, wire: str) -> sp.StreamParser:
    return make_parser(name, wire=wire)


@pytest.mark.parametrize("name", STREAMS)
def test_the_first_event_shows_the_wire(name: str) -> None:
    body = read_body(name)
    parser = _parser(name, "auto")
    assert plain(events_of(parser, [body])) == plain(events_of(_parser(name, "cohere"), [body]))
    assert parser.wire == "cohere"


def test_the_names_of_the_events_say_nothing_that_their_types_do_not() -> None:
    for name in STREAMS:
        body = read_body(name)
        bare = b"".join(line for line in body.splitlines(keepends=True) if not line.startswith(b"event:"))
        named, unnamed = _parser(name, "cohere"), _parser(name, "cohere")
        events_of(named, [body])
        events_of(unnamed, [bare])
        assert named.response.tool_calls == unnamed.response.tool_calls
        assert named.response.content == unnamed.response.content


def test_what_a_model_plans_comes_before_what_it_says() -> None:
    parser = sp.StreamParser("cohere")
    for message in ({"tool_plan": "I look"}, {"tool_plan": " it up."}, {"content": {"text": "So"}}):
        parser.feed({"type": "content-delta", "index": 0, "delta": {"message": message}})
    assert [(mark.what, mark.content) for mark in parser.response.order] == [("item", 0)]
    assert parser.response.items == [{"kind": "tool_plan", "data": "I look it up.", "index": None}]


@pytest.mark.parametrize("reason", ["TOOL_CALL", "MAX_TOKENS", None])
def test_a_call_of_a_whole_message_is_whole_though_it_has_no_arguments(reason: str | None) -> None:
    message = {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f"}}]}
    response = sp.parse_response({"id": "m", "message": message, "finish_reason": reason}, "cohere")
    assert [(call.name, call.arguments) for call in response.tool_calls] == [("f", {})]
    assert response.broken_calls == []
