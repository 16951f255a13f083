"""The way of nearly every read: a chunk that is one plain message goes through the same rooms, nothing in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.frames import BaseFramer, Mould, Moulds
from streamparse.wires import RegularWire, Wire

__all__ = ["ShortWay"]


class ShortWay:
    """Takes chunks that are one plain message each, without a list of frames and, if they are alike, without decoding.

    It is open while nothing incomplete is held and the wire is known.
    """

    def __init__(self, framer: BaseFramer, wire: Wire) -> None:
        self._single = framer.single
        self._undo = framer.undo
        self._decode = wire.decode
        self._take = wire.take
        self._wire = wire if isinstance(wire, RegularWire) else None
        self._moulds = Moulds(framer, wire.decode)
        self._mould: Mould | None = None
        self._tell: Callable[[str], None]

    def take(self, chunk: bytes) -> bool:
        """Take a chunk and tell what it holds; False, and nothing is taken, if it is no plain message."""
        mould = self._mould
        if mould is not None and (string := mould.take(chunk)) is not None:
            self._tell(string)
            return True
        self._mould = None
        data = self._single(chunk)
        if data is None:
            return False
        try:
            message = self._decode(data)
        except (ValueError, RecursionError):
            self._undo(chunk)
            return False
        if self._wire is not None and self._moulds.worth_learning():
            self._learn(self._wire, chunk, message)
        self._take(message)
        return True

    def interrupt(self) -> None:
        """Something else comes in between: what the messages alike did before need not hold any more."""
        self._mould = None

    def _learn(self, wire: RegularWire[Any], chunk: bytes, message: Any) -> None:
        """Keep the form of a message that tells one string and nothing else, for the next ones."""
        plain = wire.plain(message)
        if plain is not None:
            self._tell, string = plain
            self._mould = self._moulds.learn(chunk, message, string)
