"""What comes of calls that a model wrote almost right: `fixtures/drifting.json` says it of every dialect.

A text of two calls, `parallel` of `fixtures/dialects/NAME.toml`, is changed at one place each time: a token is left
out, written twice, or has blanks around it; all between a value and it is left out; a key is another key, a spelling
another spelling; or the model ends there.
The fixture lists what comes of it: which calls, which errors, and of how much of the text no content is made; and the
changes that come to that.  What is not listed is text, all of it.

`--update-golden` writes the fixture anew.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_contract import FOLDER, TOOLS

import streamparse as sp

GOLDEN = Path(__file__).parents[2] / "fixtures" / "drifting.json"
TOKEN = re.compile(
    r"<[^<>\s]*>?|\[/?[A-Z_]+\]|\]<\]minimax\[>\[|[{}\[\]()]|\"[^\"<>]*\"|'[^'<>]*'|[:,=]|\s+|\w+|.", re.DOTALL
)
KEYS = (
    *("name", "tool", "tool_name", "function_name", "function", "arguments", "parameters", "args", "input"),
    *("tool_input", "id", "tool_call_id", "type"),
)
SPELLINGS = (
    *(("▁", "_"), ("▁", " "), ("｜", "|"), ("｜", "｜｜"), ("|", ""), ('"', "'"), ('="', " = '"), ('="', "=")),
    *((">", " >"), (">", ":x>"), ("</", "<"), ("<", "< "), ("\n", " "), ("\n", "\r\n"), ("\n", "\n\n"), ("\n", "")),
    *(("{", "{{"), ("}", "}}"), ("[", "[["), ("]", "]]"), (",", ";"), (",", ",,"), (":", " : "), ("functions.", "")),
)


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


def _tell(dialect: str, text: str, calls: list[dict[str, Any]]) -> str:
    """What comes of a text; "" if all of it is text."""
    parser = sp.TextParser([dialect], tools=TOOLS)
    parser.feed(text)
    parser.close(stopped=True)
    response = parser.response
    told = [_name_call(call, calls) for call in response.tool_calls if not call.revoked]
    told += [error.code for error in response.errors]
    told += ["revoked" for call in response.tool_calls if call.revoked]
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


def _read_all(dialect: str) -> dict[str, list[str]]:
    """What comes of the changed texts of a dialect, and of which."""
    fixture = tomllib.loads((FOLDER / f"{dialect}.toml").read_text(encoding="utf-8"))
    case = fixture["parallel"] if "text" in fixture["parallel"] else fixture["single"]
    changes: dict[str, str] = {}
    for change, text in _change(case["text"], case["calls"][-1]["name"]):
        if text != case["text"]:
            changes.setdefault(text, change)
    told: dict[str, list[str]] = {}
    for text, change in changes.items():
        if outcome := _tell(dialect, text, case["calls"]):
            told.setdefault(outcome, []).append(change)
    return told


def _as_lines(golden: dict[str, dict[str, list[str]]]) -> str:
    dialects = (
        f"{json.dumps(dialect)}: {{\n"
        + ",\n".join(f"  {json.dumps(outcome)}: {json.dumps(changes, ensure_ascii=False)}" for outcome, changes in told)
        + "\n}"
        for dialect, told in ((dialect, told.items()) for dialect, told in golden.items())
    )
    return "{\n" + ",\n".join(dialects) + "\n}\n"


def _load() -> dict[str, dict[str, list[str]]]:
    golden: dict[str, dict[str, list[str]]] = json.loads(GOLDEN.read_text(encoding="utf-8"))
    return golden


@pytest.mark.parametrize("dialect", sp.DIALECTS)
def test_a_call_that_is_almost_right_is_read_as_it_is_listed(dialect: str) -> None:
    assert _read_all(dialect) == _load()[dialect]


def test_every_dialect_is_listed(update_golden: bool) -> None:
    if update_golden:
        GOLDEN.write_text(_as_lines({dialect: _read_all(dialect) for dialect in sp.DIALECTS}), encoding="utf-8")
    assert list(_load()) == list(sp.DIALECTS)
