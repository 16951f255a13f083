"""A whole answer, as far as a client may be told of it: its parts in their order, its calls, and how it ended."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from streamparse.emit.reasons import Meaning, meaning_of
from streamparse.events import Error, ProviderItem, ReasoningDelta, RefusalDelta, TextDelta
from streamparse.response import Mark, ParsedResponse, ToolCall

__all__ = ["Part", "argument_text", "labelled", "meaning_of_answer", "parts_of", "problem_of", "standing_calls"]

Part: TypeAlias = TextDelta | ReasoningDelta | RefusalDelta | ProviderItem | ToolCall

_SEALS = ("signature", "reasoning.text", "reasoning.encrypted", "reasoning")
"""Items that end a thought: text that came beside it came before it."""

_LABELLED = re.compile(r"([\w.\-]{1,64}): (.*)", re.DOTALL)


def parts_of(response: ParsedResponse) -> list[Part]:
    """What came, in the order in which it came; calls that were taken back are left out.

    Between two marks text and thought are not told apart by order: the thought is taken to come first, and last where
    an item seals it.
    """
    return [part for part in _parts_of(response) if isinstance(part, (ProviderItem, ToolCall)) or part.text]


def standing_calls(response: ParsedResponse) -> list[ToolCall]:
    """The calls that a client may run."""
    return [call for call in response.tool_calls if not call.revoked]


def argument_text(call: ToolCall) -> str:
    """A call's arguments as JSON text: the model's own if it can stand."""
    if call.source == "recovered" or not call.raw:
        return msgspec.json.encode(call.arguments).decode()
    return call.raw


def problem_of(response: ParsedResponse) -> tuple[str, str] | None:
    """Return why the turn failed as a code and a message; None if it did not, or a filter ended it."""
    for error in response.errors:
        if error.scope == "stream":
            return labelled(error)
    if meaning_of_answer(response) == "error":
        return response.finish_reason or "error", "the server took the turn back"
    return None


def meaning_of_answer(response: ParsedResponse) -> Meaning:
    """Return what the end of the turn is to a client."""
    return meaning_of(
        response.finish_reason,
        ok=response.ok,
        called=bool(standing_calls(response)),
        broken=any(error.scope == "call" for error in response.errors),
        refused=bool(response.refusal),
    )


def labelled(error: Error) -> tuple[str, str]:
    """The code and the message of an error; a provider's own code stands before its message."""
    label = _LABELLED.fullmatch(error.message) if error.code == "provider_error" else None
    return (label[1], label[2]) if label else (error.code, error.message)


def _parts_of(response: ParsedResponse) -> Iterator[Part]:
    calls = {call.index: call for call in standing_calls(response)}
    items = {place: _item(item) for place, item in enumerate(response.items)}
    content = reasoning = 0
    if not response.order:
        yield ReasoningDelta(response.reasoning)
        reasoning = len(response.reasoning)
    for mark in response.order:
        text = TextDelta(response.content[content : mark.content])
        thought = ReasoningDelta(response.reasoning[reasoning : mark.reasoning])
        content, reasoning = mark.content, mark.reasoning
        yield from (text, thought) if _seals(mark, items) else (thought, text)
        part = items.pop(mark.index, None) if mark.what == "item" else calls.pop(mark.index, None)
        if part is not None:
            yield part
    yield ReasoningDelta(response.reasoning[reasoning:])
    yield from items.values()
    yield TextDelta(response.content[content:])
    yield RefusalDelta(response.refusal)
    yield from calls.values()


def _seals(mark: Mark, items: dict[int, ProviderItem]) -> bool:
    return mark.what == "item" and mark.index in items and items[mark.index].kind in _SEALS


def _item(item: dict[str, object]) -> ProviderItem:
    index = item.get("index")
    return ProviderItem(str(item.get("kind")), item.get("data"), index if isinstance(index, int) else None)
