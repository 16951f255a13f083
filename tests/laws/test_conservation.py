"""Law 5: text without calls comes out unchanged; every character of the content ends up in text, thought or a call."""

from __future__ import annotations

import re

import pytest
from answers import TOOLS as STREAM_TOOLS
from answers import hostile_texts
from cuts import calls_of, events_of, text_of
from hypothesis import assume, example, given
from hypothesis import strategies as st
from quoting import is_quoted
from runs import Run, draw_run
from subjects import ROWS, TOOLS, examples, texts_of
from test_early import MARKERS
from text_bodies import write_text

import streamparse as sp

TAGS = re.compile(r"</?think(?:ing)?>")


def _told(events: list[sp.Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, sp.TextDelta | sp.ReasoningDelta))


def _lines_aside(text: str) -> str:
    """Without line breaks and the tags of thoughts: one thought right behind another is joined by a line break."""
    return TAGS.sub("", text).replace("\n", "")


def _is_in_order(told: str, text: str) -> bool:
    """Whether what was told came in this order, with gaps."""
    rest = iter(_lines_aside(text))
    return all(character in rest for character in _lines_aside(told))


def assert_kept(run: Run) -> None:
    """Assert that nothing is invented, and that without calls nothing is missing but marks of thought and structure."""
    told, text = _lines_aside(_told(run.events)), _lines_aside(run.input.data)
    revoked = {event.index: event.reason for event in run.events if isinstance(event, sp.ToolCallRevoked)}
    has_thought = any(isinstance(event, sp.ReasoningDelta) for event in run.events)
    if "thought_closed" in revoked.values() or (revoked and has_thought):
        # What was said or thought after the calls was told before it was known that they were none: their text comes
        # after it.
        told, text = "".join(sorted(told)), "".join(sorted(text))
    assert _is_in_order(told, text)
    stands = any(isinstance(event, sp.ToolCallStart) and event.index not in revoked for event in run.events)
    if not stands and not run.response.errors and not has_thought:
        assert told == text


def _structure_of(row: str) -> list[str]:
    found = sp.DIALECTS[row]
    # The header of an answer is structure: ` to=user<|message|>`.
    headers = ["<|message|>"] if row == "muse-atem" else []
    return [*found.drops, *found.opens_text, *headers, *(mark for mark in MARKERS[row] if "think" in mark)]


@pytest.mark.parametrize("row", ROWS)
@examples()
@given(data=st.data())
def test_text_without_a_call_comes_out_unchanged_and_nothing_is_invented_in_any_row(
    row: str, data: st.DataObject
) -> None:
    run = draw_run(data, row)
    assume(not any(mark in run.input.data for mark in _structure_of(row)))
    assert_kept(run)


@pytest.mark.parametrize("row", ROWS)
@examples()
@given(data=st.data())
def test_words_around_calls_are_never_lost_in_any_row(row: str, data: st.DataObject) -> None:
    found = texts_of(row)
    calls = [found[case].data for case in ("example", "single", "parallel") if case in found]
    pieces = data.draw(st.lists(st.sampled_from([*calls, "\n", "\n\n", " "]), max_size=4))
    text = "w0w.\n" + "".join(f"{piece}\nw{number}w.\n" for number, piece in enumerate(pieces, start=1))
    events = events_of(sp.TextParser([row], tools=TOOLS), [text])
    kept = [event.raw for event in events if isinstance(event, sp.ToolCallComplete)]
    words = [f"w{number}w." for number in range(len(pieces) + 1)]
    assert [word for word in words if sum(each.count(word) for each in (_told(events), *kept)) != 1] == []
    assert _is_in_order(_told(events), text)


@pytest.mark.parametrize("wire", sp.WIRES)
@examples()
@given(st.lists(hostile_texts.filter(bool), min_size=1, max_size=3))
def test_the_text_of_every_wire_comes_out_unchanged(wire: str, pieces: list[str]) -> None:
    pieces[0] = f"x{pieces[0]}"
    body, _ = write_text(wire, pieces)
    assert text_of(events_of(sp.StreamParser(wire, dialects=()), [body])) == "".join(pieces)
    assert _is_in_order(_told(events_of(sp.StreamParser(wire, tools=TOOLS), [body])), "".join(pieces))


@given(hostile_texts, st.booleans())
def test_text_without_calls_comes_out_unchanged(text: str, tools: bool) -> None:
    events = events_of(sp.TextParser(tools=STREAM_TOOLS if tools else None), [text])
    if not any(isinstance(event, sp.ToolCallStart | sp.Error) for event in events):
        assert _lines_aside(_told(events)) == _lines_aside(text)
        if not any(isinstance(event, sp.ReasoningDelta) for event in events):
            assert TAGS.sub("", _told(events)) == TAGS.sub("", text)
    assert _is_in_order(_told(events), text)
    assert events_of(sp.TextParser(()), [text])[:-1] == ([sp.TextDelta(text)] if text else [])


@given(st.lists(st.sampled_from(["w1w", "w2w", "w3w", " ", "<", "\n"]), max_size=6), hostile_texts)
@example(["\n", "\n", " ", " ", " ", " "], "")
def test_words_around_calls_are_never_lost(words: list[str], between: str) -> None:
    prose = "".join(words)
    call = '<tool_call>{"name": "now", "arguments": {}}</tool_call>'
    events = events_of(sp.TextParser(), [f"x{prose}.{call}.{prose}y"])
    quoted = is_quoted(f"x{prose}.")
    assert _told(events) == f"x{prose}.{call if quoted else ''}.{prose}y"
    assert len(calls_of(events)) == (0 if quoted else 1)
    told = _told(events_of(sp.TextParser(), [f"x{prose}.\n{between}"]))
    assert told.startswith(f"x{prose}.")
