"""The grid: the example of every dialect, in every place that makes no call, over every wire.

Nothing with effects runs in any cell; in quoted places nothing is even reported; in a thought nothing stands.
"""

from __future__ import annotations

import pytest
from bodies import read_pieces, read_text
from cuts import in_pieces, text_of
from grid import cells_of, may_be_reported, read_cell, text_of_cell
from places import PLACES
from samples import BARE, RESUMES, TOOLS
from verdicts import HARMFUL, begun_calls, complete_calls, standing_calls

import streamparse as sp


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_no_tool_with_effects_runs_in_any_place_that_makes_no_call(name: str) -> None:
    answers = [read_cell(name, *cell) for cell in cells_of(name)]
    run = {
        cell: [begun[effect] for effect in HARMFUL if begun[effect]]
        for cell, begun in zip(cells_of(name), begun_calls(answers, TOOLS, HARMFUL), strict=True)
        if not (name in RESUMES and PLACES[cell[0]].kind == "thought")
    }
    assert [cell for cell, begun in run.items() if begun] == []


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_tool_without_effects_starts_early_only_for_a_call_that_stood_in_the_open(name: str) -> None:
    answers = [read_cell(name, *cell) for cell in cells_of(name)]
    wrong = []
    for cell, events, begun in zip(cells_of(name), answers, begun_calls(answers, TOOLS, ["read"]), strict=True):
        places = {(call.name, repr(call.arguments)): call.place for call in complete_calls(events)}
        early = [places[call.name, repr(call.arguments)] for call in begun["read"] if call.early]
        wrong += [(cell, place) for place in early if place not in ("field", "plain")]
    assert wrong == []


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_a_quoted_call_is_not_reported_and_its_text_is_unchanged(name: str) -> None:
    reported, changed = [], []
    for place, road in cells_of(name):
        if may_be_reported(name, place, road):
            continue
        events = read_cell(name, place, road)
        if complete_calls(events):
            reported.append((place, road))
        elif text_of(events) != text_of_cell(name, place)[1]:
            changed.append((place, road))
    assert (reported, changed) == ([], [])


@pytest.mark.parametrize("name", sorted(BARE))
def test_a_bare_call_does_not_stand_where_text_follows_and_gives_its_text_back(name: str) -> None:
    standing, changed = [], []
    for cell in cells_of(name):
        if PLACES[cell[0]].kind == "open":
            events = read_cell(name, *cell)
            standing += [cell] if standing_calls(events) else []
            changed += [cell] if text_of(events) != text_of_cell(name, cell[0])[1] else []
    assert (standing, changed) == ([], [])


@pytest.mark.parametrize("name", [name for name in sp.DIALECTS if name not in RESUMES])
def test_a_call_in_a_thought_that_goes_on_does_not_stand(name: str) -> None:
    cells = [cell for cell in cells_of(name) if PLACES[cell[0]].kind == "thought"]
    assert [cell for cell in cells if standing_calls(read_cell(name, *cell))] == []


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_each_cell_is_the_same_letter_by_letter(name: str) -> None:
    for place in PLACES:
        text, _ = text_of_cell(name, place)
        whole = read_text("text", text, TOOLS)
        letters = read_pieces("text", in_pieces(text, 1), TOOLS)
        assert (text_of(letters), complete_calls(letters)) == (text_of(whole), complete_calls(whole)), place
