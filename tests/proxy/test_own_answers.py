"""What the proxy answers itself: models, counts of tokens, and whether it runs."""

from __future__ import annotations

import base64
import json
from typing import Any

import anthropic
import httpx
import ollama
import openai
import pytest
from serving import Upstream, proxied

JSON = [("content-type", "application/json")]
LISTED: dict[str, Any] = {
    "object": "list",
    "data": [
        {"id": "qwen3", "object": "model", "created": 5, "owned_by": "vllm", "max_model_len": 32768},
        {"id": "tiny", "object": "model", "meta": {"n_ctx": 4096}},
    ],
}
KEY = ("x-api-key", "the-token")
OF_OLLAMA = {"models": [{"name": "qwen3:4b", "model": "qwen3:4b", "digest": "ab", "size": 3}]}
OF_GEMINI = {"models": [{"name": "models/gemini-3-pro", "displayName": "Gemini"}]}


def _serve(listed: Any = LISTED, status: int = 200) -> Upstream:
    return Upstream([json.dumps(listed).encode()], status=status, headers=JSON)


@pytest.mark.parametrize(
    ("wire", "listed", "path", "names"),
    [
        ("openai-chat", LISTED, "/v1/models", ["qwen3", "tiny"]),
        ("openai-responses", LISTED, "/v1/models", ["qwen3", "tiny"]),
        ("ollama-chat", OF_OLLAMA, "/api/tags", ["qwen3:4b"]),
        ("gemini", OF_GEMINI, "/v1beta/models", ["gemini-3-pro"]),
    ],
)
def test_the_models_of_every_server_are_listed_for_every_official_client(
    wire: str, listed: Any, path: str, names: list[str]
) -> None:
    upstream = _serve(listed)
    with proxied(upstream, wire=wire) as url:
        with openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0) as client:
            assert [model.id for model in client.models.list()] == names
            assert client.models.retrieve(names[0]).id == names[0]
        with anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as other:
            assert [model.id for model in other.models.list()] == names
            assert other.models.retrieve(names[0]).type == "model"
        with ollama.Client(host=url) as third:
            assert [model.model for model in third.list().models] == names
    assert {asked[1] for asked in upstream.asked} == {path}


def test_what_the_server_says_of_a_model_stays_in_the_list() -> None:
    with proxied(_serve()) as url:
        [first, _] = httpx.get(url + "/v1/models", timeout=60).json()["data"]
    assert LISTED["data"][0].items() <= first.items()


def test_the_named_model_is_the_first_and_any_name_is_its() -> None:
    with proxied(_serve(), model="tiny") as url:
        listed = httpx.get(url + "/v1/models", timeout=60).json()["data"]
        assert [model["id"] for model in listed] == ["tiny", "qwen3"]
        assert httpx.get(url + "/v1/models/claude-opus-4-8", timeout=60).json()["id"] == "tiny"
        assert httpx.get(url + "/v1/models/qwen3", timeout=60).json()["id"] == "qwen3"


def test_an_entry_of_the_servers_list_that_names_no_model_is_left_out() -> None:
    with proxied(_serve({"data": [{"object": "model"}, *LISTED["data"], {"id": ""}]})) as url:
        listed = httpx.get(url + "/v1/models", timeout=60).json()["data"]
    assert [model["id"] for model in listed] == ["qwen3", "tiny"]


@pytest.mark.parametrize("path", ["/api/show", "/v1/messages/count_tokens"])
@pytest.mark.parametrize("body", [b"", b"[1]", b'{"model": '])
def test_a_question_that_is_no_json_object_is_a_bad_request(path: str, body: bytes) -> None:
    with proxied(_serve()) as url:
        answer = httpx.post(url + path, content=body, timeout=60)
    assert answer.status_code == 400
    assert "no JSON object" in answer.text


def test_a_model_that_is_not_there_is_not_found() -> None:
    with (
        proxied(_serve()) as url,
        openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0) as client,
        pytest.raises(openai.NotFoundError),
    ):
        client.models.retrieve("gpt-9")


def test_the_clients_own_key_asks_for_the_models_where_the_proxy_has_none() -> None:
    upstream = _serve()
    with proxied(upstream) as url:
        httpx.get(url + "/v1/models", headers={"authorization": "Bearer mine"}, timeout=60)
        httpx.get(url + "/api/tags", headers={"authorization": "Bearer mine"}, timeout=60)
    assert [headers["authorization"] for _, _, headers, _ in upstream.asked] == ["Bearer mine"] * 2


def test_the_key_of_the_proxy_asks_for_the_models_where_it_has_one() -> None:
    upstream = _serve()
    with proxied(upstream, key="ours") as url:
        httpx.get(url + "/v1/models", headers={"authorization": "Bearer mine", "cookie": "a=mine"}, timeout=60)
    [(_, _, headers, _)] = upstream.asked
    assert headers["authorization"] == "Bearer ours"
    assert "mine" not in str(headers)


@pytest.mark.parametrize("status", [401, 503])
def test_a_server_that_does_not_list_its_models_is_reported_with_its_status(status: int) -> None:
    with proxied(_serve({"error": {"message": "who are you?"}}, status)) as url:
        answer = httpx.get(url + "/v1/models", timeout=60)
    assert answer.status_code == status


def test_ollamas_client_is_shown_that_a_model_takes_tools_and_its_context() -> None:
    with proxied(_serve()) as url, ollama.Client(host=url) as client:
        shown = client.show("qwen3:latest")
        assert shown.capabilities is not None
        assert "tools" in shown.capabilities
        assert 32768 in (shown.modelinfo or {}).values()
        with pytest.raises(ollama.ResponseError, match="no model"):
            client.show("gone")
        version = httpx.get(url + "/api/version", timeout=60).json()["version"]
    assert [int(part) for part in version.split(".")] > [0, 5]


def test_a_server_of_ollamas_answers_its_own_paths() -> None:
    upstream = _serve(OF_OLLAMA)
    with proxied(upstream, wire="ollama-chat") as url:
        httpx.get(url + "/api/version", timeout=60)
        httpx.post(url + "/api/show", json={"model": "qwen3:4b"}, timeout=60)
    assert [path for _, path, _, _ in upstream.asked] == ["/api/version", "/api/show"]


def test_anthropics_client_counts_tokens_and_is_told_that_it_is_an_estimate() -> None:
    upstream = _serve()
    long: Any = [{"role": "user", "content": "word " * 300}]
    short: Any = [{"role": "user", "content": "word"}]
    with proxied(upstream) as url, anthropic.Anthropic(base_url=url, api_key="k", max_retries=0) as client:
        counts = [client.messages.count_tokens(model="m", messages=each).input_tokens for each in (short, long)]
        raw = client.messages.with_raw_response.count_tokens(model="m", messages=short)
    assert 300 < counts[1] < 1500
    assert counts[0] < 60
    assert raw.headers["streamparse-estimate"] == "input_tokens"
    assert upstream.asked == []


@pytest.mark.parametrize(
    ("media", "magic"),
    [("png", b"\x89PNG\r\n\x1a\n"), ("jpeg", b"\xff\xd8\xff\xe0"), ("gif", b"GIF89a"), ("webp", b"RIFF")],
)
def test_the_data_of_an_image_is_not_counted_as_text(media: str, magic: bytes) -> None:
    data = base64.b64encode(magic + bytes(range(256)) * 1000).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": f"image/{media}", "data": data}}
    for images in (1, 2):
        content = [*[image] * images, {"type": "text", "text": "word " * 300}]
        with proxied(_serve()) as url:
            body = {"model": "m", "messages": [{"role": "user", "content": content}]}
            answer = httpx.post(url + "/v1/messages/count_tokens", json=body, timeout=60)
        assert images * 1500 + 300 < answer.json()["input_tokens"] < images * 1500 + 1000


def test_base64_in_a_text_is_counted_as_text() -> None:
    text = "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(9000)).decode() + " is an image."
    with proxied(_serve()) as url:
        body = {"messages": [{"role": "user", "content": text}]}
        answer = httpx.post(url + "/v1/messages/count_tokens", json=body, timeout=60)
    assert answer.json()["input_tokens"] > 3000


def test_a_server_of_anthropics_counts_itself() -> None:
    upstream = _serve({"input_tokens": 9})
    with proxied(upstream, wire="anthropic") as url:
        answer = httpx.post(url + "/v1/messages/count_tokens", json={"messages": []}, timeout=60)
    assert (answer.json(), "streamparse-estimate" in answer.headers) == ({"input_tokens": 9}, False)


def test_whether_it_runs_is_said_without_a_token_and_without_the_server() -> None:
    upstream = _serve()
    with proxied(upstream, token="t") as url:
        assert httpx.get(url + "/healthz", timeout=60).text == "ok\n"
        assert httpx.head(url + "/", timeout=60).status_code == 200
    assert upstream.asked == []


@pytest.mark.parametrize("path", ["/metrics", "/v1/models", "/api/tags", "/v1/files", "/v1/responses"])
def test_all_else_needs_the_token_and_it_goes_no_further(path: str) -> None:
    upstream = _serve()
    wrong: list[dict[str, str]] = [
        {},
        {"authorization": "Bearer x"},
        {"x-api-key": ""},
        {"authorization": "Bearer the-token x"},
    ]
    method = "POST" if path == "/v1/responses" else "GET"
    with proxied(upstream, token="the-token") as url:
        answers = [httpx.request(method, url + path, headers=headers, timeout=60) for headers in wrong]
        assert [answer.status_code for answer in answers] == [401] * len(wrong)
        assert upstream.asked == []
        for name, value in (("authorization", "Bearer the-token"), ("authorization", "bearer the-token"), KEY):
            body = {"input": "x"} if method == "POST" else None
            assert httpx.request(method, url + path, headers={name: value}, json=body, timeout=60).status_code != 401
    assert "the-token" not in str(upstream.asked)


@pytest.mark.parametrize("streamed", [True, False])
def test_a_request_that_only_has_a_model_loaded_asks_no_model(streamed: bool) -> None:
    upstream = _serve()
    with proxied(upstream) as url, ollama.Client(host=url) as client:
        generated: Any = client.generate("m", stream=streamed)
        chatted: Any = client.chat("m", [], stream=streamed)
        answers = [*generated, *chatted] if streamed else [generated, chatted]
    assert [(answer.done, answer.done_reason) for answer in answers] == [(True, "load")] * 2
    assert upstream.asked == []
