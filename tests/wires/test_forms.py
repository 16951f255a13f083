"""A form that messages share is forgotten when anything else comes, and holds for nothing that it does not fit."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import calls_of, events_of, in_pieces, merged, text_of

import streamparse as sp

DONE = b"data: [DONE]\n\n"


def _frame(delta: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


def _text(text: str) -> bytes:
    return _frame({"content": text})


def _arguments(text: str) -> bytes:
    return _frame({"tool_calls": [{"index": 0, "function": {"arguments": text}}]})


def _call(name: str) -> bytes:
    return _frame({"tool_calls": [{"index": 0, "id": f"id of {name}", "function": {"name": name, "arguments": ""}}]})


FINISH = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'
PIECES = ['{"x": ', "1", "2", "}"]


def test_text_behind_the_end_marker_is_not_read_though_it_has_the_form_of_what_came_before() -> None:
    pieces = [_text("a "), _text("b "), _text("c "), DONE, _text("d "), _text("e ")]
    assert text_of(events_of(sp.StreamParser("openai-chat"), pieces)) == "a b c "


def test_pieces_of_a_call_go_to_the_one_that_has_its_index_now() -> None:
    def event(kind: str, **delta: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, 'index': 0, 'delta': delta})}\n\n".encode()

    def call(**fields: Any) -> dict[str, Any]:
        return {"tool_calls": fields}

    pieces = [event("message-start", message={"role": "assistant"})]
    for name in ("a", "b"):
        pieces.append(event("tool-call-start", message=call(id=name, function={"name": name, "arguments": ""})))
        pieces += [event("tool-call-delta", message=call(function={"arguments": piece})) for piece in PIECES]
    pieces.append(event("message-end", finish_reason="TOOL_CALL"))
    events = events_of(sp.StreamParser("cohere"), pieces)
    assert calls_of(events) == [("a", {"x": 12}), ("b", {"x": 12})]
    assert not [each for each in events if isinstance(each, sp.Error)]


BETWEEN = {
    "in one read": [_call("b")],
    "in two reads": [_call("b")[:30], _call("b")[30:]],
    "in two lines": [_call("b").replace(b', "', b',\ndata: "', 1)],
    "decoded": [json.loads(_call("b")[6:])],
}


@pytest.mark.parametrize("between", BETWEEN)
def test_arguments_go_to_the_call_that_began_in_between(between: str) -> None:
    second = BETWEEN[between]
    pieces = [_call("a"), *map(_arguments, PIECES), *second, *map(_arguments, PIECES), FINISH, DONE]
    events = events_of(sp.StreamParser("openai-chat"), pieces)
    assert calls_of(events) == [("a", {"x": 12}), ("b", {"x": 12})]
    assert not [event for event in events if isinstance(event, sp.Error)]


def test_pieces_of_a_block_go_to_the_one_that_has_its_index_now() -> None:
    def event(kind: str, **fields: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, 'index': 1, **fields})}\n\n".encode()

    pieces = [event("message_start", message={"content": []})]
    for name in ("a", "b"):
        block = {"type": "tool_use", "id": f"id of {name}", "name": name, "input": {}}
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in PIECES]
        pieces.append(event("content_block_start", content_block=block))
        pieces += [event("content_block_delta", delta=delta) for delta in deltas]
    pieces += [event("message_delta", delta={"stop_reason": "tool_use"}), event("message_stop")]
    events = events_of(sp.StreamParser("anthropic"), pieces)
    assert calls_of(events) == [("a", {"x": 12}), ("b", {"x": 12})]
    assert not [each for each in events if isinstance(each, sp.Error)]


def test_a_message_of_a_known_form_is_held_to_the_limit_of_one_line() -> None:
    pieces = [_text("a "), _text("b "), _text("c "), _text("d" * 50), _text("e ")]
    limits = sp.Limits(max_line=100)
    events = merged(events_of(sp.StreamParser("openai-chat", limits=limits), pieces))
    assert [event.code for event in events if isinstance(event, sp.Error)] == ["limit_line"]
    assert events == merged(events_of(sp.StreamParser("openai-chat", limits=limits), in_pieces(b"".join(pieces), 1)))


def test_a_carriage_return_inside_of_an_event_ends_a_line() -> None:
    odd = b'data: {"choices":\r[{"index":0,"delta":{"content":"x"}}]}\n\n'
    pieces = [_text("a "), _text("b "), odd, _text("c "), FINISH, DONE]
    whole = merged(events_of(sp.StreamParser("openai-chat"), [b"".join(pieces)]))
    assert text_of(whole) == "a b c "
    assert merged(events_of(sp.StreamParser("openai-chat"), pieces)) == whole


def test_each_message_counts_once_and_nothing_before_the_first() -> None:
    parser = sp.StreamParser("openai-chat")
    assert parser.stats.frames == 0
    for count in range(1, 5):
        parser.feed(_text("a "))
        assert parser.stats.frames == count


def _detail(text: str, thought: str | None = None, **fields: Any) -> bytes:
    detail = {"type": "reasoning.text", "text": text, "index": 0, **fields}
    return _frame({"content": "", "reasoning": text if thought is None else thought, "reasoning_details": [detail]})


@pytest.mark.parametrize(
    "other",
    [
        _detail("x", "y"),
        _detail("x", index=1),
        _detail("x", signature="s"),
        _detail('"', "\\"),
        _text("t"),
        _detail(""),
    ],
)
def test_a_thought_that_a_message_holds_twice_is_read_as_once(other: bytes) -> None:
    pieces = [_detail("a"), _detail("b"), _detail("c"), _detail('"d'), other, _detail("e"), _detail("f"), FINISH, DONE]
    expected = sp.StreamParser("openai-chat")
    events = merged(events_of(expected, in_pieces(b"".join(pieces), 1)))
    for reads in (pieces, [b"".join(pieces)], [b"".join(pieces[:3]), b"".join(pieces[3:])]):
        parser = sp.StreamParser("openai-chat")
        assert merged(events_of(parser, reads)) == events
        assert (parser.response, parser.stats) == (expected.response, expected.stats)


def test_the_form_of_a_message_that_holds_its_string_twice_is_learnt() -> None:
    parser = sp.StreamParser("openai-chat")
    events = [event for piece in map(_detail, "abcd") for event in parser.feed(piece)]
    assert "".join(event.text for event in events if isinstance(event, sp.ReasoningDelta)) == "abcd"
    assert parser._fast_path is not None
    form = parser._fast_path.template
    assert form is not None
    assert form.take(_detail("e")) == "e"
    assert form.take(_detail("e", "f")) is None
    assert form.take(_detail("")) is None
    assert form.take_run(_detail("g") + _detail("h") + _detail("i", "j"), 0, events.append) == 2 * len(_detail("g"))
    assert events[-2:] == ["g", "h"]
