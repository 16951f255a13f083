"""What an answer holds, as one record: the sum of its events."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from streamparse.events import Error, ProviderItem, ReasoningDelta, RefusalDelta, Source, TextDelta

__all__ = [
    "AnswerPart",
    "BrokenCall",
    "Mark",
    "ParsedResponse",
    "ToolCall",
    "ToolIntent",
    "Writer",
    "parts_of",
    "write_with",
]


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A complete call of a tool.

    `arguments` is the decoded object, `raw` the JSON text as the model wrote it.
    """

    name: str
    arguments: dict[str, Any]
    id: str = ""
    source: Source = "native"
    raw: str = ""
    index: int = 0
    revoked: bool = False


class BrokenCall(msgspec.Struct, frozen=True, gc=False):
    """A call that began and never became whole: not to be run, and not lost."""

    name: str
    raw: str
    id: str
    code: str
    index: int = 0


class ToolIntent(msgspec.Struct, frozen=True):
    """Prose in which a model says that it wants a tool ("I'll use the search tool").  Never a call."""

    name: str
    text: str


class Mark(msgspec.Struct, frozen=True, gc=False):
    """Where in an answer a call began, or an item came: behind so many characters of text and of thought.

    `index` is the call's, or the item's place in `items`.
    """

    what: Literal["call", "item"]
    index: int
    content: int
    reasoning: int


class ParsedResponse(msgspec.Struct, kw_only=True):
    """A whole response, or what has come of one so far.

    `order` has a mark for each call and each item, by which they stand between the characters of the text.
    """

    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: list[ToolCall] = []
    broken_calls: list[BrokenCall] = []
    intents: list[ToolIntent] = []
    items: list[dict[str, Any]] = []
    order: list[Mark] = []
    errors: list[Error] = []
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    ok: bool = False
    raw_response: Any = None

    def as_message(self, provider: str) -> Any:
        """The assistant's turn, to be sent back to a provider of `streamparse.adapters.ADAPTERS`.

        It holds all that the provider wants returned (signatures, encrypted thought, ids), in the order in which it
        came; calls that the server took back are left out.  A message, or for "openai-responses" a list of items.
        Raises ValueError for an unknown provider.
        """
        writers = _source[0]()
        if provider not in writers:
            raise ValueError(f"unknown provider {provider!r}; known are: {', '.join(writers)}")
        return writers[provider](self)


AnswerPart: TypeAlias = TextDelta | ReasoningDelta | RefusalDelta | ProviderItem | ToolCall
"""A piece of an answer, in the words of its events."""

_SEALS: Final = ("signature", "reasoning.text", "reasoning.encrypted", "reasoning")
"""Items that end a thought: text that came beside it came before it."""


def parts_of(response: ParsedResponse) -> list[AnswerPart]:
    """What came, in the order in which it came; calls that were taken back are left out.

    Between two marks text and thought are not told apart by order: the thought is taken to come first, and last where
    an item seals it.
    """
    return [part for part in _parts_of(response) if isinstance(part, (ProviderItem, ToolCall)) or part.text]


def _parts_of(response: ParsedResponse) -> Iterator[AnswerPart]:
    calls = {call.index: call for call in response.tool_calls if not call.revoked}
    items = {place: _item(item) for place, item in enumerate(response.items)}
    content = reasoning = 0
    if not response.order:
        yield ReasoningDelta(response.reasoning)
        reasoning = len(response.reasoning)
    for mark in response.order:
        text = TextDelta(response.content[content : mark.content])
        thought = ReasoningDelta(response.reasoning[reasoning : mark.reasoning])
        content, reasoning = max(content, mark.content), max(reasoning, mark.reasoning)
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


def _item(item: dict[str, Any]) -> ProviderItem:
    index = item.get("index")
    return ProviderItem(str(item.get("kind")), item.get("data"), index if isinstance(index, int) else None)


Writer: TypeAlias = Callable[[ParsedResponse], Any]
"""Writes an answer as the message of one provider."""


def _no_writers() -> Mapping[str, Writer]:
    return {}


_source: list[Callable[[], Mapping[str, Writer]]] = [_no_writers]


def write_with(source: Callable[[], Mapping[str, Writer]]) -> None:
    """Say where the writers of `ParsedResponse.as_message` come from: by the provider's name, asked when one is needed.

    A response knows nothing of providers; the room that does says so here.
    """
    _source[0] = source
