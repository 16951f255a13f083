"""OpenAI Responses: what holds for all of its streams; each deviation has a golden stream of its own."""

from __future__ import annotations

import json

import pytest
from cuts import calls_of, events_of, merged, plain, reasoning_of, text_of
from fixture_streams import NAMES, make_parser, read_body

import streamparse as sp

STREAMS = [name for name in NAMES if name.startswith("responses-")]


def _parser(name: str, wire: str = "openai-responses") -> sp.StreamParser:
    return make_parser(name, wire=wire)


def _blocks(name: str) -> list[bytes]:
    return [block + b"\n\n" for block in read_body(name).split(b"\n\n") if block.strip()]


@pytest.mark.parametrize("name", STREAMS)
def test_the_first_event_shows_the_wire(name: str) -> None:
    body = read_body(name)
    parser = _parser(name, "auto")
    assert plain(events_of(parser, [body])) == plain(events_of(_parser(name), [body]))
    assert parser.wire == "openai-responses"


@pytest.mark.parametrize("name", STREAMS)
def test_a_close_event_tells_nothing_that_deltas_told(name: str) -> None:
    blocks = _blocks(name)
    once = merged(events_of(_parser(name), blocks))
    closing = [block for block in blocks if b'.done"' in block.partition(b"sequence_number")[0]]
    body = [piece for block in blocks for piece in ([block, block] if block in closing else [block])]
    twice = merged(events_of(_parser(name), body))
    assert (text_of(twice), reasoning_of(twice), calls_of(twice)) == (text_of(once), reasoning_of(once), calls_of(once))


def _numbers(name: str) -> list[int | None]:
    return [
        json.loads(block.partition(b"data: ")[2]).get("sequence_number")
        for block in _blocks(name)
        if b"data: {" in block
    ]


def _good(events: list[sp.Event]) -> list[sp.Event]:
    return merged(event for event in events if not isinstance(event, (sp.Error, sp.Done)))


def test_every_numbered_event_sent_again_is_dropped_with_an_error() -> None:
    numbered = [name for name in STREAMS if (n := _numbers(name)) == list(range(len(n))) and n[5:]]
    assert len(numbered) > 10
    for name in numbered:
        blocks = _blocks(name)
        again = _parser(name)
        events = events_of(again, [*blocks[:3], *(block for block in blocks[3:] for _ in "12")])
        assert _good(events) == _good(events_of(_parser(name), blocks)), name
        assert any(error.code == "duplicate_frame" for error in again.response.errors), name


def test_a_call_completes_in_the_very_piece_that_closes_its_arguments() -> None:
    name = "responses-text-goes-on-between-calls-that-are-done-at-the-end.sse"
    parser = _parser(name)
    completed = [
        block for block in _blocks(name) if any(isinstance(event, sp.ToolCallComplete) for event in parser.feed(block))
    ]
    assert [b"function_call_arguments.delta" in block for block in completed] == [True, True]


def test_no_prefix_of_a_stream_completes_a_call_that_the_stream_does_not() -> None:
    for name in STREAMS:
        blocks = _blocks(name)
        whole = calls_of(events_of(_parser(name), blocks))
        for end in range(len(blocks)):
            calls = calls_of(events_of(_parser(name), blocks[:end]))
            assert calls == whole[: len(calls)], (name, end)


@pytest.mark.parametrize("half", [rb"\ud83d", b"\xf0", b"\xff"])
def test_a_frame_with_half_a_character_keeps_its_items(half: bytes) -> None:
    body = (
        b'data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","call_id":"c",'
        b'"name":"f","arguments":"{\\"a\\": \\"' + half + b'\\"}"}}\n\n'
        b'data: {"type":"response.completed","response":{"status":"completed"}}\n\n'
    )
    parser = sp.StreamParser("openai-responses")
    assert calls_of(events_of(parser, [body])) == [("f", {"a": "\ufffd"})]


def test_arguments_that_are_done_before_their_item_is_known_make_no_call_where_the_body_is_cut() -> None:
    done = (
        b'data: {"type":"response.function_call_arguments.done","item_id":"f1","output_index":0,'
        b'"arguments":"{}","name":"n"}\n\n'
    )
    item = (
        b'data: {"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"f1",'
        b'"call_id":"c","name":"n","arguments":"{}","status":"completed"}}\n\n'
    )
    end = b'data: {"type":"response.completed","response":{"id":"r","status":"completed"}}\n\n'
    for body, ids, codes in (
        (done, [], ["orphan_arguments", "stream_truncated"]),
        (done + item, ["c"], ["stream_truncated"]),
        (done + item + end, ["c"], []),
        (done + end, ["f1"], []),
    ):
        parser = sp.StreamParser("openai-responses")
        parser.feed(body)
        parser.close()
        assert [call.id for call in parser.response.tool_calls] == ids
        assert [error.code for error in parser.response.errors] == codes


def _event(number: int, kind: str, **fields: object) -> bytes:
    return b"data: " + json.dumps({"type": f"response.{kind}", "sequence_number": number} | fields).encode() + b"\n\n"


def _message_item(index: int, first: int, *words: str) -> list[bytes]:
    """The events of a message, numbered from `first`."""
    item = {"type": "message", "id": f"m{index}", "role": "assistant", "content": []}
    deltas = [
        _event(number, "output_text.delta", item_id=f"m{index}", output_index=index, content_index=0, delta=word)
        for number, word in enumerate(words, first + 1)
    ]
    return [_event(first, "output_item.added", output_index=index, item=item), *deltas]


def test_an_item_that_was_never_heard_of_may_begin_the_numbers_anew() -> None:
    end = _event(9, "completed", response={"id": "r", "status": "completed"})
    blocks = [
        _event(0, "created", response={"id": "r"}),
        *_message_item(0, 1, "one", " two"),
        *_message_item(1, 0, " 3"),
    ]
    parser = sp.StreamParser("openai-responses")
    assert text_of(events_of(parser, [*blocks, end])) == "one two 3"
    assert parser.response.errors == []


def test_items_that_a_resumed_stream_begins_again_are_dropped() -> None:
    end = _event(4, "completed", response={"id": "r", "status": "completed"})
    blocks = [_event(0, "created", response={"id": "r"}), *_message_item(0, 1, "one", " two")]
    parser = sp.StreamParser("openai-responses")
    assert text_of(events_of(parser, [*blocks, *blocks[1:], end])) == "one two"
    assert [error.code for error in parser.response.errors] == ["duplicate_frame"] * 3


def test_an_event_that_an_item_overtook_comes_late_and_is_no_double() -> None:
    first, second = _message_item(0, 1, "one", " two"), _message_item(1, 4, " 4")
    parser = sp.StreamParser("openai-responses")
    text = text_of(events_of(parser, [_event(0, "created", response={"id": "r"}), *first[:2], second[0], first[2]]))
    assert (text, [error.code for error in parser.response.errors[:2]]) == (
        "one two",
        ["missing_frame", "out_of_order"],
    )


@pytest.mark.parametrize(("kind", "is_good"), [("completed", True), ("incomplete", True), ("failed", False)])
def test_a_response_without_a_status_ends_as_its_last_event_says(kind: str, is_good: bool) -> None:
    for end in ({"type": f"response.{kind}", "response": {"id": "r"}}, {"type": f"response.{kind}"}):
        parser = sp.StreamParser("openai-responses")
        events = events_of(parser, [b"data: " + json.dumps(end).encode() + b"\n\n"])
        assert [event for event in events if isinstance(event, sp.Done)] == [sp.Done(kind, None, ok=is_good)]
