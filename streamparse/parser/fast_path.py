"""The way of nearly every read: a chunk that is one plain message goes through the same rooms, with nothing in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from streamparse.frames import BaseFramer, Mould, mould_of
from streamparse.providers.wires import RegularWire, Wire

_MAX_MISSES: Final = 16
"""So many messages in a row of which none had the form of the one before: then no form is learnt for a while."""
_COOLDOWN: Final = 1000
"""For so many messages."""


class FastPath:
    """Takes chunks that are one plain message each: without a list of frames and, if they are alike, undecoded.

    `template` is the form of the message before, if that held one string and nothing else, and `tell` takes such a
    string to the wire's sink.  A form is learnt only of wires that say which of their messages are like that.
    """

    def __init__(self, framer: BaseFramer, wire: Wire) -> None:
        self.template: Mould | None = None
        self.tell: Callable[[str], None]
        self._framer = framer
        self._single = framer.single
        self._decode = wire.decode
        self._take = wire.take
        self._wire: RegularWire[Any] | None = wire if isinstance(wire, RegularWire) else None
        self._cooldown = 0
        self._misses_left = _MAX_MISSES
        self._learnt_at = 0  # the number of the message that a form was looked for in last

    def take_message(self, chunk: bytes) -> bool:
        """Take a chunk, if it is one plain message.  May raise `Halt`."""
        data = self._single(chunk)
        if data is None:
            return False
        try:
            message = self._decode(data)
        except (ValueError, RecursionError):
            self._framer.undo(chunk)
            return False
        if self._cooldown:
            self._cooldown -= 1
        elif self._wire is not None:
            self.template = None
            number = self._framer.singles
            self._misses_left = _MAX_MISSES if number > self._learnt_at + 1 else self._misses_left - 1
            self._learnt_at = number
            if not self._misses_left:
                self._cooldown, self._misses_left = _COOLDOWN, _MAX_MISSES
            elif (plain := self._wire.plain(message)) is not None:
                self.tell, string = plain
                self.template = mould_of(self._framer, chunk, string)
        self._take(message)
        return True

    def reset(self) -> None:
        """Forget the form: once something else came between, a message like the one before may mean something else."""
        self.template = None
