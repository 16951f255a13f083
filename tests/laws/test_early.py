"""A call is handed over in the very batch whose bytes close it; text is held only while a marker may be forming."""

from __future__ import annotations

import json
from typing import Any

import pytest
from answers import FIXTURES, TOOLS
from hypothesis import given
from hypothesis import strategies as st

import streamparse as sp

MARKER = 64
"""No marker is longer; see `Limits` and the tables of dialects."""


def _batch_of(parser: Any, pieces: list[Any], kind: type[sp.Event]) -> list[int]:
    """In the batches of which pieces the events of a kind come; the end is one batch more."""
    batches = [parser.feed(piece) for piece in pieces] + [parser.close()]
    return [number for number, batch in enumerate(batches) for event in batch if isinstance(event, kind)]


# -- native: the frame that closes the value ----------------------------------------------------------------

objects = st.dictionaries(
    st.text(max_size=5),
    st.one_of(st.text(st.sampled_from('{}[]"\\,:x '), max_size=12), st.integers(), st.lists(st.booleans(), max_size=3)),
    min_size=1,
    max_size=3,
)


def _frame(index: int, arguments: str, name: str | None = None) -> bytes:
    function = {"arguments": arguments} | ({"name": name} if name else {})
    call = {"index": index, "function": function} | ({"id": f"id{index}"} if name else {})
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]}).encode() + b"\n\n"


@given(st.lists(objects, min_size=1, max_size=2), st.integers(3, 9), st.booleans())
def test_a_native_call_is_complete_at_the_frame_that_closes_it(
    arguments: list[dict[str, Any]], size: int, by_byte: bool
) -> None:
    frames: list[bytes] = []
    closing = []
    for index, value in enumerate(arguments):
        text = json.dumps(value)
        frames.append(_frame(index, "", "f"))
        frames += [_frame(index, text[start : start + size]) for start in range(0, len(text), size)]
        closing.append(len(frames) - 1)
    if by_byte:
        ends = [sum(map(len, frames[: frame + 1])) for frame in closing]
        body = b"".join(frames)
        pieces, closing = [body[at : at + 1] for at in range(len(body))], [end - 1 for end in ends]
    else:
        pieces = frames
    assert _batch_of(sp.StreamParser("openai-chat"), pieces, sp.ToolCallComplete) == closing


@pytest.mark.parametrize("name", FIXTURES)
def test_a_native_call_of_a_fixture_is_complete_with_its_last_fragment(name: str) -> None:
    answer = FIXTURES[name]
    parser = answer.parser()
    seen: dict[int, int] = {}
    batches = [parser.feed(answer.body[at : at + 1]) for at in range(len(answer.body))] + [parser.close()]
    for number, batch in enumerate(batches):
        for event in batch:
            if isinstance(event, sp.ToolCallDelta):
                seen[event.index] = number
            elif isinstance(event, sp.ToolCallComplete):
                assert seen[event.index] == number


@given(st.lists(st.text(st.sampled_from('ab{}"\\ é'), min_size=1, max_size=9), min_size=1, max_size=6))
def test_every_fragment_of_the_arguments_is_a_delta_at_once(pieces: list[str]) -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed(_frame(0, '{"a": "', "f"))
    for piece in pieces:
        events = parser.feed(_frame(0, json.dumps(piece)[1:-1].replace('"', "")))
        assert [type(event) for event in events] == [sp.ToolCallDelta]


# -- in the text: the character that closes the call ----------------------------------------------------------

WHERE = {
    "hermes": "}}",
    "qwen3-coder": "</function>",
    "anthropic-invoke": "</invoke>",
    "granite-20b-fc": "}}",
    "tool-use-json": "}}",
    "tools-tag-json": "}}",
    "llama3-json": "}}",
    "bare-json": "}}",
    "fenced-json": "}}",
}
"""What closes the call in the example of a dialect: it is complete at the last character of this."""


@pytest.mark.parametrize("name", WHERE)
def test_a_call_in_text_is_complete_at_the_character_that_closes_it(name: str) -> None:
    text = sp.DIALECTS[name].example
    end = text.index(WHERE[name]) + len(WHERE[name]) - 1
    for dialects in ([name], "auto"):
        assert _batch_of(sp.TextParser(dialects, tools=TOOLS), list(text), sp.ToolCallComplete) == [end]


@pytest.mark.parametrize("name", WHERE)
def test_a_call_in_text_starts_and_streams_before_it_is_complete(name: str) -> None:
    text = sp.DIALECTS[name].example
    [start] = _batch_of(sp.TextParser([name], tools=TOOLS), list(text), sp.ToolCallStart)
    assert start < text.index("Paris")
    deltas = _batch_of(sp.TextParser([name], tools=TOOLS), list(text), sp.ToolCallDelta)
    assert {*range(text.index("Paris"), text.index("Paris") + 4)} <= {*deltas}


prose = st.lists(
    st.sampled_from(["word ", "<", "<tool_", "</", "`", "\n", "{", "é", "<think", "<|", "[", '"', "<function"]),
    max_size=30,
).map("".join)


@given(prose)
def test_prose_is_not_held_longer_than_a_marker_may_be_forming(text: str) -> None:
    parser = sp.TextParser()
    told = 0
    for count, character in enumerate("x" + text, start=1):
        told += sum(len(event.text) for event in parser.feed(character) if isinstance(event, sp.TextDelta))
        assert count - told < MARKER


@given(prose)
def test_text_that_cannot_become_a_marker_is_told_at_once(text: str) -> None:
    parser = sp.TextParser()
    held = "".join(event.text for event in parser.feed("x" + text) if isinstance(event, sp.TextDelta))
    after = "".join(event.text for event in parser.feed(" so ") if isinstance(event, sp.TextDelta))
    assert held + after == "x" + text + " so "
