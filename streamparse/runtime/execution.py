"""Calls code that is not ours: whatever it does, an answer comes back, and never an exception.

Only our own cancellation and the user's Ctrl-C pass through.
"""

from __future__ import annotations

import inspect
import math
import time
import traceback
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

import anyio

from streamparse.runtime.admission import copy_arguments
from streamparse.runtime.facts import Open
from streamparse.runtime.open_call import OpenCall
from streamparse.runtime.retries import resolve_retry_after
from streamparse.runtime.threads import Job, Raised
from streamparse.runtime.values import UnusableResult, cut_text, reduce_value
from streamparse.tools import InvalidArguments, Streamed, Tool, ToolContext, ToolError, ToolFailure, bind, bind_others

T = TypeVar("T")

MAX_ERROR = 2000
"""Characters of a tool's own error that are kept; the model gets to see fewer."""


class Failure(NamedTuple):
    """What foreign code raised."""

    error: BaseException


async def attempt(work: Callable[[], Awaitable[T]]) -> T | Failure:
    """Await foreign work; what it raises becomes a value."""
    task = _find_task()
    try:
        return await work()
    except BaseException as error:
        if _passes_through(error, task):
            raise
        return Failure(error)


def _passes_through(error: BaseException, task: int | None) -> bool:
    """Whether an exception is more than a failure of the code that raised it; `task` is the one that it began in.

    Foreign code may raise a cancellation of its own (an awaited task was cancelled); it is ours only if a scope around
    us is cancelled.  It may raise GeneratorExit; ours comes from whoever closes this coroutine, and that is not its
    task.  Whatever else it raises while it is cancelled is its failure.
    """
    if isinstance(error, Exception):
        return False
    if task is None or _find_task() != task:
        return True
    group = error if isinstance(error, BaseExceptionGroup) else BaseExceptionGroup("", [error])
    if group.subgroup(KeyboardInterrupt) is not None:
        return True
    _, others = group.split(anyio.get_cancelled_exc_class())
    return others is None and anyio.current_effective_deadline() == -math.inf


def _find_task() -> int | None:
    """Return what tells the running task from others; None outside of all tasks."""
    try:
        return anyio.get_current_task().id
    except (RuntimeError, AttributeError):  # no event loop runs; asyncio's runs no task
        return None


class Outcome(NamedTuple):
    """What came of calling a tool: JSON values, or a failure."""

    value: Any = None
    failure: ToolFailure | None = None
    truncated: bool = False


async def execute(
    tool: Tool, arguments: dict[str, Any], context: ToolContext[Any], max_result: int, job: Job | None
) -> Outcome:
    """Call a tool; `job` is the thread that a synchronous function runs in, which a cancellation leaves behind."""
    return await _answer(partial(_call, tool, arguments, context, max_result, job), max_result)


async def execute_open(tool: Tool, start: Open, context: ToolContext[Any], max_result: int, call: OpenCall) -> Outcome:
    """Call a tool some of whose arguments are still being written; return once it is decided whether that counts."""
    outcome = await _answer(partial(_call_open, tool, start, context, max_result, call), max_result)
    await call.wait_until_decided()
    return outcome


async def _answer(work: Callable[[], Awaitable[Outcome]], max_result: int) -> Outcome:
    answer = await attempt(work)
    if not isinstance(answer, Failure):
        return answer
    try:
        return Outcome(failure=_describe(answer.error, max_result))
    except Exception as error:  # noqa: BLE001 - the user's: a subclass without `details`, a message that is no text
        told = f"{type(answer.error).__name__}, which cannot be described: {type(error).__name__}"
        return Outcome(failure=ToolFailure("execution", told))


async def _call(
    tool: Tool, arguments: dict[str, Any], context: ToolContext[Any], max_result: int, job: Job | None
) -> Outcome:
    function = tool.function
    assert function is not None
    values = {**bind(tool, copy_arguments(arguments)), **_bind_context(tool, context)}
    for name in tool.streamed & values.keys():
        values[name] = Streamed.of(values[name]) if values[name] else Streamed.of()
    if job is None:
        value = await function(**values)
    else:
        value = await job.run(partial(function, **values))
        if isinstance(value, Raised):  # a coroutine that raises one of these says something else by it
            is_odd = isinstance(value.error, (StopIteration, GeneratorExit, KeyboardInterrupt))
            raise value.error if not is_odd else RuntimeError(repr(value.error))
        if inspect.isawaitable(value):
            value = await value
    return _reduce_result(tool, value, max_result)


async def _call_open(tool: Tool, start: Open, context: ToolContext[Any], max_result: int, call: OpenCall) -> Outcome:
    assert tool.function is not None
    texts = {name: Streamed(call.texts[name]) for name in start.streamed}
    value = await tool.function(
        **bind_others(tool, copy_arguments(start.arguments)), **texts, **_bind_context(tool, context)
    )
    return _reduce_result(tool, value, max_result)


def _bind_context(tool: Tool, context: ToolContext[Any]) -> dict[str, Any]:
    name = None if tool.signature is None else tool.signature.context
    return {} if name is None else {name: context}


def _describe(error: BaseException, max_result: int) -> ToolFailure:
    if isinstance(error, ToolError):
        details = _reduce_details(resolve_retry_after(error.details, time.time()), max_result)
        message = cut_text(error.message, MAX_ERROR)
        return ToolFailure(error.kind, message, "raised", details, error.recoverable, error.suggestion)
    if isinstance(error, InvalidArguments):
        return ToolFailure("validation", str(error), "invalid_value")
    if isinstance(error, UnusableResult):
        return ToolFailure("execution", str(error), "bad_result")
    # Unlike str(), this survives an exception whose own __str__ raises.
    return ToolFailure("execution", cut_text("".join(traceback.format_exception_only(error)).strip(), MAX_ERROR))


def _reduce_result(tool: Tool, value: Any, max_result: int) -> Outcome:
    """Make JSON values of what a tool returned, no more of them than the model may get."""
    reduced = reduce_value(value, max_result)
    if reduced.is_cut and tool.ends:  # the program would take a part of its output for the whole
        raise UnusableResult(f"the answer is too large: at most {max_result} characters are allowed")
    return Outcome(reduced.value, truncated=reduced.is_cut)


def _reduce_details(details: dict[str, Any], max_result: int) -> dict[str, Any]:
    try:
        reduced = reduce_value(details, max_result).value
    except UnusableResult as error:
        return {"left_out": str(error)}
    return reduced if isinstance(reduced, dict) else {"cut": reduced}
