"""How much may have to be held or read of a call: `fixtures/least_limits.json` says it of every dialect.

For each place in which calls may be it lists the least value of each limit with which two calls, `parallel` of
`fixtures/dialects/NAME.toml`, are read as without a limit; what is not listed does not matter there.  With one less
something else comes of them, in pieces, too.

`--update-golden` writes the fixture anew.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cuts import events_of, in_pieces, merged
from test_contract import FOLDER, TOOLS

import streamparse as sp

GOLDEN = Path(__file__).parents[2] / "fixtures" / "least_limits.json"
HELD = ("max_held_text", "max_call_args")
READ = ("max_depth", "max_id", "max_key", "max_name", "max_number")
PLACES: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {  # what is around a text, the limits, other options
    "named": ("{}", (*HELD, *READ), {}),
    "no tools": ("{}", HELD, {"tools": None}),
    "all formats": ("{}", HELD, {"dialects": "auto"}),
    "thought": ("<think>\n{}", HELD, {}),
    "quoted": ("So:\n~~~\n{}", HELD, {"quoted": "calls"}),
}


def _read(dialect: str, pieces: list[str], options: dict[str, Any], **limits: int) -> list[sp.Event]:
    parser = sp.TextParser(**{"dialects": [dialect], "tools": TOOLS, **options}, limits=sp.Limits(**limits))
    return merged(events_of(parser, pieces))


def _find_least(dialect: str, text: str, options: dict[str, Any], limit: str) -> int:
    """The least value with which a text is read as without the limit."""
    expected = _read(dialect, [text], options)
    least, most = 0, len(text)
    while least < most:
        middle = (least + most) // 2
        if _read(dialect, [text], options, **{limit: middle}) == expected:
            most = middle
        else:
            least = middle + 1
    if least:
        for value in (least - 1, least):
            events = _read(dialect, in_pieces(text, 7), options, **{limit: value})
            assert (events == expected) is (value == least), (text, value)
    return least


def _find_all(dialect: str) -> dict[str, dict[str, int]]:
    cases = tomllib.loads((FOLDER / f"{dialect}.toml").read_text(encoding="utf-8"))
    text = (cases["parallel"] if "text" in cases["parallel"] else cases["single"])["text"]
    found: dict[str, dict[str, int]] = {}
    for place, (frame, limits, options) in PLACES.items():
        for limit in limits:
            if least := _find_least(dialect, frame.format(text), options, limit):
                found.setdefault(place, {})[limit] = least
    return found


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_as_much_must_be_held_or_read_as_is_listed(dialect: str) -> None:
    assert _find_all(dialect) == json.loads(GOLDEN.read_text(encoding="utf-8"))[dialect]


def test_every_dialect_is_listed(update_golden: bool) -> None:
    if update_golden:
        rows = (f"{json.dumps(dialect)}: {json.dumps(_find_all(dialect))}" for dialect in sp.DIALECTS)
        GOLDEN.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")
    assert list(json.loads(GOLDEN.read_text(encoding="utf-8"))) == list(sp.DIALECTS)


def _lengthen(dialect: str) -> str:
    """The first call with a value that is longer than what may wait of a quoted one."""
    text: str = tomllib.loads((FOLDER / f"{dialect}.toml").read_text(encoding="utf-8"))["single"]["text"]
    return text.replace("Paris", "Paris" * 1500)


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_of_a_long_call_that_will_be_text_little_waits(dialect: str) -> None:
    text = "So:\n~~~\n" + _lengthen(dialect)
    for limit, most in ((None, 4096), (1000, 1000)):
        parser, waiting = sp.TextParser([dialect], tools=TOOLS, limits=sp.Limits(max_held_text=limit)), 0
        for piece in in_pieces(text, 64):
            parser.feed(piece)
            waiting += len(piece)
            assert waiting - len(parser.response.content) <= most


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_a_long_call_is_one_wherever_a_short_one_is(dialect: str) -> None:
    text = _lengthen(dialect)
    for frame, _, options in PLACES.values():
        short = _read(dialect, [frame.format(text.replace("Paris" * 1500, "Paris"))], options)
        long = _read(dialect, [frame.format(text)], options)
        assert [type(event) for event in long] == [type(event) for event in short]
