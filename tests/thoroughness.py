"""How much of the same is tried: a part of it in each run, all of it at night.

What a test proves must not depend on this: every wire, every row and every kind of input is part of the usual run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import settings

__all__ = ["is_nightly", "spread", "usual_examples"]

Case = TypeVar("Case")


def is_nightly() -> bool:
    """Whether this is the long run: `--hypothesis-profile=nightly`."""
    return settings.get_current_profile_name() == "nightly"


def usual_examples(most: int) -> settings:
    """At most so many examples of a property, and at night as many as of any other."""
    drawn = settings().max_examples
    return settings(max_examples=drawn if is_nightly() else min(most, drawn))


def spread(cases: Sequence[Case], start: int, step: int) -> Sequence[Case]:
    """Every `step`-th case from `start` on, counted around; at night all of them.

    Of `step` tests with consecutive starts each case is in one.
    """
    return cases if is_nightly() else cases[start % step :: step]
