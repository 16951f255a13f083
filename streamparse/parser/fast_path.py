"""The way of nearly every read: a chunk that is one plain message goes through the same rooms, with nothing in between."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from streamparse.frames import Framer, FrameTemplate
from streamparse.providers.wires import RegularWire, Wire

_MAX_MISSES: Final = 16
"""After so many messages in a row of which none had the form of the one before, no form is learnt for a while."""
_COOLDOWN: Final = 1000
"""How long: messages."""


class FastPath:
    """Takes chunks that are one plain message each: without a list of frames and, if they are alike, undecoded.

    `template` is the form of the message before, if that held one string and nothing else, and `tell` passes such a
    string on.  Forms are learnt from the message number `learns_from` on, as `framer.singles` counts, and only if the
    wire says which of its messages are like that.
    """

    def __init__(self, framer: Framer, wire: Wire) -> None:
        self.framer = framer
        self.try_single = framer.try_single
        self.decode = wire.decode
        self.take = wire.take
        self.template: FrameTemplate | None = None
        self.tell: Callable[[str], None]
        self.learns_from = 0 if isinstance(wire, RegularWire) else sys.maxsize
        self._wire: Any = wire
        self._misses_left = _MAX_MISSES
        self._learnt_at = 0  # the number of the message that a form was looked for in last

    def learn(self, chunk: bytes, message: Any) -> None:
        """Keep the form of a message that is taken now, if it may serve for the next ones."""
        self.template = None
        number = self.framer.singles
        was_fit = number > self._learnt_at + 1
        self._learnt_at = number
        self._misses_left = _MAX_MISSES if was_fit else self._misses_left - 1
        if not self._misses_left:
            self.learns_from, self._misses_left = number + 1 + _COOLDOWN, _MAX_MISSES
        elif (plain := self._wire.plain(message)) is not None:
            self.tell, string = plain
            self.template = FrameTemplate.learn(self.framer, chunk, string)

    def reset(self) -> None:
        """Forget the form: once something else came between, a message like the one before may mean something else."""
        self.template = None
