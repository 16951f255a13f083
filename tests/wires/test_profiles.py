"""What is known of servers stands in one table, with its evidence."""

from __future__ import annotations

import pytest

import streamparse as sp
from streamparse.providers.quirks import profile


@pytest.mark.parametrize("wire", sp.WIRES)
def test_every_wire_has_a_profile_with_evidence_for_each_habit(wire: str) -> None:
    habits = profile(wire).habits
    assert habits
    assert all(habit.evidence and habit.read_as for habit in habits)


def test_habits_are_found_by_the_name_of_a_server() -> None:
    assert "arguments only in `.done`" in profile("openai-responses").of("lm studio")[0].does
    assert profile("openai-chat").of("a server that nobody knows") == ()


def test_an_unknown_wire_has_no_profile() -> None:
    with pytest.raises(ValueError, match="known are: openai-chat"):
        profile("nope")
