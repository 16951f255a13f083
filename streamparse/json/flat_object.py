"""The quickest way, for what most arguments are: one object of scalars, read by msgspec.

msgspec refuses what is not JSON, half a surrogate pair, and a number that no float holds; its integers are exact.  But
of a key that comes twice it keeps the last value and says nothing.  Two signs show that no member was lost:

- the text is hardly longer than what msgspec writes of the object.  That is the shortest there is but for floats, and a
  lost member would be five bytes at least: `"":0,`;
- the text has no more colons than the object has members, for each member has one of its own.
"""

from __future__ import annotations

from typing import Any

import msgspec

from streamparse.limits import Limits

__all__ = ["read_flat"]

_LEAST_MEMBER = 5
_WORDS = frozenset((str, bool, type(None)))
_SHORTEST = _WORDS | {int}
_SCALARS = _SHORTEST | {float}

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
    if value.__class__ is not dict:
        return None
    kinds = {each.__class__ for each in value.values()}
    if not (kinds <= _SHORTEST and len(data) - len(_encode(value)) < _LEAST_MEMBER) and (
        not kinds <= _SCALARS or text.count(":") != len(value)
    ):
        return None
    return value if _fits(value, kinds, len(text), limits) else None


def _fits(value: dict[str, Any], kinds: set[type], size: int, limits: Limits) -> bool:
    """Whether a text of this size that holds this value is within the limits, for certain."""
    if limits.max_number is not None and size > limits.max_number and not kinds <= _WORDS:
        return False
    if limits.max_key is not None and size > limits.max_key < max(map(len, value), default=0):
        return False
    return limits.max_depth != 0
