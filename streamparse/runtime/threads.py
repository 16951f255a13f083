"""Threads for synchronous tools: they end with the process, and there are never more than a given number.

A thread cannot be stopped.  anyio's worker threads keep a process alive until their function returns, so these are
daemons: a tool that hangs holds its thread for as long as it likes, but not the process.  Its call is answered when its
time is over, and its thread is named (`Threads.unstopped`) until it ends.
"""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import anyio

CallSoon: TypeAlias = Callable[[Callable[[], None]], object]
"""Has an event loop call a function soon, from any thread.  Raises RuntimeError if the loop is gone."""


class Failure(NamedTuple):
    """The exception that foreign code raised."""

    error: BaseException


class Threads:
    """At most `limit` threads at one time, each for one call of a function; abandoned ones count, too."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._jobs: list[Job] = []
        self._waiting: dict[anyio.Event, CallSoon] = {}  # an event for each that waits, and its event loop

    @property
    def unstopped(self) -> list[str]:
        """The names of the abandoned threads that still run, oldest first."""
        return [job.name for job in self._jobs if job.is_abandoned and job.is_alive]

    async def take_place(self, job: Job) -> None:
        """Wait until there may be one thread more."""
        await self._wait_while(lambda: len(self._jobs) >= self._limit)
        self._jobs.append(job)

    async def wait_for_end(self, job: Job) -> None:
        """Wait until a function that was begun has returned; also one of an event loop that is gone."""
        await self._wait_while(lambda: job in self._jobs)

    async def _wait_while(self, is_busy: Callable[[], bool]) -> None:
        while is_busy():
            freed = anyio.Event()
            self._waiting[freed] = find_event_loop()
            try:
                if is_busy():  # still: a thread of another loop may have ended meanwhile
                    await freed.wait()
            finally:
                self._waiting.pop(freed, None)

    def free_place(self, job: Job) -> None:
        """Note that a thread has ended, or could not begin.

        May be called from any thread: where the event loop of the call is gone, calls of another loop may wait.
        """
        self._jobs.remove(job)
        for freed, call_soon in list(self._waiting.items()):
            with suppress(RuntimeError):  # that loop, too, is gone
                call_soon(freed.set)


class Job:
    """One call of a function in a thread; `is_abandoned` if its result is no longer awaited, and it still runs.

    Made in the event loop that awaits it.
    """

    def __init__(self, name: str, threads: Threads) -> None:
        self.name = name
        self.is_abandoned: bool = False
        self._threads = threads
        self._call_soon = find_event_loop()
        self.ended: anyio.Event = anyio.Event()  # the function that was begun has returned
        self._outcome: Any = None
        self._thread: threading.Thread | None = None

    @property
    def has_started(self) -> bool:
        """Whether there was a thread for it."""
        return self._thread is not None

    @property
    def is_alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread is not None and self._thread.is_alive()

    async def run(self, function: Callable[[], Any]) -> Any:
        """Call the function in a thread of its own, once there may be one.

        Returns what the function returns, or `Failure`.  A cancellation abandons the thread.
        """
        await self._threads.take_place(self)
        work = partial(self._work, partial(_copy_context().run, function))
        thread = threading.Thread(target=work, name=self.name, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the system has no more threads
            self._threads.free_place(self)
            raise
        self._thread = thread
        try:
            await self.ended.wait()
        finally:
            self.is_abandoned = not self.ended.is_set()
        return self._outcome

    def call_in_loop(self, function: Callable[[], None]) -> None:
        """Have the event loop call a function soon; may be called from any thread."""
        with suppress(RuntimeError):  # the loop is gone
            self._call_soon(function)

    def _work(self, function: Callable[[], Any]) -> None:
        try:
            self._outcome = function()
        except BaseException as error:  # noqa: BLE001 - the user's; it is raised where the call is awaited
            self._outcome = Failure(error)
        try:
            self._call_soon(self._end)
        except RuntimeError:  # the event loop is gone, and with it the task that awaited this
            self._threads.free_place(self)

    def _end(self) -> None:
        self._threads.free_place(self)
        self.ended.set()


def _copy_context() -> contextvars.Context:
    """Copy the context for a thread, in which no event loop runs, so that a function may run one there."""
    context = contextvars.copy_context()
    sniffio: Any = sys.modules.get("sniffio")
    if sniffio is not None:  # as anyio's own threads do
        context.run(sniffio.current_async_library_cvar.set, None)
    return context


def find_event_loop() -> CallSoon:
    """Return what has the running event loop call a function."""
    if (token := _find_trio_token()) is not None:
        call_soon: CallSoon = token.run_sync_soon
        return call_soon
    return asyncio.get_running_loop().call_soon_threadsafe


def is_in_trio() -> bool:
    """Whether the event loop that runs is trio's."""
    return _find_trio_token() is not None


def _find_trio_token() -> Any:
    trio: Any = sys.modules.get("trio")
    if trio is None:
        return None
    try:
        return trio.lowlevel.current_trio_token()
    except RuntimeError:  # imported, and not what runs
        return None
