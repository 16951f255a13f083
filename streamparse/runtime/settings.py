"""What a user may set for a runner."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from streamparse.tools import Toolset

__all__ = ["Settings"]


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of one `ToolRunner`; see there."""

    tools: Toolset
    limit: int
    timeout: float | None
    max_result: int
    max_buffered: int
    tier: int
    run_recovered: bool
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        for name in ("limit", "max_buffered"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.timeout is not None and self.timeout <= 0:
            raise ValueError(f"timeout must be positive seconds or None, got {self.timeout}")
