"""Clean text, read by the standard library's C scanner: text that every mode accepts as it is."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

from streamparse.limits import Limits
from streamparse.patterns import plain

__all__ = ["BLANKS", "finite", "read_clean"]

BLANKS = " \t\n\r"
_BRACKET = plain(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|([{}\[\]])', re.DOTALL)
_RISE = {"{": 1, "[": 1, "}": -1, "]": -1, "": 0}
_SURROGATE_ESCAPE = plain(r"\\u[dD][89a-fA-F]")


def read_clean(text: str | bytes, limits: Limits) -> Any:
    """Reads text that every mode accepts as it is; a ValueError or RecursionError means: perhaps it is not."""
    if isinstance(text, bytes):
        text = text.decode()
    elif not text.isascii():
        text.encode()  # a lone surrogate is a ValueError
    text = text.strip(BLANKS)
    size = len(text)
    if limits.max_depth is not None and text.count("[") + text.count("{") > limits.max_depth < _depth(text):
        raise ValueError("too deep")
    number, key = limits.max_number, limits.max_key
    scan = _clean_scanner(
        None if number is None or size <= number else number, None if key is None or size <= key else key
    )
    value, end = scan(text, 0)
    if end != size:
        raise ValueError("something follows")
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is a ValueError
    return value


def _depth(text: str) -> int:
    """How deep the brackets of a JSON text nest."""
    return max(accumulate(map(_RISE.__getitem__, _BRACKET.findall(text))))


@lru_cache(maxsize=16)
def _clean_scanner(max_number: int | None, max_key: int | None) -> Callable[[str, int], tuple[Any, int]]:
    """The C scanner, made to raise ValueError where it would read what no mode accepts unrepaired."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs) or (max_key is not None and any(len(key) > max_key for key in result)):
            raise ValueError("a duplicate or long key")
        return result

    def number(read_digits: Callable[[str], Any], digits: str) -> Any:
        if max_number is not None and len(digits) > max_number:
            raise ValueError("a long number")
        return read_digits(digits)

    decoder = json.JSONDecoder(
        object_pairs_hook=members,
        parse_int=None if max_number is None else partial(number, int),
        parse_float=partial(number, finite),
        parse_constant=finite,
    )
    return decoder.raw_decode


def finite(digits: str) -> float:
    """Return a number as a float; raises ValueError for one beyond the range of floats, and for NaN."""
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value
