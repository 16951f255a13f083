"""How far a value goes: what is nested or written without measure is looked at no further."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

__all__ = ["excess", "nests_deeper"]

_DEEPEST: Final = 150
"""Brackets that are open at one time; `Limits.max_depth` is below that, and what recurses has room for it."""
_LARGEST: Final = 10**1000
"""`Limits.max_number`, by its own digits; Python refuses to write numbers of many more."""


def excess(value: Any) -> str | None:
    """Say in what a value of JSON goes too far, None if it does not."""
    if nests_deeper(value, _DEEPEST):
        return "the arguments nest too deeply"
    return next(filter(None, map(_of_number, _scalars(value))), None)


def nests_deeper(value: Any, levels: int) -> bool:
    """Whether more brackets than so many are open at one time."""
    level = [value]
    for _ in range(levels + 1):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Any:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _scalars(value: Any) -> Any:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, (dict, list)):
            waiting.extend(_inside(each))
        else:
            yield each


def _of_number(value: Any) -> str | None:
    if isinstance(value, float) and not isfinite(value):
        return "a number is not finite"
    return "a number is too large" if isinstance(value, int) and abs(value) >= _LARGEST else None
