"""What is known of servers stands in one table, with its evidence."""

from __future__ import annotations

import pytest

import streamparse as sp
from streamparse.providers.quirks import profile


@pytest.mark.parametrize("wire", [*sp.WIRES, "all"])
def test_each_habit_of_a_wires_servers_has_its_evidence(wire: str) -> None:
    assert all(habit.evidence and habit.read_as for habit in profile(wire).habits)


def test_a_wire_of_whose_servers_nothing_is_known_has_no_habits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sp.WIRES, "mine", sp.WIRES["ollama-chat"])
    assert profile("mine").habits == ()


def test_habits_are_found_by_the_name_of_a_server() -> None:
    assert "arguments only in `.done`" in profile("openai-responses").of("lm studio")[0].does
    assert profile("openai-chat").of("a server that nobody knows") == ()


def test_an_unknown_wire_has_no_profile() -> None:
    with pytest.raises(ValueError, match="known are: auto, openai-chat"):
        profile("nope")
