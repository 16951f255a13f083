"""What the parser asks of a wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from streamparse.frames import Frame
from streamparse.limits import Limits
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["Wire"]


class Wire(Protocol):
    """Turns one provider's frames into verbs; input never raises.

    `ignored` counts what was passed over on purpose: other choices, data after the end.
    """

    ignored: int

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None: ...

    @staticmethod
    def claims(message: dict[str, Any], event: bytes, /) -> bool:
        """Whether the first message of a body, in an SSE event of that name, shows this wire.

        A body of which the named wire claims nothing, and another one something, is an error: `wrong_wire`.  A wire
        that reads the bodies of others as well names them in a class attribute, `reads`.
        """

    @property
    def over(self) -> bool:
        """Whether the wire's own end marker has come, and no other answer has begun behind it."""

    @property
    def decode(self) -> Callable[[bytes], Any]:
        """The typed decoder of a plain frame's data; raises ValueError or RecursionError for what is not plain."""

    def take(self, message: Any, /) -> None:
        """Tell what a decoded message holds."""

    def frame(self, frame: Frame) -> None:
        """Tell what a frame holds: `decode` and `take`, and whatever must be done where that does not do."""

    def close(self) -> None:
        """The body is over: tell what waited for more."""
