"""Law 3: a call has one Start and one end, and nothing follows for it but possibly one Revoked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import draw_run, runs_of_fixtures
from subjects import SUBJECTS, examples

import streamparse as sp

# The states of a call, and what may happen in each.
STEPS = {
    ("none", "start"): "open",
    ("open", "delta"): "open",
    ("open", "complete"): "complete",
    ("open", "error"): "broken",
    ("complete", "revoked"): "revoked",
}


def _step_of(event: sp.Event) -> tuple[str, int] | None:
    """What an event says of a call; None for an error of a call whose name never came, and for all else."""
    match event:
        case sp.ToolCallStart(index=index):
            return "start", index
        case sp.ToolCallDelta(index=index):
            return "delta", index
        case sp.ToolCallComplete(index=index):
            return "complete", index
        case sp.ToolCallRevoked(index=index):
            return "revoked", index
        case sp.Error(scope=scope, index=int(index)):
            assert scope == "call"
            return "error", index
    return None


def assert_once(events: list[sp.Event]) -> None:
    """Assert that each call takes the steps of the table, and that calls are counted by appearance."""
    states: dict[int, str] = {}
    for step, index in filter(None, map(_step_of, events)):
        if step == "start":
            assert index == len(states), "calls are counted by appearance"
        key = states.get(index, "none"), step
        assert key in STEPS, f"call {index} is {key[0]}, and has a {step}"
        states[index] = STEPS[key]
    assert "open" not in states.values(), "every call that started is closed"


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_call_of_a_fixture_starts_once_and_ends_once(subject: str) -> None:
    for run in runs_of_fixtures(subject):
        assert_once(run.events)


@pytest.mark.parametrize("subject", SUBJECTS)
@examples()
@given(data=st.data())
def test_any_call_starts_once_and_ends_once(subject: str, data: st.DataObject) -> None:
    assert_once(draw_run(data, subject).events)
