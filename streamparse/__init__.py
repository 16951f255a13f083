"""Read the streams of language models: bytes in, cut anywhere; typed events out, each call the moment it is whole.

    parser = streamparse.StreamParser("openai-chat")
    for chunk in chunks:
        for event in parser.feed(chunk): ...
    for event in parser.close(): ...

`iter_events` and `aiter_events` put that in a loop, `ToolRunner` runs tools while events still arrive, and
`parse_response` reads a whole response at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamparse.dialects import DIALECTS
from streamparse.events import (
    Done,
    Error,
    Event,
    ProviderItem,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallRevoked,
    ToolCallStart,
)
from streamparse.limits import Limits
from streamparse.parser import StreamParser, TextParser
from streamparse.recover import CompositeParser, parse_response
from streamparse.response import BrokenCall, ParsedResponse, ToolCall, ToolIntent
from streamparse.streams import aiter_events, iter_events
from streamparse.tools import Tool, ToolResult, tool
from streamparse.wires import WIRES

if TYPE_CHECKING:
    from streamparse.runtime import ToolRunner

__all__ = [
    "DIALECTS",
    "WIRES",
    "BrokenCall",
    "CompositeParser",
    "Done",
    "Error",
    "Event",
    "Limits",
    "ParsedResponse",
    "ProviderItem",
    "ReasoningDelta",
    "RefusalDelta",
    "StreamParser",
    "TextDelta",
    "TextParser",
    "Tool",
    "ToolCall",
    "ToolCallComplete",
    "ToolCallDelta",
    "ToolCallRevoked",
    "ToolCallStart",
    "ToolIntent",
    "ToolResult",
    "ToolRunner",
    "aiter_events",
    "iter_events",
    "parse_response",
    "tool",
]

if not TYPE_CHECKING:  # a type checker knows the names from above, and should not take any other for one

    def __getattr__(name: str) -> object:
        """Load on first use what needs anyio, so that `import streamparse` stays light."""
        if name == "ToolRunner":
            from streamparse.runtime import ToolRunner  # noqa: PLC0415 - see above

            globals()[name] = ToolRunner
            return ToolRunner
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
