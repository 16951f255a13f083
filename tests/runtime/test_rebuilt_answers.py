"""What a journal holds of an answer that a crash cut is its events: they give the response that the parser gave."""

from __future__ import annotations

import pytest
from fixture_streams import NAMES, make_parser, read_body

import streamparse as sp
from streamparse.runtime.replay import rebuild_response


@pytest.mark.parametrize("name", NAMES)
def test_the_events_of_an_answer_give_its_response(name: str) -> None:
    parser = make_parser(name)
    events = parser.feed(read_body(name)) + parser.close()
    rebuilt, response = rebuild_response(events), parser.response
    assert (rebuilt.content, rebuilt.reasoning, rebuilt.refusal) == (
        response.content, response.reasoning, response.refusal,
    )  # fmt: skip
    assert rebuilt.tool_calls == response.tool_calls
    # Which of them only say something about the answer is in no event.
    assert rebuilt.items == [{key: item[key] for key in ("kind", "data", "index")} for item in response.items]
    assert rebuilt.errors == response.errors
    assert [(call.index, call.name, call.id) for call in rebuilt.broken_calls] == [
        (call.index, call.name, call.id) for call in response.broken_calls
    ]
    if all(call.source != "recovered" for call in response.tool_calls):  # those stand where their text did
        assert rebuilt.order == response.order


def test_of_a_call_that_the_crash_cut_its_text_so_far_is_kept() -> None:
    start, text = sp.ToolCallStart(0, "c", "f"), [sp.ToolCallDelta(0, '{"a"'), sp.ToolCallDelta(0, ": ")]
    rebuilt = rebuild_response([sp.TextDelta("So."), start, *text])
    [broken] = rebuilt.broken_calls
    assert (rebuilt.content, broken.name, broken.raw, broken.code) == ("So.", "f", '{"a": ', "truncated_call")
