"""The parts of an item of OpenAI's Responses: each is passed on once, whether it came in pieces or whole."""

from __future__ import annotations

from streamparse.wires.response_items import PartsItem


def test_a_part_that_comes_whole_behind_one_that_came_in_pieces_is_new() -> None:
    item = PartsItem()
    item.part(0).write("first")
    assert not item.is_new(0, "first")
    assert item.is_new(1, "second")
    assert not item.is_new(1, "second")


def test_a_part_without_a_number_is_new_only_where_nothing_was_told() -> None:
    item = PartsItem()
    assert item.is_new(None, "first")
    assert not item.is_new(None, "first")
    assert not item.is_new(0, "first")
