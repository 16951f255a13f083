"""Reads one whole text: by the quick readers if it is clean (every mode accepts it as it is), else tolerantly.

`read_flat_object` has msgspec read one object of scalars, as most arguments are.  msgspec refuses text that is not
JSON, half a surrogate pair, and a number that no float holds; its integers are exact.  But of a key that comes
twice it keeps the last value and says nothing.  Either of two signs shows that no member was lost:

- the text is hardly longer than what msgspec writes of the object.  That is the shortest text there is, except for
  floats, and a lost member would be five bytes at least: `"":0,`;
- the text has no more colons than the object has members, for each member has one of its own.

`read_clean` has the standard library's C scanner read any other value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

import msgspec

from streamparse.json.tolerant import BLANKS, Mode, Reading, TolerantReader, parse_finite
from streamparse.limits import Limits
from streamparse.patterns import lazy_re

_BRACKET = lazy_re(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|([{}\[\]])', re.DOTALL)
_RISE = {"{": 1, "[": 1, "}": -1, "]": -1, "": 0}
_SURROGATE_ESCAPE = lazy_re(r"\\u[dD][89a-fA-F]")

_DEFAULT_LIMITS = Limits()
_LEAST_MEMBER = 5  # source: a second member has a comma, two quotation marks, a colon and a value
_WORDS = frozenset((str, bool, type(None)))
_SHORTEST = _WORDS | {int}
_SCALARS = _SHORTEST | {float}

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def read(text: str | bytes, mode: Mode = "lenient", limits: Limits = _DEFAULT_LIMITS) -> Reading:
    """Read a text that holds one JSON value and nothing else.

    Of the limits, `max_depth`, `max_number` and `max_key` count here.  Integers are exact.
    Raises JSONError, and nothing else for any text.
    """
    flat = read_flat_object(text, limits) if text.__class__ is str else None
    if flat is not None:
        return Reading(flat)
    try:
        return Reading(read_clean(text, limits))
    except (ValueError, RecursionError):
        reader = TolerantReader(text, mode, limits)
        return Reading(reader.read_document(), tuple(reader.repairs))


def read_flat_object(text: str, limits: Limits) -> dict[str, Any] | None:
    """Read a text that every mode accepts as it is; None means that another reader must decide."""
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
    return value if _is_within(value, kinds, len(text), limits) else None


def _is_within(value: dict[str, Any], kinds: set[type], size: int, limits: Limits) -> bool:
    """Whether a text of this size that holds this value is within the limits, for certain."""
    if limits.max_number is not None and size > limits.max_number and not kinds <= _WORDS:
        return False
    if limits.max_key is not None and size > limits.max_key < max(map(len, value), default=0):
        return False
    return limits.max_depth != 0


def read_clean(text: str | bytes, limits: Limits) -> Any:
    """Read a text that every mode accepts as it is; ValueError and RecursionError mean that it may not be one."""
    if isinstance(text, bytes):
        text = text.decode()
    elif not text.isascii():
        text.encode()  # a lone surrogate is a ValueError
    text = text.strip(BLANKS)
    size = len(text)
    if limits.max_depth is not None and text.count("[") + text.count("{") > limits.max_depth < _measure_depth(text):
        raise ValueError("too deep")
    number, key = limits.max_number, limits.max_key
    scan = _make_clean_scanner(
        None if number is None or size <= number else number, None if key is None or size <= key else key
    )
    value, end = scan(text, 0)
    if end != size:
        raise ValueError("something follows")
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is a ValueError
    return value


def _measure_depth(text: str) -> int:
    return max(accumulate(map(_RISE.__getitem__, _BRACKET.findall(text))))


@lru_cache(maxsize=16)
def _make_clean_scanner(max_number: int | None, max_key: int | None) -> Callable[[str, int], tuple[Any, int]]:
    """Return the C scanner, made to raise ValueError where it would read what some mode does not accept."""

    def read_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs) or (max_key is not None and any(len(key) > max_key for key in result)):
            raise ValueError("a duplicate or long key")
        return result

    def read_number(read_digits: Callable[[str], Any], digits: str) -> Any:
        if max_number is not None and len(digits) > max_number:
            raise ValueError("a long number")
        return read_digits(digits)

    decoder = json.JSONDecoder(
        object_pairs_hook=read_members,
        parse_int=None if max_number is None else partial(read_number, int),
        parse_float=partial(read_number, parse_finite),
        parse_constant=parse_finite,
    )
    return decoder.raw_decode
