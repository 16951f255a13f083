"""Exceptions of Python and of clients have kinds, and are tried again where the effect allows it."""

import errno
import socket
import ssl
import urllib.error

import anyio
import httpx
import pytest
import requests
from turns import DONE, complete, stream

import streamparse as sp
from streamparse.runtime.error_kinds import find_kind

REQUEST = httpx.Request("GET", "http://a.example")


def answers(status):
    return httpx.HTTPStatusError("no", request=REQUEST, response=httpx.Response(status, request=REQUEST))


KINDS = [
    (ConnectionRefusedError("no"), "network"),
    (TimeoutError("late"), "timeout"),
    (FileNotFoundError("a.txt"), "resource"),
    (IsADirectoryError("a"), "resource"),
    (PermissionError("a.txt"), "permission"),
    (OSError(errno.ENETUNREACH, "no network"), "network"),
    (OSError(errno.ENOSPC, "full"), "execution"),
    (socket.gaierror("no such host"), "network"),
    (ssl.SSLError("bad"), "network"),
    (urllib.error.URLError("no"), "network"),
    (httpx.ConnectError("no"), "network"),
    (httpx.ReadTimeout("late"), "timeout"),
    (httpx.InvalidURL("no"), "execution"),
    (requests.ConnectionError("no"), "network"),
    (requests.ReadTimeout("late"), "timeout"),
    (answers(429), "quota"),
    (answers(503), "network"),
    (answers(403), "permission"),
    (answers(404), "resource"),
    (answers(400), "execution"),
    (ValueError("404"), "execution"),
]


@pytest.mark.parametrize(("error", "kind"), KINDS, ids=lambda each: repr(each)[:40])
def test_an_exception_has_a_kind(error, kind):
    assert find_kind(error) == kind


async def count_attempts(effect, error):
    attempts = []

    @sp.tool(effect=effect, retries=2)
    async def fetch() -> str:
        attempts.append(anyio.current_time())
        raise error

    async with sp.ToolRunner([fetch]) as runner:
        async for _ in runner.run(stream(complete(0, "fetch"), DONE)):
            pass
    (result,) = runner.results
    assert result.attempts == len(attempts)
    return len(attempts), result.failure


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("effect", "error", "attempts"),
    [
        ("read", httpx.ConnectError("no"), 3),
        ("idempotent", ConnectionResetError("no"), 3),
        ("write", ConnectionResetError("no"), 1),
        ("read", FileNotFoundError("a"), 1),
    ],
)
async def test_what_may_pass_is_tried_again_unless_the_tool_writes(effect, error, attempts):
    counted, failure = await count_attempts(effect, error)
    assert counted == attempts
    assert failure.kind == find_kind(error)


@pytest.mark.anyio
async def test_a_tools_own_error_has_its_own_code():
    _, failure = await count_attempts("read", sp.ToolError("execution", "no route", code="no_route"))
    assert (failure.kind, failure.code) == ("execution", "no_route")
