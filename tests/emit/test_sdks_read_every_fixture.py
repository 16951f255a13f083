"""Every recorded answer, emitted on every wire, is read to its end by the official client of that wire."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import ollama
import openai
import pytest
from clients import CLIENT_WIRES, AnswerFailed, Clients, Heard, clients
from cuts import events_of
from emission import told, until_failure
from thoroughness import is_nightly

import streamparse as sp
from streamparse.emitting.outcome import read_outcome
from streamparse.providers.emitters import EMITTERS
from streamparse.writing.answer_parts import arrange_answer
from streamparse.writing.parts import Text

FOLDER = Path(__file__).parents[2] / "fixtures" / "streams"
TOOLS: list[dict[str, Any]] = json.loads((FOLDER / "tools.json").read_text(encoding="utf-8"))
INDEX: dict[str, dict[str, Any]] = tomllib.loads((FOLDER / "index.toml").read_text(encoding="utf-8"))
FAILURES = (AnswerFailed, openai.APIError, anthropic.APIError, ollama.ResponseError)
WORDS = {
    "openai-chat": dict.fromkeys(("stop", "tool_calls", "length", "content_filter"), "").keys(),
    "openai-responses": {"completed", "tool_calls", "max_output_tokens", "content_filter"},
    "anthropic": {"end_turn", "tool_use", "max_tokens", "refusal", "stop_sequence", "pause_turn"}
    | {"model_context_window_exceeded"},
    "ollama-chat": {"stop", "length", "load", "unload"},
}


def _clients_in_turn(first: int) -> list[tuple[str, str]]:
    """Each fixture with one of the clients, which take turns; at night with each."""
    wires = [*CLIENT_WIRES]
    step = 1 if is_nightly() else len(wires)
    return [(name, wire) for number, name in enumerate(INDEX) for wire in wires[(number + first) % step :: step]]


@pytest.fixture(scope="module")
def sdks() -> Iterator[Clients]:
    """The official clients, in front of a server of ours."""
    with clients() as all_of_them:
        yield all_of_them


def _parsed(name: str) -> tuple[list[sp.Event], sp.ParsedResponse]:
    row = INDEX[name]
    options: dict[str, Any] = {"tools": TOOLS} if row.get("tools") else {}
    parser = sp.StreamParser(row["wire"], choice=row.get("choice", 0), **options)
    events = events_of(parser, [(FOLDER / name).read_bytes()])
    return events, parser.response


def _calls(wire: str, calls: list[tuple[str, str, Any]]) -> list[tuple[str, str, Any]]:
    """In one order; Ollama's client knows no ids."""
    return sorted((("" if wire == "ollama-chat" else id, name, arguments) for id, name, arguments in calls), key=repr)


def _said(wire: str, response: sp.ParsedResponse) -> str:
    """What the client shows; where calls are blocks, one that was found only at the end is no text besides."""
    if wire in ("openai-chat", "ollama-chat"):
        return response.content + response.refusal
    return "".join(part.text for part in arrange_answer(response) if isinstance(part, Text))


def _assert_valid(found: Heard, response: sp.ParsedResponse) -> None:
    """The client's objects are to the letter what its types say; items are the server's own affair."""
    for model in found.models if not response.items else ():
        type(model).model_validate(model.model_dump(), strict=True)


@pytest.mark.parametrize(("name", "wire"), _clients_in_turn(0))
def test_the_official_client_reads_a_stream_to_its_end(name: str, wire: str, sdks: Clients) -> None:
    events, response = _parsed(name)
    emitter = EMITTERS[wire](model="m")
    body = b"".join([emitter.emit(event) for event in events])
    if emitter.over:
        with pytest.raises(FAILURES):
            sdks.hear(wire, body, emitter.content_type)
        return
    expected = told(until_failure(events), refusals=wire.startswith("openai-"))
    found = sdks.hear(wire, body, emitter.content_type)
    _assert_valid(found, response)
    assert found.text == "".join(text for kind, text in expected.flow if kind != "ReasoningDelta")
    assert found.thought == "".join(text for kind, text in expected.flow if kind == "ReasoningDelta")
    assert found.reason in WORDS[wire]
    if found.reason not in ("content_filter", "refusal"):
        assert _calls(wire, found.calls) == _calls(wire, expected.calls)


@pytest.mark.parametrize(("name", "wire"), _clients_in_turn(1))
def test_the_official_client_reads_a_whole_answer(name: str, wire: str, sdks: Clients) -> None:
    _, response = _parsed(name)
    emitter = EMITTERS[wire](model="m")
    body = emitter.whole(response)
    if emitter.find_failure(response) is not None:
        assert "error" in json.loads(body)
        return
    found = sdks.hear(wire, body, "application/json")
    _assert_valid(found, response)
    explanation = (
        read_outcome(response)[0].explanation if found.reason == "content_filter" and not response.refusal else ""
    )
    assert found.text == _said(wire, response) + explanation
    assert found.thought == response.reasoning
    assert found.reason in WORDS[wire]
    names = [(call.name, call.arguments) for call in response.tool_calls if not call.revoked]
    assert sorted([call[1:] for call in found.calls], key=repr) == sorted(names, key=repr)
    ids = [id for id, _, _ in found.calls if id]
    assert len(ids) == len(set(ids)) == (0 if wire == "ollama-chat" else len(found.calls))
