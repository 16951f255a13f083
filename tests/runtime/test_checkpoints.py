"""Wherever a run is broken off, nothing is left of it, nothing begins that may not, and each call has its answer.

One turn with everything in it (tools in tasks and in threads, one that hangs, locks, an approval, a retry, progress, a
consumer that is slower than the answer) is broken off at its first step, at its second, and so on, until it ends
before.  Time is the loop's own (`stepping`): nothing is waited for.
"""

import asyncio
import collections
import threading
from typing import Any

import anyio
import pytest
from stepping import run_stepwise
from turns import DONE, TEXT, complete

from streamparse.events import Done, ToolCallComplete, ToolCallDelta, ToolCallStart
from streamparse.runtime import ApprovalRequest, ToolRunner
from streamparse.tools import Streamed, ToolContext, ToolError, ToolResult, tool

ANSWER = [
    TEXT,
    ToolCallStart(0, "call-0", "look"),
    ToolCallDelta(0, "{"),
    [complete(0, "look"), complete(1, "compute")],
    complete(2, "write", path="a"),
    ToolCallStart(9, "call-9", "save"),
    [ToolCallDelta(9, '{"path": "b", "content": "a'), ToolCallDelta(9, "nd")],
    ToolCallDelta(9, ' so"}'),
    complete(9, "save", path="b", content="and so"),
    complete(3, "read", path="a"),
    [complete(4, "flaky"), complete(5, "stubborn"), TEXT],
    [complete(6, "hang"), complete(7, "send"), complete(8, "unknown")],
    DONE,
]
EFFECTS = {"write": "idempotent", "save": "idempotent", "send": "write"}
NOTED_LATE = ("compute", "hang", "save")
"""Tools that may have begun and have not come to say so."""


class Broken(Exception):
    pass


class Scenario:
    """One turn, and all that is seen of it; `break_off` is called once, at step `at`."""

    def __init__(self, at):
        self.at, self.steps, self.break_off = at, 0, None
        self.log: list[Any] = []  # events as they were read, calls as they begin, and where it was broken off
        self.items = []
        self.opened = self.closed = self.asked_to_close = self.said_goodbye = 0
        self.release = threading.Event()
        self.is_broken = self.is_finished = False
        self.runner = ToolRunner(self.make_tools(), limit=4, timeout=3.0, max_buffered=2, clock=anyio.current_time)

    def step(self):
        self.steps += 1
        if self.steps == self.at and self.break_off is not None:
            self.break_off()

    def is_busy(self):
        return any(not job.is_abandoned and not job.name.endswith("hang") for job in self.runner._threads._jobs)

    def make_tools(self):
        log = self.log

        @tool(effect="read")
        async def look(ctx: ToolContext[None]) -> str:
            log.append("look")
            await ctx.progress("looks")
            return "seen"

        @tool(effect="read")
        def compute() -> int:
            log.append("compute")
            return 1

        @tool(effect="idempotent", lock="path")
        async def write(path: str) -> str:
            log.append("write")
            await anyio.lowlevel.checkpoint()
            log.append("written")
            return "written"

        @tool(effect="idempotent", lock="path")
        async def save(path: str, content: Streamed[str]) -> str:
            log.append("opened")
            text = "".join([piece async for piece in content])
            log.append("save")
            return text

        @tool(effect="read", lock="path")
        async def read(path: str) -> str:
            log.append("read")
            assert "written" in log
            return "text"

        @tool(effect="read", retries=1)
        async def flaky(ctx: ToolContext[None]) -> str:
            log.append("flaky")
            if ctx.attempt == 1:
                raise ToolError("network", "no route")
            return "found"

        @tool(effect="read")
        async def stubborn() -> str:
            log.append("stubborn")
            try:
                await anyio.sleep(1)
            except anyio.get_cancelled_exc_class():
                return "not now"
            return "slept"

        @tool(effect="read")
        def hang() -> None:
            log.append("hang")
            self.release.wait(60)

        @tool(needs_approval=True)
        async def send() -> str:
            log.append("send")
            await anyio.lowlevel.checkpoint()
            return "sent"

        return [look, compute, write, save, read, flaky, stubborn, hang, send]

    async def source(self):
        self.opened += 1
        try:
            for batch in ANSWER:
                await anyio.lowlevel.checkpoint()
                self.log.extend(batch if isinstance(batch, list) else [batch])
                yield batch
        except GeneratorExit:
            self.asked_to_close += 1
            await anyio.lowlevel.checkpoint()
            self.said_goodbye += 1
            raise
        finally:
            self.closed += 1

    async def consume(self, leave=None):
        async with self.runner as runner:
            self.run = run = runner.run(self.source())
            async for item in run:
                self.items.append(item)
                if leave is not None:
                    leave(item)
                if self.is_broken:
                    break
                if isinstance(item, ApprovalRequest):
                    run.approve(item)
                await anyio.lowlevel.checkpoint()
        self.is_finished = not self.is_broken

    def note_break(self):
        self.log.append("broken off")
        self.is_broken = True

    def check(self):
        named = collections.Counter(self.runner.unstopped_threads)
        for thread in threading.enumerate():
            if thread.name.startswith("streamparse tool") and thread.name not in named:
                thread.join(10)  # its function has returned, and it ends in a moment
        alive = collections.Counter(t.name for t in threading.enumerate() if t.name.startswith("streamparse tool"))
        assert alive <= named, "a thread is left, and is not named"
        self.release.set()
        for thread in threading.enumerate():
            if thread.name.startswith("streamparse tool"):
                thread.join(60)
        assert self.opened == self.closed
        assert self.asked_to_close == self.said_goodbye, "a source may take leave"
        written = {each.index: each.name for each in self.log if isinstance(each, (ToolCallStart, ToolCallComplete))}
        assert [result.index for result in self.runner.results] == sorted(written), "one answer for each call"
        shown = [item.index for item in self.items if isinstance(item, ToolResult)]
        assert len(shown) == len(set(shown))
        self.check_begun()
        for result in self.runner.results:
            count = self.log.count(result.tool_name)
            assert result.attempts == count or (result.tool_name in NOTED_LATE and result.attempts in (0, 1))

    def check_begun(self):
        """What began may have begun where it did."""
        for at, name in enumerate(self.log):
            if name in ("look", "flaky", "stubborn", "read", *EFFECTS):
                before = self.log[:at]
                assert "broken off" not in before, f"{name} began behind the end"
                whole = [each.name for each in before if isinstance(each, ToolCallComplete)]
                assert name in whole
                if EFFECTS.get(name) == "write":
                    assert any(isinstance(each, Done) for each in before)
                    assert any(isinstance(item, ApprovalRequest) for item in self.items)
                elif EFFECTS.get(name) == "idempotent":
                    assert whole[-1] != name or not isinstance(before[-1], ToolCallComplete)
        assert self.log.count("send") <= 1


async def be_cancelled(scenario):
    before = len(anyio.get_running_tasks())
    with anyio.CancelScope() as scope:

        def break_off():
            scenario.note_break()
            scope.cancel()

        scenario.break_off = break_off
        await scenario.consume()
    assert scope.cancelled_caught or scenario.is_finished or scenario.is_broken
    assert len(anyio.get_running_tasks()) == before


async def be_cancelled_by_asyncio(scenario):
    before = asyncio.all_tasks()
    consumer = asyncio.ensure_future(scenario.consume())

    def break_off():
        if consumer.cancel():
            scenario.is_broken = True

    scenario.break_off = break_off
    await asyncio.wait([consumer])
    assert consumer.cancelled() or consumer.exception() is None
    assert asyncio.all_tasks() == before


async def be_closed(scenario):
    before = len(anyio.get_running_tasks())
    asked = anyio.Event()

    async def close():
        await asked.wait()
        if hasattr(scenario, "run"):
            scenario.log.append("broken off")
            await scenario.run.aclose()
            assert scenario.opened == scenario.closed

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(close)
        scenario.break_off = asked.set
        await scenario.consume()
        scenario.break_off = None
        tasks.cancel_scope.cancel()
    assert len(anyio.get_running_tasks()) == before


WAYS = [
    ("asyncio", be_cancelled),
    ("asyncio", be_cancelled_by_asyncio),
    ("asyncio", be_closed),
    ("trio", be_cancelled),
    ("trio", be_closed),
]


def run_once(backend, way, at):
    scenario = Scenario(at)

    async def main():
        await way(scenario)

    try:
        run_stepwise(main, backend, scenario.step, scenario.is_busy)
        scenario.check()
    except BaseException as error:
        error.add_note(f"broken off at step {at} of {scenario.steps}: {scenario.log}")
        raise
    finally:
        scenario.release.set()
    return scenario


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_the_whole_turn_goes_well_if_it_is_not_broken_off(backend):
    scenario = run_once(backend, be_cancelled, 0)
    told = [result.result if result.success else result.failure.code for result in scenario.runner.results]
    assert scenario.log.index("opened") < scenario.log.index("save")
    assert told == ["seen", 1, "written", "text", "found", "slept", "timed_out", "sent", "unknown_tool", "and so"]
    assert scenario.steps > 80


@pytest.mark.parametrize("backend, way", WAYS, ids=[f"{way.__name__} {backend}" for backend, way in WAYS])
def test_broken_off_at_any_step_nothing_is_left_and_nothing_begins_and_each_call_is_answered(backend, way):
    at, is_over = 0, False
    while not is_over:
        at += 1
        is_over = run_once(backend, way, at).steps < at
    assert at > 80


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("how", ["break", "raise"])
def test_left_at_any_item_nothing_is_left_and_nothing_begins_and_each_call_is_answered(backend, how):
    at, is_over = 0, False
    while not is_over:
        at += 1
        is_over = leave_once(backend, how, at)
    assert at > 15


def leave_once(backend, how, at):
    """Leave at the item of that number; returns whether there was none."""
    scenario = Scenario(0)

    def leave(item):
        if len(scenario.items) == at:
            scenario.is_broken = True
            if how == "raise":
                raise Broken

    async def main():
        before = len(anyio.get_running_tasks())
        try:
            await scenario.consume(leave)
        except Broken:
            assert how == "raise"
        assert len(anyio.get_running_tasks()) == before

    try:
        run_stepwise(main, backend, scenario.step, scenario.is_busy)
        scenario.check()
    finally:
        scenario.release.set()
    return not scenario.is_broken
