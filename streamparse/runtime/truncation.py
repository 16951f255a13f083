"""Leaves out the oldest rounds of a conversation: by their number, or by the tokens that they take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from streamparse.response import BrokenCall, ToolCall
from streamparse.runtime.rounds import Entry, Prompt, PromptPart, Round
from streamparse.tools import ToolResult
from streamparse.writing.content import decode_text_document
from streamparse.writing.parts import Document, Text
from streamparse.writing.results import show_result

CountTokens: TypeAlias = Callable[[str], int]

_BYTES_OF_A_TOKEN: Final = 3
_BYTES_OF_A_TOKEN_IN_PDF: Final = 25
_TOKENS_OF_A_PICTURE: Final = 1600
"""What Anthropic counts at most, for 1.15 megapixels; others count less.
https://docs.anthropic.com/en/docs/build-with-claude/vision
"""
_TOKENS_AROUND: Final = 4
"""What the markers around a message, a call or a result take."""


def estimate_tokens(text: str) -> int:
    """Count a token for each 3 bytes of UTF-8."""
    return -(-len(text.encode("utf-8", "surrogatepass")) // _BYTES_OF_A_TOKEN)


def describe_omission(rounds: int) -> str:
    """Say to the model how many rounds were left out, behind the task."""
    what = "1 earlier answer" if rounds == 1 else f"{rounds} earlier answers"
    return f"[{what} of this conversation, with the results of the tools, left out here]"


def keep_rounds(entries: Sequence[Entry], most: int) -> tuple[Entry, ...]:
    """Keep the task, the latest `most` rounds (at least one), and what stands between these."""
    places = _places_of_rounds(entries)
    number = max(most, 1)
    return _keep_from(entries, places[-number]) if len(places) > number else tuple(entries)


def keep_tokens(entries: Sequence[Entry], system: str, most: int, count: CountTokens | None) -> tuple[Entry, ...]:
    """Keep as many of the latest rounds as `most` tokens hold beside the system's words, the task and the note."""
    counted = count or estimate_tokens
    sizes = [_size_of(entry, counted) for entry in entries]
    places = _places_of_rounds(entries)
    if not places or sum(sizes) + counted(system) <= most:
        return tuple(entries)
    fixed = counted(system) + sum(sizes[: places[0]]) + counted(describe_omission(len(places)))
    behind = [*accumulate(reversed(sizes))][::-1]
    for place in places[1:]:
        answered = sum(sizes[each] for each in _prompts_answered(entries, place))
        if fixed + answered + behind[place] <= most:
            return _keep_from(entries, place)
    return _keep_from(entries, places[-1])


def _places_of_rounds(entries: Sequence[Entry]) -> list[int]:
    return [place for place, entry in enumerate(entries) if isinstance(entry, Round)]


def _keep_from(entries: Sequence[Entry], place: int) -> tuple[Entry, ...]:
    """Keep the task, as one prompt, and from the round at this place on; the prompts that this round answers stay."""
    first = _places_of_rounds(entries)[0]
    if place <= first:
        return tuple(entries)
    task = Prompt(tuple(part for entry in entries[:first] if isinstance(entry, Prompt) for part in entry.parts))
    prompts = [entries[each] for each in _prompts_answered(entries, place)]
    return (task, *prompts, *entries[place:])


def _prompts_answered(entries: Sequence[Entry], place: int) -> range:
    """The places of the prompts that the round at this place answers; none if it is the task that it answers."""
    first = _places_of_rounds(entries)[0]
    end = place
    while end > first and isinstance(entries[end - 1], Round):
        end -= 1
    start = end
    while start > first and isinstance(entries[start - 1], Prompt):
        start -= 1
    return range(start, end)


def _size_of(entry: Entry, count: CountTokens) -> int:
    if isinstance(entry, Prompt):
        return _TOKENS_AROUND + sum(_size_of_part(part, count) for part in entry.parts)
    response = entry.response
    calls: list[ToolCall | BrokenCall] = [*response.tool_calls, *response.broken_calls]
    texts = [response.content, response.reasoning, response.refusal]
    texts += [text for call in calls for text in (call.name, call.raw)]
    texts += [str(item.get("data")) for item in response.items]
    sizes = [count(text) for text in texts if text] + [_size_of_result(result, count) for result in entry.results]
    return sum(sizes) + _TOKENS_AROUND * (1 + len(calls))


def _size_of_result(result: ToolResult, count: CountTokens) -> int:
    if result.error is not None:
        return _TOKENS_AROUND + count(result.error)
    return _TOKENS_AROUND + sum(_size_of_part(part, count) for part in show_result(result))


def _size_of_part(part: PromptPart, count: CountTokens) -> int:
    if isinstance(part, Text):
        return count(part.text)
    if isinstance(part, Document) and (text := decode_text_document(part)) is not None:
        return count(text)
    size = len(part.data) * 3 // 4 if isinstance(part, Document) else 0  # base64
    return max(_TOKENS_OF_A_PICTURE, size // _BYTES_OF_A_TOKEN_IN_PDF)
