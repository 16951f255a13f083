"""What a parser has read, in numbers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from streamparse.response import ParsedResponse

__all__ = ["Stats"]


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """The counts of one parse so far."""

    bytes: int = 0
    frames: int = 0
    ignored_frames: int = 0
    """Frames, or choices of frames, that were skipped on purpose: other choices, data after the end."""
    calls: dict[str, int] = {}
    """Complete calls by source: native, inband, recovered, repaired."""
    broken_calls: int = 0
    leniencies: dict[str, int] = {}
    """What had to be mended in calls, by name: `markup`, `trailing_comma`, `encoded_twice`, ..."""
    unread_calls: dict[str, int] = {}
    """Whole calls of declared tools that were left as text, by place; known once the answer is over."""
    errors: dict[str, int] = {}
    """Errors by code."""
    wire: str | None = None
    dialect: str | None = None
    """The dialect in which a call was found, once one was."""

    @classmethod
    def of(cls, response: ParsedResponse, **counts: Any) -> Stats:
        """Count what a response holds."""
        return cls(
            calls=dict(Counter(call.source for call in response.tool_calls)),
            broken_calls=len(response.broken_calls),
            errors=dict(Counter(error.code for error in response.errors)),
            **counts,
        )
