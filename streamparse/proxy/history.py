"""A conversation that is read, changed and written in one wire: what stays of it stays as it came.

Chat servers have many fields for thought (`reasoning_content`, `reasoning`, `reasoning_details` with its signatures,
`thinking_blocks`), and each of them knows its own: they are neither read nor written anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from streamparse.loss import Loss
from streamparse.providers.adapters import ADAPTERS
from streamparse.providers.openai_chat.messages import OpenAI
from streamparse.writing.adapter import Adapter
from streamparse.writing.parts import Item, Message, Part
from streamparse.writing.request import Request
from streamparse.writing.request_format import join_system_text

__all__ = ["read_turns", "written_turns"]

_THOUGHT: Final = "thought as it came"
_FIELDS: Final = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks")


class _Chat(OpenAI):
    """Chat completions between two who both know the fields of thought."""

    def has_place_for(self, item: Item, /) -> bool:
        return item.kind == _THOUGHT or super().has_place_for(item)

    def read_thought(self, message: Mapping[str, Any]) -> list[Part]:
        fields = {field: message[field] for field in _FIELDS if message.get(field)}
        return [Item(_THOUGHT, fields)] if fields else []

    def write_thought(self, turn: Message, _lost: list[Loss], /) -> dict[str, Any]:
        return next((part.data for part in turn.parts if isinstance(part, Item) and part.kind == _THOUGHT), {})


_WRITERS: Final[Mapping[str, Adapter]] = {
    "openai-chat": _Chat(),
    "anthropic": ADAPTERS["anthropic"],
    "ollama-chat": ADAPTERS["ollama"],
}
"""Who writes a history, by the wire that both sides speak."""


def read_turns(request: Mapping[str, Any], read: Request, wire: str) -> list[Message]:
    """Return the turns of a request, as `written_turns` writes them; `read` is what was read of it for any other."""
    return _WRITERS[wire].read_messages(request.get("messages"), []) if wire == "openai-chat" else read.messages


def written_turns(asked: Request, wire: str, lost: list[Loss]) -> dict[str, Any]:
    """Return the fields of a request that hold its turns, in the words of the wire that they came in."""
    adapter = _WRITERS[wire]
    if not adapter.traits.separate_system:
        return {"messages": adapter.write_messages(asked.messages, lost)}
    messages = adapter.write_messages([turn for turn in asked.messages if turn.role != "system"], lost)
    system = join_system_text(asked, lost)
    return {"messages": messages, **({"system": system} if system else {})}
