"""An agent that is a tool of another: its usage and its approvals are those of the run that calls it."""

import subprocess
import sys
from pathlib import Path

import anyio
import httpx
import pytest
from scripted import END, Scripted, call, calls, frame, says

import streamparse as sp
from streamparse.runtime.replay import list_items

pytestmark = pytest.mark.anyio

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def make(*answers, tools=()):
    child = sp.Agent(Scripted(*answers), tools)
    return child, child.as_tool("research", "Find something out.")


def parent_of(tool):
    model = Scripted(calls(("research", {"task": "Why?"}), usage=USAGE), says("done", usage=USAGE))
    return sp.Agent(model, [tool])


async def test_its_output_is_the_result_and_its_usage_joins():
    _, tool = make(says("Because.", usage=USAGE))
    assert [*tool.parameters["properties"]] == ["task"]
    result = await parent_of(tool).run("?")
    assert result.history.rounds[0].results[0].result == "Because."
    assert result.usage.total == 45


async def test_its_approvals_are_items_of_the_run_that_calls_it():
    paid = []

    @sp.tool(needs_approval=True)
    async def pay(amount: int) -> str:
        paid.append(amount)
        return "paid"

    _, tool = make(calls(("pay", {"amount": 5})), calls(("pay", {"amount": 6})), says("Paid."), tools=[pay])
    async with parent_of(tool).run("?") as run:
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                run.approve(item) if item.arguments["amount"] == 5 else run.deny(item, "too much")
    assert (run.result.output, paid, run.result.approvals) == ("done", [5], ())


def make_payer():
    @sp.tool(needs_approval=True)
    async def pay(amount: int) -> str:
        return "paid"

    return pay


async def test_its_waiting_counts_neither_for_the_call_nor_for_the_run_that_calls_it(tmp_path):
    now = 0.0
    child = sp.Agent(Scripted(calls(("pay", {"amount": 5}), ("pay", {"amount": 6})), says("Paid.")), [make_payer()])
    tool = child.as_tool("research", "Find something out.", timeout=60)
    path = tmp_path / "run.jsonl"
    agent = sp.Agent(
        Scripted(calls(("research", {"task": "Why?"})), says("done")), [tool], stop=[sp.max_seconds(100)],
        clock=lambda: now,
    )  # fmt: skip
    shown = []
    async with agent.run("?", journal=path) as run:
        async for item in run:
            shown.append(item)
            if isinstance(item, sp.ApprovalRequest):
                now += 3000.0
                await anyio.wait_all_tasks_blocked()
                run.approve(item)
    assert run.result.output == "done"
    assert run.result.history.rounds[0].results[0].result == "Paid."
    kept = [each for each in list_items(sp.Journal(path).read()) if isinstance(each, sp.ApprovalRequest)]
    assert kept == [each for each in shown if isinstance(each, sp.ApprovalRequest)]
    assert len(kept) == 2
    assert sp.Journal(path).requests == []  # only a run that lives can answer it


async def test_its_time_passes_again_once_its_request_is_void():
    now = 0.0

    @sp.tool(needs_approval=True, effect="read")
    async def look() -> str:
        return "north"

    @sp.tool
    async def wait() -> str:
        nonlocal now
        now += 3000.0
        await anyio.sleep(0.05)
        return "waited"

    broken = [*calls(("look", {}))[:-2], httpx.ReadError("gone")]
    child = sp.Agent(Scripted(broken, calls(("wait", {})), says("Paid.")), [look, wait], clock=lambda: now)
    tool = child.as_tool("research", "Find something out.", timeout=60)
    agent = sp.Agent(
        Scripted(calls(("research", {"task": "Why?"})), says("done")), [tool], stop=[sp.max_seconds(100)],
        clock=lambda: now,
    )  # fmt: skip
    asked = 0
    async with agent.run("?") as run:
        async for item in run:
            asked += isinstance(item, sp.ApprovalRequest)
    assert asked == 1
    assert run.result.stopped_by == "max_seconds: 100"


async def test_where_nobody_is_there_they_are_denied():
    @sp.tool(needs_approval=True)
    async def pay(amount: int) -> str:
        return "paid"

    _, tool = make(calls(("pay", {"amount": 5})), says("I may not."), tools=[pay])
    result = await parent_of(tool).run("?")
    assert result.history.rounds[0].results[0].result == "I may not."


def test_its_parameters_are_its_own():
    child, _ = make(says("Because."))
    with pytest.raises(TypeError, match=r"as_tool\(\) .*'parameters'; known are: effect"):
        child.as_tool("research", "Find something out.", parameters={"type": "object"})
    assert child.as_tool("research", "Find something out.", effect="read", timeout=5).timeout == 5


async def test_one_without_an_answer_is_an_error_of_the_call():
    _, tool = make(says("no", finish="content_filter"))
    result = await parent_of(tool).run("?")
    failure = result.history.rounds[0].results[0].failure
    assert (failure.code, "filter" in failure.message) == ("no_output", True)


async def test_cancelling_the_one_ends_the_other():
    ended = anyio.Event()

    @sp.tool(effect="read")
    async def wait() -> str:
        try:
            await anyio.sleep(60)
        finally:
            ended.set()
        return ""

    _, tool = make([call(0, "wait"), frame(finish="tool_calls"), END], tools=[wait])
    async with parent_of(tool).run("?") as run:
        async for item in run:
            if isinstance(item, sp.Done):
                await anyio.wait_all_tasks_blocked()
                run.cancel()
    assert ended.is_set()
    assert run.result.stopped_by == "cancelled"


async def test_a_cancellation_behind_another_exception_is_not_its_own_context():
    async def raise_while_cancelled(scope):
        async with sp.Agent(Scripted(says("done"))).run("?"):
            scope.cancel()
            raise ValueError

    with anyio.CancelScope() as scope, pytest.raises(anyio.get_cancelled_exc_class()) as raised:
        await raise_while_cancelled(scope)
    assert raised.value.__context__ is not raised.value


FULL_DISK = """
import sys

import anyio
from scripted import Scripted, calls, says

import streamparse as sp


class FullStore:
    room = int(sys.argv[2])

    def acquire(self): ...
    def release(self): ...

    def read(self):
        return []

    def append(self, line, *, durable):
        self.room -= 1
        if self.room < 0:
            raise OSError(28, "no space left")


async def main():
    tool = sp.Agent(Scripted(says("Because."))).as_tool("research", "Find something out.")
    agent = sp.Agent(Scripted(calls(("research", {"task": "Why?"})), says("done")), [tool])
    try:
        await agent.run("?", journal=FullStore())
    except OSError as error:
        print(error.errno)


anyio.run(main, backend=sys.argv[1])
"""


@pytest.mark.parametrize("room", range(4, 8))
def test_a_disk_that_is_full_when_it_has_begun_ends_the_run(room, anyio_backend_name):
    command = [sys.executable, "-c", FULL_DISK, anyio_backend_name, str(room)]
    ended = subprocess.run(command, check=True, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=20)
    assert ended.stdout == "28\n"
