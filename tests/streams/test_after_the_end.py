"""A parser that was closed: it takes nothing more, and closing it again gives nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import BaseModel

import streamparse as sp

TEXT = b'data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi."}}]}\n\n'


@pytest.mark.parametrize(
    ("make", "chunk"), [(lambda: sp.StreamParser("openai-chat"), TEXT), (lambda: sp.TextParser(()), "Hi.")]
)
@pytest.mark.parametrize("chunks", [0, 1, 5])
def test_a_closed_parser_takes_nothing_and_closes_but_once(make: Any, chunk: Any, chunks: int) -> None:
    parser = make()
    for _ in range(chunks):
        parser.feed(chunk)
    assert isinstance(parser.close()[-1], sp.Done)
    assert parser.close() == []
    with pytest.raises(RuntimeError, match="after close"):
        parser.feed(chunk)


@pytest.mark.parametrize("text", [b"Hi.", bytearray(b"Hi."), {"content": "Hi."}, None])
def test_a_parser_of_text_takes_nothing_else(text: Any) -> None:
    with pytest.raises(TypeError, match="must be str"):
        sp.TextParser(()).feed(text)


def test_a_closed_parser_is_not_aborted() -> None:
    parser = sp.StreamParser("openai-chat")
    assert isinstance(parser.close()[-1], sp.Done)
    assert parser.abort("transport_error", "too late") == []
    assert [error.code for error in parser.response.errors] == ["empty_body"]


def test_after_a_limit_nothing_comes_whatever_is_fed() -> None:
    class Broken(BaseModel):
        content: bytes

    parser = sp.StreamParser("openai-chat", limits=sp.Limits(max_total=5))
    assert isinstance(parser.feed(b"data: {}")[-1], sp.Done)
    assert parser.feed(Broken(content=b"\xff")) == parser.feed({"choices": []}) == []
    assert parser.abort("transport_error", "too late") == parser.close() == []


def test_a_text_that_met_a_limit_is_closed_without_another_end() -> None:
    parser = sp.TextParser(["hermes"], limits=sp.Limits(max_calls=0))
    events = parser.feed('<tool_call>{"name": "f", "arguments": {}}</tool_call>')
    assert [type(event) for event in events] == [sp.Error, sp.Done]
    assert parser.close(stopped=True) == []


def test_the_numbers_of_an_answer_do_not_change_when_asked_for_again() -> None:
    parser = sp.TextParser(tools=[{"name": "f", "parameters": {}}])
    parser.feed('As in `<tool_call>{"name": "f", "arguments": {}}</tool_call>`.')
    parser.close(stopped=True)
    assert parser.stats == parser.stats
    assert parser.stats.unread_calls == {"quoted": 1}


def test_a_text_that_met_a_limit_takes_no_more() -> None:
    parser = sp.TextParser(["hermes"], limits=sp.Limits(max_calls=0))
    parser.feed('<tool_call>{"name": "f", "arguments": {}}</tool_call>')
    response, stats = parser.response, parser.stats
    assert parser.feed("more") == []
    assert (parser.response, parser.stats, parser.response.content) == (response, stats, "")


def test_there_are_numbers_before_anything_is_known() -> None:
    stats = sp.StreamParser().stats
    assert (stats.bytes, stats.frames, stats.ignored_frames, stats.wire) == (0, 0, 0, None)


def test_after_its_end_marker_an_answer_ends_there_even_if_the_transport_fails_later() -> None:
    start = b'{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}'
    messages = [start, b'{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}', b"[DONE]"]
    body = b"".join(b"data: " + message + b"\n\n" for message in messages)
    tools = [{"name": "f", "parameters": {"required": ["a"]}}]
    parser = sp.StreamParser("openai-chat", tools=tools)
    parser.stop_at_marker()
    parser.feed(body)
    parser.feed(b": more\n\n")
    errors = [event for event in parser.abort("transport_error", "gone") if isinstance(event, sp.Error)]
    assert [(error.code, error.offset) for error in errors] == [
        ("transport_error", len(body) + len(b": more\n\n")),
        ("missing_arguments", body.index(b"[DONE]")),
    ]


def test_one_byte_behind_a_decoded_message_is_a_part_of_the_body() -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed({"choices": [{"index": 0, "delta": {"content": "Hi."}}]})
    parser.feed(b"{")
    assert [event.code for event in parser.close() if isinstance(event, sp.Error)] == [
        "json_truncated",
        "stream_truncated",
    ]


def test_a_body_is_not_called_empty_where_messages_came_or_the_network_failed() -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed({"choices": [{"index": 0, "delta": {"content": "Hi."}}]})
    assert [event.code for event in parser.close() if isinstance(event, sp.Error)] == ["stream_truncated"]
    parser = sp.StreamParser("openai-chat")
    parser.abort("transport_error", "connection reset")
    assert [error.code for error in parser.response.errors] == ["transport_error"]


AFTER: dict[str, tuple[Any, Any]] = {
    "openai-chat": ({"choices": [{"index": 0, "delta": {"content": "a"}}]}, "[DONE]"),
    "openai-completions": ({"choices": [{"index": 0, "text": "a"}]}, "[DONE]"),
    "cohere": ({"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": "a"}}}}, "[DONE]"),
    "ollama-chat": ({"message": {"content": "a"}, "done": False}, {"done": True, "done_reason": "stop"}),
    "ollama-generate": ({"response": "a", "done": False}, {"done": True, "done_reason": "stop"}),
}  # fmt: skip


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("wire", AFTER)
def test_what_comes_behind_the_end_marker_is_counted_and_gives_nothing(wire: str, several: bool) -> None:
    message, end = (
        f"{text}\n" if wire.startswith("ollama") else f"data: {text}\n\n"
        for text in (each if isinstance(each, str) else json.dumps(each) for each in AFTER[wire])
    )
    parser = sp.StreamParser(wire)  # type: ignore[arg-type]
    events = [event for _ in range(3) for event in parser.feed(message.encode())]
    assert (parser.over, parser.sealed, parser.can_go_on) == (False, False, True)
    events += parser.feed(end.encode())
    assert parser.over
    assert parser.can_go_on != parser.sealed
    for read in [message * 3] if several else [message] * 3:
        assert parser.feed(read.encode()) == []
    parser.close()
    assert (parser.response.content, parser.response.ok) == ("aaa", True)
    assert (parser.stats.frames, parser.stats.ignored_frames) == (7, 3)


def test_another_choice_is_counted_and_gives_nothing() -> None:
    for wire, said in (("openai-chat", {"delta": {"content": "b"}}), ("openai-completions", {"text": "b"})):
        parser = sp.StreamParser(wire)  # type: ignore[arg-type]
        for number in range(3):
            parser.feed({"choices": [{"index": number, **said}]})
        assert (parser.response.content, parser.stats.ignored_frames) == ("b", 2)


def test_a_failure_of_the_transport_behind_the_end_is_none() -> None:
    message = b'data: {"choices": [{"index": 0, "delta": {"content": "a"}}]}\n\n'
    closed, halted = sp.StreamParser("openai-chat"), sp.StreamParser("openai-chat", limits=sp.Limits(max_total=9))
    closed.feed(message)
    closed.close()
    halted.feed(message)
    for parser, code in ((closed, "stream_truncated"), (halted, "limit_total")):
        assert parser.abort("connection_lost", "reset") == []
        assert [error.code for error in parser.response.errors] == [code]


def test_decoded_messages_count_with_the_bytes_that_hold_them() -> None:
    parser = sp.StreamParser("openai-chat")
    message = {"choices": [{"index": 0, "delta": {"content": "a"}}]}
    parser.feed(message)
    size = parser.stats.bytes
    assert size > 40
    parser.feed(message)
    assert (parser.stats.bytes, parser.stats.frames) == (2 * size, 2)
