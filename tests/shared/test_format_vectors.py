"""Every vector of the collected formats whose dialect exists, in every cut: named, and with "auto"."""

from __future__ import annotations

from typing import Any

import pytest
from collection import json_file
from cuts import assert_same_in_every_cut, calls_of, text_of

import streamparse as sp
from streamparse.tools import Toolset

BOOK = json_file("formats/vectors.json", {"tools": [], "vectors": []})
TOOLS = Toolset.of(BOOK["tools"])
VECTORS = {
    f"{vector['format']}-{vector['case']}-{number}": vector
    for number, vector in enumerate(BOOK["vectors"])
    if vector["format"] in sp.DIALECTS
}

NAMED_OTHERWISE = {"tool-name-tag-unknown_then_known"}
"""Vectors that want what the format's own description forbids; `docs/internals/ground_truth.md` says why."""

AUTO_OTHERWISE = {*NAMED_OTHERWISE, "functionary-v3.2-unknown_then_known"}
"""Vectors whose opener is ambiguous, so that "auto" may not take it for one."""


def _case(name: str) -> str:
    return name.rpartition("-")[0]


def _events(vector: dict[str, Any], dialects: Any) -> list[sp.Event]:
    events = assert_same_in_every_cut(lambda: sp.TextParser(dialects, tools=TOOLS), vector["text"])
    assert calls_of(events) == [(call["name"], call["arguments"]) for call in vector["calls"]]
    assert isinstance(events[-1], sp.Done)
    return events


@pytest.mark.parametrize("name", [name for name in VECTORS if _case(name) not in NAMED_OTHERWISE])
def test_a_vector_is_read_by_its_dialect_in_every_cut(name: str) -> None:
    vector = VECTORS[name]
    assert text_of(_events(vector, [vector["format"]])).strip() == vector["content"].strip()


@pytest.mark.parametrize(
    "name", [name for name, row in VECTORS.items() if not row["ambiguous"] and _case(name) not in AUTO_OTHERWISE]
)
def test_a_vector_is_read_among_all_dialects_in_every_cut(name: str) -> None:
    vector = VECTORS[name]
    events = _events(vector, "auto")
    recovered = any(
        event.source in ("recovered", "repaired") for event in events if isinstance(event, sp.ToolCallComplete)
    )
    # JSON without a marker whose first name is not declared is text, and only at the end found to be calls.
    assert text_of(events).strip() == (vector["text"] if recovered else vector["content"]).strip()


def test_there_are_vectors() -> None:
    assert bool(VECTORS) == bool(BOOK["vectors"])
