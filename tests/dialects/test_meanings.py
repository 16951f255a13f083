"""What a marker means: each state and each kind of the table is reached by a text, and each cell is what is written."""

from __future__ import annotations

from itertools import product
from typing import Any, get_args

import pytest

import streamparse as sp
from streamparse.dialects.engine.meanings import KINDS, MEANINGS, STATES, Kind, Meaning, State, find_meaning

TOOLS = [{"name": "f", "parameters": {"type": "object"}}]
CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
BARE = '{"name": "f", "arguments": {}}'
BEFORE: dict[State, str] = {
    "start": " ",
    "after a call": CALL,
    "after a bare call": f"{BARE}\n\n",
    "at a line": "Words.\n",
    "after a blank": "Words ",
    "after a token": "Words<|x|>",
    "in text": "Words.",
    "after a quoted call": f"> {CALL}\n",
    "in a draft": "Words.\n<think>Well",
    "quoted": "Words `a",
    "in a thought": "<think>Well",
    "after a call in a thought": f"<think>{CALL}",
    "quoted in a thought": "<think>Well `a",
    "invented": f"<think>{CALL}<|im_start|>user\nWell",
}
MARKERS: dict[Kind, tuple[str, str, str]] = {
    "turn": ("auto", CALL, "<|im_start|>user"),
    "text opener": ("auto", "", "<|START_TEXT|>"),
    "settles": ("auto", "Action: f\nAction Input: {}\n\n", "Observation:"),
    "thought": ("auto", "", "<think>"),
    "thought inside": ("mistral-array", "", "[THINK]"),
    "thought token": ("auto", "", "[THINK]"),
    "end of a thought": ("auto", "", "</think>"),
    "own end": ("auto", "", "<|END_OF_TURN_TOKEN|>"),
    "call": ("auto", "", "<tool_call>"),
    "structure": ("cohere-action", "", "<|START_RESPONSE|>"),
    "ending": ("auto", CALL, "</tool_call>"),
    "end of a turn": ("auto", CALL, "<|im_end|>"),
}
"""A dialect, what stands before, and a marker of the kind; two kinds belong to one thought alone."""


def _scan(text: str, dialects: Any = "auto") -> Any:
    parser = sp.TextParser(dialects, tools=TOOLS)
    parser.feed(text)
    assert parser._inband is not None
    parser._inband._scanner.flush()  # what may be the beginning of a marker is none
    return parser._inband._scanner


@pytest.mark.parametrize("state", STATES)
def test_a_text_reaches_each_state(state: State) -> None:
    assert _scan(BEFORE[state]).span.find_state(is_token=False) == state


@pytest.mark.parametrize("kind", MARKERS)
def test_a_marker_is_of_each_kind(kind: Kind) -> None:
    name, before, marker = MARKERS[kind]
    assert kind in _scan(before, name if name == "auto" else [name]).active.find_kinds(marker).kinds


@pytest.mark.parametrize(("marker", "kinds"), [("</think>", ("end of this thought",)), ("<think>", ("echo",))])
def test_two_kinds_are_of_the_open_thought(marker: str, kinds: tuple[Kind, ...]) -> None:
    assert _scan("<think>").span.list_own_kinds(marker) == kinds


def test_the_table_names_every_kind_state_and_meaning_and_no_other() -> None:
    assert (tuple(KINDS), tuple(STATES), {*MEANINGS}) == (get_args(Kind), get_args(State), {*KINDS})
    assert {*MARKERS, "end of this thought", "echo"} == {*KINDS}
    cells = {find_meaning((kind,), state) for kind, state in product(KINDS, STATES)}
    assert cells == {*get_args(Meaning)}


@pytest.mark.parametrize(("first", "second", "state"), list(product(KINDS, KINDS, ("start", "at a line", "quoted"))))
def test_the_first_kind_that_means_something_decides(first: Kind, second: Kind, state: State) -> None:
    alone = find_meaning((first,), state)
    assert find_meaning((first, second), state) == (find_meaning((second,), state) if alone == "text" else alone)


def test_what_is_quoted_is_read_as_no_call_of_its_own_and_drops_nothing() -> None:
    untrusted = ("after a quoted call", "in a draft", "quoted", "quoted in a thought")
    for kind, state in product(KINDS, untrusted):
        assert find_meaning((kind,), state) not in ("attempt", "ending", "another turn", "settled")
        assert kind != "structure" or find_meaning((kind,), state) == "text"
