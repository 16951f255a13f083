"""How far a value goes: what is nested or written without measure is looked at no further."""

from __future__ import annotations

from math import isfinite
from typing import Any, Final

__all__ = ["find_excess"]

_DEEPEST: Final = 150
"""Brackets that are open at one time; `Limits.max_depth` is below that, and what recurses has room for it."""
_LARGEST: Final = 10**1000
"""`Limits.max_number`, by its own digits; Python refuses to write numbers of many more."""


def find_excess(value: Any) -> str | None:
    """Say in what a value of JSON goes too far, None if it does not."""
    level = [value]
    for _ in range(_DEEPEST + 1):
        below: list[Any] = []
        for each in level:
            for inner in each.values() if isinstance(each, dict) else each:
                if isinstance(inner, (dict, list)):
                    below.append(inner)
                elif isinstance(inner, (int, float)) and (problem := _of_number(inner)) is not None:
                    return problem
        if not below:
            return None
        level = below
    return "the arguments nest too deeply"


def _of_number(value: float) -> str | None:
    if isinstance(value, float) and not isfinite(value):
        return "a number is not finite"
    return "a number is too large" if isinstance(value, int) and not -_LARGEST < value < _LARGEST else None
