"""Connections to the server: those that have ended are not used again, and TLS is checked."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import anyio
import httpx
import pytest
from serving import Upstream, serving

from streamparse import proxy
from streamparse.proxy.upstream import make_client

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx"


@contextmanager
def _raw_server(answer: bytes, *, closes: bool = True) -> Iterator[tuple[str, list[int]]]:
    """A server that may close a connection after an answer, without saying so; and a list as long as its answers."""
    taken: list[int] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            asked = b""
            while asked != b"end":
                with listener.accept()[0] as connection, suppress(ConnectionError):  # the proxy may break it off
                    while (asked := connection.recv(65_536)) not in (b"", b"end"):
                        taken.append(1)
                        connection.sendall(answer)
                        if closes:
                            break

        thread = threading.Thread(target=serve)
        thread.start()
        port = listener.getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}", taken
        finally:
            with socket.create_connection(("127.0.0.1", port)) as last:
                last.sendall(b"end")
                thread.join()


def test_a_connection_that_the_server_closed_is_not_used_again() -> None:
    with _raw_server(ANSWER) as (server, taken), serving(proxy.app(server)) as url:
        answers = [httpx.get(f"{url}/{number}", timeout=60) for number in range(20)]
    assert [(answer.status_code, answer.text) for answer in answers] == [(200, "x")] * 20
    assert len(taken) == 20


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200", b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n"])
def test_a_connection_that_ends_before_the_head_is_whole_is_status_502(answer: bytes) -> None:
    with _raw_server(answer) as (server, _), serving(proxy.app(server)) as url:
        assert httpx.get(url, timeout=60).status_code == 502


def test_what_a_server_sent_after_an_answer_reaches_no_other_client() -> None:
    """The first answer is longer than it says, and its connection is used again."""
    answer = ANSWER + b"secret of the first\r\n\r\n"
    with _raw_server(answer, closes=False) as (server, _), serving(proxy.app(server)) as url:
        texts = [httpx.get(url, timeout=60).text for _ in range(6)]
    assert not any("secret" in text for text in texts)


@pytest.mark.skipif(not shutil.which("openssl"), reason="no openssl that makes a certificate")
def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    names = "subjectAltName=IP:127.0.0.1"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test", "-addext", names]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)

    async def ask(url: str) -> None:
        async with make_client(proxy.app(url).settings) as client:
            await client.get(url)

    upstream = Upstream([b"hello"], headers=[("content-type", "text/plain")])
    with (
        serving(upstream, ssl_keyfile=str(key), ssl_certfile=str(certificate)) as plain,
        pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        anyio.run(ask, plain.replace("http:", "https:"))
    assert not upstream.asked
