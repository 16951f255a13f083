"""What was written of a history before is kept, and is what would be written now, for each provider and each tool."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from test_history_laws import MODELS, histories, prompts, steps
from thoroughness import usual_examples

import streamparse as sp
from streamparse.providers.adapters import ADAPTERS, REQUEST_WRITERS

LOOK: dict[str, Any] = {"name": "look", "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}}}
TOOLSETS: dict[str, list[Any]] = {
    "none": [],
    "one": [LOOK],
    "another schema": [{**LOOK, "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}],
    "a name that most refuse": [LOOK, {**LOOK, "name": "look up"}],
}
ways = st.fixed_dictionaries(
    {
        "model": st.sampled_from(MODELS),
        "tools": st.sampled_from([*TOOLSETS]),
        "dialect": st.sampled_from([None, "hermes", "qwen3-coder"]),
        "choice": st.sampled_from([None, "none"]),
    }
)


def _write(history: sp.History, provider: str, way: dict[str, Any]) -> tuple[str, list[str]]:
    """The body as it is sent, and the losses."""
    settings = {"tool_choice": way["choice"]} if way["choice"] and way["tools"] != "none" else {}
    request = sp.Request(history, TOOLSETS[way["tools"]], settings)
    taught: dict[str, Any] = {"tools_in": "prompt", "dialect": way["dialect"]} if way["dialect"] else {}
    body = request.body(provider, way["model"], **taught)
    return msgspec.json.encode(body).decode(), sorted(map(repr, request.lost))


def _copy(history: sp.History) -> sp.History:
    """The same history, of which nothing was written yet."""
    return msgspec.json.decode(msgspec.json.encode(history), type=sp.History)


def _check(history: sp.History, provider: str, way: dict[str, Any]) -> None:
    assert _write(history, provider, way) == _write(_copy(history), provider, way)
    turns = history.turns(provider, way["model"])
    spoken = [turn for turn in turns if turn.role != "system" or not ADAPTERS[provider].traits.separate_system]
    assert history.messages(provider, way["model"]) == ADAPTERS[provider].write_messages(spoken, [])


@usual_examples(25)
@given(steps, st.lists(ways, min_size=1, max_size=3), st.integers(0, 3), st.integers(0, 2000), prompts)
def test_what_was_kept_is_what_would_be_written_now(
    steps: list[Any], ways: list[dict[str, Any]], rounds: int, tokens: int, prompt: Any
) -> None:
    for number, history in enumerate(histories(steps)[1:]):
        for provider in REQUEST_WRITERS:
            way = ways[number % len(ways)]
            _check(history, provider, way)
            _check(history.truncated(rounds=rounds), provider, way)
            _check(history.truncated(tokens=tokens).with_prompt(prompt), provider, way)


def test_whoever_gets_a_body_may_change_it() -> None:
    history = histories(["Hello.", {"response": _answer(0), "results": [_result(0)], "provider": "anthropic"}])[-1]
    request = sp.Request(history, [LOOK])
    body = request.body("anthropic", "m")
    before = msgspec.json.encode(body)
    for message in body["messages"]:
        message["content"] = [{"type": "text", "text": "other"}]
    assert msgspec.json.encode(request.body("anthropic", "m")) == before
    request.body("anthropic", "m")["messages"][-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert msgspec.json.encode(request.body("anthropic", "m")) == before


def test_a_history_that_was_sent_is_saved_and_compared_as_one_that_was_not() -> None:
    history = sp.History().with_prompt("Hello.").with_round(_answer(0), [_result(0)])
    history.messages("openai")
    assert _copy(history) == history
    assert msgspec.json.encode(history) == msgspec.json.encode(_copy(history))


def _answer(number: int) -> sp.ParsedResponse:
    call = sp.ToolCall("look", {"a": number}, f"call_{number}", raw=f'{{"a": {number}}}')
    return sp.ParsedResponse(content="I look.", tool_calls=[call], finish_reason="tool_calls", ok=True)


def _result(number: int) -> sp.ToolResult:
    return sp.ToolResult(f"call_{number}", "look", "seen")


def test_who_edits_turns_changes_no_history():
    answer = sp.parse_response(
        {"choices": [{"message": {"content": "x", "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        ]}, "finish_reason": "tool_calls"}]}
    )  # fmt: skip
    result = sp.ToolResult("a", "look", "seen", index=0)
    history = sp.History(system="s").with_prompt("hello").with_round(answer, [result], provider="openai")
    before = history.messages("openai")
    for turn in history.turns("openai"):
        turn.parts.clear()
    assert history.messages("openai") == before
    assert all(turn.parts for turn in history.turns("openai"))
