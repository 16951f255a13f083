"""Characters whose two halves stand in two messages: a surrogate pair of JSON escapes, cut between them.

Some servers cut text by UTF-16 units and escape what is not ASCII.  A message that ends in half of a pair waits for the
next, which may begin with the other half; a half that stays alone stands for U+FFFD, as any other one in JSON.
"""

from __future__ import annotations

import re
from typing import Final

from streamparse.patterns import plain

__all__ = ["ends_in_half", "rejoined"]

_HIGH_AT_END: Final = plain(rb'(?<!\\)((?:\\\\)*+\\u[dD][89abAB][0-9a-fA-F]{2})"')
_LOW_AT_START: Final = plain(rb'(?<!\\)"(\\u[dD][c-fC-F][0-9a-fA-F]{2})')
_LOST: Final = rb"\ufffd"
_UNIT: Final = len(_LOST)


def ends_in_half(data: bytes) -> bool:
    """Whether a string of a message ends in the first half of a pair."""
    return _HIGH_AT_END.search(data) is not None


def rejoined(data: bytes, following: bytes) -> tuple[bytes, bytes]:
    """Return two messages whose pairs are whole: each half has moved from the second to the first, or is replaced."""
    lows = iter(_LOW_AT_START.findall(following))

    def whole(match: re.Match[bytes]) -> bytes:
        low = next(lows, None)
        return match[1] + low + b'"' if low is not None else match[1][:-_UNIT] + _LOST + b'"'

    joined, halves = _HIGH_AT_END.subn(whole, data)
    return joined, _LOW_AT_START.sub(b'"', following, count=halves)
