"""What the parser asks of a wire, the wires by name, and which of them a frame belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, ClassVar, Final, Protocol

from streamparse.frames import Frame
from streamparse.limits import Limits
from streamparse.reading.decode import decode_frame
from streamparse.reading.errors import find_error
from streamparse.reading.plain_strings import PlainString
from streamparse.sink import Sink
from streamparse.tools import Toolset


class UnknownMessage(Exception):
    """Raised by `take`, before it does anything: the message holds nothing of the wire, so it may be an error.

    It is given to `frame`, which reports errors of any shape; its text says what is wrong with it if it is none.
    """


class MinimalWire(Protocol):
    """What every wire has.  It turns one provider's frames into verbs; input never raises."""

    ignored: int
    """How many messages were skipped on purpose: other choices, data after the end."""

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None: ...

    @staticmethod
    def claims(message: dict[str, Any], event: bytes, /) -> bool:
        """Whether the first message of a body, in an SSE event of that name, shows this wire.

        A body of which the named wire claims no message, and another wire claims one, is an error: `wrong_wire`.
        """

    @property
    def decode(self) -> Callable[[bytes], Any]:
        """The typed decoder of a plain frame's data; raises ValueError or RecursionError for what is not plain."""

    def take(self, message: Any, /) -> bool | None:
        """Send the sink what a decoded message holds; raises UnknownMessage for one that holds nothing.

        True asks for more than was decoded: `read_facts` is given the data of the message.
        """

    def frame(self, frame: Frame) -> None:
        """Send the sink what a frame holds: `decode` and `take` for a message, and whatever other frames need."""

    def close(self) -> None:
        """The body is over: send what waited for more."""


class Wire(MinimalWire, Protocol):
    """All that the parser asks of a wire.  What a registered one does not have is in `DEFAULTS`."""

    reads: ClassVar[tuple[str, ...]]
    """Other wires whose bodies this one reads as well."""
    parses_calls: ClassVar[bool]
    """Whether the servers parse the calls that the model writes, so that markup in the text is text."""
    reopens: ClassVar[bool]
    """Whether another answer may begin after the end marker, and counts."""
    shape: ClassVar[Any]
    """The Struct of a message, which names what is read of it; None if that is not known."""
    plain_strings: ClassVar[tuple[PlainString, ...]]
    """Where messages hold one string and nothing else: then those of the same form need not be decoded."""

    @property
    def over(self) -> bool:
        """Whether the wire's own end marker has come, and no other answer has begun after it."""

    @property
    def waits(self) -> bool:
        """Whether a message is held back, because the next one may have the rest of its last character."""

    def read_facts(self, data: bytes, /) -> None:
        """Send the sink what a message says about the answer: who made it, and how."""


DEFAULTS: Final[dict[str, Any]] = {
    "reads": (),
    "parses_calls": False,
    "reopens": True,
    "shape": None,
    "over": False,
    "waits": False,
    "plain_strings": (),
    "read_facts": lambda _wire, _data: None,
}
"""What a wire has that does not say otherwise."""


# -- ----------------------------------------------------------------------------------------------------
# The wires by name.


class WireTable(MutableMapping[str, type[Wire]]):
    """Wires by name.  Those that are only declared are loaded when they are asked for."""

    def __init__(self) -> None:
        self._wires: dict[str, type[Wire] | str] = {}  # a class, or where it is
        self.loaded: dict[str, type[Wire]] = {}
        """The classes that are there already: to look into this takes less time than into the table."""

    def declare(self, places: Mapping[str, str]) -> None:
        """Add wires that need not be loaded yet, each as `module:Class`."""
        self._wires.update(places)

    def __getitem__(self, name: str) -> type[Wire]:
        wire = self._wires[name]
        if isinstance(wire, str):
            module, _, class_name = wire.partition(":")
            wire = self[name] = getattr(import_module(module), class_name)
        return wire

    def __setitem__(self, name: str, wire: type[Wire]) -> None:
        for attribute, default in DEFAULTS.items():
            if not hasattr(wire, attribute):
                setattr(wire, attribute, default)
        self._wires[name] = self.loaded[name] = wire

    def __delitem__(self, name: str) -> None:
        del self._wires[name]
        self.loaded.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._wires

    def __iter__(self) -> Iterator[str]:
        return iter(self._wires)

    def __len__(self) -> int:
        return len(self._wires)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({[*self]})"


WIRES: Final = WireTable()
"""Every wire by name, in the order in which they are asked whether a frame is theirs."""

UNDECIDED_FRAMES: Final = 16  # bound: frames that are held until one shows the wire


def detect(frame: Frame) -> str | None:
    """Name the wire that a frame belongs to; None if it does not show."""
    return find_claimant(decode_frame(frame), frame.event)


def find_claimant(message: Any, event: bytes, among: Iterable[str] = WIRES) -> str | None:
    """Name the wire that claims a decoded message, which came in an SSE event of that name; None if none does."""
    if isinstance(message, dict):
        loaded = WIRES.loaded
        for name in among:
            if (loaded.get(name) or WIRES[name]).claims(message, event):
                return name
    return None


def find_foreign_error(frame: Frame, wire: str | None = None) -> Any:
    """Return the error that the first message of a body is; None if it is not one, or if `wire` (or any) claims it.

    A gateway, a proxy or a web framework in front of the server reports errors in its own shape, on every wire.
    """
    if frame.event:  # a server that names its events speaks a wire
        return None
    message = decode_frame(frame)
    owner = find_claimant(message, frame.event, WIRES if wire is None else (wire,))
    return find_error(message) if owner is None else None
