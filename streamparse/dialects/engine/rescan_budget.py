"""How often text that turned out to be no call is looked at again.

A marker in it may still open a call, so it is looked at again from behind the marker that opened none.  But each look
may go on to the end of what the one before has seen: unbounded, the work would grow with the square of the text.
"""

from __future__ import annotations

from typing import Final

__all__ = ["RescanBudget"]

_RESCAN: Final = 4096
_MOST: Final = 8 * _RESCAN


class RescanBudget:
    """Counts the characters that were looked at in vain.

    What one look took, if it is much, is passed over, and so is all of it once too much was looked at again.
    """

    __slots__ = ("_again", "_ahead")

    def __init__(self) -> None:
        self._ahead = 0  # how much of what comes next was looked at in vain
        self._again = 0  # how much of that was looked at more than once

    def advance(self, size: int) -> None:
        """Note that so much was passed on or dropped."""
        self._ahead -= size

    def reset(self) -> None:
        """Note that a call was found."""
        self._ahead = 0

    def spend(self, looked: int) -> int:
        """Note what was looked at in vain; return how much is to be passed over, 0 if only the marker is."""
        self._again = self._again + min(looked, self._ahead) if self._ahead > 0 else 0
        self._ahead = max(self._ahead, looked)
        return self._ahead if looked >= _RESCAN or self._again > _MOST else 0
