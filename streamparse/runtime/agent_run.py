"""One run of an agent: what `streamparse.runtime.loop` decides, done on an event loop."""

from __future__ import annotations

import math
import threading
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack, contextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel
import msgspec

from streamparse.loss import Loss
from streamparse.parser.loops import AsyncEventStream, aiter_events
from streamparse.response import ParsedResponse
from streamparse.runtime.agent_settings import AgentSettings
from streamparse.runtime.buffer import Buffer
from streamparse.runtime.execution import Failure, attempt
from streamparse.runtime.facts import ApprovalRequest
from streamparse.runtime.history import History
from streamparse.runtime.loop import AnswerEnded, Command, Fact, Interrupted, RequestFailed, Send, Started, Wait, Waited
from streamparse.runtime.model_failures import ModelError, ModelFailure, describe_failure
from streamparse.runtime.request import Request
from streamparse.runtime.run import Item, Run
from streamparse.runtime.runner import ToolRunner
from streamparse.runtime.threads import find_event_loop
from streamparse.tools import ToolResult
from streamparse.usage import TokenCounts

Output = TypeVar("Output")

MAX_BUFFERED = 1024
"""Items that may wait for the consumer of a run before reading pauses."""
DENIED = "nobody was there to approve it"


class TurnEnd(msgspec.Struct, frozen=True, tag_field="type", tag="turn_end"):
    """The end of one request: its answer is read, and each of the calls has its result.

    `number` counts the run's requests from 0; `model` is the place of the one that was asked among the agent's.
    An answer that is `discarded` never came, or broke off before any tool had begun: it stands in no history and is
    asked for again, so what was shown of it does not count; `failure` says why.
    `lost` is what the provider could not be told: a setting that it does not have, a name that it may refuse.
    """

    number: int
    response: ParsedResponse
    results: tuple[ToolResult, ...] = ()
    model: int = 0
    discarded: bool = False
    failure: ModelFailure | None = None
    lost: tuple[Loss, ...] = ()


AgentItem: TypeAlias = Item | TurnEnd
"""What a run yields."""


class RunResult(msgspec.Struct, Generic[Output], frozen=True):
    """What came of a run.

    `output` is None where a stop ended the run without one.  `stopped_by` is None if the run ended by itself; else it
    is the reason of a stop, or a word of `streamparse.runtime.loop.Finish`.  `usage` is what all answers have cost.
    `approvals` are the requests that nobody has answered.  `history` goes into the next `run`.
    """

    output: Output | None
    stopped_by: str | None
    usage: TokenCounts
    approvals: tuple[ApprovalRequest, ...]
    history: History


class Stopped(Exception):
    """A run that was awaited ended without an output; `result` has its history, and the reason as `stopped_by`."""

    def __init__(self, result: RunResult[Any]) -> None:
        super().__init__(f"the run ended without an output: {result.stopped_by}")
        self.result = result

    def __reduce__(self) -> tuple[type[Stopped], tuple[RunResult[Any]]]:
        return Stopped, (self.result,)

    @property
    def history(self) -> History:
        """The conversation up to here."""
        return self.result.history


class Answer(NamedTuple):
    """An answer that is being read."""

    request: Request
    stream: AsyncEventStream
    turn: Run


class AgentRun(AsyncIterator[AgentItem], Generic[Output]):
    """One run of an agent: its items in order of arrival.  Made by `Agent.run`.

    Leaving the `async with` block ends the run: what still runs is cancelled and awaited.  A run has one consumer.
    What the model or its server raised is raised after the last item, once nothing helped.
    """

    def __init__(self, settings: AgentSettings, history: History, deps: Any) -> None:
        self.id = uuid.uuid4().hex
        self._settings = settings
        self._given = history
        self._deps = deps
        self._clock = settings.clock
        self._loop = settings.make_loop(self.id)
        self._buffer: Buffer[AgentItem] = Buffer(MAX_BUFFERED)
        self._approvals: dict[str, ApprovalRequest] = {}
        self._is_attended = True  # somebody reads the items, and can approve
        self._was_denied = False
        self._is_cancelled = False
        self._has_begun = False
        self._waiting: anyio.CancelScope | None = None  # for a model, for a moment, or for the consumer
        self._answer: Answer | None = None  # that is being read
        self._request: Request | None = None  # the latest
        self._runner: ToolRunner | None = None
        self._number = self._model = 0  # of the latest request
        self._error: BaseException | None = None
        self._stack = AsyncExitStack()
        self._tasks: anyio.abc.TaskGroup | None = None
        self._thread = 0  # of the event loop
        self._call_soon: Callable[[Callable[[], None]], object] | None = None

    def __await__(self) -> Generator[Any, None, RunResult[Output]]:
        return self._run_unattended().__await__()

    async def __aenter__(self) -> Self:
        if self._has_begun:
            raise RuntimeError("a run begins once: make another one with `agent.run`")
        self._has_begun = True
        self._thread, self._call_soon = threading.get_ident(), find_event_loop()
        first = self._loop.take(Started(self._given, self._clock()))
        async with AsyncExitStack() as stack:
            self._models = await self._settings.open_models(stack)
            self._runner = await stack.enter_async_context(self._settings.make_runner())
            self._tasks = await stack.enter_async_context(anyio.create_task_group())
            self._stack = stack.pop_all()
        self._tasks.start_soon(self._work, first, name="streamparse agent")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        assert self._tasks is not None
        self._tasks.cancel_scope.cancel()
        try:
            if isinstance(error, anyio.get_cancelled_exc_class()):
                return await self._stack.__aexit__(kind, error, trace)
            # The task group would wrap the body's own exception in a group; it has nothing to do with our tasks.
            await self._stack.__aexit__(None, None, None)
        finally:
            self._settle()
        await anyio.lowlevel.checkpoint_if_cancelled()  # our tasks may have ended before we saw the cancellation
        return None

    def __anext__(self) -> Awaitable[AgentItem]:
        if not self._has_begun:
            raise RuntimeError("this run has not begun: enter it with `async with`, or await it")
        return self._buffer.take()

    @property
    def history(self) -> History:
        """The conversation so far, whole turns only."""
        return self._loop.history

    @property
    def unstopped_threads(self) -> list[str]:
        """The names of the threads that were left behind, for their tool did not return, and that still run."""
        return [] if self._runner is None else self._runner.unstopped_threads

    @property
    def result(self) -> RunResult[Output]:
        """What came of the run.  Raises RuntimeError while it goes on."""
        finish = self._loop.finish
        if finish is None:
            raise RuntimeError("the run is not over")
        return RunResult(
            output=self._settings.read_output(finish),
            stopped_by=finish.stopped_by,
            usage=self._loop.tokens,
            approvals=tuple(self._approvals.values()),
            history=self._loop.history,
        )

    def approve(self, request: ApprovalRequest) -> None:
        """Let a call run.

        Raises ValueError if this run does not wait for that answer, and RuntimeError in another thread than its own:
        there, `anyio.from_thread` and the like have the event loop call it.
        """
        self._find_turn(request).approve(request)
        del self._approvals[request.key]

    def deny(self, request: ApprovalRequest, why: str = "") -> None:
        """Do not let a call run; the model is told why.  Raises as `approve` does."""
        self._find_turn(request).deny(request, why)
        del self._approvals[request.key]

    def cancel(self, *, heard: str | None = None) -> None:
        """End the run: what still runs is cancelled, and its calls are answered so.

        `heard` is what of the latest answer's text has reached the user, be it spoken: the history keeps only that.
        The items end soon after.  May also be called when the run is over, to say what was heard of its last answer;
        and from any thread, a synchronous tool's among them.
        """
        if self._call_soon is None or self._thread == threading.get_ident() or self._loop.finish is not None:
            self._cancel(heard)
            return
        with suppress(RuntimeError):  # the event loop is gone, and the run with it
            self._call_soon(partial(self._cancel, heard))

    def _cancel(self, heard: str | None) -> None:
        self._is_cancelled = True
        self._loop.take(Interrupted(self._clock(), heard))
        if self._waiting is not None:
            self._waiting.cancel()
        if self._answer is not None:
            self._answer.turn.stop()

    # -- the loop --------------------------------------------------------------------------------------

    async def _run_unattended(self) -> RunResult[Output]:
        async with self:
            self._is_attended = False
            async for _ in self:
                pass
        result = self.result
        if result.stopped_by is not None and result.output is None:
            raise Stopped(result)
        return result

    async def _work(self, first: Command | None) -> None:
        """Do what the loop says, until it ends the run."""
        error: BaseException | None = None
        try:
            await self._follow_loop(first)
            finish = self._loop.finish
            if finish is not None and finish.stopped_by == "model_failed":
                error = self._error or ModelError(self._loop.failure.message if self._loop.failure else "")
        except Exception as raised:  # noqa: BLE001 - by a stop or `prepare_history`: the user's; raised at the consumer
            error = raised
        finally:
            self._buffer.close(error)

    async def _follow_loop(self, first: Command | None) -> None:
        command = first
        while True:
            fact: Fact
            match command:
                case Send():
                    fact = await self._send(command)
                case Wait(until):
                    fact = await self._wait(until)
                case _:
                    return
            if self._loop.finish is not None:  # cancelled meanwhile
                return
            self._answer = None  # before a stop may raise: the loop has its end now
            command = self._loop.take(fact)
            if isinstance(fact, (AnswerEnded, RequestFailed)):
                self._buffer.put(self._end_turn(fact))

    def _end_turn(self, fact: AnswerEnded | RequestFailed) -> TurnEnd:
        if isinstance(fact, RequestFailed):
            return TurnEnd(self._number, ParsedResponse(), (), self._model, True, fact.failure, self._find_lost())
        is_discarded, failure = self._loop.was_discarded, self._loop.failure
        if is_discarded or (self._is_attended and self._loop.finish is None):
            self._forget_approvals()  # the run goes on without them
        return TurnEnd(self._number, fact.response, fact.results, self._model, is_discarded, failure, self._find_lost())

    def _find_lost(self) -> tuple[Loss, ...]:
        return () if self._request is None else tuple(self._request.lost)

    async def _wait(self, until: float) -> Fact:
        with self._limit_wait() as scope:
            await anyio.sleep(max(until - self._clock(), 0))
        return Waited(self._read_clock_after(scope))

    def _read_clock_after(self, scope: anyio.CancelScope) -> float:
        """The time after a wait; not before the deadline that ended it: the loop's clock may be a little behind."""
        is_late = scope.cancelled_caught and not self._is_cancelled
        return max(self._clock(), self._loop.deadline or 0.0) if is_late else self._clock()

    async def _send(self, send: Send) -> Fact:
        """Ask a model, and read its answer while the tools run."""
        self._number, self._model, self._error, self._request = send.number, send.model, None, None
        if self._is_cancelled:
            return RequestFailed(ModelFailure("cancelled"), self._clock())
        self._request = request = self._settings.make_request(send.history, send.number, self.id)
        source: Any = None
        with self._limit_wait() as scope:
            source = await attempt(partial(self._models[send.model], request))
        if isinstance(source, Failure):
            return RequestFailed(self._note_error(source.error), self._clock())
        if scope.cancelled_caught and self._is_cancelled:
            return RequestFailed(ModelFailure("cancelled"), self._clock())
        if scope.cancelled_caught:
            return RequestFailed(ModelFailure("out of time"), self._read_clock_after(scope))
        return await self._read_answer(request, source)

    async def _read_answer(self, request: Request, source: Any) -> AnswerEnded:
        stream = aiter_events(
            source, request.wire, dialects=request.dialects, reasoning=request.reasoning, tools=self._settings.tools
        )
        deadline = self._loop.deadline
        left = None if deadline is None else max(deadline - self._clock(), 1e-6)
        assert self._runner is not None
        turn = self._runner.run(stream, deps=self._deps, run_id=self.id, turn=request.number, time_limit=left)
        self._answer = Answer(request, stream, turn)
        if self._is_cancelled:
            turn.stop()
        ended = await attempt(partial(self._show_all, turn))
        failure = self._note_error(ended.error) if isinstance(ended, Failure) else None
        return self._sum_up(self._answer, failure)

    def _note_error(self, error: BaseException) -> ModelFailure:
        """Keep what a model or its source raised, to raise it if nothing helps; say what it means."""
        failure = describe_failure(error)
        self._error = error
        if isinstance(error, StopAsyncIteration) or not isinstance(error, Exception):
            # Raised as it is, it would pass for the end of the items, or a client's own cancellation for ours.
            self._error = ModelError(failure.message)
            self._error.__cause__ = error
        return failure

    async def _show_all(self, turn: Run) -> None:
        async for item in turn:
            await self._show(item, turn)

    async def _show(self, item: Item, turn: Run) -> None:
        if isinstance(item, ApprovalRequest):
            self._approvals[item.key] = item
            if not self._is_attended:
                self._was_denied = True
                turn.deny(item, DENIED)
        self._buffer.put(item)
        is_late = False
        while self._buffer.full and not self._is_cancelled and not is_late:
            with self._limit_wait() as scope:
                await self._buffer.room()
            is_late = scope.cancelled_caught  # the turn is over, too: what still comes is bounded

    def _sum_up(self, answer: Answer, failure: ModelFailure | None = None) -> AnswerEnded:
        answer.stream.parser.close()  # does nothing, unless the answer was left before its end
        return AnswerEnded(
            answer.stream.parser.response,
            self._clock(),
            tuple(answer.turn.results),
            answer.request.provider,
            answer.request.model,
            failure,
            self._was_denied,
        )

    @contextmanager
    def _limit_wait(self) -> Generator[anyio.CancelScope, None, None]:
        """Wait no longer than until the run is cancelled, or its time is over."""
        deadline = self._loop.deadline
        seconds = math.inf if deadline is None else deadline - self._clock()
        with anyio.move_on_after(None if seconds == math.inf else max(seconds, 0)) as scope:
            self._waiting = scope
            if self._is_cancelled:
                scope.cancel()
            yield scope

    def _settle(self) -> None:
        """Bring what is left of a run that was left before its end into its history."""
        if self._loop.finish is None:
            self._loop.take(Interrupted(self._clock()))
        if self._answer is not None:
            self._loop.take(self._sum_up(self._answer))
            self._answer = None

    def _forget_approvals(self) -> None:
        """Forget what was requested in the latest turn: nobody can answer it any more."""
        self._was_denied = False
        beginning = f"{self.id}:{self._number}:"
        self._approvals = {key: each for key, each in self._approvals.items() if not key.startswith(beginning)}

    def _find_turn(self, request: ApprovalRequest) -> Run:
        if self._has_begun and self._thread != threading.get_ident():
            raise RuntimeError("an approval is given in the thread of the run's event loop: have the loop call this")
        if self._answer is None or request.key not in self._approvals:
            raise ValueError(f"this run does not wait for an answer about the call {request.call_id!r}")
        return self._answer.turn
