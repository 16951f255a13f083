"""Who may ask: names of this machine, and pages of it; whose credentials reach the server."""

from __future__ import annotations

import base64
import logging
from typing import Any

import anyio
import httpx
import pytest
from serving import Upstream, proxied, serving

from streamparse import proxy

PLAIN = [("content-type", "application/json")]
CHAT = "/v1/chat/completions"
REQUEST: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}


def _ask(headers: dict[str, str], **options: Any) -> tuple[httpx.Response, int]:
    """The answer of a proxy on 127.0.0.1, and how often its server was asked."""
    upstream = Upstream([b"{}"], headers=PLAIN)
    with proxied(upstream, **options) as url:
        answer = httpx.post(url + CHAT, json=REQUEST, headers=headers, timeout=60)
    return answer, len(upstream.asked)


FOREIGN = [
    {"host": "evil.example"},
    {"host": "evil.example:8000"},
    {"host": "127.0.0.1.evil.example"},
    {"host": "localhost.evil.example"},
    {"host": "evil.example@localhost"},
    {"host": "localhost:80:80"},
    {"host": "192.168.0.7:8000"},
    {"host": "localhost", "origin": "http://evil.example"},
    {"host": "localhost", "origin": "https://evil.example:8000"},
    {"host": "localhost", "origin": "http://localhost@evil.example"},
    {"host": "localhost", "origin": "null"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_foreign_host_or_page_is_refused_on_loopback_and_nobody_is_asked(headers: dict[str, str]) -> None:
    answer, asked = _ask(headers)
    assert (answer.status_code, asked) == (403, 0)
    told = answer.json()["error"]
    assert told["type"] == "permission_error"
    assert "--allow-host" in told["message"]


OWN = [
    {"host": "localhost:8000"},
    {"host": "LOCALHOST."},
    {"host": "api.localhost"},
    {"host": "127.0.0.1:1"},
    {"host": "127.8.8.8"},
    {"host": "[::1]:8000"},
    {"host": "[::ffff:127.0.0.1]"},
    {"host": "0.0.0.0:8000"},
    {"origin": "http://localhost:3000"},
    {"origin": "https://127.0.0.1"},
    {"origin": "chrome-extension://abcdefgh"},
    {"origin": "app://obsidian.md"},
]


@pytest.mark.parametrize("headers", OWN)
def test_names_of_this_machine_its_pages_and_applications_are_answered(headers: dict[str, str]) -> None:
    answer, asked = _ask(headers)
    assert (answer.status_code, asked) == (200, 1)


@pytest.mark.parametrize(
    ("allowed", "name", "status"),
    [
        (["gate.example"], "gate.example", 200),
        (["Gate.Example"], "GATE.example:80", 200),
        (["gate.example"], "localhost", 200),
        (["gate.example"], "a.gate.example", 403),
        (["*.gate.example"], "a.gate.example", 200),
        (["*.gate.example"], "gate.example", 403),
        (["*.gate.example"], "evilgate.example", 403),
        (["*"], "anything.example", 200),
        ("gate.example", "gate.example", 200),
    ],
)
def test_hosts_that_are_allowed_are_answered_as_hosts_and_as_pages(allowed: Any, name: str, status: int) -> None:
    assert _ask({"host": name}, allowed_hosts=allowed)[0].status_code == status
    assert _ask({"origin": f"http://{name}"}, allowed_hosts=allowed)[0].status_code == status


@pytest.mark.parametrize(
    ("server", "allowed", "status"),
    [
        (("192.168.0.7", 80), (), 200),
        (("192.168.0.7", 80), ("gate.example",), 403),
        (("::ffff:127.0.0.1", 80), (), 403),
        (("/run/proxy.sock", None), (), 200),
        (None, (), 200),
    ],
)
def test_where_it_listens_for_others_any_host_is_answered_unless_hosts_are_named(
    server: Any, allowed: tuple[str, ...], status: int
) -> None:
    sent: list[Any] = []
    asked = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> Any:
        for message in asked:
            return message
        await anyio.sleep_forever()
        return None

    async def send(message: Any) -> None:
        sent.append(message)

    async def ask(url: str) -> None:
        headers = [(b"host", b"inside.example")]
        scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": headers}
        async with proxy.app(url, allowed_hosts=allowed) as application:
            await application({**scope, "server": server}, receive, send)

    with serving(Upstream([b"{}"], headers=PLAIN)) as url:
        anyio.run(ask, url)
    assert sent[0]["status"] == status


# -- the credentials of the server's address --------------------------------------------------------------

BASIC = "Basic " + base64.b64encode("änn:p@ss".encode()).decode()


def _arrived(sent: dict[str, str], wire: str = "openai-chat", **request: Any) -> dict[str, str]:
    """The headers that reach a server whose address has a name and a password."""
    upstream = Upstream([b"{}"], headers=PLAIN)
    with serving(upstream) as server:
        address = server.replace("http://", "http://%C3%A4nn:p%40ss@")
        with serving(proxy.app(address, wire)) as front:
            httpx.post(front + CHAT, json=REQUEST | request, headers=sent, timeout=60)
    [(_, _, headers, _)] = upstream.asked
    return {name: headers[name] for name in ("authorization", "x-api-key") if name in headers}


TOOLS: Any = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


@pytest.mark.parametrize("request_", [{}, {"tools": TOOLS}])
def test_who_brings_no_key_is_passed_with_the_name_and_the_password_of_the_servers_address(request_: Any) -> None:
    assert _arrived({}, **request_) == {"authorization": BASIC}


@pytest.mark.parametrize("request_", [{}, {"tools": TOOLS}])
def test_a_clients_own_authorization_stays_whatever_the_servers_address_says(request_: Any) -> None:
    assert _arrived({"authorization": "Bearer k"}, **request_) == {"authorization": "Bearer k"}


def test_a_key_in_another_header_goes_beside_the_name_and_the_password() -> None:
    arrived = _arrived({"authorization": "Bearer k"}, wire="anthropic")
    assert arrived == {"authorization": BASIC, "x-api-key": "k"}


def test_that_a_clients_authorization_is_kept_before_the_servers_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    upstream = Upstream([b"{}"], headers=PLAIN)
    caplog.set_level(logging.WARNING, "streamparse.proxy")
    with (
        serving(upstream) as server,
        serving(proxy.app(server.replace("http://", "http://ann:pass@"))) as front,
    ):
        for _ in range(2):
            httpx.get(front + "/v1/files", headers={"authorization": "Bearer k"}, timeout=60)
    [message] = caplog.messages
    assert "its own authorization" in message
    assert "pass@" not in message
