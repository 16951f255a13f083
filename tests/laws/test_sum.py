"""Law 2: the deltas of a call are the text of its Complete, and the events are what the response holds."""

from __future__ import annotations

import pytest
from cuts import reasoning_of, text_of
from hypothesis import given
from hypothesis import strategies as st
from runs import Run, draw_run, runs_of_fixtures
from subjects import SUBJECTS, examples

import streamparse as sp


def assert_sums(run: Run) -> None:
    """Assert that deltas, Completes and the response say the same."""
    deltas: dict[int, str] = {}
    for event in run.events:
        if isinstance(event, sp.ToolCallDelta):
            assert event.arguments, "no delta is empty"
            deltas[event.index] = deltas.get(event.index, "") + event.arguments
        elif isinstance(event, sp.ToolCallComplete):
            assert event.raw == deltas.get(event.index, "")
    _assert_response_is_sum(run.events, run.response)


def _assert_response_is_sum(events: list[sp.Event], response: sp.ParsedResponse) -> None:
    assert (response.content, response.reasoning) == (text_of(events), reasoning_of(events))
    assert response.errors == [event for event in events if isinstance(event, sp.Error)]
    revoked = {event.index for event in events if isinstance(event, sp.ToolCallRevoked)}
    assert [(call.index, call.raw, call.revoked) for call in response.tool_calls] == [
        (event.index, event.raw, event.index in revoked) for event in events if isinstance(event, sp.ToolCallComplete)
    ]
    assert {call.index for call in response.broken_calls} == {
        event.index for event in events if isinstance(event, sp.Error) and event.index is not None
    }
    done = events[-1]
    assert isinstance(done, sp.Done)
    assert (done.finish_reason, done.usage, done.ok) == (response.finish_reason, response.usage, response.ok)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_deltas_of_a_call_in_a_fixture_are_the_text_of_its_complete(subject: str) -> None:
    for run in runs_of_fixtures(subject):
        assert_sums(run)


@pytest.mark.parametrize("subject", SUBJECTS)
@examples()
@given(data=st.data())
def test_the_deltas_of_any_call_are_the_text_of_its_complete(subject: str, data: st.DataObject) -> None:
    assert_sums(draw_run(data, subject))
