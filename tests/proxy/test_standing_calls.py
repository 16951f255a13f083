"""A client runs what it is sent: a call that may still turn out to be none does not leave."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from serving import Upstream, proxied
from test_proxying import REQUEST, TOOLS, chat_stream

import streamparse as sp

BARE = '{"name": "get_weather", "arguments": {"city": "Bern"}}'
MARKED = f"<tool_call>\n{BARE}\n</tool_call>"
THOUGHT = f"<think>\nI could say\n{MARKED}\nbut no.\n</think>\nHello."
MENDED = f"<Tool_Call>\n{BARE}\n</Tool_Call>"
BERN = [("get_weather", {"city": "Bern"})]
PATHS = {"openai-chat": "/v1/chat/completions", "anthropic": "/v1/messages", "ollama-chat": "/api/chat"}

every_client = pytest.mark.parametrize("client", PATHS)
each_way = pytest.mark.parametrize("streamed", [True, False])


def _answer(client: str, text: str, *, streamed: bool) -> tuple[bytes, sp.ParsedResponse]:
    """What the client is sent of an answer in which all is text, and what it says natively."""
    function: Any = TOOLS[0]["function"]
    tool = {"name": function["name"], "input_schema": function["parameters"]} if client == "anthropic" else TOOLS[0]
    request: dict[str, Any] = REQUEST | {"max_tokens": 99, "stream": streamed, "tools": [tool]}
    with proxied(Upstream(chat_stream(text))) as url:
        body = httpx.post(url + PATHS[client], json=request, timeout=60).content
    parser = sp.StreamParser(client, dialects=())
    parser.feed(body)
    parser.close()
    return body, parser.response


@every_client
@each_way
@pytest.mark.parametrize("text", [BARE, MARKED])
def test_a_call_in_the_text_that_stands_reaches_the_client(client: str, streamed: bool, text: str) -> None:
    _, response = _answer(client, text, streamed=streamed)
    assert [(call.name, call.arguments) for call in response.tool_calls] == BERN
    reasons = {"openai-chat": "tool_calls", "anthropic": "tool_use", "ollama-chat": "stop"}
    assert (response.content, response.finish_reason, response.ok) == ("", reasons[client], True)


@every_client
@each_way
@pytest.mark.parametrize("text", [f"{BARE}\nThat is how I would ask.", MENDED])
def test_what_turns_out_to_be_no_call_or_is_only_recovered_reaches_the_client_as_text(
    client: str, streamed: bool, text: str
) -> None:
    body, response = _answer(client, text, streamed=streamed)
    assert (response.content, response.tool_calls, response.broken_calls) == (text, [], [])
    assert response.ok
    assert b"tool_use" not in body
    assert b"tool_calls" not in body


@every_client
@each_way
def test_of_what_a_model_invents_behind_its_call_nothing_is_a_call_for_the_client(client: str, streamed: bool) -> None:
    invented = f"\n<tool_response>\n18\n</tool_response>\n{MARKED}\nIt is warm."
    _, response = _answer(client, MARKED + invented, streamed=streamed)
    assert [(call.name, call.arguments) for call in response.tool_calls] == BERN
    assert (response.content, response.ok) == (invented, True)
    assert response.stop in ("tools", "end")


@every_client
@each_way
def test_a_call_that_was_drafted_in_a_thought_never_reaches_the_client(client: str, streamed: bool) -> None:
    _, response = _answer(client, THOUGHT, streamed=streamed)
    assert (response.content.strip(), response.tool_calls, response.broken_calls) == ("Hello.", [], [])
    assert BARE in response.reasoning
    assert response.ok


def test_a_call_without_a_marker_waits_for_the_end_and_one_in_markup_leaves_at_its_closing_brace() -> None:
    for text, early in ((MARKED, True), (BARE, False)):
        chunks = chat_stream(text)
        upstream = Upstream([*chunks[:-2], b'data: {"error":{"message":"boom"}}\n\n'])
        with proxied(upstream) as url:
            body = httpx.post(url + PATHS["openai-chat"], json=REQUEST, timeout=60).content
        assert (b'"get_weather"' in body) == early
        assert json.dumps("boom").encode() in body
