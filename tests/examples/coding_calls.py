"""Calls of the coding agent's tools, as a model would make them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from coding_agent import TOOLS
from scratch_folder import Folder

import streamparse as sp

__all__ = ["Call", "call", "call_all", "events_of", "fail"]

Call = tuple[str, dict[str, Any]]


async def events_of(*calls: Call) -> AsyncIterator[sp.Event]:
    """One answer with these calls, which ends well."""
    for index, (name, arguments) in enumerate(calls):
        yield sp.ToolCallComplete(index, f"call-{index}", name, arguments, "native", "", "field")
    yield sp.Done("tool_calls", None, True)


async def call_all(folder: Folder, *calls: Call, approve: bool = True) -> list[sp.ToolResult]:
    """The results of the calls of one answer, in call order."""
    async with sp.ToolRunner(TOOLS) as runner:
        run = runner.run(events_of(*calls), deps=folder)
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                (run.approve if approve else run.deny)(item)
        return runner.results


async def call(folder: Folder, name: str, **arguments: Any) -> Any:
    """What one call returns; it must succeed."""
    (result,) = await call_all(folder, (name, arguments))
    assert result.error is None, result.error
    return result.result


async def fail(folder: Folder, name: str, **arguments: Any) -> sp.ToolResult:
    """What one call is answered with; it must fail."""
    (result,) = await call_all(folder, (name, arguments))
    assert result.failure is not None, result.result
    return result
