"""A durable agent in processes that are killed at an append of its journal, and taken up by the next one.

    PYTHONPATH=tests/runtime:examples python durable_child.py FOLDER POINTS

An agent of three turns runs in the folder `whole`.  Then for each point, from 0, it runs in a folder of that name and
is killed: at even points right before an append, at odd ones right after it, all over the run.  Another process takes
it up and ends it.  The processes are forks of this one, which has imported everything already.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from dbos import DBOS, SetWorkflowID
from durable_agent import APPROVALS, Decision, make_workflow, open_dbos
from journaled import Killed, count_effect
from scripted import Scripted, calls, says

import streamparse as sp

ANSWERS = [
    calls(("look", {}), ("pay", {"to": "a"}), ("save", {"file": "x"}), ("pay", {"to": "b"})),
    calls(("pay", {"to": "c"}), ("save", {"file": "y"}), before="Now the third."),
    says("All paid."),
]
PROMPT = "Pay a, b and c."


class ByRounds(Scripted):
    """A model that answers by how many rounds it is shown; so it goes on in whatever process."""

    async def __call__(self, request: sp.Request) -> Any:
        # In one read: of an answer that was cut the calls that had not begun are not run, and the model is asked again.
        self.answers = [[b"".join(ANSWERS[min(len(request.history.rounds), 2)])]]
        return await super().__call__(request)


def make_tools(folder: Path) -> list[Any]:
    """Tools that count what they do in a file."""

    @sp.tool(effect="read")
    async def look() -> str:
        return "three bills"

    @sp.tool(needs_approval=True)
    async def pay(to: str, ctx: sp.ToolContext) -> str:
        count_effect(folder, f"pay {to} {ctx.idempotency_key}")
        return f"paid {to}"

    @sp.tool(effect="idempotent")
    async def save(file: str, ctx: sp.ToolContext) -> str:
        count_effect(folder, f"save {file} {ctx.idempotency_key}")
        return f"saved {file}"

    return [look, pay, save]


async def work(folder: Path, kill_at: int, when: str) -> None:
    """Run the agent, or take it up, and approve what it asks."""
    file = Killed(folder / "run.jsonl", kill_at, when)
    open_dbos(
        folder, log_level="ERROR", notification_listener_polling_interval_sec=0.02, scheduler_polling_interval_sec=0.05
    )
    agent: sp.Agent[None, str] = sp.Agent(ByRounds(), make_tools(folder))
    workflow = make_workflow(agent, lambda _: sp.Journal(file))
    DBOS.launch()
    with SetWorkflowID("order"):
        handle = await DBOS.start_workflow_async(workflow, PROMPT)
    answering = asyncio.ensure_future(approve())
    output = await handle.get_result(polling_interval_sec=0.02)
    answering.cancel()
    DBOS.destroy()
    again = await agent.run(PROMPT, journal=sp.Journal(folder / "run.jsonl"))  # a finished journal gives its result
    results = [[each.tool_name, each.result, each.error] for entry in again.history.rounds for each in entry.results]
    (folder / "end").write_text(json.dumps({"output": output, "results": results, "appends": file.count}))


async def approve() -> None:
    """Approve each call that waits, the last one first; that of b is denied."""
    while True:
        asks = await DBOS.get_event_async("order", APPROVALS, timeout_seconds=0.02)
        for ask in reversed(asks or []):
            is_for_b = ask["arguments"] == {"to": "b"}
            decision: Decision = {"key": ask["key"], "granted": not is_for_b, "why": "too much" if is_for_b else ""}
            await DBOS.send_async("order", decision, APPROVALS, idempotency_key=ask["key"])
        await asyncio.sleep(0.02)


def run_in_fork(folder: Path, kill_at: int, when: str) -> None:
    """Work in a process of its own, and wait for its end."""
    child = os.fork()
    if not child:
        asyncio.run(work(folder, kill_at, when))
        os._exit(0)
    os.waitpid(child, 0)


if __name__ == "__main__":
    top, points = Path(sys.argv[1]), int(sys.argv[2])
    run_in_fork(top / "whole", -1, "")
    appends = json.loads((top / "whole" / "end").read_text())["appends"]
    for point in range(points):
        place = point // 2 * appends // (points // 2)
        run_in_fork(top / str(point), place, "before" if point % 2 == 0 else "after")
        run_in_fork(top / str(point), -1, "")
