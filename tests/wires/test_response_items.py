"""OpenAI's Responses: each part of an item is passed on once, and events are counted once for each response."""

from __future__ import annotations

import streamparse as sp
from streamparse.assembler import Assembler
from streamparse.providers.openai_responses.items import PartsItem
from streamparse.providers.openai_responses.wire import SequenceTracker
from streamparse.tools import Toolset


def test_a_part_that_comes_whole_behind_one_that_came_in_pieces_is_new() -> None:
    item = PartsItem()
    item.get_part(0).write("first")
    assert not item.is_new(0, "first")
    assert item.is_new(1, "second")
    assert not item.is_new(1, "second")


def test_a_part_without_a_number_is_new_only_where_nothing_was_told() -> None:
    item = PartsItem()
    assert item.is_new(None, "first")
    assert not item.is_new(None, "first")
    assert not item.is_new(0, "first")


def test_the_start_of_another_response_counts_anew_and_that_of_the_same_one_does_not() -> None:
    assembler = Assembler(Toolset.of([]), sp.Limits())
    numbers = SequenceTracker(assembler)
    assert numbers.take(0, "response.created", "one")
    numbers.expected = 4  # three more events came in turn
    assert not numbers.take(0, "response.created", "one")
    assert [event.code for event in assembler.record.take() if isinstance(event, sp.Error)] == ["duplicate_frame"]
    assert numbers.take(0, "response.created", "two")
    assert assembler.record.take() == []
