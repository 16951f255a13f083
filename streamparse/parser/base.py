"""What the parsers share: the assembler, the sink in front of it, and the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from streamparse.assembler import Assembler, Place
from streamparse.dialects import CATALOGUE, Dialects, InBandParser, Quoted, Reasoning, check_quoted, check_reasoning
from streamparse.events import Place as CallPlace
from streamparse.events import Source
from streamparse.limits import Limits
from streamparse.response import ParsedResponse
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["BaseParser", "Dialects", "Quoted", "Reasoning"]


class BaseParser:
    """What both parsers share: the assembler, the sink in front of it, and the end."""

    def __init__(
        self,
        dialects: Dialects,
        tools: Iterable[Any] | None,
        reasoning: Reasoning,
        limits: Limits,
        strict: bool,
        quoted: Quoted,
        parses_calls: bool = False,
    ) -> None:
        check_reasoning(reasoning)
        check_quoted(quoted)
        self._tools = Toolset.of(tools)
        self._limits = limits
        self._assembler = Assembler(self._tools, limits, mode="strict" if strict else "lenient")
        self._record = self._assembler.record
        self._dialects: Dialects = dialects if isinstance(dialects, str) else tuple(dialects)
        self._inband: InBandParser | None = None
        if self._dialects:
            self._inband = InBandParser(
                self._assembler, CATALOGUE, self._dialects, self._tools, reasoning, limits, quoted,
                ignored=("auto",) if parses_calls else (), on_dialect=self._record.read_by, on_marker=self._mark,
            )  # fmt: skip
        self._sink: Sink = self._inband or self._assembler
        self._closed = False
        self._flowing = True
        self._unread: dict[str, int] | None = None

    @property
    def response(self) -> ParsedResponse:
        """The answer so far."""
        return self._assembler.response

    def partial(self, index: int) -> dict[str, Any]:
        """The arguments of a call so far: of an open one only what no further text can change.

        Numbers and literals are there once a delimiter has closed them, texts as far as they came, but for half an
        escape; a key with its value.  Of a call that is complete all arguments are there.  What was returned does not
        change, and must not be changed.  Called after each piece, it costs as much as reading the call once, and each
        time a copy of what is still open.
        Raises KeyError if no call of that index has begun, or if it broke.
        """
        return self._assembler.look(index)

    def origin_of(self, index: int) -> tuple[Source, CallPlace]:
        """How a call that has begun was found, and where it stands: what its Complete says, but for repairs."""
        return self._record.origins.get(index, ("native", "field"))

    def _mark(self, left: int) -> None:
        """Note that a marker was met, with so many characters of the text still to be read."""

    def _end(self, truncated: str | None, end: Place) -> None:
        """Close the rooms in the order of the flow."""
        if self._inband is not None:
            self._inband.close(self._assembler.stopped)
        self._record.place = end
        if self._inband is not None and self._assembler.stopped and not self._assembler.calls_found:
            from streamparse.parser.late_calls import recover  # noqa: PLC0415 - a room that many programs never enter

            was_read = not self._inband.ignores_calls
            content = self._assembler.response.content
            recover(content, self._dialects, was_read, self._tools, self._assembler, self._limits)
        self._assembler.close(truncated)

    def _count_unread(self) -> dict[str, int]:
        """Count the whole calls of declared tools that were left as text, by place, once the answer is over."""
        if not self._closed or not self._tools:
            return {}
        if self._unread is None:
            from streamparse.parser.late_calls import count_calls  # noqa: PLC0415 - as above

            response = self._assembler.response
            unread = Counter(count_calls(response.content, self._tools, self._limits))
            unread.subtract(call.place for call in response.tool_calls if call.source == "recovered")
            self._unread = {place: count for place, count in unread.items() if count > 0}
        return self._unread
