"""Why a model did not answer, by any client's exception, and when it is asked again.

Clients are known by the shape of their exceptions; none is imported.  Where each has the status is said in
`streamparse.repair.refusals`; the headers are in

| place | clients |
|---|---|
| `headers` | mistralai, cohere, aiohttp, urllib |
| `response.headers` | openai, anthropic, httpx, requests, google-genai |
| `response["ResponseMetadata"]` | botocore |

An exception without a status is a failure of the transport if it, or what it was raised from, is an `OSError` or
comes from an HTTP client and has a name that says so.  Anything else is the program's own fault, and is never tried
again.

The delay before a retry is that of `retries`, from 0.5 s to 8 s, unless the server said when to come back
(`Retry-After` in seconds or as a date, RFC 9110 section 10.2.3; `retry-after-ms`).
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Final

import msgspec

from streamparse.findings import describe_exception, unwrap_group
from streamparse.negotiate import says_no_tools
from streamparse.providers.endpoints import CLIENTS
from streamparse.repair.refusals import find_statuses, get_member, get_metadata
from streamparse.runtime.retries import Backoff, count_seconds_until
from streamparse.tools.errors import read_seconds

MAX_RETRIES: Final = 2  # source: the default of the SDKs of OpenAI and Anthropic
MODEL_BACKOFF: Final = Backoff(first=0.5, most=8.0)

_RETRYABLE: Final = frozenset((408, 409, 429))
# Names of the classes of failed transport
_TRANSPORT: Final = re.compile(
    r"Connect|Timeout|TimedOut|NetworkError|TransportError|ReadError|WriteError|CloseError|ProxyError|SSLError"
    r"|RemoteProtocolError|ServerDisconnected|RemoteDisconnected|IncompleteRead|Payload|BrokenResource|EndOfStream"
)
# Names of the clients' classes that mean a mistake of the program
_OURS: Final = frozenset(("LocalProtocolError", "UnsupportedProtocol", "InvalidURL"))
_PROGRAMS: Final = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, FileExistsError)
# Mistakes of the program, whatever they were raised from
_MISTAKES: Final = (
    *(TypeError, ValueError, LookupError, AttributeError, NameError, AssertionError, ArithmeticError, ImportError),
    *(NotImplementedError, RecursionError),
)
_MOST_CAUSES: Final = 8  # bound: the chain of causes that is followed, which may be a circle
_SHOWN: Final = 500  # bound: characters of an exception in a message


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
    """Why a model did not answer: `status` is None if no answer came, `retry_after` is in seconds.

    `refuses_tools` says that the server answers this model's requests only without tools.  `is_ours`: the program that
    read the answer ended, which is no fault of the model.
    """

    message: str
    status: int | None = None
    retry_after: float | None = None
    is_retryable: bool = False
    refuses_tools: bool = False
    is_ours: bool = False


def describe_failure(error: BaseException, now: float | None = None) -> ModelFailure:
    """Return what an exception of any client means; `now` is the time since the epoch, for a `Retry-After` with a date.

    `is_retryable` says that the same question may be asked again, if no byte of an answer has come.
    """
    error = unwrap_group(error)
    message = describe_exception(error)[:_SHOWN]
    if isinstance(error, _MISTAKES):
        return ModelFailure(message)
    for each in _find_causes(error):
        status = next(find_statuses(each), None)
        if status is not None:
            headers = _find_headers(each)
            wanted: float | None = each.retry_after if isinstance(each, ModelError) else read_retry_after(headers, now)
            refuses = 400 <= status < 500 and says_no_tools(f"{message} {getattr(each, 'text', '')}")
            return ModelFailure(message, status, wanted, _is_retryable(status, headers), refuses)
    if isinstance(error, ModelError):
        return ModelFailure(message, None, error.retry_after, is_retryable=True)
    return ModelFailure(message, is_retryable=any(is_transport(each) for each in _find_causes(error)))


def find_model_delay(failure: ModelFailure, retries: int, key: str) -> float | None:
    """Return the seconds until a model is asked again, after so many retries; None if it is not.

    Only before the first byte of an answer: what has come is not asked for twice.
    """
    if not failure.is_retryable or retries >= MAX_RETRIES:
        return None
    return MODEL_BACKOFF.find_delay(retries, key, failure.retry_after)


def read_retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds that a server asks to be left alone; None if it does not say, or nothing that can be read."""
    milliseconds = read_seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    seconds = read_seconds(said)
    if seconds is not None or not said:
        return seconds
    return count_seconds_until(said, time.time() if now is None else now)


def _find_causes(error: BaseException) -> list[BaseException]:
    """Find an exception and those that it was raised from."""
    found = [error]
    while found[-1].__cause__ is not None and len(found) < _MOST_CAUSES:
        found.append(found[-1].__cause__)
    return found


def _is_retryable(status: int, headers: Mapping[str, str]) -> bool:
    word = headers.get("x-should-retry")  # OpenAI and Anthropic: the server knows better
    if word in ("true", "false"):
        return word == "true"
    return status in _RETRYABLE or status >= 500


def is_transport(error: BaseException) -> bool:
    """Whether an exception says that a connection failed, or could not be made."""
    if isinstance(error, OSError) and not _is_of_client(type(error)):
        return not isinstance(error, _PROGRAMS)
    kinds = [kind for kind in type(error).__mro__ if _is_of_client(kind)]
    if any(kind.__name__ in _OURS for kind in kinds):
        return False
    return any(_TRANSPORT.search(kind.__name__) for kind in kinds)


def _is_of_client(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in CLIENTS


def _find_headers(error: BaseException) -> dict[str, str]:
    """Return the headers of the answer that an exception is about, with lower-case names."""
    response = get_member(error, "response")
    headers = get_metadata(response, "HTTPHeaders") or get_member(error, "headers") or get_member(response, "headers")
    items = get_member(headers, "items")
    return {str(name).lower(): str(value) for name, value in items()} if callable(items) else {}
