"""Whether a body is of the wire that was named for it.

A wire passes over what it does not know, so a body of another wire would be an answer without content.  The frames of
a body show its wire by `Wire.claims`; none of 886 recorded streams has a frame of another wire before the first of its
own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from streamparse.frames import Frame
from streamparse.reading.errors import error_in
from streamparse.reading.registry import UNDECIDED_FRAMES, WIRES, claimed, decoded

__all__ = ["Mistake", "Recognition", "excerpt_of"]

_SHOWN = 200


class Mistake(NamedTuple):
    """An error of the whole stream; `offset` is that of the frame which shows it."""

    code: str
    message: str
    offset: int


class Recognition:
    """Looks at the frames of a body until one shows that the wire is the named one."""

    def __init__(self, name: str) -> None:
        self.settled = False
        """Whether no more frames need to be looked at."""
        self._name = name
        self._own = False  # the wire has claimed a frame
        self._looked = 0
        self._other: tuple[str, Frame] | None = None  # the wire that has claimed one instead
        self._unknown: Frame | None = None  # the first message that no wire claims

    def look(self, frame: Frame) -> None:
        """Take the next frame of the body, before it is told."""
        message = decoded(frame)
        if not isinstance(message, dict):
            return
        wire = WIRES[self._name]
        if wire.claims(message, frame.event):
            self._own = self.settled = True
        elif frame.event != b"error" and error_in(message) is None:
            self._look_elsewhere(frame, message)

    def mistake(self, silent: bool, ended: bool) -> Mistake | None:
        """Return why this is no answer of the named wire; None if it is one, or may be.

        `silent` says that nothing was told of the body so far, not even a failure, `ended` that its end marker came.
        """
        if self._own:
            return None
        if self._other is not None:
            name, frame = self._other
            message = f"the body looks like {name}, not like {self._name}: {excerpt_of(frame)!r}"
            return Mistake("wrong_wire", message, frame.offset)
        if silent and self._unknown is not None:
            message = f"no known wire speaks like this: {excerpt_of(self._unknown)!r}"
            return Mistake("not_a_stream", message, self._unknown.offset)
        if silent and ended:
            return Mistake("not_a_stream", "the body has an end, and before it no message that can be read", 0)
        return None

    def _look_elsewhere(self, frame: Frame, message: dict[str, Any]) -> None:
        other = claimed(message, frame.event)
        if other is not None and other in WIRES[self._name].reads:
            self._own = self.settled = True
        elif other is not None:
            self._other = self._other or (other, frame)
        else:
            self._unknown = self._unknown or frame
        self._looked += 1
        self.settled = self.settled or self._looked >= UNDECIDED_FRAMES


def excerpt_of(frame: Frame) -> str:
    """Return the beginning of a frame, for people."""
    return frame.data[:_SHOWN].decode("utf-8", "replace")
