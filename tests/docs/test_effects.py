"""The table of effects and places is what the machine does: each cell is tried, and is a parameter of a test.

`pytest tests/docs --update-golden` writes the table, every other run compares.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from programs import ROOT
from tables import read_table, show_table, write_table

import streamparse as sp
from streamparse.runtime import Received, Start

PAGE = ROOT / "docs" / "tools" / "effects.md"
EFFECTS = ("read", "idempotent", "write")
GOOD_END = sp.Done("tool_calls", None, True)
ROWS: dict[str, dict[str, Any]] = {
    "`field`: the wire's own field": {"place": "field"},
    "`plain`: open text, with its dialect's markup": {"place": "plain", "source": "inband"},
    "`bare`: open text, without a marker of its own": {"place": "bare", "source": "inband"},
    "`thought`: drafted in a thought that nothing followed": {"place": "thought", "source": "inband"},
    "`quoted`: in a fence, a code span, a quotation, a string": {"place": "quoted", "source": "inband"},
    'any, `source="recovered"`: found only at the end': {"place": "plain", "source": "recovered"},
    'any, `source="repaired"`: its text had to be mended': {"place": "plain", "source": "repaired"},
}


def _begins(effect: str, call: dict[str, Any], *after: sp.Event, allow: tuple[Any, ...] = ()) -> int | None:
    """Return behind how many of the events `after` a call the machine starts it; None if it never does."""
    turn = sp.Turn([sp.Tool("act", function=lambda: None, effect=effect)], allow=allow)
    complete = sp.ToolCallComplete(0, "c0", "act", {}, call.get("source", "native"), "{}", call["place"])
    for number, event in enumerate((complete, *after)):
        if any(isinstance(command, Start) for command in turn.take(Received(event, at=0.0))):
            return number
    return None


def describe_start(effect: str, call: dict[str, Any]) -> str:
    """Say when a call begins, by trying it."""
    goes_on = sp.ToolCallStart(1, "c1", "act")
    moment = _begins(effect, call, goes_on, GOOD_END)
    word = call["place"] if call["place"] == "quoted" else call.get("source")
    if moment is None:
        assert _begins(effect, call, GOOD_END, allow=(word,)) is not None
        return f'only with `allow=["{word}"]`'
    assert _begins(effect, call, sp.Done("length", None, False)) in {None, 0}
    if moment < 2:
        return ("at its closing byte", "once the model moved on")[moment]
    text = sp.TextDelta("and more")
    divided = call["place"] != "field" and _begins(effect, call, text, GOOD_END) is None
    return "after `Done(ok=True)`" + (", unless divided" if divided else "")


def test_the_table_of_effects_is_that_of_the_machine(update_golden: bool) -> None:
    rows = [(name, *(describe_start(effect, call) for effect in EFFECTS)) for name, call in ROWS.items()]
    table = show_table(("place", *(f'`"{effect}"`' for effect in EFFECTS)), rows)
    if update_golden:
        write_table(PAGE, "effects", table)
    assert read_table(PAGE, "effects") == f"\n{table}\n"


CELLS = [
    (row, effect, cell.strip())
    for row, *cells in (
        re.split(r" \| ", line.strip("| \n")) for line in read_table(PAGE, "effects").strip().splitlines()[2:]
    )
    for effect, cell in zip(EFFECTS, cells, strict=True)
]


@pytest.mark.parametrize(("row", "effect", "cell"), CELLS)
def test_a_cell_of_the_table_is_what_the_machine_does(row: str, effect: str, cell: str) -> None:
    assert describe_start(effect, ROWS[row]) == cell
