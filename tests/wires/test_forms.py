"""A form that messages share is forgotten when anything else comes, and holds for nothing that it does not fit."""

from __future__ import annotations

import json
from collections.abc import Callable
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


def _thinking(thought: str, **fields: Any) -> bytes:
    data = {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"thinking": thought, **fields}}}}
    return f"event: content-delta\ndata: {json.dumps(data)}\n\n".encode()


@pytest.mark.parametrize("other", [_thinking(""), _thinking("x", text="y"), _thinking("x", text="")])
def test_a_thought_of_cohere_has_a_form(other: bytes) -> None:
    parser = sp.StreamParser("cohere")
    events = [event for piece in map(_thinking, "abcd") for event in parser.feed(piece)]
    assert events == [sp.ReasoningDelta(text) for text in "abcd"]
    assert parser._fast_path is not None
    form = parser._fast_path.template
    assert form is not None
    assert form.take(_thinking("e")) == "e"
    assert form.take(other) is None
    pieces = [*map(_thinking, "abc"), other, *map(_thinking, "de")]
    expected = merged(events_of(sp.StreamParser("cohere"), in_pieces(b"".join(pieces), 1)))
    for reads in (pieces, [b"".join(pieces)], [pieces[0], b"".join(pieces[1:])]):
        assert merged(events_of(sp.StreamParser("cohere"), reads)) == expected


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


def _summary(text: str, thought: str | None = None, **fields: Any) -> bytes:
    return (
        _detail(text, thought, **fields)
        .replace(b"reasoning.text", b"reasoning.summary")
        .replace(b'"text"', b'"summary"')
    )


@pytest.mark.parametrize("other", [_summary("x", "y"), _summary("x", index=1), _summary("x", data="d"), _detail("x")])
def test_a_summary_that_a_message_holds_twice_is_read_as_once(other: bytes) -> None:
    pieces = [*map(_summary, ["a", "b", "c", '"d']), other, *map(_summary, "ef"), FINISH, DONE]
    expected = events_of(sp.StreamParser("openai-chat"), in_pieces(b"".join(pieces), 1))
    for reads in (pieces, [b"".join(pieces)], [b"".join(pieces[:3]), b"".join(pieces[3:])]):
        assert merged(events_of(sp.StreamParser("openai-chat"), reads)) == merged(expected)


@pytest.mark.parametrize("make", [_detail, _summary])
def test_the_form_of_a_message_that_holds_its_string_twice_is_learnt(make: Callable[..., bytes]) -> None:
    parser = sp.StreamParser("openai-chat")
    events = [event for piece in map(make, "abcd") for event in parser.feed(piece)]
    assert "".join(event.text for event in events if isinstance(event, sp.ReasoningDelta)) == "abcd"
    assert parser._fast_path is not None
    form = parser._fast_path.template
    assert form is not None
    assert form.take(make("e")) == "e"
    assert form.take(make("e", "f")) is None
    assert form.take(make("")) is None
    assert form.take_run(make("g") + make("h") + make("i", "j"), 0, events.append) == 2 * len(make("g"))
    assert events[-2:] == ["g", "h"]


def _line(text: str, **fields: Any) -> bytes:
    message = {"role": "assistant", "content": text}
    line = {"model": "m", "created_at": f"2026-01-01T00:00:0{len(text)}Z", "message": message, "done": False, **fields}
    return json.dumps(line).encode() + b"\n"


@pytest.mark.parametrize(
    "other",
    [
        b"",
        b"\n",
        b"\n" + _line("a"),
        _line("a") * 2,
        _line("a")[:-1],
        _line("a")[:-1] + b"\r",
        _line("a").replace(b"{", b"{\n", 1),
        _line(""),
        _line("a", done=True),
        _line("a", done_reason="stop"),
        _line("a", eval_count=1),
        _line("a", eval_count="one"),
        _line("a", error="e"),
        _line("a", message={"content": "a", "thinking": "b"}),
        _line("a", message={"content": "a", "tool_calls": []}),
        _line("a", message={"content": 1}),
        _line("a", message={"content": "x" * 300}),
        _line("a").replace(b'"a"', b'"\\ud83d"'),
    ],
)
def test_a_line_among_lines_that_hold_one_string_is_read_as_in_pieces(other: bytes) -> None:
    limits = sp.Limits(max_line=300)
    pieces = [*map(_line, "ab"), other, *map(_line, "cd"), _line("", done=True)]
    expected, read = sp.StreamParser("ollama-chat", limits=limits), sp.StreamParser("ollama-chat", limits=limits)
    assert merged(events_of(read, pieces)) == merged(events_of(expected, in_pieces(b"".join(pieces), 1)))
    assert read.stats.frames == expected.stats.frames


@pytest.mark.parametrize("most", range(4 * len(_line("a")), 5 * len(_line("a")), 7))
def test_lines_end_at_the_limit_of_the_body(most: int) -> None:
    limits = sp.Limits(max_total=most)
    pieces = [*map(_line, "abcdef")]
    expected = merged(events_of(sp.StreamParser("ollama-chat", limits=limits), in_pieces(b"".join(pieces), 1)))
    for reads in (pieces, [*pieces[:2], b"".join(pieces[2:])]):
        assert merged(events_of(sp.StreamParser("ollama-chat", limits=limits), reads)) == expected


TEXTS = ["So ", "far", " all is", " prose.", " A <", " b", " <tool", "s and ", "`<tool_call>`", " is", " one.\n"]
CALL = ["<tool_call>", '{"name": "f", "arguments"', ": {}}", "</tool_call>", "\n"]
MARKED = [*CALL, "<think>", "hm", "</think>", " end"]


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
def test_a_long_read_of_alike_messages_is_told_as_one_by_one(field: str) -> None:
    texts = [*TEXTS * 40, *MARKED, *TEXTS * 40]
    pieces = [*(_frame({field: text}) for text in texts), _text("Done."), FINISH, DONE]
    alone = events_of(sp.StreamParser("openai-chat"), pieces)
    assert events_of(sp.StreamParser("openai-chat"), [pieces[0], b"".join(pieces[1:])]) == alone
    assert events_of(sp.StreamParser("openai-chat"), [b"".join(pieces)]) == alone


def test_a_thought_that_is_told_at_once_comes_after_the_text_that_was_held() -> None:
    thoughts = [_frame({"reasoning_content": f"thought {number}"}) for number in range(60)]
    pieces = [_text("See <"), *thoughts, _text("tool_call"), FINISH, DONE]
    alone = events_of(sp.StreamParser("openai-chat"), pieces)
    assert events_of(sp.StreamParser("openai-chat"), [b"".join(pieces)]) == alone
    assert text_of(alone) == "See <tool_call"


VALUE = json.dumps({"path": "a b", "text": 'He said: "no", \\ and {went} [away]' * 30, "n": [1, {"m": 2}]})
LIMITS = sp.Limits(max_call_args=500)


@pytest.mark.parametrize("limits", [sp.Limits(), LIMITS])
@pytest.mark.parametrize("size", [1, 3, 7])
@pytest.mark.parametrize("rest", ["", " ", " and more", "}"])
def test_a_long_read_of_arguments_is_told_as_one_by_one(limits: sp.Limits, size: int, rest: str) -> None:
    text = VALUE + rest
    pieces = [_call("f"), *(_arguments(text[at : at + size]) for at in range(0, len(text), size)), FINISH, DONE]
    alone = events_of(sp.StreamParser("openai-chat", limits=limits), pieces)
    assert events_of(sp.StreamParser("openai-chat", limits=limits), [b"".join(pieces)]) == alone
    assert calls_of(alone) == ([] if limits is LIMITS else [("f", json.loads(VALUE))])


def test_long_reads_of_two_calls_at_a_time_are_told_as_one_by_one() -> None:
    second = _arguments("x").replace(b'"index": 0, "function"', b'"index": 1, "function"')
    assert b'"index": 1' in second
    starts = [_call("a"), _call("b").replace(b'"tool_calls": [{"index": 0', b'"tool_calls": [{"index": 1')]
    pieces = [*starts, _arguments('{"t": "'), second.replace(b'"x"', b'"{\\"t\\": \\""')]
    pieces += [*[_arguments("word ")] * 80, *[second] * 80, *[_arguments("word ")] * 80, *[second] * 9]
    pieces += [_arguments('"}'), second.replace(b'"x"', b'"\\"}"'), FINISH, DONE]
    alone = events_of(sp.StreamParser("openai-chat"), pieces)
    assert events_of(sp.StreamParser("openai-chat"), [b"".join(pieces)]) == alone
    assert calls_of(alone) == [("a", {"t": "word " * 160}), ("b", {"t": "x" * 89})]


def test_long_reads_of_blocks_are_told_as_one_by_one() -> None:
    def event(kind: str, **fields: Any) -> bytes:
        return f"event: {kind}\ndata: {json.dumps({'type': kind, 'index': 0} | fields)}\n\n".encode()

    def delta(text: str) -> bytes:
        return event("content_block_delta", delta={"type": "input_json_delta", "partial_json": text})

    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    pieces = [event("message_start", message={}), event("content_block_start", content_block=call), delta("")]
    pieces += [*(delta(VALUE[at : at + 3]) for at in range(0, len(VALUE), 3)), event("content_block_stop")]
    pieces += [event("message_delta", delta={"stop_reason": "tool_use"}), event("message_stop")]
    alone = events_of(sp.StreamParser("anthropic"), pieces)
    assert events_of(sp.StreamParser("anthropic"), [b"".join(pieces)]) == alone
    assert calls_of(alone) == [("f", json.loads(VALUE))]
