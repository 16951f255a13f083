"""What a server says about an answer reaches the user under one name on every wire, as soon as it is known.

`fixtures/facts.json` has answers of each wire.  A fact is the number of the message that says it, its name, where the
server writes it, and its value; an item about the answer likewise.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, events_of

import streamparse as sp
from streamparse.response import FACTS

CASES: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "fixtures" / "facts.json").read_text())
IDS = [f"{case['wire']}-{number}" for number, case in enumerate(CASES)]


def _frames(case: dict[str, Any]) -> list[bytes]:
    if case["wire"].startswith("ollama"):
        return [json.dumps(message).encode() + b"\n" for message in case["messages"]]
    return [b"data: " + json.dumps(message).encode() + b"\n\n" for message in case["messages"]]


def _facts(response: sp.ParsedResponse) -> dict[str, Any]:
    return {name: value for name in FACTS if (value := getattr(response, name)) is not None}


def _expected(case: dict[str, Any], number: int) -> dict[str, Any]:
    return {name: value for at, name, _, value in case["facts"] if at <= number}


def _items(response: sp.ParsedResponse) -> list[tuple[str, Any]]:
    return [(item["kind"], item["data"]) for item in response.items if item.get("about")]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_fact_is_known_with_the_message_that_says_it(case: dict[str, Any]) -> None:
    parser = sp.StreamParser(case["wire"])
    for number, frame in enumerate(_frames(case)):
        parser.feed(frame)
        assert _facts(parser.response) == _expected(case, number), number
        assert _items(parser.response) == [(kind, data) for at, kind, _, data in case["items"] if at <= number]
    parser.close()
    assert _facts(parser.response) == _expected(case, len(case["messages"]))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_facts_are_the_same_however_the_body_is_fed(case: dict[str, Any]) -> None:
    body, expected = b"".join(_frames(case)), _expected(case, len(case["messages"]))
    for wire in (case["wire"], "auto"):
        for pieces in ([body], [body[at : at + 1] for at in range(len(body))], case["messages"]):
            parser = sp.StreamParser(wire)
            events_of(parser, pieces)
            assert _facts(parser.response) == expected
            assert len(_items(parser.response)) == len(case["items"])
    parsed = sp.parse_response(body, case["wire"])
    assert (_facts(parsed), _items(parsed)) == (expected, [(kind, data) for _, kind, _, data in case["items"]])
    events = assert_same_in_every_cut(lambda: sp.StreamParser(case["wire"]), body)
    told = [(event.kind, event.data) for event in events if isinstance(event, sp.ProviderItem)]
    assert [each for each in told if each in _items(parsed)] == _items(parsed)


def _chunk(text: str, **more: Any) -> bytes:
    chunk = {"id": "c", "model": "m", **more, "choices": [{"index": 0, "delta": {"content": text}}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def test_what_follows_many_alike_chunks_is_known_too() -> None:
    parser = sp.StreamParser("openai-chat")
    for number in range(50):
        parser.feed(_chunk(f"word {number} "))
    end = {
        "id": "c",
        "model": "m",
        "service_tier": "flex",
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
    }
    parser.feed(b"data: " + json.dumps(end).encode() + b"\n\n")
    assert _facts(parser.response) == {"id": "c", "model": "m", "service_tier": "flex"}


def test_log_probabilities_between_the_pieces_of_a_marker_hide_no_call() -> None:
    call = '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'
    tool = sp.Tool("f", "", {"type": "object", "properties": {"a": {"type": "integer"}}})
    chunks = [
        {"choices": [{"index": 0, "delta": {"content": piece}, "logprobs": {"content": [{"token": piece}]}}]}
        for piece in (call[at : at + 3] for at in range(0, len(call), 3))
    ]
    chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    parser = sp.StreamParser("openai-chat", tools=[tool])
    events = [event for chunk in chunks for event in parser.feed(chunk)] + parser.close()
    assert [event.arguments for event in events if isinstance(event, sp.ToolCallComplete)] == [{"a": 1}]
    assert parser.response.content == ""
    assert len(parser.response.items) == len(chunks) - 1


def test_an_item_about_an_answer_is_no_part_of_it() -> None:
    end = {"choices": [], "timings": {"predicted_n": 1}, "id": "c", "model": "m"}
    body = _chunk("x") + b"data: " + json.dumps(end).encode() + b"\n\ndata: [DONE]\n\n"
    response = sp.parse_response(body, "openai-chat")
    assert ([item["kind"] for item in response.items], response.own_items) == (["timings"], [])
    for target in ("openai", "anthropic", "gemini", "openai-responses"):
        assert "timings" not in json.dumps(sp.as_message(response, target))


@pytest.mark.parametrize("value", [5, "", None, [], {}, True])
def test_a_fact_of_an_odd_type_says_nothing(value: Any) -> None:
    parser = sp.StreamParser("openai-chat")
    parser.feed(_chunk("x", model=value, service_tier=value))
    assert (parser.response.model, parser.response.service_tier, parser.response.id) == (None, None, "c")
    assert parser.response.content == "x"
