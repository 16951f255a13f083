"""Whatever a tool does, its call gets exactly one error result and the others go on."""

import asyncio
import threading

import anyio
import pytest
from turns import DONE, collect, complete, stream

from streamparse.runtime import ToolRunner
from streamparse.runtime.execution import attempt
from streamparse.tools import Tool, ToolResult

pytestmark = pytest.mark.anyio


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


CYCLE: list = []
CYCLE.append(CYCLE)

RAISED = {
    "ValueError": (ValueError("bad luck"), "ValueError: bad luck"),
    "ExceptionGroup": (ExceptionGroup("many", [OSError()]), "many"),
    "BaseExceptionGroup": (BaseExceptionGroup("all", [SystemExit(1), OSError()]), "all"),
    "SystemExit": (SystemExit(3), "SystemExit: 3"),
    "CancelledError": (asyncio.CancelledError(), "CancelledError"),
    "StopAsyncIteration": (StopAsyncIteration(), "StopAsyncIteration"),
    "StopIteration": (StopIteration(), "StopIteration"),
    "TimeoutError": (TimeoutError("of its own"), "of its own"),
    "Unprintable": (Unprintable(), "Unprintable"),
}
RETURNED = {
    "object": (object(), "not JSON"),
    "generator": ((n for n in "x"), "not JSON"),
    "cycle": (CYCLE, "not JSON"),
    "half a surrogate pair": ("\ud800", "not JSON"),
    "long text": ("x" * 1001, "too large"),
    "long bytes": (b"x" * 1001, "too large"),
    "long list": (["x"] * 500, "too large"),
}


def quick():
    return "fine"


async def outcome_of(function, **settings):
    """Run a tool between two that behave; returns its one result."""
    tools = [Tool("odd", function=function, early="closed"), Tool("quick", function=quick, early="closed", timeout=60)]
    events = [complete(0, "quick", n=0), complete(1, "odd"), complete(2, "quick"), DONE]
    events[0] = complete(0, "quick")
    async with ToolRunner(tools, **settings) as runner:
        with anyio.fail_after(60):
            items = await collect(runner, stream(*events))
    assert sorted(item.index for item in items if isinstance(item, ToolResult)) == [0, 1, 2]
    first, odd, last = runner.results
    assert (first.result, last.result) == ("fine", "fine")
    return odd


def as_function(kind, body):
    if kind == "sync":
        return body

    async def function():
        await anyio.lowlevel.checkpoint()
        return body()

    return function


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("error, text", RAISED.values(), ids=RAISED)
async def test_what_a_tool_raises_is_its_calls_error(kind, error, text):
    def body():
        raise error

    result = await outcome_of(as_function(kind, body))
    assert (result.success, result.result) == (False, None)
    assert text in result.error


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("value, text", RETURNED.values(), ids=RETURNED)
async def test_a_value_that_cannot_be_handed_on_is_an_error(kind, value, text):
    result = await outcome_of(as_function(kind, lambda: value), max_result=1000)
    assert (result.success, result.result) == (False, None)
    assert text in result.error


async def test_a_value_that_just_fits_is_handed_on():
    result = await outcome_of(lambda: "x" * 1000, max_result=1000)
    assert result.result == "x" * 1000


async def test_a_value_becomes_json_values():
    result = await outcome_of(lambda: {1: (2.5, {"three"}, float("nan"))})
    assert result.result == {"1": [2.5, ["three"], None]}


async def test_a_tool_that_hangs_is_timed_out():
    result = await outcome_of(anyio.sleep_forever, timeout=0.02)
    assert "timed out after 0.02 s" in result.error


async def test_a_thread_that_hangs_is_timed_out():
    release = threading.Event()
    try:
        result = await outcome_of(lambda: release.wait(60), timeout=0.02)
    finally:
        release.set()
    assert "timed out" in result.error


async def test_threads_that_hang_take_no_place_from_others():
    anyio.to_thread.current_default_thread_limiter().total_tokens = 1
    release = threading.Event()
    tools = [
        Tool("hang", function=lambda: release.wait(60), early="closed", timeout=0.02),
        Tool("quick", function=quick, early="closed"),
    ]
    events = [*(complete(index, "hang") for index in range(4)), complete(4, "quick"), DONE]
    try:
        async with ToolRunner(tools, limit=2) as runner:
            with anyio.fail_after(60):
                await collect(runner, stream(*events))
    finally:
        release.set()
    assert [result.result for result in runner.results] == [None] * 4 + ["fine"]


async def test_a_tools_own_timeout_comes_before_the_runners():
    async with ToolRunner([Tool("hang", function=anyio.sleep_forever, timeout=0.02)]) as runner:
        await collect(runner, stream(complete(0, "hang"), DONE))
    assert "0.02 s" in runner.results[0].error


async def test_a_group_of_tasks_that_is_timed_out_is_a_timeout():
    async def family():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anyio.sleep_forever)
            tasks.start_soon(anyio.sleep_forever)

    result = await outcome_of(family, timeout=0.02)
    assert "timed out" in result.error


async def test_a_tool_that_awaits_what_was_cancelled_fails_alone(anyio_backend):
    if anyio_backend != "asyncio":
        pytest.skip("only asyncio has tasks that can be cancelled from outside")

    async def waits():
        other = asyncio.ensure_future(asyncio.sleep(60))
        other.cancel()
        await other

    result = await outcome_of(waits)
    assert "CancelledError" in result.error


async def test_arguments_that_do_not_fit_are_answered_and_the_function_is_not_called():
    called = []

    def weather(city: str, days: int = 1):
        called.append((city, days))

    async with ToolRunner([weather]) as runner:
        calls = [complete(0, "weather"), complete(1, "weather", city=3), complete(2, "weather", city="x", town="y")]
        await collect(runner, stream(*calls, DONE))
    assert [result.error for result in runner.results] == [
        "invalid arguments for 'weather': the required parameter 'city' is missing",
        "invalid arguments for 'weather': 'city' must be of type string, not integer",
        "invalid arguments for 'weather': there is no parameter 'town'",
    ]
    assert called == []


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), BaseExceptionGroup("", [OSError(), KeyboardInterrupt()]), GeneratorExit()], ids=repr
)
async def test_what_the_user_does_is_not_the_tools_failure(error):
    async def work():
        raise error

    with pytest.raises(type(error)) as caught:
        await attempt(work)
    assert caught.value is error


async def test_a_cancellation_of_ours_is_not_the_tools_failure():
    with anyio.CancelScope() as scope:
        scope.cancel()
        await attempt(anyio.sleep_forever)
    assert scope.cancelled_caught
