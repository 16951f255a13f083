"""Prose is skipped in long texts: what is found there is what is found in short ones."""

from __future__ import annotations

import pytest

import streamparse as sp
from streamparse.dialects import CATALOGUE
from streamparse.dialects.engine.active_markers import ActiveMarkers

TOOLS = frozenset({"get_weather", "bash", "größe"})
LINE = "It is a < b and [x], said A: *yes*. "
PLACES = (0, 1, 1019, 1023, 1024, 3071, 3072, 4090, 7167, 7168, 20_000)
"""Around the ends of what is looked at at once."""


def _activate(tools: frozenset[str]) -> ActiveMarkers:
    return ActiveMarkers(CATALOGUE, "auto", tools, reasoning=True)


@pytest.mark.parametrize("tools", [frozenset(), TOOLS], ids=["without tools", "with tools"])
@pytest.mark.parametrize("place", ["at_start", "later", "prose"])
def test_a_marker_is_found_wherever_it_is(tools: frozenset[str], place: str) -> None:
    markers = getattr(_activate(tools), place)
    for marker in sorted(markers.literals):
        short = markers.search(f".{marker}.", 1)
        assert short is not None
        for at in PLACES:
            text = "." * at + marker + "." * (30_000 - at)
            found = markers.search(text, 0)
            assert (found.start(), found[0]) == (at, short[0]), (marker, at)


@pytest.mark.parametrize("tools", [frozenset(), TOOLS], ids=["without tools", "with tools"])
def test_false_starts_are_passed_over_and_the_beginning_of_a_marker_is_kept(tools: frozenset[str]) -> None:
    markers = _activate(tools).prose
    prose = LINE * 300
    assert markers.search(prose) is None
    for end in ("<", "<tool_", "<|", "[TOOL_CA"):
        found = markers.search(prose + end)
        assert found is not None
        assert (found.start(), found.is_beginning) == (len(prose), True)


def test_a_call_behind_long_prose_is_found_at_its_byte() -> None:
    text = LINE * 2000 + '<tool_call>{"name": "bash", "arguments": {}}</tool_call>'
    whole, cut = sp.TextParser(tools=[{"name": "bash"}]), sp.TextParser(tools=[{"name": "bash"}])
    events = whole.feed(text)
    in_pieces = [event for at in range(0, len(text), 1000) for event in cut.feed(text[at : at + 1000])]
    calls = [[each for each in found if isinstance(each, sp.ToolCallComplete)] for found in (events, in_pieces)]
    assert calls[0] == calls[1] != []
    assert whole.response == cut.response
