"""Real servers' answers, recorded: what they hold is what the model was told to say in the request.

The model behind each server copies what stands between `<|off:N|>` and `<|endoftext|>` in the last message, so the
request says what must come back: text, thoughts between `<think>` tags, and calls between `<tool_call>` tags.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from collection import SHARED
from cuts import calls_of, events_of, in_pieces, in_random_pieces, merged, reasoning_of, text_of

import streamparse as sp

PATHS = {"/v1/chat/completions": "openai-chat", "/api/chat": "ollama-chat", "/api/generate": "ollama-generate"}
CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
THOUGHT = re.compile(r"<think>(.*?)</think>", re.DOTALL)


class Said(NamedTuple):
    """What the model was told to say."""

    text: str
    reasoning: str
    calls: list[tuple[str, Any]]


def _request(body: Path) -> dict[str, Any]:
    request: dict[str, Any] = json.loads(body.with_name(body.stem + ".request.json").read_text(encoding="utf-8"))
    return request


def _bodies() -> dict[str, Path]:
    """The recordings of a known wire."""
    found = {}
    for body in sorted((SHARED / "servers/recordings").rglob("*.body")):
        if _request(body)["path"] in PATHS and PATHS[_request(body)["path"]] in sp.WIRES:
            found[f"{body.parent.name}/{body.stem}"] = body
    return found


BODIES = _bodies()

WEATHER = ("get_weather", {"city": "Zürich", "days": 3})
OTHERWISE: dict[str, Said] = {
    # This server was forced to one tool: the model says only the arguments.
    "llama-cpp-python/chat.tool_forced": Said("", "", [WEATHER]),
    "llama-cpp-python/chat.tool_forced_nonstream": Said("", "", [WEATHER]),
    # A grammar made the model babble until its limit; the server still says `tool_calls`.
    "llama-cpp-python/chat.chatmlfc.forced": Said("", "", []),
    # The server's own template handler died: an empty body.
    "llama-cpp-python/chat.chatmlfc.auto_call": Said("", "", []),
    "llama-cpp-python/chat.chatmlfc.auto_text": Said("", "", []),
    # The model speaks in channels, and the server reads them.
    "llamacpp-harmony/chat.harmony_final": Said("Hello Zürich 🎉", "I think so.", []),
    "llamacpp-harmony/chat.harmony_tool": Said("", "I think so.", [("get_weather", {"city": "Paris"})]),
    "llamacpp-harmony/chat.error_mid_stream": Said("", "I think so.", []),
    "llamacpp-harmony/chat.error_mid_stream_tools": Said("", "I think so.", []),
    "litellm-errors/chat.upstream_error_mid_stream": Said("", "I think so.", []),
    # These servers drop a call that they cannot read or do not know, without a word.
    "ollama/api_chat.tool_bad_json": Said("", "", []),
    "ollama/chat.tool_bad_json": Said("", "", []),
    "ollama/api_chat.tool_unknown_name": Said("", "", []),
    "ollama/chat.tool_unknown_name": Said("", "", []),
    # Cut by length, this one closes the call by its own guess and sends it whole: no client can tell.
    "dynamo-hermes/chat.tool_cut_by_length": Said("", "", [("get_weather", {"city": "Paris"})]),
}
"""Where the answer holds something else than a parse of the prompt by tags says, and why."""

REFUSED = ("error_bad_json", "error_missing", "error_unknown", "api_chat_absent", "error_context", "context_overflow")
SHORTENED = ("abort_", "killed", "cut_by_length")


def _said(id: str) -> Said:
    """Read the prompt."""
    if id in OTHERWISE:
        return OTHERWISE[id]
    body = _request(BODIES[id])["body"]
    body = body if isinstance(body, dict) else {}
    messages = body.get("messages") or [{}]
    prompt = str(messages[-1].get("content")) + str(body.get("prompt", ""))
    found = re.search(r"<\|off:\d+\|>(.*?)(?:<\|endoftext\|>|$)", prompt, re.DOTALL)
    payload = found[1] if found else ""
    rest = THOUGHT.sub("", payload)
    calls = [json.loads(call) for call in CALL.findall(rest)]
    named = [(call["name"], call["arguments"]) for call in calls]
    return Said(CALL.sub("", rest), "".join(THOUGHT.findall(payload)), named)


def _parser(id: str) -> sp.StreamParser:
    request = _request(BODIES[id])
    body = request["body"]
    return sp.StreamParser(PATHS[request["path"]], tools=body.get("tools") if isinstance(body, dict) else None)


def _words(id: str, text: str, reasoning: str) -> list[list[str]]:
    """This vLLM sends what stands before `</think>` as reasoning, also where no thought was meant."""
    return [(reasoning + text).split()] if id.startswith("vllm") else [text.split(), reasoning.split()]


@pytest.mark.parametrize("id", [id for id in BODIES if not any(word in id for word in (*REFUSED, *SHORTENED))])
def test_a_recording_holds_what_the_model_was_told_to_say(id: str) -> None:
    parser, said = _parser(id), _said(id)
    events = events_of(parser, [BODIES[id].read_bytes()])
    assert _words(id, text_of(events), reasoning_of(events)) == _words(id, said.text, said.reasoning)
    assert calls_of(events) == said.calls
    assert {call.source for call in parser.response.tool_calls} <= {"native", "inband"}
    if "error_mid" not in id and "chatmlfc" not in id:
        assert parser.response.ok
        assert not parser.response.errors


@pytest.mark.parametrize("id", [id for id in BODIES if any(word in id for word in SHORTENED)])
def test_a_shortened_recording_holds_a_beginning_of_what_the_model_was_told_to_say(id: str) -> None:
    parser, said = _parser(id), _said(id)
    events = events_of(parser, [BODIES[id].read_bytes()])
    for got, meant in zip(
        _words(id, text_of(events), reasoning_of(events)), _words(id, said.text, said.reasoning), strict=True
    ):
        assert " ".join(meant).startswith(" ".join(got))
    assert calls_of(events) == said.calls[: len(calls_of(events))]
    assert all(call.code == "truncated_call" for call in parser.response.broken_calls)
    assert parser.response.ok == (parser.response.finish_reason is not None)


@pytest.mark.parametrize("id", [id for id in BODIES if any(word in id for word in REFUSED)])
def test_a_refused_request_makes_no_call(id: str) -> None:
    parser = _parser(id)
    events = events_of(parser, [BODIES[id].read_bytes()])
    assert calls_of(events) == []
    assert parser.response.ok == (parser.response.finish_reason is not None or "dynamo-hermes/chat.error_context" in id)


@pytest.mark.parametrize("id", BODIES)
def test_a_recording_gives_the_same_events_in_other_cuts(id: str) -> None:
    body = BODIES[id].read_bytes()
    expected = merged(events_of(_parser(id), [body]))
    assert merged(events_of(_parser(id), in_pieces(body, 61))) == expected
    assert merged(events_of(_parser(id), in_random_pieces(body, 3))) == expected
