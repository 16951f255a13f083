"""What a tool may fail with, and how the model is told."""

from typing import get_args

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


@given(st.sampled_from(KINDS), st.text(), st.text(max_size=2000), st.text(max_size=2000))
def test_the_model_is_told_what_failed_why_and_what_to_try_in_at_most_600_characters(kind, name, message, advice):
    text = sp.format_error_for_model(sp.ToolError(kind, message, suggestion=advice), name)
    assert len(text) <= 600
    assert kind in text
    assert advice[:200] in text
    assert message.strip()[:50] in text


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
