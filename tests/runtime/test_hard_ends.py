"""A tool, a source or a consumer that does not give way: the run goes on, or ends, as for any other."""

import asyncio
import types

import anyio
import pytest
from turns import DONE, TEXT, collect, complete, stream

from streamparse.runtime import ToolRunner
from streamparse.runtime.execution import Failure, attempt
from streamparse.tools import Tool, ToolResult

pytestmark = pytest.mark.anyio


class Odd(BaseException):
    """Neither an Exception nor what any event loop knows."""


async def quick():
    return "fine"


async def outcome_of(function, **settings):
    """Run a tool between two that behave; returns its one result."""
    tools = [Tool("odd", function=function, effect="read", retries=0), Tool("quick", function=quick, effect="read")]
    events = [complete(0, "quick"), complete(1, "odd"), complete(2, "quick"), DONE]
    async with ToolRunner(tools, **settings) as runner:
        with anyio.fail_after(60):
            items = await collect(runner, stream(*events))
    assert sorted(item.index for item in items if isinstance(item, ToolResult)) == [0, 1, 2]
    first, odd, last = runner.results
    assert (first.result, last.result) == ("fine", "fine")
    return odd


ODD = [
    GeneratorExit("mine"),
    SystemExit(3),
    Odd("strange"),
    BaseExceptionGroup("many", [GeneratorExit(), OSError()]),
    BaseExceptionGroup("many", [Odd(), OSError()]),
]


@pytest.mark.parametrize("error", ODD, ids=repr)
@pytest.mark.parametrize("waits", [False, True])
async def test_whatever_a_coroutine_raises_is_its_calls_error(error, waits):
    async def tool():
        if waits:
            await anyio.lowlevel.checkpoint()
        raise error

    result = await outcome_of(tool)
    assert result.failure.code == "raised"
    assert type(error).__name__ in result.error or "many" in result.error


@pytest.mark.parametrize("error", [*ODD, ValueError("late")], ids=repr)
async def test_whatever_a_coroutine_raises_when_its_time_is_over_is_its_calls_error(error):
    async def tool():
        try:
            await anyio.sleep_forever()
        finally:
            raise error

    result = await outcome_of(tool, timeout=0.1)
    assert result.failure.code == "raised"


async def test_a_group_of_tasks_of_which_one_fails_when_its_time_is_over_is_the_calls_error():
    async def fail():
        try:
            await anyio.sleep_forever()
        finally:
            raise Odd("in a group")

    async def tool():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(fail)
            tasks.start_soon(anyio.sleep_forever)

    result = await outcome_of(tool, timeout=0.1)
    assert result.failure.code in ("raised", "timed_out")


async def test_a_tool_that_gives_way_only_at_the_third_time_keeps_its_value():
    async def tool():
        for _ in range(3):
            try:
                await anyio.sleep_forever()
            except anyio.get_cancelled_exc_class():
                pass
        return "at last"

    assert (await outcome_of(tool, timeout=0.1)).result == "at last"


async def test_what_a_tool_must_finish_is_waited_for():
    done = []

    async def tool():
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                for _ in range(5):
                    await anyio.lowlevel.checkpoint()
                done.append("tidy")

    result = await outcome_of(tool, timeout=0.1)
    assert (result.failure.code, done) == ("timed_out", ["tidy"])


async def test_leaving_waits_for_what_a_tool_must_finish():
    done, begun = [], anyio.Event()

    async def tool():
        begun.set()
        try:
            await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                for _ in range(5):
                    await anyio.lowlevel.checkpoint()
                done.append("tidy")

    async with ToolRunner([Tool("tool", function=tool, effect="read")]) as runner:
        runner.run(stream(complete(0, "tool"), DONE))
        await begun.wait()
    assert done == ["tidy"]
    assert [result.failure.code for result in runner.results] == ["stopped"]


@types.coroutine
def wait_for_nothing():
    yield


def begin_and_close(close):
    """Begin an attempt that waits, and close its coroutine; it would be a RuntimeError if that went on waiting."""
    closed = []

    async def work():
        try:
            await wait_for_nothing()
        finally:
            closed.append(True)

    async def tell():
        closed.append(await attempt(work))

    coroutine = tell()
    coroutine.send(None)
    close(coroutine.close)
    return closed


def test_a_coroutine_that_is_closed_when_no_loop_runs_gives_way():
    assert begin_and_close(lambda close: close()) == [True]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_coroutine_that_a_loop_closes_gives_way():
    closed = begin_and_close(asyncio.get_running_loop().call_soon)
    await anyio.lowlevel.checkpoint()
    assert closed == [True]


async def test_a_source_that_raises_what_ends_a_generator_is_raised_after_the_results():
    class Source:
        def __init__(self):
            self.events = [complete(0, "quick")]

        def __aiter__(self):
            return self

        async def __anext__(self):
            if self.events:
                return self.events.pop()
            raise GeneratorExit("of the source")

    async with ToolRunner([Tool("quick", function=quick, effect="read")]) as runner:
        run = runner.run(Source())
        with pytest.raises(GeneratorExit, match="of the source"):
            async for _ in run:
                pass
    assert [result.result for result in runner.results] == ["fine"]


async def test_a_failure_of_foreign_work_is_a_value():
    async def work():
        raise GeneratorExit

    assert isinstance(await attempt(work), Failure)


async def test_nobody_reads_and_tools_run_and_reading_pauses_and_leaving_ends_all():
    read, ended, closed = [], anyio.Event(), []

    async def tool():
        ended.set()
        return "fine"

    async def source():
        try:
            yield complete(0, "tool")
            while True:
                read.append(TEXT)
                yield TEXT
        finally:
            closed.append(True)

    before = len(anyio.get_running_tasks())
    async with ToolRunner([Tool("tool", function=tool, effect="read")], max_buffered=4) as runner:
        runner.run(source())
        await ended.wait()
        await anyio.wait_all_tasks_blocked()
        assert [result.result for result in runner.results] == ["fine"]
        assert len(read) <= 4
    assert closed == [True]
    assert len(anyio.get_running_tasks()) == before


async def test_a_consumer_that_reads_late_gets_all():
    async with ToolRunner([Tool("quick", function=quick, effect="read")], max_buffered=2) as runner:
        run = runner.run(stream(TEXT, complete(0, "quick"), TEXT, TEXT, DONE))
        await anyio.wait_all_tasks_blocked()
        items = [item async for item in run]
    assert [item for item in items if not isinstance(item, ToolResult)] == [
        TEXT,
        complete(0, "quick"),
        TEXT,
        TEXT,
        DONE,
    ]
