"""What the exceptions of clients mean: the real ones, of each client that is installed."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anyio
import httpx
import pytest

from streamparse.runtime import ModelError, ModelFailure, describe_failure, find_model_delay
from streamparse.runtime.model_failures import MAX_RETRIES

ASKED = httpx.Request("POST", "http://x.example/v1")


def response(status: int, **headers: str) -> httpx.Response:
    return httpx.Response(
        status, headers={key.replace("_", "-"): value for key, value in headers.items()}, request=ASKED
    )


def of_httpx(status: int) -> Exception:
    return httpx.HTTPStatusError("refused", request=ASKED, response=response(status, Retry_After="3"))


def of_openai(status: int) -> Exception:
    openai = pytest.importorskip("openai")
    error: Exception = openai.APIStatusError("refused", response=response(status, Retry_After="3"), body=None)
    return error


def of_anthropic(status: int) -> Exception:
    anthropic = pytest.importorskip("anthropic")
    error: Exception = anthropic.APIStatusError("refused", response=response(status, Retry_After="3"), body=None)
    return error


def of_genai(status: int) -> Exception:
    errors = pytest.importorskip("google.genai.errors")
    error: Exception = errors.APIError(status, {"error": {"message": "refused"}}, response(status, Retry_After="3"))
    return error


def of_requests(status: int) -> Exception:
    requests = pytest.importorskip("requests")
    answer = requests.Response()
    answer.status_code = status
    answer.headers["Retry-After"] = "3"
    error: Exception = requests.HTTPError("refused", response=answer)
    return error


def of_aiohttp(status: int) -> Exception:
    aiohttp, yarl = pytest.importorskip("aiohttp"), pytest.importorskip("yarl")
    asked = aiohttp.RequestInfo(yarl.URL("http://x.example"), "POST", {}, yarl.URL("http://x.example"))
    headers = {"Retry-After": "3"}
    error: Exception = aiohttp.ClientResponseError(asked, (), status=status, message="refused", headers=headers)
    return error


def of_botocore(status: int) -> Exception:
    error = Exception("refused")  # botocore's ClientError has but this
    metadata = {"HTTPStatusCode": status, "HTTPHeaders": {"retry-after": "3"}}
    error.response = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": metadata}  # type: ignore[attr-defined]
    return error


def of_ours(status: int) -> Exception:
    return ModelError("refused", status=status, retry_after=3.0)


CLIENTS = [of_httpx, of_openai, of_anthropic, of_genai, of_requests, of_aiohttp, of_botocore, of_ours]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 413, 422, 429, 500, 502, 503, 504, 529])
def test_the_status_and_the_headers_of_any_client_are_read(client: Callable[[int], Exception], status: int) -> None:
    failure = describe_failure(client(status))
    assert (failure.status, failure.retry_after) == (status, 3)
    assert failure.is_retryable == (status in (408, 409, 429) or status >= 500)
    assert "refused" in failure.message


def test_a_status_without_headers_is_read() -> None:
    ollama = pytest.importorskip("ollama")
    failure = describe_failure(ollama.ResponseError("busy", 503))
    assert failure == ModelFailure("ollama._types.ResponseError: busy (status code: 503)", 503, None, True)


def test_the_status_of_what_an_exception_was_raised_from_counts() -> None:
    error = RuntimeError("the model did not answer")
    error.__cause__ = of_httpx(503)
    assert (describe_failure(error).status, describe_failure(error).is_retryable) == (503, True)


@pytest.mark.parametrize(
    "error",
    [
        ConnectionRefusedError("no"),
        ConnectionResetError("no"),
        TimeoutError(),
        socket.gaierror("no such host"),
        ssl.SSLError("handshake"),
        OSError(113, "No route to host"),
        anyio.BrokenResourceError(),
        anyio.EndOfStream(),
        httpx.ConnectError("no"),
        httpx.ConnectTimeout("no"),
        httpx.ReadTimeout("no"),
        httpx.PoolTimeout("no"),
        httpx.ReadError("no"),
        httpx.WriteError("no"),
        httpx.RemoteProtocolError("Server disconnected without sending a response."),
        httpx.ProxyError("no"),
        ModelError("no answer came"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_failure_of_the_transport_may_be_tried_again(error: Exception) -> None:
    failure = describe_failure(error)
    assert (failure.status, failure.retry_after, failure.is_retryable) == (None, None, True)


def test_a_group_of_one_failure_is_that_failure() -> None:
    assert describe_failure(ExceptionGroup("tasks", [of_httpx(503)])) == describe_failure(of_httpx(503))
    assert not describe_failure(ExceptionGroup("tasks", [of_httpx(503), of_httpx(400)])).is_retryable


def test_a_failure_of_the_transport_may_be_tried_again_whatever_the_client() -> None:
    for error in _transport_errors_of_sdks():
        assert describe_failure(error).is_retryable, error


def _transport_errors_of_sdks() -> list[Exception]:
    openai, anthropic = pytest.importorskip("openai"), pytest.importorskip("anthropic")
    aiohttp, requests = pytest.importorskip("aiohttp"), pytest.importorskip("requests")
    return [
        openai.APIConnectionError(request=ASKED),
        openai.APITimeoutError(ASKED),
        anthropic.APIConnectionError(request=ASKED),
        anthropic.APITimeoutError(ASKED),
        aiohttp.ServerDisconnectedError(),
        aiohttp.ServerTimeoutError(),
        aiohttp.ClientPayloadError("half"),
        aiohttp.ClientConnectionError("no"),
        requests.ConnectionError("no"),
        requests.Timeout("no"),
    ]


@pytest.mark.parametrize(
    "error",
    [
        TypeError("no"),
        ValueError("no"),
        KeyError("no"),
        AttributeError("no"),
        NameError("no"),
        AssertionError("no"),
        ZeroDivisionError("no"),
        ModuleNotFoundError("httpx"),
        RuntimeError("no"),
        FileNotFoundError("key.txt"),
        PermissionError("key.txt"),
        httpx.UnsupportedProtocol("no"),
        httpx.LocalProtocolError("no"),
        httpx.InvalidURL("no"),
        httpx.TooManyRedirects("no"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_mistake_of_the_program_is_never_tried_again(error: Exception) -> None:
    error.__cause__ = of_httpx(503) if isinstance(error, (TypeError, KeyError)) else None
    failure = describe_failure(error)
    assert not failure.is_retryable
    assert find_model_delay(failure, 0, "k") is None


def test_a_message_is_bounded_and_a_chain_of_causes_may_be_a_circle() -> None:
    error, other = RuntimeError("x" * 10_000), RuntimeError("y")
    error.__cause__, other.__cause__ = other, error
    failure = describe_failure(error)
    assert len(failure.message) == 500
    assert not failure.is_retryable


class Unspeakable(RuntimeError):
    """An exception that cannot be shown, as aiohttp's without a request."""

    status = 503

    def __str__(self) -> str:
        raise AttributeError("no words")


def test_an_exception_that_cannot_be_shown_is_read_all_the_same() -> None:
    failure = describe_failure(Unspeakable())
    assert (failure.status, failure.is_retryable) == (503, True)
    assert failure.message.endswith("Unspeakable: <exception str() failed>")


@pytest.mark.parametrize(
    ("word", "status", "again"), [("true", 400, True), ("false", 503, False), ("maybe", 503, True)]
)
def test_a_server_that_knows_whether_to_try_again_is_believed(word: str, status: int, again: bool) -> None:
    error = httpx.HTTPStatusError("no", request=ASKED, response=response(status, x_should_retry=word))
    assert describe_failure(error).is_retryable == again


NOW = datetime(2026, 11, 22, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "0"}, 0.0),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"retry-after-ms": "soon", "Retry-After": "7"}, 7.0),
        ({"Retry-After": format_datetime(NOW + timedelta(seconds=20), usegmt=True)}, 20.0),
        ({"Retry-After": format_datetime(NOW - timedelta(seconds=20), usegmt=True)}, 0.0),
        ({"Retry-After": "Sunday, 22-Nov-26 12:00:05 GMT"}, 5.0),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "Sun, 99 Nov 2026 12:00:00 GMT"}, None),
        ({"Retry-After": ""}, None),
    ],
)
def test_when_to_come_back_is_read_in_seconds_milliseconds_or_as_a_date(headers: Any, seconds: float | None) -> None:
    answer = httpx.Response(429, headers=headers, request=ASKED)
    error = httpx.HTTPStatusError("no", request=ASKED, response=answer)
    assert describe_failure(error, NOW.timestamp()).retry_after == seconds


BUSY = ModelFailure("busy", 503, None, is_retryable=True)


def test_a_model_is_asked_again_at_most_twice() -> None:
    delays = [find_model_delay(BUSY, retries, "k") for retries in range(4)]
    assert [delay is None for delay in delays] == [False, False, True, True]
    assert MAX_RETRIES == 2


def test_the_delay_grows_and_differs_between_keys_and_is_the_same_for_one() -> None:
    keys = [f"run-{number}" for number in range(50)]
    first = [find_model_delay(BUSY, 0, key) or 0 for key in keys]
    second = [find_model_delay(BUSY, 1, key) or 0 for key in keys]
    assert all(0.5 <= delay < 1 for delay in first)
    assert all(1 <= delay < 2 for delay in second)
    assert len(set(first)) == len(keys)
    assert first == [find_model_delay(BUSY, 0, key) for key in keys]


@pytest.mark.parametrize(("wanted", "delay"), [(5.0, 5.0), (60.0, 60.0), (60.1, None), (3600.0, None)])
def test_a_server_is_left_alone_for_as_long_as_it_asks_but_no_longer_than_a_minute(wanted: float, delay: Any) -> None:
    assert find_model_delay(ModelFailure("busy", 429, wanted, is_retryable=True), 0, "k") == delay


def test_what_the_server_asks_is_no_reason_to_come_back_sooner() -> None:
    delay = find_model_delay(ModelFailure("busy", 429, 0.001, is_retryable=True), 0, "k")
    assert delay is not None
    assert delay >= 0.5
