"""Where each way to begin a call counts: `fixtures/openings.json` says it of every dialect.

For each dialect it lists texts, each of which is one or two calls that begin in another way, and what comes of each
text in the places of `PLACES`, in their order: the number of calls that stand, and where (`p`lain, `b`are, in a
`t`hought); `-`, that the text is no call; `!`, that a call is broken.

`--update-golden` writes the answers anew, and leaves the texts; of a new dialect it takes the example.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from cuts import places_of, revoked_of

import streamparse as sp
from streamparse.tools import Toolset

GOLDEN = Path(__file__).parents[2] / "fixtures" / "openings.json"
STRING = {"type": "string"}


def _declare(**parameters: Any) -> Toolset:
    return Toolset.of(
        [{"name": name, "parameters": {"type": "object", "properties": keys}} for name, keys in parameters.items()]
    )


TOOLS = _declare(get_weather={"city": STRING}, bash={"command": STRING})
OTHERS = _declare(get={"city": STRING}, ba={"command": STRING})
"""Tools whose names are the beginnings of the names that are called: none of the calls is one of a declared tool."""


class Place(NamedTuple):
    """How a text is read, and what is around it."""

    is_named: bool
    tools: Toolset | None
    frame: str = "{0}"


KINDS: tuple[tuple[Toolset | None, str], ...] = (
    (None, "{0}"),
    (TOOLS, "{0}"),
    (OTHERS, "{0}"),
    (TOOLS, "So. {0}"),
    (TOOLS, "So.\n{0}"),
    (TOOLS, "{0}\n{0}"),
    (TOOLS, "<think>Hm. {0}"),
)
PLACES = [Place(is_named, *kind) for is_named in (True, False) for kind in KINDS]


def _answer(dialect: str, text: str, place: Place) -> str:
    """What comes of a text in a place."""
    parser = sp.TextParser([dialect] if place.is_named else "auto", tools=place.tools)
    events = parser.feed(place.frame.format(text)) + parser.close(stopped=True)
    if parser.response.errors:
        return "!"
    places = places_of(events)
    standing = len(places) - len(revoked_of(events))
    return f"{standing}{places[0][0]}" if standing else "-"


def _answers(dialect: str, texts: dict[str, str]) -> dict[str, str]:
    return {text: " ".join(_answer(dialect, text, place) for place in PLACES) for text in texts}


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_a_call_counts_in_the_places_that_are_listed_however_it_begins(dialect: str) -> None:
    texts = json.loads(GOLDEN.read_text(encoding="utf-8"))[dialect]
    assert _answers(dialect, texts) == texts


def test_every_dialect_has_a_call_in_each_text(update_golden: bool) -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    if update_golden:
        begun = {dialect: golden.get(dialect, {row.example: ""}) for dialect, row in sp.DIALECTS.items()}
        golden = {dialect: _answers(dialect, texts) for dialect, texts in begun.items()}
        GOLDEN.write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert list(golden) == list(sp.DIALECTS)
    assert all(answers.strip("- ") for texts in golden.values() for answers in texts.values())
