"""Event loops that count their steps, and whose time passes only while nothing else can happen.

`run_stepwise(main, backend, step, is_busy)` runs a coroutine function on asyncio or trio.  Before each step of a task
`step` is called.  A clock that nobody waits for does not move; where all wait, it jumps to the next timer.
Functions in threads are waited for while `is_busy` says so, in real time; what they report comes when all else is done.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import trio


class SteppingLoop(asyncio.SelectorEventLoop):
    """An asyncio loop that counts callbacks, which is what steps of tasks are here."""

    def __init__(self, step: Callable[[], None], is_busy: Callable[[], bool]) -> None:
        self._step, self._is_busy = step, is_busy
        self._now = 0.0
        self._from_threads: deque[tuple[Any, Any, Any]] = deque()
        self._arrived = threading.Event()
        self.unhandled: list[Any] = []
        super().__init__()
        self.set_exception_handler(lambda _, context: self.unhandled.append(context))

    def time(self) -> float:
        return self._now

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Any:
        return super().call_soon(self._run_step, callback, args, context=context)

    def _run_step(self, callback: Any, args: Any) -> None:
        self._step()
        callback(*args)

    def call_soon_threadsafe(self, callback: Any, *args: Any, context: Any = None) -> Any:
        self._from_threads.append((callback, args, context))
        self._arrived.set()

    def _run_once(self) -> None:
        while not self._ready and not self._from_threads and self._is_busy():
            self._arrived.wait(60)
            self._arrived.clear()
        if not self._ready:
            timers = [timer._when for timer in self._scheduled if not timer._cancelled]
            if self._from_threads:
                callback, args, context = self._from_threads.popleft()
                super().call_soon(callback, *args, context=context)
            else:
                assert timers, "all wait, and nothing will ever happen"
                self._now = max(self._now, min(timers))
        super()._run_once()


class SteppingClock(trio.abc.Clock, trio.abc.Instrument):
    """The same for trio."""

    def __init__(self, step: Callable[[], None], is_busy: Callable[[], bool]) -> None:
        self._step, self._is_busy = step, is_busy
        self._now = 0.0

    def before_task_step(self, _: Any) -> None:
        self._step()

    def start_clock(self) -> None:
        pass

    def current_time(self) -> float:
        return self._now

    def deadline_to_sleep_time(self, deadline: float) -> float:
        """Asked only when no task can go on."""
        if self._is_busy() or deadline == float("inf"):
            return 60.0  # until a thread reports, or trio itself ends
        self._now = max(self._now, deadline)
        return 0.0


def run_stepwise(
    main: Callable[[], Awaitable[None]], backend: str, step: Callable[[], None], is_busy: Callable[[], bool]
) -> None:
    """Run a coroutine function to its end; fails if anything was raised where nobody hears it."""
    if backend == "trio":
        clock = SteppingClock(step, is_busy)
        anyio.run(main, backend="trio", backend_options={"clock": clock, "instruments": [clock]})
        return
    loops: list[SteppingLoop] = []

    def make_loop() -> SteppingLoop:
        loops.append(SteppingLoop(step, is_busy))
        return loops[0]

    anyio.run(main, backend="asyncio", backend_options={"loop_factory": make_loop})
    assert loops[0].unhandled == []
