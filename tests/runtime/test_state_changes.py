"""What tools say that they did to the world."""

import anyio
import pytest
from turns import DONE, collect, complete, stream

import streamparse as sp


@pytest.mark.anyio
async def test_what_a_tool_changed_is_told_whether_it_then_fails_or_not():
    @sp.tool(effect="read")
    async def write(path: str, ctx: sp.ToolContext) -> str:
        ctx.report_change("FileModified", path)
        if ctx.attempt == 1:
            raise sp.ToolError("network", "lost")
        return "written"

    @sp.tool(effect="read")
    def remove(path: str, ctx: sp.ToolContext) -> str:
        ctx.report_change("FileDeleted", path)
        raise sp.ToolError("resource", "not all of it")

    @sp.tool(effect="read", timeout=0.05, retries=0)
    async def hang(ctx: sp.ToolContext) -> None:
        for number in range(2000):
            ctx.report_change("FileCreated", str(number))
        await anyio.sleep_forever()

    events = [complete(0, "write", path="a"), complete(1, "remove", path="b"), complete(2, "hang"), DONE]
    async with sp.ToolRunner([write, remove, hang]) as runner:
        with anyio.fail_after(60):
            await collect(runner, stream(*events))
    written, removed, hung = runner.results
    assert written.state_changes == (sp.StateChange("FileModified", "a"),) * 2
    assert removed.state_changes == (sp.StateChange("FileDeleted", "b"),)
    assert (removed.success, hung.failure.code) == (False, "timed_out")
    assert len(hung.state_changes) == 1001
    assert hung.state_changes[-1] == sp.StateChange("MoreChanges", "")
