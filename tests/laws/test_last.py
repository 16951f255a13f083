"""Law 4: there is exactly one `Done`, and it is the last event."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import draw_run, runs_of_fixtures
from subjects import SUBJECTS, examples, inputs

import streamparse as sp


def assert_done_is_last(events: list[sp.Event]) -> None:
    """Assert that a list of events ends with its only `Done`."""
    assert [number for number, event in enumerate(events) if isinstance(event, sp.Done)] == [len(events) - 1]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_last_event_of_a_fixture_is_its_only_done(subject: str) -> None:
    for run in runs_of_fixtures(subject):
        assert_done_is_last(run.events)


@pytest.mark.parametrize("subject", SUBJECTS)
@examples()
@given(data=st.data())
def test_the_last_event_of_any_answer_is_its_only_done(subject: str, data: st.DataObject) -> None:
    assert_done_is_last(draw_run(data, subject).events)


@pytest.mark.parametrize("subject", SUBJECTS)
@examples(0.5)
@given(data=st.data())
def test_the_done_comes_with_the_close_and_nothing_comes_of_a_second_one(subject: str, data: st.DataObject) -> None:
    each = data.draw(inputs(subject))
    parser = each.parser()
    assert not any(isinstance(event, sp.Done) for event in parser.feed(each.data))
    assert_done_is_last(parser.close())
    assert parser.close() == []
    with pytest.raises(RuntimeError):
        parser.feed(each.data)
