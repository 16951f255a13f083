"""OpenAI's Responses: each part of an item is passed on once, and events are counted once for each response."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, calls_of

import streamparse as sp
from streamparse.assembler import Assembler
from streamparse.providers.openai_responses.items import PartsItem
from streamparse.providers.openai_responses.wire import SequenceTracker
from streamparse.tools import Toolset

COMPLETED = {"type": "response.completed", "response": {"status": "completed", "output": []}}


def _write(messages: list[dict[str, Any]]) -> bytes:
    return "".join(f"data: {json.dumps(message)}\n\n" for message in messages).encode()


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


def _event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def _call(kind: str, index: int, id: str = "i", **fields: Any) -> dict[str, Any]:
    return _event(
        f"output_item.{kind}", output_index=index, item={"type": "function_call", "id": id, "call_id": "c", **fields}
    )


def _arguments(kind: str, arguments: str, id: str | None = None, **fields: Any) -> dict[str, Any]:
    text = "delta" if kind == "delta" else "arguments"
    return _event(f"function_call_arguments.{kind}", item_id=id, **{text: arguments}, **fields)


def _numbered(*events: dict[str, Any], missing: int) -> list[dict[str, Any]]:
    numbers = (number for number in range(len(events) + 1) if number != missing)
    return [{**event, "sequence_number": number} for event, number in zip(events, numbers, strict=True)]


_LONG = '{"a": "' + "x" * 50 + '"}'
_ADDED = _call("added", 0, name="f")

CALLS: dict[str, tuple[list[dict[str, Any]], list[tuple[str, dict[str, Any]]], list[str]]] = {
    "a piece of no known call behind one that is complete": (
        [_call("added", 0, name="f", arguments='{"a": 1}'), _arguments("delta", '{"b": 2}', "z")],
        [("f", {"a": 1})],
        ["orphan_arguments"],
    ),
    "arguments of another name than the last call's": (
        [_ADDED, _arguments("done", '{"b": 2}', "z", name="g"), _arguments("done", '{"a": 1}', "i")],
        [("f", {"a": 1}), ("g", {"b": 2})],
        [],
    ),
    "no arguments, of a call that is known only when it is done": (
        [_arguments("done", "", "i", output_index=0, name="f"), _call("done", 0, name="f", arguments="")],
        [("f", {})],
        [],
    ),
    "a call that never has a name": ([_call("added", 0)], [], ["call_without_name"]),
    "too many arguments before the name": (
        [_arguments("delta", _LONG, "i", output_index=0), _call("done", 0, name="f", arguments="")],
        [],
        ["limit_args"],
    ),
    "a call that is done at another place, under another id of its item": (
        [_ADDED, _call("done", 1, "j", name="f", arguments='{"a": 1}')],
        [("f", {"a": 1})],
        [],
    ),
    "an empty piece before the first": (
        [_ADDED, _arguments("delta", "", "i", output_index=0), _arguments("delta", '{"a": 1}', "i", output_index=0)],
        [("f", {"a": 1})],
        [],
    ),
    "an event that is missing before the first piece": (
        _numbered(
            _event("created", response={"id": "r"}), _event("in_progress"), _ADDED,
            _arguments("delta", '{"a": 1}', "i", output_index=0), missing=3,
        ),
        [("f", {"a": 1})],
        [],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CALLS)
def test_a_call_whose_events_are_out_of_the_ordinary_comes_once_or_is_an_error(case: str) -> None:
    messages, calls, codes = CALLS[case]
    body = _write([*messages, COMPLETED])
    events = assert_same_in_every_cut(
        lambda: sp.StreamParser("openai-responses", limits=sp.Limits(max_call_args=40)), body
    )
    assert (calls_of(events), [event.code for event in events if isinstance(event, sp.Error)]) == (calls, codes)
    assert all(event.source == "native" for event in events if isinstance(event, sp.ToolCallComplete))


TEXTS: dict[str, list[dict[str, Any]]] = {
    "pieces without a number, then the item": [
        _event("output_text.delta", delta="Yes."),
        _event("output_item.done", item={"type": "message", "content": [{"type": "output_text", "text": "Yes."}]}),
        _event("completed", response={"status": "completed"}),
    ],
    "pieces, then an output in which the message has another id and place": [
        _event("output_text.delta", item_id="m", output_index=0, delta="Yes."),
        _event("completed", response={"status": "completed", "output": [
            {"type": "reasoning"},
            {"type": "message", "id": "n", "content": [{"type": "output_text", "text": "Yes."}]},
        ]}),
    ],
}  # fmt: skip


@pytest.mark.parametrize("case", TEXTS)
def test_a_text_that_is_reported_again_comes_once(case: str) -> None:
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write(TEXTS[case]))
    assert events == [sp.TextDelta("Yes."), sp.Done("completed", None, ok=True)]


def test_a_piece_of_a_text_call_that_is_done_is_no_part_of_it() -> None:
    item = {"type": "custom_tool_call", "id": "t", "name": "sql", "input": "select 1"}
    messages = [
        _event("output_item.added", output_index=0, item={**item, "input": ""}),
        _event("output_item.done", output_index=0, item=item),
        _event("custom_tool_call_input.delta", item_id="t", output_index=0, delta=" late"),
        COMPLETED,
    ]
    events = assert_same_in_every_cut(lambda: sp.StreamParser("openai-responses"), _write(messages))
    assert events == [sp.ProviderItem("custom_tool_call", item), sp.Done("completed", None, ok=True)]
