"""Anthropic's content blocks of a whole answer, in the order in which they came.

A signature closes the thought before it; a citation belongs to the text that it stands at, up to the next border.
"""

from __future__ import annotations

from typing import Any, Final

from streamparse.emitting.ids import CallIds
from streamparse.events import ProviderItem, ReasoningDelta, RefusalDelta, TextDelta
from streamparse.response import ParsedResponse, ToolCall
from streamparse.writing.answer_parts import arrange_answer

__all__ = ["BORDER", "as_own", "blocks_of", "is_own_block"]

BORDER: Final = "content_block_start"
"""The item that stands between two texts that follow each other."""

_OWN: Final = ("redacted_thinking", "server_tool_use", "mcp_tool_use", "container_upload", "compaction", "fallback")
_OWN_RESULTS: Final = "_tool_result"
_OURS: Final = "anthropic-claude"
"""In the `format` of an entry of OpenRouter's: the thought is Anthropic's."""

Block = dict[str, Any]


def is_own_block(item: ProviderItem) -> bool:
    """Whether an item is a block of Anthropic's as it came."""
    return (item.kind in _OWN or item.kind.endswith(_OWN_RESULTS)) and isinstance(item.data, dict)


def as_own(item: ProviderItem) -> ProviderItem:
    """What signs or hides a thought of Anthropic's, passed on by LiteLLM or OpenRouter, as Anthropic tells it."""
    match item:
        case ProviderItem(kind="thinking_blocks", data={"type": "redacted_thinking"}):
            return ProviderItem("redacted_thinking", item.data)
        case ProviderItem(kind="thinking_blocks", data={"signature": str(signature)}):
            return ProviderItem("signature", signature)
        case ProviderItem(kind="reasoning.text", data={"format": str(form), "signature": str(signature)}):
            return ProviderItem("signature", signature) if _OURS in form else item
        case ProviderItem(kind="reasoning.encrypted", data={"format": str(form), "data": str(hidden)}):
            block = {"type": "redacted_thinking", "data": hidden}
            return ProviderItem("redacted_thinking", block) if _OURS in form else item
    return item


def blocks_of(response: ParsedResponse, ids: CallIds) -> list[Block]:
    """The blocks of a whole answer."""
    blocks: list[Block] = []
    for each in arrange_answer(response):
        part = as_own(each) if isinstance(each, ProviderItem) else each
        match part:
            case TextDelta() | RefusalDelta():
                _extend(blocks, "text", part.text)
            case ReasoningDelta():
                _extend(blocks, "thinking", part.text)
            case ToolCall():
                id = ids.give(part.id, part.index)
                blocks.append({"type": "tool_use", "id": id, "name": part.name, "input": part.arguments})
            case ProviderItem(kind="signature"):
                _extend(blocks, "thinking", "")
                blocks[-1]["signature"] = part.data
            case ProviderItem(kind="citations_delta"):
                _extend(blocks, "text", "")
                blocks[-1].setdefault("citations", []).append(part.data)
            case ProviderItem() if part.kind == BORDER:
                blocks.append({})
            case ProviderItem() if is_own_block(part):
                blocks.append(part.data)
    return [block for block in blocks if block]


def _extend(blocks: list[Block], kind: str, text: str) -> None:
    """Add to the last block, or to a new one if it is of another kind or a thought that is signed."""
    last = blocks[-1] if blocks else {}
    if last.get("type") != kind or last.get("signature"):
        signature = {"signature": ""} if kind == "thinking" else {}
        last = {"type": kind, kind: "", **signature}
        blocks.append(last)
    last[kind] += text
