"""A call that comes natively and in the text is one; what comes after the pair is looked at anew."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import assert_same_in_every_cut

import streamparse as sp

TOOLS: Any = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}]
ARGUMENTS = '{"a": 1}'
IN_TEXT = {"content": f'<tool_call>\n{{"name": "f", "arguments": {ARGUMENTS}}}\n</tool_call>\n'}


def _native(index: int) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "id": f"id{index}", "function": {"name": "f", "arguments": ARGUMENTS}}]}


ANSWERS: dict[str, tuple[list[dict[str, Any]], list[str], int]] = {
    "text, native": ([IN_TEXT, _native(0)], ["inband"], 1),
    "text, native, native": ([IN_TEXT, _native(0), _native(1)], ["inband", "native"], 1),
    "text, text, native, native": ([IN_TEXT, IN_TEXT, _native(0), _native(1)], ["inband", "inband"], 2),
    "text, native, native, native": (
        [IN_TEXT, _native(0), _native(1), _native(2)],
        ["inband", "native", "native"],
        1,
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_each_call_of_one_way_stands_for_one_of_the_other(name: str) -> None:
    deltas, sources, doubles = ANSWERS[name]
    choices = [{"index": 0, "delta": delta} for delta in deltas]
    choices.append({"index": 0, "delta": {}, "finish_reason": "tool_calls"})
    body = "".join(f"data: {json.dumps({'choices': [choice]})}\n\n" for choice in choices) + "data: [DONE]\n\n"

    def make() -> sp.StreamParser:
        return sp.StreamParser("openai-chat", dialects=["hermes"], tools=TOOLS)

    assert_same_in_every_cut(make, body.encode())
    parser = make()
    parser.feed(body.encode())
    parser.close()
    assert [call.source for call in parser.response.tool_calls] == sources
    assert [broken.code for broken in parser.response.broken_calls] == ["duplicate_call"] * doubles


def test_true_is_not_1_and_makes_no_double() -> None:
    text = IN_TEXT["content"].replace("1}", "[true]}")
    call = {"index": 0, "id": "a", "function": {"name": "f", "arguments": '{"a": [1]}'}}
    parser = sp.StreamParser("openai-chat", dialects=["hermes"])
    for delta in ({"content": text}, {"tool_calls": [call]}):
        parser.feed(f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n")
    parser.close()
    assert [call.arguments for call in parser.response.tool_calls] == [{"a": [True]}, {"a": [1]}]


def test_a_native_call_takes_the_place_of_one_call_in_the_text_at_most() -> None:
    text, native = IN_TEXT["content"], _native(0)
    deltas = [
        {"content": text},
        {"content": "And again: "},
        {"content": text},
        {"content": "There."},
        native,
        {"content": text},
    ]
    parser = sp.StreamParser("openai-chat", dialects=["hermes"], tools=TOOLS)
    for delta in deltas:
        parser.feed(f"data: {json.dumps({'choices': [{'index': 0, 'delta': delta}]})}\n\n".encode())
    parser.close()
    assert [(call.source, call.revoked) for call in parser.response.tool_calls] == [
        ("inband", True),
        ("inband", False),
        ("native", False),
        ("inband", False),
    ]


@pytest.mark.parametrize(("pieces", "content", "reasoning"), [
    ([{"delta": {"content": "He"}}, {"message": {"content": "llo"}}], "Hello", ""),
    ([{"delta": {"reasoning": "hm"}}, {"message": {"content": "Hel"}}, {"message": {"content": "lo"}}], "Hello", "hm"),
    ([{"delta": {"reasoning": "hm"}}, {"message": {"reasoning": "more"}}], "", "hmmore"),
])  # fmt: skip
def test_a_message_behind_deltas_is_more_of_the_answer(pieces: list[Any], content: str, reasoning: str) -> None:
    body = "".join(f"data: {json.dumps({'choices': [{'index': 0, **piece}]})}\n\n" for piece in pieces)
    parser = sp.StreamParser("openai-chat")
    parser.feed(body)
    parser.close()
    assert (parser.response.content, parser.response.reasoning) == (content, reasoning)
