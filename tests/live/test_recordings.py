"""The recorded streams, read again: what they hold is written in `fixtures/recorded/expected.json`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from dictation import calls_of, cut_at_random, merged, text_of
from live_server import record

import streamparse as sp
from streamparse.testing import Recording, replaying

FOLDER = Path(__file__).parents[2] / "fixtures" / "recorded"
EXPECTED: dict[str, dict[str, Any]] = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
WIRES = {
    "/v1/chat/completions": "openai-chat",
    "/api/chat": "ollama-chat",
    "/api/generate": "ollama-generate",
}


def _request(name: str) -> dict[str, Any]:
    request: dict[str, Any] = json.loads((FOLDER / f"{name}.request.json").read_text(encoding="utf-8"))
    return request


def _parser(name: str, wire: str | None = None) -> sp.StreamParser:
    request = _request(EXPECTED[name].get("tools_of", name))
    tools = request["body"].get("tools") if isinstance(request["body"], dict) else None
    return sp.StreamParser(wire or WIRES[request["path"]], tools=tools)


def _events(parser: sp.StreamParser, chunks: list[bytes]) -> list[sp.Event]:
    return [event for chunk in chunks for event in parser.feed(chunk)] + parser.close()


def test_every_recording_has_its_expectation() -> None:
    assert {file.stem for file in FOLDER.glob("*.body")} == set(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_stream_holds_what_the_model_was_told_to_say(name: str) -> None:
    expected = EXPECTED[name]
    parser = _parser(name)
    events = _events(parser, [(FOLDER / f"{name}.body").read_bytes()])
    response = parser.response
    assert text_of(events).split() == expected["content"].split()
    assert response.reasoning.split() == expected["reasoning"].split()
    assert [list(call) for call in calls_of(events)] == expected["calls"]
    assert {call.source for call in response.tool_calls} <= {expected.get("source")}
    assert [call.name for call in response.broken_calls] == expected["broken"]
    assert [error.code for error in response.errors] == expected["errors"]
    assert (response.finish_reason, response.ok) == (expected["finish_reason"], expected["ok"])


@pytest.mark.parametrize("name", EXPECTED)
def test_a_recorded_stream_cut_anywhere_gives_the_same_events(name: str) -> None:
    body = (FOLDER / f"{name}.body").read_bytes()
    whole = merged(_events(_parser(name), [body]))
    assert merged(_events(_parser(name), [body[i : i + 1] for i in range(len(body))])) == whole
    for seed in range(10):
        assert merged(_events(_parser(name), cut_at_random(body, seed))) == whole


@pytest.mark.parametrize("name", [name for name in EXPECTED if not name.endswith("-error")])
def test_the_wire_of_a_recorded_stream_is_found_without_being_told(name: str) -> None:
    body = (FOLDER / f"{name}.body").read_bytes()
    assert merged(_events(_parser(name, "auto"), [body])) == merged(_events(_parser(name), [body]))


@pytest.mark.parametrize("name", [file.name.removesuffix(".reads.jsonl") for file in FOLDER.glob("*.reads.jsonl")])
def test_the_reads_of_a_recording_are_its_body(name: str) -> None:
    recording = Recording.load(FOLDER / name)
    assert sum(read.n for read in recording.reads) == len(recording.body)
    moments = [read.t for read in recording.reads]
    assert moments == sorted(moments)


def test_a_replayed_recording_is_the_recording() -> None:
    recording = Recording.load(FOLDER / "llamacpp-one-call")
    with replaying(recording) as url:
        again = record(url, recording.request)
    assert again.body == recording.body
