"""What signs or hides thoughts at chat servers: OpenRouter's `reasoning_details` and LiteLLM's `thinking_blocks`."""

from __future__ import annotations

from typing import Any, Final

from streamparse.events import ProviderItem, ReasoningDelta
from streamparse.response import ParsedResponse
from streamparse.writing.answer_parts import AnswerPart, arrange_answer, complete_block, join_details

BLOCKS: Final = "thinking_blocks"
_FORMAT: Final = "anthropic-claude-v1"


class ThinkingBlocks:
    """Gathers LiteLLM's blocks, each with the thought before it; `think` takes a piece of that."""

    def __init__(self) -> None:
        self._thought: list[str] = []
        self.think = self._thought.append
        self.whole: list[dict[str, Any]] = []

    def add(self, block: Any) -> None:
        """Take the end of a block, as the server sent it."""
        if isinstance(block, dict):
            self.whole.append(complete_block(block, "".join(self._thought)))
        self._thought.clear()


def collect_blocks(response: ParsedResponse) -> list[dict[str, Any]]:
    """Return LiteLLM's blocks of a whole answer."""
    blocks = ThinkingBlocks()
    for part in arrange_answer(response):
        if isinstance(part, ReasoningDelta):
            blocks.think(part.text)
        elif isinstance(part, ProviderItem) and part.kind == BLOCKS:
            blocks.add(part.data)
    return blocks.whole


def collect_details(response: ParsedResponse) -> list[dict[str, Any]]:
    """Return the entries of `reasoning_details` of a whole answer, each signature with its thought."""
    pieces = (_make_piece(part) for part in arrange_answer(response))
    entries = join_details(piece for piece in pieces if piece is not None)
    return [entry | {"index": place} for place, entry in enumerate(entries)]


def read_detail(kind: str, data: Any) -> dict[str, Any] | None:
    """Return an item as a piece of `reasoning_details`, if it signs or hides a thought."""
    if kind.startswith("reasoning.") and isinstance(data, dict):
        return data
    if kind == "signature":
        return {"type": "reasoning.text", "signature": data, "format": _FORMAT}
    if kind == "redacted_thinking" and isinstance(data, dict):
        return {"type": "reasoning.encrypted", "data": data.get("data"), "format": _FORMAT}
    return None


def _make_piece(part: AnswerPart) -> str | dict[str, Any] | None:
    """Return a thought, or a piece of an entry; None for any other part."""
    if isinstance(part, ReasoningDelta):
        return part.text
    return read_detail(part.kind, part.data) if isinstance(part, ProviderItem) else None
