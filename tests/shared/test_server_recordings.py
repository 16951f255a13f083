"""Real servers' answers, recorded: what they hold is what the model was told to say in the request.

The model behind each server copies what stands between `<|off:N|>` and `<|endoftext|>` in the last message, so the
request says what must come back: text, thoughts between `<think>` tags, and calls between `<tool_call>` tags.
"""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from collection import SHARED
from cuts import calls_of, events_of, in_pieces, in_random_pieces, merged, reasoning_of, text_of

import streamparse as sp

PATHS = {
    "/v1/chat/completions": "openai-chat",
    "/v1/completions": "openai-completions",
    "/v1/responses": "openai-responses",
    "/v1/messages": "anthropic",
    "/api/chat": "ollama-chat",
    "/api/generate": "ollama-generate",
}
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


def _wire(body: Path) -> str | None:
    """The wire that the request's path names."""
    path = _request(body)["path"]
    return "gemini" if ":streamGenerateContent" in path else PATHS.get(path)


def _bodies() -> dict[str, Path]:
    """The recordings of a known wire."""
    found = sorted((SHARED / "servers/recordings").rglob("*.body"))
    return {f"{body.parent.name}/{body.stem}": body for body in found if _wire(body)}


BODIES = _bodies()

INBAND = [
    ("get_weather", {"city": "Paris", "unit": "c"}),
    ("search", {"query": 'naïve "quoted" é \n line 🎉', "limit": 10}),
]
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
    "llamacpp-harmony/*.harmony_final": Said("Hello Zürich 🎉", "I think so.", []),
    "llamacpp-harmony/*.harmony_tool": Said("", "I think so.", [("get_weather", {"city": "Paris"})]),
    "llamacpp-harmony/*.error_mid_stream": Said("", "I think so.", []),
    "llamacpp-harmony/*.error_mid_stream_tools": Said("", "I think so.", []),
    "litellm-errors/gemini.upstream_error_mid_stream": Said("", "", []),
    "litellm-errors/*.upstream_error_mid_stream": Said("", "I think so.", []),
    # These servers drop a call that they cannot read or do not know, without a word.
    "ollama/*tool_bad_json": Said("", "", []),
    "ollama/*tool_unknown_name": Said("", "", []),
    # Cut by length, this one closes the call by its own guess and sends it whole: no client can tell.
    "dynamo-hermes/*.tool_cut_by_length": Said("", "", [("get_weather", {"city": "Paris"})]),
    # This one takes the text for an unfinished thought, and drops what stands behind the first call.
    "vllm-hermes/messages.inband_no_tools_declared": Said("", "Text before ", INBAND),
}
"""Where the answer holds something else than a parse of the prompt by tags says, and why."""

TEXT_ALONE = tuple(
    f"{server}/{path}.inband_no_tools_declared"
    for server in ("dynamo-hermes", "llamacpp-hermes", "ollama", "vllm-hermes")
    for path in ("messages", "responses")
)
"""Answers that leave calls in the text of wires whose servers parse calls: they are text unless they are asked for."""

THOUGHTLESS = ("dynamo-hermes/responses.*", "litellm/*.gemini.*", "litellm/tiny.messages.*")
"""Servers that send no thought on this wire."""

REFUSED = ("error_bad_json", "error_missing", "error_unknown", "api_chat_absent", "error_context", "context_overflow")
SHORTENED = ("abort_", "killed", "cut_by_length")


def _prompt(body: Any) -> str:
    """The last words of a request, on any wire."""
    match body:
        case {"messages": [*_, {"content": str(text)}]} | {"input": [*_, {"content": str(text)}]}:
            return text
        case {"contents": [*_, {"parts": [{"text": str(text)}]}]} | {"prompt": str(text)} | {"input": str(text)}:
            return text
    return ""


def _said(id: str, dialects: str = "auto") -> Said:
    """Read the prompt."""
    for pattern, said in OTHERWISE.items():
        if fnmatch(id, pattern):
            return said
    body = _request(BODIES[id])["body"]
    found = re.search(r"<\|off:\d+\|>(.*?)(?:<\|endoftext\|>|$)", _prompt(body), re.DOTALL)
    payload = found[1] if found else ""
    rest = THOUGHT.sub("", payload)
    if dialects == "auto" and any(fnmatch(id, pattern) for pattern in TEXT_ALONE):
        return Said(rest, "", [])
    calls = [json.loads(call) for call in CALL.findall(rest)]
    named = [(call["name"], call["arguments"]) for call in calls]
    thoughtless = any(fnmatch(id, pattern) for pattern in THOUGHTLESS)
    return Said(CALL.sub("", rest), "" if thoughtless else "".join(THOUGHT.findall(payload)), named)


def _parser(id: str, dialects: str = "auto") -> sp.StreamParser:
    request = _request(BODIES[id])
    body = request["body"]
    tools = body.get("tools") if isinstance(body, dict) else None
    return sp.StreamParser(_wire(BODIES[id]) or "auto", dialects=dialects, tools=tools)


def _words(id: str, text: str, reasoning: str) -> list[list[str]]:
    """This vLLM sends what stands before `</think>` as reasoning, also where no thought was meant."""
    return [(reasoning + text).split()] if id.startswith("vllm") else [text.split(), reasoning.split()]


ANSWERED = [id for id in BODIES if not any(word in id for word in (*REFUSED, *SHORTENED))]


def _is_silent(parser: sp.StreamParser) -> bool:
    """Whether the server said nothing that cost tokens: it lost what the model wrote."""
    response = parser.response
    has_said = (
        response.content or response.reasoning or response.refusal or response.tool_calls or response.broken_calls
    )
    return not has_said and not response.items and response.stop != "length" and response.tokens.completion > 8


@pytest.mark.parametrize(
    ("id", "dialects"),
    [*((id, "auto") for id in ANSWERED), *((id, "all") for id in ANSWERED if "inband" in id)],
)
def test_a_recording_holds_what_the_model_was_told_to_say(id: str, dialects: str) -> None:
    parser, said = _parser(id, dialects), _said(id, dialects)
    events = events_of(parser, [BODIES[id].read_bytes()])
    assert _words(id, text_of(events), reasoning_of(events)) == _words(id, said.text, said.reasoning)
    assert calls_of(events) == said.calls
    assert {call.source for call in parser.response.tool_calls} <= {"native", "inband"}
    if "error_mid" not in id and "chatmlfc" not in id:
        assert [error.code for error in parser.response.errors] == (["empty_answer"] if _is_silent(parser) else [])
        assert parser.response.ok != _is_silent(parser)


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
    has_ended = parser.response.finish_reason not in (None, "failed")
    assert parser.response.ok == (has_ended and not _is_silent(parser))


@pytest.mark.parametrize("id", [id for id in BODIES if any(word in id for word in REFUSED)])
def test_a_refused_request_makes_no_call(id: str) -> None:
    parser = _parser(id)
    events = events_of(parser, [BODIES[id].read_bytes()])
    assert calls_of(events) == []
    assert parser.response.ok == (
        parser.response.finish_reason is not None or ("dynamo-hermes/" in id and "context" in id)
    )


@pytest.mark.parametrize("id", BODIES)
def test_a_recording_gives_the_same_events_in_other_cuts(id: str) -> None:
    body = BODIES[id].read_bytes()
    expected = merged(events_of(_parser(id), [body]))
    assert merged(events_of(_parser(id), in_pieces(body, 61))) == expected
    assert merged(events_of(_parser(id), in_random_pieces(body, 3))) == expected


@pytest.mark.parametrize("id", BODIES)
def test_a_recording_gives_the_same_events_where_the_wire_is_not_named(id: str) -> None:
    body = BODIES[id].read_bytes()
    declared = _request(BODIES[id])["body"]
    tools = declared.get("tools") if isinstance(declared, dict) else None
    assert merged(events_of(sp.StreamParser(tools=tools), [body])) == merged(events_of(_parser(id), [body]))
