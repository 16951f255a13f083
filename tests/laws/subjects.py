"""What every law is asked about: each wire and each row of the dialect table, with the inputs that it is tried on.

A wire that is added to `WIRES`, or a row that is added to `DIALECTS`, joins with its fixtures.  The inputs of a wire
are the bodies of `fixtures/streams`; those of a row are its example and the texts of `fixtures/dialects` and of
`fixtures/texts`.
`inputs` draws one of them as it is, or makes another of them: damaged, put together anew, mixed with prose.
"""

from __future__ import annotations

import copy
import json
import re
import tomllib
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from answers import ollama_answers, openai_answers, pieces_of_markup, with_damage
from cuts import Parser
from hypothesis import settings
from hypothesis import strategies as st
from messages import read_messages
from thoroughness import is_nightly

import streamparse as sp

__all__ = [
    "ROWS",
    "SUBJECTS",
    "TOOLS",
    "WIRES",
    "Input",
    "examples",
    "fixtures_of",
    "inputs",
    "odd_messages",
    "texts_of",
]

FIXTURES = Path(__file__).parents[2] / "fixtures"
STREAMS = FIXTURES / "streams"
INDEX: dict[str, dict[str, Any]] = tomllib.loads((STREAMS / "index.toml").read_text(encoding="utf-8"))
STREAM_TOOLS = {tool["name"]: tool for tool in json.loads((STREAMS / "tools.json").read_text(encoding="utf-8"))}

WIRES = [*sp.WIRES, "auto"]
ROWS = [*sp.DIALECTS]
SUBJECTS = [pytest.param(name, id=f"wire-{name}") for name in WIRES] + [
    pytest.param(name, id=f"row-{name}") for name in ROWS
]
LONG = 4096
"""Bodies over this size are left to the golden tests, but for the nightly run."""


def _tool(name: str, **properties: Any) -> sp.Tool:
    return sp.Tool(name, name, {"type": "object", "properties": properties})


_TEXT = {"type": "string"}
TOOLS = (
    _tool("get_weather", city=_TEXT, days={"type": "integer"}),
    _tool("brave_search", query=_TEXT),
    _tool("search", query=_TEXT),
    _tool("bash", command=_TEXT),
    _tool("note", text=_TEXT),
    _tool("configure", options={"type": "object"}, tags={"type": "array"}, on={"type": "boolean"}),
    _tool("now"),
)
"""The tools that the examples and the fixtures of the dialects call; none requires an argument."""


@dataclass(frozen=True)
class Input:
    """Bytes or text, and how they are read."""

    subject: str
    name: str
    data: Any
    options: dict[str, Any] = field(repr=False)

    def parser(self, **options: Any) -> Parser:
        """A new parser for it."""
        if isinstance(self.data, str):
            return sp.TextParser(**(self.options | options))
        return sp.StreamParser(**(self.options | options))


def examples(share: float = 1.0) -> settings:
    """As many examples as a test for each subject may cost: a twentieth of what one test for all draws."""
    return settings(max_examples=max(3, round(settings().max_examples * share / 20)))


@cache
def fixtures_of(subject: str) -> dict[str, Input]:
    """The fixtures of a wire or of a row, by their names."""
    return _streams_of(subject) if subject in WIRES else texts_of(subject)


def _streams_of(wire: str) -> dict[str, Input]:
    found = {}
    for name, row in INDEX.items():
        if row["wire"] == wire:
            tools = [STREAM_TOOLS[tool] for tool in row.get("tools", ())]
            found[name] = Input(wire, name, (STREAMS / name).read_bytes(), row | {"tools": tools})
    return found


@cache
def texts_of(row: str) -> dict[str, Input]:
    """The example of a row, and the texts of its fixtures, read with the row named."""
    texts = {"example": sp.DIALECTS[row].example}
    contract = FIXTURES / "dialects" / f"{row}.toml"
    if contract.exists():
        cases = tomllib.loads(contract.read_text(encoding="utf-8"))
        texts |= {case: answer["text"] for case, answer in cases.items() if "text" in answer}
    golden = FIXTURES / "texts" / f"{row}.json"
    if golden.exists():
        texts |= {case["promise"]: case["text"] for case in json.loads(golden.read_text(encoding="utf-8"))}
    return {name: Input(row, name, text, {"dialects": [row], "tools": TOOLS}) for name, text in texts.items()}


@st.composite
def inputs(draw: st.DrawFn, subject: str) -> Input:
    """A fixture of a wire or of a row as it is, or what was made of some."""
    if subject in WIRES:
        return draw(_bodies(subject))
    return draw(_texts(subject))


@st.composite
def _bodies(draw: st.DrawFn, wire: str) -> Input:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return Input(wire, "noise", draw(st.binary(max_size=200)), {"wire": wire, "tools": TOOLS})
    makers = {"openai-chat": openai_answers, "ollama-chat": ollama_answers}
    if kind < 5 and wire in makers:
        answer = draw(makers[wire]())
        return Input(wire, "drawn", answer.body, {"wire": wire, "tools": TOOLS if answer.tools else None})
    found = [name for name, each in fixtures_of(wire).items() if len(each.data) <= LONG or is_nightly()]
    fixture = fixtures_of(wire)[draw(st.sampled_from(found))]
    if kind == 8:
        lines = [json.dumps(message) for message in draw(odd_messages(wire))]
        return replace(fixture, data="".join(f"data: {line}\n\n" for line in lines).encode())
    return fixture if kind == 9 else replace(fixture, data=draw(with_damage(fixture.data)))


_odd_values = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 1, 7, 1e400, 0.5, 2**70]),
    st.sampled_from(["", "x", "{", "null", "tool_use", "\ud83c", "function_call"]),
    st.sampled_from([[], {}, [None], {"type": "text"}, {"": {}}]),
)
"""What a server may write where a protocol says something else."""


@st.composite
def odd_messages(draw: st.DrawFn, wire: str) -> list[Any]:
    """The decoded messages of a fixture, in some of which one value is another, or a key is missing."""
    found = [each.data for each in fixtures_of(wire).values() if len(each.data) <= LONG or is_nightly()]
    values = [message.value for message in read_messages(draw(st.sampled_from(found)))]
    messages = copy.deepcopy([value for value in values if isinstance(value, dict)])
    for _ in range(draw(st.integers(1, 3))):
        if messages:
            _set_anywhere(draw, draw(st.sampled_from(messages)))
    return messages


def _set_anywhere(draw: st.DrawFn, value: Any) -> None:
    """Put an odd value somewhere into a JSON value."""
    while True:
        if not value:
            return
        key = draw(st.sampled_from([*value] if isinstance(value, dict) else [*range(len(value))]))
        if isinstance(value[key], dict | list) and value[key] and draw(st.integers(0, 3)):
            value = value[key]
        elif isinstance(value, dict) and not draw(st.integers(0, 3)):
            del value[key]
            return
        else:
            value[key] = draw(_odd_values)
            return


@cache
def _pieces(row: str) -> st.SearchStrategy[str]:
    texts = [each.data for each in texts_of(row).values() if len(each.data) <= 400]
    markup = [opener.text for opener in sp.DIALECTS[row].openers if opener.text]
    markup += re.findall(r"\w+|\W+", sp.DIALECTS[row].example)
    words = st.sampled_from(
        ["word ", "w1w", " ", "\n", "\n\n", ".", "é", "🎉", "`", '"', "<think>", "</think>", "{", "}"]
    )
    cut = st.builds(lambda text, share: text[: round(len(text) * share)], st.sampled_from(texts), st.floats(0, 1))
    return st.one_of(words, st.sampled_from(markup), st.sampled_from(texts), cut, st.sampled_from(pieces_of_markup))


@st.composite
def _texts(draw: st.DrawFn, row: str) -> Input:
    texts = texts_of(row)
    if not draw(st.integers(0, 4)):
        return texts[draw(st.sampled_from([*texts]))]
    text = "".join(draw(st.lists(_pieces(row), max_size=6)))
    dialects = draw(st.sampled_from([[row], [row], "auto", [row, "auto"]]))
    tools = draw(st.sampled_from([TOOLS, TOOLS, None]))
    return Input(row, "drawn", text, {"dialects": dialects, "tools": tools})
