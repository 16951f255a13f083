"""One turn on an event loop: a reader, its tools, and the buffer that the consumer takes from.

`Turn` decides; what is here tells it what happened, and does what it says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterator, Sequence
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel
import msgspec

from streamparse.events import Event
from streamparse.runtime.buffer import Buffer
from streamparse.runtime.execution import Failure, Outcome, attempt, execute, is_async
from streamparse.runtime.facts import (
    Abandoned,
    Answer,
    Approval,
    ApprovalRequest,
    Cancel,
    Cancelled,
    Fact,
    Progress,
    Received,
    RequestApproval,
    Returned,
    SourceEnded,
    Start,
    Wake,
    Woke,
)
from streamparse.runtime.settings import Settings
from streamparse.runtime.threads import Job, Threads
from streamparse.runtime.turn import Turn
from streamparse.runtime.values import reduce_value
from streamparse.tools import StateChange, Tool, ToolContext, ToolResult

__all__ = ["Item", "Run"]

Item: TypeAlias = Event | ToolResult | Progress | ApprovalRequest
"""What a run yields."""

Batch: TypeAlias = Event | Sequence[Event]
"""What a source yields: an event, or the list of them that one `feed` returned."""

CLOSE_SECONDS = 5.0
"""How long the source may take to close after a cancellation."""


class Execution:
    """One attempt of a call; `job` is its thread, if its function is a synchronous one."""

    def __init__(self, start: Start, tool: Tool, threads: Threads) -> None:
        self.start = start
        self.tool = tool
        self.scope = anyio.CancelScope()
        assert tool.function is not None
        self.job: Job | None = None if is_async(tool.function) else threads.prepare(f"streamparse tool {tool.name}")
        self.has_begun = False
        self.partial: Any = None
        self.state_changes: list[StateChange] = []
        self._was_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for it any more.  May be read from any thread, which trio's own scopes may not."""
        return self._was_cancelled or (self.job is not None and self.job.is_left)

    def cancel(self) -> None:
        """Cancel the coroutine, or leave the thread behind."""
        self._was_cancelled = True
        self.scope.cancel()


class Run(AsyncIterator[Item]):
    """Events, results, progress and requests for approval in order of arrival.

    Ends when the source has ended and every call has its result.  What the source raises is raised after the last
    result.  A run has one consumer: for a second one that waits at the same time `RuntimeError` is raised.
    Made by `ToolRunner.run`.
    """

    def __init__(
        self,
        source: AsyncIterator[Batch] | Iterator[Batch],
        settings: Settings,
        threads: Threads,
        turn: Turn,
        deps: Any,
    ) -> None:
        self._source = source
        self._settings = settings
        self._threads = threads
        self._turn = turn
        self._deps = deps
        self._buffer: Buffer[Item] = Buffer(settings.max_buffered)
        self._executions: dict[int, Execution] = {}
        self._requested: dict[str, ApprovalRequest] = {}
        self._scope = anyio.CancelScope()
        self._reading = anyio.CancelScope()
        self._settled = anyio.Event()
        self._over = anyio.Event()
        self._unbegun = 0  # calls whose task has not had its first step

    @property
    def results(self) -> list[ToolResult]:
        """The results there are so far, in call order; once the run is over, one for each call, broken ones too."""
        return self._turn.results

    def __anext__(self) -> Awaitable[Item]:
        return self._buffer.take()

    def approve(self, request: ApprovalRequest) -> None:
        """Let the call run.  Raises ValueError if this run does not wait for that answer."""
        self._decide(request, granted=True, why="")

    def deny(self, request: ApprovalRequest, why: str = "") -> None:
        """Do not let the call run; the model is told why.  Raises ValueError if this run does not wait for that."""
        self._decide(request, granted=False, why=why)

    def stop(self) -> None:
        """Cancel what still runs, and answer its calls with an error."""
        if not self._over.is_set():
            self._hear(Cancelled(self._settings.clock()))
        self._scope.cancel()

    async def aclose(self) -> None:
        """Stop, and wait until no task is left and the source is closed."""
        self.stop()
        await self._over.wait()

    async def work(self) -> None:
        """Read the source and run the tools, until all is over or `stop` is called."""
        failure: Failure | None = None
        try:
            with self._scope:
                async with anyio.create_task_group() as self._tasks:
                    with self._reading:
                        failure = await attempt(self._read)
                    self._hear(SourceEnded(self._settings.clock()))
                    await self._settled.wait()
                    self._tasks.cancel_scope.cancel()  # those that wait for a time
        finally:
            if not self._turn.is_settled:
                self._hear(Cancelled(self._settings.clock()))
                for execution in list(self._executions.values()):
                    self._report(execution, None)
            self._buffer.close(failure.error if failure is not None else None)
            self._over.set()

    async def _read(self) -> None:
        try:
            if isinstance(self._source, AsyncIterator):
                async for batch in self._source:
                    await self._take(batch)
            else:
                for batch in self._source:
                    await self._take(batch)
                    await anyio.lowlevel.checkpoint()
        finally:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._close_source()

    async def _take(self, batch: Batch) -> None:
        now = self._settings.clock()
        for event in (batch,) if isinstance(batch, msgspec.Struct) else batch:
            if not isinstance(event, msgspec.Struct):
                raise TypeError(f"a runner reads events, not {type(event).__name__}: pass what aiter_events returns")
            self._buffer.put(event)
            self._hear(Received(event, now))
        while self._unbegun:  # tools begin now, even if the source never waits
            await anyio.lowlevel.checkpoint()
        if self._buffer.full:
            await self._buffer.room()

    async def _close_source(self) -> None:
        if hasattr(self._source, "aclose"):
            await self._source.aclose()
        elif hasattr(self._source, "close"):
            self._source.close()

    # -- the turn --------------------------------------------------------------------------------------

    def _hear(self, fact: Fact) -> None:
        """Tell the turn what happened, and do what it says."""
        for command in self._turn.take(fact):
            match command:
                case Answer(result):
                    self._buffer.put(result)
                case Start():
                    self._start(command)
                case Cancel(index):
                    self._executions[index].cancel()
                case RequestApproval(request):
                    self._requested[request.key] = request
                    self._buffer.put(request)
                case Wake(at):
                    self._tasks.start_soon(self._wake, at, name="streamparse timer")
        if self._turn.is_stopped:
            self._reading.cancel()
        if self._turn.is_settled:
            self._settled.set()

    async def _wake(self, at: float) -> None:
        await anyio.sleep(max(at - self._settings.clock(), 0))
        self._hear(Woke(self._settings.clock()))

    def _decide(self, request: ApprovalRequest, *, granted: bool, why: str) -> None:
        if self._requested.pop(request.key, None) is None:
            raise ValueError(f"this run does not wait for an answer about the call {request.call_id!r}")
        if not self._over.is_set():
            self._hear(Approval(request.index, granted, self._settings.clock(), why))

    # -- tools -----------------------------------------------------------------------------------------

    def _start(self, start: Start) -> None:
        self._executions[start.index] = execution = Execution(
            start, self._settings.gate.tools[start.name], self._threads
        )
        self._unbegun += 1
        self._tasks.start_soon(self._execute, execution, name=f"tool {start.name}")

    async def _execute(self, execution: Execution) -> None:
        self._unbegun -= 1
        outcome: Outcome | None = None
        start = execution.start

        async def report(value: Any) -> None:
            await self._show(execution, value)

        context = ToolContext(
            start.id, start.key, start.attempt, start.deadline, self._deps,
            is_cancelled=lambda: execution.is_cancelled, report=report,
        )  # fmt: skip
        execution.state_changes = context.state_changes
        try:
            with execution.scope:
                await anyio.lowlevel.checkpoint_if_cancelled()  # a task begins even in a scope that is cancelled
                execution.has_begun = True
                most = self._settings.max_result
                outcome = await execute(execution.tool, start.arguments, context, most, execution.job)
        finally:  # also when the whole run is cancelled from outside
            self._report(execution, outcome)

    def _report(self, execution: Execution, outcome: Outcome | None) -> None:
        """Tell the turn what came of an attempt; without an outcome it was cancelled."""
        start, job, now = execution.start, execution.job, self._settings.clock()
        changes = tuple(execution.state_changes)
        if job is not None and job.is_left:
            del self._executions[start.index]
            self._tasks.start_soon(self._await_end, start, job, name=f"end of tool {start.name}")
            self._hear(Abandoned(start.index, start.attempt, now, execution.partial, changes))
            return
        began = execution.has_begun and (job is None or job.has_started or outcome is not None)
        value, failure, truncated = outcome or Outcome()
        del self._executions[start.index]
        self._hear(
            Returned(
                start.index,
                start.attempt,
                now,
                value,
                failure,
                truncated,
                cancelled=outcome is None,
                began=began,
                partial=execution.partial,
                state_changes=changes,
            )
        )

    async def _await_end(self, start: Start, job: Job) -> None:
        """Tell the turn when a function has returned that was left behind."""
        await job.wait_for_end()
        self._hear(Returned(start.index, start.attempt, self._settings.clock()))

    async def _show(self, execution: Execution, value: Any) -> None:
        start = execution.start
        execution.partial = reduce_value(value, self._settings.max_result).value
        self._buffer.put_latest(start.index, Progress(start.index, start.id, start.name, execution.partial))
        await anyio.lowlevel.checkpoint()
