"""The way of nearly every read: a chunk that is one plain message goes through the same rooms, nothing in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from streamparse.frames import BaseFramer, Mould, mould_of
from streamparse.reading.wire import Wire

__all__ = ["ShortWay"]

_PATIENCE: Final = 16
_REST: Final = 1000
"""After so many messages in a row of which none had the form of the one before, so many are not looked at."""


class ShortWay:
    """What takes chunks that are one plain message each: without a list of frames and, if they are alike, undecoded.

    `mould` is the form of the message before, if that told one string and nothing else; `tell` tells such a string.
    A form is learnt only if the wire `learns`, and for the next `rest` messages none is.
    """

    def __init__(self, framer: BaseFramer, wire: Wire) -> None:
        self.single = framer.single
        self.undo = framer.undo
        self.decode = wire.decode
        self.take = wire.take
        self.mould: Mould | None = None
        self.tell: Callable[[str], None]
        self.learns = wire.plain is not None
        self.rest = 0
        self._wire: Any = wire
        self._framer = framer
        self._patience = _PATIENCE
        self._looked = 0  # at so many singles

    def learn(self, chunk: bytes, message: Any) -> None:
        """Keep the form of a message that is taken now, if it may serve for the next ones."""
        self.mould = None
        fitted = self._framer.singles > self._looked + 1
        self._looked = self._framer.singles
        self._patience = _PATIENCE if fitted else self._patience - 1
        if not self._patience:
            self.rest, self._patience = _REST, _PATIENCE
        elif (plain := self._wire.plain(message)) is not None:
            self.tell, string = plain
            self.mould = mould_of(self._framer, chunk, string)

    def interrupt(self) -> None:
        """Something else comes in between: what the messages alike did before need not hold any more."""
        self.mould = None
