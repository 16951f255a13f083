"""How much argument text may be held: of one call, and of all that are open."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from streamparse.assembler.call import CallState
from streamparse.limits import Limits, most

_PORTION: Final = 4 * 1024  # bench: characters that a call may take before its chunks are joined and all are counted


class Room:
    """Gives calls room for their arguments, in portions: so not every fragment is weighed against every open call."""

    __slots__ = ("first", "max_args", "max_pending")

    def __init__(self, limits: Limits) -> None:
        self.max_args: int = most(limits.max_call_args)
        self.max_pending: int = most(limits.max_pending)
        self.first: int = min(_PORTION, self.max_args, self.max_pending)
        """What a call may take that is open alone."""

    def find_excess(self, call: CallState, size: int, calls: Collection[CallState]) -> tuple[int, bool] | None:
        """Make room for so many characters of a call, one of those that are open; None if they fit.

        Else how many of them fit, and whether it is all calls together that are too long.
        """
        sizes = {each.index: each.size for each in calls}
        headroom = self.max_pending - sum(sizes.values())
        left = min(headroom, self.max_args - sizes[call.index])
        if size > left:
            return left, left == headroom
        if headroom < _PORTION * len(calls):
            for each in calls:
                each.room = 0
        call.room = max(0, min(left, _PORTION) - size)
        return None
