"""The prefix law as a property: a cut makes no call, over wires, dialects, places of quotation and ways to cut.

What stands at the end of a prefix that is cut, or ended by length, stands at the end of the whole, too.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

import msgspec
import pytest
from answers import Answer, any_answers, hostile_texts
from bodies import WIRES, End, read_pieces, read_text
from cuts import cut_at, events_of, in_pieces, merged, text_of
from grid import ONLY_RIGHT_BEFORE
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace
from places import PLACES
from samples import TOOLS
from subjects import WIRES as WIRES_AND_AUTO
from subjects import examples, inputs
from test_last import assert_done_is_last
from test_once import assert_once
from verdicts import complete_calls, standing_calls

import streamparse as sp

FRAMES: dict[str, Callable[[str], str]] = {
    "alone": lambda text: text,
    "behind prose": lambda text: f"First a look.\n\n{text}",
    "twice": lambda text: f"{text}\n{text}",
    "behind a thought": lambda text: f"<think>Hm.</think>{text}",
    "in an open thought": lambda text: f"<think>Hm.\n{text}",
    **{name: place.wrap for name, place in PLACES.items()},
}


class _Case(NamedTuple):
    """An answer's text, and how it is read."""

    wire: str
    name: str
    frame: str
    dialects: Any

    @property
    def text(self) -> str:
        return FRAMES[self.frame](sp.DIALECTS[self.name].example)

    def read(self, pieces: Sequence[str], end: End) -> list[sp.Event]:
        return read_pieces(self.wire, pieces, TOOLS, self.dialects, end)


@st.composite
def _cases(draw: st.DrawFn) -> _Case:
    name = draw(st.sampled_from([*sp.DIALECTS]))
    dialects = draw(st.sampled_from(["auto", "all", (name,), (name, "auto")]))
    return _Case(draw(st.sampled_from(WIRES)), name, draw(st.sampled_from([*FRAMES])), dialects)


_bad_ends: st.SearchStrategy[End] = st.sampled_from(["cut", "length"])


def _count(events: Sequence[sp.Event]) -> Counter[tuple[str, str]]:
    return Counter((call.name, repr(call.arguments)) for call in standing_calls(events))


def _without_places(events: Sequence[sp.Event]) -> list[sp.Event]:
    """The merged events; errors without their offset, for frames have bytes of their own."""
    return [replace(event, offset=None) if isinstance(event, sp.Error) else event for event in merged(events)]


@given(_cases(), st.floats(0, 1), _bad_ends)
def test_no_call_stands_behind_a_cut_that_the_whole_does_not_make(case: _Case, share: float, end: End) -> None:
    text = case.text
    prefix = text[: round(len(text) * share)]
    assert _count(case.read([prefix], end)) <= _count(case.read([text], "stop"))


@given(_cases(), st.floats(0, 1), _bad_ends)
def test_no_bare_call_and_no_call_in_a_thought_stands_behind_a_cut(case: _Case, share: float, end: End) -> None:
    text = case.text
    events = case.read([text[: round(len(text) * share)]], end)
    assert {call.place for call in standing_calls(events)} <= {"plain"}
    assert {call.source for call in standing_calls(events)} <= {"inband"}


@given(_cases(), st.data())
def test_a_prefix_tells_the_same_however_it_is_cut(case: _Case, data: st.DataObject) -> None:
    prefix = case.text[: data.draw(st.integers(1, len(case.text)))]
    end = data.draw(st.sampled_from(["cut", "length", "stop"]))
    expected = _without_places(case.read([prefix], end))
    offsets = data.draw(st.lists(st.integers(0, len(prefix)), max_size=8).map(sorted))
    for pieces in (cut_at(prefix, offsets), in_pieces(prefix, 1)):
        assert _without_places(case.read([piece for piece in pieces if piece], end)) == expected


@given(_cases(), st.floats(0, 1))
def test_what_a_prefix_has_told_the_whole_tells_first(case: _Case, share: float) -> None:
    text = case.text
    at = round(len(text) * share)
    early = complete_calls(merged(case.read([text[:at]], "cut")))
    whole = complete_calls(merged(case.read([text[:at], text[at:]], "stop")))
    assert whole[: len(early)] == early


_PLACES = st.sampled_from([name for name, place in PLACES.items() if place.kind != "thought"])
_QUOTED = st.sampled_from(
    [name for name, place in PLACES.items() if place.kind == "quoted" and name not in ONLY_RIGHT_BEFORE]
)
"""Where a format is named, its structure is passed over unless it is quoted."""


@given(
    st.sampled_from([*sp.DIALECTS]),
    st.one_of(st.tuples(_PLACES, st.just(False)), st.tuples(_QUOTED, st.just(True))),
    st.floats(0, 1),
    st.sampled_from(["cut", "length", "stop"]),
)
def test_where_no_call_stands_and_none_is_broken_all_text_is_told(
    name: str, road: tuple[str, bool], share: float, end: End
) -> None:
    frame, named = road
    whole = FRAMES[frame](sp.DIALECTS[name].example)
    text = whole[: round(len(whole) * share)]
    events = read_text("text", text, TOOLS, [name] if named else "auto", end)
    if not standing_calls(events) and not any(isinstance(event, (sp.Error, sp.ReasoningDelta)) for event in events):
        assert text_of(events) == text


# -- bodies of any kind ---------------------------------------------------------------------------------------

Completed: TypeAlias = tuple[int, str, str, str]
BLANK_LINE = re.compile(rb"(\r\n|\n|\r)\1\Z")
BLANK = re.compile(rb"(?:\r\n){2}|\n\n|\r\r")
MORE_DATA = re.compile(rb"(?:\A[ \t]*|[\r\n])data")
LINE_END = re.compile(rb"[\r\n]")


def _completed(events: list[sp.Event]) -> set[Completed]:
    return {
        (event.index, event.id, event.name, repr(event.arguments))
        for event in events
        if isinstance(event, sp.ToolCallComplete)
    }


def _goes_on(before: bytes, rest: bytes) -> bool:
    """Whether a cut makes another event: a last one counts without its blank line.

    So it may not be cut between two of its own lines of data, nor where its JSON is whole and the line is not.
    """
    line, more = LINE_END.split(before)[-1], LINE_END.split(rest)[0]
    try:
        msgspec.json.decode(line.removeprefix(b"data:").strip())
    except (ValueError, RecursionError):  # broken UTF-8, or too deep: msgspec refuses both in words of their own
        whole = False
    else:
        whole = True
    return MORE_DATA.search(BLANK.split(rest, maxsplit=1)[0]) is not None or (whole and more.strip(b" \t") != b"")


@given(any_answers, st.data())
def test_no_prefix_completes_a_call_that_the_whole_does_not(answer: Answer, data: st.DataObject) -> None:
    size = data.draw(st.integers(0, len(answer.body)))
    assume(BLANK_LINE.search(answer.body, 0, size) or not _goes_on(answer.body[:size], answer.body[size:]))
    prefix = answer._replace(body=answer.body[:size])
    events = events_of(prefix.parser(), [prefix.body])
    assert_once(events)
    assert_done_is_last(events)
    assert _completed(events) <= _completed(events_of(answer.parser(), [answer.body]))


@pytest.mark.parametrize("wire", WIRES_AND_AUTO)
@examples()
@given(data=st.data())
def test_no_beginning_of_a_body_completes_a_call_that_the_whole_does_not(wire: str, data: st.DataObject) -> None:
    each = data.draw(inputs(wire))
    size = data.draw(st.integers(0, len(each.data)))
    assume(BLANK_LINE.search(each.data, 0, size) or not _goes_on(each.data[:size], each.data[size:]))
    events = events_of(each.parser(), [each.data[:size]])
    assert_once(events)
    assert_done_is_last(events)
    assert _completed(events) <= _completed(events_of(each.parser(), [each.data]))


@given(hostile_texts, st.booleans(), st.data())
def test_no_beginning_of_a_text_completes_a_call_that_the_text_does_not(
    text: str, tools: bool, data: st.DataObject
) -> None:
    def completed(piece: str, reason: str) -> set[Completed]:
        delta = {"content": piece}
        frame = {"choices": [{"index": 0, "delta": delta, "finish_reason": reason or None}]}
        body = b"data: " + json.dumps(frame).encode() + b"\n\n"
        return _completed(events_of(Answer("openai-chat", body, tools).parser(), [body]))

    beginning = text[: data.draw(st.integers(0, len(text)))]
    assert completed(beginning, "") <= completed(text, "stop")
