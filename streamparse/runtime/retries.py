"""When something that failed is tried again: with backoff, after what the other side asked for, and never all at once.

The delay before retry n+1 is `first` * 2**n, up to twice that, and at most `most`.  How much more is drawn from a key:
it differs between calls, and is the same whenever the facts are taken again.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import msgspec

from streamparse.tools import RETRYABLE, Tool, ToolFailure

MAX_RETRY_AFTER: Final = 60.0  # bound: seconds; who asks for more is not tried again in this turn


class Backoff(msgspec.Struct, frozen=True):
    """How long to wait before a retry: at least about `first` seconds, at most `most`."""

    first: float
    most: float

    def find_delay(self, retries: int, key: str, retry_after: float | None) -> float | None:
        """Return the seconds until the next attempt, after so many retries; None if it would be too late."""
        wanted = retry_after or 0.0
        if wanted > MAX_RETRY_AFTER:
            return None
        return max(wanted, min(self.most, self.first * 2.0 ** min(retries, 20) * find_jitter(key, retries)))


TOOL_BACKOFF: Final = Backoff(first=0.1, most=10.0)


def find_delay(tool: Tool, failure: ToolFailure, retries: int, key: str) -> float | None:
    """Return the seconds until the next attempt of a call, after so many retries; None if it is not tried again."""
    if tool.effect == "write" or failure.kind not in RETRYABLE or not failure.recoverable or retries >= tool.retries:
        return None
    return TOOL_BACKOFF.find_delay(retries, key, failure.retry_after)


def find_jitter(key: str, retries: int) -> float:
    """Return a factor from 1 to 2 that differs between keys, and is the same whenever it is asked for."""
    digest = hashlib.sha256(f"{key}:{retries}".encode()).digest()
    return 1 + int.from_bytes(digest[:4]) / 2**32


def resolve_retry_after(details: dict[str, Any], now: float) -> dict[str, Any]:
    """Return an error's details with a date under `retry_after` or `Retry-After` as seconds from `now`.

    The date is an HTTP date or a `datetime`; `now` is in seconds since 1970.  All else stays as it is.
    """
    for key, value in details.items():
        if str(key).lower().replace("-", "_") != "retry_after":
            continue
        seconds = count_seconds_until(value, now) if isinstance(value, (str, datetime)) else None
        if seconds is not None:
            return {**details, key: seconds}
    return details


def count_seconds_until(moment: str | datetime, now: float) -> float | None:
    """Return the seconds from `now`, since 1970, until an HTTP date or a `datetime`, at least 0; None for other texts.

    One without a time zone is in UTC (RFC 9110, section 5.6.7).
    """
    try:
        date = parsedate_to_datetime(moment) if isinstance(moment, str) else moment
    except (ValueError, OverflowError):
        return None
    return max(0.0, (date if date.tzinfo is not None else date.replace(tzinfo=UTC)).timestamp() - now)
