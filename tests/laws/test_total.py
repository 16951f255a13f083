"""Law 6: no input raises; what is bad becomes an error with a known code and a place in what was fed."""

from __future__ import annotations

import pytest
from answers import Answer, any_answers
from cuts import events_of
from hypothesis import example, given
from hypothesis import strategies as st
from runs import draw_run, runs_of_fixtures
from subjects import SUBJECTS, WIRES, examples, odd_messages

import streamparse as sp
from streamparse.errors import CODES


def assert_told_in_full(events: list[sp.Event], size: int | None) -> None:
    """Assert that errors have a known code and a place, and that all text is text that can be written."""
    for event in events:
        if isinstance(event, sp.Error):
            assert event.code in CODES
            assert event.message
            assert event.offset is not None or size is None
            assert event.offset is None or 0 <= event.offset <= (event.offset if size is None else size)
        elif isinstance(event, sp.TextDelta | sp.ReasoningDelta | sp.RefusalDelta):
            assert event.text
            event.text.encode()


@pytest.mark.parametrize("subject", SUBJECTS)
def test_the_errors_of_a_fixture_have_a_known_code_and_a_place(subject: str) -> None:
    for run in runs_of_fixtures(subject):
        assert_told_in_full(run.events, len(run.input.data))


@pytest.mark.parametrize("subject", SUBJECTS)
@examples()
@given(data=st.data())
def test_no_input_raises_and_its_errors_have_a_known_code_and_a_place(subject: str, data: st.DataObject) -> None:
    run = draw_run(data, subject)
    assert_told_in_full(run.events, len(run.input.data))


@pytest.mark.parametrize("wire", WIRES)
@examples()
@given(data=st.data())
def test_no_decoded_message_raises_whatever_stands_in_it(wire: str, data: st.DataObject) -> None:
    parser = sp.StreamParser(wire)
    events = [event for message in data.draw(odd_messages(wire)) for event in parser.feed(message)]
    assert_told_in_full(events + parser.close(), None)


@examples(10)
@given(any_answers)
@example(Answer("auto", b""))
@example(Answer("openai-chat", b"\xef\xbb\xbf"))
def test_no_bytes_raise_on_any_wire(answer: Answer) -> None:
    assert_told_in_full(events_of(answer.parser(), [answer.body]), len(answer.body))
