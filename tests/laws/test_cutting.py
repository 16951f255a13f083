"""Law 1: any cut of the same bytes gives the same events, once adjacent deltas are merged.

`tests/wires` and `tests/dialects` feed each fixture in every cut; here what is drawn is cut where it is drawn, too.
"""

from __future__ import annotations

import pytest
from answers import TOOLS as STREAM_TOOLS
from answers import Answer, any_answers, hostile_texts
from cuts import cut_at, events_of, in_pieces, merged
from hypothesis import given
from hypothesis import strategies as st
from subjects import SUBJECTS, examples, inputs

import streamparse as sp


def _offsets(size: int) -> st.SearchStrategy[list[int]]:
    return st.lists(st.integers(0, size), max_size=8).map(sorted)


@pytest.mark.parametrize("subject", SUBJECTS)
@examples(2)
@given(data=st.data())
def test_any_cut_gives_the_same_events(subject: str, data: st.DataObject) -> None:
    each = data.draw(inputs(subject))
    whole = each.parser()
    expected = merged(events_of(whole, [each.data]))
    for pieces in (cut_at(each.data, data.draw(_offsets(len(each.data)))), in_pieces(each.data, 1)):
        parser = each.parser()
        assert merged(events_of(parser, pieces)) == expected
        assert parser.response == whole.response


@pytest.mark.parametrize("subject", SUBJECTS)
@examples()
@given(data=st.data())
def test_what_was_told_of_a_beginning_is_told_of_the_whole(subject: str, data: st.DataObject) -> None:
    each = data.draw(inputs(subject))
    size = data.draw(st.integers(0, len(each.data)))
    whole = merged(events_of(each.parser(), [each.data]))
    parser = each.parser()
    early = merged(parser.feed(each.data[:size]))
    assert whole[: max(0, len(early) - 1)] == early[:-1]
    assert merged(early + events_of(parser, [each.data[size:]])) == whole


@examples(10)
@given(any_answers, st.data())
def test_any_cut_of_any_answer_gives_the_same_events(answer: Answer, data: st.DataObject) -> None:
    expected = merged(events_of(answer.parser(), [answer.body]))
    for pieces in (cut_at(answer.body, data.draw(_offsets(len(answer.body)))), in_pieces(answer.body, 1)):
        assert merged(events_of(answer.parser(), pieces)) == expected


@examples(10)
@given(hostile_texts, st.booleans(), st.data())
def test_any_cut_of_any_text_gives_the_same_events(text: str, tools: bool, data: st.DataObject) -> None:
    def parser() -> sp.TextParser:
        return sp.TextParser(tools=STREAM_TOOLS if tools else None)

    expected = merged(events_of(parser(), [text]))
    for pieces in (cut_at(text, data.draw(_offsets(len(text)))), in_pieces(text, 1)):
        assert merged(events_of(parser(), pieces)) == expected
