"""What is known of Anthropic's content blocks and of the ends of its answers.

A signature closes the thought before it.  LiteLLM and OpenRouter pass both on in words of their own.
"""

from __future__ import annotations

from typing import Any, Final

TURN_ITEMS: Final = ("stop_sequence", "stop_details", "container")
"""What is said of a turn's end besides its reason."""

_OWN: Final = ("redacted_thinking", "server_tool_use", "mcp_tool_use", "container_upload", "compaction", "fallback")
_OWN_FORMAT: Final = "anthropic-claude"
"""Part of the `format` of an entry of OpenRouter's `reasoning_details` whose thought is Anthropic's."""


def is_own_block(kind: str, data: Any) -> bool:
    """Whether an item is a block that only Anthropic knows, as it came."""
    return (kind in _OWN or kind.endswith("_tool_result")) and isinstance(data, dict)


def to_own_item(kind: str, data: Any) -> tuple[str, Any]:
    """Return the kind and the data of an item; what signs or hides a thought of Anthropic's as Anthropic says it."""
    match kind, data:
        case "thinking_blocks", {"type": "redacted_thinking"}:
            return "redacted_thinking", data
        case "thinking_blocks", {"signature": str(signature)}:
            return "signature", signature
        case "reasoning.text", {"format": str(form), "signature": str(signature)} if _OWN_FORMAT in form:
            return "signature", signature
        case "reasoning.encrypted", {"format": str(form), "data": str(hidden)} if _OWN_FORMAT in form:
            return "redacted_thinking", {"type": "redacted_thinking", "data": hidden}
    return kind, data
