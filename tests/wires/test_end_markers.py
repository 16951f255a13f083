"""`StreamParser.over`: whether the wire's own end marker has come, at every byte."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import pytest
from cuts import in_messages, in_pieces, merged
from fixture_streams import NAMES, make_parser, read_body, read_index, read_tools

import streamparse as sp

SAID = b'data: {"choices": [{"index": 0, "delta": {"content": "Hi"}}]}\n\n'
FINISH = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
USAGE = b'data: {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}\n\n'
DONE = b"data: [DONE]\n\n"
LINE = b'{"message": {"role": "assistant", "content": "Hi"}, "done": false}\n'
LAST_LINE = b'{"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": "stop"}\n'
START = b'event: message_start\ndata: {"type": "message_start", "message": {"id": "m", "content": []}}\n\n'
TURN = b'event: message_delta\ndata: {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}\n\n'
STOP = b'event: message_stop\ndata: {"type": "message_stop"}\n\n'
CREATED = b'data: {"type": "response.created", "response": {"id": "r", "status": "in_progress"}}\n\n'
COMPLETED = b'data: {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": []}}\n\n'

BODIES = {
    "openai-chat": (SAID + FINISH + USAGE, DONE),
    "openai-completions": (b'data: {"choices": [{"index": 0, "text": "Hi", "finish_reason": "stop"}]}\n\n', DONE),
    "ollama-chat": (LINE + LINE, LAST_LINE),
    "anthropic": (START + TURN, STOP),
    "openai-responses": (CREATED, COMPLETED),
}
"""What comes before the marker, and the marker."""


@pytest.mark.parametrize("wire", BODIES)
@pytest.mark.parametrize("named", [True, False])
def test_an_answer_is_over_at_the_end_marker_and_not_before(wire: str, named: bool) -> None:
    before, marker = BODIES[wire]
    parser = sp.StreamParser(wire if named else "auto")
    for byte in before + marker[:-2]:
        assert not parser.over
        parser.feed(bytes([byte]))
    parser.feed(marker[-2:])
    assert parser.over
    assert parser.close()[-1] == sp.Done(parser.response.finish_reason, parser.response.usage, True)
    assert parser.over


@pytest.mark.parametrize("behind", [DONE, SAID, FINISH, USAGE, b'data: {"error": "boom"}\n\n', b": a comment\n\n"])
def test_nothing_behind_the_end_marker_of_a_chat_changes_the_answer_or_its_end(behind: bytes) -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed(SAID + FINISH + DONE)
    assert parser.feed(behind) == []
    assert parser.over
    assert parser.close() == [sp.Done("stop", None, True)]


@pytest.mark.parametrize(("wire", "again"), [("anthropic", START), ("openai-responses", CREATED)])
def test_an_answer_is_not_over_while_another_goes_on_behind_the_marker(wire: str, again: bytes) -> None:
    before, end = BODIES[wire]
    parser = sp.StreamParser(wire)
    parser.feed(before + end)
    assert parser.over
    parser.feed(again)
    assert not parser.over
    parser.feed(before.removeprefix(again) + end)
    assert parser.over


@pytest.mark.parametrize("wire", BODIES)
@pytest.mark.parametrize("behind", [b"data: {\n\n", b"<html>\n", b"\x00" * 9000, SAID, None])
def test_who_stops_at_the_marker_has_the_same_answer_in_every_cut(wire: str, behind: bytes | None) -> None:
    answer = b"".join(BODIES[wire])
    limits = sp.Limits(max_line=8000, max_total=len(answer) + 8500)
    plain = sp.StreamParser(wire)
    expected = merged(plain.feed(answer)) + plain.close()
    for size in (1, 7, 1 << 20):
        parser = sp.StreamParser(wire, limits=limits)
        parser.stop_at_marker()
        events: list[sp.Event] = []
        for piece in in_pieces(answer + (answer if behind is None else behind), size):
            events += parser.feed(piece) if not parser.over else []
        assert merged(events) + parser.close() == expected


@pytest.mark.parametrize("wire", ["gemini", "cohere", "bedrock-converse"])
def test_a_wire_whose_answers_end_with_their_body_is_never_over(wire: str) -> None:
    parser = sp.StreamParser(wire)
    parser.feed(b'data: {"candidates": [{"finishReason": "STOP"}]}\n\n' if wire == "gemini" else b"")
    parser.close()
    assert not parser.over


SEVERAL = {
    "anthropic-two-messages-in-one-body-are-one-answer.sse",
    "anthropic-a-second-message-cut-short-is-truncated.sse",
    "anthropic-a-call-of-a-second-message-that-a-cut-follows-is-truncated.sse",
    "anthropic-a-call-behind-the-end-marker-that-a-cut-follows-is-truncated.sse",
    "responses-a-call-of-a-second-response-that-a-cut-follows-is-truncated.sse",
    "responses-a-call-behind-the-end-that-a-cut-follows-is-truncated.sse",
    "responses-two-responses-in-one-body-are-both-told.sse",
    "responses-a-second-response-that-just-ends-is-truncated.sse",
}
"""Bodies that hold more than one answer."""


def _read(name: str, size: int, *, to_the_end: bool) -> list[sp.Event]:
    row = read_index()[name]
    parser = sp.StreamParser(row["wire"], choice=row.get("choice", 0))
    events: list[sp.Event] = []
    for piece in in_pieces(read_body(name), size):
        if parser.over and not to_the_end:
            break
        events += parser.feed(piece)
    return merged(events + parser.close())


def _end_of_first_answer(name: str, body: bytes) -> int:
    """How many bytes there are up to the end marker of the first answer, it included."""
    parser = make_parser(name)
    for place, byte in enumerate(body, 1):
        parser.feed(bytes([byte]))
        if parser.over:
            return place
    raise AssertionError(f"{name} has no end marker")


@pytest.mark.parametrize("name", [*sorted(SEVERAL), "ollama-lines-behind-the-done-line-do-not-count.ndjson"])
def test_behind_the_marker_nothing_is_read_in_any_cut_though_it_is_fed(name: str) -> None:
    body = read_body(name)
    expected = merged([*(alone := make_parser(name)).feed(body[: _end_of_first_answer(name, body)]), *alone.close()])
    messages = in_messages(body)
    pairs = [b"".join(messages[at : at + 2]) for at in range(0, len(messages), 2)]
    ends = [0, *accumulate(map(len, messages))]
    stats = set()
    rests = [[*messages[:at], body[ends[at] :]] for at in range(len(messages))]  # up to each message one by one
    for reads in ([body], messages, pairs, in_pieces(body, 1), *rests):
        parser = make_parser(name)
        parser.stop_at_marker()
        events = [event for read in reads for event in parser.feed(read)]
        assert merged(events + parser.close()) == expected
        stats.add((parser.stats.bytes, parser.stats.ignored_frames))
    assert stats == {(len(body), 0)}


@pytest.mark.parametrize("name", sorted({*NAMES} - SEVERAL))
def test_who_closes_at_the_end_marker_misses_nothing(name: str) -> None:
    expected = _read(name, 1 << 20, to_the_end=True)
    for size in (1, 40, 1 << 20):
        assert _read(name, size, to_the_end=False) == expected, size


@pytest.mark.parametrize("name", sorted({*NAMES} - SEVERAL))
def test_a_loop_that_stops_at_the_marker_has_each_error_where_a_parser_of_the_whole_body_has_it(name: str) -> None:
    options = {key: value for key, value in read_index()[name].items() if key != "tools"}
    body, parser = read_body(name), make_parser(name)
    expected = merged([*parser.feed(body), *parser.close()])
    tools = [read_tools()[tool] for tool in read_index()[name].get("tools", ())]
    assert merged(sp.iter_events([body], **options, tools=tools)) == expected


@pytest.mark.parametrize("status", ["queued", "in_progress"])
@pytest.mark.parametrize(
    ("wire", "body"),
    [
        ("openai-responses", {"object": "response", "output": []}),
        ("openai-responses", {"object": "response"}),
        ("gemini", {"object": "interaction", "outputs": []}),
        ("gemini", {"object": "interaction", "usage": {"total_tokens": 3}}),
    ],
)
def test_a_body_that_the_server_still_works_on_has_not_ended(wire: str, body: dict[str, Any], status: str) -> None:
    response = sp.parse_response({"id": "r", "status": status, **body}, wire)
    assert not response.ok
    assert (response.stop, response.finish_reason) == ("error", status)
    assert [error.code for error in response.errors] == ["stream_truncated"]
    assert response.usage == body.get("usage")
