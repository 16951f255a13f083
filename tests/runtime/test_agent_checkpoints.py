"""Wherever an agent's run is broken off, nothing is left of it, and its history has an answer for each call.

A run of three turns (a request that fails, tools in a task and in a thread, a tool with effects, a slow consumer) is
broken off at its first step, at its second, and so on, until it ends before.
"""

from typing import Any

import anyio
import pytest
from scripted import END, Scripted, calls, says
from stepping import run_stepwise

import streamparse as sp
from streamparse.runtime import Round
from streamparse.runtime.model_failures import ModelError

PROVIDERS = ("openai", "anthropic", "gemini", "openai-responses", "ollama")


class Scenario:
    """One run, and all that is seen of it; `break_off` is called once, at step `at`."""

    def __init__(self, at):
        self.at, self.steps, self.break_off = at, 0, None
        self.log: list[Any] = []
        self.opened = self.closed = 0
        self.in_thread = 0
        self.is_broken = False
        wanted = [("look", {}), ("compute", {}), ("send", {"to": "a"})]
        self.model = Scripted(
            ModelError("overloaded", status=529, retry_after=1.0),
            lambda _: self.source(calls(*wanted, before="Wait. ")),
            lambda _: self.source(says("Done", ".")),
        )

        @sp.tool(effect="read")
        async def look() -> str:
            self.log.append("look")
            await anyio.sleep(1)
            return "seen"

        @sp.tool(effect="read")
        def compute() -> int:
            self.in_thread += 1
            self.in_thread -= 1
            return 1

        @sp.tool
        async def send(to: str) -> str:
            self.log.append("send")
            await anyio.lowlevel.checkpoint()
            return f"sent to {to}"

        self.agent = sp.Agent(self.model, [look, compute, send], clock=anyio.current_time, max_buffered=2)

    def step(self):
        self.steps += 1
        if self.steps == self.at and self.break_off is not None:
            self.break_off()

    def is_busy(self):
        runner = getattr(getattr(self, "run", None), "_runner", None)
        return runner is not None and any(not job.is_abandoned for job in runner._threads._jobs)

    async def source(self, chunks):
        self.opened += 1
        try:
            for chunk in chunks:
                await anyio.lowlevel.checkpoint()
                self.log.append(chunk)
                yield chunk
        finally:
            self.closed += 1

    async def consume(self, *, leaves=True):
        async with self.agent.run("Go.") as self.run:
            async for _ in self.run:
                if self.is_broken and leaves:
                    break
                await anyio.lowlevel.checkpoint()

    def note_break(self):
        self.log.append("broken off")
        self.is_broken = True

    def check(self):
        assert self.opened == self.closed
        assert self.log.count("send") <= 1
        if "broken off" in self.log:
            assert not {"look", "send"} & {*self.log[self.log.index("broken off") :]}
        if "send" in self.log:
            assert END in self.log[: self.log.index("send")]
        if not hasattr(self, "run"):
            return
        result = self.run.result
        assert result.stopped_by == ("cancelled" if result.output is None else None)
        rounds = [entry for entry in result.history.entries if isinstance(entry, Round)]
        for entry in rounds:
            told = entry.response.tool_calls + entry.response.broken_calls
            assert [each.index for each in entry.results] == sorted(call.index for call in told)
        if "send" in self.log:
            assert any(each.tool_name == "send" and each.attempts for entry in rounds for each in entry.results)
        for provider in PROVIDERS:
            assert result.history.messages(provider)
        sent = result.history.messages("openai")
        wanted = [call["id"] for message in sent for call in message.get("tool_calls", ())]
        assert wanted == [message["tool_call_id"] for message in sent if message["role"] == "tool"]


async def be_cancelled(scenario):
    before = len(anyio.get_running_tasks())
    with anyio.CancelScope() as scope:

        def break_off():
            scenario.note_break()
            scope.cancel()

        scenario.break_off = break_off
        await scenario.consume()
    assert len(anyio.get_running_tasks()) == before


async def be_left(scenario):
    before = len(anyio.get_running_tasks())
    scenario.break_off = lambda: setattr(scenario, "is_broken", True)
    await scenario.consume()
    assert len(anyio.get_running_tasks()) == before


async def be_told_to_end(scenario):
    """By `run.cancel`, from another task."""
    before = len(anyio.get_running_tasks())
    asked = anyio.Event()

    async def cancel():
        await asked.wait()
        if hasattr(scenario, "run"):
            scenario.note_break()
            scenario.run.cancel(heard="Wa")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancel)
        scenario.break_off = asked.set
        await scenario.consume(leaves=False)
        scenario.break_off = None
        tasks.cancel_scope.cancel()
    assert len(anyio.get_running_tasks()) == before


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("way", [be_cancelled, be_left, be_told_to_end])
def test_a_run_may_be_broken_off_at_any_step(way, backend):
    at, is_over = 0, False
    while not is_over:
        at += 1
        scenario = Scenario(at)
        run_stepwise(lambda scenario=scenario: way(scenario), backend, scenario.step, scenario.is_busy)
        scenario.check()
        is_over = scenario.steps < at
    assert at > 50  # or nothing was broken off
    assert scenario.run.result.output == "Done."
