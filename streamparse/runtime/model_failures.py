"""Why a model did not answer, by any client's exception, and when it is asked again.

Clients are known by the shape of their exceptions; none is imported:

| where the status is | where the headers are | clients |
|---|---|---|
| `status_code` | `headers` | mistralai, cohere, ollama (no headers) |
| `status_code` | `response.headers` | openai, anthropic |
| `response.status_code` | `response.headers` | httpx, requests |
| `code` | `response.headers` | google-genai; urllib has `headers` |
| `status` | `headers` | aiohttp |
| `response["ResponseMetadata"]` | the same | botocore |

An exception without a status is a failure of the transport if it, or what it was raised from, is an `OSError` or
comes from an HTTP client and has a name that says so.  Anything else is nobody's fault but the program's, and is never
tried again.

The delay before retry n+1 is 0.5 s * 2**n, up to twice that, and at most 8 s, unless the server said when to come back
(`Retry-After` in seconds or as a date, RFC 9110 section 10.2.3; `retry-after-ms`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from traceback import format_exception_only
from typing import Any, Final

import msgspec

from streamparse.providers.endpoints import CLIENTS
from streamparse.runtime.retries import count_seconds_until, find_jitter

MAX_RETRIES: Final = 2
FIRST_DELAY: Final = 0.5
FACTOR: Final = 2.0
MAX_DELAY: Final = 8.0
MAX_RETRY_AFTER: Final = 60.0  # A server that asks to be left alone for longer is not asked again

_RETRYABLE: Final = frozenset((408, 409, 429))
# What the classes of failed transport are called
_TRANSPORT: Final = re.compile(
    r"Connect|Timeout|TimedOut|NetworkError|TransportError|ReadError|WriteError|CloseError|ProxyError|SSLError"
    r"|RemoteProtocolError|ServerDisconnected|RemoteDisconnected|IncompleteRead|Payload|BrokenResource|EndOfStream"
)
# What classes of clients are called that tell of the program's own mistakes
_OURS: Final = frozenset(("LocalProtocolError", "UnsupportedProtocol", "InvalidURL"))
_PROGRAMS: Final = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError)
# A program's own, whatever they were raised from
_MISTAKES: Final = (
    *(TypeError, ValueError, LookupError, AttributeError, NameError, AssertionError, ArithmeticError, ImportError),
    *(NotImplementedError, RecursionError),
)
_MOST_CAUSES: Final = 8
_SHOWN: Final = 500


class ModelError(Exception):
    """A model's server did not answer the question: the status, what it said, and when to come back.

    `status` is None if no answer came.  `retry_after` is in seconds.  `text` is the body of the answer, decoded and
    cut.
    """

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None, text: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after = retry_after
        self.text = text


class ModelFailure(msgspec.Struct, frozen=True):
    """Why a model did not answer: `status` is None if no answer came, `retry_after` is in seconds."""

    message: str
    status: int | None = None
    retry_after: float | None = None
    is_retryable: bool = False


def describe_failure(error: BaseException, now: float | None = None) -> ModelFailure:
    """Return what an exception of any client means; `now` is the time since the epoch, for a `Retry-After` with a date.

    `is_retryable` says that the same question may be asked again, if no byte of an answer has come.
    """
    message = _describe(error)
    if isinstance(error, _MISTAKES):
        return ModelFailure(message)
    for each in _causes(error):
        status = _find_status(each)
        if status is not None:
            headers = _find_headers(each)
            wanted: float | None = each.retry_after if isinstance(each, ModelError) else read_retry_after(headers, now)
            return ModelFailure(message, status, wanted, _is_retryable(status, headers))
    if isinstance(error, ModelError):
        return ModelFailure(message, None, error.retry_after, is_retryable=True)
    return ModelFailure(message, is_retryable=any(_is_transport(each) for each in _causes(error)))


def find_model_delay(failure: ModelFailure, retries: int, key: str) -> float | None:
    """Return the seconds until a model is asked again, after so many retries; None if it is not.

    Only before the first byte of an answer: what has come is not asked for twice.
    """
    wanted = failure.retry_after or 0.0
    if not failure.is_retryable or retries >= MAX_RETRIES or wanted > MAX_RETRY_AFTER:
        return None
    return max(wanted, min(MAX_DELAY, FIRST_DELAY * FACTOR**retries * find_jitter(key, retries)))


def read_retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds that a server asks to be left alone; None if it does not say, or nothing that can be read."""
    milliseconds = _read_seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    seconds = _read_seconds(said)
    if seconds is not None or not said:
        return seconds
    return count_seconds_until(said, time.time() if now is None else now)


def _describe(error: BaseException) -> str:
    # Unlike str(), this survives an exception whose own __str__ raises.
    return "".join(format_exception_only(error)).strip()[:_SHOWN]


def _read_seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and those that it was raised from."""
    each: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if each is None:
            return
        yield each
        each = each.__cause__


def _is_retryable(status: int, headers: Mapping[str, str]) -> bool:
    word = headers.get("x-should-retry")  # OpenAI and Anthropic: the server knows better
    if word in ("true", "false"):
        return word == "true"
    return status in _RETRYABLE or status >= 500


def _is_transport(error: BaseException) -> bool:
    if isinstance(error, OSError) and not _is_of_client(type(error)):
        return not isinstance(error, _PROGRAMS)
    kinds = [kind for kind in type(error).__mro__ if _is_of_client(kind)]
    if any(kind.__name__ in _OURS for kind in kinds):
        return False
    return any(_TRANSPORT.search(kind.__name__) for kind in kinds)


def _is_of_client(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in CLIENTS


def _find_status(error: BaseException) -> int | None:
    """Return the status of the answer that an exception tells of."""
    response = _member(error, "response")
    if isinstance(response, Mapping):
        return _as_status(_metadata(response).get("HTTPStatusCode"))
    own = ((error, name) for name in ("status_code", "status", "code"))
    inner = ((response, name) for name in ("status_code", "status"))
    found = (_as_status(_member(thing, name)) for thing, name in chain(own, inner))
    # One by one: aiohttp's `code` warns.
    return next((status for status in found if status is not None), None)


def _find_headers(error: BaseException) -> dict[str, str]:
    """Return the headers of the answer that an exception tells of, with lower-case names."""
    response = _member(error, "response")
    if isinstance(response, Mapping):
        headers = _metadata(response).get("HTTPHeaders")
    else:
        headers = _member(error, "headers") or _member(response, "headers")
    items = _member(headers, "items")
    return {str(name).lower(): str(value) for name, value in items()} if callable(items) else {}


def _metadata(response: Mapping[str, Any]) -> Mapping[str, Any]:
    found = response.get("ResponseMetadata")
    return found if isinstance(found, Mapping) else {}


def _as_status(value: object) -> int | None:
    return value if isinstance(value, int) and 100 <= value <= 599 else None


def _member(thing: object, name: str) -> Any:
    try:
        return getattr(thing, name, None)  # a foreign exception: nothing is known of it but its shape
    except RuntimeError:  # httpx: a `response` that was never set
        return None
