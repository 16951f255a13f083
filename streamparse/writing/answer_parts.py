"""An answer in the order in which it came, and as the parts of a message that is sent back.

`ParsedResponse` holds text, thought, calls and items apart, with a mark for each call and each item.  `arrange_answer`
puts them in order again, and `read_answer` makes the parts of `streamparse.writing.parts` from them.

Two shapes of thought come in pieces, of which a stream has only the ends; here they are made whole:

| field | a piece |
|---|---|
| `reasoning_details` | an entry begins with an unsigned piece, and ends with one that signs or hides the thought |
| `thinking_blocks` | the end of the thought with its signature |
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from streamparse.response import ParsedResponse
from streamparse.writing.json_access import read_call
from streamparse.writing.parts import CITATION, SIGNATURE, TEXT_BORDER, Item, Part, Text, Thought, is_item

_SEALS: Final = ("signature", "reasoning", "thinking_blocks")
_DETAIL: Final = "reasoning."
_TEXTS: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


def arrange_answer(response: ParsedResponse) -> list[Part]:
    """Return the parts of an answer in the order in which they came; a refusal is text, and revoked calls are left out.

    Between two marks the order of text and thought is not known: the thought is taken to come first, and last where an
    item ends it, unless another has just begun it.
    """
    return [part for part in _arrange(response) if not isinstance(part, (Text, Thought)) or part.text]


def _arrange(response: ParsedResponse) -> Iterator[Part]:
    calls = {call.index: call for call in response.tool_calls if not call.revoked}
    items = {place: _make_item(item) for place, item in enumerate(response.items) if "about" not in item}
    content = reasoning = 0
    has_begun = False
    if not response.order:
        yield Thought(response.reasoning)
        reasoning = len(response.reasoning)
    for mark in response.order:
        text = Text(response.content[content : mark.content])
        thought = Thought(response.reasoning[reasoning : mark.reasoning])
        content, reasoning = max(content, mark.content), max(reasoning, mark.reasoning)
        item = items.get(mark.index) if mark.what == "item" else None
        yield from (text, thought) if item is not None and _ends_thought(item) and not has_begun else (thought, text)
        has_begun = item is not None and item.kind.startswith(_DETAIL) and not _ends_thought(item)
        part = items.pop(mark.index, None) if mark.what == "item" else calls.pop(mark.index, None)
        if part is not None:
            yield part
            content = max(content, mark.content + mark.length)
    yield Thought(response.reasoning[reasoning:])
    yield from items.values()
    yield Text(response.content[content:])
    yield Text(response.refusal)
    yield from calls.values()


def _ends_thought(item: Item) -> bool:
    """Whether an item ends a thought: text since the mark before it came first."""
    return item.kind in _SEALS or (item.kind.startswith(_DETAIL) and ends_detail(item.data))


def ends_detail(piece: Any) -> bool:
    """Whether a piece of an entry of OpenRouter's `reasoning_details` ends it: it signs or hides the thought."""
    return isinstance(piece, dict) and bool(piece.get("signature") or piece.get("data"))


def join_details(pieces: Iterable[str | dict[str, Any]]) -> list[dict[str, Any]]:
    """Return whole entries of OpenRouter's `reasoning_details`, made of thoughts and pieces of entries as they came.

    A piece that does not end an entry begins one, and the thoughts after it belong to that.  One that does ends the
    open entry if it has its index and its type; else it is an entry by itself, with the thoughts before it.
    """
    entries: list[dict[str, Any]] = []
    texts: list[str] = []
    is_open = False
    for piece in pieces:
        if isinstance(piece, str):
            texts.append(piece)
            continue
        ends = ends_detail(piece)
        if not (is_open and ends and _is_same_entry(entries[-1], piece)):
            texts = _put_texts(texts, entries[-1]) if is_open else texts if ends else []
            entries.append({})
        entries[-1].update(piece)
        texts = _put_texts(texts, entries[-1]) if ends else texts
        is_open = not ends
    if is_open:
        _put_texts(texts, entries[-1])
    return entries


def complete_block(block: dict[str, Any], thought: str) -> dict[str, Any]:
    """Return one of LiteLLM's `thinking_blocks` with all of its thought: a stream has only the signed end."""
    if block.get("type") == "redacted_thinking":
        return block
    end = block.get("thinking")
    return {**block, "thinking": thought if not isinstance(end, str) or thought.endswith(end) else end}


def _is_same_entry(entry: dict[str, Any], piece: dict[str, Any]) -> bool:
    return all(entry.get(key) == piece.get(key) for key in ("type", "index"))


def _put_texts(texts: list[str], entry: dict[str, Any]) -> list[str]:
    """Put thoughts into an entry, and return those that have no place in it."""
    field = _TEXTS.get(entry.get("type", ""))
    if field is None or not texts:
        return texts
    entry[field] = "".join(texts)
    return []


def _make_item(item: dict[str, Any]) -> Item:
    index = item.get("index")
    return Item(str(item.get("kind")), item.get("data"), index if isinstance(index, int) else None)


def read_answer(response: ParsedResponse) -> list[Part]:
    """Return the parts of an answer in the order in which they came (`arrange_answer`); a refusal is text.

    A call that broke is one of the parts, so that its result has its call: with the arguments that can be read of it,
    or without any.
    Each text is a block of its own, directly after its citations.  A signature of Gemini's that came by itself comes
    after an empty text.
    """
    if response.broken_calls:
        broken = [replace(read_call(each.name, each.raw, each.id), index=each.index) for each in response.broken_calls]
        calls = sorted([*response.tool_calls, *broken], key=lambda call: call.index)
        response = replace(response, tool_calls=calls)
    return list(_join_texts(arrange_answer(response)))


def _join_texts(parts: Iterable[Part]) -> Iterator[Part]:
    """Join texts up to the border of their block, and put their citations before them."""
    texts: list[str] = []
    citations: list[Part] = []
    before: Part | None = None
    is_at_border = False
    for part in (*parts, None):
        if isinstance(part, Text):
            texts.append(part.text)
        elif is_item(part, CITATION):
            citations.append(part)
        else:
            yield from citations
            yield from [Text("".join(texts))] if texts else []
            has_words = bool(texts) or isinstance(before, Thought)
            yield from [Text("")] if has_words and not is_at_border and _is_loose_signature(part) else []
            texts, citations, before = [], [], part
            is_at_border = is_item(part, TEXT_BORDER) or (is_at_border and isinstance(part, Thought))
            yield from [part] if part is not None and not is_item(part, TEXT_BORDER) else []


def _is_loose_signature(part: Part | None) -> bool:
    return is_item(part, SIGNATURE) and part.index is None
