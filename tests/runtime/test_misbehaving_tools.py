"""Whatever a tool does, its call gets exactly one error result and the others go on."""

import asyncio
import subprocess
import sys
import threading
from contextvars import ContextVar

import anyio
import msgspec
import pytest
from turns import DONE, collect, complete, stream

from streamparse.runtime import ToolRunner
from streamparse.runtime.execution import attempt
from streamparse.tools import Tool, ToolResult

pytestmark = pytest.mark.anyio


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


variable = ContextVar("variable")

CYCLE: list = []
CYCLE.append(CYCLE)

RAISED = {
    "ValueError": (ValueError("bad luck"), "ValueError: bad luck"),
    "ExceptionGroup": (ExceptionGroup("many", [OSError()]), "OSError"),
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
    "long bytes": (b"x" * 1001, "too large"),
    "bytes that are long as text": (b"x" * 900, "too large"),
    "a large picture": ([{"type": "image", "data": "x" * 1000, "mimeType": "image/png"}], "too large"),
    "long bytes inside": ({"files": [("a", b"x" * 1001)]}, "too large"),
    "a large picture of Gemini's": ([{"inline_data": {"mime_type": "image/png", "data": "x" * 1000}}], "too large"),
    "a large picture inside": ({"shots": [{"image": "data:image/png;base64," + "x" * 1000}]}, "too large"),
}


def quick():
    return "fine"


async def outcome_of(function, **settings):
    """Run a tool between two that behave; returns its one result."""
    tools = [
        Tool("odd", function=function, effect="read", retries=0),
        Tool("quick", function=quick, effect="read", timeout=60),
    ]
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


async def test_a_tool_in_a_thread_may_raise_what_ends_a_generator():
    def body():
        raise GeneratorExit("not mine")

    result = await outcome_of(body)
    assert "GeneratorExit('not mine')" in result.error


@pytest.mark.parametrize("kind", ["sync", "async"])
@pytest.mark.parametrize("value, text", RETURNED.values(), ids=RETURNED)
async def test_a_value_that_cannot_be_handed_on_is_an_error(kind, value, text):
    result = await outcome_of(as_function(kind, lambda: value), max_result=1000)
    assert (result.success, result.result) == (False, None)
    assert text in result.error


async def test_a_value_that_just_fits_is_handed_on():
    result = await outcome_of(lambda: "x" * 1000, max_result=1000)
    assert result.result == "x" * 1000


@pytest.mark.parametrize("value", ["<" + "x" * 2000 + ">", ["x"] * 500], ids=["text", "list"])
async def test_a_long_result_is_cut_and_says_how_to_get_the_rest(value):
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    result = await outcome_of(lambda: value, max_result=1000)
    assert result.success
    assert len(result.result) == 1000
    assert (result.result[:100], result.result[-100:]) == (text[:100], text[-100:])
    assert f"of {len(text)} characters are left out here" in result.result
    assert "Ask for the rest in parts" in result.result


async def test_a_picture_that_fits_is_handed_on_whole():
    picture = [{"type": "image", "data": "x" * 900, "mimeType": "image/png"}]
    assert (await outcome_of(lambda: picture, max_result=1000)).result == picture


async def test_a_long_error_is_cut():
    def fail():
        raise ValueError("x" * 100_000)

    result = await outcome_of(fail)
    assert len(result.error) <= 600
    assert "cut here" in result.error


async def test_a_value_becomes_json_values():
    result = await outcome_of(lambda: {1: (2.5, {"three"}, float("nan"))})
    assert result.result == {"1": [2.5, ["three"], "NaN"]}


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


async def test_threads_that_hang_are_bounded_and_named_and_keep_their_place():
    release = threading.Event()

    async def look():
        return "fine"

    tools = [
        Tool("hang", function=lambda: release.wait(60), effect="read", timeout=0.05),
        Tool("late", function=quick, effect="read", timeout=0.05),
        Tool("look", function=look, effect="read", timeout=0.05),
    ]
    events = [*(complete(index, "hang") for index in range(4)), complete(4, "late"), complete(5, "look"), DONE]
    runner = ToolRunner(tools, limit=2)
    try:
        async with runner:
            with anyio.fail_after(60):
                await collect(runner, stream(*events))
                assert [result.result for result in runner.results] == [None] * 6
                for result in runner.results[2:]:
                    assert "2 threads are held by tools that did not return (hang, hang)" in result.error
                    assert (result.attempts, result.failure.code) == (0, "no_place")
                most = sum(thread.name.startswith("streamparse tool") for thread in threading.enumerate())
        assert most == 2
        assert runner.unstopped_threads == ["streamparse tool hang"] * 2
    finally:
        release.set()
    for thread in threading.enumerate():
        if thread.name.startswith("streamparse tool"):
            thread.join(60)
    assert runner.unstopped_threads == []


async def test_a_thread_that_returns_late_gives_its_place_back():
    release = threading.Event()
    tools = [
        Tool("hang", function=lambda: release.wait(60), effect="read", timeout=0.02),
        Tool("quick", function=quick, effect="read"),
    ]
    async with ToolRunner(tools, limit=1) as runner:
        with anyio.fail_after(60):
            async for item in runner.run(stream(complete(0, "hang"), complete(1, "quick"), DONE)):
                if isinstance(item, ToolResult) and item.index == 0:
                    release.set()
    assert [result.result for result in runner.results] == [None, "fine"]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_thread_that_outlives_its_event_loop_gives_its_place_to_a_call_in_the_next_one(backend):
    hold = threading.Event()

    def odd():
        hold.wait(60)

    def next_one():
        return "fine"

    async def watch():
        yield complete(0, "next_one")
        yield DONE
        hold.set()

    runner = ToolRunner([Tool("odd", function=odd, timeout=0.01), Tool("next_one", function=next_one)], limit=1)

    async def run(events):
        async with runner:
            with anyio.fail_after(30):
                await collect(runner, events)
        return runner.results[0]

    left = anyio.run(run, stream(complete(0, "odd"), DONE), backend=backend)
    assert "its thread goes on" in left.error
    assert anyio.run(run, watch(), backend=backend).result == "fine"


async def test_a_thread_that_cannot_begin_keeps_no_place():
    before = threading.stack_size(1 << 46)  # more than any system has
    try:
        async with ToolRunner([Tool("quick", function=quick)], limit=1) as runner:
            await collect(runner, stream(complete(0, "quick"), DONE))
            assert "can't start new thread" in runner.results[0].error
            threading.stack_size(before)
            with anyio.fail_after(30):
                await collect(runner, stream(complete(0, "quick"), DONE))
            assert runner.results[0].result == "fine"
    finally:
        threading.stack_size(before)


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_a_tool_that_never_returns_does_not_keep_the_process_alive(loop):
    program = f"""
import anyio, threading, sys
import streamparse as sp

@sp.tool(effect="read", timeout=0.1)
def hang() -> str:
    threading.Event().wait()

async def main():
    call = sp.ToolCallComplete(0, "a", "hang", {{}}, "native", "")
    async with sp.ToolRunner([hang]) as runner:
        async for item in runner.run([call, sp.Done("tool_calls", None, True)]):
            pass
    print(runner.results[0].error, runner.unstopped_threads)

anyio.run(main, backend={loop!r})
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert "the tool timed out after 0.1 s; its thread goes on" in ran.stdout
    assert ran.stdout.strip().endswith("['streamparse tool hang']")
    assert ran.stderr == ""


async def test_a_tool_in_a_thread_sees_the_context_that_it_was_called_in():
    variable.set("here")

    def look():
        return variable.get()

    result = await outcome_of(look)
    assert result.result == "here"


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
        calls = [complete(0, "weather"), complete(1, "weather", city="x", town="y")]
        await collect(runner, stream(*calls, DONE))
    assert [result.error for result in runner.results] == [
        "invalid call of 'weather': \"city\" is a required property",
        "invalid call of 'weather': Additional properties are not allowed ('town' was unexpected)",
    ]
    assert called == []


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), BaseExceptionGroup("", [OSError(), KeyboardInterrupt()])], ids=repr
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


async def test_a_thread_that_outlives_its_turn_keeps_its_lock_and_its_place_in_the_next():
    release, order = threading.Event(), []

    def write():
        release.wait(60)
        order.append("the thread returned")

    async def read():
        order.append("another call began")

    tools = [
        Tool("write", function=write, lock="*", timeout=0.02),
        Tool("read", function=read, effect="read", lock="*"),
    ]
    async with ToolRunner(tools) as runner:
        with anyio.fail_after(60):
            await collect(runner, stream(complete(0, "write"), DONE))
            assert "its thread goes on" in runner.results[0].error
            async for _ in runner.run(stream(complete(0, "read"), DONE)):
                release.set()
    assert order == ["the thread returned", "another call began"]
    assert [result.success for result in runner.results] == [True]


async def test_a_call_that_waits_for_a_thread_of_an_earlier_turn_is_answered_when_its_time_is_over():
    release = threading.Event()

    def quick_one():
        raise AssertionError

    tools = [
        Tool("hang", function=lambda: release.wait(60), lock="*", timeout=0.02),
        Tool("late", function=quick_one, lock="*", timeout=0.02),
    ]
    try:
        async with ToolRunner(tools) as runner:
            with anyio.fail_after(60):
                await collect(runner, stream(complete(0, "hang"), DONE))
                for _ in range(2):
                    await collect(runner, stream(complete(0, "late"), DONE))
                    assert (runner.results[0].attempts, runner.results[0].failure.code) == (0, "no_place")
                    assert "1 threads are held by tools that did not return (hang)" in runner.results[0].error
    finally:
        release.set()
