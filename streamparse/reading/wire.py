"""What the parser asks of a wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, Protocol, TypeAlias

from streamparse.frames import Frame
from streamparse.limits import Limits
from streamparse.sink import Sink
from streamparse.tools import Toolset

Plain: TypeAlias = tuple[Callable[[str], None], str]
"""A verb that takes a string, and the string."""


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

    def take(self, message: Any, /) -> None:
        """Send the sink what a decoded message holds."""

    def frame(self, frame: Frame) -> None:
        """Send the sink what a frame holds: `decode` and `take`, and what else has to be done for other frames."""

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

    @property
    def over(self) -> bool:
        """Whether the wire's own end marker has come, and no other answer has begun after it."""

    @property
    def waits(self) -> bool:
        """Whether a message is held back, because the next one may have the rest of its last character."""

    @property
    def plain(self) -> Callable[[Any], Plain | None] | None:
        """Returns the one string of a message and the verb for it, if `take` would do nothing else; None for others.

        While only such messages follow, one that is the same except for the string, which is not empty, is not decoded:
        its string goes to that verb.  None if the wire has no such messages.
        """


DEFAULTS: Final[dict[str, Any]] = {
    "reads": (),
    "parses_calls": False,
    "reopens": True,
    "over": False,
    "waits": False,
    "plain": None,
}
"""What a wire has that does not say otherwise."""
