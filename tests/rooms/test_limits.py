"""Every limit, through a whole parser: at one less and at the bound nothing happens, at one more its error comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from cuts import calls_of, events_of, in_pieces, merged

import streamparse as sp


def _frame(delta: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


def _fragment(index: int, arguments: str, name: str | None = "f", id: str | None = None) -> dict[str, Any]:
    return {"index": index, "id": id or f"id{index}", "function": {"name": name, "arguments": arguments}}


def _call(arguments: str, name: str = "f", id: str = "i") -> bytes:
    return _frame({"tool_calls": [_fragment(0, arguments, name, id)]}) + END


END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
STOP = END.replace(b"tool_calls", b"stop")


def _padded_line(size: int) -> bytes:
    """A stream whose longest line has `size` bytes."""
    line = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}'
    return line + b" " * (size - len(line)) + b"\n\n" + END


def _padded_event(size: int) -> bytes:
    """A stream whose longest event has `size` bytes of data over two lines."""
    data = b'{"choices":[{"index":0,"delta":{"content":"x"}}]}'
    return b"data: " + data + b"\ndata: " + b" " * (size - len(data) - 1) + b"\n\n" + END


def _padded_total(size: int) -> bytes:
    return END + b":" * (size - len(END) - 1) + b"\n"


def _open_calls(count: int) -> bytes:
    return b"".join(_frame({"tool_calls": [_fragment(number, '{"a":')]}) for number in range(count)) + END


def _calls(count: int) -> bytes:
    return b"".join(_frame({"tool_calls": [_fragment(number, '{"a":1}')]}) for number in range(count)) + END


def _two_open_calls(size: int) -> bytes:
    """Two calls, both open, with `size` characters of arguments together."""
    parts = [_frame({"tool_calls": [_fragment(index, text)]}) for index, text in ((0, '{"a"'), (1, '{"b"'))]
    return b"".join(parts) + _frame({"tool_calls": [_fragment(1, " " * (size - 8), None)]}) + END


class Case(NamedTuple):
    """A limit, the stream that needs exactly `size` of it, and what one more means."""

    stream: Callable[[int], bytes]
    size: int
    code: str
    scope: str


CASES = {
    "max_line": Case(_padded_line, 300, "limit_line", "stream"),
    "max_event": Case(_padded_event, 300, "limit_event", "stream"),
    "max_total": Case(_padded_total, 300, "limit_total", "stream"),
    "max_pending": Case(_two_open_calls, 1000, "limit_pending", "stream"),
    "max_call_args": Case(lambda size: _call('{"a":"' + "x" * (size - 8) + '"}'), 50, "limit_args", "call"),
    "max_open_calls": Case(_open_calls, 5, "limit_open_calls", "stream"),
    "max_calls": Case(_calls, 5, "limit_calls", "stream"),
    "max_markers": Case(lambda size: _frame({"content": "<tool_call>x " * size}) + STOP, 5, "limit_markers", "frame"),
    "max_depth": Case(
        lambda size: _call('{"a":' + "[" * (size - 1) + "]" * (size - 1) + "}"), 20, "json_depth", "call"
    ),
    "max_number": Case(lambda size: _call('{"a":' + "1" * size + "}"), 20, "json_number_too_long", "call"),
    "max_key": Case(lambda size: _call('{"' + "k" * size + '":1}'), 20, "json_key_too_long", "call"),
    "max_name": Case(lambda size: _call("{}", "n" * size), 20, "limit_name", "call"),
    "max_id": Case(lambda size: _call("{}", "n", "i" * size), 20, "limit_id", "call"),
}


def _parse(name: str, size: int, bound: int | None, cut: int) -> list[sp.Event]:
    parser = sp.StreamParser("openai-chat", limits=sp.Limits(**{name: bound}))
    return merged(events_of(parser, in_pieces(CASES[name].stream(size), cut)))


def _codes(events: list[sp.Event]) -> list[tuple[str, str]]:
    return [(event.scope, event.code) for event in events if isinstance(event, sp.Error)]


def test_every_limit_has_its_case() -> None:
    assert {*CASES, "max_held_text"} == {*sp.Limits.__struct_fields__}


@pytest.mark.parametrize("cut", [1, 7, 1 << 20])
@pytest.mark.parametrize("name", CASES)
def test_a_limit_counts_exactly(name: str, cut: int) -> None:
    _, bound, code, scope = CASES[name]
    for size in (bound - 1, bound):
        assert (scope, code) not in _codes(_parse(name, size, bound, cut)), size
    events = _parse(name, bound + 1, bound, cut)
    assert (scope, code) in _codes(events)
    assert [event for event in events if isinstance(event, sp.Done)] == events[-1:]
    done = events[-1]
    assert isinstance(done, sp.Done)
    assert done.ok == (scope != "stream")


@pytest.mark.parametrize("name", CASES)
def test_without_a_limit_nothing_is_refused(name: str) -> None:
    assert not {code for _, code in _codes(_parse(name, CASES[name].size + 1, None, 1 << 20))} & {CASES[name].code}


@pytest.mark.parametrize("name", CASES)
def test_after_a_stream_limit_nothing_more_comes_and_every_call_is_closed(name: str) -> None:
    events = _parse(name, CASES[name].size + 1, CASES[name].size, 7)
    started = [event.index for event in events if isinstance(event, sp.ToolCallStart)]
    closed = [event.index for event in events if isinstance(event, sp.ToolCallComplete)]
    broken = [event.index for event in events if isinstance(event, sp.Error) and event.scope == "call"]
    assert sorted(started) == sorted(closed + broken)


def test_a_call_that_is_too_long_is_dropped_and_the_stream_goes_on() -> None:
    stream = (
        _frame({"tool_calls": [_fragment(0, '{"a":"' + "x" * 100)]})
        + _frame({"tool_calls": [_fragment(0, "x" * 100 + '"}', None)]})
        + _frame({"tool_calls": [_fragment(1, '{"b":1}')]})
        + END
    )
    parser = sp.StreamParser("openai-chat", limits=sp.Limits(max_call_args=50))
    events = events_of(parser, [stream])
    assert calls_of(events) == [("f", {"b": 1})]
    assert _codes(events) == [("call", "limit_args")]
    assert parser.response.ok


TOOLS = [{"name": "f", "parameters": {"type": "object", "properties": {}}}]


@pytest.mark.parametrize("cut", [1, 7, 1 << 20])
def test_text_without_a_marker_is_withheld_no_longer_than_it_may_be(cut: int) -> None:
    text = '{"arguments": {"a": "' + "x" * 300  # the name may follow; another key would show that it is no call
    parser = sp.TextParser(tools=TOOLS, limits=sp.Limits(max_held_text=100))
    told = "".join(
        event.text for piece in in_pieces(text, cut) for event in parser.feed(piece) if isinstance(event, sp.TextDelta)
    )
    assert told == text
    held = sp.TextParser(tools=TOOLS, limits=sp.Limits(max_held_text=None))
    assert [event for piece in in_pieces(text, cut) for event in held.feed(piece)] == []
    assert merged(held.close())[:-1] == [sp.TextDelta(text)]


@pytest.mark.parametrize("piece", [100, 1000, 4000])
def test_open_calls_share_one_limit_however_long_each_has_gone_on_alone(piece: int) -> None:
    sizes = [0, 0]
    parser = sp.StreamParser("openai-chat", limits=sp.Limits(max_pending=20_000))
    parser.feed(_frame({"tool_calls": [_fragment(0, '{"a":"'), _fragment(1, '{"a":"')]}))
    errors: list[sp.Error] = []
    number = 0
    while not errors:
        events = parser.feed(_frame({"tool_calls": [_fragment(number % 2, "x" * piece, None)]}))
        told = [event for event in events if isinstance(event, sp.ToolCallDelta)]
        sizes[number % 2] += sum(len(event.arguments) for event in told)
        errors = [event for event in events if isinstance(event, sp.Error)]
        number += 1
    assert errors[0].code == "limit_pending"
    assert sum(sizes) == 20_000 - 2 * len('{"a":"')
