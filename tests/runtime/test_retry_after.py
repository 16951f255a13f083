"""A tool that says until when it wants to be left alone: in seconds, or as a date."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio
import pytest
from turns import DONE, collect, complete, stream

import streamparse as sp
from streamparse.runtime.retries import find_delay, resolve_retry_after

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize("key", ["retry_after", "Retry-After", "RETRY-AFTER"])
@pytest.mark.parametrize(
    "said, seconds",
    [
        ("Fri, 02 Jan 2026 03:04:25 GMT", 20),
        ("Fri, 02 Jan 2026 03:04:25 -0000", 20),
        ("Friday, 02-Jan-26 03:04:25 GMT", 20),
        ("Fri, 02 Jan 2026 04:04:25 +0100", 20),
        ("Fri, 02 Jan 2026 03:00:00 GMT", 0),
        (NOW + timedelta(seconds=3), 3),
        (datetime(2026, 1, 2, 3, 4, 8), 3),  # without a zone it is taken for UTC
        ("7", 7),
        (7.5, 7.5),
        ("soon", None),
        ("Fri, 99 Jan 2026 03:04:25 GMT", None),
        ("", None),
        (None, None),
        (True, None),
        ([3], None),
    ],
)
def test_a_date_is_read_as_the_seconds_until_then(key, said, seconds):
    details = {"a": 1, key: said}
    failure = sp.ToolFailure("quota", "slow down", details=resolve_retry_after(details, NOW.timestamp()))
    assert failure.retry_after == seconds
    assert failure.details["a"] == 1
    assert details == {"a": 1, key: said}


def test_the_next_attempt_waits_for_that_date_but_not_longer_than_a_minute():
    tool = sp.Tool("look", effect="read")

    def delay(seconds):
        said = {"Retry-After": format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)}
        failure = sp.ToolFailure("quota", "slow down", details=resolve_retry_after(said, NOW.timestamp()))
        return find_delay(tool, failure, 0, "key")

    assert delay(20) == 20
    assert delay(61) is None


@pytest.mark.anyio
async def test_a_tool_that_names_a_date_long_past_is_tried_again_at_once():
    attempts = []

    @sp.tool(effect="read", retries=1)
    async def look() -> str:
        attempts.append(1)
        if len(attempts) == 1:
            raise sp.ToolError("quota", "slow down", details={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
        return "fine"

    async with sp.ToolRunner([look]) as runner:
        with anyio.fail_after(60):
            await collect(runner, stream(complete(0, "look"), DONE))
    assert (runner.results[0].result, len(attempts)) == ("fine", 2)
