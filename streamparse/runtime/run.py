"""One turn on an event loop: a reader, its tools, and the buffer that the consumer takes from.

`Turn` decides; `Run` reports to it what happened, and does what it says.
"""

from __future__ import annotations

import time
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Generator,
    Iterable,
    Iterator,
    Sequence,
)
from functools import partial
from typing import Any, TypeAlias

import anyio
import anyio.lowlevel
import msgspec

from streamparse.events import Error, Event, ToolCallComplete, ToolCallDelta, ToolCallStart
from streamparse.repair import Gate
from streamparse.runtime import facts
from streamparse.runtime.admission import can_open, copy_arguments
from streamparse.runtime.buffer import Buffer
from streamparse.runtime.execution import Execution, OpenCall, Outcome, attempt
from streamparse.runtime.facts import ApprovalRequest, Open, Progress, Start
from streamparse.runtime.rounds import WaitingCall
from streamparse.runtime.run_options import RunOptions
from streamparse.runtime.threads import Failure, Job, Threads
from streamparse.runtime.turn import Turn
from streamparse.runtime.values import reduce_value
from streamparse.tools import ToolContext, ToolResult

Item: TypeAlias = Event | ToolResult | Progress | ApprovalRequest
"""What a run yields."""

Batch: TypeAlias = Event | Sequence[Event]
"""What a source yields: an event, or the list of them that one `feed` returned."""

TURN_SECONDS = 0.001  # bound: how long a source that never waits keeps the event loop
CLOSE_SECONDS = 5.0  # bound: how long the source may take to close after a cancellation


class Settings(msgspec.Struct, frozen=True):
    """What a run does not leave to its `Turn`, of the settings of a `ToolRunner`; see there."""

    gate: Gate
    max_result: int
    max_buffered: int
    clock: Callable[[], float]


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
        own: RunOptions,
    ) -> None:
        self._source = source
        self._settings = settings
        self._clock = settings.clock
        self._threads = threads
        self._turn = turn
        self._deps = deps
        self._buffer: Buffer[Item] = Buffer(settings.max_buffered)
        self._executions: dict[int, Execution] = {}
        self._open_calls: dict[int, OpenCall] = {}
        self._jobs: dict[int, Job] = {}  # those whose functions have not returned
        self._requested: dict[str, ApprovalRequest] = {}
        self._scope = anyio.CancelScope()
        self._reading = anyio.CancelScope()
        self.is_over: bool = False  # nothing runs any more; items may still be there
        # Events are made once they are waited for: most runs wait for none of them, and each is a kilobyte.
        self._settled: anyio.Event | None = None
        self._over: anyio.Event | None = None
        self._host = own.host
        self._recorder = own.recorder
        self._suspends = own.suspends  # once all that is left waits for an approval
        self._decisions = dict(own.decisions)  # that were made before the call asked, by key
        self._decided: list[facts.Approval] = []
        self._is_restored = bool(own.restored)  # the turn goes on after the program that ran it has ended
        self._fault: Exception | None = None  # that nothing could be taken down
        self._unbegun = 0  # calls whose task has not had its first step

    @property
    def results(self) -> list[ToolResult]:
        """The results there are so far, in call order; once the run is over, one for each call, broken ones too."""
        return self._turn.results

    @property
    def waited(self) -> float:
        """The seconds in which all that was left waited for an approval."""
        return self._turn.waited

    @property
    def waiting(self) -> tuple[WaitingCall, ...]:
        """The calls that were put off until somebody decides, in call order."""
        return tuple(
            WaitingCall(call.key, call.index, call.name, call.arguments or {}, call.effect, call.needs_approval)
            for call in self._turn.waiting
        )

    @property
    def fault(self) -> Exception | None:
        """Why the run was ended: nothing could be taken down of it any more."""
        return self._fault

    def __anext__(self) -> Awaitable[Item]:
        return self._buffer.take()

    def take_now(self) -> list[Item]:
        """Return the items that have come, without waiting."""
        return self._buffer.take_all()

    def take_over(self, earlier: Run) -> None:
        """Let the calls wait that need what threads of an earlier run hold, which go on."""
        for call in earlier._turn.unreturned:
            job = earlier._jobs.get(call.index)
            if job is not None and job.is_alive:
                self._jobs[self._turn.hold(call)] = job

    def approve(self, request: ApprovalRequest) -> None:
        """Let the call run; one that was revoked meanwhile stays so.

        Raises ValueError if this run does not wait for that answer.
        """
        self._decide(request, granted=True, why="")

    def deny(self, request: ApprovalRequest, why: str = "") -> None:
        """Do not let the call run; the model reads why.  Raises ValueError if this run does not wait for that."""
        self._decide(request, granted=False, why=why)

    def ask_inside(self, key: str, request: ApprovalRequest) -> None:
        """Note that the function of a running call, the one of this key, waits for an approval of its own."""
        for index in self._find_running(key):
            self._submit(facts.Asked(index, request, self._clock()))

    def answer_inside(self, key: str, *, granted: bool, why: str = "") -> None:
        """Note that one of these approvals was given, or refused."""
        for index in self._find_running(key):
            self._submit(facts.Approval(index, granted, self._clock(), why))

    def withdraw_inside(self, key: str) -> None:
        """Note that nobody is to answer one of them any more."""
        for index in self._find_running(key):
            self._submit(facts.Withdrawn(index, self._clock()))

    def _find_running(self, key: str) -> list[int]:
        return [index for index, execution in self._executions.items() if execution.start.key == key]

    def stop(self) -> None:
        """Cancel what still runs, and answer its calls with an error."""
        if not self.is_over:
            self._submit(facts.Cancelled(self._clock()))
        self._scope.cancel()

    async def aclose(self) -> None:
        """Stop, and wait until no task is left and the source is closed."""
        self.stop()
        if not self.is_over:
            self._over = self._over or anyio.Event()
            await self._over.wait()

    async def work(self) -> None:
        """Read the source and run the tools, until all is over or `stop` is called."""
        failure: Failure | None = None
        try:
            with self._scope:
                async with anyio.create_task_group() as self._tasks:
                    for index, job in self._jobs.items():
                        self._tasks.start_soon(self._await_end, index, 1, job, name=f"end of {job.name}")
                    if self._is_restored:
                        self._submit(facts.Restarted(self._clock()))
                    if self._turn.is_limited:  # its time begins now, also if no event ever comes
                        self._submit(facts.Woke(self._clock()))
                    with self._reading:
                        failure = await attempt(self._read)
                    self._submit(facts.SourceEnded(self._clock()))
                    if self._turn.is_settled:
                        await anyio.lowlevel.checkpoint()  # the consumer may cancel what it was shown
                    else:
                        self._settled = anyio.Event()
                        await self._settled.wait()
                    self._tasks.cancel_scope.cancel()  # those that wait for a time
        finally:
            if not self._turn.is_settled:
                self._leave_out_of_records()
                self._submit(facts.Cancelled(self._clock()))
                for execution in list(self._executions.values()):
                    self._submit_outcome(execution, None)
            self._buffer.close(self._fault or (failure.error if failure is not None else None))
            self.is_over = True
            if self._over is not None:
                self._over.set()

    async def _read(self) -> None:
        try:
            if isinstance(self._source, AsyncIterator):
                async for batch in self._source:
                    await self._take(batch)
            else:
                await self._read_at_once(self._source)
        finally:
            with anyio.move_on_after(CLOSE_SECONDS, shield=True):
                await self._close_source()

    async def _read_at_once(self, source: Iterator[Batch]) -> None:
        """Read a source that never waits: between its batches, often and whenever tools run, the others get a turn."""
        turn_ends = 0.0
        for batch in source:
            await self._take(batch)
            if self._executions or self._reading.cancel_called or time.monotonic() >= turn_ends:
                await anyio.lowlevel.checkpoint()
                turn_ends = time.monotonic() + TURN_SECONDS

    async def _take(self, batch: Batch) -> None:
        now = self._clock()
        for event in (batch,) if isinstance(batch, msgspec.Struct) else batch:
            if not isinstance(event, msgspec.Struct):
                raise TypeError(f"a runner reads events, not {type(event).__name__}: pass what aiter_events returns")
            self._buffer.put(event)
            if self._open_calls or isinstance(event, ToolCallStart):
                self._follow_arguments(event, now)
            self._submit(facts.Received(event, now))
            if self._open_calls and isinstance(event, ToolCallDelta):
                self._offer(event, now)
        self._flush()
        while self._unbegun:  # tools begin now, even if the source never waits
            await anyio.lowlevel.checkpoint()
        if self._buffer.is_full:
            await self._buffer.wait_for_room()

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
                    self._submit(facts.Misread(index, now))
            case Error(_, _, _, int(index)):
                self._open_calls.pop(index, None)

    def _offer(self, event: ToolCallDelta, now: float) -> None:
        """Report to the turn once a function may be called with the arguments so far."""
        call = self._open_calls.get(event.index)
        arguments = None if call is None else call.feed(event.arguments)
        if call is not None and arguments is not None:
            self._submit(facts.Opened(event.index, arguments, call.streamed, now))

    async def _close_source(self) -> None:
        if hasattr(self._source, "aclose"):
            await self._source.aclose()
        elif hasattr(self._source, "close"):
            self._source.close()

    # -- the turn --------------------------------------------------------------------------------------

    def _submit(self, fact: facts.Fact) -> None:
        """Report a fact to the turn, take it down, and do what the turn says."""
        if self._fault is not None:
            return
        commands = self._turn.take(fact)
        if self._recorder is None or self.take_down(partial(self._recorder.note, fact, commands)):
            self._do(commands)

    def _flush(self) -> None:
        if self._recorder is not None and self._fault is None:
            self.take_down(self._recorder.flush)

    def take_down(self, write: Callable[[], None]) -> bool:
        """Write something; return whether that went well.  If not, the run ends before anything else is done."""
        try:
            write()
        except Exception as error:  # noqa: BLE001 - of a disk, or of a store of the user's
            self._fault = error
            self._scope.cancel()
        return self._fault is None

    def _leave_out_of_records(self) -> None:
        """Take down nothing of a cancellation from outside: who goes on finds all as if the process had ended."""
        if not self._scope.cancel_called:
            self._recorder = None

    def _do(self, commands: Iterable[facts.Command]) -> None:
        for command in commands:
            match command:
                case facts.Answer(result):
                    self._buffer.put(result)
                case Start() | Open():
                    self._start(command)
                case facts.Break(index, _, reason):
                    self._executions[index].break_off(reason)
                case facts.Cancel(index):
                    self._executions[index].cancel()
                case facts.RequestApproval(request) if request.key in self._decisions:
                    granted, why = self._decisions.pop(request.key)
                    self._decided.append(facts.Approval(request.index, granted, self._clock(), why))
                case facts.RequestApproval(request):
                    self._requested[request.key] = request
                    shown = copy_arguments(request.arguments)  # the consumer may change them; what runs was checked
                    self._buffer.put(msgspec.structs.replace(request, arguments=shown))
                case facts.Wake(at):
                    self._tasks.start_soon(self._wake, at, name="streamparse timer")
        if self._turn.is_stopped:
            self._reading.cancel()
        while self._decided:
            self._submit(self._decided.pop(0))
        if self._suspends and not (self._executions or self._decided) and self._turn.is_waiting:
            self._submit(facts.Suspended(self._clock()))
        if self._turn.is_settled and self._settled is not None:
            self._settled.set()

    async def _wake(self, at: float) -> None:
        await anyio.sleep(max(at - self._clock(), 0))
        self._submit(facts.Woke(self._clock()))

    def _decide(self, request: ApprovalRequest, *, granted: bool, why: str) -> None:
        if not isinstance(why, str):
            raise TypeError(f"why must be a text, got {type(why).__name__}")
        requested = self._requested.pop(request.key, None)
        if requested is None:
            raise ValueError(f"this run does not wait for an answer about the call {request.call_id!r}")
        if not self.is_over:  # the index is ours: a request may come back from somewhere else
            self._submit(facts.Approval(requested.index, granted, self._clock(), why))

    # -- tools -----------------------------------------------------------------------------------------

    def _start(self, start: Start | Open) -> None:
        opened = self._executions.get(start.index)
        if opened is not None and isinstance(start, Start):
            opened.begin(start)
            return
        tool = self._settings.gate.tools[start.name]
        call = self._open_calls.get(start.index) if isinstance(start, Open) else None
        self._executions[start.index] = execution = Execution(start, tool, self._threads, call)
        if execution.job is not None:
            self._jobs[start.index] = execution.job
        execution.context = ToolContext(
            start.id, start.key, start.attempt, start.deadline if isinstance(start, Start) else None, self._deps,
            is_cancelled=lambda: execution.is_cancelled, report=self._make_report(execution),
            host=self._host,
        )  # fmt: skip
        self._unbegun += 1
        self._tasks.start_soon(self._execute, execution, name=f"tool {start.name}")

    async def _execute(self, execution: Execution) -> None:
        self._unbegun -= 1
        outcome: Outcome | None = None
        try:
            with execution.scope:
                await anyio.lowlevel.checkpoint_if_cancelled()  # a task begins even in a scope that is cancelled
                execution.has_begun = True
                outcome = await execution.run(self._settings.max_result)
        finally:
            if outcome is None and not execution.scope.cancel_called:
                self._leave_out_of_records()
            self._submit_outcome(execution, outcome)

    def _submit_outcome(self, execution: Execution, outcome: Outcome | None) -> None:
        """Report the outcome of an attempt to the turn; without one it was cancelled."""
        start, job, now = execution.start, execution.job, self._clock()
        changes = tuple(execution.context.state_changes)
        del self._executions[start.index]
        if job is not None and job.is_abandoned:
            self._tasks.start_soon(self._await_end, start.index, start.attempt, job, name=f"end of {job.name}")
            self._submit(facts.Abandoned(start.index, start.attempt, now, execution.partial, changes))
            return
        self._jobs.pop(start.index, None)
        began = execution.has_begun and (job is None or job.has_started or outcome is not None)
        value, failure, truncated = outcome or Outcome()
        returned = facts.Returned(
            start.index, start.attempt, now, value, failure, truncated,
            cancelled=outcome is None, began=began, partial=execution.partial, state_changes=changes,
        )  # fmt: skip
        self._submit(returned)

    async def _await_end(self, index: int, attempt: int, job: Job) -> None:
        """Report to the turn when an abandoned function has returned."""
        await self._threads.wait_for_end(job)
        self._jobs.pop(index, None)
        self._submit(facts.Returned(index, attempt, self._clock()))

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
            self._job.call_in_loop(self._take)

    def _take(self) -> None:
        self._is_called = False
        self._show(self._value)


class _Checkpoint(Awaitable[None]):
    """Lets others run if it is awaited; unlike a coroutine it need not be."""

    def __await__(self) -> Generator[Any, Any, None]:
        return anyio.lowlevel.checkpoint().__await__()
