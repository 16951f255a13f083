"""What a user sees of a turn that goes well, or that is broken off."""

import asyncio
import json
import subprocess
import sys
import threading
from datetime import UTC, datetime

import anyio
import anyio.lowlevel
import pytest
from turns import DONE, FAILED, TEXT, collect, complete, stream

from streamparse.events import ToolCallRevoked
from streamparse.parser import TextParser
from streamparse.repair import Finding
from streamparse.runtime import ToolRunner
from streamparse.tools import Tool, ToolResult, tool

pytestmark = pytest.mark.anyio


class Gate:
    """A tool that says when it begins, and ends when it is let go."""

    def __init__(self, effect="read", name="gate"):
        self.begun, self.go, self.left = anyio.Event(), anyio.Event(), anyio.Event()
        self.tool = Tool(name, function=self.run, effect=effect)

    async def run(self):
        self.begun.set()
        try:
            await self.go.wait()
        finally:
            self.left.set()
        return "through"


@tool(effect="read")
async def double(n: int) -> int:
    """Double a number."""
    return 2 * n


@tool
def shout(text: str) -> str:
    """Shout."""
    return text.upper()


def results_of(items):
    return [item for item in items if isinstance(item, ToolResult)]


async def test_events_and_results_are_yielded_and_every_call_has_its_result():
    events = [TEXT, complete(0, "double", n=4), complete(1, "shout", text="hey"), DONE]
    async with ToolRunner([double, shout]) as runner:
        items = await collect(runner, stream(*events))
    assert [item for item in items if not isinstance(item, ToolResult)] == events
    assert [result.result for result in runner.results] == [8, "HEY"]
    assert {result.call_id for result in results_of(items)} == {"call-0", "call-1"}
    assert all(result.success for result in runner.results)


@pytest.mark.parametrize("cut", [1, 2, 4])
@pytest.mark.parametrize("wrap", [list, lambda items: stream(*items)], ids=["plain", "async"])
async def test_lists_of_events_are_read_like_single_ones(cut, wrap):
    events = [TEXT, complete(0, "double", n=1), TEXT, DONE]
    batches = [events[start : start + cut] for start in range(0, len(events), cut)]
    async with ToolRunner([double]) as runner:
        items = await collect(runner, wrap(batches))
    assert [item for item in items if not isinstance(item, ToolResult)] == events
    assert [result.result for result in runner.results] == [2]


@pytest.mark.parametrize("is_quick", [True, False])
async def test_others_get_a_turn_where_a_source_that_never_waits_takes_long(monkeypatch, is_quick):
    turns, now, checkpoint = 0, 0.0, anyio.lowlevel.checkpoint

    async def count():
        nonlocal turns
        turns += 1
        await checkpoint()

    def read_clock():
        nonlocal now
        now += 0.0 if is_quick else 1.0
        return now

    monkeypatch.setattr(anyio.lowlevel, "checkpoint", count)
    monkeypatch.setattr("streamparse.runtime.run.time.monotonic", read_clock)
    async with ToolRunner([]) as runner:
        items = await collect(runner, [[TEXT]] * 100 + [[DONE]])
    monkeypatch.undo()
    assert items == [TEXT] * 100 + [DONE]
    assert turns <= 2 if is_quick else turns >= 100


async def test_a_closed_tool_runs_while_the_model_still_talks():
    gate = Gate()

    async def source():
        yield complete(0, "gate")
        await gate.begun.wait()
        gate.go.set()
        await gate.left.wait()
        yield TEXT
        yield DONE

    async with ToolRunner([gate.tool]) as runner:
        with anyio.fail_after(60):
            items = await collect(runner, source())
    assert [type(item).__name__ for item in items] == ["ToolCallComplete", "ToolResult", "TextDelta", "Done"]


async def test_a_finish_tool_begins_after_done():
    gate = Gate(effect="write")

    async def source():
        yield complete(0, "gate")
        yield TEXT
        await anyio.wait_all_tasks_blocked()
        assert not gate.begun.is_set()
        gate.go.set()
        yield DONE

    async with ToolRunner([gate.tool]) as runner:
        items = await collect(runner, source())
    assert [type(item).__name__ for item in items[-2:]] == ["Done", "ToolResult"]


async def test_a_consumer_that_does_not_come_back_delays_no_tool():
    gate = Gate()
    async with ToolRunner([gate.tool]) as runner:
        async for item in runner.run(stream(TEXT, complete(0, "gate"), DONE)):
            if item == TEXT:
                with anyio.fail_after(60):
                    await gate.begun.wait()
                gate.go.set()
    assert runner.results[0].result == "through"


async def test_a_tool_begins_although_the_source_never_waits():
    gate, read_at_begin, read = Gate(), [], 0

    async def note():
        read_at_begin.append(read)

    async def source():
        nonlocal read
        for event in [complete(0, "note"), *[TEXT] * 100, DONE]:
            read += 1
            yield event

    async with ToolRunner([Tool("note", function=note, effect="read"), gate.tool]) as runner:
        await collect(runner, source())
    assert read_at_begin == [1]


async def test_a_consumer_that_never_reads_pauses_the_source():
    read = 0

    async def source():
        nonlocal read
        while True:
            read += 1
            yield TEXT

    async with ToolRunner([], max_buffered=10) as runner:
        run = runner.run(source())
        await anyio.wait_all_tasks_blocked()
        assert read == 10
        for _ in range(5):
            await anext(run)
        await anyio.wait_all_tasks_blocked()
        assert read == 15


async def test_at_most_limit_tools_run_at_one_time():
    running = most = 0

    async def work():
        nonlocal running, most
        running += 1
        most = max(most, running)
        await anyio.wait_all_tasks_blocked()
        running -= 1

    events = [complete(index, "work") for index in range(10)]
    async with ToolRunner([Tool("work", function=work, effect="read")], limit=3) as runner:
        await collect(runner, stream(*events, DONE))
    assert most == 3
    assert [result.index for result in runner.results] == list(range(10))


async def test_results_come_as_they_are_ready_and_are_kept_in_call_order():
    slow, quick = Gate(name="slow"), Gate(name="quick")
    quick.go.set()
    order = []
    async with ToolRunner([slow.tool, quick.tool]) as runner:
        async for item in runner.run(stream(complete(0, "slow"), complete(1, "quick"), DONE)):
            if isinstance(item, ToolResult):
                order.append(item.tool_name)
                slow.go.set()
    assert order == ["quick", "slow"]
    assert [result.tool_name for result in runner.results] == ["slow", "quick"]


async def test_a_synchronous_tool_blocks_nobody():
    release, threads = threading.Event(), []

    def wait():
        threads.append(threading.current_thread())
        return release.wait(60)

    async def let_go():
        release.set()

    tools = [Tool("wait", function=wait, effect="read"), Tool("let_go", function=let_go, effect="read")]
    async with ToolRunner(tools) as runner:
        await collect(runner, stream(complete(0, "wait"), complete(1, "let_go"), DONE))
    assert runner.results[0].result is True
    assert threads != [threading.current_thread()]


async def test_a_function_that_returns_an_awaitable_is_awaited():
    async with ToolRunner([Tool("later", function=lambda n: double(n=n))]) as runner:
        await collect(runner, stream(complete(0, "later", n=2), DONE))
    assert runner.results[0].result == 4


async def test_a_revoked_call_that_runs_is_cancelled_and_its_result_is_marked():
    gate = Gate()

    async def source():
        yield complete(0, "gate")
        await gate.begun.wait()
        yield ToolCallRevoked(0, "call-0", "content_filter")
        await gate.left.wait()
        yield FAILED

    async with ToolRunner([gate.tool]) as runner:
        await collect(runner, source())
    (result,) = runner.results
    assert (result.result, result.revoked, result.attempts) == (None, True, 1)
    assert "content_filter" in result.error
    assert runner.results[0].incomplete


async def test_a_source_that_breaks_is_raised_after_the_results():
    gate = Gate()

    async def source():
        yield complete(0, "gate")
        await gate.begun.wait()
        raise OSError("connection lost")

    items = []
    async with ToolRunner([gate.tool]) as runner:
        run = runner.run(source())
        items.append(await anext(run))
        await anyio.wait_all_tasks_blocked()
        gate.go.set()
        items.append(await anext(run))
        with pytest.raises(OSError, match="connection lost"):
            await anext(run)
    assert results_of(items) == runner.results
    assert (runner.results[0].result, runner.results[0].incomplete) == ("through", True)


async def test_the_times_are_the_clocks():
    ticks = iter(range(10, 1000, 10))
    async with ToolRunner([double], timeout=None, clock=lambda: next(ticks), wall_clock=lambda: 1000) as runner:
        await collect(runner, [complete(0, "double", n=1), DONE])
    (result,) = runner.results
    assert (result.started, result.ended, result.seconds) == (20, 30, 10)
    assert result.time == datetime.fromtimestamp(1010, UTC)  # the clocks are compared once, before the first event


class Broken(Exception):
    pass


EVENTS = [TEXT, complete(0, "gate"), TEXT, complete(1, "gate"), complete(2, "other"), DONE]


async def endless(closed):
    """Yield `EVENTS` and go on waiting; note in `closed` when that ends."""
    try:
        for event in EVENTS:
            yield event
            await anyio.lowlevel.checkpoint()
        await anyio.sleep_forever()
    finally:
        closed.append(True)


@pytest.mark.parametrize("position", range(len(EVENTS)))
@pytest.mark.parametrize("way", ["break", "raise", "cancel"])
async def test_a_consumer_that_stops_at_any_event_leaves_no_task_and_a_closed_source(position, way):
    other = Gate(effect="write", name="other")
    before, closed, begun, stopped = anyio.get_running_tasks(), [], 0, 0

    async def enter():
        nonlocal begun, stopped
        begun += 1
        try:
            await anyio.sleep_forever()
        finally:
            stopped += 1

    runner = ToolRunner([Tool("gate", function=enter, effect="read"), other.tool])
    with anyio.CancelScope() as scope:
        try:
            async with runner:
                seen = -1
                async for _ in runner.run(endless(closed)):
                    seen += 1
                    if seen != position:
                        continue
                    if way == "break":
                        break
                    if way == "raise":
                        raise Broken  # noqa: TRY301
                    scope.cancel()
        except Broken:
            assert way == "raise"
    assert scope.cancelled_caught is (way == "cancel")
    assert closed == [True]
    assert begun == stopped
    assert len(anyio.get_running_tasks()) == len(before)
    assert len({result.index for result in runner.results}) == len(runner.results)
    assert all(not result.success for result in runner.results)
    assert len(runner.results) >= sum(type(event) is type(EVENTS[1]) for event in EVENTS[: position + 1])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_consumer_that_asyncio_itself_cancels_leaves_no_task():
    gate = Gate()
    before = asyncio.all_tasks()
    runner = ToolRunner([gate.tool])

    async def consume():
        async with runner:
            await collect(runner, stream(complete(0, "gate"), DONE))

    consumer = asyncio.ensure_future(consume())
    await gate.begun.wait()
    consumer.cancel()
    with pytest.raises(asyncio.CancelledError):
        await consumer
    assert gate.left.is_set()
    assert asyncio.all_tasks() == before
    assert [result.success for result in runner.results] == [False]


async def test_nothing_begins_in_a_run_that_was_stopped():
    begun = []

    async def stubborn():
        begun.append("stubborn")
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            return "late"

    async def queued():
        begun.append("queued")

    tools = [Tool("stubborn", function=stubborn, effect="read"), Tool("queued", function=queued, effect="read")]
    async with ToolRunner(tools, limit=1) as runner:
        async for item in runner.run(stream(complete(0, "stubborn"), complete(1, "queued"), TEXT, DONE)):
            if item == TEXT:
                break
    assert begun == ["stubborn"]
    assert [result.result for result in runner.results] == ["late", None]


async def test_an_exception_of_the_body_is_not_wrapped():
    with pytest.raises(Broken):
        async with ToolRunner([]):
            raise Broken


async def test_a_runner_takes_turn_after_turn():
    async with ToolRunner([double]) as runner:
        for turn in range(3):
            await collect(runner, stream(complete(0, "double", n=turn), DONE))
            assert [result.result for result in runner.results] == [2 * turn]


async def test_a_new_run_stops_the_one_before_it():
    gate = Gate()
    async with ToolRunner([gate.tool, double]) as runner:
        async for _ in runner.run(stream(complete(0, "gate"), DONE)):
            await gate.begun.wait()
            break
        await collect(runner, stream(complete(0, "double", n=1), DONE))
        assert gate.left.is_set()
        assert [result.result for result in runner.results] == [2]


async def test_a_run_can_be_closed_by_itself():
    gate = Gate()
    async with ToolRunner([gate.tool]) as runner:
        run = runner.run(stream(complete(0, "gate"), DONE))
        await gate.begun.wait()
        await run.aclose()
        assert gate.left.is_set()
        assert [result.success for result in run.results] == [False]


async def test_a_run_needs_the_block_around_it():
    runner = ToolRunner([])
    with pytest.raises(RuntimeError):
        runner.run([])
    async with runner:
        with pytest.raises(TypeError):
            runner.run(DONE)
        with pytest.raises(RuntimeError):
            await runner.__aenter__()
    with pytest.raises(RuntimeError):
        runner.run([])


@pytest.mark.parametrize("wrong", [{"limit": 0}, {"max_buffered": 0}, {"timeout": 0}, {"time_limit": 0}])
async def test_settings_that_make_no_sense_are_refused(wrong):
    with pytest.raises(ValueError):
        ToolRunner([], **wrong)


@pytest.mark.parametrize("batch", [b"data: {}", "text", [{"type": "done"}]], ids=["bytes", "text", "dict"])
async def test_a_source_of_something_else_than_events_is_refused(batch):
    async with ToolRunner([double]) as runner:
        with pytest.raises(TypeError, match="a runner reads events"):
            await collect(runner, stream(batch))


async def test_without_calls_there_are_no_results():
    async with ToolRunner(None) as runner:
        assert runner.results == []
        assert await collect(runner, [TEXT, DONE]) == [TEXT, DONE]
        assert runner.results == []


async def test_two_consumers_of_one_run_are_told_apart_from_one():
    gate = Gate()
    async with ToolRunner([gate.tool]) as runner:
        run = runner.run(stream(complete(0, "gate"), DONE))
        got = []

        async def consume():
            got.extend([item async for item in run])

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(consume)
            await gate.begun.wait()
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(RuntimeError, match="a consumer already"):
                await anext(run)
            gate.go.set()
        assert [type(item).__name__ for item in got] == ["ToolCallComplete", "Done", "ToolResult"]


async def test_a_runner_obeys_its_guards_its_tier_and_its_schema():
    def no_two(call):
        if call.arguments["n"] == 2:
            yield Finding("two", "two is not allowed")

    calls = [complete(0, "double", n="1"), complete(1, "double", n=2), complete(2, "double", n="x"), DONE]
    async with ToolRunner([double], guards=[no_two]) as runner:
        await collect(runner, stream(*calls))
    assert [result.result for result in runner.results] == [2, None, None]
    assert runner.results[0].changes == ("n: '1' was read as 1",)
    assert "two is not allowed" in runner.results[1].error
    async with ToolRunner([double], coerce=False) as runner:
        await collect(runner, stream(complete(0, "double", n="1"), DONE))
    assert not runner.results[0].success


WITHOUT_EXTRA = """
import sys
sys.modules["jsonschema_rs"] = None
import anyio
import streamparse as sp

@sp.tool
def double(n: int) -> int:
    return 2 * n

async def main():
    values = enumerate((1, "1", []))
    calls = [sp.ToolCallComplete(number, str(number), "double", {"n": n}, "native", "") for number, n in values]
    declared = {"type": "function", "function": {"name": "other", "parameters": {"properties": {"a": {"maximum": 3}}}}}
    async with sp.ToolRunner([double, declared]) as runner:
        async for _ in runner.run([*calls, sp.Done("tool_calls", None, True)]):
            pass
    print([result.result for result in runner.results])
    try:
        sp.ToolRunner([sp.Tool("f", "", {"type": "object", "properties": {"n": {"maximum": 3}}}, double)])
    except ModuleNotFoundError as error:
        print(error)

anyio.run(main)
"""


def test_without_the_extra_functions_are_checked_by_their_annotations_and_other_schemas_are_refused_at_once():
    ran = subprocess.run([sys.executable, "-c", WITHOUT_EXTRA], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.splitlines() == [
        "[2, None, None]",
        "the tool 'f' has a schema of its own; JSON Schema checks need `pip install jsonschema-rs`",
    ]


@pytest.mark.parametrize(("allow", "ran"), [((), [8, None]), (("divided",), [8, "HEY"])])
async def test_calls_behind_a_turn_that_the_model_invented_do_not_run_and_text_behind_a_call_holds_back_its_effects(
    allow, ran
):
    def write(name, **arguments):
        return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>\n"

    calls = [write("double", n=4), write("shout", text="hey")]
    parser = TextParser(["hermes"], tools=[double, shout])
    events = parser.feed("".join([*calls, "<tool_response>\n8\n</tool_response>\n", *calls]))
    async with ToolRunner([double, shout], allow=allow) as runner:
        await collect(runner, stream(*events, *parser.close(stopped=True)))
    assert [result.result for result in runner.results] == ran
