"""What a tool's function may ask for: the context of its call, and arguments as a stream.

The model sees no parameter of type `ToolContext`, and a text where the function takes a `Streamed`.
"""

from __future__ import annotations

import typing
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from typing import Annotated, Any, Final, Generic, TypeVar

from streamparse.patterns import lazy_re
from streamparse.tools.result import StateChange

_MAX_CHANGES: Final = 1000  # bound: the changes that one call reports
_MAX_PATH: Final = 4096  # source: PATH_MAX of Linux
_SURROGATE: Final = lazy_re("[\ud800-\udfff]")

Deps = TypeVar("Deps")
Text = TypeVar("Text")


class _Nothing(Awaitable[None]):
    """An awaitable that is done at once; unlike a coroutine it need not be awaited."""

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
    None if it has no limit, or while an argument is still being written.  `deps` is what was given to `run`,
    `host` the agent's run that the call belongs to, None without an agent.
    """

    __slots__ = (
        "_is_cancelled",
        "_report",
        "attempt",
        "deadline",
        "deps",
        "host",
        "id",
        "idempotency_key",
        "state_changes",
    )

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
        host: Any = None,
    ) -> None:
        self.id: str = id
        self.idempotency_key: str = idempotency_key
        self.attempt: int = attempt
        self.deadline: float | None = deadline
        self.deps: Deps = deps
        self.state_changes: list[StateChange] = []
        self.host: Any = host
        self._is_cancelled = is_cancelled
        self._report = report

    @property
    def cancelled(self) -> bool:
        """Whether the result of the call is no longer wanted.

        Coroutines are cancelled by the event loop; a function in a thread cannot be, so it should look here.
        """
        return self._is_cancelled()

    def report_change(self, type: str, path: str) -> None:
        """Report what the call did to the world: `ctx.report_change("FileModified", path)`.

        It is added to the result's `state_changes`, whether the tool then succeeds or not.  Any thread may call it.
        The first 1000 of a call are kept, and one after them that says so.
        """
        if len(self.state_changes) < _MAX_CHANGES:
            self.state_changes.append(StateChange(_make_text(type), _make_text(path)))
        elif len(self.state_changes) == _MAX_CHANGES:
            self.state_changes.append(StateChange("MoreChanges", ""))

    def progress(self, value: Any) -> Awaitable[None]:
        """Report progress as an item of the run; of several that were not yet read only the latest is kept.

        A coroutine awaits it; a function in a thread just calls it.  Raises ValueError for what JSON cannot hold.
        """
        return self._report(value)


def _make_text(value: object) -> str:
    """Return a text that JSON can hold: a file's name may hold half a surrogate pair."""
    return _SURROGATE.sub("\ufffd", str(value)[:_MAX_PATH])


def is_context(annotation: Any) -> bool:
    """Whether a parameter of this annotation takes the context."""
    return annotation is ToolContext or typing.get_origin(annotation) is ToolContext


# -- streamed arguments ----------------------------------------------------------------------------


class CallBroken(Exception):
    """The call whose argument is being read does not count: it was cut, revoked, refused or cancelled.

    Raised by `Streamed`.  The function may undo what it has prepared; what it returns then is not used.  `reason` says
    why, in a sentence.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Streamed(AsyncIterator[Text], Generic[Text]):
    """The text of an argument in pieces, as the model writes it.

    A coroutine function gets it for a parameter that is annotated `Streamed[str]`; to the model that is a string.

        @sp.tool(effect="idempotent", lock=lambda arguments: os.path.normpath(arguments["path"]))
        async def write_file(path: str, content: sp.Streamed[str]) -> str:
            with open(path + ".part", "w") as part:
                async for text in content:
                    part.write(text)
            os.replace(path + ".part", path)  # only now the call counts
            return "written"

    It ends when the call counts: it is whole, has passed the gate, and its effect's moment has come.  Until then the
    function must do nothing that cannot be undone.  If the call will never count, `CallBroken` is raised instead.

    The function may be called with the whole text at once: if its effect is "write", if somebody must approve it, if
    it is tried again.  If a call turns out to differ from the one that was opened, the function is broken off, and
    called anew.
    """

    def __init__(self, pieces: AsyncIterator[Text]) -> None:
        self._pieces = pieces

    @classmethod
    def of(cls, *pieces: Text) -> Streamed[Text]:
        """Make one of given pieces, to call a function by hand."""
        return cls(_Pieces(pieces))

    def __anext__(self) -> typing.Awaitable[Text]:
        return self._pieces.__anext__()


class _Pieces(AsyncIterator[Text]):
    """Given pieces; not a generator, because trio warns about one that is not read to its end."""

    def __init__(self, pieces: tuple[Text, ...]) -> None:
        self._pieces = iter(pieces)

    async def __anext__(self) -> Text:
        for piece in self._pieces:
            return piece
        raise StopAsyncIteration


def read_streamed(annotation: Any) -> Any:
    """Return the annotation of the whole text of a streamed parameter, None for a parameter that is not streamed.

    Raises TypeError if the streamed argument is not a text.
    """
    if typing.get_origin(annotation) is Annotated:
        text = read_streamed(annotation.__origin__)
        return None if text is None else Annotated[(text, *annotation.__metadata__)]
    if Streamed not in (annotation, typing.get_origin(annotation)):
        return None
    if typing.get_args(annotation) not in ((), (str,)):
        raise TypeError(f"only texts are streamed: Streamed[str], not {annotation}")
    return str
