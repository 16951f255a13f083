"""A body that is given to another wire than its own is an error that names its own, or is read as what it is."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest
from cuts import assert_same_in_every_cut, events_of
from fixture_streams import FOLDER, NAMES, read_body, read_index

import streamparse as sp
from streamparse.cli import main

PAIRS = [(own, other) for own in sp.WIRES for other in sp.WIRES if own != other]
READS = {("ollama-chat", "ollama-generate"), ("ollama-generate", "ollama-chat")}
"""Bodies of the one wire that the other reads as well."""


def _answer(response: sp.ParsedResponse) -> tuple[Any, ...]:
    calls = [(call.name, call.arguments) for call in response.tool_calls]
    return response.content, response.reasoning, response.refusal, calls


@cache
def _read_bodies() -> dict[str, dict[str, bytes]]:
    """The fixtures that hold an answer, by the wire that they show."""
    bodies: dict[str, dict[str, bytes]] = {wire: {} for wire in sp.WIRES}
    for name in NAMES:
        body = read_body(name)
        parser = sp.StreamParser(read_index()[name]["wire"])
        events_of(parser, [body])
        if parser.wire is not None and parser.response.ok and any(_answer(parser.response)):
            bodies[parser.wire][name] = body
    return bodies


def _names(response: sp.ParsedResponse, wire: str) -> bool:
    """Whether an answer is a failure that says which wire its body looks like."""
    said = [error.message for error in response.errors if error.code == "wrong_wire" and error.scope == "stream"]
    return not response.ok and len(said) == 1 and said[0].startswith(f"the body looks like {wire}, ")


def test_each_wire_has_bodies_to_be_mistaken() -> None:
    assert [wire for wire, bodies in _read_bodies().items() if not bodies] == []


@pytest.mark.parametrize(("own", "other"), PAIRS)
def test_a_stream_that_is_given_to_another_wire_is_an_error_that_names_its_own(own: str, other: str) -> None:
    for name, body in _read_bodies()[own].items():
        parser = sp.StreamParser(other)
        done = events_of(parser, [body])[-1]
        if (own, other) in READS:
            assert parser.response.ok, name
            assert _answer(parser.response) == _answer(sp.parse_response(body, own)), name
        else:
            assert isinstance(done, sp.Done)
            assert not done.ok, name
            assert _names(parser.response, own), name


@pytest.mark.parametrize(("own", "other"), PAIRS)
def test_a_whole_response_of_another_wire_is_an_error_that_names_its_own_or_is_read(own: str, other: str) -> None:
    for name, body in _read_bodies()[own].items():
        response = sp.parse_response(body, other)
        read = response.ok and _answer(response) == _answer(sp.parse_response(body, own))
        assert read or _names(response, own), name


@pytest.mark.parametrize(("own", "other"), PAIRS)
def test_the_error_of_a_wrong_wire_is_the_same_in_every_cut(own: str, other: str) -> None:
    body = min(_read_bodies()[own].values(), key=len)
    assert_same_in_every_cut(lambda: sp.StreamParser(other), body, most=12)


def test_the_error_of_a_wrong_wire_comes_before_a_long_answer_is_over() -> None:
    parser = sp.StreamParser("anthropic")
    frame = b'data: {"choices":[{"index":0,"delta":{"content":"word "}}]}\n\n'
    codes = [event.code for _ in range(16) for event in parser.feed(frame) if isinstance(event, sp.Error)]
    assert codes.count("wrong_wire") == 1


UNKNOWN = b'data: {"a":1}\n\n'


@pytest.mark.parametrize(
    ("wire", "frames"),
    [("auto", [UNKNOWN] * 16), ("auto", [UNKNOWN, b"data: [DONE]\n\n"]), ("openai-chat", [UNKNOWN] * 16)],
)
def test_that_no_wire_speaks_like_a_body_is_told_once_enough_of_it_was_seen(wire: str, frames: list[bytes]) -> None:
    parser = sp.StreamParser(wire)  # type: ignore[arg-type]
    codes = [[event.code for event in parser.feed(frame) if isinstance(event, sp.Error)] for frame in frames]
    assert ["not_a_stream" in each for each in codes] == [False] * (len(frames) - 1) + [True]
    assert [error.code for error in parser.response.errors].count("not_a_stream") == 1


def test_a_frame_of_another_wire_before_those_of_the_named_one_is_no_error() -> None:
    before = b'event: metadata\ndata: {"run_id":"1"}\n\n'
    body = (FOLDER / "arguments-whole-in-one-frame-complete-in-that-frame.sse").read_bytes()
    assert events_of(sp.StreamParser("openai-chat"), [before + body])[-1] == sp.Done("tool_calls", None, True)


@pytest.mark.parametrize("wire", ["anthropic", "gemini", "ollama-chat"])
def test_the_command_line_fails_for_a_stream_of_another_wire(wire: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = "arguments-whole-in-one-frame-complete-in-that-frame.sse"
    assert main(["parse", str(FOLDER / name), "--wire", wire]) == 1
    assert "the body looks like openai-chat" in capsys.readouterr().out
    assert main(["parse", str(FOLDER / name), "--wire", "openai-chat"]) == 0


@pytest.mark.parametrize(
    ("message", "codes"),
    [({"error": {"message": "no"}}, ["provider_error"]), ({"usage": {"prompt_tokens": 1}}, []), ({}, ["not_a_stream"])],
)
def test_a_body_whose_end_comes_after_a_failure_or_token_counts_alone_is_of_its_wire(
    message: dict[str, Any], codes: list[str]
) -> None:
    parser = sp.StreamParser("openai-chat")
    events = parser.feed(b"data: " + json.dumps(message).encode() + b"\n\ndata: [DONE]\n\n") + parser.close()
    assert [event.code for event in events if isinstance(event, sp.Error)] == codes


@pytest.mark.parametrize("body", [b'{"a":1}\n{"b":2}\n', b'data: {"a":1}\n\n', b'{"a":1}'])
def test_a_body_that_shows_no_wire_until_its_end_is_no_stream(body: bytes) -> None:
    parser = sp.StreamParser()
    events = parser.feed(body) + parser.close()
    assert [event.code for event in events if isinstance(event, sp.Error)] == ["not_a_stream"]


@pytest.mark.parametrize("wire", ["openai-chat", "openai-completions", "openai-responses", "anthropic", "gemini"])
def test_the_first_message_may_be_an_error_in_the_shape_of_a_gateway(wire: str) -> None:
    parser = sp.StreamParser(wire)
    events = parser.feed(b'data: {"errors":[{"message":"no"}]}\n\n') + parser.close()
    assert "provider_error" in [event.code for event in events if isinstance(event, sp.Error)]


@pytest.mark.parametrize("wire", ["auto", "openai-chat"])
def test_an_error_before_the_wire_is_known_is_where_its_message_is(wire: str) -> None:
    error = b'data: {"error":{"message":"no"}}\n\n'
    chat = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    events = assert_same_in_every_cut(lambda: sp.StreamParser(wire), UNKNOWN * 2 + error + chat)  # type: ignore[arg-type]
    (found,) = [event for event in events if isinstance(event, sp.Error) and event.code == "provider_error"]
    assert found.offset == len(UNKNOWN * 2) + len("data: ")


FOREIGN: dict[str, list[tuple[str, Any]]] = {
    "KoboldCpp": [("message", {"token": "Hel"}), ("message", {"token": "lo", "finish_reason": "stop"})],
    "Assistants": [
        ("thread.run.created", {"id": "run", "object": "thread.run", "status": "queued"}),
        ("thread.message.delta", {"object": "thread.message.delta", "delta": {"content": [{"type": "text"}]}}),
        ("thread.run.completed", {"object": "thread.run", "status": "completed", "usage": {"total_tokens": 2}}),
        ("done", "[DONE]"),
    ],
    "text-generation-inference": [("", {"token": {"text": "Hi"}, "details": {"finish_reason": "stop"}})],
    "DashScope": [("result", {"output": {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}})],
    "Coze": [
        ("conversation.message.delta", {"role": "assistant", "type": "answer", "content": "Hi"}),
        ("conversation.chat.completed", {"status": "completed", "usage": {"token_count": 2}}),
    ],
    "Dify": [("", {"event": "message", "answer": "Hi"}), ("", {"event": "message_end", "metadata": {"usage": {}}})],
    "Hunyuan": [("", {"Choices": [{"Delta": {"Content": "Hi"}, "FinishReason": "stop"}]})],
    "ERNIE": [("", {"object": "chat.completion", "is_end": True, "result": "Hi", "usage": {"total_tokens": 2}})],
    "Spark": [("", {"header": {"code": 0, "message": "Success"}, "payload": {"choices": {"status": 2}}})],
    "watsonx": [("message", {"model_id": "m", "results": [{"generated_text": "Hi", "stop_reason": "eos_token"}]})],
    "AI SDK": [("", {"type": "text-delta", "id": "t", "delta": "Hi"}), ("", {"type": "finish"}), ("", "[DONE]")],
}
"""Answers of servers that speak no known wire, as names and data of events."""


@pytest.mark.parametrize("wire", ["auto", *sp.WIRES])
@pytest.mark.parametrize("server", FOREIGN)
def test_an_answer_of_no_known_wire_is_an_error_on_every_wire(server: str, wire: str) -> None:
    body = ""
    for name, data in FOREIGN[server]:
        body += f"event: {name}\n" if name else ""
        body += f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
    done = assert_same_in_every_cut(lambda: sp.StreamParser(wire), body.encode(), most=12)[-1]
    assert isinstance(done, sp.Done)
    assert not done.ok
    assert not sp.parse_response(body.encode(), wire).ok
