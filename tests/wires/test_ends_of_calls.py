"""How long a native call waits for its arguments, and what is reported of one that is over."""

from __future__ import annotations

import pytest
from cuts import calls_of

import streamparse as sp
from streamparse.assembler import Assembler
from streamparse.tools import Toolset

TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}, "required": ["a"]}}]


def _assembler() -> Assembler:
    return Assembler(Toolset.of(TOOLS), sp.Limits())


def _codes(events: list[sp.Event]) -> list[str]:
    return [event.code for event in events if isinstance(event, sp.Error)]


@pytest.mark.parametrize(("size", "told"), [(1, False), (64, False), (65, True), (1000, True)])
def test_an_opening_brace_waits_for_64_characters_at_most(size: int, told: bool) -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    assembler.call_arguments(call, "{" + " " * (size - 1))
    text = "".join(event.arguments for event in assembler.record.take() if isinstance(event, sp.ToolCallDelta))
    assert len(text) == (size if told else 0)


def test_arguments_that_a_tool_requires_may_come_after_the_end_of_the_turn() -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    assembler.finish("tool_calls", "tools")
    assembler.call_arguments(call, '{"a": 1}')
    assembler.close()
    events = assembler.record.take()
    assert calls_of(events) == [("f", {"a": 1})]
    assert _codes(events) == []


def test_arguments_that_a_tool_requires_and_that_never_come_are_missing() -> None:
    assembler = _assembler()
    assembler.call_start("f")
    assembler.finish("tool_calls", "tools")
    assert _codes(assembler.record.take()) == []
    assembler.close()
    assert _codes(assembler.record.take()) == ["missing_arguments"]


def test_what_follows_in_a_call_that_was_given_up_is_part_of_its_error() -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    for fragment in ('{"a": 1]', ', "b": 2', "}"):
        assembler.call_arguments(call, fragment)
    events = assembler.record.take()
    assert len(_codes(events)) == 1
    assert "late_arguments" not in _codes(events)


def test_what_follows_a_complete_call_is_reported_once() -> None:
    assembler = _assembler()
    call = assembler.call_start("f")
    for fragment in ('{"a": 1}', " ", "x", "y"):
        assembler.call_arguments(call, fragment)
    assert _codes(assembler.record.take()) == ["late_arguments"]
