"""Clients and servers at their worst, on bare sockets: what stands between them keeps its promises."""

from __future__ import annotations

import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from serving import serving

from streamparse import proxy

TOOLS: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
REQUEST: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
CHAT = "/v1/chat/completions"
SAID = b'data: {"choices": [{"index": 0, "delta": {"content": "Well."}, "finish_reason": null}]}\n\n'
FINISH = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
DONE = b"data: [DONE]\n\n"
STREAM = SAID + FINISH + DONE
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"
MESSAGE = {"role": "assistant", "content": "Well."}
WHOLE = json.dumps({"choices": [{"index": 0, "message": MESSAGE, "finish_reason": "stop"}]}).encode()

Answer = Callable[[socket.socket], object]


class Server(socketserver.ThreadingTCPServer):
    """Reads requests, and lets a function write whatever it likes; it counts its connections."""

    daemon_threads = True

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Connection)
        self.answer = answer
        self.asked: list[bytes] = []
        self.connections = 0
        self.left = threading.Event()


class _Connection(socketserver.StreamRequestHandler):
    server: Server

    def handle(self) -> None:
        self.server.connections += 1
        try:
            while self._read():
                if self.server.answer(self.connection) == "close":
                    return
        except OSError:
            pass
        finally:
            self.server.left.set()

    def _read(self) -> bool:
        head = b""
        while (line := self.rfile.readline()) not in (b"\r\n", b""):
            head += line
        if not head:
            return False
        sizes = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        self.server.asked.append(head + b"\r\n" + self.rfile.read(sizes[0] if sizes else 0))
        return True


@contextmanager
def _fronted(answer: Answer | bytes, **options: Any) -> Iterator[tuple[str, Server]]:
    """The URL of a proxy in front of a server that answers so."""
    write: Answer = (lambda connection: connection.sendall(answer)) if isinstance(answer, bytes) else answer
    with Server(write) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            with serving(proxy.app(f"http://127.0.0.1:{server.server_address[1]}", **options)) as url:
                yield url, server
        finally:
            server.shutdown()
            thread.join()


def _sized(body: bytes, kind: str = "application/json", *headers: str) -> bytes:
    lines = ["HTTP/1.1 200 OK", f"content-type: {kind}", f"content-length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _ask(url: str, path: str = CHAT, **options: Any) -> httpx.Response:
    return httpx.post(url + path, json=REQUEST | {"tools": TOOLS} | options, timeout=60)


def _asks_until_one_is_used_again(ask: Callable[[], object], server: Server) -> bool:
    """Ask until two requests came over one connection.  The next may come before the proxy has the last one free."""
    for pause in range(50):
        ask()
        if server.connections < len(server.asked):
            return True
        threading.Event().wait(pause / 100)
    return False


def _raw(url: str, *pieces: bytes) -> socket.socket:
    address = urlsplit(url)
    connection = socket.create_connection((address.hostname, address.port), timeout=60)
    for piece in pieces:
        connection.sendall(piece)
    return connection


def _read_all(connection: socket.socket) -> bytes:
    with connection:
        return b"".join(iter(lambda: connection.recv(65_536), b""))


# -- the server ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/api/chat"])
def test_a_server_that_streams_though_asked_for_a_whole_answer_gives_the_client_a_whole_one(path: str) -> None:
    with _fronted(_sized(STREAM, "text/event-stream")) as (url, _):
        answer = _ask(url, path, stream=False)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert "Well." in str(answer.json())


def test_so_does_one_that_writes_lines() -> None:
    said = {"model": "m", "message": {"role": "assistant", "content": "Well."}, "done": False}
    end = {"model": "m", "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"}
    lines = b"".join(json.dumps(each).encode() + b"\n" for each in (said, end))
    with _fronted(_sized(lines, "application/x-ndjson"), wire="ollama-chat") as (url, _):
        answer = _ask(url, "/api/chat", stream=False).json()
    assert (answer["message"]["content"], answer["done"]) == ("Well.", True)


def test_a_stream_nobody_asked_for_is_not_waited_for_behind_its_end_marker() -> None:
    waiting = threading.Event()

    def hold(connection: socket.socket) -> None:
        connection.sendall(CHUNKED + _chunk(STREAM))
        waiting.wait(60)

    with _fronted(hold) as (url, _):
        assert "Well." in _ask(url, stream=False).text
        assert not waiting.is_set()
        waiting.set()


@pytest.mark.parametrize("streamed", [True, False])
def test_a_flood_behind_the_end_marker_is_left(streamed: bool) -> None:
    sent = 0

    def flood(connection: socket.socket) -> None:
        nonlocal sent
        connection.sendall(CHUNKED + _chunk(STREAM))
        while True:
            connection.sendall(_chunk(b": still here\n\n" * 1000))
            sent += 14_000

    with _fronted(flood) as (url, server):
        answer = _ask(url, stream=streamed)
        assert server.left.wait(60)
    assert "Well." in answer.text
    assert sent < 30_000_000  # what the sockets between can hold


@pytest.mark.parametrize("streamed", [True, False])
def test_a_body_that_ends_a_little_behind_its_marker_leaves_the_connection_for_the_next_request(streamed: bool) -> None:
    told = threading.Semaphore(0)

    def late(connection: socket.socket) -> None:
        connection.sendall(CHUNKED + _chunk(STREAM))
        told.acquire(timeout=60)
        connection.sendall(b"0\r\n\r\n")

    def ask() -> None:
        assert "Well." in _ask(url, stream=streamed).text
        told.release()

    with _fronted(late) as (url, server):
        assert _asks_until_one_is_used_again(ask, server)


@pytest.mark.parametrize("path", [CHAT, "/v1/messages", "/api/chat"])
def test_half_a_body_is_an_error_and_never_an_answer(path: str) -> None:
    def half(connection: socket.socket) -> str:
        connection.sendall(_sized(WHOLE)[:-30])
        return "close"

    with _fronted(half) as (url, _):
        answer = _ask(url, path, stream=False)
    assert answer.status_code == 502
    assert answer.json()["error"]


def test_messages_before_the_answer_are_no_answer() -> None:
    early = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    with _fronted(early + _sized(WHOLE)) as (url, _):
        assert _ask(url, stream=False).content == WHOLE
        assert httpx.get(url + "/v1/files", timeout=60).content == WHOLE


def test_what_is_no_http_is_an_error_of_the_gateway() -> None:
    with _fronted(lambda connection: connection.sendall(b"SSH-2.0-x\r\n") or "close") as (url, _):
        assert _ask(url).status_code == 502
        assert httpx.get(url + "/v1/files", timeout=60).status_code == 502


# -- the client ---------------------------------------------------------------------------------------------


def test_a_question_for_the_head_alone_has_no_body_and_keeps_its_length() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 123\r\n\r\n"
    with _fronted(head) as (url, server):

        def ask(path: str) -> None:
            answer = httpx.head(url + path, timeout=60)
            assert (answer.headers["content-length"], answer.content) == ("123", b"")

        ask("/v1/files")
        assert _asks_until_one_is_used_again(lambda: ask(CHAT), server)


def test_a_question_for_the_options_passes() -> None:
    with _fronted(b"HTTP/1.1 204 No Content\r\naccess-control-allow-origin: *\r\n\r\n") as (url, server):
        answer = httpx.options(url + CHAT, headers={"origin": "http://localhost:3000"}, timeout=60)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, "*")
    assert server.asked[0].startswith(b"OPTIONS ")


def test_a_request_in_chunks_reaches_the_server_whole() -> None:
    body = json.dumps(REQUEST | {"tools": TOOLS}).encode()
    with _fronted(_sized(WHOLE)) as (url, server):
        answer = httpx.post(url + CHAT, content=(body[at : at + 7] for at in range(0, len(body), 7)), timeout=60)
    assert answer.content == WHOLE
    assert server.asked[0].endswith(b"\r\n" + body)
    assert b"content-length: %d\r\n" % len(body) in server.asked[0].lower()
    assert b"transfer-encoding" not in server.asked[0].lower()


def test_a_client_that_leaves_before_the_answer_begins_takes_the_server_along() -> None:
    asked = threading.Event()

    def wait(connection: socket.socket) -> str:
        asked.set()
        connection.recv(1)
        return "close"

    body = json.dumps(REQUEST | {"tools": TOOLS}).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    with _fronted(wait) as (url, server):
        client = _raw(url, head + body)
        assert asked.wait(60)
        client.close()
        assert server.left.wait(60)


def test_a_client_that_leaves_in_the_middle_of_its_request_asks_nobody() -> None:
    with _fronted(_sized(WHOLE)) as (url, server):
        head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 500\r\n\r\n".encode()
        _raw(url, head + b'{"model"').close()
        assert _ask(url, stream=False).content == WHOLE
        assert len(server.asked) == 1


def test_two_requests_written_at_once_are_answered_one_after_the_other() -> None:
    body = json.dumps(REQUEST | {"tools": TOOLS}).encode()
    head = f"POST {CHAT} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n"
    first, last = (f"{head}{more}\r\n".encode() + body for more in ("", "connection: close\r\n"))
    with _fronted(_sized(WHOLE)) as (url, server):
        answer = _read_all(_raw(url, first + last))
    assert answer.count(b"HTTP/1.1 200 ") == answer.count(WHOLE) == 2
    assert len(server.asked) == 2


def test_tools_of_one_name_and_tools_that_are_none_break_nothing() -> None:
    with _fronted(_sized(WHOLE)) as (url, server):
        for tools in ([*TOOLS, *TOOLS], [*TOOLS, 7, {}, {"type": "web_search"}]):
            answer = _ask(url, stream=False, tools=tools)
            assert (answer.status_code, answer.content) == (200, WHOLE)
    assert len(server.asked) == 2


def test_a_tool_with_a_name_of_thousands_of_letters_breaks_nothing() -> None:
    named = [{"type": "function", "function": {"name": "a" * 5000}}]
    with _fronted(_sized(WHOLE)) as (url, server):
        answer = _ask(url, stream=False, tools=[*TOOLS, *named])
    assert (answer.status_code, answer.content) == (200, WHOLE)
    assert len(server.asked) == 1


DEEP = {
    "arrays": lambda depth: b"[" * depth + b"]" * depth,
    "members": lambda depth: b'{"a":' * depth + b"1" + b"}" * depth,
    "schemas": lambda depth: b'{"anyOf":[' * (depth // 2) + b"{}" + b"]}" * (depth // 2),
}


@pytest.mark.parametrize("shape", DEEP)
@pytest.mark.parametrize("options", [{}, {"tools": "prompt"}, {"wire": "gemini"}])
def test_a_request_nested_ever_deeper_is_asked_or_refused_and_breaks_nothing(shape: str, options: Any) -> None:
    with _fronted(_sized(WHOLE), **options) as (url, _):
        for depth in (100, 450, 990, 1500, 100_000):
            schema = DEEP[shape](depth)
            tools = b'[{"type":"function","function":{"name":"f","parameters":%b}}]' % schema
            messages = b'[{"role":"user","content":%b}]' % schema
            body = b'{"model":"m","messages":%b,"tools":%b}' % (messages, tools)
            answer = httpx.post(url + CHAT, content=body, timeout=60)
            assert answer.status_code in (200, 400, 502)
            assert answer.json()
            assert depth > 100 or answer.status_code != 400
