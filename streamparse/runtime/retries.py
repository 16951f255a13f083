"""When a failed call is tried again: with backoff, after what the tool itself said, and never all calls at one moment.

Attempt n+1 begins 100 ms * 2**(n-1) after attempt n failed, up to twice that, and at most 10 s.  How much more is drawn
from the call's idempotency key: it differs between calls, and is the same whenever the facts are taken again.
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

from streamparse.tools import RETRYABLE, Tool, ToolFailure

FIRST_DELAY: Final = 0.1
MAX_DELAY: Final = 10.0
FACTOR: Final = 2.0
MAX_RETRY_AFTER: Final = 60.0  # A tool that asks to be left alone for longer is not tried again in this turn


def find_delay(tool: Tool, failure: ToolFailure, retries: int, key: str) -> float | None:
    """Return the seconds until the next attempt, after so many retries; None if there is none."""
    if tool.effect == "once" or failure.kind not in RETRYABLE or not failure.recoverable or retries >= tool.retries:
        return None
    wanted = failure.retry_after or 0.0
    if wanted > MAX_RETRY_AFTER:
        return None
    return max(wanted, min(MAX_DELAY, FIRST_DELAY * FACTOR ** min(retries, 20) * find_jitter(key, retries)))


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
