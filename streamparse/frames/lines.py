"""What the framers of lines share: the line whose end has not come, and its bound."""

from __future__ import annotations

from streamparse.frames.base import BaseFramer
from streamparse.frames.frame import Fault, Frame

__all__ = ["LineFramer"]


class LineFramer(BaseFramer):
    """A framer that takes whole lines; it says itself where a line ends."""

    __slots__ = ()

    def _take(self, lines: list[bytes], at: int) -> list[Frame]:
        """Take whole lines, the first of which begins at `at`."""
        raise NotImplementedError

    def _take_and_keep(self, lines: list[bytes], rest: bytes, at: int) -> list[Frame]:
        """Take the lines that a chunk completes, the first of which began at `at`, and keep the rest of the chunk."""
        carry = self._carry
        if carry and lines:
            carry += lines[0]
            lines[0] = bytes(carry)
            carry.clear()
        frames = self._take(lines, at)
        if not self.error:
            carry += rest
            if len(carry) > self._max_line:
                self._line_too_long(self.received - len(carry))
        return frames

    def _line_too_long(self, at: int) -> None:
        self._stop("limit_line", f"a line holds more than {self._max_line} bytes", at + self._max_line)

    def _stop(self, code: str, message: str, offset: int) -> None:
        self.error = Fault(code, message, offset)
        self._carry.clear()
        self._one_read = -1  # nothing fits any more
