"""What a tool's function gets and may say, on a real event loop: context, progress, approval, kinds of errors, time."""

import threading

import anyio
import pytest
from turns import DONE, TEXT, collect, complete, stream

import streamparse as sp
from streamparse.runtime import ApprovalRequest, Progress, ToolRunner
from streamparse.tools import Tool, ToolError, ToolResult

pytestmark = pytest.mark.anyio


async def run_one(function, *, runner=None, run=None, **arguments):
    """Run one call of a function's tool; returns all items."""
    async with ToolRunner([function], **(runner or {})) as tools:
        with anyio.fail_after(60):
            name = function.name if isinstance(function, Tool) else function.tool.name
            call = complete(0, name, **arguments)
            return [item async for item in tools.run(stream(call, DONE), **(run or {}))]


def result_of(items):
    (result,) = [item for item in items if isinstance(item, ToolResult)]
    return result


async def test_a_tool_sees_its_call_and_the_model_does_not_see_the_context():
    @sp.tool
    async def look(city: str, ctx: sp.ToolContext[list]) -> list:
        return [city, ctx.id, ctx.idempotency_key, ctx.attempt, ctx.deps, ctx.cancelled, ctx.deadline is not None]

    assert list(look.tool.parameters["properties"]) == ["city"]
    items = await run_one(look, run={"deps": ["db"], "run_id": "r", "turn": 2}, city="Bern")
    assert result_of(items).result == ["Bern", "call-0", "r:2:0", 1, ["db"], False, True]
    assert result_of(items).turn == 2


async def test_a_model_cannot_pass_a_context():
    @sp.tool
    async def look(ctx: sp.ToolContext) -> str:
        return ctx.id

    assert not result_of(await run_one(look, ctx="mine")).success


async def test_progress_is_an_item_of_the_run_before_the_result():
    @sp.tool
    async def work(ctx: sp.ToolContext) -> str:
        await ctx.progress({"done": 1})
        return "fine"

    items = await run_one(work)
    assert [item for item in items if isinstance(item, Progress)] == [Progress(0, "call-0", "work", {"done": 1})]
    assert isinstance(items[-1], ToolResult)


async def test_of_progress_that_nobody_reads_the_latest_stays():
    @sp.tool(effect="read")
    async def work(ctx: sp.ToolContext) -> str:
        for number in range(1000):
            await ctx.progress(number)
        return "fine"

    async with ToolRunner([work]) as runner:
        run = runner.run(stream(complete(0, "work"), DONE))
        await anyio.wait_all_tasks_blocked()
        items = [item async for item in run]
    assert [item.value for item in items if isinstance(item, Progress)] == [999]


async def test_progress_that_is_not_json_is_the_tools_fault():
    @sp.tool
    async def work(ctx: sp.ToolContext) -> str:
        await ctx.progress(object())
        return "fine"

    assert "not JSON" in result_of(await run_one(work)).error


@pytest.mark.parametrize("kind", ["network", "quota", "timeout"])
async def test_a_failure_that_may_pass_is_tried_again_with_the_same_key(kind):
    seen = []

    @sp.tool(effect="idempotent", retries=1)
    async def fetch(ctx: sp.ToolContext) -> str:
        seen.append((ctx.attempt, ctx.idempotency_key))
        if ctx.attempt == 1:
            raise ToolError(kind, "no route")
        return "there"

    result = result_of(await run_one(fetch, run={"run_id": "r"}))
    assert (result.result, result.attempts) == ("there", 2)
    assert seen == [(1, "r:0:0"), (2, "r:0:0")]


@pytest.mark.parametrize("effect, kind", [("write", "network"), ("read", "execution"), ("read", "fatal")])
async def test_what_must_not_happen_twice_or_will_not_pass_is_not_tried_again(effect, kind):
    @sp.tool(effect=effect)
    async def fetch() -> str:
        raise ToolError(kind, "no route", suggestion="use the cache", details={"exit_code": 7, "odd": object()})

    result = result_of(await run_one(fetch))
    assert (result.attempts, result.failure.kind) == (1, kind)
    assert "no route" in result.error
    assert "use the cache" in result.error
    assert result.failure.recoverable is (kind != "fatal")


async def test_the_exit_code_of_a_process_is_found_in_value_and_details():
    @sp.tool
    async def bash(fail: bool) -> dict:
        if fail:
            raise ToolError("execution", "failed", details={"exit_code": 2})
        return {"exit_code": 0}

    assert result_of(await run_one(bash, fail=False)).exit_code == 0
    assert result_of(await run_one(bash, fail=True)).exit_code == 2


async def test_a_value_that_was_cut_says_so():
    @sp.tool
    async def read() -> str:
        return "x" * 2000

    assert result_of(await run_one(read, runner={"max_result": 1000})).truncated
    assert not result_of(await run_one(read)).truncated


async def test_a_call_that_needs_approval_runs_once_it_is_approved():
    ran = []

    @sp.tool(needs_approval=lambda call: call.arguments["command"] != "ls")
    async def bash(command: str) -> str:
        ran.append(command)
        return "done"

    calls = [complete(index, "bash", command=command) for index, command in enumerate(["ls", "rm", "mv"])]
    async with ToolRunner([bash]) as runner:
        run = runner.run(stream(*calls, DONE))
        with anyio.fail_after(60):
            async for item in run:
                if isinstance(item, ApprovalRequest) and item.arguments == {"command": "rm"}:
                    run.approve(item)
                    with pytest.raises(ValueError, match="does not wait"):
                        run.approve(item)
                elif isinstance(item, ApprovalRequest):
                    run.deny(item, "it is not yours")
    assert sorted(ran) == ["ls", "rm"]
    assert [result.success for result in runner.results] == [True, True, False]
    assert runner.results[2].failure.kind == "permission"
    assert "it is not yours" in runner.results[2].error


@pytest.mark.parametrize("broken", ["lock", "needs_approval"])
async def test_a_declaration_that_fails_on_a_call_keeps_it_from_running(broken):
    async def work(n: int) -> str:
        return "ran"

    tool = Tool("work", function=work, **{broken: lambda _: 1 / 0})
    assert "ZeroDivisionError" in result_of(await run_one(tool, n=1)).error


async def test_calls_with_one_lock_never_overlap_and_begin_in_call_order():
    log = []

    def declare(name, effect, lock):
        async def work(path: str) -> str:
            log.append(f"{name} begins")
            await anyio.wait_all_tasks_blocked()
            log.append(f"{name} ends")
            return name

        return Tool(name, function=work, effect=effect, lock=lock)

    tools = [declare("write", "idempotent", "path"), declare("read", "read", "path"), declare("other", "read", "path")]
    calls = [complete(0, "write", path="a"), complete(1, "read", path="a"), complete(2, "other", path="b")]
    async with ToolRunner(tools) as runner:
        await collect(runner, stream(*calls, DONE))
    assert log.index("read begins") > log.index("write ends")
    assert log.index("other begins") < log.index("write ends")


async def test_the_time_of_the_whole_run_ends_it_in_the_middle_of_the_answer():
    closed = []

    async def endless():
        try:
            yield complete(0, "work")
            await anyio.sleep_forever()
        finally:
            closed.append(True)

    @sp.tool
    async def work() -> str:
        return "ran"

    async with ToolRunner([work], time_limit=0.05) as runner:
        with anyio.fail_after(60):
            await collect(runner, endless())
    assert closed == [True]
    assert "time of the whole run" in runner.results[0].error
    assert runner.results[0].attempts == 0


async def test_a_tool_that_must_not_run_twice_and_ran_out_of_time_has_an_unknown_outcome():
    @sp.tool(timeout=0.02)
    async def pay(ctx: sp.ToolContext) -> str:
        await ctx.progress("half paid")
        await anyio.sleep_forever()
        return "paid"

    result = result_of(await run_one(pay))
    assert "its outcome is unknown" in result.error
    assert result.failure.details == {"limit_seconds": 0.02, "partial_output": "half paid"}
    assert result.attempts == 1


async def test_a_function_in_a_thread_sees_that_it_was_cancelled_and_frees_its_lock_by_returning():
    saw = threading.Event()

    @sp.tool(effect="read", timeout=0.02, lock="*")
    def wait(ctx: sp.ToolContext) -> str:
        while not ctx.cancelled:
            threading.Event().wait(0.001)
        saw.set()
        return "late"

    @sp.tool(lock="*")
    async def after() -> str:
        return "ran" if saw.is_set() else "overlapped"

    async with ToolRunner([wait, after]) as runner:
        with anyio.fail_after(60):
            await collect(runner, stream(complete(0, "wait"), complete(1, "after"), TEXT, DONE))
    assert runner.results[0].failure.kind == "timeout", runner.results[0].error
    assert runner.results[1].result == "ran"
