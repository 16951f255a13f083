"""Requests in the shape of coding agents, and of Ollama's clients, in front of servers with strict templates."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import ollama
import pytest
from emitting import stream_of
from serving import Upstream, proxied

JSON = [("content-type", "application/json")]
BASH: dict[str, Any] = {
    "name": "Bash",
    "description": "Run a command.",
    "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}
CACHED = {"cache_control": {"type": "ephemeral"}}
USE = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "none", "is_error": True, **CACHED}
TURN: dict[str, Any] = {
    "model": "claude-opus-4-8",
    "max_tokens": 32000,
    "stream": True,
    "system": [{"type": "text", "text": "You are an agent."}, {"type": "text", "text": "Be brief.", **CACHED}],
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "Context."}, {"type": "text", "text": "Make it."}]},
        {"role": "system", "content": "A reminder."},
        {"role": "assistant", "content": [{"type": "text", "text": "I run it."}, USE]},
        {"role": "user", "content": [RESULT]},
    ],
    "tools": [BASH, {"type": "web_search_20250305", "name": "web_search"}],
    "metadata": {"user_id": "u"},
    "thinking": {"type": "adaptive"},
    "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
    "output_config": {"effort": "high"},
}  # fmt: skip
CHAT = stream_of("openai-chat")[1]
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 1000).decode()


def _ask(request: dict[str, Any], path: str = "/v1/messages?beta=true", **options: Any) -> tuple[Any, httpx.Response]:
    """Return what a chat server was asked, and the answer."""
    upstream = Upstream(CHAT)
    with proxied(upstream, **options) as url:
        answer = httpx.post(url + path, json=request, timeout=60)
        answer.raise_for_status()
    return json.loads(upstream.asked[0][3]), answer


def test_a_system_message_in_the_middle_is_the_users_text() -> None:
    asked, _ = _ask(TURN)
    assert [message["role"] for message in asked["messages"]] == ["system", "user", "assistant", "tool"]
    system, user = asked["messages"][:2]
    assert "A reminder." not in str(system)
    assert all(text in str(user["content"]) for text in ("Context.", "Make it.", "A reminder."))


def test_a_system_message_in_the_middle_may_be_joined_to_the_first() -> None:
    asked, _ = _ask(TURN, system_messages="join")
    system, user = asked["messages"][:2]
    assert system["content"] == "You are an agent.\n\nBe brief.\n\nA reminder."
    assert "A reminder." not in str(user)


def test_a_server_of_ollamas_gets_one_system_message_too() -> None:
    content_type, chunks = stream_of("ollama-chat")
    upstream = Upstream(chunks, headers=[("content-type", content_type)])
    with proxied(upstream, wire="ollama-chat") as url:
        httpx.post(url + "/v1/messages", json=TURN, timeout=60).raise_for_status()
    roles = [message["role"] for message in json.loads(upstream.asked[0][3])["messages"]]
    assert roles == ["system", "user", "assistant", "tool"]


def test_what_a_chat_server_has_no_place_for_is_named() -> None:
    _, answer = _ask(TURN)
    named = set(answer.headers["streamparse-lost"].split(", "))
    assert {"cache_control", "context_management", "metadata", "system", "web_search_20250305"} <= named


def test_a_request_that_says_all_that_the_server_knows_names_nothing() -> None:
    plain = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}], "tools": [BASH]}
    _, answer = _ask({**plain, "stream": True})
    assert "streamparse-lost" not in answer.headers


def test_a_result_whose_call_is_missing_is_dropped_and_named() -> None:
    orphan = {"type": "tool_result", "tool_use_id": "gone", "content": "x"}
    text = {"type": "text", "text": "And this?"}
    request = TURN | {"messages": [{"role": "user", "content": [orphan, text]}], "system": "S."}
    asked, answer = _ask(request)
    assert [message["role"] for message in asked["messages"]] == ["system", "user"]
    assert "And this?" in str(asked["messages"][1]["content"])
    assert "tool_result" in answer.headers["streamparse-lost"]


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/api/chat"])
@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "ollama-chat", "openai-responses"])
def test_any_name_of_a_model_becomes_the_one_that_is_asked(path: str, wire: str) -> None:
    upstream = Upstream([b"{}"], headers=JSON)
    question = [{"role": "user", "content": "x"}]
    request = {"model": "gpt-9", "max_tokens": 5, "messages": question, "input": question}
    request.pop("input" if path != "/v1/responses" else "messages")
    with proxied(upstream, wire=wire, model="local") as url:
        httpx.post(url + path, json=request, timeout=60)
    assert json.loads(upstream.asked[0][3])["model"] == "local"


def test_a_larger_limit_than_the_context_is_cut_and_a_smaller_one_stays() -> None:
    small = {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": True, "tools": [BASH]}
    asked, _ = _ask({**small, "max_tokens": 64_000}, context=8192)
    assert 7000 < asked["max_tokens"] < 8192
    asked, _ = _ask({**small, "max_tokens": 100}, context=8192)
    assert asked["max_tokens"] == 100
    asked, _ = _ask({**small, "max_tokens": 64_000})
    assert asked["max_tokens"] == 64_000


def test_a_prompt_that_seems_to_fill_the_context_leaves_room_for_an_answer() -> None:
    """The count is an estimate: of an answer cut to one token nobody would know why."""
    long = {
        "model": "m",
        "max_tokens": 64_000,
        "messages": [{"role": "user", "content": "word " * 9000}],
        "stream": True,
    }
    asked, _ = _ask({**long, "tools": [BASH]}, context=8192)
    assert asked["max_tokens"] == 1024


@pytest.mark.parametrize(
    ("wire", "section", "name"),
    [("ollama-chat", "options", "num_predict"), ("gemini", "generationConfig", "maxOutputTokens")],
)
def test_a_limit_in_a_section_of_the_servers_request_is_cut_as_well(wire: str, section: str, name: str) -> None:
    for limit, is_cut in ((64_000, True), (100, False)):
        upstream = Upstream([b"{}"], headers=JSON)
        question = [{"role": "user", "content": "x"}]
        request = {"model": "m", "max_tokens": limit, "temperature": 0.5, "messages": question, "tools": [BASH]}
        with proxied(upstream, wire=wire, context=8192) as url:
            httpx.post(url + "/v1/messages", json=request, timeout=60)
        options = json.loads(upstream.asked[0][3])[section]
        assert (7000 < options[name] < 8192) if is_cut else (options[name] == limit)
        assert options["temperature"] == 0.5


def test_a_limit_in_ollamas_own_options_is_cut_and_none_stays_none() -> None:
    for limit, is_cut in ((64_000, True), (100, False), (-1, False)):
        upstream = Upstream([b"{}"], headers=JSON)
        request = {"model": "m", "messages": [{"role": "user", "content": "x"}], "options": {"num_predict": limit}}
        with proxied(upstream, wire="ollama-chat", context=8192) as url:
            httpx.post(url + "/api/chat", json=request, timeout=60)
        got = json.loads(upstream.asked[0][3])["options"]["num_predict"]
        assert (7000 < got < 8192) if is_cut else (got == limit)


def test_an_image_takes_little_of_the_context() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    asked, _ = _ask({**TURN, "messages": [{"role": "user", "content": [image]}]}, context=16_384)
    assert asked["max_tokens"] > 12_000


# -- a choice of tools, on every pair of wires -------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FUNCTION = {"name": "f", "parameters": SCHEMA}
CHOICES: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {"none": "none", "any": "required", "f": {"type": "function", "function": {"name": "f"}}},
    "/v1/responses": {"none": "none", "any": "required", "f": {"type": "function", "name": "f"}},
    "/v1/messages": {"none": {"type": "none"}, "any": {"type": "any"}, "f": {"type": "tool", "name": "f"}},
}
EXPECTED: dict[str, dict[str, Any]] = {
    "openai-chat": CHOICES["/v1/chat/completions"],
    "openai-responses": CHOICES["/v1/responses"],
    "anthropic": CHOICES["/v1/messages"],
    "gemini": {"none": "NONE", "any": "ANY", "f": "ANY"},
    "cohere": {"none": "NONE", "any": "REQUIRED", "f": "REQUIRED"},
}


def _request_with(path: str, choice: str) -> dict[str, Any]:
    question = [{"role": "user", "content": "x"}]
    common = {"model": "m", "max_tokens": 5, "tool_choice": CHOICES[path][choice]}
    if path == "/v1/messages":
        return {**common, "messages": question, "tools": [{"name": "f", "input_schema": SCHEMA}]}
    if path == "/v1/responses":
        common["max_output_tokens"] = common.pop("max_tokens")
        return {**common, "input": question, "tools": [{"type": "function", **FUNCTION}]}
    return {**common, "messages": question, "tools": [{"type": "function", "function": FUNCTION}]}


def _read_choice(wire: str, asked: dict[str, Any]) -> Any:
    if wire == "gemini":
        return asked["toolConfig"]["functionCallingConfig"]["mode"]
    return asked.get("tool_choice")


@pytest.mark.parametrize("choice", ["none", "any", "f"])
@pytest.mark.parametrize("wire", EXPECTED)
@pytest.mark.parametrize("path", CHOICES)
def test_a_choice_of_tools_is_said_in_the_words_of_every_server(path: str, wire: str, choice: str) -> None:
    upstream = Upstream([b"{}"], headers=JSON)
    with proxied(upstream, wire=wire, dialects="all") as url:
        httpx.post(url + path, json=_request_with(path, choice), timeout=60)
    asked = json.loads(upstream.asked[0][3])
    if choice == "none" and not asked.get("tools"):
        return
    found, expected = _read_choice(wire, asked), EXPECTED[wire][choice]
    assert found == expected or (
        isinstance(found, dict) and isinstance(expected, dict) and expected.items() <= found.items()
    )


@pytest.mark.parametrize("choice", ["none", "any", "f"])
@pytest.mark.parametrize("path", CHOICES)
def test_a_server_of_ollamas_has_no_choice_so_none_takes_the_tools_away_and_others_are_named(
    path: str, choice: str
) -> None:
    upstream = Upstream([b'{"message":{"content":"x"},"done":true}'], headers=JSON)
    with proxied(upstream, wire="ollama-chat") as url:
        answer = httpx.post(url + path, json=_request_with(path, choice), timeout=60)
    asked = json.loads(upstream.asked[0][3])
    assert bool(asked.get("tools")) == (choice != "none")
    assert ("tool_choice" in answer.headers.get("streamparse-lost", "")) == (choice != "none")


# -- Ollama's generate -------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["openai-chat", "anthropic", "ollama-chat"])
def test_ollamas_client_generates_from_every_server(wire: str) -> None:
    content_type, chunks = stream_of(wire)
    upstream = Upstream(chunks, headers=[("content-type", content_type)])
    if wire == "ollama-chat":
        upstream.chunks = [b'{"response":"I look."}\n{"response":"","done":true,"done_reason":"stop"}\n']
    with proxied(upstream, wire=wire) as url, ollama.Client(host=url) as client:
        pieces = list(client.generate("m", "Say it.", system="Be brief.", stream=True))
    assert "".join(piece.response for piece in pieces).startswith("I look.")
    assert pieces[-1].done
    path, asked = upstream.asked[0][1], json.loads(upstream.asked[0][3])
    if wire == "ollama-chat":
        assert path == "/api/generate"
    else:
        assert "Say it." in str(asked["messages"][-1])
        assert "Be brief." in str(asked)


def test_ollamas_client_generates_a_whole_answer() -> None:
    message = {"role": "assistant", "content": "<think>Hm.</think>So."}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    upstream = Upstream([json.dumps(body).encode()], headers=JSON)
    with proxied(upstream) as url, ollama.Client(host=url) as client:
        answer = client.generate("m", "Say it.", raw=True)
    assert (answer.response, answer.done, answer.done_reason) == ("<think>Hm.</think>So.", True, "stop")
