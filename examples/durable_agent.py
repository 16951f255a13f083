"""An agent as a workflow of DBOS, on SQLite: it goes on where its process ended, and waits for days for an approval.

    python examples/durable_agent.py ask order-17 "Pay 40 euros to the printer."
    python examples/durable_agent.py approve order-17          # what waits, from another terminal
    python examples/durable_agent.py approve order-17 KEY

The whole run is one step, with its journal: what ran stands in there, so the step may be repeated at any time.  The
step ends where only approvals are left.  Each comes as a message to the workflow, which then repeats the step.
Run the first line again after a crash: DBOS takes up what was not over.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypedDict

from dbos import DBOS, DBOSClient, DBOSConfig, SetWorkflowID

import streamparse as sp

__all__ = ["APPROVALS", "Decision", "make_workflow", "open_dbos"]

FOLDER = Path("durable-runs")
APPROVALS = "approvals"
"""The topic of decisions, and the name of the event that lists what waits for one."""
WEEK = 7 * 24 * 3600.0


class Decision(TypedDict):
    """Whether a call may run, by its key, and why not."""

    key: str
    granted: bool
    why: str


class State(TypedDict):
    """Where a run stands: its output, or what it asks."""

    output: str | None
    asks: list[dict[str, Any]]


Workflow = Callable[[str], Coroutine[Any, Any, str | None]]


def make_workflow(agent: sp.Agent[None, str], open_journal: Callable[[str], sp.Journal]) -> Workflow:
    """Return the workflow that runs an agent; `open_journal` returns the journal of a workflow by its id."""

    @DBOS.step(name="run")
    async def run(id: str, prompt: str, decision: Decision | None) -> State:
        journal = open_journal(id)
        if decision is not None and any(each.key == decision["key"] for each in journal.requests):
            if decision["granted"]:
                journal.approve(decision["key"])
            else:
                journal.deny(decision["key"], decision["why"])
        try:
            result = await agent.run(prompt, journal=journal)
        except sp.Stopped as stopped:
            if stopped.result.stopped_by != "approval":
                raise
            result = stopped.result
        asks = [{"key": each.key, "tool": each.tool_name, "arguments": each.arguments} for each in result.approvals]
        return {"output": result.output, "asks": asks}

    @DBOS.workflow(name="agent")
    async def work(prompt: str) -> str | None:
        id = DBOS.workflow_id or ""
        state = await run(id, prompt, None)
        while state["asks"]:
            await DBOS.set_event_async(APPROVALS, state["asks"])
            decision = await DBOS.recv_async(APPROVALS, timeout_seconds=WEEK)
            state = await run(id, prompt, decision)
        return state["output"]

    return work


def find_database(folder: Path) -> str:
    """Return the URL of the database in a folder."""
    return f"sqlite:///{folder / 'dbos.sqlite'}"


def open_dbos(folder: Path, **config: Any) -> None:
    """Begin with what a folder holds; `DBOS.launch` takes up what is not over, once the workflow is made."""
    folder.mkdir(exist_ok=True)
    own: DBOSConfig = {
        "name": "durable-agent",
        "system_database_url": find_database(folder),
        "application_version": "1",  # else a change of this file leaves old workflows to old workers
        "log_level": "WARNING",
        **config,
    }
    DBOS(config=own)


# -- the program -----------------------------------------------------------------------------------------------------


@sp.tool(needs_approval=True)
async def pay(amount: float, to: str, ctx: sp.ToolContext[None]) -> str:
    """Pay an amount in euros to somebody."""
    return f"paid {amount} euros to {to}, as {ctx.idempotency_key}"


async def ask(name: str, prompt: str) -> None:
    """Begin a workflow, or take it up, and work until it has an output."""
    model = sp.http_model("http://127.0.0.1:8080", "openai-chat", "qwen3-coder")
    open_dbos(FOLDER)
    work = make_workflow(sp.Agent(model, [pay]), lambda id: sp.Journal(FOLDER / f"{id}.jsonl"))
    DBOS.launch()
    with SetWorkflowID(name):
        handle = await DBOS.start_workflow_async(work, prompt)
    print(await handle.get_result())
    DBOS.destroy()


def approve(name: str, key: str = "") -> None:
    """Show what waits, or let a call run."""
    client = DBOSClient(system_database_url=find_database(FOLDER))
    if key:
        client.send(name, Decision(key=key, granted=True, why=""), APPROVALS, idempotency_key=key)
    else:
        print(client.get_event(name, APPROVALS, timeout_seconds=0))


if __name__ == "__main__":
    command, *words = sys.argv[1:]
    if command == "approve":
        approve(*words)
    else:
        asyncio.run(ask(*words))
