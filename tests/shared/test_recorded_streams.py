"""Every recorded stream of the wires that exist: text, reasoning, calls, finish reason and usage, in many cuts.

What a stream holds natively was written down by an independent accumulator.  Where ours differs, `DIFFERENCES` says so,
and `docs/internals/ground_truth.md` shows the bytes that decide.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from collection import SHARED, json_lines
from cuts import calls_of, events_of, in_messages, in_pieces, in_random_pieces, merged, reasoning_of, text_of

import streamparse as sp

WIRE_OF = {"bedrock-eventstream": "bedrock-converse", "gemini-json-array": "gemini", "gemini-interactions": "gemini"}
"""The wires of families that are named otherwise there."""


def _wire(row: dict[str, Any]) -> str:
    family: str = row["family"]
    return WIRE_OF.get(family, family)


ROWS = {row["id"]: row for row in json_lines("streams/index.jsonl") if _wire(row) in sp.WIRES}

DIFFERENCES: dict[str, str] = {
    "chat-mistral-fee1f0": "the server was cut by length before the arguments: nobody can know that the call is whole",
    "resp-azure-c2ac1c": "the body holds four responses with three calls, and only the first was written down",
    "resp-xai-84f759": "a custom tool call, whose input is no JSON, is a ProviderItem",
}
"""Streams in which our calls are others than the written ones."""


def _body(id: str) -> bytes:
    return (SHARED / "streams" / ROWS[id]["file"]).read_bytes()


def _parser(id: str, wire: str | None = None, **options: Any) -> sp.StreamParser:
    row = ROWS[id]
    return sp.StreamParser(wire or _wire(row), **({"tools": row.get("tools") or None} | options))


def _expected_calls(id: str) -> list[tuple[str, Any]]:
    return [
        (call["name"], json.loads(arguments or "{}") or {} if isinstance(arguments, str) else arguments or {})
        for call in ROWS[id]["expect"]["calls"]
        if call.get("arguments_complete") is not False
        for arguments in [call.get("arguments")]
    ]


@pytest.mark.parametrize("id", ROWS)
def test_a_recorded_stream_holds_what_was_written_down(id: str) -> None:
    expect = ROWS[id]["expect"]
    parser = _parser(id, dialects=())
    events = events_of(parser, [_body(id)])
    response = parser.response
    assert text_of(events) == response.content == (expect["text"] or "")
    assert reasoning_of(events) == response.reasoning == (expect["reasoning"] or "")
    finish_reason = expect["finish_reason"]  # an enum's number, where the server was asked for numbers
    assert response.finish_reason == (None if finish_reason is None else str(finish_reason))
    assert (response.usage or {}) == (expect["usage"] or {})
    if id not in DIFFERENCES:
        assert calls_of(events) == _expected_calls(id)
    if expect.get("error") is not None:
        assert not response.ok
    assert [event for event in events if isinstance(event, sp.Done)] == events[-1:]


@pytest.mark.parametrize("id", ROWS)
def test_a_recorded_stream_gives_the_same_events_in_other_cuts_and_without_its_wires_name(id: str) -> None:
    body = _body(id)
    expected = merged(events_of(_parser(id), [body]))
    for size in (7, 1400):
        assert merged(events_of(_parser(id), in_pieces(body, size))) == expected, size
    assert merged(events_of(_parser(id), in_messages(body))) == expected
    assert merged(events_of(_parser(id, "auto"), in_random_pieces(body, 1))) == expected


@pytest.mark.parametrize("id", random.Random(5).sample(sorted(ROWS), len(ROWS) // 20))
def test_a_recorded_stream_gives_the_same_events_byte_by_byte(id: str) -> None:
    body = _body(id)
    assert merged(events_of(_parser(id), in_pieces(body, 1))) == merged(events_of(_parser(id), [body]))


@pytest.mark.parametrize("id", ROWS)
def test_a_recorded_stream_that_ended_has_a_common_word_and_the_total_that_it_told(id: str) -> None:
    usage = ROWS[id]["expect"].get("usage") or {}
    parser = _parser(id)
    events_of(parser, [_body(id)])
    response = parser.response
    assert response.stop is not None
    assert (response.stop in ("filter", "error")) == (not response.ok)
    names = ("total_tokens", "totalTokenCount", "totalTokens")
    told = [count for name in names if (count := usage.get(name))]
    assert told in ([], [response.tokens.total])
    assert response.tokens.total == response.tokens.prompt + response.tokens.completion
