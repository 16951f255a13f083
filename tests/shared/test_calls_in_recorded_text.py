"""What the recorded streams hold in their text, where somebody knows it: thoughts between tags, and calls as markup.

The text alone is parsed: some of these servers send the same thought a second time in a field of its own.
"""

from __future__ import annotations

import pytest
from collection import json_lines
from cuts import assert_same_in_every_cut, calls_of, reasoning_of, text_of

import streamparse as sp

ROWS = {row["id"]: row for row in json_lines("streams/index.jsonl") if row["family"] in sp.WIRES and row.get("inband")}

INSIDE_A_THOUGHT = {"ollchat-ollama-1d498c"}
"""Here the prompt ended with `<think>`, so the text starts inside of the thought: the caller knows."""

NEEDS = {
    "chat-vllm-1d98ae": "dsml-v4",
    "chat-vllm-daecb8": "dsml-v4",
    "chat-vllm-dbe1c0": "dsml-v4",
    "chat-vllm-337fe7": "deepseek-v3",
    "chat-vllm-729663": "harmony",
}
"""Written in formats that may not be there yet."""

OTHER_BYTES = {"chat-vllm-ac4395"}
"""What was written down is one token longer than the recorded body, and was read without looking for thoughts."""


@pytest.mark.parametrize("id", [id for id in ROWS if id not in OTHER_BYTES])
def test_the_text_of_a_recorded_stream_holds_what_somebody_found_in_it(id: str) -> None:
    row = ROWS[id]
    if id in NEEDS and NEEDS[id] not in sp.DIALECTS:
        pytest.skip(f"needs the dialect {NEEDS[id]}")
    reasoning = "open" if id in INSIDE_A_THOUGHT else "auto"
    events = assert_same_in_every_cut(
        lambda: sp.TextParser(tools=row.get("tools") or None, reasoning=reasoning), row["expect"]["text"]
    )
    expected = row["inband"]
    assert calls_of(events) == [(call["name"], call["arguments"]) for call in expected.get("calls", [])]
    if "text" in expected:
        assert text_of(events).strip() == expected["text"].strip()
    if "reasoning" in expected:
        assert reasoning_of(events) == expected["reasoning"]


def test_a_thought_cut_by_length_is_a_thought() -> None:
    for id in OTHER_BYTES & ROWS.keys():
        events = assert_same_in_every_cut(sp.TextParser, ROWS[id]["expect"]["text"])
        assert "<think>" + reasoning_of(events) == ROWS[id]["expect"]["text"]
