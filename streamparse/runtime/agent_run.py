"""What an agent is made of, and one run of it: what `streamparse.runtime.loop` decides, done on an event loop."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any, Generic, NamedTuple, Self, TypeAlias, TypeVar

import anyio
import anyio.lowlevel
import msgspec

from streamparse.loss import Loss
from streamparse.negotiate import NegotiatedFormat
from streamparse.parser.loops import AsyncEventStream, aiter_events
from streamparse.response import ParsedResponse
from streamparse.runtime import loop
from streamparse.runtime.buffer import Buffer
from streamparse.runtime.execution import attempt
from streamparse.runtime.facts import ApprovalRequest
from streamparse.runtime.history import History
from streamparse.runtime.model import Model, ask_model, check_model, open_model
from streamparse.runtime.model_failures import ModelError, ModelFailure, describe_failure
from streamparse.runtime.request import Request, check_settings
from streamparse.runtime.run import Item, Run
from streamparse.runtime.runner import RunnerOptions, ToolRunner
from streamparse.runtime.stops import MAX_TURNS, MaxStop, StopCondition, max_turns
from streamparse.runtime.threads import CallSoon, Failure, find_event_loop
from streamparse.tools import Tool, ToolResult, Toolset, read_output
from streamparse.usage import TokenCounts

Output = TypeVar("Output")

MAX_BUFFERED = 1024  # bound: the items that wait for the consumer of a run before reading pauses
DENIED = "nobody was there to approve it"


AgentModel: TypeAlias = Model | NegotiatedFormat
Models: TypeAlias = AgentModel | Sequence[AgentModel]
PrepareHistory: TypeAlias = Callable[[History], History]


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one `Agent`; see there.

    `tools` has the `output_tool` among them, if there is one; `runner` holds the keywords for `ToolRunner`.
    Raises TypeError or ValueError for what cannot be.
    """

    models: tuple[AgentModel, ...]
    tools: Toolset
    output_tool: Tool | None = None
    system: str = ""
    stops: tuple[StopCondition, ...] = ()
    settings: dict[str, Any] = {}
    prepare_history: PrepareHistory | None = None
    ask_again: bool = True
    runner: RunnerOptions = {}

    def __post_init__(self) -> None:
        if not self.models:
            raise ValueError("an agent needs a model")
        for model in self.models:
            check_model(model)
        if not any(isinstance(stop, MaxStop) and stop.name == "max_turns" for stop in self.stops):
            msgspec.structs.force_setattr(self, "stops", (*self.stops, max_turns(MAX_TURNS)))
        check_settings(self.settings)
        self.make_runner()  # raises for what cannot be, now and not in each run

    def make_runner(self) -> ToolRunner:
        """Make the runner of one run."""
        return ToolRunner(self.tools, **self.runner)

    def make_request(self, history: History, number: int, run_id: str) -> Request:
        """Make the request of one turn."""
        sent: object = history if self.prepare_history is None else self.prepare_history(history)
        if not isinstance(sent, History):
            raise TypeError(f"prepare_history returns the History to be sent, not {type(sent).__name__}")
        return Request(sent, self.tools, settings=self.settings, number=number, run_id=run_id)


class TurnEnd(msgspec.Struct, frozen=True, tag_field="type", tag="turn_end"):
    """The end of one request: its answer is read, and each of the calls has its result.

    `number` counts the run's requests from 0; `model` is the place of the one that was asked among the agent's.
    An answer that is `discarded` never came, or broke off before any tool had begun: it is not in the history and is
    asked for again, so what was shown of it does not count; `failure` says why.
    `lost` lists what the provider has no words for: a setting that it does not have, a name that it may refuse.
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
    """The end of a run.

    `output` is None where a stop ended the run without one.  `stopped_by` is None if the run ended by itself; else it
    is the reason of a stop, or a word of `streamparse.runtime.loop.Finish`.  `usage` is what all answers have cost.
    `approvals` are the requests without an answer.  `refused` counts the calls that did not run, by the code of their
    result's failure.  `history` goes into the next `run`.
    """

    output: Output | None
    stopped_by: str | None
    usage: TokenCounts
    approvals: tuple[ApprovalRequest, ...]
    refused: dict[str, int]
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


class OpenAnswer(NamedTuple):
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
        self._clock: Callable[[], float] = settings.runner.get("clock", time.perf_counter)
        self._loop = loop.Loop(
            models=len(settings.models),
            stops=settings.stops,
            ending=frozenset(name for name, tool in settings.tools.items() if tool.ends),
            output_tool=None if settings.output_tool is None else settings.output_tool.name,
            ask_again=settings.ask_again,
            run_id=self.id,
        )
        self._buffer: Buffer[AgentItem] = Buffer(MAX_BUFFERED)
        self._approvals: dict[str, ApprovalRequest] = {}
        self._is_attended = True  # the items have a reader, who can approve
        self._was_denied = False
        self._is_cancelled = False
        self._has_begun = False
        self._waiting: anyio.CancelScope | None = None  # for a model, for a moment, or for the consumer
        self._answer: OpenAnswer | None = None  # that is being read
        self._request: Request | None = None  # the latest
        self._runner = settings.make_runner()
        self._number = self._model = 0  # of the latest request
        self._error: BaseException | None = None
        self._stack = AsyncExitStack()
        self._thread = 0  # of the event loop
        self._call_soon: CallSoon | None = None

    def __await__(self) -> Generator[Any, None, RunResult[Output]]:
        return self._run_unattended().__await__()

    async def __aenter__(self) -> Self:
        if self._has_begun:
            raise RuntimeError("a run begins once: make another one with `agent.run`")
        self._has_begun = True
        self._thread, self._call_soon = threading.get_ident(), find_event_loop()
        first = self._loop.take(loop.Started(self._given, self._clock()))
        async with AsyncExitStack() as stack:
            self._models = [await stack.enter_async_context(open_model(model)) for model in self._settings.models]
            await stack.enter_async_context(self._runner)
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            self._stack = stack.pop_all()
        tasks.start_soon(self._work, first, name="streamparse agent")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
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
        """The names of the threads that still run although their call is over: their tool did not return in time."""
        return self._runner.unstopped_threads

    @property
    def result(self) -> RunResult[Output]:
        """The end of the run.  Raises RuntimeError while it goes on."""
        finish = self._loop.finish
        if finish is None:
            raise RuntimeError("the run is not over")
        output, tool = finish.output, self._settings.output_tool
        return RunResult(
            output=read_output(tool, output) if tool is not None and finish.is_structured else output,
            stopped_by=finish.stopped_by,
            usage=self._loop.tokens,
            approvals=tuple(self._approvals.values()),
            refused=self._loop.refused,
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
        """Do not let a call run; the model reads why.  Raises as `approve` does."""
        self._find_turn(request).deny(request, why)
        del self._approvals[request.key]

    def cancel(self, *, heard: str | None = None) -> None:
        """End the run: what still runs is cancelled, and its calls are answered so.

        `heard` is the part of the latest answer's text that has reached the user, for example by voice: the history
        keeps only that.  The items end soon after.  May also be called when the run is over, to say what was heard of
        its last answer; and from any thread, also that of a synchronous tool.
        """
        if self._call_soon is None or self._thread == threading.get_ident() or self._loop.finish is not None:
            self._cancel(heard)
            return
        with suppress(RuntimeError):  # the event loop is gone, and the run with it
            self._call_soon(partial(self._cancel, heard))

    def _cancel(self, heard: str | None) -> None:
        self._is_cancelled = True
        self._loop.take(loop.Interrupted(self._clock(), heard))
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

    async def _work(self, first: loop.Command | None) -> None:
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

    async def _follow_loop(self, first: loop.Command | None) -> None:
        command = first
        while True:
            fact: loop.Fact
            match command:
                case loop.Send():
                    fact = await self._send(command)
                case loop.Wait(until):
                    fact = await self._wait(until)
                case _:
                    return
            if self._loop.finish is not None:  # cancelled meanwhile
                return
            self._answer = None  # before a stop may raise: the loop has its end now
            command = self._loop.take(fact)
            if isinstance(fact, (loop.AnswerEnded, loop.RequestFailed)):
                self._buffer.put(self._end_turn(fact))

    def _end_turn(self, fact: loop.AnswerEnded | loop.RequestFailed) -> TurnEnd:
        lost = () if self._request is None else tuple(self._request.lost)
        if isinstance(fact, loop.RequestFailed):
            return TurnEnd(self._number, ParsedResponse(), (), self._model, True, fact.failure, lost)
        is_discarded, failure = self._loop.was_discarded, self._loop.failure
        if is_discarded or (self._is_attended and self._loop.finish is None):
            self._forget_approvals()  # the run goes on without them
        return TurnEnd(self._number, fact.response, fact.results, self._model, is_discarded, failure, lost)

    async def _wait(self, until: float) -> loop.Fact:
        with self._limit_wait() as scope:
            await anyio.sleep(max(until - self._clock(), 0))
        return loop.Waited(self._read_clock_after(scope))

    def _read_clock_after(self, scope: anyio.CancelScope) -> float:
        """Return the time after a wait, at least the deadline that ended it: the loop's clock may be a little slow."""
        is_late = scope.cancelled_caught and not self._is_cancelled
        return max(self._clock(), self._loop.deadline or 0.0) if is_late else self._clock()

    async def _send(self, send: loop.Send) -> loop.Fact:
        """Ask a model, and read its answer while the tools run."""
        self._number, self._model, self._error, self._request = send.number, send.model, None, None
        if self._is_cancelled:
            return loop.RequestFailed(ModelFailure("cancelled"), self._clock())
        self._request = request = self._settings.make_request(send.history, send.number, self.id)
        source: Any = None
        with self._limit_wait() as scope:
            source = await attempt(partial(ask_model, self._models[send.model], request))
        if isinstance(source, Failure):
            return loop.RequestFailed(self._note_error(source.error), self._clock())
        if scope.cancelled_caught:
            why = "cancelled" if self._is_cancelled else "out of time"
            return loop.RequestFailed(ModelFailure(why), self._read_clock_after(scope))
        return await self._read_answer(request, source)

    async def _read_answer(self, request: Request, source: Any) -> loop.AnswerEnded:
        stream = aiter_events(
            source, request.wire, dialects=request.dialects, reasoning=request.reasoning, tools=self._settings.tools,
            quoted="calls" if "quoted" in self._settings.runner.get("allow", ()) else "text",
        )  # fmt: skip
        deadline = self._loop.deadline
        left = None if deadline is None else max(deadline - self._clock(), 1e-6)
        turn = self._runner.run(stream, deps=self._deps, run_id=self.id, turn=request.number, time_limit=left)
        self._answer = OpenAnswer(request, stream, turn)
        if self._is_cancelled:
            turn.stop()
        ended = await attempt(partial(self._show_items, turn))
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

    async def _show_items(self, turn: Run) -> None:
        async for item in turn:
            if isinstance(item, ApprovalRequest):
                self._approvals[item.key] = item
                if not self._is_attended:
                    self._was_denied = True
                    turn.deny(item, DENIED)
            self._buffer.put(item)
            is_late = False
            while self._buffer.is_full and not self._is_cancelled and not is_late:
                with self._limit_wait() as scope:
                    await self._buffer.wait_for_room()
                is_late = scope.cancelled_caught  # the turn is over, too: what still comes is bounded

    def _sum_up(self, answer: OpenAnswer, failure: ModelFailure | None = None) -> loop.AnswerEnded:
        answer.stream.parser.close()  # does nothing, unless the answer was left before its end
        return loop.AnswerEnded(
            answer.stream.parser.response, self._clock(), tuple(answer.turn.results), answer.request.provider,
            answer.request.model, failure, self._was_denied,
        )  # fmt: skip

    @contextmanager
    def _limit_wait(self) -> Generator[anyio.CancelScope, None, None]:
        """Wait no longer than until the run is cancelled, or its time is over."""
        deadline = self._loop.deadline
        with anyio.move_on_after(None if deadline is None else max(deadline - self._clock(), 0)) as scope:
            self._waiting = scope
            if self._is_cancelled:
                scope.cancel()
            yield scope

    def _settle(self) -> None:
        """Bring what is left of a run that was left before its end into its history."""
        if self._loop.finish is None:
            self._loop.take(loop.Interrupted(self._clock()))
        if self._answer is not None:
            self._loop.take(self._sum_up(self._answer))
            self._answer = None
        elif self._loop.finish is None:  # a model was asked, and has not begun to answer
            self._loop.take(loop.RequestFailed(ModelFailure("cancelled"), self._clock()))

    def _forget_approvals(self) -> None:
        """Forget what was requested in the latest turn: it can no longer be answered."""
        self._was_denied = False
        beginning = f"{self.id}:{self._number}:"
        self._approvals = {key: each for key, each in self._approvals.items() if not key.startswith(beginning)}

    def _find_turn(self, request: ApprovalRequest) -> Run:
        if self._has_begun and self._thread != threading.get_ident():
            raise RuntimeError("an approval is given in the thread of the run's event loop: have the loop call this")
        if self._answer is None or request.key not in self._approvals:
            raise ValueError(f"this run does not wait for an answer about the call {request.call_id!r}")
        return self._answer.turn
