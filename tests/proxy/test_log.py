"""What the log says of each request: one line, and nothing of what was said."""

from __future__ import annotations

import json
import logging
import re
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from serving import Upstream, proxied, serving

from streamparse import proxy

CHAT = "/v1/chat/completions"
TOOLS: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
REQUEST: Any = {"model": "m", "messages": [{"role": "user", "content": "a secret question"}], "tools": TOOLS}
JSON = [("content-type", "application/json")]
MESSAGE = {"role": "assistant", "content": "a secret answer"}
WHOLE = json.dumps({"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}).encode()
LINE = r"127\.0\.0\.1:\d+ {} {} {}, {} bytes, \d+\.\d{{3}} s(?:, model m, openai-chat to openai-chat)?{}"


@pytest.fixture(autouse=True)
def _at_info(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "streamparse.proxy")


def _matches(caplog: pytest.LogCaptureFixture, level: int, *parts: object) -> bool:
    """Whether the log is one line of that level: method, path, status, bytes, and what follows."""
    [record] = [each for each in caplog.records if each.name == "streamparse.proxy"]
    assert "secret" not in record.getMessage()
    return record.levelno == level and re.fullmatch(LINE.format(*parts), record.getMessage()) is not None


def test_an_answer_is_one_line_without_the_query(caplog: pytest.LogCaptureFixture) -> None:
    with proxied(Upstream([WHOLE], headers=JSON)) as url:
        httpx.post(url + CHAT + "?key=secret", json=REQUEST, timeout=60)
    assert _matches(caplog, logging.INFO, "POST", CHAT, 200, len(WHOLE), "")


def test_what_passes_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    with proxied(Upstream([b"[]"], headers=JSON, status=404)) as url:
        httpx.get(url + "/v1/files", timeout=60)
    assert _matches(caplog, logging.INFO, "GET", "/v1/files", 404, 2, "")


def test_a_server_that_cannot_be_reached_is_a_warning_that_says_why(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with serving(proxy.app(f"http://127.0.0.1:{port}")) as url:
        assert httpx.post(url + CHAT, json=REQUEST, timeout=60).status_code == 502
    assert _matches(caplog, logging.WARNING, "POST", CHAT, 502, r"\d+", ": ConnectError: .+")


def test_what_a_broken_server_sent_is_not_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    upstream = Upstream([WHOLE[:40]], headers=[*JSON, ("content-length", "500")])
    upstream.breaks = True
    with proxied(upstream) as url:
        assert httpx.post(url + CHAT, json=REQUEST, timeout=60).status_code == 502
    assert _matches(caplog, logging.WARNING, "POST", CHAT, 502, r"\d+", ": RemoteProtocolError")


def test_an_error_in_a_stream_is_a_warning_with_its_code(caplog: pytest.LogCaptureFixture) -> None:
    error = b'data: {"error": {"message": "a secret reason"}}\n\n'
    with proxied(Upstream([error])) as url:
        httpx.post(url + CHAT, json=REQUEST | {"stream": True}, timeout=60)
    assert _matches(caplog, logging.WARNING, "POST", CHAT, 200, r"\d+", ": provider_error")


def test_a_refused_request_is_a_warning_that_says_why(caplog: pytest.LogCaptureFixture) -> None:
    with proxied(Upstream([WHOLE], headers=JSON)) as url:
        httpx.get(url + "/", headers={"host": "evil.example"}, timeout=60)
    assert _matches(caplog, logging.WARNING, "GET", "/", 403, r"\d+", ": the host 'evil.example' .+")


def test_a_client_that_leaves_is_one_line_that_says_so(caplog: pytest.LogCaptureFixture) -> None:
    upstream = Upstream([WHOLE[:9], WHOLE[9:]], headers=JSON)
    upstream.gate = lambda number: upstream.left.wait(60) if number else None
    with proxied(upstream) as url:
        with httpx.stream("POST", url + CHAT, json=REQUEST | {"tools": []}, timeout=60) as answer:
            next(answer.iter_raw())
        assert upstream.left.wait(60)
    assert _matches(caplog, logging.INFO, "POST", CHAT, 200, 9, ", the client left")


def test_no_name_of_a_client_can_write_a_line_or_move_a_cursor(caplog: pytest.LogCaptureFixture) -> None:
    with proxied(Upstream([WHOLE], headers=JSON)) as url:
        address = urlsplit(url)
        with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
            connection.sendall(b"GET /%0a%1b[31m HTTP/1.1\r\nhost: \x9b31m\xe9\r\nconnection: close\r\n\r\n")
            assert b" 403 " in connection.recv(65_536)
    [record] = [each for each in caplog.records if each.name == "streamparse.proxy"]
    message = record.getMessage()
    assert message.isascii()
    assert message.isprintable()
