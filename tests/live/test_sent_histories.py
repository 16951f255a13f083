"""Histories of broken conversations, sent to llama.cpp on the three wires that it speaks: it takes each of them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from dictation import TOOLS
from live_server import CHAT, Scripted

import streamparse as sp

pytestmark = pytest.mark.live

FUNCTIONS = [tool["function"] for tool in TOOLS]
WIRES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "openai": (CHAT, "messages", {"tools": TOOLS, "max_tokens": 3000}),
    "openai-responses": (
        "/v1/responses",
        "input",
        {"tools": [{"type": "function", **each} for each in FUNCTIONS], "max_output_tokens": 3000},
    ),
    "anthropic": (
        "/v1/messages",
        "messages",
        {
            "tools": [{"name": each["name"], "input_schema": each["parameters"]} for each in FUNCTIONS],
            "max_tokens": 3000,
        },
    ),
}
"""By provider: the path, where the messages stand in the request, and what else it holds."""


def _called(*ids: str, **fields: Any) -> sp.ParsedResponse:
    calls = [sp.ToolCall("search", {"query": f"tea {index}"}, id, index=index) for index, id in enumerate(ids)]
    return sp.ParsedResponse(tool_calls=calls, **{"ok": True, **fields})


def _found(id: str, index: int = 0, **fields: Any) -> sp.ToolResult:
    return sp.ToolResult(id, "search", {"found": 3}, index=index, **fields)


START = sp.History(system="Be brief.").with_prompt("Find tea.")
OPEN = sp.BrokenCall("search", '{"query": "te', "call_1", "truncated_call", 1)
WRONG = sp.BrokenCall("search", '{"query": [}', "call_1", "invalid_arguments", 1)
REVOKED = sp.ToolCall("search", {"query": "x"}, "call_0", revoked=True)
CASES = {
    "calls and results": START.with_round(_called("a", "b"), [_found("b", 1), _found("a")]),
    "calls without results": START.with_round(_called("a", "b")),
    "one id twice, in two rounds": START.with_round(_called("", ""), [_found(""), _found("", 1)]).with_round(
        _called("call_0", "call_0"), [_found("call_0"), _found("call_0", 1)]
    ),
    "odd ids": START.with_round(_called("a b", "ü" * 300), [_found("a b"), _found("ü" * 300, 1)]),
    "odd names": START.with_round(
        sp.ParsedResponse(
            tool_calls=[
                sp.ToolCall(name, {}, f"c{index}", index=index) for index, name in enumerate(["functions.f", "", "a b"])
            ],
            ok=True,
        )
    ),
    "a call that was cut": START.with_round(_called("call_0", broken_calls=[OPEN], ok=False), [_found("call_0")]),
    "a call that broke": START.with_round(_called("call_0", broken_calls=[WRONG]), [_found("call_0")]),
    "a revoked call that had begun": START.with_round(
        sp.ParsedResponse(content="Well", tool_calls=[REVOKED]), [_found("call_0", revoked=True, attempts=1)]
    ),
    "a cancel in mid-sentence": START.with_round(sp.ParsedResponse(content="Once upon a time"), heard="Once upon"),
    "a cancel before a word was heard": START.with_round(sp.ParsedResponse(content="Once"), heard=""),
    "an empty answer": START.with_round(sp.ParsedResponse()),
    "a cut thought": START.with_round(sp.ParsedResponse(reasoning="Is 1 < 2")),
    "a thought": START.with_round(sp.ParsedResponse(content="Yes.", reasoning="Is 1 < 2?", ok=True)),
    "an empty result": START.with_round(_called("a"), [sp.ToolResult("a", "search", "")]),
    "an error": START.with_round(_called("a"), [sp.ToolResult("a", "search", error="no network")]),
    "two prompts, two answers": START.with_prompt("Now.")
    .with_round(_called(content="One"))
    .with_round(_called(content="two")),
    "no prompt at first": sp.History().with_round(_called("a"), [_found("a")]),
    "a refusal": START.with_round(sp.ParsedResponse(refusal="No.", ok=True)),
    "rounds left out": START.with_round(_called("a"), [_found("a")])
    .with_prompt("And then?")
    .with_round(_called("b"), [_found("b")])
    .with_round(_called("c"), [_found("c")])
    .truncated(rounds=1),
}


def _post(server: Scripted, provider: str, history: sp.History, **settings: Any) -> httpx.Response:
    path, field, others = WIRES[provider]
    request = {"model": "copy", "temperature": 0, **others, field: history.messages(provider), **settings}
    if provider == "anthropic":
        request["system"] = history.system
    return httpx.post(server.url + path, json=request, timeout=60)


@pytest.mark.parametrize("provider", WIRES)
@pytest.mark.parametrize("case", CASES)
def test_the_server_takes_the_history_and_answers(hermes: Scripted, provider: str, case: str) -> None:
    history = CASES[case].with_prompt(hermes.script("Here it is.", TOOLS))
    response = _post(hermes, provider, history)
    assert response.status_code == 200, response.text
    wire = {"openai": "openai-chat"}.get(provider, provider)
    if provider != "anthropic" or not history.turns(provider)[-1].results:  # there llama.cpp reads results last
        assert sp.parse_response(response.json(), wire).content == "Here it is."


@pytest.mark.parametrize("provider", WIRES)
def test_so_it_does_when_a_result_is_the_last_of_it(hermes: Scripted, provider: str) -> None:
    history = START.with_round(_called("a", "a"), [_found("a")])
    assert _post(hermes, provider, history).status_code == 200


@pytest.mark.parametrize("provider", WIRES)
def test_its_own_answers_go_back_to_it_over_several_rounds(hermes: Scripted, provider: str) -> None:
    wire = {"openai": "openai-chat"}.get(provider, provider)
    history = START
    for _ in range(3):
        call = '<think>\nHm.\n</think>\n\n<tool_call>\n{"name": "search", "arguments": {"query": "tea"}}\n</tool_call>'
        asked = history.with_prompt(hermes.script(call, TOOLS))
        response = _post(hermes, provider, asked)
        assert response.status_code == 200, response.text
        answer = sp.parse_response(response.json(), wire)
        (made,) = answer.tool_calls
        assert answer.reasoning.strip() == "Hm."
        history = asked.with_round(answer, [_found(made.id)], provider=provider)
        history = history.with_round(sp.ParsedResponse(content="Good.", ok=True))
    assert len({call.id for turn in history.turns(provider) for call in turn.calls}) == 3
    assert _post(hermes, provider, history.truncated(rounds=3).with_prompt("More.")).status_code == 200
