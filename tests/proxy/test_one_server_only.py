"""Whatever a client sends, the proxy asks its own server, under its base, and mixes no two clients up."""

from __future__ import annotations

import json
import socket
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from serving import Upstream, proxied, serving

from streamparse import proxy

PLAIN = [("content-type", "text/plain")]


def _raw(url: str, target: str) -> bytes:
    """The answer to a request whose target no client library would send."""
    address = urlsplit(url)
    with socket.create_connection((address.hostname, address.port), timeout=60) as connection:
        connection.sendall(f"GET {target} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65_536), b""))


@pytest.mark.parametrize("base", ["", "/tenant/a"])
@pytest.mark.parametrize(
    "target",
    [
        *("http://evil.example/x", "@evil.example/x", "*", "/../../b", "/a/../../../b", "/.", "/..", "/a/%2e%2e/b"),
        *("/%2E./b", "/a\\..\\b", "/a%2f..%2fb", "/a%5C%2e%2e", "/a#b"),
    ],
)
def test_a_target_that_is_no_plain_path_is_refused_and_nobody_is_asked(base: str, target: str) -> None:
    upstream = Upstream([b"x"], headers=PLAIN)
    with serving(upstream) as url, serving(proxy.app(url + base)) as front:
        assert _raw(front, target).startswith(b"HTTP/1.1 400 ")
    assert upstream.asked == []


@pytest.mark.parametrize(
    "target", ["//evil.example/x", "/x?to=http://evil/../y", "/a%2Fb", "/...", "/a..b/.c", "/%00", "///"]
)
def test_a_strange_path_stays_under_the_base_to_the_letter(target: str) -> None:
    upstream = Upstream([b"x"], headers=PLAIN)
    with serving(upstream) as url, serving(proxy.app(url + "/tenant/a")) as front:
        assert _raw(front, target).startswith(b"HTTP/1.1 200 ")
    [(_, path, headers, _)] = upstream.asked
    assert path == "/tenant/a" + target
    assert headers["host"] == urlsplit(url).netloc


def test_a_cookie_of_one_client_is_never_sent_for_another() -> None:
    upstream = Upstream([b"x"], headers=[*PLAIN, ("set-cookie", "session=alice; Path=/")])
    with proxied(upstream) as url:
        assert httpx.get(url + "/a", timeout=60).cookies["session"] == "alice"
        httpx.get(url + "/b", timeout=60)
        httpx.get(url + "/c", headers={"cookie": "session=bob"}, timeout=60)
    assert [headers.get("cookie") for _, _, headers, _ in upstream.asked] == [None, None, "session=bob"]


def test_no_name_of_a_request_can_write_a_header_of_the_answer() -> None:
    message = {"role": "assistant", "content": "Hi."}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    upstream = Upstream([json.dumps(body).encode()], headers=[("content-type", "application/json")])
    request: dict[str, Any] = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "x"}]}
    names = ["x\r\nset-cookie: a=b", "\u00e9\u2028", *(f"name_{number:04}_{'x' * 90}" for number in range(200))]
    with proxied(upstream) as url:
        answer = httpx.post(url + "/v1/messages", json=request | dict.fromkeys(names, 1), timeout=60)
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert "name_0000_" in answer.headers["streamparse-lost"]
    assert len(answer.headers["streamparse-lost"]) < 2100


def test_a_redirect_is_passed_on_and_not_followed() -> None:
    other = Upstream([b"secret"], headers=PLAIN)
    with serving(other) as elsewhere:
        upstream = Upstream([b"moved"], status=307, headers=[*PLAIN, ("location", elsewhere)])
        with proxied(upstream) as url:
            answer = httpx.get(url + "/a", timeout=60)
    assert (answer.status_code, answer.headers["location"], answer.content) == (307, elsewhere, b"moved")
    assert other.asked == []


@pytest.mark.parametrize("upstream", ["http://127.0.0.1:9/?x=1", "http://127.0.0.1:9/#x"])
def test_an_upstream_with_a_query_or_a_fragment_is_refused_at_once(upstream: str) -> None:
    with pytest.raises(ValueError, match="a query or a fragment"):
        proxy.app(upstream)
