"""An argument that a function reads while the model still writes it."""

from __future__ import annotations

import typing
from collections.abc import AsyncIterator
from typing import Annotated, Any, Generic, TypeVar

__all__ = ["CallBroken", "Streamed", "is_streamed", "read_streamed"]

Text = TypeVar("Text")


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

        @sp.tool(effect="idempotent", lock="path")
        async def write_file(path: str, content: sp.Streamed[str]) -> str:
            with open(path + ".part", "w") as part:
                async for text in content:
                    part.write(text)
            os.replace(path + ".part", path)  # only now the call counts
            return "written"

    It ends when the call counts: it is whole, has passed the gate, and its effect's moment has come.  Until then the
    function must do nothing that cannot be undone.  If the call will never count, `CallBroken` is raised instead.

    The function may be called with the whole text at once: if its effect is "once", if somebody must approve it, if
    it is tried again.  If a call turns out to differ from what was opened, the function is broken off, and called anew.
    """

    def __init__(self, pieces: AsyncIterator[Text]) -> None:
        self._pieces = pieces

    @classmethod
    def of(cls, *pieces: Text) -> Streamed[Text]:
        """Make one of pieces that are there already, to call a function by hand."""
        return cls(_Pieces(pieces))

    def __anext__(self) -> typing.Awaitable[Text]:
        return self._pieces.__anext__()


class _Pieces(AsyncIterator[Text]):
    """Pieces that are there already; no generator, of which trio complains if it is not read to its end."""

    def __init__(self, pieces: tuple[Text, ...]) -> None:
        self._pieces = iter(pieces)

    async def __anext__(self) -> Text:
        for piece in self._pieces:
            return piece
        raise StopAsyncIteration


def is_streamed(annotation: Any) -> bool:
    """Whether a parameter of this annotation is streamed."""
    while typing.get_origin(annotation) is Annotated:
        annotation = annotation.__origin__
    return annotation is Streamed or typing.get_origin(annotation) is Streamed


def read_streamed(annotation: Any) -> Any:
    """Return the annotation of the whole text.  Raises TypeError if it is not a text that is streamed."""
    if typing.get_origin(annotation) is Annotated:
        return Annotated[(read_streamed(annotation.__origin__), *annotation.__metadata__)]
    if typing.get_args(annotation) not in ((), (str,)):
        raise TypeError(f"only texts are streamed: Streamed[str], not {annotation}")
    return str
