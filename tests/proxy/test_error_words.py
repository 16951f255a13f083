"""Errors and filters: in the words that each client's official library and its programs look for."""

from __future__ import annotations

import json
from typing import Any

import anthropic
import httpx
import ollama
import openai
import pytest
from serving import Upstream, proxied, serving

from streamparse import proxy
from streamparse.providers.emitters import EMITTERS

JSON = [("content-type", "application/json")]
SSE = [("content-type", "text/event-stream")]
MESSAGES: Any = [{"role": "user", "content": "x"}]
REQUEST: Any = {"model": "m", "max_tokens": 9, "messages": MESSAGES}
PATHS = {"openai-chat": "/v1/chat/completions", "anthropic": "/v1/messages", "ollama-chat": "/api/chat"}
CLIENTS = pytest.mark.parametrize("client", PATHS)
EACH_WAY = pytest.mark.parametrize("streamed", [True, False])


def _other(client: str) -> str:
    """A server's wire that is not the client's."""
    return "anthropic" if client == "openai-chat" else "openai-chat"


def _ask(upstream: Upstream, client: str, wire: str, **options: Any) -> httpx.Response:
    with proxied(upstream, wire=wire) as url:
        return httpx.post(url + PATHS[client], json=REQUEST | {"stream": False} | options, timeout=60)


LIMITED = b'{"error": {"message": "slow down", "type": "rate_limit_error", "code": "rate_limit"}}'


def test_a_status_makes_the_kind_that_anthropics_client_knows() -> None:
    statuses = {
        400: "invalid_request_error",
        401: "authentication_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        422: "invalid_request_error",
        429: "rate_limit_error",
        500: "api_error",
        502: "api_error",
        529: "overloaded_error",
    }
    for status, kind in statuses.items():
        with (
            proxied(Upstream([LIMITED], status=status, headers=JSON)) as url,
            anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client,
            pytest.raises(anthropic.APIStatusError) as raised,
        ):
            client.messages.create(model="m", max_tokens=9, messages=MESSAGES)
        body: Any = raised.value.body
        assert (raised.value.status_code, body["error"]["type"]) == (status, kind)
        assert "slow down" in body["error"]["message"]
        assert "rate_limit" in body["error"]["message"]


def test_a_status_makes_the_kind_that_openais_client_knows_and_the_code_stays_the_servers() -> None:
    statuses = {
        400: "invalid_request_error",
        401: "authentication_error",
        404: "invalid_request_error",
        429: "rate_limit_error",
        500: "server_error",
        529: "server_error",
    }
    body = b'{"type": "error", "error": {"type": "overloaded_error", "message": "slow down"}}'
    for status, kind in statuses.items():
        with (
            proxied(Upstream([body], status=status, headers=JSON), wire="anthropic") as url,
            openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0) as client,
            pytest.raises(openai.APIStatusError, match="slow down") as raised,
        ):
            client.chat.completions.create(model="m", messages=MESSAGES)
        error = raised.value
        assert (error.status_code, error.type, error.code) == (status, kind, "overloaded_error")


def test_ollamas_client_is_told_the_code_and_the_words_with_the_status() -> None:
    with (
        proxied(Upstream([LIMITED], status=429, headers=JSON)) as url,
        ollama.Client(host=url) as client,
        pytest.raises(ollama.ResponseError) as raised,
    ):
        client.chat("m", MESSAGES)
    assert (raised.value.status_code, raised.value.error) == (429, "rate_limit: slow down")


def test_the_status_of_googles_errors_is_no_kind() -> None:
    body = b'{"error": {"code": 400, "message": "bad", "status": "INVALID_ARGUMENT"}}'
    for client in ("openai-chat", "anthropic"):
        error = _ask(Upstream([body], status=400, headers=JSON), client, "gemini").json()["error"]
        assert (error["type"], error["message"]) == ("invalid_request_error", "bad")


@pytest.mark.parametrize(
    ("code", "anthropics", "openais"),
    [
        ("overloaded_error", "overloaded_error", "server_error"),
        ("rate_limit_exceeded", "rate_limit_error", "rate_limit_error"),
        ("503", "overloaded_error", "server_error"),
        ("429", "rate_limit_error", "rate_limit_error"),
        ("200", "api_error", "server_error"),
        ("something", "api_error", "server_error"),
    ],
)
def test_an_error_in_a_stream_has_the_kind_that_its_code_stands_for(code: str, anthropics: str, openais: str) -> None:
    told = json.loads(EMITTERS["anthropic"]().write_error_body(code, "words"))["error"]
    assert told["type"] == anthropics
    assert "words" in told["message"]
    assert json.loads(EMITTERS["openai-chat"]().write_error_body(code, "words"))["error"]["type"] == openais


@EACH_WAY
def test_an_error_to_which_the_server_gave_no_code_is_told_in_its_words_alone(streamed: bool) -> None:
    body = b'{"error": "it is too warm"}\n'
    status = 200 if streamed else 500
    for client, kind in (("openai-chat", "server_error"), ("anthropic", "api_error")):
        told = _ask(Upstream([body], status=status, headers=JSON), client, "ollama-chat", stream=streamed).text
        error = json.loads(told[told.index("{") :])["error"]
        assert (error["type"], error["message"]) == (kind, "it is too warm")


@CLIENTS
def test_an_answer_with_an_error_status_is_an_error_whatever_its_body_says(client: str) -> None:
    message = {"role": "assistant", "content": "All well."}
    whole: Any = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    if client == "openai-chat":
        whole = {"type": "message", "role": "assistant", "content": [], "stop_reason": "end_turn"}
    answer = _ask(Upstream([json.dumps(whole).encode()], status=500, headers=JSON), client, _other(client))
    assert answer.status_code == 500
    assert "500" in str(answer.json()["error"])


@CLIENTS
@pytest.mark.parametrize("status", [204, 205, 304])
def test_a_status_without_a_body_is_no_answer_to_a_client_of_another_wire(client: str, status: int) -> None:
    answer = _ask(Upstream([], status=status, headers=[("x-own", "1")]), client, _other(client))
    assert answer.status_code == 502
    assert str(status) in str(answer.json()["error"])


@CLIENTS
def test_an_answer_with_another_status_of_success_is_read(client: str) -> None:
    message = {"role": "assistant", "content": "Well."}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    answer = _ask(Upstream([body], status=201, headers=JSON), client, "openai-chat")
    assert answer.status_code == 201
    assert "Well." in answer.text
    assert "error" not in answer.json()


@CLIENTS
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'"x"', b"\xff", b"[" * 100_000])
def test_a_body_that_no_other_wire_can_be_told_is_refused_and_nobody_is_asked(client: str, body: bytes) -> None:
    upstream = Upstream([b"{}"], headers=JSON)
    with proxied(upstream, wire=_other(client)) as url:
        answer = httpx.post(url + PATHS[client], content=body, timeout=60)
    assert answer.status_code == 400
    assert "no JSON object" in str(answer.json()["error"])
    assert upstream.asked == []


@CLIENTS
def test_a_request_that_is_too_large_is_refused_in_the_clients_words(client: str) -> None:
    with serving(proxy.Proxy(proxy.Settings(upstream="http://127.0.0.1:9", max_request=10))) as url:
        answer = httpx.post(url + PATHS[client], json=REQUEST, timeout=60)
        assert httpx.post(url + "/v1/files", content=b"x" * 11, timeout=60).text == "the request is too large\n"
    assert answer.status_code == 413
    assert "too large" in str(answer.json()["error"])


# -- filters ------------------------------------------------------------------------------------------------

TEXT = "Half of it"


def _filtered(reason: str, words: str | None, *, streamed: bool) -> Upstream:
    """Gemini's answer of which a filter lets only a part through, with its explanation or without."""
    ending = {"finishReason": reason} | ({"finishMessage": words} if words else {})
    candidate = {"content": {"role": "model", "parts": [{"text": TEXT}]}, "index": 0, **ending}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}
    body = json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode()
    return Upstream([b"data: " + body + b"\n\n"], headers=SSE) if streamed else Upstream([body], headers=JSON)


FILTERS = pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "MODEL_ARMOR"])
WORDS = pytest.mark.parametrize("words", ["It was unsafe.", None])


@FILTERS
@WORDS
@EACH_WAY
def test_a_filter_ends_a_turn_in_one_way_whether_the_server_explains_it_or_not(
    reason: str, words: str | None, streamed: bool
) -> None:
    with (
        proxied(_filtered(reason, words, streamed=streamed), wire="gemini") as url,
        anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client,
    ):
        wanted: Any = {"model": "m", "max_tokens": 9, "messages": MESSAGES}
        if streamed:
            with client.messages.stream(**wanted) as events:
                message = events.get_final_message()
        else:
            message = client.messages.create(**wanted)
    assert (message.stop_reason, [getattr(block, "text", "") for block in message.content]) == ("refusal", [TEXT])
    assert (message.usage.input_tokens, message.usage.output_tokens) == (3, 4)


@FILTERS
@WORDS
@EACH_WAY
def test_the_text_before_a_filter_reaches_openais_client(reason: str, words: str | None, streamed: bool) -> None:
    with (
        proxied(_filtered(reason, words, streamed=streamed), wire="gemini") as url,
        openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0) as client,
    ):
        answer: Any = client.chat.completions.create(model="m", messages=MESSAGES, stream=streamed)
        chunks = list(answer) if streamed else [answer]
    last = chunks[-1]
    said = [chunk.choices[0].delta.content or "" for chunk in chunks] if streamed else [last.choices[0].message.content]
    assert ("".join(said), last.choices[0].finish_reason) == (TEXT, "content_filter")
    assert last.usage.completion_tokens == 4


@EACH_WAY
def test_a_reason_that_is_no_filters_is_an_error_whether_the_server_explains_it_or_not(streamed: bool) -> None:
    for words in ("It broke.", None):
        answer = _ask(_filtered("MALFORMED_RESPONSE", words, streamed=streamed), "anthropic", "gemini", stream=streamed)
        assert b'"type":"api_error"' in answer.content
        assert b"MALFORMED_RESPONSE" in answer.content


@CLIENTS
@EACH_WAY
def test_an_error_that_names_a_filter_and_ends_no_turn_is_an_error(client: str, streamed: bool) -> None:
    body = b'{"error": {"message": "Your prompt was filtered.", "code": "content_filter"}}'
    upstream = Upstream([b"data: " + body + b"\n\n"], headers=SSE) if streamed else Upstream([body], headers=JSON)
    answer = _ask(upstream, client, "openai-responses", stream=streamed)
    assert "Your prompt was filtered." in answer.text
    assert "error" in answer.text
    assert "finish_reason" not in answer.text
