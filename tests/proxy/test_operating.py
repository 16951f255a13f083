"""What whoever runs a proxy sees of it: the log, counters, warnings, and how it treats odd requests and silence."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import socket
import threading
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from emitting import stream_of
from serving import Upstream, proxied, serving

from streamparse import proxy
from streamparse.proxy.counters import Counters

CHAT = "/v1/chat/completions"
JSON = [("content-type", "application/json")]
TOOLS: Any = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]
REQUEST: Any = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "a secret"}], "tools": TOOLS}
ASKED: Any = {"model": "m", "max_tokens": 9, "stream": True, "messages": REQUEST["messages"]}
MARKUP = stream_of("openai-chat")[1]


@pytest.fixture(autouse=True)
def _at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "streamparse.proxy")


def _line(caplog: pytest.LogCaptureFixture) -> str:
    [record] = [each for each in caplog.records if each.name == "streamparse.proxy"]
    return record.getMessage()


def test_the_line_of_a_request_names_model_wires_and_calls_and_nothing_of_its_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with proxied(Upstream(MARKUP)) as url:
        tool = {"name": "get_weather", "input_schema": {"type": "object"}}
        httpx.post(url + "/v1/messages", json={**ASKED, "tools": [tool]}, timeout=60)
    line = _line(caplog)
    assert re.search(
        r" POST /v1/messages 200, \d+ bytes, .*, model m, anthropic to openai-chat, 2 calls \(hermes plain\)", line
    )
    assert "secret" not in line
    assert "rich" not in line


def test_a_request_with_tools_that_passes_unread_is_a_warning_and_has_a_header(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with proxied(Upstream([b"data: {}\n\n"]), wire="openai-responses") as url:
        tool = {"type": "function", "name": "f", "parameters": {"type": "object"}}
        answer = httpx.post(url + "/v1/responses", json={"input": "x", "tools": [tool]}, timeout=60)
    assert answer.headers["streamparse-unread"] == "tools"
    assert "are not looked for" in _line(caplog)


@pytest.mark.parametrize(
    ("path", "tools"),
    [
        ("/openai/deployments/m/chat/completions", TOOLS),
        ("/v1beta/models/m:generateContent", [{"functionDeclarations": []}]),
    ],
)
def test_a_request_with_tools_on_an_unknown_path_is_a_warning_and_has_a_header(
    caplog: pytest.LogCaptureFixture, path: str, tools: Any
) -> None:
    upstream = Upstream([b"{}"], headers=JSON)
    with proxied(upstream) as url:
        answer = httpx.post(url + path, json={"tools": tools}, timeout=60)
    assert answer.headers["streamparse-unread"] == "tools"
    assert "are not looked for" in _line(caplog)
    assert json.loads(upstream.asked[0][3]) == {"tools": tools}


@pytest.mark.parametrize("path", ["/v1/messages/count_tokens", "/apply-template", "/v1/responses/input_tokens"])
def test_a_request_for_no_answer_of_a_model_is_no_warning(caplog: pytest.LogCaptureFixture, path: str) -> None:
    with proxied(Upstream([b"{}"], headers=JSON), wire="anthropic") as url:
        answer = httpx.post(url + path, json={"tools": TOOLS}, timeout=60)
    assert "streamparse-unread" not in answer.headers
    assert "not looked for" not in _line(caplog)


@pytest.mark.parametrize("body", [b'"tools"', b'{"tools": ', b'{"tools": []}', b'{"input": "the \\"tools\\" of"}'])
def test_a_body_without_tools_on_an_unknown_path_is_no_warning(caplog: pytest.LogCaptureFixture, body: bytes) -> None:
    with proxied(Upstream([b"{}"], headers=JSON)) as url:
        answer = httpx.post(url + "/v1/embeddings", content=body, timeout=60)
    assert "streamparse-unread" not in answer.headers
    assert "not looked for" not in _line(caplog)


@pytest.mark.parametrize("changes", [{"tools": []}, {"tool_choice": "none"}])
def test_a_request_without_tools_is_no_warning(caplog: pytest.LogCaptureFixture, changes: Any) -> None:
    with proxied(Upstream(MARKUP)) as url:
        answer = httpx.post(url + CHAT, json=REQUEST | changes, timeout=60)
    assert "streamparse-unread" not in answer.headers
    assert "not looked for" not in _line(caplog)


@pytest.mark.parametrize(("trusted", "expected"), [(["127.0.0.1"], "203.0.113.9"), (["10.0.0.1"], "127.0.0.1")])
def test_a_forwarded_address_is_believed_of_trusted_proxies_alone(
    caplog: pytest.LogCaptureFixture, trusted: list[str], expected: str
) -> None:
    with serving(Upstream([b"{}"], headers=JSON)) as upstream:
        front = proxy.app(upstream)
        with serving(front, proxy_headers=True, forwarded_allow_ips=trusted) as url:
            httpx.get(url + "/v1/files", headers={"x-forwarded-for": "203.0.113.9"}, timeout=60)
    assert _line(caplog).startswith(expected + ":")


def test_the_calls_are_counted_by_their_dialects_wherever_they_stood() -> None:
    counters = Counters()
    for name, *labels in (("calls", "native", "field"), ("calls", "hermes", "bare"), ("calls", "hermes", "plain")):
        counters.add(name, *labels)
    counters.add("errors", "provider_error")
    assert counters.list_calls() == [("hermes", 2), ("native", 1)]


def test_a_web_socket_is_closed_at_once() -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(proxy.app("http://127.0.0.1:9")({"type": "websocket", "path": CHAT, "headers": []}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1000}]


def test_the_counters_are_read_by_prometheus() -> None:
    broken = [
        b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n',
        b'data: {"error":{"message":"a secret"}}\n\n',
    ]
    upstream = Upstream(MARKUP)
    with proxied(upstream) as url:
        httpx.post(url + CHAT, json=REQUEST, timeout=60)
        upstream.chunks = broken
        httpx.post(url + CHAT, json=REQUEST, timeout=60)
        text = httpx.get(url + "/metrics", timeout=60)
    assert text.headers["content-type"].startswith("text/plain")
    lines = text.text.splitlines()
    assert 'streamparse_requests_total{wire="openai-chat",status="200"} 2' in lines
    assert 'streamparse_calls_total{dialect="hermes",place="plain"} 2' in lines
    assert 'streamparse_errors_total{code="provider_error"} 1' in lines
    assert "streamparse_repaired_calls_total 0" in lines
    assert int(next(line for line in lines if line.startswith("streamparse_answer_bytes_total ")).split()[1]) > 100
    assert "secret" not in text.text
    samples = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r'[a-z_]+(\{([a-z]+="[^"\\]*",?)+\})? \d+', line) for line in samples)


def test_a_stream_that_breaks_is_counted_as_an_error(caplog: pytest.LogCaptureFixture) -> None:
    upstream = Upstream(MARKUP[:-2])
    upstream.breaks = True
    with proxied(upstream) as url:
        answer = httpx.post(url + CHAT, json=REQUEST, timeout=60)
        lines = httpx.get(url + "/metrics", timeout=60).text.splitlines()
    assert '"error"' in answer.text
    assert 'streamparse_errors_total{code="transport_error"} 1' in lines
    assert any(each.getMessage().endswith(": RemoteProtocolError") for each in caplog.records)


@pytest.mark.parametrize("path", [CHAT, "/v1/responses", "/v1/messages"])
def test_a_stream_that_is_silent_is_kept_alive_by_comments(path: str) -> None:
    upstream, seen = Upstream(MARKUP), threading.Event()
    upstream.gate = lambda number: seen.wait(60) if number == 3 else None
    body = b""
    tools: Any = TOOLS if path == CHAT else [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
    request = {**ASKED, "input": "x", "tools": tools}
    if path == "/v1/messages":
        request["tools"] = [{"name": "f", "input_schema": {"type": "object"}}]
    with (
        proxied(upstream, keep_alive=0.01) as url,
        httpx.stream("POST", url + path, json=request, timeout=60) as answer,
    ):
        assert answer.headers["x-accel-buffering"] == "no"
        for piece in answer.iter_raw():
            body += piece
            if b": keep-alive\n\n" in body:
                seen.set()
    blocks = body.split(b"\n\n")
    assert {block.partition(b":")[0] for block in blocks if block} <= {b"", b"data", b"event"}


def test_lines_of_json_have_no_comments() -> None:
    upstream, pause = Upstream(MARKUP), threading.Event()
    upstream.gate = lambda number: pause.wait(0.1) if number == 3 else None
    with proxied(upstream, keep_alive=0.001) as url:
        answer = httpx.post(url + "/api/chat", json={**ASKED, "tools": TOOLS}, timeout=60)
    assert all(json.loads(line) for line in answer.content.splitlines())


@pytest.mark.parametrize("head", [b"TRACE / HTTP/1.1\r\n", b"CONNECT evil.example:443 HTTP/1.1\r\n"])
def test_a_tunnel_and_an_echo_are_refused(head: bytes) -> None:
    upstream = Upstream([b"{}"], headers=JSON)
    with proxied(upstream) as url:
        address = urlsplit(url)
        with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
            connection.sendall(head + b"host: 127.0.0.1\r\n\r\n")
            status = connection.recv(65_536).split()[1]
    assert status in (b"405", b"400")
    assert upstream.asked == []


def test_a_body_with_two_lengths_is_refused() -> None:
    upstream = Upstream([b"{}"], headers=JSON)
    with proxied(upstream) as url:
        address = urlsplit(url)
        with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
            head = f"POST {CHAT} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n"
            connection.sendall(head.encode() + b"0\r\n\r\n")
            status = connection.recv(65_536).split()[1]
    assert status == b"400"
    assert upstream.asked == []


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/v1/responses", "/api/chat"])
def test_a_server_that_stays_silent_is_a_gateway_timeout(path: str) -> None:
    upstream, over = Upstream(MARKUP), threading.Event()

    async def keep_silent(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            while not over.is_set() and (await receive())["type"] != "http.disconnect":
                pass

    assert upstream.asked == []
    with proxied(keep_silent, read_timeout=0.05) as url:
        answer = httpx.post(url + path, json={**ASKED, "input": "x"}, timeout=60)
        over.set()
    assert answer.status_code == 504
    assert "Timeout" in answer.text
