"""Reads a conversation that was held without this library: messages of a provider become prompts and rounds."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from streamparse.response import Mark, ParsedResponse, ToolCall
from streamparse.runtime.rounds import Entry, Prompt, PromptPart, Round
from streamparse.tools import ToolResult
from streamparse.writing.parts import Document, Image, Item, Message, Text, Thought


def read_conversation(messages: Iterable[Message], provider: str, model: str) -> tuple[str, tuple[Entry, ...]]:
    """Return the text of the system's messages, and the entries of a history.

    Results go to the latest answer before them; several answers in a row are rounds of their own.
    """
    system: list[str] = []
    entries: list[Entry] = []
    for message in messages:
        if message.role == "system":
            system += filter(None, [message.text])
        elif message.role == "assistant":
            entries.append(Round(read_response(message), (), provider, model))
        else:
            _add_results(entries, message.results)
            parts: list[PromptPart] = [each for each in message.parts if isinstance(each, (Text, Image, Document))]
            entries += [Prompt(tuple(parts))] if parts else []
    return "\n\n".join(system), tuple(entries)


def _add_results(entries: list[Entry], results: list[ToolResult]) -> None:
    for place in range(len(entries) - 1, -1, -1):
        entry = entries[place]
        if results and isinstance(entry, Round):
            entries[place] = msgspec.structs.replace(entry, results=(*entry.results, *results))
            return


def read_response(message: Message) -> ParsedResponse:
    """Return the answer that a message of the assistant holds, as a parser would have read it."""
    response = ParsedResponse(ok=True, finish_reason="tool_calls" if message.calls else "stop")
    numbers: dict[int | None, int] = {}
    for part in message.parts:
        place = (len(response.content), len(response.reasoning))
        match part:
            case Text(text):
                response.content += text
            case Thought(text):
                response.reasoning += text
            case ToolCall():
                numbers[part.index] = number = len(response.tool_calls)
                response.order.append(Mark("call", number, *place))
                response.tool_calls.append(msgspec.structs.replace(part, index=number))
            case Item(kind, data, index):
                response.order.append(Mark("item", len(response.items), *place))
                item: dict[str, Any] = {"kind": kind, "data": data}
                response.items.append(item if index is None else {**item, "index": numbers.get(index, index)})
    return response
