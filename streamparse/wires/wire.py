"""What the parser asks of a wire."""

from __future__ import annotations

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
        """Whether the first message of a body, in an SSE event of that name, shows this wire."""

    def frame(self, frame: Frame) -> None:
        """Tell what one frame holds."""

    def close(self) -> None:
        """The body is over: tell what waited for more."""
