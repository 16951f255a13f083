"""What the Anthropic wire promises beside its golden streams: when things are told, and that no cut makes a call."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from call_counts import count_calls
from cuts import assert_same_in_every_cut, calls_of, events_of, in_pieces, merged, text_of

import streamparse as sp

WEATHER = {"name": "get_weather", "input_schema": {"type": "object", "required": ["city"]}}
NOW = {"name": "now", "input_schema": {"type": "object", "properties": {}}}


def _event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def _delta(index: int, kind: str, **fields: Any) -> bytes:
    return _event("content_block_delta", index=index, delta={"type": kind, **fields})


def _start(index: int, **block: Any) -> bytes:
    return _event("content_block_start", index=index, content_block=block)


def _arguments(index: int, text: str) -> bytes:
    return _delta(index, "input_json_delta", partial_json=text)


def _stop(index: int) -> bytes:
    return _event("content_block_stop", index=index)


BEGIN = _event("message_start", message={"id": "msg", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}})
USED = _event("message_delta", delta={"stop_reason": "tool_use"}, usage={"output_tokens": 9})
END = _event("message_stop")
CALL = _start(0, type="tool_use", id="a", name="get_weather", input={})
TURN = BEGIN + CALL + _arguments(0, '{"city": ') + _arguments(0, '"Paris"}') + _stop(0) + USED + END


def _parser(**options: Any) -> sp.StreamParser:
    return sp.StreamParser("anthropic", **({"tools": [WEATHER, NOW]} | options))


def test_a_call_is_complete_in_the_feed_that_carries_its_closing_brace() -> None:
    parser = _parser()
    for piece in (BEGIN, CALL, _arguments(0, '{"city": ')):
        assert not calls_of(parser.feed(piece))
    assert calls_of(parser.feed(_arguments(0, '"Paris"}'))) == [("get_weather", {"city": "Paris"})]
    assert parser.feed(_stop(0)) == []


def test_a_call_without_arguments_is_complete_once_the_model_moved_on() -> None:
    parser = _parser()
    for piece in (BEGIN, _start(0, type="tool_use", id="a", name="now", input={}), _stop(0)):
        assert not calls_of(parser.feed(piece))
    assert calls_of(parser.feed(_start(1, type="text", text=""))) == [("now", {})]


def test_no_cut_at_any_byte_makes_a_call_that_the_whole_stream_does_not_have() -> None:
    whole = merged(events_of(_parser(), [TURN]))
    closing = TURN.index(b'\\"Paris\\"}')
    for end in range(len(TURN)):
        parser = _parser()
        events = merged(events_of(parser, [TURN[:end]]))
        assert isinstance(events[-1], sp.Done)
        assert calls_of(events) in ([], calls_of(whole))
        if end < closing:
            assert not calls_of(events)
            assert not events[-1].ok
        if calls_of(events) == [] and any(isinstance(event, sp.ToolCallStart) for event in events):
            assert [call.code for call in parser.response.broken_calls] == ["truncated_call"]


def test_a_call_whose_block_a_limit_cut_has_the_arguments_of_its_start() -> None:
    parser = _parser()
    used = _event("message_delta", delta={"stop_reason": "max_tokens"}, usage={"output_tokens": 9})
    for event in (BEGIN, _start(0, type="tool_use", id="a", name="get_weather", input={"city": "Paris"}), used, END):
        parser.feed(event)
    parser.close()
    assert [(call.name, call.arguments) for call in parser.response.tool_calls] == [("get_weather", {"city": "Paris"})]


def test_an_item_whose_block_was_cut_is_not_told() -> None:
    body = BEGIN + _start(0, type="server_tool_use", id="s", name="web_search", input={}) + _arguments(0, '{"query": "')
    parser = _parser()
    events = events_of(parser, [body])
    assert not [event for event in events if isinstance(event, sp.ProviderItem)]
    assert [error.code for error in parser.response.errors] == ["stream_truncated"]


def test_an_item_whose_input_was_cut_by_the_token_limit_keeps_it_as_text() -> None:
    cut = _event("message_delta", delta={"stop_reason": "max_tokens"}, usage={})
    body = BEGIN + _start(0, type="server_tool_use", name="web_search", input={}) + _arguments(0, '{"query": "') + cut
    (item,) = [event for event in assert_same_in_every_cut(_parser, body) if isinstance(event, sp.ProviderItem)]
    assert item.data["input"] == '{"query": "'


@pytest.mark.parametrize("frame", [BEGIN, CALL, _delta(0, "text_delta", text="x"), USED, END])
def test_any_first_event_shows_the_wire(frame: bytes) -> None:
    for body in (frame, frame.partition(b"\n")[2]):
        parser = sp.StreamParser("auto")
        parser.feed(body)
        assert parser.wire == "anthropic"


def test_a_ping_shows_no_wire() -> None:
    """Gateways keep connections of every wire alive with `{"type": "ping"}`."""
    parser = sp.StreamParser("auto")
    parser.feed(_event("ping"))
    assert parser.wire is None
    for wire, body in (("anthropic", BEGIN), ("openai-chat", b'data: {"choices":[]}\n\n')):
        parser = sp.StreamParser("auto")
        parser.feed(_event("ping").partition(b"\n")[2] + body)
        assert parser.wire == wire


def test_a_numbered_error_of_the_responses_api_is_not_claimed() -> None:
    parser = sp.StreamParser("auto")
    parser.feed(_event("error", sequence_number=1, error={"message": "no"}))
    assert parser.wire != "anthropic"


def test_messages_that_an_sdk_has_decoded_are_read_too() -> None:
    messages = [json.loads(line[6:]) for line in TURN.splitlines() if line.startswith(b"data: ")]
    parser = _parser()
    events = [event for message in messages for event in parser.feed(message)] + parser.close()
    assert merged(events) == merged(events_of(_parser(), [TURN]))


def test_a_whole_message_gives_the_calls_of_the_stream() -> None:
    block = {"type": "tool_use", "id": "a", "name": "get_weather", "input": {"city": "Paris"}}
    body = {"type": "message", "content": [block], "stop_reason": "tool_use", "usage": {"input_tokens": 1}}
    streamed = _parser()
    events_of(streamed, [TURN])
    parsed = sp.parse_response(body, tools=[WEATHER])
    assert [(call.id, call.name, call.arguments) for call in parsed.tool_calls] == [
        (call.id, call.name, call.arguments) for call in streamed.response.tool_calls
    ]
    assert (parsed.finish_reason, parsed.ok) == ("tool_use", True)


def test_input_that_belongs_to_no_call_is_bounded() -> None:
    parser = _parser(limits=sp.Limits(max_call_args=100))
    events = events_of(parser, [BEGIN, *[_arguments(3, "x" * 60)] * 2])
    assert [event.code for event in events if isinstance(event, sp.Error)] == ["limit_args", "stream_truncated"]


LONG: dict[str, list[bytes]] = {
    "a text of its start that grows": [_start(0, type="note", text="x" * 60), _delta(0, "more", text="x" * 60)],
    "several fields": [_start(0, type="note", a="", b=""), _delta(0, "more", a="x" * 60, b="x" * 60)],
    "a list": [_start(0, type="note", all=[]), *[_delta(0, "more", all=[0] * 60)] * 2],
    "one piece": [_start(0, type="server_tool_use", name="search"), _arguments(0, "x" * 101)],
}


@pytest.mark.parametrize("name", LONG)
def test_a_block_that_grows_too_long_is_one_error_and_what_follows_is_told(name: str) -> None:
    more = [_delta(0, "more", text="and more"), _arguments(0, "and more"), _stop(0)]
    ended = _event("message_delta", delta={"stop_reason": "end_turn"})
    other = [_start(1, type="note", text="short"), _stop(1), ended, END]
    body = b"".join([BEGIN, *LONG[name], *more, *other])
    events = assert_same_in_every_cut(lambda: _parser(limits=sp.Limits(max_call_args=100)), body)
    assert [event.data for event in events if isinstance(event, sp.ProviderItem)] == [{"type": "note", "text": "short"}]
    assert [event.code for event in events if isinstance(event, sp.Error)] == ["limit_args"]


def test_a_call_whose_first_arguments_were_too_long_is_not_told_with_the_rest_of_them() -> None:
    parser = _parser(limits=sp.Limits(max_call_args=100))
    events_of(parser, [BEGIN, _arguments(0, "x" * 101), CALL, _arguments(0, '{"city": "P"}'), _stop(0), USED, END])
    assert [(call.name, call.code) for call in parser.response.broken_calls] == [("get_weather", "limit_args")]
    assert parser.response.tool_calls == []


@pytest.mark.parametrize(
    "junk",
    [
        {"type": "content_block_start", "index": 0},
        {"type": "content_block_start", "index": [], "content_block": {"type": []}},
        {"type": "content_block_start", "content_block": {"type": "text", "text": 1, "citations": 2}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": 5, "name": {}}},
        {"type": "content_block_delta", "index": 0},
        {"type": "content_block_delta", "index": {}, "delta": {"type": ["odd"]}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta"}},
        {"type": "content_block_stop"},
        {"type": "message_start"},
        {"type": "message_start", "message": {"content": "text"}},
        {"type": "message_delta"},
        {"type": "message_delta", "delta": {"stop_reason": ["x"]}, "context_management": 1},
        {"type": "message", "content": [1]},
        {"type": "error"},
        {"type": "error", "error": 5},
        {"type": []},
        {},
    ],
)
def test_events_of_any_shape_raise_nothing_and_the_stream_goes_on(junk: dict[str, Any]) -> None:
    body = BEGIN + b"data: " + json.dumps(junk).encode() + b"\n\n" + TURN
    events = events_of(_parser(), in_pieces(body, 64))
    assert calls_of(events) == [("get_weather", {"city": "Paris"})]
    assert isinstance(events[-1], sp.Done)


def test_input_of_a_block_that_begins_as_text_is_an_error_and_the_text_is_read() -> None:
    text = [_start(0, type="text", text=""), _delta(0, "text_delta", text="Yes."), _stop(0)]
    ended = _event("message_delta", delta={"stop_reason": "end_turn"})
    for size, limits, code in ((9, sp.Limits(), "orphan_arguments"), (99, sp.Limits(max_call_args=50), "limit_args")):
        body = b"".join([BEGIN, _arguments(0, "x" * size), *text, ended, END])
        events = assert_same_in_every_cut(partial(_parser, limits=limits), body)
        assert [event.code for event in events if isinstance(event, sp.Error)] == [code]
        assert text_of(events) == "Yes."


def test_input_that_comes_before_the_start_of_its_item_is_in_the_item() -> None:
    tool = {"type": "server_tool_use", "id": "s", "name": "web_search"}
    for stop in (_stop(0), b""):
        body = BEGIN + _arguments(0, '{"q": 1}') + _start(0, **tool, input={}) + stop + USED + END
        events = assert_same_in_every_cut(_parser, body, most=20)
        assert [event for event in events if isinstance(event, sp.ProviderItem)] == [
            sp.ProviderItem("server_tool_use", tool | {"input": {"q": 1}}, 0)
        ]


def test_an_item_that_a_message_without_a_reason_leaves_open_is_told() -> None:
    parser = _parser()
    events = events_of(parser, [BEGIN, _start(0, type="redacted_thinking", data="x"), END])
    assert [event.kind for event in events if isinstance(event, sp.ProviderItem)] == ["redacted_thinking"]


def test_pieces_of_arguments_that_come_together_take_hardly_more_work_than_pieces_of_text() -> None:
    counts = []
    for start, begin, piece in (
        (_start(0, type="text", text=""), _delta(0, "text_delta", text="x"), _delta(0, "text_delta", text="xy")),
        (CALL, _arguments(0, '{"city": "') + _arguments(0, "x"), _arguments(0, "xy")),
    ):
        parser = _parser()
        parser.feed(BEGIN + start + begin)
        counts.append(count_calls(partial(parser.feed, piece * 100)))
    parser.feed(_arguments(0, '"}') + _stop(0) + USED + END)
    assert parser.response.tool_calls[0].arguments == {"city": "x" + "xy" * 100}
    assert counts[1] < 1.5 * counts[0]


def test_pieces_of_input_that_come_together_are_in_their_item() -> None:
    tool = {"type": "server_tool_use", "id": "s", "name": "web_search"}
    pieces = [_arguments(0, '{"q": "'), *[_arguments(0, "xy")] * 100, _arguments(0, '"}')]
    events = events_of(_parser(), [BEGIN, _start(0, **tool, input={}), b"".join(pieces), _stop(0) + USED + END])
    items = [event for event in events if isinstance(event, sp.ProviderItem)]
    assert items == [sp.ProviderItem("server_tool_use", tool | {"input": {"q": "xy" * 100}}, 0)]


def test_counts_that_are_null_replace_no_counts() -> None:
    parser = _parser()
    delta = {"stop_reason": "end_turn"}
    events_of(parser, [BEGIN, _event("message_delta", delta=delta, usage={"output_tokens": None}), END])
    assert parser.response.usage == {"input_tokens": 1, "output_tokens": 1}


@pytest.mark.parametrize("event", ["ping", "message_delta", "content_block_stop", "message_stop", "new_event"])
def test_an_error_in_any_event_is_an_error(event: str) -> None:
    parser = sp.StreamParser("anthropic")
    start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
    failed = {"type": event, "error": {"type": "overloaded_error", "message": "no luck"}}
    events = [each for message in (start, failed) for each in parser.feed(f"data: {json.dumps(message)}\n\n".encode())]
    assert [each.message for each in events if isinstance(each, sp.Error)] == ["overloaded_error: no luck"]
    assert not parser.close()[-1].ok
