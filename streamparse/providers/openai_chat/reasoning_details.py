"""What signs or hides thoughts at chat servers: OpenRouter's `reasoning_details` and LiteLLM's `thinking_blocks`.

GitHub Copilot seals the whole thought of an answer in one text, `reasoning_opaque`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from streamparse.writing.answer_parts import complete_block, join_details
from streamparse.writing.parts import Item, Part, Thought, is_item

BLOCKS: Final = "thinking_blocks"
OPAQUE: Final = "reasoning_opaque"
CALL_EXTRAS: Final = ("extra_content", "provider_specific_fields")
"""What stands in a call for its provider, a signature most often: at Google's own server, and at LiteLLM."""
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


def join_thinking_blocks(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return LiteLLM's blocks in the parts of a message or of a whole answer."""
    blocks = ThinkingBlocks()
    for part in parts:
        if isinstance(part, Thought):
            blocks.think(part.text)
        elif is_item(part, BLOCKS):
            blocks.add(part.data)
    return blocks.whole


def join_reasoning_details(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """Return the entries of `reasoning_details` in the parts of a whole answer, each signature with its thought."""
    pieces: list[str | dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Thought):
            pieces.append(part.text)
        elif isinstance(part, Item) and (detail := read_detail(part.kind, part.data)) is not None:
            pieces.append(detail)
    return [entry | {"index": place} for place, entry in enumerate(join_details(pieces))]


def read_detail(kind: str, data: Any) -> dict[str, Any] | None:
    """Return an item as a piece of `reasoning_details`, if it signs or hides a thought."""
    if kind.startswith("reasoning.") and isinstance(data, dict):
        return data
    if kind == "signature":
        return {"type": "reasoning.text", "signature": data, "format": _FORMAT}
    if kind == "redacted_thinking" and isinstance(data, dict):
        return {"type": "reasoning.encrypted", "data": data.get("data"), "format": _FORMAT}
    return None
