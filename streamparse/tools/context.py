"""What a tool's function may know of the call that it runs for."""

from __future__ import annotations

import re
import typing
from collections.abc import Awaitable, Callable, Generator
from typing import Any, Final, Generic, TypeVar

from streamparse.tools.result import StateChange

__all__ = ["ToolContext", "is_context"]

MAX_CHANGES: Final = 1000
MAX_PATH: Final = 4096
_SURROGATE: Final = re.compile("[\ud800-\udfff]")

Deps = TypeVar("Deps")


class _Nothing(Awaitable[None]):
    """Nothing to wait for; unlike a coroutine it need not be awaited."""

    def __await__(self) -> Generator[Any, Any, None]:
        return
        yield


def _report_nothing(_value: Any) -> Awaitable[None]:
    return _Nothing()


class ToolContext(Generic[Deps]):
    """The call that a tool runs for.

    A function gets it as the parameter that is annotated so; the model does not see that parameter:

        @sp.tool
        async def fetch(url: str, ctx: sp.ToolContext[Client]) -> str:
            await ctx.progress("connecting")
            return await ctx.deps.get(url, timeout=30)

    `id` is the call's id on the wire, `idempotency_key` one that no other call has and that stays the same over
    attempts.  `attempt` counts from 1.  `deadline` is when the call's time is over, in seconds of the runner's clock,
    None if it may take for ever, or while an argument is still being written.  `deps` is what was given to `run`.
    """

    __slots__ = ("_is_cancelled", "_report", "attempt", "deadline", "deps", "id", "idempotency_key", "state_changes")

    def __init__(
        self,
        id: str,
        idempotency_key: str,
        attempt: int,
        deadline: float | None,
        deps: Deps,
        *,
        is_cancelled: Callable[[], bool] = lambda: False,
        report: Callable[[Any], Awaitable[None]] = _report_nothing,
    ) -> None:
        self.id = id
        self.idempotency_key = idempotency_key
        self.attempt = attempt
        self.deadline = deadline
        self.deps = deps
        self.state_changes: list[StateChange] = []
        self._is_cancelled = is_cancelled
        self._report = report

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the call any more.

        Coroutines are cancelled by the event loop; a function in a thread cannot be, so it should look here.
        """
        return self._is_cancelled()

    def changed(self, type: str, path: str) -> None:
        """Report what the call did to the world: `ctx.changed("FileModified", path)`.

        It stands in the result's `state_changes`, whether the tool then succeeds or not.  From any thread.  The first
        1000 of a call are kept, and one after them that says so.
        """
        if len(self.state_changes) < MAX_CHANGES:
            self.state_changes.append(StateChange(_make_text(type), _make_text(path)))
        elif len(self.state_changes) == MAX_CHANGES:
            self.state_changes.append(StateChange("MoreChanges", ""))

    def progress(self, value: Any) -> Awaitable[None]:
        """Show something of what goes on, as an item of the run; of several that were not yet read the latest stays.

        A coroutine awaits it; a function in a thread just calls it.  Raises ValueError for what JSON cannot hold.
        """
        return self._report(value)


def _make_text(value: object) -> str:
    """A text that JSON can hold: a file's name may hold half a surrogate pair."""
    return _SURROGATE.sub("\ufffd", str(value)[:MAX_PATH])


def is_context(annotation: Any) -> bool:
    """Whether a parameter of this annotation takes the context."""
    return annotation is ToolContext or typing.get_origin(annotation) is ToolContext
