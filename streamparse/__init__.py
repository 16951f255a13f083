"""Read the streams of language models: bytes in, cut anywhere; typed events out, each call the moment it is whole.

    parser = streamparse.StreamParser("openai-chat")
    for chunk in chunks:
        for event in parser.feed(chunk): ...
    for event in parser.close(): ...

`iter_events` and `aiter_events` put that in a loop, `ToolRunner` runs tools while events still arrive, and
`parse_response` reads a whole response at once.  What goes out is written by `streamparse.providers`; how to speak with
a model is known to `streamparse.negotiate`, and calls that cannot run are the business of `streamparse.repair`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamparse.dialects import DIALECTS, register_dialect
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
from streamparse.lazy import export_lazily
from streamparse.limits import Limits
from streamparse.parser import StreamParser, TextParser
from streamparse.parser.loops import aiter_events, iter_events
from streamparse.plugins import load_plugins, register_group
from streamparse.providers.wires import WIRES, register_wire
from streamparse.response import BrokenCall, ParsedResponse, ToolCall, ToolIntent
from streamparse.tools import Tool, tool

if TYPE_CHECKING:
    from streamparse.detection import detect_format
    from streamparse.middleware import MiddlewareChain
    from streamparse.negotiate import CapabilityLearner, FormatNegotiator
    from streamparse.parser.composite import CompositeParser, parse_response
    from streamparse.parser.registry import parser_for, register_parser
    from streamparse.providers.adapters import as_message, translate_tools
    from streamparse.repair import FallbackChain, RepairLoop, preflight
    from streamparse.runtime import (
        Agent,
        AgentRun,
        ApprovalRequest,
        History,
        Journal,
        JournalBusy,
        ModelError,
        Partial,
        Progress,
        Request,
        RunEnd,
        RunResult,
        RunState,
        Stopped,
        ToolRegistry,
        ToolRunner,
        Turn,
        TurnEnd,
        http_model,
        max_repeats,
        max_seconds,
        max_tokens,
        max_turns,
        run_tools,
    )
    from streamparse.tools import (
        CallBroken,
        StateChange,
        Streamed,
        ToolContext,
        ToolError,
        ToolFailure,
        ToolResult,
        format_error_for_model,
    )
    from streamparse.writing.parts import Document, Image

__all__ = [
    "DIALECTS", "WIRES", "Agent", "AgentRun", "ApprovalRequest", "BrokenCall", "CallBroken", "CapabilityLearner",
    "CompositeParser", "Document", "Done", "Error", "Event", "FallbackChain", "FormatNegotiator", "History", "Image",
    "Journal", "JournalBusy", "Limits", "MiddlewareChain", "ModelError", "ParsedResponse", "Partial", "Progress",
    "ProviderItem", "ReasoningDelta", "RefusalDelta", "RepairLoop", "Request", "RunEnd", "RunResult", "RunState",
    "StateChange", "Stopped", "StreamParser", "Streamed", "TextDelta", "TextParser", "Tool", "ToolCall",
    "ToolCallComplete", "ToolCallDelta", "ToolCallRevoked", "ToolCallStart", "ToolContext", "ToolError", "ToolFailure",
    "ToolIntent", "ToolRegistry", "ToolResult", "ToolRunner", "Turn", "TurnEnd", "aiter_events", "as_message",
    "detect_format", "format_error_for_model", "http_model", "iter_events", "load_plugins", "max_repeats",
    "max_seconds", "max_tokens", "max_turns", "parse_response", "parser_for", "preflight", "register_dialect",
    "register_parser", "register_wire", "run_tools", "tool", "translate_tools",
]  # fmt: skip

_LATER = {
    "detection": ("detect_format",),
    "middleware": ("MiddlewareChain",),
    "negotiate": ("CapabilityLearner", "FormatNegotiator"),
    "parser": ("CompositeParser", "parse_response", "parser_for", "register_parser"),
    "providers": ("as_message", "translate_tools"),
    "repair": ("FallbackChain", "RepairLoop", "preflight"),
    "runtime": (
        *("Agent", "AgentRun", "ApprovalRequest", "History", "Journal", "JournalBusy"),
        *("ModelError", "Partial", "Progress", "Request"),
        *("RunEnd", "RunResult", "RunState", "Stopped", "ToolRegistry", "ToolRunner", "Turn", "TurnEnd", "http_model"),
        *("max_repeats", "max_seconds", "max_tokens", "max_turns", "run_tools"),
    ),
    "tools": (
        *("CallBroken", "StateChange", "Streamed", "ToolContext", "ToolError", "ToolFailure", "ToolResult"),
        "format_error_for_model",
    ),
    "writing.parts": ("Document", "Image"),
}
"""Rooms that are loaded on first use, so that `import streamparse` stays light."""

_ELSEWHERE = {
    "parser": ("HeuristicParser", "JSONContentParser", "MarkupParser", "NativeParser"),
    "protocols": ("ToolCallParser", "ToolDefinitionAdapter", "ToolFormat", "ToolResultAdapter"),
    "providers": ("to_anthropic", "to_gemini", "to_generic", "to_ollama", "to_openai"),
}
"""Names that were here in 0.1.0, and the rooms that have them."""


def _take_parser(name: str, factory: object) -> None:
    """Take a parser that another distribution offers."""
    from streamparse.parser.registry import register_parser  # noqa: PLC0415 - see _LATER

    register_parser(name, factory)  # type: ignore[arg-type]  # it looks for itself


__version__ = "0.2.0"

register_group("streamparse.parsers", _take_parser)

if not TYPE_CHECKING:  # a type checker knows the names from above, and should not take any other for one
    __getattr__ = export_lazily(globals(), _LATER, _ELSEWHERE)

    def __dir__() -> list[str]:
        return __all__
