"""One run of an agent: what `streamparse.runtime.loop` decides, done on an event loop."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import contextmanager, suppress
from functools import partial
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import anyio
import anyio.lowlevel
import msgspec

from streamparse.response import ParsedResponse
from streamparse.runtime import loop
from streamparse.runtime.agent_items import AgentItem, RunEnd, RunResult, Stopped, TurnEnd
from streamparse.runtime.agent_settings import AgentSettings
from streamparse.runtime.answer import Answer, OpenAnswer, Partials, RestoredAnswer, find_refused_body, repeat_calls
from streamparse.runtime.buffer import Buffer
from streamparse.runtime.diary import Diary
from streamparse.runtime.execution import ExitStack, attempt
from streamparse.runtime.facts import ApprovalRequest
from streamparse.runtime.history import History
from streamparse.runtime.journal_records import Sent
from streamparse.runtime.model import ask_model, open_model
from streamparse.runtime.model_failures import ModelError, ModelFailure, describe_failure
from streamparse.runtime.open_requests import OpenRequests
from streamparse.runtime.replay import PROGRAM_ENDED, OpenTurn
from streamparse.runtime.request import Request
from streamparse.runtime.rounds import WaitingCall
from streamparse.runtime.run import Run
from streamparse.runtime.run_options import Decision, RunOptions
from streamparse.runtime.threads import CallSoon, Failure, find_event_loop
from streamparse.tools import read_output

Output = TypeVar("Output")

MAX_BUFFERED = 1024  # bound: the items that wait for the consumer of a run before reading pauses


class AgentRun(AsyncIterator[AgentItem], Generic[Output]):
    """One run of an agent: its items in order of arrival.  Made by `Agent.run`.

    Leaving the `async with` block ends the run: what still runs is cancelled and awaited.  A run has one consumer.
    What the model or its server raised is raised after the last item, once nothing helped.
    """

    def __init__(self, settings: AgentSettings, history: History, deps: Any) -> None:
        self.id: str = uuid.uuid4().hex
        self._settings = settings
        self._given = history
        self._deps = deps
        self._clock: Callable[[], float] = settings.runner.get("clock", time.perf_counter)
        self._loop = settings.make_loop(self.id)
        self._diary = Diary(settings)
        self._decisions: dict[str, Decision] = dict(settings.decisions)
        self._buffer: Buffer[AgentItem] = Buffer(MAX_BUFFERED)
        self._requests = OpenRequests()
        self._is_attended = True  # the items have a reader, who can approve
        self._has_begun = False
        self._waiting: anyio.CancelScope | None = None  # for a model, for a moment, or for the consumer
        self._answer: OpenAnswer | None = None  # that is being read
        self._request: Request | None = None  # the latest
        self._runner = settings.make_runner()
        self._restored: OpenTurn | None = None  # what the journal has of a request that was not over
        self._number = self._model = 0  # of the latest request
        self._error: BaseException | None = None
        self._stack = ExitStack()
        self._thread = 0  # of the event loop
        self._call_soon: CallSoon | None = None

    def __await__(self) -> Generator[Any, None, RunResult[Output]]:
        return self._run_unattended().__await__()

    async def __aenter__(self) -> Self:
        if self._has_begun:
            raise RuntimeError("a run begins once: make another one with `agent.run`")
        self._has_begun = True
        self._thread, self._call_soon = threading.get_ident(), find_event_loop()
        async with ExitStack() as stack:
            stack.enter_context(self._diary.opened())
            first = self._begin()
            self._models = [await stack.enter_async_context(open_model(model)) for model in self._settings.models]
            await stack.enter_async_context(self._runner)
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            self._stack = stack.pop_all()
        tasks.start_soon(self._work, first, name="streamparse agent")
        return self

    def _begin(self) -> loop.Command | None:
        """Begin the run, or go on with the one that the journal has."""
        replay = self._diary.read(self._given, self._decisions)
        if replay is None:
            now = self._clock()
            self._diary.begin(self.id, self._given, now, self._decisions)
            return self._loop.take(loop.Started(self._given, now, decides=bool(self._decisions)))
        self.id, self._loop = replay.loop.run_id, replay.loop
        self._decisions |= replay.decisions
        base = self._clock
        offset = replay.at - base()  # while no process ran it, no time has passed for it
        self._clock = lambda: base() + offset
        self._runner = self._settings.make_runner(self._clock)
        self._restored = replay.turn
        if self._diary.is_reopened:
            self._diary.note_taken_up(replay.at)
            return self._loop.take(loop.Decided(replay.at))
        for request in self._diary.asked:
            self._requests.add(request)
        return replay.command

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        if self._loop.finish is None:
            self._diary.silence()  # who goes on with the journal finds the run as it was here
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
        finish, tool = self._loop.finish, self._settings.output_tool
        if finish is None:
            raise RuntimeError("the run is not over")
        return RunResult(
            output=read_output(tool, finish.output) if tool is not None and finish.is_structured else finish.output,
            stopped_by=finish.stopped_by,
            usage=self._loop.tokens,
            approvals=tuple(self._requests.by_key.values()),
            refused=self._loop.refused,
            history=self._loop.history,
        )

    def approve(self, request: ApprovalRequest) -> None:
        """Let a call run.

        Raises ValueError if this run does not wait for that answer, and RuntimeError in another thread than its own:
        there, `anyio.from_thread` and the like have the event loop call it.
        """
        self._check_thread()
        self._requests.answer(request, granted=True)

    def deny(self, request: ApprovalRequest, why: str = "") -> None:
        """Do not let a call run; the model reads why.  Raises as `approve` does."""
        self._check_thread()
        self._requests.answer(request, granted=False, why=why)

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
        now = self._clock()
        try:
            self._diary.note_cancelled(now, heard)
        finally:  # it ends all the same if the journal cannot be written
            self._loop.take(loop.Interrupted(now, heard))
            if self._waiting is not None:
                self._waiting.cancel()
            if self._answer is not None:
                self._answer.turn.stop()

    def ask_for(self, child: AgentRun[Any], request: ApprovalRequest, key: str) -> None:
        """Show the request of an agent that the call of this key has asked; where nobody is there, deny it."""
        if self._suspends or self._answer is None:
            child.deny(request, "nobody was there to approve it")
            return
        self._requests.add_inner(request, child, self._answer.turn, key)
        self._buffer.put(request)

    def add_usage(self, child: AgentRun[Any]) -> None:
        """Count what an agent has cost that a tool has asked."""
        now, tokens = self._clock(), child._loop.tokens
        if self._answer is not None:
            self._answer.turn.take_down(partial(self._diary.note_spent, tokens, now))
        self._loop.take(loop.Spent(tokens, now))

    def forget_requests(self, child: AgentRun[Any]) -> None:
        """Note that an agent that a tool has asked waits for no answer any more."""
        self._requests.forget(child)

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
            self._buffer.put(self._end_run(error))
        except Exception as raised:  # noqa: BLE001 - by a stop or `prepare_history`: the user's; raised at the consumer
            error = raised
        finally:
            self._buffer.close(error)

    def _end_run(self, error: BaseException | None) -> RunEnd:
        result = self.result
        failure = None if error is None else describe_failure(error).message
        end = RunEnd(result.output, result.stopped_by, result.usage, result.approvals, result.refused, failure)
        self._diary.end(self._loop.finish, end)
        return end

    async def _follow_loop(self, first: loop.Command | None) -> None:
        command = first
        while True:
            fact: loop.Fact
            match command:
                case loop.Send():
                    fact = await self._send(command)
                case loop.TakeUp(waiting):
                    fact = await self._take_up(waiting)
                case loop.Wait(until):
                    fact = await self._wait(until)
                case _:
                    return
            if self._loop.finish is not None:  # cancelled meanwhile
                return
            self._requests.end_turn()
            self._answer = None  # before a stop may raise: the loop has its end now
            lost = () if self._request is None else tuple(self._request.lost)
            self._diary.end_turn(fact, self._number, lost)
            command = self._loop.take(fact)
            if isinstance(fact, (loop.AnswerEnded, loop.RequestFailed, loop.Resumed)):
                self._buffer.put(self._end_turn(fact))

    def _end_turn(self, fact: loop.AnswerEnded | loop.RequestFailed | loop.Resumed) -> TurnEnd:
        lost = () if self._request is None else tuple(self._request.lost)
        if isinstance(fact, loop.Resumed):
            last = self._loop.history.rounds[-1]
            return TurnEnd(self._number, last.response, last.results, self._model)
        if isinstance(fact, loop.RequestFailed):
            return TurnEnd(self._number, ParsedResponse(), (), self._model, True, fact.failure, lost)
        is_discarded, failure = self._loop.was_discarded, self._loop.failure
        if is_discarded or self._loop.finish is None:
            self._requests.forget_turn(f"{self.id}:{self._number}:")  # the run goes on without them
        return TurnEnd(self._number, fact.response, fact.results, self._model, is_discarded, failure, lost)

    async def _wait(self, until: float) -> loop.Fact:
        with self._limit_wait() as scope:
            await anyio.sleep(max(until - self._clock(), 0))
        return loop.Waited(self._read_clock_after(scope))

    def _read_clock_after(self, scope: anyio.CancelScope) -> float:
        """Return the time after a wait, at least the deadline that ended it: the loop's clock may be a little slow."""
        is_late = scope.cancelled_caught and not self._loop.is_interrupted
        return max(self._clock(), self._loop.deadline or 0.0) if is_late else self._clock()

    async def _send(self, send: loop.Send) -> loop.Fact:
        """Ask a model, and read its answer while the tools run."""
        self._number, self._model, self._error, self._request = send.number, send.model, None, None
        if self._loop.is_interrupted:
            return loop.RequestFailed(ModelFailure("cancelled"), self._clock())
        restored, self._restored = self._restored, None
        if restored is not None and restored.sent is not None and restored.steps:
            return await self._go_on_with_answer(send, restored, restored.sent)
        settings, state, request = self._settings, self._loop.state, None
        source: Any = None
        with self._limit_wait() as scope:
            tier = settings.find_tier(state)
            self._request = request = await settings.make_request(send, state, tier, self.id)
            self._diary.note_sent(send, getattr(self._models[send.model], "name", ""), tier, self._clock())
            source = await attempt(partial(ask_model, self._models[send.model], request))
        if isinstance(source, Failure) and request is not None:
            failure = self._note_error(source.error)
            if failure.refuses_tools:
                self._learn(request, None)
            source = find_refused_body(source.error, request.tools)
            if source is None:
                return loop.RequestFailed(failure, self._clock())
        if scope.cancelled_caught or request is None:
            why = "cancelled" if self._loop.is_interrupted else "out of time"
            return loop.RequestFailed(ModelFailure(why), self._read_clock_after(scope))
        return await self._read_answer(request, source, tier, is_last=send.is_last)

    async def _read_answer(self, request: Request, source: Any, tier: int, *, is_last: bool) -> loop.Fact:
        allowed = self._settings.runner.get("allow", ())
        answer = Answer(request, source, request.tools, reads_quoted="quoted" in allowed)
        self._diary.note_answering(request.provider, request.model)
        only = self._settings.find_allowed(is_last=is_last)
        own = RunOptions(self._diary.make_recorder(answer), suspends=self._suspends, host=self)
        turn = self._run_turn(answer, request.number, tier=tier, only=only, own=own)
        return await self._finish_answer(OpenAnswer(request, answer, turn))

    async def _go_on_with_answer(self, send: loop.Send, restored: OpenTurn, sent: Sent) -> loop.Fact:
        """Go on with an answer whose process ended while it was read, or while its tools ran."""
        answer = RestoredAnswer(restored.response)
        self._request = request = Request(send.history, number=send.number, run_id=self.id)
        if restored.answering is not None:
            request.provider, request.model = restored.answering.provider, restored.answering.model
        recorder = self._diary.make_recorder(answer, restored)
        own = RunOptions(recorder, restored.taken, self._suspends, decisions=self._decisions, host=self)
        only = self._settings.find_allowed(is_last=send.is_last)
        turn = self._run_turn(answer, send.number, tier=sent.tier, only=only, own=own)
        ended = await self._finish_answer(OpenAnswer(request, answer, turn))
        return ended if restored.is_whole else msgspec.structs.replace(ended, failure=PROGRAM_ENDED)

    async def _take_up(self, waiting: tuple[WaitingCall, ...]) -> loop.Fact:
        """Let the calls begin that waited for an approval."""
        restored, self._restored = self._restored, None
        run_id, number, _ = waiting[0].key.rsplit(":", 2)
        self._number, last = int(number), self._loop.history.rounds[-1]
        taken = () if restored is None else restored.taken
        answer = RestoredAnswer(last.response, () if taken else repeat_calls(last, waiting))
        asks = [each.index for each in waiting if each.needs_approval]
        recorder = self._diary.make_recorder(answer, restored)
        own = RunOptions(recorder, taken, self._suspends, asks, self._decisions, self)
        tier = self._settings.find_tier(self._loop.state)
        turn = self._run_turn(answer, int(number), tier=tier, own=own, run_id=run_id)
        self._request = request = Request(self._loop.history, number=int(number), run_id=run_id)
        ended = await self._finish_answer(OpenAnswer(request, answer, turn))
        return loop.Resumed(ended.results, ended.at, ended.waiting, ended.waited)

    @property
    def _suspends(self) -> bool:
        """Whether the run is put off where only calls are left that wait for an approval."""
        wanted = self._settings.approvals
        return wanted == "stop" or (wanted is None and not self._is_attended)

    def _run_turn(
        self, answer: Answer | RestoredAnswer, number: int, *, tier: int, only: frozenset[str] | None = None,
        own: RunOptions, run_id: str = "",
    ) -> Run:  # fmt: skip
        deadline = self._loop.deadline
        begun = next((fact.at for step in own.restored for fact in step.facts), self._clock())
        left = None if deadline is None else max(deadline - begun, 1e-6)
        return self._runner.run(
            answer, deps=self._deps, run_id=run_id or self.id, turn=number, time_limit=left, tier=tier, only=only,
            own=own,
        )  # fmt: skip

    async def _finish_answer(self, open_answer: OpenAnswer) -> loop.AnswerEnded:
        """Show the items of an answer until all its calls have results."""
        self._answer = open_answer
        if self._loop.is_interrupted:
            open_answer.turn.stop()
        ended = await attempt(partial(self._show_items, open_answer))
        if open_answer.turn.fault is not None:
            raise open_answer.turn.fault
        failure = self._note_error(ended.error) if isinstance(ended, Failure) else None
        return self._sum_up(open_answer, failure)

    def _learn(self, request: Request, answer: Answer | RestoredAnswer | None) -> None:
        name = request.model or getattr(self._models[self._model], "name", "")
        self._settings.learn(name, request.tools, None if answer is None else answer.responses)

    def _note_error(self, error: BaseException) -> ModelFailure:
        """Keep what a model or its source raised, to raise it if nothing helps; say what it means."""
        failure = describe_failure(error)
        self._error = error
        if isinstance(error, StopAsyncIteration) or not isinstance(error, Exception):
            # Raised as it is, it would pass for the end of the items, or a client's own cancellation for ours.
            self._error = ModelError(failure.message)
            self._error.__cause__ = error
        return failure

    async def _show_items(self, open_answer: OpenAnswer) -> None:
        request, answer, turn = open_answer
        partials = Partials(answer.stream, self._settings.output_tool) if isinstance(answer, Answer) else None
        async for item in turn:
            if isinstance(item, ApprovalRequest):
                self._requests.add(item, turn)
            self._buffer.put(item)
            if partials is not None and (shown := partials.read(item)) is not None:
                self._buffer.put_latest((request.number, shown.index), shown)
            is_late = False
            while self._buffer.is_full and not self._loop.is_interrupted and not is_late:
                with self._limit_wait() as scope:
                    await self._buffer.wait_for_room()
                is_late = scope.cancelled_caught  # the turn is over, too: what still comes is bounded

    def _sum_up(self, open_answer: OpenAnswer, failure: ModelFailure | None = None) -> loop.AnswerEnded:
        request, answer, turn = open_answer
        answer.close()
        self._learn(request, answer)
        return loop.AnswerEnded(
            answer.response, self._clock(), tuple(turn.results), request.provider, request.model, failure,
            turn.waiting, turn.waited,
        )  # fmt: skip

    @contextmanager
    def _limit_wait(self) -> Generator[anyio.CancelScope, None, None]:
        """Wait no longer than until the run is cancelled, or its time is over."""
        deadline = self._loop.deadline
        with anyio.move_on_after(None if deadline is None else max(deadline - self._clock(), 0)) as scope:
            self._waiting = scope
            if self._loop.is_interrupted:
                scope.cancel()
            yield scope

    def _settle(self) -> None:
        """Bring the rest of a run that was left before its end into its history."""
        if self._loop.finish is None:
            self._loop.take(loop.Interrupted(self._clock()))
        if self._answer is not None:
            self._loop.take(self._sum_up(self._answer))
            self._answer = None
        elif self._loop.finish is None:  # a model was asked, and has not begun to answer
            self._loop.take(loop.RequestFailed(ModelFailure("cancelled"), self._clock()))

    def _check_thread(self) -> None:
        if self._has_begun and self._thread != threading.get_ident():
            raise RuntimeError("an approval is given in the thread of the run's event loop: have the loop call this")
