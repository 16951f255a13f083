"""What a user may set for a runner."""

from __future__ import annotations

import time
from collections.abc import Callable

import msgspec

from streamparse.repair import Gate
from streamparse.runtime.turn import Trailing, Turn


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one `ToolRunner`; see there."""

    gate: Gate
    limit: int = 8
    timeout: float | None = 60.0
    time_limit: float | None = None
    max_result: int = 1024 * 1024
    max_buffered: int = 1024
    run_recovered: bool = False
    run_quoted: bool = False
    trailing: Trailing = "refuse"
    clock: Callable[[], float]
    wall_clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        for name in ("limit", "max_buffered", "max_result"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("timeout", "time_limit"):
            seconds = getattr(self, name)
            if seconds is not None and not seconds > 0:  # nan, too
                raise ValueError(f"{name} must be positive seconds or None, got {seconds}")
        if self.trailing not in ("refuse", "run"):
            raise ValueError(f"trailing must be 'refuse' or 'run', got {self.trailing!r}")

    def make_turn(self, run_id: str, number: int, time_limit: float | None = None) -> Turn:
        """Make the machine of one turn."""
        limits = [each for each in (self.time_limit, time_limit) if each is not None]
        return Turn(
            self.gate, self.limit, timeout=self.timeout, time_limit=min(limits, default=None), run_id=run_id,
            number=number, epoch=self.wall_clock() - self.clock(), run_recovered=self.run_recovered,
            run_quoted=self.run_quoted, trailing=self.trailing,
        )  # fmt: skip
