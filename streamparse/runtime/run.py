"""One turn on an event loop: a reader, its tools, and the buffer that the consumer takes from.

`Turn` decides; what is here tells it what happened, and does what it says.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel
import msgspec

from streamparse.events import Error, Event, ToolCallComplete, ToolCallDelta, ToolCallStart
from streamparse.runtime.admission import can_open, copy_arguments
from streamparse.runtime.buffer import Buffer
from streamparse.runtime.execution import Failure, Outcome, attempt, execute, execute_open
from streamparse.runtime.facts import (
    Abandoned,
    Answer,
    Approval,
    ApprovalRequest,
    Break,
    Cancel,
    Cancelled,
    Fact,
    Misread,
    Open,
    Opened,
    Progress,
    Received,
    RequestApproval,
    Returned,
    SourceEnded,
    Start,
    Wake,
    Woke,
)
from streamparse.runtime.open_call import OpenCall
from streamparse.runtime.settings import Settings
from streamparse.runtime.threads import Job, Threads
from streamparse.runtime.turn import Turn
from streamparse.runtime.values import reduce_value
from streamparse.tools import StateChange, Tool, ToolContext, ToolResult
from streamparse.tools.signature import is_async

Item: TypeAlias = Event | ToolResult | Progress | ApprovalRequest
"""What a run yields."""

Batch: TypeAlias = Event | Sequence[Event]
"""What a source yields: an event, or the list of them that one `feed` returned."""

CLOSE_SECONDS = 5.0
"""How long the source may take to close after a cancellation."""


class Execution:
    """One attempt of a call; `job` is its thread, if its function is a synchronous one.

    `call` is there if the function was opened, while arguments of it were still being written.
    """

    def __init__(self, start: Start | Open, tool: Tool, threads: Threads, call: OpenCall | None = None) -> None:
        self.start = start
        self.tool = tool
        self.call = call
        self.scope = anyio.CancelScope()
        assert tool.function is not None
        self.job: Job | None = None if is_async(tool.function) else threads.prepare(f"streamparse tool {tool.name}")
        self.context: ToolContext[Any] | None = None
        self.deadline = start.deadline if isinstance(start, Start) else None
        self.has_begun = False
        self.partial: Any = None
        self.state_changes: list[StateChange] = []
        self._was_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether nobody waits for it any more.  May be read from any thread, which trio's own scopes may not."""
        return self._was_cancelled or (self.job is not None and self.job.is_left)

    async def run(self, max_result: int) -> Outcome:
        """Call the function."""
        assert self.context is not None
        if isinstance(self.start, Open):
            assert self.call is not None
            return await execute_open(self.tool, self.start, self.context, max_result, self.call)
        return await execute(self.tool, self.start.arguments, self.context, max_result, self.job)

    def begin(self, start: Start) -> None:
        """The call that was opened counts: end its streamed arguments."""
        assert self.call is not None
        self.deadline = start.deadline
        if self.context is not None:  # else its task has not had its first step
            self.context.deadline = start.deadline
        self.call.end()

    def break_off(self, reason: str) -> None:
        """Have a function end that was opened."""
        assert self.call is not None
        self.call.break_off(reason)

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
        self._open_calls: dict[int, OpenCall] = {}
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
        """Let the call run; one that was revoked meanwhile stays so.

        Raises ValueError if this run does not wait for that answer.
        """
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
                    if self._turn.is_limited:  # its time begins now, also if no event ever comes
                        self._hear(Woke(self._settings.clock()))
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
            if self._open_calls or isinstance(event, ToolCallStart):
                self._follow_arguments(event, now)
            self._hear(Received(event, now))
            if self._open_calls and isinstance(event, ToolCallDelta):
                self._offer(event, now)
        while self._unbegun:  # tools begin now, even if the source never waits
            await anyio.lowlevel.checkpoint()
        if self._buffer.full:
            await self._buffer.room()

    def _follow_arguments(self, event: Event, now: float) -> None:
        """Read the arguments of a call that is being written, if its function can be called before it is whole."""
        match event:
            case ToolCallStart(index, _, name):
                tool = self._settings.gate.tools.get(name)
                # A second start does not count: the function may have been given the beginning already.
                if tool is not None and can_open(tool) and index not in self._open_calls:
                    self._open_calls[index] = OpenCall(tool)
            case ToolCallComplete(index):
                call = self._open_calls.pop(index, None)
                if call is not None and call.is_offered and not call.is_part_of(event.arguments):
                    self._hear(Misread(index, now))
            case Error(_, _, _, int(index)):
                self._open_calls.pop(index, None)

    def _offer(self, event: ToolCallDelta, now: float) -> None:
        """Tell the turn once a function may be called with what is there of its arguments."""
        call = self._open_calls.get(event.index)
        arguments = None if call is None else call.feed(event.arguments)
        if call is not None and arguments is not None:
            self._hear(Opened(event.index, arguments, call.streamed, now))

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
                case Start() | Open():
                    self._start(command)
                case Break(index, _, reason):
                    self._executions[index].break_off(reason)
                case Cancel(index):
                    self._executions[index].cancel()
                case RequestApproval(request):
                    self._requested[request.key] = request
                    shown = copy_arguments(request.arguments)  # the consumer may change them; what runs was checked
                    self._buffer.put(msgspec.structs.replace(request, arguments=shown))
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
        if not isinstance(why, str):
            raise TypeError(f"why must be a text, got {type(why).__name__}")
        if self._requested.pop(request.key, None) is None:
            raise ValueError(f"this run does not wait for an answer about the call {request.call_id!r}")
        if not self._over.is_set():
            self._hear(Approval(request.index, granted, self._settings.clock(), why))

    # -- tools -----------------------------------------------------------------------------------------

    def _start(self, start: Start | Open) -> None:
        opened = self._executions.get(start.index)
        if opened is not None and isinstance(start, Start):
            opened.begin(start)
            return
        tool = self._settings.gate.tools[start.name]
        call = self._open_calls.get(start.index) if isinstance(start, Open) else None
        self._executions[start.index] = execution = Execution(start, tool, self._threads, call)
        self._unbegun += 1
        self._tasks.start_soon(self._execute, execution, name=f"tool {start.name}")

    async def _execute(self, execution: Execution) -> None:
        self._unbegun -= 1
        outcome: Outcome | None = None
        start = execution.start
        execution.context = ToolContext(
            start.id, start.key, start.attempt, execution.deadline, self._deps,
            is_cancelled=lambda: execution.is_cancelled, report=self._make_report(execution),
        )  # fmt: skip
        execution.state_changes = execution.context.state_changes
        try:
            with execution.scope:
                await anyio.lowlevel.checkpoint_if_cancelled()  # a task begins even in a scope that is cancelled
                execution.has_begun = True
                outcome = await execution.run(self._settings.max_result)
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

    async def _await_end(self, start: Start | Open, job: Job) -> None:
        """Tell the turn when a function has returned that was left behind."""
        await job.wait_for_end()
        self._hear(Returned(start.index, start.attempt, self._settings.clock()))

    def _make_report(self, execution: Execution) -> Callable[[Any], Awaitable[None]]:
        """Return what shows the progress of a tool, from its own thread if it has one."""
        show: Callable[[Any], None] = partial(self._show, execution)
        if execution.job is not None:
            show = _Latest(show, execution.job).put

        def report(value: Any) -> Awaitable[None]:
            show(reduce_value(value, self._settings.max_result).value)
            return _Checkpoint()

        return report

    def _show(self, execution: Execution, value: Any) -> None:
        start = execution.start
        if self._executions.get(start.index) is execution:  # else its call is answered
            execution.partial = value
            self._buffer.put_latest(start.index, Progress(start.index, start.id, start.name, value))


class _Latest:
    """Hands values of a thread to its event loop; of those that came while that was busy, the latest alone."""

    def __init__(self, show: Callable[[Any], None], job: Job) -> None:
        self._show = show
        self._job = job
        self._value: Any = None
        self._is_called = False

    def put(self, value: Any) -> None:
        """Have the value shown soon; from any thread."""
        self._value = value  # before the flag is read, as `_take` reads it after it has cleared the flag
        if not self._is_called:
            self._is_called = True
            self._job.call_in_loop(self._take, None)

    def _take(self, _: None) -> None:
        self._is_called = False
        self._show(self._value)


class _Checkpoint(Awaitable[None]):
    """Lets others run if it is awaited; unlike a coroutine it need not be."""

    def __await__(self) -> Generator[Any, Any, None]:
        return anyio.lowlevel.checkpoint().__await__()
