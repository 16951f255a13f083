"""Calls code that is not ours: whatever it does, an answer comes back, and never an exception.

Only our own cancellation and the user's Ctrl-C pass through.
"""

from __future__ import annotations

import inspect
import math
import traceback
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import anyio
import anyio.to_thread
import msgspec

from streamparse.tools import InvalidArguments, Tool, bind

__all__ = ["Failure", "attempt", "execute"]

T = TypeVar("T")

MAX_ERROR = 2000
"""Characters of a tool's own error that the model gets to see."""


class Failure(NamedTuple):
    """What foreign code raised."""

    error: BaseException


class UnusableResult(ValueError):
    """A value that cannot be handed to the model; the message is written for the model."""


async def attempt(work: Callable[[], Awaitable[T]]) -> T | Failure:
    """Await foreign work; what it raises becomes a value."""
    try:
        return await work()
    except BaseException as error:
        if _passes_through(error):
            raise
        return Failure(error)


def _passes_through(error: BaseException) -> bool:
    """Whether an exception is more than a failure of the code that raised it.

    Foreign code may raise a cancellation of its own (an awaited task was cancelled); it is ours
    only if a scope around us is cancelled.
    """
    if isinstance(error, Exception):
        return False
    if anyio.current_effective_deadline() == -math.inf:
        return True
    group = error if isinstance(error, BaseExceptionGroup) else BaseExceptionGroup("", [error])
    return group.subgroup((KeyboardInterrupt, GeneratorExit)) is not None


async def execute(
    tool: Tool, arguments: dict[str, Any], timeout: float | None, max_result: int
) -> tuple[Any, str | None]:
    """Run a tool; returns its result as JSON values, or None and an error for the model.

    Synchronous functions run in a worker thread, which a timeout or a cancellation leaves behind.
    """
    seconds = timeout if tool.timeout is None else tool.timeout
    with anyio.move_on_after(seconds):
        answer = await attempt(partial(_answer, tool, arguments, max_result))
        if isinstance(answer, Failure):
            return None, _describe(answer.error)
        return answer, None
    return None, f"the tool timed out after {seconds:g} s"


async def _answer(tool: Tool, arguments: dict[str, Any], max_result: int) -> Any:
    function = tool.function
    assert function is not None
    values = bind(tool, arguments)
    if _is_async(function):
        value = await function(**values)
    else:
        # No shared limiter: a thread that hangs must not take the place of another.
        alone = anyio.CapacityLimiter(1)
        call = partial(_boxed, function, values)
        (value,) = await anyio.to_thread.run_sync(call, abandon_on_cancel=True, limiter=alone)
        if inspect.isawaitable(value):
            value = await value
    return _json_value(value, max_result)


def _boxed(function: Callable[..., Any], values: dict[str, Any]) -> tuple[Any]:
    """Call in a thread; boxed, because trio refuses a thread that returns a coroutine."""
    return (function(**values),)


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _json_value(value: Any, max_result: int) -> Any:
    """Reduce a value to what JSON has.  Raises UnusableResult if that cannot be done, or if it is too large."""
    if isinstance(value, (str, bytes, bytearray)):
        _check_size(len(value), max_result)  # before anything copies it
    try:
        encoded = msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise UnusableResult(f"the tool's result is not JSON: {error}") from error
    if isinstance(value, str):
        return value
    _check_size(len(encoded), max_result)
    return msgspec.json.decode(encoded)


def _check_size(size: int, most: int) -> None:
    if size > most:
        raise UnusableResult(f"the tool's result is too large: {size} characters, at most {most} are allowed")


def _describe(error: BaseException) -> str:
    if isinstance(error, (InvalidArguments, UnusableResult)):
        return str(error)
    # Unlike str(), this survives an exception whose own __str__ raises.
    return "".join(traceback.format_exception_only(error)).strip()[:MAX_ERROR]
