"""A call whose function reads an argument while the model still writes it: its text, on the way to the function.

Reading the answer waits for no tool, so the pieces that a slow function has not taken are joined; what they may hold
together is bounded by the parser's limit for one call.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Any

import anyio
import anyio.lowlevel

from streamparse.json import PartialReader
from streamparse.runtime.admission import find_needed
from streamparse.tools import CallBroken, Tool


class OpenText(AsyncIterator[str]):
    """Pieces of a text for one reader; it ends, or breaks off, when it is told to."""

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

    `texts` are those that are streamed.  `is_offered` says that the turn was told that the function may be called.
    """

    def __init__(self, tool: Tool) -> None:
        self.texts = {name: OpenText() for name in tool.streamed}
        self.is_offered = False
        self._needed = find_needed(tool)
        self._required = tool.streamed & frozenset(tool.parameters.get("required", ()))
        self._reader = PartialReader(streamed=tool.streamed, on_text=self._put)
        self._decided = anyio.Event()

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
        self._decided.set()

    def break_off(self, reason: str) -> None:
        """The call does not count: have the function end."""
        for text in self.texts.values():
            text.break_off(reason)
        self._decided.set()

    async def wait_until_decided(self) -> None:
        """Wait until the call counts, or does not."""
        await self._decided.wait()

    def _put(self, name: str, text: str) -> None:
        self.texts[name].put(text)
