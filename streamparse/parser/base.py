"""What the parsers share: the assembler, the sink in front of it, and the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.assembler import Assembler, Place
from streamparse.dialects import Dialects, InBand, Reasoning, check_reasoning
from streamparse.limits import Limits
from streamparse.response import ParsedResponse
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["BaseParser", "Dialects", "Reasoning"]


class BaseParser:
    """What both parsers share: the assembler, the sink in front of it, and the end."""

    def __init__(
        self, dialects: Dialects, tools: Iterable[Any] | None, reasoning: Reasoning, limits: Limits, strict: bool
    ) -> None:
        check_reasoning(reasoning)
        self._tools = Toolset.of(tools)
        self._limits = limits
        self._assembler = Assembler(self._tools, limits, mode="strict" if strict else "lenient")
        names = dialects if isinstance(dialects, str) else tuple(dialects)
        self._record = self._assembler.record
        self._inband = InBand(self._assembler, names, self._tools, reasoning, limits) if names else None
        if self._inband is not None:
            self._inband.reads = self._record.read_by
        self._sink: Sink = self._inband or self._assembler
        self._closed = False
        self._flowing = True

    @property
    def response(self) -> ParsedResponse:
        """The answer so far."""
        return self._assembler.response

    def _end(self, truncated: str | None, end: Place) -> None:
        """Close the rooms in the order of the flow."""
        if self._inband is not None:
            self._inband.close(self._assembler.stopped)
        self._record.place = end
        if self._inband is not None and self._assembler.ended and not self._assembler.calls_found:
            from streamparse.recover import recover  # noqa: PLC0415 - a room that many programs never enter

            recover(self._assembler.response.content, self._tools, self._assembler, self._limits)
        self._assembler.close(truncated)
