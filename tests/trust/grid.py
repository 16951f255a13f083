"""The cells of the grid: the example of a dialect, in a place that makes no call, read over a wire."""

from __future__ import annotations

from functools import cache

from bodies import NATIVE, WIRES, read_text
from places import PLACES
from samples import TOOLS, is_special
from thoroughness import is_nightly

import streamparse as sp

__all__ = ["ROADS", "cells_of", "may_be_reported", "read_cell", "text_of_cell"]

SECOND_MARKERS = {"inkling", "step3", "muse-atem", "harmony", "beam"}
"""Between the beginning of these and an inner marker stands a word, or a header that counts only at the start: a mark
of quotation before them says nothing of the inner one, where only what stands right before a marker counts."""
ONLY_RIGHT_BEFORE = {"single quotes", "typographic quotes"}

ROADS = {wire: (wire, False) for wire in WIRES} | {
    "text, named": ("text", True),
    "anthropic, named": ("anthropic", True),
}
"""How the text is read: the wire, and whether the dialect is named."""


def cells_of(name: str) -> list[tuple[str, str]]:
    """The places and roads that a dialect is tried in: every other one of the grid, as on a chess board, at night all.

    So each place is tried over half of the roads, and each road with half of the places; the next dialect has the
    others.
    """
    shift = list(sp.DIALECTS).index(name)
    return [
        (place, road)
        for row, place in enumerate(PLACES)
        for column, road in enumerate(ROADS)
        if is_nightly() or (row + column + shift) % 2 == 0
    ]


def may_be_reported(name: str, place: str, road: str) -> bool:
    """Whether a call may be reported as complete in a cell."""
    if PLACES[place].kind == "quoted":
        return (place == "indented block" and is_special(name)) or (
            place in ONLY_RIGHT_BEFORE and name in SECOND_MARKERS
        )
    return road not in NATIVE


@cache
def read_cell(name: str, place: str, road: str) -> list[sp.Event]:
    """The events of one cell."""
    wire, named = ROADS[road]
    text = PLACES[place].wrap(sp.DIALECTS[name].example)
    return read_text(wire, text, TOOLS, [name] if named else "auto")


def text_of_cell(name: str, place: str) -> tuple[str, str]:
    """The text of a cell, and its visible part."""
    text = PLACES[place].wrap(sp.DIALECTS[name].example)
    return text, PLACES[place].shows(text)
