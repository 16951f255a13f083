"""Reads of several messages, and of parts of them: the same answers as one by one, for the same work."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from call_counts import count_calls
from cuts import cut_at, events_of, in_pieces, merged, text_of

import streamparse as sp
from streamparse.frames import SSE, AWSEventStream, Framer, JSONArray, json_framers
from streamparse.parser.fast_path import FastPath

DONE = b"data: [DONE]\n\n"
KEPT = 20
"""Messages of a stream."""


def chat(**delta: Any) -> bytes:
    return b"data: %s\n\n" % json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode()


def anthropic(number: int) -> bytes:
    delta = {"type": "text_delta", "text": f"{number} "}
    data = json.dumps({"type": "content_block_delta", "index": 0, "delta": delta})
    return f"event: content_block_delta\ndata: {data}\n\n".encode()


def gemini(number: int) -> bytes:
    content = {"role": "model", "parts": [{"text": f"{number} "}]}
    return b"data: %s\r\n\r\n" % json.dumps({"candidates": [{"content": content}]}).encode()


def ollama(number: int) -> bytes:
    return json.dumps({"message": {"role": "assistant", "content": f"{number} "}, "done": False}).encode() + b"\n"


def changing(number: int) -> bytes:
    return chat(content=f"{number} ").replace(b"}\n", b', "noise": %d}\n' % number)


STREAMS: dict[str, tuple[str, Callable[[int], bytes]]] = {
    "openai-chat": ("openai-chat", lambda number: chat(content=f"{number} ")),
    "openai-chat, no two alike": ("openai-chat", changing),
    "anthropic": ("anthropic", anthropic),
    "gemini": ("gemini", gemini),
    "ollama-chat": ("ollama-chat", ollama),
}


def messages_of(name: str, count: int = KEPT) -> tuple[str, list[bytes]]:
    wire, message = STREAMS[name]
    return wire, [message(number) for number in range(count)]


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("size", [2, 3, 8, KEPT])
def test_messages_of_one_read_are_read_as_alone(name: str, size: int) -> None:
    wire, messages = messages_of(name)
    alone, together = sp.StreamParser(wire), sp.StreamParser(wire)
    expected = events_of(alone, messages)
    reads = [b"".join(messages[at : at + size]) for at in range(0, KEPT, size)]
    assert events_of(together, reads) == expected
    assert together.stats == alone.stats


@pytest.mark.parametrize("name", STREAMS)
def test_each_message_is_told_in_the_read_that_ends_it(name: str) -> None:
    wire, messages = messages_of(name)
    body = b"".join(messages)
    for piece in (40, 100, 300):
        parser, fed, told = sp.StreamParser(wire), 0, ""
        for read in in_pieces(body, piece):
            fed += len(read)
            told += text_of(parser.feed(read))
            whole = sum(len(b"".join(messages[: at + 1])) <= fed for at in range(KEPT))
            assert told == "".join(f"{number} " for number in range(whole))
            assert (parser.stats.bytes, parser.stats.frames) == (fed, whole)


@pytest.mark.parametrize("size", [1, 2, 3, 9])
@pytest.mark.parametrize("stop", ["stop_at_marker", "stop_when_sealed"])
def test_of_a_read_nothing_behind_the_marker_counts(size: int, stop: str) -> None:
    messages = [chat(content=f"{number} ") for number in range(4)] + [DONE, chat(content="late"), chat(content="later")]
    reads = [b"".join(messages[at : at + size]) for at in range(0, len(messages), size)]
    parser = sp.StreamParser("openai-chat")
    getattr(parser, stop)()
    events = []
    for read in reads:
        events += parser.feed(read)
        if parser.sealed:
            break
    assert text_of(events) == "0 1 2 3 "
    assert parser.close()[-1] == sp.Done(None, None, True)


@pytest.mark.parametrize("again", [chat(content="a") + DONE, DONE])
def test_an_answer_that_goes_on_behind_its_marker_is_not_read(again: bytes) -> None:
    start = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
    first = f"event: message_start\ndata: {json.dumps(start)}\n\n".encode()
    stop = b'event: message_stop\ndata: {"type": "message_stop"}\n\n'
    parser = sp.StreamParser("anthropic")
    parser.stop_at_marker()
    events = parser.feed(first + anthropic(1)) + parser.feed(anthropic(2) + stop + anthropic(3) + again)
    assert text_of(events) == "1 2 "


def test_an_answer_that_went_on_behind_its_marker_is_read_no_further_once_the_parser_is_to_stop_there() -> None:
    stop = b'event: message_stop\ndata: {"type": "message_stop"}\n\n'
    parser = sp.StreamParser("anthropic")
    events = parser.feed(anthropic(1)) + parser.feed(stop) + parser.feed(anthropic(2)) + parser.feed(anthropic(3))
    assert text_of(events) == "1 2 3 "
    parser.stop_at_marker()
    assert parser.feed(anthropic(4)) == []


@pytest.mark.parametrize("size", [1, 2, 6])
@pytest.mark.parametrize(
    ("other", "told"),
    [
        ({"content": "", "reasoning": "b"}, [sp.TextDelta("aaa"), sp.ReasoningDelta("b"), sp.TextDelta("c")]),
        ({"content": "b", "new": "x"}, [sp.TextDelta("aaabc")]),
        ({"content": ""}, [sp.TextDelta("aaac")]),
    ],
    ids=["a thought beside empty content", "a field that is not known", "empty content"],
)
def test_a_form_is_not_taken_for_that_of_another_message(
    other: dict[str, str], told: list[sp.Event], size: int
) -> None:
    messages = [*[chat(content="a")] * 3, chat(**other), chat(content="c")]
    reads = [b"".join(messages[at : at + size]) for at in range(0, len(messages), size)]
    parser = sp.StreamParser("openai-chat")
    assert merged([event for read in reads for event in parser.feed(read)]) == told


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("limit", ["max_total", "max_event"])
def test_a_limit_in_the_middle_of_a_read_is_met_at_the_same_byte(name: str, limit: str) -> None:
    wire, messages = messages_of(name)
    if limit == "max_event":
        messages[9] = messages[9].replace(b"9 ", b"9" * 400)
    limits = sp.Limits(**{limit: len(b"".join(messages)) // 2 if limit == "max_total" else 300})
    body = b"".join(messages)
    slow = sp.StreamParser(wire, limits=limits)
    expected = merged(events_of(slow, in_pieces(body, 1)))
    assert any(isinstance(event, sp.Error) for event in expected)
    for size in (1, 2, 8, KEPT):
        reads = [b"".join(messages[at : at + size]) for at in range(0, KEPT, size)]
        assert merged(events_of(sp.StreamParser(wire, limits=limits), reads)) == expected
    for piece in (100, 1400):
        assert merged(events_of(sp.StreamParser(wire, limits=limits), in_pieces(body, piece))) == expected


@pytest.mark.parametrize("name", STREAMS)
def test_a_failure_of_the_transport_is_behind_the_last_byte(name: str) -> None:
    wire, messages = messages_of(name)
    body = b"".join(messages)[:-5]
    for piece in (1, 50, 400, len(body)):
        parser = sp.StreamParser(wire)
        for read in in_pieces(body, piece):
            parser.feed(read)
        failure = parser.abort("transport_error", "the peer is gone")[0]
        assert isinstance(failure, sp.Error)
        assert failure.offset == len(body)


@pytest.mark.parametrize("name", STREAMS)
def test_what_is_not_plain_stands_anywhere_in_a_read(name: str) -> None:
    wire, messages = messages_of(name)
    odd = b"\n\n\n" if wire == "ollama-chat" else b": a comment\n\n"
    if wire == "gemini":
        odd = b": a comment\r\n\r\n"
    for at in (0, 1, 7, KEPT):
        body = [*messages[:at], odd, odd, odd, *messages[at:]]
        for size in (2, 5, 30):
            reads = [b"".join(body[at : at + size]) for at in range(0, len(body), size)]
            assert text_of(events_of(sp.StreamParser(wire), reads)) == "".join(f"{n} " for n in range(KEPT))


@pytest.mark.parametrize("name", STREAMS)
def test_a_message_that_a_read_cuts_is_not_made_a_frame(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wire, messages = messages_of(name)
    fed = 0
    framer = type(_framer_of(wire, messages[0]))
    feed = framer.feed

    def counted(self: Framer, chunk: bytes) -> Any:
        nonlocal fed
        fed += 1
        return feed(self, chunk)

    monkeypatch.setattr(framer, "feed", counted)
    size = len(messages[0]) * 5 // 2
    parser = sp.StreamParser(wire)
    reads = in_pieces(b"".join(messages), size)
    for read in reads:
        parser.feed(read)
    # Before the fast path is open, and where a cut separates the last LF from the CR that has ended the event.
    assert fed <= 2 + 2 * sum(read.endswith(b"\n\r") for read in reads)


def _framer_of(wire: str, message: bytes) -> Framer:
    parser = sp.StreamParser(wire)  # type: ignore[arg-type]
    parser.feed(message)
    return parser._framer


@pytest.mark.parametrize("ends", [b"\n\n", b"\r\n\r\n"], ids=["LF", "CRLF"])
def test_a_long_message_in_small_reads_is_searched_a_few_times(ends: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = 0
    take_next = FastPath.take_next

    def counted(self: FastPath, data: bytes, at: int) -> int:
        nonlocal searched
        searched += len(data)
        return take_next(self, data, at)

    monkeypatch.setattr(FastPath, "take_next", counted)
    body = b"".join([chat(content="a"), chat(content="b" * 20_000), chat(content="c")]).replace(b"\n\n", ends)
    parser = sp.StreamParser("openai-chat")
    assert text_of(events_of(parser, in_pieces(body, 16))) == "a" + "b" * 20_000 + "c"
    assert searched <= 8 * len(body)


def test_the_framers_hold_back_no_whole_message() -> None:
    framer = SSE(sp.Limits())
    framer.feed(b"data: 1\n\n")
    assert [framer.can_wait(rest) for rest in (b"data: {", b"event: x", b"da", b"x", b"data: 1\r\n")] == [True] * 5
    whole = (b"x: y\nda", b"x: y\n", b'{"error": 1}\n', b"data: 1\n\ndata", b"data: 1\n\r", b"data: 1\r\r")
    assert not any(framer.can_wait(rest) for rest in whole)
    framer.feed(b"data: half")
    assert not framer.can_wait(b"data: {")
    short = SSE(sp.Limits(max_line=10))
    short.feed(b"data: 1\n\n")
    assert not short.can_wait(b"data: 1234567890")
    array = JSONArray(sp.Limits())
    assert not array.can_wait(b'{"a": 1')
    array.feed(b"[")
    assert all(array.can_wait(rest) for rest in (b'{"a": 1', b',\r\n{"a": [{}, "}', b"\n,{"))
    whole = (b'{"a": 1}', b'{"a": 1},{"b"', b',x{"a"', b'{"a": NaN', b"]", b'{"a":' * 100_000)
    assert not any(array.can_wait(rest) for rest in whole)
    array.feed(b'{"a"')
    assert not array.can_wait(b'{"a": 1')
    binary = AWSEventStream(sp.Limits())
    assert binary.can_wait(b"\0\0\0")
    assert not binary.can_wait(b"\0\0\0\x40" + bytes(20))


@pytest.mark.parametrize("between", [b"\n,\r\n", b"\n,\n", b",", b",\n", b"\n,\r\n,\n", b"\r\n,\r\n"])
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_whatever_stands_between_elements_each_comes_at_its_end(between: bytes, line_end: bytes) -> None:
    def element(number: int) -> bytes:
        candidate = {"content": {"parts": [{"text": f"{number}}}\n,"}]}, "index": 0}
        return json.dumps({"candidates": [candidate]}, indent=1).encode()

    # The separators of the first elements make a guess of those that follow.
    elements = [element(number) for number in range(9)]
    elements[6:] = [each.replace(b"\n", line_end) for each in elements[6:]]
    body = b"[" + b"\n,\r\n".join([*elements[:4], between.join(elements[4:])]) + b"]"
    ends = [body.index(each) + len(each) for each in elements]
    for size in (1, 50, 200, 300, 1000, len(body)):
        parser, texts = sp.StreamParser("gemini"), 0
        for at in range(0, len(body), size):
            texts += len(parser.feed(body[at : at + size]))
            assert texts == sum(end <= at + size for end in ends)


def test_a_cut_element_is_looked_at_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    skipped = 0

    def counted(data: bytes) -> object:
        nonlocal skipped
        skipped += len(data)
        return skip(data)

    skip = json_framers._skip
    monkeypatch.setattr(json_framers, "_skip", counted)
    text = {"candidates": [{"content": {"parts": [{"text": "b" * 20_000}]}, "index": 0}]}
    body = b"[" + b"\n,\r\n".join([json.dumps(text).encode()] * 3)
    parser = sp.StreamParser("gemini")
    assert text_of(events_of(parser, in_pieces(body, 1000))) == "b" * 60_000
    assert 0 < skipped <= 8 * len(body)


@pytest.mark.parametrize("size", [1, 8])
def test_text_is_fed_without_the_garbage_collector(size: int) -> None:
    reads = [b"".join(chat(content=f"{at + number} ") for number in range(size)) for at in range(0, 80, size)]
    parser = sp.StreamParser("openai-chat")
    for read in reads:
        parser.feed(read)
    collections = 0

    def note(phase: str, _info: dict[str, int]) -> None:
        nonlocal collections
        collections += phase == "start"

    usual = gc.get_threshold()
    gc.collect()
    gc.set_threshold(140)  # a fifth of the usual one, so that a fifth of the messages tells as much
    gc.callbacks.append(note)
    try:
        for _ in range(20_000 // 80):
            for read in reads:
                parser.feed(read)
    finally:
        gc.callbacks.remove(note)
        gc.set_threshold(*usual)
    assert collections == 0


def test_an_array_is_read_several_elements_at_a_time() -> None:
    elements = [json.dumps({"candidates": [{"content": {"parts": [{"text": f"{n} "}]}}]}) for n in range(KEPT)]
    body = ("[" + "\n,\r\n".join(elements) + "]").encode()
    expected = merged(events_of(sp.StreamParser("gemini"), in_pieces(body, 1)))
    for places in ([200], [90, 91, 400], range(100, len(body), 173)):
        assert merged(events_of(sp.StreamParser("gemini"), cut_at(body, places))) == expected


@pytest.mark.parametrize("frames", [2, 8])
def test_reads_of_several_messages_cost_about_the_same_if_the_parser_is_to_stop_at_the_end_marker(frames: int) -> None:
    def message(number: int) -> bytes:  # no two in a row have one form
        noise = {"x": number} if number % 3 else {}
        choice = {"index": 0, "delta": {"content": f"w{number} ", **noise}}
        return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"

    def count(stops: bool) -> int:
        parser = sp.StreamParser("openai-chat")
        if stops:
            parser.stop_at_marker()
        reads = [b"".join(map(message, range(at, at + frames))) for at in range(0, 20 * frames, frames)]
        for read in reads[:10]:
            parser.feed(read)
        return sum(count_calls(partial(parser.feed, read)) for read in reads[10:])

    assert count(stops=True) <= 1.4 * count(stops=False)


CALLS: dict[str, tuple[list[dict[str, Any]], Callable[[str], dict[str, Any]]]] = {
    "openai-chat": (
        [{"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f"}}]}}]}],
        lambda text: {
            "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": text}}]}}]
        },
    ),
    "anthropic": (
        [
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "a", "name": "f", "input": {}},
            }
        ],
        lambda text: {
            "type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": text}
        },
    ),
    "cohere": (
        [
            {
                "type": "tool-call-start",
                "index": 0,
                "delta": {"message": {"tool_calls": {"id": "a", "type": "function", "function": {"name": "f"}}}},
            },
            {"type": "tool-call-delta", "index": 0, "delta": {"message": {"tool_calls": {}}}},
        ],
        lambda text: {
            "type": "tool-call-delta",
            "index": 0,
            "delta": {"message": {"tool_calls": {"function": {"arguments": text}}}},
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("wire", CALLS)
@pytest.mark.parametrize("end", ['"}', '"}}', ""])
def test_the_fragments_of_a_call_in_one_long_read_are_told_as_alone(wire: str, end: str) -> None:
    start, fragment = CALLS[wire]
    texts = ['{"a":"', *(f"{number} " for number in range(300)), '\\"', "\\", "n", end, "late"]
    messages = [b"data: " + json.dumps(each).encode() + b"\n\n" for each in (*start, *map(fragment, texts))]
    alone, together = sp.StreamParser(wire), sp.StreamParser(wire)
    assert events_of(together, [b"".join(messages)]) == events_of(alone, messages)
    assert (together.response, together.stats) == (alone.response, alone.stats)


@pytest.mark.parametrize("field", ["content", "reasoning"])
@pytest.mark.parametrize("empty", [False, True])
def test_long_reads_of_text_are_told_as_alone(field: str, empty: bool) -> None:
    messages = [chat(**{field: "" if empty and number % 50 == 49 else f"{number} "}) for number in range(3000)]
    alone, together = sp.StreamParser("openai-chat"), sp.StreamParser("openai-chat")
    reads = [b"".join(messages[at : at + 600]) for at in range(0, len(messages), 600)]
    assert events_of(together, reads) == events_of(alone, messages)
    assert (together.response, together.stats) == (alone.response, alone.stats)
