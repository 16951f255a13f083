"""Characters that a server cuts in two halves: joined over messages, and U+FFFD where the other half never comes."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from itertools import product

import pytest
from aws_messages import header, message
from cuts import assert_same_in_every_cut, events_of, text_of

import streamparse as sp
from streamparse.reading.decode import rejoin_pairs

HIGH, LOW = r"\ud83c", r"\udf89"
PIECES = ("a", HIGH, LOW, HIGH + LOW, f"b {HIGH}", f"{LOW} c", rf"\\{HIGH}", rf"\\{HIGH[1:]}", rf"\"{LOW}")


def _data(payload: str) -> bytes:
    return f"data: {payload}\n\n".encode()


def _line(payload: str) -> bytes:
    return f"{payload}\n".encode()


def _event(name: str, payload: str) -> bytes:
    headers = header(":event-type", name) + header(":content-type", "application/json")
    return message(headers + header(":message-type", "event"), payload.encode())


def _converse(payload: str) -> bytes:
    return _event("contentBlockDelta", payload)


def _invoked(payload: str) -> bytes:
    return _event("chunk", json.dumps({"bytes": base64.b64encode(payload.encode()).decode()}))


WIRES: dict[str, tuple[str, Callable[[str], bytes], str]] = {
    "chat": ("openai-chat", _data, '{"choices":[{"index":0,"delta":{"content":"@"}}]}'),
    "completions": ("openai-completions", _data, '{"choices":[{"index":0,"text":"@"}]}'),
    "responses": (
        "openai-responses",
        _data,
        '{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"@"}',
    ),
    "anthropic": ("anthropic", _data, '{"type":"content_block_delta","index":0,"delta":{"text":"@"}}'),
    "gemini": ("gemini", _data, '{"candidates":[{"content":{"parts":[{"text":"@"}]}}]}'),
    "cohere": ("cohere", _data, '{"type":"content-delta","index":0,"delta":{"message":{"content":{"text":"@"}}}}'),
    "ollama": ("ollama-chat", _line, '{"message":{"content":"@"},"done":false}'),
    "converse": ("bedrock-converse", _converse, '{"contentBlockIndex":0,"delta":{"text":"@"}}'),
    "invoke": ("bedrock-converse", _invoked, '{"type":"content_block_delta","index":0,"delta":{"text":"@"}}'),
}


def _said(pieces: tuple[str, ...]) -> str:
    """What the pieces say together, by the rules of UTF-16."""
    text: str = json.loads(f'"{"".join(pieces)}"')
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@pytest.mark.parametrize("name", WIRES)
def test_halves_of_characters_are_joined_over_messages_and_none_is_lost(name: str) -> None:
    wire, framed, payload = WIRES[name]
    for pieces in product(PIECES, repeat=3):
        frames = [framed(payload.replace("@", piece)) for piece in pieces]
        assert text_of(events_of(sp.StreamParser(wire), frames)) == _said(pieces), pieces


@pytest.mark.parametrize("name", WIRES)
def test_a_half_at_the_end_of_a_message_is_the_same_in_every_cut(name: str) -> None:
    wire, framed, payload = WIRES[name]
    for pieces in (("a", HIGH, LOW, "b"), ("a", HIGH, "b", "c"), ("a", HIGH)):
        body = b"".join(framed(payload.replace("@", piece)) for piece in pieces)
        assert text_of(assert_same_in_every_cut(lambda: sp.StreamParser(wire), body)) == _said(pieces)


def test_what_stands_between_two_halves_parts_them() -> None:
    wire, framed, payload = WIRES["chat"]
    one, other = (framed(payload.replace("@", piece)) for piece in (HIGH, LOW))
    for between, said in ((b": ping\n\n", "\N{PARTY POPPER}"), (b'data: {"choices":[]}\n\n', "\ufffd\ufffd")):
        assert text_of(events_of(sp.StreamParser(wire), [one, between, other])) == said


def test_text_told_of_a_message_that_waits_comes_before_what_follows() -> None:
    wire, framed, payload = WIRES["chat"]
    half = framed(payload.replace("@", f"a{HIGH}"))
    call = {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "now", "arguments": "{}"}}]}
    last = _data(json.dumps({"choices": [{"index": 0, "delta": call, "finish_reason": "tool_calls"}]}))
    kinds = [type(event) for event in events_of(sp.StreamParser(wire), [half, last])]
    assert kinds[:2] == [sp.TextDelta, sp.ToolCallStart]


def test_as_many_halves_move_to_the_first_message_as_it_lacks() -> None:
    first, second = rf'["{HIGH}", "a"]'.encode(), rf'["{LOW}", "{LOW}"]'.encode()
    assert rejoin_pairs(first, second) == (rf'["{HIGH}{LOW}", "a"]'.encode(), rf'["", "{LOW}"]'.encode())


def test_a_half_at_the_end_of_a_text_is_one_replacement_character() -> None:
    parser = sp.TextParser()
    assert parser.feed("a\ud83c") == [sp.TextDelta("a")]
    assert parser.close()[0] == sp.TextDelta("\N{REPLACEMENT CHARACTER}")
