"""Answers that are no answers: what a client gets of a server that fails, breaks its calls, or does not let go."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from serving import Upstream, proxied, serving

from streamparse import proxy

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "get_weather", "parameters": SCHEMA}
MESSAGES = [{"role": "user", "content": "Weather?"}]
REQUEST: dict[str, Any] = {
    "model": "m",
    "messages": MESSAGES,
    "stream": False,
    "tools": [{"type": "function", "function": FUNCTION}],
}
PATHS = {"openai-chat": "/v1/chat/completions", "anthropic": "/v1/messages", "ollama-chat": "/api/chat"}
JSON = [("content-type", "application/json")]


def _body(message: dict[str, Any], reason: str = "stop") -> bytes:
    said = {"role": "assistant", "content": "Well.", **message}
    return json.dumps({"choices": [{"index": 0, "message": said, "finish_reason": reason}]}).encode()


def _called(arguments: str) -> dict[str, Any]:
    call = {"id": "a", "type": "function", "function": {"name": "get_weather", "arguments": arguments}}
    return {"tool_calls": [call]}


def _request(client: str) -> dict[str, Any]:
    if client != "anthropic":
        return REQUEST
    tools = [{"name": "get_weather", "input_schema": SCHEMA}]
    return {"model": "m", "max_tokens": 9, "messages": MESSAGES, "tools": tools}


def _ask(upstream: Upstream, client: str = "openai-chat", **options: Any) -> httpx.Response:
    with proxied(upstream) as url:
        return httpx.post(url + PATHS[client], json=_request(client) | options, timeout=60)


@pytest.mark.parametrize("client", ["anthropic", "ollama-chat"])
@pytest.mark.parametrize("reason", ["error", "content_filter"])
def test_a_whole_answer_that_is_an_error_has_the_status_of_one(client: str, reason: str) -> None:
    answer = _ask(Upstream([_body({}, reason)], headers=JSON), client)
    failed = "error" in answer.json()
    assert failed == (client == "ollama-chat" or reason == "error")
    assert answer.status_code == (502 if failed else 200)


@pytest.mark.parametrize("client", PATHS)
@pytest.mark.parametrize("body", [b"<html>Hello</html>", b"", b"so sorry", b"null"])
def test_what_is_no_answer_at_all_is_an_error_in_the_clients_words(client: str, body: bytes) -> None:
    answer = _ask(Upstream([body], headers=[("content-type", "text/html")]), client)
    assert answer.status_code == 502
    assert answer.json()["error"]
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("arguments", ['{"city": "Zü', "", '{"city": "Zürich"'])
def test_a_broken_call_of_a_whole_answer_does_not_reach_the_client(arguments: str) -> None:
    choice = _ask(Upstream([_body(_called(arguments), "tool_calls")], headers=JSON)).json()["choices"][0]
    assert choice["message"]["content"] == "Well."
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "length"


def test_a_call_of_a_whole_answer_that_had_to_be_repaired_is_json_as_in_a_stream() -> None:
    upstream = Upstream([_body(_called('{"city": "Zürich",}'), "tool_calls")], headers=JSON)
    choice = _ask(upstream).json()["choices"][0]
    [call] = choice["message"]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"city": "Zürich"}
    assert choice["finish_reason"] == "tool_calls"


def test_after_an_error_in_the_stream_the_server_is_left_at_once() -> None:
    upstream = Upstream([b'data: {"error":{"message":"boom"}}\n\n', b": still here\n\n"])
    upstream.gate = lambda number: upstream.left.wait(60) if number else None
    with proxied(upstream) as url:
        answer = httpx.post(url + PATHS["openai-chat"], json=REQUEST | {"stream": True}, timeout=60)
        assert upstream.left.wait(60)
    assert b"boom" in answer.content


@pytest.mark.parametrize("client", PATHS)
def test_a_server_that_stays_silent_is_an_error_of_the_gateway_in_the_clients_words(client: str) -> None:
    async def silent(scope: Any, receive: Any, _send: Any) -> None:
        while scope["type"] == "http" and (await receive())["type"] != "http.disconnect":
            pass

    with (
        serving(silent) as upstream,
        serving(proxy.Proxy(proxy.Settings(upstream=upstream, read_timeout=0.5))) as url,
    ):
        answer = httpx.post(url + PATHS[client], json=_request(client), timeout=60)
    assert answer.status_code == 504
    assert "ReadTimeout" in str(answer.json()["error"])
