"""Law 10: an answer of which nothing was understood is an error, and so is a turn for a tool without a call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import events_of
from hypothesis import given
from hypothesis import strategies as st
from messages import read_messages
from runs import draw_run, runs_of_fixtures
from subjects import ROWS, WIRES, examples, fixtures_of, inputs

import streamparse as sp

SPEAKS = sp.TextDelta | sp.ReasoningDelta | sp.RefusalDelta | sp.ToolCallStart | sp.ProviderItem
CALLS = sp.ToolCallStart | sp.ProviderItem


def assert_loud(events: list[sp.Event], response: sp.ParsedResponse) -> None:
    """Assert that neither silence nor a turn for a tool without a call is a good answer."""
    done = events[-1]
    assert isinstance(done, sp.Done)
    if not any(isinstance(event, SPEAKS) for event in events):
        assert not done.ok or done.finish_reason or done.usage, "only the server's own word makes an empty answer"
    if response.stop == "tools" and not any(isinstance(event, CALLS) for event in events):
        assert not done.ok
        assert response.errors
    if any(error.scope == "stream" for error in response.errors):
        assert not done.ok


@pytest.mark.parametrize("wire", WIRES)
def test_no_fixture_is_good_over_silence(wire: str) -> None:
    for run in runs_of_fixtures(wire):
        assert_loud(run.events, run.response)


@pytest.mark.parametrize("wire", WIRES)
@examples(2)
@given(data=st.data())
def test_no_answer_is_good_over_silence(wire: str, data: st.DataObject) -> None:
    run = draw_run(data, wire)
    assert_loud(run.events, run.response)


def _rename_keys(value: Any) -> Any:
    """A JSON value whose keys no wire knows."""
    if isinstance(value, dict):
        return {f"un{key}": _rename_keys(each) for key, each in value.items()}
    return [_rename_keys(each) for each in value] if isinstance(value, list) else value


@pytest.mark.parametrize("wire", WIRES)
def test_a_body_of_which_nothing_is_understood_is_an_error_whatever_its_end_marker_says(wire: str) -> None:
    for name, each in fixtures_of(wire).items():
        messages = read_messages(each.data)
        parser = sp.StreamParser(wire)
        for message in messages:
            if isinstance(message.value, dict):
                parser.feed(b"data: " + json.dumps(_rename_keys(message.value)).encode() + b"\n\n")
            elif b"[DONE]" in message.raw:
                parser.feed(message.raw)
        parser.close()
        assert not parser.response.ok, name
        assert parser.response.errors, name


@pytest.mark.parametrize("row", ROWS)
@examples(2)
@given(data=st.data())
def test_a_turn_for_a_tool_whose_text_holds_no_whole_call_is_an_error(row: str, data: st.DataObject) -> None:
    each = data.draw(inputs(row))
    body = "".join(
        f"data: {json.dumps({'choices': [choice]})}\n\n"
        for choice in ({"delta": {"content": each.data}}, {"delta": {}, "finish_reason": "tool_calls"})
    )
    parser = sp.StreamParser("openai-chat", **each.options)
    events = events_of(parser, [body.encode()])
    assert_loud(events, parser.response)
    if not parser.response.tool_calls:
        assert parser.response.errors
