"""Where a request arrives, and with which key: whoever asks, with tools or without."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from serving import Upstream, proxied, serving

from streamparse import proxy

PLAIN = [("content-type", "application/json")]
TOOLS: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
MESSAGES: Any = [{"role": "user", "content": "x"}]
REQUEST: Any = {"model": "m", "max_tokens": 9, "messages": MESSAGES}


def _asked(base: str, path: str, request: Any, wire: str = "openai-chat") -> str:
    """Where a server under a base is asked by a client that asks a path of the proxy."""
    upstream = Upstream([b"{}"], headers=PLAIN)
    with serving(upstream) as url, serving(proxy.app(url + base, wire)) as front:
        httpx.post(front + path, json=request, timeout=60)
    return upstream.asked[0][1]


BASES = [
    ("", "/v1/chat/completions", "/v1/chat/completions"),
    ("", "/chat/completions", "/chat/completions"),
    ("/v1", "/v1/chat/completions", "/v1/chat/completions"),
    ("/v1", "/chat/completions", "/v1/chat/completions"),
    ("/tenant/a", "/v1/chat/completions", "/tenant/a/v1/chat/completions"),
    ("/openai/v1/", "/v1/chat/completions", "/openai/v1/chat/completions"),
    ("/api/paas/v4", "/chat/completions", "/api/paas/v4/chat/completions"),
    ("/api/paas/v4", "/v1/chat/completions", "/api/paas/v4/chat/completions"),
    ("/v1beta/openai/", "/chat/completions", "/v1beta/openai/chat/completions"),
    ("/v1beta/openai", "/v1/chat/completions", "/v1beta/openai/chat/completions"),
]


@pytest.mark.parametrize(("base", "path", "target"), BASES)
@pytest.mark.parametrize("tools", [TOOLS, None])
def test_a_request_in_the_servers_own_wire_arrives_at_one_place_with_tools_or_without(
    base: str, path: str, target: str, tools: Any
) -> None:
    assert _asked(base, path, REQUEST | {"tools": tools}) == target


def test_the_query_of_a_request_in_the_servers_own_wire_stays_with_tools_or_without() -> None:
    path = "/v1/chat/completions?api-version=2024-10-21"
    assert {_asked("", path, REQUEST | {"tools": tools}) for tools in (TOOLS, None)} == {path}


@pytest.mark.parametrize(
    ("wire", "base", "target"),
    [
        ("openai-chat", "/api/paas/v4", "/api/paas/v4/chat/completions"),
        ("openai-chat", "/v1beta/openai", "/v1beta/openai/chat/completions"),
        ("openai-chat", "/v1/account/gate", "/v1/account/gate/chat/completions"),
        ("openai-chat", "/gate", "/gate/v1/chat/completions"),
        ("openai-responses", "/openai/v1", "/openai/v1/responses"),
        ("anthropic", "/v1/account/gate", "/v1/account/gate/v1/messages"),
        ("anthropic", "/v1", "/v1/messages"),
        ("cohere", "/v2", "/v2/chat"),
    ],
)
def test_a_translated_request_is_under_the_version_of_the_base_if_it_has_one(wire: str, base: str, target: str) -> None:
    path = "/v1/messages" if wire.startswith("openai") else "/v1/chat/completions"
    assert _asked(base, path, REQUEST, wire) == target


@pytest.mark.parametrize(
    ("base", "path", "target"),
    [
        ("/api/paas/v4", "/v1/files", "/api/paas/v4/files"),
        ("/v1", "/v2/rerank", "/v1/v2/rerank"),
        ("/v1", "/v1", "/v1/v1"),
        ("", "/v1beta/models", "/v1beta/models"),
    ],
)
def test_what_passes_is_under_the_version_of_the_base_too(base: str, path: str, target: str) -> None:
    assert _asked(base, path, {}) == target


# -- keys ---------------------------------------------------------------------------------------------------

BEARER = {"authorization": "Bearer k"}
ANTHROPICS = {"x-api-key": "k", "anthropic-version": "2023-06-01"}


@pytest.mark.parametrize(
    ("wire", "sent", "arrives"),
    [
        ("gemini", BEARER, {"x-goog-api-key": "k"}),
        ("gemini", {"x-goog-api-key": "k"}, {"x-goog-api-key": "k"}),
        ("gemini", ANTHROPICS, {"x-goog-api-key": "k"}),
        ("gemini", {"authorization": "Bearer ya29.k"}, {"authorization": "Bearer ya29.k"}),
        ("anthropic", BEARER, ANTHROPICS),
        ("anthropic", ANTHROPICS | {"anthropic-beta": "b"}, ANTHROPICS | {"anthropic-beta": "b"}),
        ("anthropic", BEARER | {"anthropic-version": "2023-06-01"}, BEARER | {"anthropic-version": "2023-06-01"}),
        ("openai-chat", ANTHROPICS, BEARER),
        ("openai-chat", {"x-api-key": "k"}, {"x-api-key": "k"}),
        ("openai-chat", BEARER, BEARER),
        ("openai-chat", {}, {}),
    ],
)
def test_the_key_of_a_request_that_passes_is_where_the_server_looks_for_it(
    wire: str, sent: dict[str, str], arrives: dict[str, str]
) -> None:
    upstream = Upstream([b"{}"], headers=PLAIN)
    with proxied(upstream, wire=wire) as url:
        httpx.get(url + "/v1/files", headers=sent, timeout=60)
    headers = upstream.asked[0][2]
    names = ("authorization", "x-api-key", "x-goog-api-key", "anthropic-version", "anthropic-beta")
    assert {name: headers[name] for name in names if name in headers} == arrives


def test_an_answer_in_the_servers_own_wire_is_read_at_any_version() -> None:
    call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    message = {"role": "assistant", "content": call}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    with serving(Upstream([body], headers=PLAIN)) as url, serving(proxy.app(url + "/api/paas/v4")) as front:
        answer = httpx.post(front + "/v1/chat/completions", json=REQUEST | {"tools": TOOLS}, timeout=60).json()
    assert [each["function"]["name"] for each in answer["choices"][0]["message"]["tool_calls"]] == ["f"]
