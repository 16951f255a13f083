"""Calls code that is not ours: whatever it does, an answer comes back, and never an exception.

Only our own cancellation and the user's Ctrl-C pass through.

A function may read an argument while the model still writes it.  Reading the answer waits for no tool, so the pieces
that a slow function has not taken are joined; the parser's limit for one call bounds what they hold together.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.lowlevel

from streamparse.findings import describe_exception, unwrap_group
from streamparse.json import PartialReader
from streamparse.runtime.admission import copy_arguments, find_needed
from streamparse.runtime.error_kinds import find_kind
from streamparse.runtime.facts import Open, Start
from streamparse.runtime.retries import resolve_retry_after
from streamparse.runtime.threads import Failure, Job, Threads
from streamparse.runtime.values import UnusableResult, cut_text, reduce_value
from streamparse.tools import CallBroken, Streamed, ToolContext, ToolError, ToolFailure
from streamparse.tools.declaration import InvalidArguments, Tool, bind
from streamparse.tools.signature import is_async

T = TypeVar("T")

MAX_ERROR = 2000  # bound: characters of a tool's own error that are kept; the model gets to see fewer


class ExitStack(AsyncExitStack):
    """An AsyncExitStack that never raises an exception that is its own context.

    The standard one makes it so where two blocks raise the same cancellation while another exception is handled.  The
    task groups of anyio follow the contexts of a cancellation, and would never come to an end of them.
    """

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> bool | None:
        try:
            return await super().__aexit__(kind, error, trace)
        except BaseException as raised:
            if raised.__context__ is raised:
                raised.__context__ = None
            raise


async def attempt(work: Callable[[], Awaitable[T]]) -> T | Failure:
    """Await foreign work; what it raises becomes a value."""
    task = _find_task_id()
    try:
        return await work()
    except BaseException as error:
        if _is_ours(error, task):
            raise
        return Failure(error)


def _is_ours(error: BaseException, task: int | None) -> bool:
    """Whether an exception is our own cancellation or the user's Ctrl-C; `task` is the one that the code began in.

    Foreign code may raise a cancellation of its own (an awaited task was cancelled); it is ours only if a scope around
    us is cancelled.  It may raise GeneratorExit; ours comes from the code that closes this coroutine, which is not in
    its task.  Whatever else it raises while it is cancelled is its failure.
    """
    if isinstance(error, Exception):
        return False
    if task is None or _find_task_id() != task:
        return True
    group = error if isinstance(error, BaseExceptionGroup) else BaseExceptionGroup("", [error])
    if group.subgroup(KeyboardInterrupt) is not None:
        return True
    _, others = group.split(anyio.get_cancelled_exc_class())
    return others is None and anyio.current_effective_deadline() == -math.inf


def _find_task_id() -> int | None:
    """Return the id of the running task; None outside of all tasks."""
    try:
        return anyio.get_current_task().id
    except (RuntimeError, AttributeError):  # no event loop runs; asyncio's runs no task
        return None


class Outcome(NamedTuple):
    """The outcome of calling a tool: JSON values, or a failure."""

    value: Any = None
    failure: ToolFailure | None = None
    truncated: bool = False


class OpenText(AsyncIterator[str]):
    """Pieces of a text for one reader; `end` ends it, `break_off` breaks it off."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._digest = hashlib.sha256()
        self._size = 0
        self._is_over = False
        self._broken: str | None = None
        self._changed: anyio.Event | None = None

    def put(self, text: str) -> None:
        """Add a piece."""
        if text and self._broken is None:
            self._digest.update(text.encode("utf-8", "surrogatepass"))
            self._size += len(text)
            self._pieces.append(text)
            self._wake()

    def has_put(self, text: object) -> bool:
        """Whether the pieces so far are this text."""
        if not isinstance(text, str) or len(text) != self._size:
            return False
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() == self._digest.digest()

    def end(self) -> None:
        """Say that no piece follows, and that the text counts."""
        self._is_over = True
        self._wake()

    def break_off(self, reason: str) -> None:
        """Have the reader raise `CallBroken`, whatever it has not read yet."""
        if not self._is_over:
            self._broken = reason
            self._pieces.clear()
            self._wake()

    async def __anext__(self) -> str:
        await anyio.lowlevel.checkpoint()
        while not self._pieces:
            if self._broken is not None:
                raise CallBroken(self._broken)
            if self._is_over:
                await anyio.lowlevel.checkpoint_if_cancelled()  # the end is the beginning of the call
                raise StopAsyncIteration
            await self._wait()
        text = "".join(self._pieces)
        self._pieces.clear()
        return text

    async def _wait(self) -> None:
        self._changed = changed = self._changed or anyio.Event()
        try:
            await changed.wait()
        except anyio.get_cancelled_exc_class():
            if self._broken is None:
                raise
            raise CallBroken(self._broken) from None  # the cancellation reaches the next thing that it waits for

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None


class OpenCall:
    """Reads the arguments of a call as they come.

    `texts` are those that are streamed.  `is_offered` says that the turn knows that the function may be called.
    """

    def __init__(self, tool: Tool) -> None:
        self.texts: dict[str, OpenText] = {name: OpenText() for name in tool.streamed}
        self.is_offered: bool = False
        self._needed = find_needed(tool)
        self._required = tool.streamed & tool.required
        self._reader = PartialReader(streamed=tool.streamed, on_text=lambda name, text: self.texts[name].put(text))
        self.decided: anyio.Event = anyio.Event()  # the call counts, or does not

    def feed(self, fragment: str) -> dict[str, Any] | None:
        """Read on; return the arguments that are closed, once: when a text has begun and those needed are there."""
        self._reader.feed(fragment)
        members = self._reader.members
        if self.is_offered or not self._reader.begun or self._reader.is_odd or not self._needed <= members.keys():
            return None
        self.is_offered = True
        return dict(members)

    @property
    def streamed(self) -> tuple[str, ...]:
        """The names of the texts that have begun, and of those that must come."""
        return tuple(sorted(self._reader.begun | self._required))

    def is_part_of(self, arguments: dict[str, Any]) -> bool:
        """Whether the texts are those that the whole call has."""
        return all(self.texts[name].has_put(arguments.get(name)) for name in self._reader.begun)

    def end(self) -> None:
        """The call counts: end its texts."""
        for text in self.texts.values():
            text.end()
        self.decided.set()

    def break_off(self, reason: str) -> None:
        """The call does not count: have the function end."""
        for text in self.texts.values():
            text.break_off(reason)
        self.decided.set()


class Execution:
    """One attempt of a call; `job` is its thread, if its function is a synchronous one.

    `call` is there if the function was opened, while arguments of it were still being written.
    `context` is set by the run.
    """

    context: ToolContext[Any]

    def __init__(self, start: Start | Open, tool: Tool, threads: Threads, call: OpenCall | None = None) -> None:
        self.start = start
        self.tool = tool
        self.call = call
        self.scope: anyio.CancelScope = anyio.CancelScope()
        assert tool.function is not None
        self.function: Callable[..., Any] = tool.function
        self.job: Job | None = None if is_async(tool.function) else Job(f"streamparse tool {tool.name}", threads)
        self.has_begun = False
        self.partial: Any = None
        self._was_cancelled = False

    @property
    def is_cancelled(self) -> bool:
        """Whether the result is of no use any more.  May be read from any thread, which trio's own scopes may not."""
        return self._was_cancelled or (self.job is not None and self.job.is_abandoned)

    def begin(self, start: Start) -> None:
        """The call that was opened counts: end its streamed arguments."""
        assert self.call is not None
        self.context.deadline = start.deadline
        self.call.end()

    def break_off(self, reason: str) -> None:
        """Have a function end that was opened."""
        assert self.call is not None
        self.call.break_off(reason)

    def cancel(self) -> None:
        """Cancel the coroutine, or abandon the thread."""
        self._was_cancelled = True
        self.scope.cancel()

    async def run(self, max_result: int) -> Outcome:
        """Call the function; of an opened one, return once it is decided whether the call counts."""
        outcome = await attempt(partial(self._call, max_result))
        if isinstance(outcome, Failure):
            outcome = Outcome(failure=_describe_safely(outcome.error, max_result))
        if isinstance(self.start, Open) and self.call is not None:
            await self.call.decided.wait()
        return outcome

    async def _call(self, max_result: int) -> Outcome:
        arguments = self._bind()
        if self.job is None:
            value = await self.function(**arguments)
        else:
            value = await self.job.run(partial(self.function, **arguments))
            if isinstance(value, Failure):  # a coroutine that raises one of these says something else by it
                is_odd = isinstance(unwrap_group(value.error), (StopIteration, GeneratorExit, KeyboardInterrupt))
                raise value.error if not is_odd else RuntimeError(repr(value.error))
            if inspect.isawaitable(value):
                value = await value
        reduced = reduce_value(value, max_result)
        if reduced.is_cut and self.tool.ends:  # the program would take a part of its output for the whole
            raise UnusableResult(f"the answer is too large: at most {max_result} characters are allowed")
        return Outcome(reduced.value, truncated=reduced.is_cut)

    def _bind(self) -> dict[str, Any]:
        """Make the function's arguments from the call's."""
        tool, arguments = self.tool, copy_arguments(self.start.arguments)
        if isinstance(self.start, Open):
            assert self.call is not None
            values: dict[str, Any] = bind(tool, arguments, without_streamed=True)
            values |= {name: Streamed(self.call.texts[name]) for name in self.start.streamed}
        else:
            values = bind(tool, arguments)
            for name in tool.streamed & values.keys():
                values[name] = Streamed.of(values[name]) if values[name] else Streamed.of()
        if tool.signature is not None and tool.signature.context is not None:
            values[tool.signature.context] = self.context
        return values


def _describe_safely(error: BaseException, max_result: int) -> ToolFailure:
    try:
        return _describe(unwrap_group(error), max_result)
    except Exception as fault:  # noqa: BLE001 - the user's: a subclass without `details`, a message that is no text
        message = f"{type(error).__name__}, which cannot be described: {type(fault).__name__}"
        return ToolFailure("execution", message)


def _describe(error: BaseException, max_result: int) -> ToolFailure:
    if isinstance(error, ToolError):
        details = _reduce_details(resolve_retry_after(error.details, time.time()), max_result)
        message = cut_text(error.message, MAX_ERROR)
        return ToolFailure(error.kind, message, error.code, details, error.recoverable, error.suggestion)
    if isinstance(error, InvalidArguments):
        return ToolFailure("validation", str(error), "invalid_value")
    if isinstance(error, UnusableResult):
        return ToolFailure("execution", str(error), "bad_result")
    return ToolFailure(find_kind(error), cut_text(describe_exception(error), MAX_ERROR))


def _reduce_details(details: dict[str, Any], max_result: int) -> dict[str, Any]:
    try:
        reduced = reduce_value(details, max_result).value
    except UnusableResult as error:
        return {"left_out": str(error)}
    return reduced if isinstance(reduced, dict) else {"cut": reduced}
