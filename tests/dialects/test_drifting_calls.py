"""What comes of calls that a model wrote almost right: `fixtures/drifting.json` says it of every dialect.

A text of two calls, `parallel` of `fixtures/dialects/NAME.toml`, is changed at one place each time: a token is left
out, written twice, or has blanks around it; all between a value and it is left out; a key is another key, a spelling
another spelling; or the model ends there.
The fixture lists what comes of it: which calls, which errors, and of how much of the text no content is made; and the
changes that come to that.  What is not listed is text, all of it.

Elsewhere (all formats armed, no tools declared, prose around it, a thought that is open) the same comes of what lacks a
token or has one twice, but for what `fixtures/drifting_elsewhere.json` lists.

`--update-golden` writes the fixtures anew.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from cuts import merged
from test_contract import FOLDER, TOOLS

import streamparse as sp

GOLDEN = Path(__file__).parents[2] / "fixtures" / "drifting.json"
ELSEWHERE = GOLDEN.with_name("drifting_elsewhere.json")
TOKEN = re.compile(
    r"<[^<>\s]*>?|\[/?[A-Z_]+\]|\]<\]minimax\[>\[|[{}\[\]()]|\"[^\"<>]*\"|'[^'<>]*'|[:,=]|\s+|\w+|.", re.DOTALL
)
MARKER = re.compile(r"<[^<>\s]*>|\[/?[A-Z_]+\]|\]<\]minimax\[>\[|```")
KEYS = (
    *("name", "tool", "tool_name", "function_name", "function", "arguments", "parameters", "args", "input"),
    *("tool_input", "id", "tool_call_id", "type"),
)
SPELLINGS = (
    *(("▁", "_"), ("▁", " "), ("｜", "|"), ("｜", "｜｜"), ("|", ""), ('"', "'"), ('="', " = '"), ('="', "=")),
    *((">", " >"), (">", ":x>"), ("</", "<"), ("<", "< "), ("\n", " "), ("\n", "\r\n"), ("\n", "\n\n"), ("\n", "")),
    *(("{", "{{"), ("}", "}}"), ("[", "[["), ("]", "]]"), (",", ";"), (",", ",,"), (":", " : "), ("functions.", "")),
)


PLACES: dict[str, tuple[str, str, dict[str, Any]]] = {  # what stands before a text, and behind it, and other options
    "all formats": ("", "", {"dialects": "auto"}),
    "no tools": ("", "", {"tools": None}),
    "prose": ("So:\n", "\n\nDone.", {}),
    "thought": ("<think>\nSo:\n", "", {}),
}


def _change(text: str, second: str) -> Iterator[tuple[str, str]]:
    """Each change up to the name of the second call: what is changed, and the changed text."""
    tokens = TOKEN.findall(text)
    seen: dict[str, int] = {}
    before, begun = "", ""
    for token in tokens:
        if len(before) > text.rindex(second):
            break
        after = text[len(before) + len(token) :]
        seen[token] = seen.get(token, 0) + 1
        place = f"{token}" if seen[token] == 1 else f"{token} ({seen[token]})"
        if not token.isspace():
            yield f"without {place}", before + after
            yield f"twice {place}", f"{before}{token}{token}{after}"
            yield f"blanks around {place}", f"{before} {token}\n{after}"
            yield f"up to {place}", before + token
            if begun:
                yield f"nothing between a value and {place}", begun + token + after
        if token.strip("\"'") in KEYS and token[0] in "\"'":
            for key in KEYS:
                yield f"{key} for {place}", f"{before}{token[0]}{key}{token[0]}{after}"
        before += token
        if not begun and "Paris" in before:
            begun = before
    for old, new in SPELLINGS:
        if old in text:
            yield f"{new!r} for {old!r}", text.replace(old, new)
            yield f"{new!r} for the first {old!r}", text.replace(old, new, 1)


def _read(dialect: str, text: str, **options: Any) -> sp.ParsedResponse:
    parser = sp.TextParser(**{"dialects": [dialect], "tools": TOOLS, **options})
    parser.feed(text)
    parser.close(stopped=True)
    return parser.response


def _list_told(response: sp.ParsedResponse, calls: list[dict[str, Any]]) -> list[str]:
    told = [_name_call(call, calls) for call in response.tool_calls if not call.revoked]
    told += [error.code for error in response.errors]
    return told + ["revoked" for call in response.tool_calls if call.revoked]


def _tell(dialect: str, text: str, calls: list[dict[str, Any]]) -> str:
    """What comes of a text; "" if all of it is text."""
    response = _read(dialect, text)
    told = _list_told(response, calls)
    if response.content == text:
        return ", ".join(told)
    if response.content:
        told.append(f"all but {len(text) - len(response.content)} characters")
    return ", ".join(told)


def _name_call(call: sp.ToolCall, calls: list[dict[str, Any]]) -> str:
    """Which of the two calls it is; one that is neither, in full."""
    known = [
        number
        for number, each in enumerate(calls, 1)
        if (call.name, call.arguments) == (each["name"], each["arguments"])
    ]
    name = f"call {known[0]}" if known else f"{call.name}({call.raw})"
    if not call.id.startswith("call_"):
        name += f" of {call.id}"
    return name if call.source == "inband" else f"{name} {call.source}"


def _list_changes(dialect: str) -> tuple[dict[str, str], list[dict[str, Any]]]:
    """The changed texts of a dialect, what was changed in each, and the two calls."""
    fixture = tomllib.loads((FOLDER / f"{dialect}.toml").read_text(encoding="utf-8"))
    case = fixture["parallel"] if "text" in fixture["parallel"] else fixture["single"]
    changes: dict[str, str] = {}
    for change, text in _change(case["text"], case["calls"][-1]["name"]):
        if text != case["text"]:
            changes.setdefault(text, change)
    return changes, case["calls"]


def _read_all(dialect: str) -> dict[str, list[str]]:
    """What comes of the changed texts of a dialect, and of which."""
    told: dict[str, list[str]] = {}
    changes, calls = _list_changes(dialect)
    for text, change in changes.items():
        if outcome := _tell(dialect, text, calls):
            told.setdefault(outcome, []).append(change)
    return told


def _read_elsewhere(dialect: str) -> dict[str, dict[str, list[str]]]:
    """What else comes of them elsewhere."""
    changes, calls = _list_changes(dialect)
    told: dict[str, dict[str, list[str]]] = {}
    for text, change in changes.items():
        if change.startswith(("without ", "twice ")):
            here = _tell_visible(dialect, text, calls)
            for place, (before, behind, options) in PLACES.items():
                there = _tell_visible(dialect, before + text + behind, calls, **options)
                if there != here:
                    told.setdefault(place, {}).setdefault(there, []).append(change)
    return told


def _tell_visible(dialect: str, text: str, calls: list[dict[str, Any]], **options: Any) -> str:
    """What comes of a text, and how many of its visible characters are neither content nor a thought."""
    response = _read(dialect, text, **options)
    kept = text.removeprefix("<think>"), response.content + response.reasoning
    whole, left = (len("".join(each.split())) for each in kept)
    return ", ".join([*_list_told(response, calls), *([f"all but {whole - left} characters"] if whole > left else [])])


def _as_lines(golden: dict[str, dict[str, Any]]) -> str:
    dialects = (
        f"{json.dumps(dialect)}: {{\n"
        + ",\n".join(f"  {json.dumps(outcome)}: {json.dumps(changes, ensure_ascii=False)}" for outcome, changes in told)
        + "\n}"
        for dialect, told in ((dialect, told.items()) for dialect, told in golden.items())
    )
    return "{\n" + ",\n".join(dialects) + "\n}\n"


def _load(golden: Path) -> dict[str, dict[str, Any]]:
    listed: dict[str, dict[str, Any]] = json.loads(golden.read_text(encoding="utf-8"))
    return listed


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_a_call_that_is_almost_right_is_read_as_it_is_listed(dialect: str) -> None:
    assert _read_all(dialect) == _load(GOLDEN)[dialect]


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_elsewhere_it_is_read_likewise_but_for_what_is_listed(dialect: str) -> None:
    assert _read_elsewhere(dialect) == _load(ELSEWHERE)[dialect]


@pytest.mark.parametrize(("golden", "read"), [(GOLDEN, _read_all), (ELSEWHERE, _read_elsewhere)])
def test_every_dialect_is_listed(golden: Path, read: Callable[[str], dict[str, Any]], update_golden: bool) -> None:
    if update_golden:
        golden.write_text(_as_lines({dialect: read(dialect) for dialect in sp.DIALECTS}), encoding="utf-8")
    assert list(_load(golden)) == list(sp.DIALECTS)


def _read_events(dialect: str, text: str, size: int) -> list[sp.Event]:
    """The events of a text in pieces of a size."""
    parser = sp.TextParser([dialect], tools=TOOLS)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    return merged([*events, *parser.close(stopped=True)])


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_in_pieces_it_is_read_as_in_one(dialect: str) -> None:
    for number, text in enumerate(islice(_list_changes(dialect)[0], None, None, 3)):
        assert _read_events(dialect, text, 2 + number % 13) == _read_events(dialect, text, len(text))


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_a_marker_within_a_value_or_behind_it_breaks_a_call_at_the_same_place_in_pieces(dialect: str) -> None:
    fixture = tomllib.loads((FOLDER / f"{dialect}.toml").read_text(encoding="utf-8"))
    text = (fixture["parallel"] if "text" in fixture["parallel"] else fixture["single"])["text"]
    end = (text.find("Paris") if "Paris" in text else len(text) // 2) + 5
    for marker in dict.fromkeys(MARKER.findall(text)):
        for at in range(end, end + 5):
            damaged = text[:at] + marker + text[at:]
            assert _read_events(dialect, damaged, 3) == _read_events(dialect, damaged, len(damaged))
