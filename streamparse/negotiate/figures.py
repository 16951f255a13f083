"""How often a model's calls in one format came out well."""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import Annotated, Literal, TypeAlias

import msgspec

__all__ = ["Figures", "Outcome"]

Outcome: TypeAlias = Literal["parsed", "recovered", "malformed", "unknown_tool", "refused"]
"""What came of a call; `refused` is what came of a request with tools."""

Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """How often a model's calls in one format came out well, and when last."""

    parsed: Count = 0
    recovered: Count = 0
    malformed: Count = 0
    unknown_tool: Count = 0
    refused: Count = 0
    """Requests that the server did not answer for they have tools; no calls."""
    last: float = 0.0
    """Seconds since the epoch."""
    last_refused: float = 0.0
    """The same of the last request that was refused."""

    @property
    def calls(self) -> int:
        """How many calls were seen."""
        return self.parsed + self.recovered + self.malformed + self.unknown_tool

    @property
    def rate(self) -> float | None:
        """The share of calls that could be run, 0 to 1; None before the first."""
        return (self.parsed + self.recovered) / self.calls if self.calls else None

    @property
    def empty(self) -> bool:
        """Whether nothing was counted."""
        return not (self.calls or self.refused)

    def __add__(self, other: Figures) -> Figures:
        """Both together."""
        return self._with(other, add)

    def __sub__(self, other: Figures) -> Figures:
        """What was counted beside the other, which is a part of this."""
        return self._with(other, lambda whole, part: max(whole - part, 0))

    def __or__(self, other: Figures) -> Figures:
        """The later of two states of one count."""
        return self._with(other, max)

    def _with(self, other: Figures, join: Callable[[int, int], int]) -> Figures:
        return Figures(
            parsed=join(self.parsed, other.parsed),
            recovered=join(self.recovered, other.recovered),
            malformed=join(self.malformed, other.malformed),
            unknown_tool=join(self.unknown_tool, other.unknown_tool),
            refused=join(self.refused, other.refused),
            last=max(self.last, other.last),
            last_refused=max(self.last_refused, other.last_refused),
        )
