"""The wires by name, and which of them a frame belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, cast

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

_SHOWN: Final = 200
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


def claimed(message: Any, event: bytes, among: Iterable[str] = WIRES) -> str | None:
    """Name the wire that claims a decoded message, which came in an SSE event of that name; None if none does."""
    if isinstance(message, dict):
        for name in among:
            if WIRES[name].claims(message, event):
                return name
    return None


def foreign_error(frame: Frame, wire: str | None = None) -> Any:
    """Return the error that the first message of a body is; None if it is not one, or if `wire` (or any) claims it.

    A gateway, a proxy or a web framework in front of the server reports errors in its own shape, on every wire.
    """
    if frame.event:  # a server that names its events speaks a wire
        return None
    message = decoded(frame)
    owner = claimed(message, frame.event, WIRES if wire is None else (wire,))
    return error_in(message) if owner is None else None


def decoded(frame: Frame) -> Any:
    """Return the JSON that a frame holds; None for a frame that is not data, or not JSON."""
    if frame.field != b"data":
        return None
    try:
        return lenient(frame.data)
    except (ValueError, RecursionError):
        return None


def excerpt_of(frame: Frame) -> str:
    """Return the beginning of a frame, for people."""
    return frame.data[:_SHOWN].decode("utf-8", "replace")


register_group(_GROUP, register_wire)
