"""What an answer holds, as one record: the sum of its events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from streamparse.events import Error, Place, ProviderItem, ReasoningDelta, RefusalDelta, Source, TextDelta
from streamparse.finish_reasons import Stop, find_stop, full_reason
from streamparse.usage import TokenCounts, count_tokens

__all__ = [
    "AnswerPart",
    "BrokenCall",
    "Mark",
    "ParsedResponse",
    "ToolCall",
    "ToolIntent",
    "Writer",
    "block_of",
    "details_of",
    "ends_detail",
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
    place: Place = "field"


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
    `formats` names by the index of each call that was found in the text, whole or broken, the dialect that it is
    written in, or "json-content"; calls that are not there came natively.
    """

    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    tool_calls: list[ToolCall] = []
    broken_calls: list[BrokenCall] = []
    intents: list[ToolIntent] = []
    items: list[dict[str, Any]] = []
    order: list[Mark] = []
    formats: dict[int, str] = {}
    errors: list[Error] = []
    finish_reason: str | None = None
    usage: dict[str, Any] | None = None
    ok: bool = False
    raw_response: Any = None

    @property
    def stop(self) -> Stop | None:
        """Why the answer ended, in one word for all servers; None before it ended, and for a reason nobody knows.

        "tools" wherever calls wait for results, also those that broke, whatever the server's word for it.  An answer
        of which nothing counts, for its server failed or it made no sense, is "error".
        """
        details = next((item["data"] for item in self.items if item["kind"] == "incomplete_details"), None)
        reason = full_reason(self.finish_reason, details)
        word: Stop | None = "end" if reason is None and self.ok else find_stop(reason)
        if word == "filter" or (self.refusal and not self.ok and any(call.revoked for call in self.tool_calls)):
            return "filter"
        if any(error.scope == "stream" or error.code == "ambiguous_markup" for error in self.errors):
            return "error"
        waits = bool(self.broken_calls) or any(not call.revoked for call in self.tool_calls)
        return "tools" if word == "end" and waits else word

    @property
    def tokens(self) -> TokenCounts:
        """The tokens that were read and written, in one shape for all servers; 0 where the server has not said."""
        return count_tokens(self.usage)

    def as_message(self, provider: str) -> Any:
        """The assistant's turn, to be sent back to one of `streamparse.providers.ADAPTERS`.

        It holds all that the provider wants returned (signatures, encrypted thought, ids), in the order in which it
        came; calls that the server took back are left out.  Calls that broke stand in it, with what can be read of
        their arguments: each wants an answer as the others do (`ToolRunner` gives it, or `repair.answer_broken`).
        A message, or for "openai-responses" a list of items.
        Raises ValueError for an unknown provider.
        """
        from streamparse.providers.names import known_as  # noqa: PLC0415 - so that `import streamparse` stays light

        writers = _source[0]()
        if (name := known_as(provider, writers)) is None:
            raise ValueError(f"unknown provider {provider!r}; known are: {', '.join(writers)}")
        return writers[name](self)


AnswerPart: TypeAlias = TextDelta | ReasoningDelta | RefusalDelta | ProviderItem | ToolCall
"""A piece of an answer, in the words of its events."""

_SEALS: Final = ("signature", "reasoning", "thinking_blocks")
_DETAIL: Final = "reasoning."
_TEXTS: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


def parts_of(response: ParsedResponse) -> list[AnswerPart]:
    """What came, in the order in which it came; calls that were taken back are left out.

    Between two marks text and thought are not told apart by order: the thought is taken to come first, and last where
    an item seals it, unless another has just begun it.
    """
    return [part for part in _parts_of(response) if isinstance(part, (ProviderItem, ToolCall)) or part.text]


def _parts_of(response: ParsedResponse) -> Iterator[AnswerPart]:
    calls = {call.index: call for call in response.tool_calls if not call.revoked}
    items = {place: _item(item) for place, item in enumerate(response.items)}
    content = reasoning = 0
    begun = False
    if not response.order:
        yield ReasoningDelta(response.reasoning)
        reasoning = len(response.reasoning)
    for mark in response.order:
        text = TextDelta(response.content[content : mark.content])
        thought = ReasoningDelta(response.reasoning[reasoning : mark.reasoning])
        content, reasoning = max(content, mark.content), max(reasoning, mark.reasoning)
        item = items.get(mark.index) if mark.what == "item" else None
        yield from (text, thought) if item is not None and _seals(item) and not begun else (thought, text)
        begun = item is not None and item.kind.startswith(_DETAIL) and not _seals(item)
        part = items.pop(mark.index, None) if mark.what == "item" else calls.pop(mark.index, None)
        if part is not None:
            yield part
    yield ReasoningDelta(response.reasoning[reasoning:])
    yield from items.values()
    yield TextDelta(response.content[content:])
    yield RefusalDelta(response.refusal)
    yield from calls.values()


def _seals(item: ProviderItem) -> bool:
    """Whether an item ends a thought: text that came beside it came before it."""
    return item.kind in _SEALS or (item.kind.startswith(_DETAIL) and ends_detail(item.data))


def ends_detail(piece: Any) -> bool:
    """Whether a piece of an entry of OpenRouter's `reasoning_details` ends it, for it signs or hides the thought."""
    return isinstance(piece, dict) and bool(piece.get("signature") or piece.get("data"))


def details_of(pieces: Iterable[str | dict[str, Any]]) -> list[dict[str, Any]]:
    """Whole entries of OpenRouter's `reasoning_details`, of thoughts and of pieces of entries, as they came.

    A piece that does not end an entry begins one, which the thoughts behind it belong to.  One that does ends that
    which is open if it has its index and its type; else it is an entry by itself, with the thoughts before it.
    """
    entries: list[dict[str, Any]] = []
    texts: list[str] = []
    is_open = False
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        ends = ends_detail(piece)
        if not (is_open and ends and _of_one(entries[-1], piece)):
            texts = _put(texts, entries[-1]) if is_open else texts if ends else []
            entries.append({})
        entries[-1].update(piece)
        texts = _put(texts, entries[-1]) if ends else texts
        is_open = not ends
    if is_open:
        _put(texts, entries[-1])
    return entries


def block_of(block: dict[str, Any], thought: str) -> dict[str, Any]:
    """One of LiteLLM's `thinking_blocks` with all of its thought: a stream has but the end of it with the signature."""
    if block.get("type") == "redacted_thinking":
        return block
    end = block.get("thinking")
    return {**block, "thinking": thought if not isinstance(end, str) or thought.endswith(end) else end}


def _of_one(entry: dict[str, Any], piece: dict[str, Any]) -> bool:
    return all(entry.get(key) == piece.get(key) for key in ("type", "index"))


def _put(texts: list[str], entry: dict[str, Any]) -> list[str]:
    """Put thoughts into an entry, and return those that have no place in it."""
    field = _TEXTS.get(entry.get("type", ""))
    if field is None or not texts:
        return texts
    entry[field] = "".join(texts)
    return []


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
