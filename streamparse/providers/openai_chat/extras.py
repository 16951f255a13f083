"""What an assistant's message of chat completions holds beside text, thought and calls of functions.

| item | where it goes |
|---|---|
| `custom_tool_call`, a call of a tool that takes text | behind the calls of functions (`customs`) |
| `audio`, an answer that was spoken | `audio`, by its id alone |
| `thinking_blocks` of LiteLLM | whole blocks again, with the thoughts that they sign |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from streamparse.writing.answer_parts import complete_block
from streamparse.writing.custom_tools import CALL, OUTPUT, chat_call
from streamparse.writing.json_access import mappings, present, string
from streamparse.writing.naming import Ids
from streamparse.writing.parts import Item, Part, Thought

__all__ = ["BESIDE", "custom_calls", "read_beside", "read_blocks_of_thought", "spoken_answer", "thoughts"]

BESIDE = (CALL, OUTPUT, "audio", "thinking_blocks")
"""The items that have a place of their own; results of custom calls have it behind the message."""


def custom_calls(parts: Iterable[Part], ids: Ids) -> list[dict[str, Any]]:
    """The calls of tools that take text."""
    return [chat_call(part.data, ids) for part in parts if isinstance(part, Item) and part.kind == CALL]


def spoken_answer(parts: Iterable[Part]) -> dict[str, Any]:
    """The field that names an answer that was spoken; a stream tells its id once, in some piece."""
    pieces = (part.data for part in parts if isinstance(part, Item) and part.kind == "audio")
    ids = (string(piece, "id") for piece in pieces)
    return next(({"audio": {"id": id}} for id in ids if id), {})


def thoughts(parts: Iterable[Part]) -> dict[str, Any]:
    """The field for LiteLLM's blocks of thought, if there are any."""
    texts: list[str] = []
    blocks: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Thought):
            texts.append(part.text)
        elif isinstance(part, Item) and part.kind == "thinking_blocks" and isinstance(part.data, dict):
            blocks.append(complete_block(part.data, "".join(texts)))
            texts = []
    return present(thinking_blocks=blocks)


def read_beside(message: Mapping[str, Any]) -> list[Part]:
    """The custom calls and the spoken answer of a message."""
    customs = [call for call in mappings(message.get("tool_calls")) if string(call, "type") == "custom"]
    found: list[Part] = [Item(CALL, dict(call)) for call in customs]
    return found + [Item("audio", dict(audio)) for audio in mappings([message.get("audio")])]


def read_blocks_of_thought(message: Mapping[str, Any]) -> list[Part]:
    """LiteLLM's blocks of thought in a message."""
    parts: list[Part] = []
    for block in mappings(message.get("thinking_blocks")):
        text = string(block, "thinking")
        parts += [Thought(text)] if text else []
        parts += [Item("thinking_blocks", dict(block))] if {"signature", "data"} & block.keys() else []
    return parts
