"""Wires whose messages are mostly the same but for one string."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import msgspec

from streamparse.reading.messages import MessageWire

__all__ = ["Plain", "RegularWire"]

T = TypeVar("T", bound=msgspec.Struct)

Plain: TypeAlias = tuple[Callable[[str], None], str]
"""What tells a string, and the string."""


class RegularWire(MessageWire[T]):
    """A wire that knows which of its messages tell one string and nothing else."""

    def plain(self, message: T) -> Plain | None:
        """Return the string of a message, and what tells it, if that is all that `take` would do with the message.

        As long as only such messages follow, another that is the same but for the string, which is not empty, needs no
        more than telling it.
        """
        raise NotImplementedError
