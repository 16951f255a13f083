"""The quickest way, for what most arguments are: one object of scalars, read by msgspec.

msgspec refuses what is not JSON, half a surrogate pair, and a number that no float holds; its integers are exact.  But
of a key that comes twice it keeps the last value and says nothing.  Two signs show that no member was lost:

- the text has no more colons than the object has members, for each member has one of its own;
- the text is hardly longer than what msgspec writes of the object.  That is the shortest there is but for floats, and a
  lost member would be five bytes at least: `"":0,`.
"""

from __future__ import annotations

from typing import Any

import msgspec

from streamparse.limits import Limits, most

__all__ = ["read_flat"]

_LEAST_MEMBER = 5
_WORDS = frozenset((str, bool, type(None)))
_INTEGERS = _WORDS | {int}
_SCALARS = _INTEGERS | {float}

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def read_flat(text: str, limits: Limits) -> dict[str, Any] | None:
    """Reads a text that every mode accepts as it is; None means that it may be any other."""
    # Of a text that is not ASCII msgspec would leave an encoded copy with it, for as long as the text is kept.
    try:
        data = text if text.isascii() else text.encode()
        value = _decode(data)
    except (ValueError, RecursionError):
        return None
    if value.__class__ is not dict or limits.max_depth == 0:
        return None
    size = len(data)
    kinds = {each.__class__ for each in value.values()}
    if not kinds <= (_SCALARS if size <= most(limits.max_number) else _WORDS):
        return None
    if size > most(limits.max_key) < max(map(len, value), default=0):
        return None
    if text.count(":") == len(value):
        return value
    return value if kinds <= _INTEGERS and size - len(_encode(value)) < _LEAST_MEMBER else None
