"""Read the streams of language models: bytes in, cut anywhere; typed events out, each call the moment it is whole.

    parser = streamparse.StreamParser("openai-chat")
    for chunk in chunks:
        for event in parser.feed(chunk): ...
    for event in parser.close(): ...

`iter_events` and `aiter_events` put that in a loop, `ToolRunner` runs tools while events still arrive, and
`parse_response` reads a whole response at once.  What goes out is written by `streamparse.adapters`; how to speak with
a model is known to `streamparse.negotiate`, and calls that cannot run are the business of `streamparse.repair`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
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
from streamparse.limits import Limits
from streamparse.parser import StreamParser, TextParser
from streamparse.plugins import group, load_plugins
from streamparse.response import BrokenCall, ParsedResponse, ToolCall, ToolIntent, Writer, write_with
from streamparse.streams import aiter_events, iter_events
from streamparse.tools import (
    CallBroken,
    StateChange,
    Streamed,
    Tool,
    ToolContext,
    ToolError,
    ToolFailure,
    ToolResult,
    format_error_for_model,
    tool,
)
from streamparse.wires import WIRES, register_wire

if TYPE_CHECKING:
    from streamparse.adapters import (
        Document,
        Image,
        to_anthropic,
        to_gemini,
        to_generic,
        to_ollama,
        to_openai,
        translate_tools,
    )
    from streamparse.middleware import MiddlewareChain
    from streamparse.negotiate import CapabilityLearner, FormatNegotiator
    from streamparse.protocols import ToolCallParser, ToolDefinitionAdapter, ToolFormat, ToolResultAdapter
    from streamparse.recover import (
        CompositeParser,
        HeuristicParser,
        JSONContentParser,
        MarkupParser,
        NativeParser,
        detect_format,
        parse_response,
        parser_for,
        register_parser,
    )
    from streamparse.repair import FallbackChain, RepairLoop, preflight
    from streamparse.runtime import (
        Agent,
        AgentRun,
        ApprovalRequest,
        History,
        ModelError,
        Progress,
        Request,
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
    )

__all__ = [
    "DIALECTS",
    "WIRES",
    "Agent",
    "AgentRun",
    "ApprovalRequest",
    "BrokenCall",
    "CallBroken",
    "CapabilityLearner",
    "CompositeParser",
    "Document",
    "Done",
    "Error",
    "Event",
    "FallbackChain",
    "FormatNegotiator",
    "HeuristicParser",
    "History",
    "Image",
    "JSONContentParser",
    "Limits",
    "MarkupParser",
    "MiddlewareChain",
    "ModelError",
    "NativeParser",
    "ParsedResponse",
    "Progress",
    "ProviderItem",
    "ReasoningDelta",
    "RefusalDelta",
    "RepairLoop",
    "Request",
    "RunResult",
    "RunState",
    "StateChange",
    "Stopped",
    "StreamParser",
    "Streamed",
    "TextDelta",
    "TextParser",
    "Tool",
    "ToolCall",
    "ToolCallComplete",
    "ToolCallDelta",
    "ToolCallParser",
    "ToolCallRevoked",
    "ToolCallStart",
    "ToolContext",
    "ToolDefinitionAdapter",
    "ToolError",
    "ToolFailure",
    "ToolFormat",
    "ToolIntent",
    "ToolRegistry",
    "ToolResult",
    "ToolResultAdapter",
    "ToolRunner",
    "Turn",
    "TurnEnd",
    "aiter_events",
    "detect_format",
    "format_error_for_model",
    "http_model",
    "iter_events",
    "load_plugins",
    "max_repeats",
    "max_seconds",
    "max_tokens",
    "max_turns",
    "parse_response",
    "parser_for",
    "preflight",
    "register_dialect",
    "register_parser",
    "register_wire",
    "to_anthropic",
    "to_gemini",
    "to_generic",
    "to_ollama",
    "to_openai",
    "tool",
    "translate_tools",
]

_LATER = {
    **dict.fromkeys(
        (
            "Agent",
            "AgentRun",
            "ApprovalRequest",
            "History",
            "ModelError",
            "Progress",
            "Request",
            "RunResult",
            "RunState",
            "Stopped",
            "ToolRegistry",
            "ToolRunner",
            "Turn",
            "TurnEnd",
            "http_model",
            "max_repeats",
            "max_seconds",
            "max_tokens",
            "max_turns",
        ),
        "runtime",
    ),
    **dict.fromkeys(("Document", "Image"), "adapters"),
    **dict.fromkeys(
        ("to_anthropic", "to_gemini", "to_generic", "to_ollama", "to_openai", "translate_tools"), "adapters"
    ),
    **dict.fromkeys(("CapabilityLearner", "FormatNegotiator"), "negotiate"),
    **dict.fromkeys(("FallbackChain", "RepairLoop", "preflight"), "repair"),
    "MiddlewareChain": "middleware",
    **dict.fromkeys(("ToolCallParser", "ToolDefinitionAdapter", "ToolFormat", "ToolResultAdapter"), "protocols"),
    **dict.fromkeys(
        ("CompositeParser", "HeuristicParser", "JSONContentParser", "MarkupParser", "NativeParser"), "recover"
    ),
    **dict.fromkeys(("detect_format", "parse_response", "parser_for", "register_parser"), "recover"),
}
"""Rooms that are loaded on first use, so that `import streamparse` stays light."""


def _writers() -> Mapping[str, Writer]:
    from streamparse.adapters import WRITERS  # noqa: PLC0415 - see _LATER

    return WRITERS


def _take_parser(name: str, factory: object) -> None:
    """Take a parser that another distribution offers."""
    from streamparse.recover import register_parser  # noqa: PLC0415 - see _LATER

    register_parser(name, factory)  # type: ignore[arg-type]  # it looks for itself


def _check_parser(name: str) -> None:
    """Refuse the name of a parser that nobody knows."""
    from streamparse.recover.registry import factory_of  # noqa: PLC0415 - see _LATER

    factory_of(name)


__version__ = "0.1.0"

write_with(_writers)
group("streamparse.parsers", _take_parser, _check_parser)

if not TYPE_CHECKING:  # a type checker knows the names from above, and should not take any other for one

    def __getattr__(name: str) -> object:
        """Load what `_LATER` names."""
        if name not in _LATER:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
