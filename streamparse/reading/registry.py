"""The wires by name, and which of them a frame belongs to."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, cast

from streamparse.frames import Frame
from streamparse.plugins import load, register_group
from streamparse.reading.decode import lenient
from streamparse.reading.errors import error_in
from streamparse.reading.wire import DEFAULTS, MinimalWire, Wire


class _Wires(dict[str, type[Wire]]):
    def __setitem__(self, name: str, wire: type[Wire]) -> None:
        for attribute, default in DEFAULTS.items():
            if not hasattr(wire, attribute):
                setattr(wire, attribute, default)
        super().__setitem__(name, wire)


WIRES: dict[str, type[Wire]] = _Wires()
"""Every wire by name, in the order in which they are asked whether a frame is theirs."""

UNDECIDED_FRAMES: Final = 16
"""As many as a stream may begin with before its wire shows."""

_GROUP: Final = "streamparse.wires"
_MEMBERS: Final = ("claims", "take", "frame", "close")


def register_wire(name: str, wire: type[MinimalWire]) -> None:
    """Add a wire to `WIRES`: by its name, and for "auto", which asks it after all others.

    Raises TypeError for what is no class of the shape of `Wire`, ValueError if the name is taken.
    """
    if name in WIRES or name in ("", "auto"):
        raise ValueError(f"there is a wire {name!r} already")
    missing = [member for member in _MEMBERS if not hasattr(wire, member)] if isinstance(wire, type) else _MEMBERS
    if missing:
        raise TypeError(f"a wire must be a class with {', '.join(_MEMBERS)}, got {wire!r}")
    WIRES[name] = cast("type[Wire]", wire)


def wire_named(name: str) -> type[Wire]:
    """Return a wire, one that an installed distribution offers included; raises ValueError for an unknown name."""
    if name not in WIRES:
        load(_GROUP, name)
    if name not in WIRES:
        raise ValueError(f"unknown wire {name!r}; known are: auto, {', '.join(WIRES)}")
    return WIRES[name]


def detect(frame: Frame) -> str | None:
    """Name the wire that a frame belongs to; None if it does not show."""
    return claimed(decoded(frame), frame.event)


def claimed(message: Any, event: bytes) -> str | None:
    """Name the wire that claims a decoded message, which came in an SSE event of that name; None if none does."""
    if not isinstance(message, dict):
        return None
    return next((name for name, wire in WIRES.items() if wire.claims(message, event)), None)


def foreign_error(frame: Frame, wire: str | None = None) -> Any:
    """Return the error that the first message of a body is; None if it is not one, or if `wire` (or any) claims it.

    A gateway, a proxy or a web framework in front of the server reports errors in its own shape, on every wire.
    """
    if frame.event:  # a server that names its events speaks a wire
        return None
    message = decoded(frame)
    wires = (WIRES[wire],) if wire is not None else WIRES.values()
    if isinstance(message, dict) and any(each.claims(message, frame.event) for each in wires):
        return None
    return error_in(message)


def decoded(frame: Frame) -> Any:
    """Return the JSON that a frame holds; None for a frame that is not data, or not JSON."""
    if frame.field != b"data":
        return None
    try:
        return lenient(frame.data)
    except (ValueError, RecursionError):
        return None


register_group(_GROUP, register_wire)


# -- ----------------------------------------------------------------------------------------------------
# Recognition: whether a body is of the wire that was named for it.
#
# A wire skips what it does not know, so a body of another wire would look like an answer without content.  The frames
# of a body show its wire by `Wire.claims`.  None of 886 recorded streams has a frame of another wire before the first
# of its own.


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
        """Take the next frame of the body, before the wire does."""
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

        `silent` says that nothing was read so far, not even a failure, `ended` that the end marker came.
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
