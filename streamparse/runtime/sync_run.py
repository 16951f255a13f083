"""Runs tools in a plain `for` loop over the events of a synchronous SDK.

    stream = streamparse.iter_events(client.chat.completions.create(..., stream=True), "openai-chat", tools=tools)
    run = streamparse.run_tools(stream, tools)
    for item in run: ...
    messages += [as_message(stream.parser.response, "openai"), *adapter.format_results(run.results)]

The tools run on an event loop in a thread of its own, from the byte on that lets them begin, while the loop waits for
the model.  The caller's thread reads the source: each event is handed over, and what has come by then is yielded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, Self, Unpack

import anyio
import anyio.lowlevel
from anyio.from_thread import BlockingPortal, start_blocking_portal

from streamparse.runtime.facts import ApprovalRequest
from streamparse.runtime.run import Batch, Item, Run
from streamparse.runtime.runner import RunnerOptions, ToolRunner
from streamparse.tools import ToolResult


def run_tools(
    events: Iterable[Batch], tools: Iterable[Any] | None, *, deps: Any = None, **options: Unpack[RunnerOptions]
) -> SyncRun:
    """Return the items of one answer, whose tools run while its events still arrive.

    `events` are those of `iter_events`, one by one or in lists; the items are what `ToolRunner.run` yields, and
    `options` are those of `ToolRunner`.  `results` has one for each call, in call order, once the loop is over.
    An `ApprovalRequest` is answered with `approve` or `deny` of what is returned.  What the source raises is raised
    after the last result.  Leaving the loop early cancels what runs; `close()` or a `with` block does so at a moment of
    your choice.
    """
    return SyncRun(iter(events), ToolRunner(tools, **options), deps)


class _Source(AsyncIterator[Batch]):
    """What the caller's thread hands over, for the reader on the event loop."""

    def __init__(self) -> None:
        self._batches: deque[Batch] = deque()
        self._changed = anyio.Event()
        self._is_over = False
        self._failure: BaseException | None = None
        self.is_waited_for = anyio.Event()  # the reader has taken all that was handed over

    def put(self, batch: Batch) -> None:
        self._batches.append(batch)
        self.is_waited_for = anyio.Event()
        self._wake()

    def end(self, failure: BaseException | None) -> None:
        self._is_over, self._failure = True, failure
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = anyio.Event()

    async def __anext__(self) -> Batch:
        while not self._batches:
            if self._is_over:
                self.is_waited_for.set()
                if self._failure is not None:
                    raise self._failure
                raise StopAsyncIteration
            self.is_waited_for.set()
            await self._changed.wait()
        return self._batches.popleft()


class SyncRun(Iterator[Item], AbstractContextManager["SyncRun", None]):
    """The items of one answer, in a plain loop; made by `run_tools`."""

    def __init__(self, events: Iterator[Batch], runner: ToolRunner, deps: Any) -> None:
        self._events: Iterator[Batch] | None = events
        self._runner = runner
        self._deps = deps
        self._stack = ExitStack()
        self._portal: BlockingPortal | None = None
        self._source: _Source
        self._run: Run
        self._items: deque[Item] = deque()
        self._is_over = False

    @property
    def results(self) -> list[ToolResult]:
        """The results there are so far, in call order; once the loop is over, one for each call."""
        return self._runner.results

    def approve(self, request: ApprovalRequest) -> None:
        """Let a call run; raises ValueError if the run does not wait for that answer."""
        self._open().call(self._run.approve, request)

    def deny(self, request: ApprovalRequest, why: str = "") -> None:
        """Do not let a call run; the model reads why.  Raises as `approve` does."""
        self._open().call(self._run.deny, request, why)

    def close(self) -> None:
        """Cancel what still runs, wait for its end, and close the source; a second time does nothing."""
        events, self._events = self._events, None
        self._is_over = True
        try:
            _close(events)
        finally:
            self._stack.close()
            self._portal = None

    def __next__(self) -> Item:
        while not self._items:
            if self._is_over:
                raise StopIteration
            self._go_on()
        return self._items.popleft()

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()

    def __enter__(self) -> Self:
        return self

    def __del__(self) -> None:
        if self._portal is not None:  # the loop was left early
            self.close()

    def _open(self) -> BlockingPortal:
        if self._portal is None:
            if self._is_over:
                raise RuntimeError("this run is over")
            self._portal = portal = self._stack.enter_context(start_blocking_portal())
            self._stack.enter_context(portal.wrap_async_context_manager(self._runner))
            portal.call(self._begin)
        return self._portal

    def _begin(self) -> None:
        self._source = _Source()
        self._run = self._runner.run(self._source, deps=self._deps)

    def _go_on(self) -> None:
        """Read on, or wait for the next item once the source has ended."""
        portal = self._open()
        if self._events is None:
            try:
                self._items.append(portal.call(self._run.__anext__))
            except StopAsyncIteration:
                self.close()
            except BaseException:
                self.close()
                raise
            return
        try:
            batch = next(self._events)
        except StopIteration:
            self._events = None
            portal.call(self._source.end, None)
        except BaseException as error:
            self._events = None
            if not isinstance(error, Exception):  # the user's Ctrl-C
                self.close()
                raise
            portal.call(self._source.end, error)
        else:
            self._items.extend(portal.call(self._take, batch))
            if self._run.is_over:  # its time, say
                events, self._events = self._events, None
                _close(events)

    async def _take(self, batch: Batch) -> list[Item]:
        """Hand a batch over; return the items that have come once the reader has taken it."""
        self._source.put(batch)
        items: list[Item] = []
        while not (self._source.is_waited_for.is_set() or self._run.is_over):
            items += self._run.take_now()  # else a full buffer would stop the reader
            await anyio.lowlevel.checkpoint()
        return [*items, *self._run.take_now()]


def _close(events: object) -> None:
    if callable(close := getattr(events, "close", None)):
        close()
