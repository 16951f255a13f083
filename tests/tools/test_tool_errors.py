"""What a tool may fail with, and how the model is told."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp
from streamparse.tools import ErrorKind

KINDS = get_args(ErrorKind)


def test_there_are_eight_kinds_and_no_other_is_taken():
    assert len(KINDS) == 8
    with pytest.raises(ValueError, match="kind must be one of"):
        sp.ToolError("odd", "x")


PRINTABLE = st.characters(exclude_categories=("Cc", "Cs"))


@given(st.sampled_from(KINDS), st.text(), st.text(PRINTABLE, max_size=2000), st.text(PRINTABLE, max_size=2000))
def test_the_model_is_told_what_failed_why_and_what_to_try_in_at_most_600_characters(kind, name, message, advice):
    text = sp.format_error_for_model(sp.ToolError(kind, message, suggestion=advice), name)
    assert len(text) <= 600
    assert kind in text
    assert advice[:200] in text
    assert message.strip()[:50] in text


HOSTILE = st.one_of(
    st.text(st.characters(), max_size=2000),
    st.builds(lambda text, times: text * times, st.text(st.characters(), max_size=3), st.integers(0, 100_000)),
    st.sampled_from(
        ["\ud800" * 700, "\U000e0001" * 700, "\x1b[2J\x00" * 300, "<tool_call>" * 100, "\r\n" * 500, "'\"" * 400]
    ),
)


@given(st.sampled_from(KINDS), HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_whatever_a_tool_says_the_model_gets_a_short_text_that_can_be_sent(kind, name, message, advice, partial):
    failure = sp.ToolFailure(kind, message, details={"partial_output": partial}, suggestion=advice)
    for error in (failure, sp.ToolError(kind, message, details={"partial_output": partial}, suggestion=advice)):
        text = sp.format_error_for_model(error, name)
        assert len(text) <= 600
        assert text.startswith("the call of ")
        assert f" failed ({kind}): " in text
        assert text.encode().decode() == text
        assert not any(ord(each) < 32 and each not in "\t\r\n" for each in text)
    assert msgspec.json.decode(msgspec.json.encode([failure.message, failure.suggestion])) == [
        failure.message,
        failure.suggestion,
    ]


def test_the_model_is_told_what_a_call_that_was_out_of_time_had_shown():
    failure = sp.ToolFailure("timeout", "timed out after 3 s", details={"partial_output": "12 of 40 files"})
    assert "timed out after 3 s; its output so far: 12 of 40 files; ask for less" in sp.format_error_for_model(
        failure, "f"
    )


def test_a_long_message_keeps_its_beginning_and_its_end():
    text = sp.format_error_for_model(sp.ToolError("execution", "a" * 400 + "b" * 400), "f")
    assert len(text) == 600
    assert "aaa" in text
    assert "bbb" in text


@pytest.mark.parametrize("wrong", [{"effect": "soon"}, {"lock": "town"}, {"retries": -1}])
def test_a_declaration_that_makes_no_sense_is_refused(wrong):
    def look(city: str) -> str:
        return city

    with pytest.raises(ValueError):
        sp.Tool("look", function=look, **wrong)


def test_a_lock_that_is_neither_a_text_nor_a_function_is_refused():
    with pytest.raises(TypeError):
        sp.Tool("look", lock=3)


def test_the_details_of_an_error_are_kept_as_they_were():
    details = {"a": 1}
    error = sp.ToolError("timeout", "late", details=details)
    details["b"] = 2
    assert (error.details, sp.ToolError("timeout", "late").details) == ({"a": 1}, {})
