"""What is kept from one call, or from one read, to the next: three of each, for two tell too little."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cuts import calls_of, events_of, text_of

import streamparse as sp
from streamparse.reading.decode import rejoin_pairs

DONE = b"data: [DONE]\n\n"


def _chunk(**delta: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


def _fragment(index: int, **parts: Any) -> bytes:
    return _chunk(tool_calls=[{"index": index, **parts}])


@pytest.mark.parametrize("marker", [[DONE], [DONE[:7], DONE[7:]], [b": ping\n\n" + DONE]])
def test_text_behind_the_end_marker_is_not_told_though_it_is_like_the_text_before(marker: list[bytes]) -> None:
    parser = sp.StreamParser("openai-chat")
    said = [_chunk(content=word) for word in ("one ", "two ", "three ")]
    assert text_of(event for chunk in said for event in parser.feed(chunk)) == "one two three "
    for piece in marker:
        assert parser.feed(piece) == []
    for chunk in said:
        assert parser.feed(chunk) == []
    assert parser.response.content == "one two three "


def test_the_room_for_arguments_without_a_name_is_free_again_for_the_next_call() -> None:
    arguments = '{"city":"Paris"}'
    limits = sp.Limits(max_call_args=len(arguments) + 4)
    frames = [
        frame
        for index in range(3)
        for frame in (
            _fragment(index, id=f"c{index}", function={"arguments": arguments}),
            _fragment(index, function={"name": "get_weather"}),
        )
    ]
    events = events_of(sp.StreamParser("openai-chat", limits=limits), [*frames, _chunk(), DONE])
    assert calls_of(events) == [("get_weather", {"city": "Paris"})] * 3
    assert not [event for event in events if isinstance(event, sp.Error)]


def test_no_more_halves_of_characters_move_to_a_message_than_it_ends_in() -> None:
    before = rb'{"a":"x \ud83c"}'
    behind = rb'{"b":"\udf89 y","c":"\udf89 z","d":"\udf89"}'
    joined, rest = rejoin_pairs(before, behind)
    assert json.loads(joined) == {"a": "x \N{PARTY POPPER}"}
    assert rest == rb'{"b":" y","c":"\udf89 z","d":"\udf89"}'


def test_a_half_that_none_waits_for_stands_for_itself() -> None:
    frames = [
        rb'data: {"choices":[{"index":0,"delta":{"content":"a \ud83c"}}]}',
        rb'data: {"choices":[{"index":0,"delta":{"content":"\udf89!","refusal":"\udf89?"}}]}',
    ]
    parser = sp.StreamParser("openai-chat")
    events_of(parser, [frame + b"\n\n" for frame in frames])
    assert parser.response.content == "a \N{PARTY POPPER}!"
    assert parser.response.refusal == "\N{REPLACEMENT CHARACTER}?"
