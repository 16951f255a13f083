"""The runner, which a user keeps from turn to turn."""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterable, Callable, Collection, Iterable
from functools import partial
from types import TracebackType
from typing import Any, Never, Self, TypedDict

import anyio
import anyio.abc

from streamparse.limits import MIB
from streamparse.repair import Gate, Guard
from streamparse.runtime.admission import Allowed, check_options, read_allowed
from streamparse.runtime.run import Batch, Run, Settings
from streamparse.runtime.run_options import RunOptions
from streamparse.runtime.steps import restore_turn
from streamparse.runtime.threads import Threads
from streamparse.runtime.turn import Turn
from streamparse.tools import ToolResult


class CommonOptions(TypedDict, total=False):
    """The keywords of `ToolRunner` that an `Agent` takes as they are."""

    limit: int
    timeout: float | None
    time_limit: float | None
    max_result: int
    max_buffered: int
    guards: Iterable[Guard]
    coerce: bool
    sanitise: bool
    allow: Collection[Allowed]
    clock: Callable[[], float]
    wall_clock: Callable[[], float]


class RunnerOptions(CommonOptions, total=False):
    """The keywords of `ToolRunner`."""

    tier: int


class ToolRunner:
    """Runs the tools that a model calls, each as early as the tool itself allows.

        async with ToolRunner(tools, limit=8) as runner:
            async for item in runner.run(events):  # events and ToolResults in order of arrival
                ...
            runner.results  # in call order, one per call, broken ones included

    On asyncio and trio.  Whatever a tool does, its call gets exactly one result and the others go on.
    Leaving the `async with` block in any way cancels and awaits all that still runs, and closes the source.
    What runs has passed `streamparse.repair.preflight`, with these `tier`, `guards`, `coerce` and `sanitise`.

    `limit`: tools that run at one time, and threads for synchronous ones.  `timeout`: seconds for each attempt of a
    call, unless its tool says otherwise.  `time_limit`: seconds for a whole run, the model's answer included.
    `max_result`: characters of a text, or of other JSON; a longer result is cut, and says so.
    `max_buffered`: items that may wait for the consumer before reading pauses.
    `allow`: a collection of what may run although it would not (`Turn` says why): "recovered", calls that were found
    only at the end; "repaired", those that had to be repaired to be read; "quoted", those that the text only quotes;
    "divided", those of the text that have effects although something stands between or behind them.
    `clock`: seconds, for the times in the results; `wall_clock`: seconds since 1970, for the moments of the calls.

    A synchronous tool runs in a thread, and a thread cannot be stopped: one that does not return is abandoned when
    its time is over.  It keeps one of the `limit` threads, and is named in `unstopped_threads`; it does not keep the
    process alive.

    Raises ModuleNotFoundError if a tool has a schema that only jsonschema-rs can check, and it is not installed.
    """

    def __init__(
        self,
        tools: Iterable[Any] | None,
        *,
        limit: int = 8,
        timeout: float | None = 60.0,
        time_limit: float | None = None,
        max_result: int = MIB,
        max_buffered: int = 1024,
        tier: int = 0,
        guards: Iterable[Guard] = (),
        coerce: bool = True,
        sanitise: bool = False,
        allow: Collection[Allowed] = (),
        clock: Callable[[], float] = time.perf_counter,
        wall_clock: Callable[[], float] = time.time,
        **old: Never,
    ) -> None:
        check_options("ToolRunner", old, RunnerOptions.__annotations__)
        gate = Gate(tools, tier=tier, coerce=coerce, sanitise=sanitise, guards=guards)
        gate.require_validator()
        _check_counts(limit=limit, max_buffered=max_buffered, max_result=max_result)
        _check_seconds(timeout=timeout, time_limit=time_limit)
        self._settings = Settings(gate, max_result, max_buffered, clock)
        self._make_turn = partial(Turn, limit=limit, timeout=timeout, allow=read_allowed(allow, old))
        self._time_limit = time_limit
        self._wall_clock = wall_clock
        self._threads = Threads(limit)
        self._tasks: anyio.abc.TaskGroup | None = None
        self._run: Run | None = None

    async def __aenter__(self) -> Self:
        if self._tasks is not None:
            raise RuntimeError("this ToolRunner is already entered")
        tasks = anyio.create_task_group()
        await tasks.__aenter__()
        self._tasks = tasks
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        tasks, self._tasks = self._tasks, None
        assert tasks is not None
        if self._run is not None:
            self._run.stop()
        if isinstance(error, anyio.get_cancelled_exc_class()):
            return await tasks.__aexit__(kind, error, trace)
        # The task group would wrap the body's own exception in a group; it has nothing to do with our tasks.
        await tasks.__aexit__(None, None, None)
        return None

    @property
    def results(self) -> list[ToolResult]:
        """The results of the latest run so far, in call order; once it is over, one for each call, broken ones too."""
        return [] if self._run is None else self._run.results

    @property
    def unstopped_threads(self) -> list[str]:
        """The names of the threads that still run although their call is over: their tool did not return in time."""
        return self._threads.unstopped

    def run(
        self,
        events: AsyncIterable[Batch] | Iterable[Batch],
        *,
        deps: Any = None,
        run_id: str | None = None,
        turn: int = 0,
        time_limit: float | None = None,
        tier: int | None = None,
        only: Collection[str] | None = None,
        own: RunOptions = RunOptions(),  # noqa: B008 - frozen
    ) -> Run:
        """Begin to read events, one by one or in lists as `feed` returns them, and to run the calls in them.

        `deps` is what tools find in their `ToolContext`.  `run_id` and `turn` make the idempotency keys of the calls;
        without a `run_id` one is drawn.  `time_limit` is this run's, where it is shorter than the runner's.  `tier` is
        the one that is unlocked in this run, and `only` names the tools that may be called, if not all.  `own` is for
        agents.
        A plain iterable is read in the event loop, so it must not block.  A new run stops the one before it.
        Raises RuntimeError outside of the `async with` block.
        """
        if self._tasks is None:
            raise RuntimeError("a ToolRunner runs only inside its `async with` block")
        source = aiter(events) if isinstance(events, AsyncIterable) else iter(events)
        if self._run is not None:
            self._run.stop()
        limits = [each for each in (self._time_limit, time_limit) if each is not None]
        machine = self._make_turn(
            self._settings.gate.restrict(tier, only),
            time_limit=min(limits, default=None), run_id=uuid.uuid4().hex if run_id is None else run_id,
            number=turn, epoch=self._wall_clock() - self._settings.clock(), asks=own.asks,
        )  # fmt: skip
        restore_turn(machine, own.restored)
        run = Run(source, self._settings, self._threads, machine, deps, own)
        if self._run is not None:
            run.take_over(self._run)
        self._run = run
        self._tasks.start_soon(self._run.work, name="streamparse reader")
        return self._run


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} must be at least 1, got {count}")


def _check_seconds(**times: float | None) -> None:
    for name, seconds in times.items():
        if seconds is not None and not seconds > 0:  # nan, too
            raise ValueError(f"{name} must be positive seconds or None, got {seconds}")
