"""What the framers share: the limits, and how much has come."""

from __future__ import annotations

from streamparse.frames.frame import Fault
from streamparse.limits import Limits, most

__all__ = ["BaseFramer"]


class BaseFramer:
    """A framer before it knows how to cut; see `Framer` for the promises.

    `singles` counts the chunks that `single` took, `offset` is where the data of the last one begins.
    """

    __slots__ = (
        "_carry",
        "_max_event",
        "_max_line",
        "_max_total",
        "_one_read",
        "error",
        "offset",
        "received",
        "singles",
    )

    def __init__(self, limits: Limits) -> None:
        self.error: Fault | None = None
        self.received = 0
        self.singles = 0
        self.offset = 0
        self._max_line = most(limits.max_line)
        self._max_event = most(limits.max_event)
        self._max_total = most(limits.max_total)
        self._one_read = min(self._max_line, self._max_event)
        self._carry = bytearray()  # what has no end yet

    @property
    def pending(self) -> int:
        """Bytes held because their end has not come."""
        return len(self._carry)

    def single(self, chunk: bytes) -> bytes | None:  # noqa: ARG002
        """Take a chunk that is exactly one message and return its data; None, and nothing is taken, if it is not.

        Nearly every read is one, and this way needs no loop and no `Frame`.
        """
        return None

    def again(self, size: int, data: int) -> bool:
        """Take a chunk that is like the one before, which `single` took; its data begins `data` bytes behind its start.

        False, and nothing is taken, if it is beyond a limit.
        """
        start = self.received
        end = start + size
        if size > self._one_read or end > self._max_total:
            return False
        self.offset = start + data
        self.received = end
        self.singles += 1
        return True

    def undo(self, chunk: bytes) -> None:
        """Give back the chunk that `single` took last: its data turned out to be no plain message."""
        self.received -= len(chunk)
        self.singles -= 1
