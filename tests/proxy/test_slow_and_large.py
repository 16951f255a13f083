"""Clients and servers that are slow or say too much, and statuses that are none: each is bounded, and told."""

from __future__ import annotations

import json
import socket
import threading
import tracemalloc
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx
import pytest
from serving import Upstream, serving

from streamparse import proxy
from streamparse.cli.proxy import make_timed_protocol

CHAT = "/v1/chat/completions"
PATHS = [CHAT, "/v1/messages", "/api/chat"]
TOOLS: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
REQUEST: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
JSON = [("content-type", "application/json")]
SAID = b'data: {"choices": [{"index": 0, "delta": {"content": "Well."}, "finish_reason": null}]}\n\n'
SHORT = 0.3
"""Seconds of a limit that a test runs into."""
LONG = 1.5
"""The same where something has to come before."""


def _front(upstream: str, **settings: Any) -> proxy.Proxy:
    return proxy.Proxy(proxy.Settings(upstream=upstream, **settings))


def _connected(url: str, data: bytes) -> socket.socket:
    address = urlsplit(url)
    connection = socket.create_connection((address.hostname, address.port), timeout=60)
    connection.sendall(data)
    return connection


def _read_all(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(65_536), b""))


# -- a client ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_does_not_come_to_its_end_is_refused_in_the_clients_words(path: str) -> None:
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n".encode()
    with (
        serving(_front("http://127.0.0.1:9", request_timeout=SHORT)) as url,
        _connected(url, head + b'{"model"') as connection,
    ):
        answer = _read_all(connection)  # the connection is closed, too
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b"connection: close" in answer
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]


def test_what_has_come_of_a_body_earns_time_for_the_rest() -> None:
    piece = b" " * 200_000
    sent: list[Any] = []
    left = iter([3, 2, 1, 0])

    async def receive() -> Any:
        for more in left:
            await anyio.sleep(SHORT)  # two pauses are as long as the limit
            return {"type": "http.request", "body": piece, "more_body": more > 0}
        await anyio.sleep_forever()
        return None

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask(url: str) -> None:
        scope: Any = {
            "type": "http",
            "method": "POST",
            "path": "/x",
            "query_string": b"",
            "headers": [],
            "server": None,
        }
        async with _front(url, request_timeout=2 * SHORT) as application:
            await application(scope, receive, send)

    upstream = Upstream([b"{}"], headers=JSON)
    with serving(upstream) as url:
        anyio.run(ask, url)
    assert sent[0]["status"] == 200
    assert len(upstream.asked[0][3]) == 4 * len(piece)


@pytest.mark.parametrize("begun", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: localhost\r\n"])
def test_a_head_that_does_not_come_to_its_end_closes_the_connection(begun: bytes) -> None:
    with (
        serving(_front("http://127.0.0.1:9"), http=make_timed_protocol(SHORT)) as url,
        _connected(url, begun) as connection,
    ):
        assert _read_all(connection) == b""


def test_a_head_after_an_answer_has_the_same_time() -> None:
    upstream = Upstream([b"{}"], headers=[*JSON, ("content-length", "2")])
    request = b"GET /v1/files HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with (
        serving(upstream) as server,
        serving(_front(server), http=make_timed_protocol(SHORT)) as url,
        _connected(url, request) as connection,
    ):
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
        connection.sendall(request[:9])
        assert b"HTTP/1.1" not in _read_all(connection)


@pytest.mark.parametrize(
    ("begun", "piece"),
    [
        (b"GET /", b"x"),
        (b"GET /x HTTP/1.1\r\nhost: localhost\r\nx: ", b"x"),
        (b"GET /x HTTP/1.1\r\nhost: localhost\r\n", b"name: value\r\n"),
        (b"POST /x HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", b"name: value\r\n"),
        (b"POST /x HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0;", b"x"),
    ],
)
def test_what_is_neither_a_request_nor_its_body_is_bounded(begun: bytes, piece: bytes) -> None:
    endless = piece * (25_000_000 // len(piece))
    with (
        serving(_front("http://127.0.0.1:9"), http=make_timed_protocol(60)) as url,
        _connected(url, begun) as connection,
        pytest.raises(ConnectionError),
    ):
        connection.sendall(endless)


def test_a_large_body_in_small_chunks_is_no_head() -> None:
    upstream = Upstream([b"x"])
    body = b"1\r\nx\r\n" * 50_000
    head = b"POST /x HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    with (
        serving(upstream) as server,
        serving(_front(server), http=make_timed_protocol(60)) as url,
        _connected(url, head + body + b"0\r\n\r\n") as connection,
    ):
        assert _read_all(connection).startswith(b"HTTP/1.1 200 ")
    assert upstream.asked[0][3] == b"x" * 50_000


def test_the_body_of_a_request_that_asks_for_another_protocol_is_read() -> None:
    """Java's client asks for HTTP/2 in each request to a plain address."""
    upstream = Upstream([b"x"])
    upgrade = {"connection": "Upgrade, HTTP2-Settings", "upgrade": "h2c", "http2-settings": "AAEAAEAAAAIAAAAB"}
    with serving(upstream) as server, serving(_front(server), http=make_timed_protocol(60)) as url, httpx.Client() as c:
        for _ in range(2):
            assert c.post(f"{url}/x", content=b"hello", headers=upgrade, timeout=60).status_code == 200
    assert [body for *_, body in upstream.asked] == [b"hello"] * 2
    assert not {"upgrade", "http2-settings"} & upstream.asked[0][2].keys()


def test_an_answer_may_take_longer_than_the_head_of_its_request() -> None:
    upstream = Upstream([b"[", b"]"], headers=JSON)
    upstream.gate = lambda number: threading.Event().wait(3 * SHORT) if number else None
    with serving(upstream) as server, serving(_front(server), http=make_timed_protocol(SHORT)) as url:
        assert httpx.get(url + "/v1/files", timeout=60).content == b"[]"


# -- a server ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_a_server_whose_answer_does_not_begin_in_time_is_an_error_of_the_gateway(path: str) -> None:
    upstream = Upstream([b"{}"], headers=JSON)

    async def never(scope: Any, receive: Any, send: Any) -> None:
        while scope["type"] == "http" and (await receive())["type"] != "http.disconnect":
            pass
        upstream.left.set()

    with serving(never) as server, serving(_front(server, answer_timeout=SHORT)) as url:
        answer = httpx.post(url + path, json=REQUEST, timeout=60)
        assert upstream.left.wait(60)
    assert answer.status_code == 504
    assert "0.3 seconds" in str(answer.json()["error"])


@pytest.mark.parametrize("path", PATHS)
def test_a_stream_that_never_ends_is_ended_with_an_error_and_the_server_is_left(path: str) -> None:
    upstream = Upstream([SAID] * 100_000)
    upstream.gate = lambda _: threading.Event().wait(0.02)
    with serving(upstream) as server, serving(_front(server, answer_timeout=LONG)) as url:
        answer = httpx.post(url + path, json=REQUEST | {"stream": True, "tools": TOOLS}, timeout=60)
        assert upstream.left.wait(60)
    assert "Well." in answer.text
    assert "1.5 seconds" in answer.text


def test_what_passes_and_never_ends_is_broken_off() -> None:
    upstream = Upstream([SAID] * 100_000)
    upstream.gate = lambda _: threading.Event().wait(0.02)
    with serving(upstream) as server, serving(_front(server, answer_timeout=LONG)) as url:
        with pytest.raises(httpx.RemoteProtocolError):
            httpx.post(url + CHAT, json=REQUEST | {"stream": True}, timeout=60)
        assert upstream.left.wait(60)


@pytest.mark.parametrize("status", ["000", "099", "101", "199", "600", "999"])
@pytest.mark.parametrize("request_", [{}, {"tools": TOOLS}])
def test_a_status_that_no_answer_can_have_is_an_error_of_the_gateway(status: str, request_: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_answer, args=(listener, f"HTTP/1.1 {status} Odd\r\n"))
        thread.start()
        with serving(_front(f"http://127.0.0.1:{listener.getsockname()[1]}")) as url:
            answer = httpx.post(url + CHAT, json=REQUEST | request_, timeout=60)
        thread.join()
    assert answer.status_code == 502
    assert answer.json()["error"]["message"]


def _answer(listener: socket.socket, line: str) -> None:
    connection, _ = listener.accept()
    with connection:
        connection.recv(65_536)
        connection.sendall(line.encode() + b"content-length: 2\r\n\r\n{}")


# -- size -------------------------------------------------------------------------------------------------

MIB = 1024 * 1024
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "' + b"word " * 13_000 + b'"}}]}\n\n'


class Flood:
    """A server that streams so many bytes, whatever it was asked."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.sent = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        while self.sent < self.size:
            self.sent += len(PIECE)
            await send({"type": "http.response.body", "body": PIECE, "more_body": True})
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})


def _read(url: str, path: str) -> tuple[int, int]:
    """The status of a whole answer, and the most memory that was in use meanwhile, in MiB."""
    request = REQUEST | {"stream": False, "tools": TOOLS}
    tracemalloc.start()
    try:
        with httpx.stream("POST", url + path, json=request, timeout=300) as answer:
            for _ in answer.iter_raw():
                pass
        return answer.status_code, tracemalloc.get_traced_memory()[1] // MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("path", [CHAT, "/v1/messages"])
def test_a_whole_answer_that_is_too_large_is_an_error_and_costs_no_more_than_its_limit(path: str) -> None:
    with serving(Flood(256 * MIB)) as server, serving(_front(server, max_answer=8 * MIB)) as url:
        status, peak = _read(url, path)
    assert status == 502
    assert peak < 3 * 8


@pytest.mark.parametrize("path", [CHAT, "/v1/messages"])
def test_a_whole_answer_costs_a_few_times_its_size(path: str) -> None:
    with serving(Flood(16 * MIB)) as server, serving(_front(server)) as url:
        status, peak = _read(url, path)
    assert status == 200
    assert peak < 5 * 16
