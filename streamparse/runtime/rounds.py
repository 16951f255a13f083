"""The entries of a history: prompts of the user, and rounds, each an answer and the results of its calls.

`read_round` makes the parts of a round that are sent: the answer's, one result for each call, and notes in words.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, TypeAlias

import msgspec
from msgspec.structs import replace

from streamparse.loss import Loss
from streamparse.repair import answer_broken
from streamparse.response import BrokenCall, ParsedResponse, ToolCall
from streamparse.tools import Effect, ToolResult
from streamparse.writing.adapter import Adapter
from streamparse.writing.answer_parts import ends_detail, read_answer
from streamparse.writing.correlation import THOUGHT_ITEMS
from streamparse.writing.parts import CITATION, SIGNATURE, Document, Image, Item, Part, Text, Thought

PromptPart: TypeAlias = Text | Image | Document


# Beside an entry (`dict=True`) stands what was written of it: `runtime.messages`.


class Prompt(msgspec.Struct, frozen=True, dict=True, tag_field="type", tag="prompt"):
    """What the user said."""

    parts: tuple[PromptPart, ...]


class WaitingCall(msgspec.Struct, frozen=True):
    """A call that did not run yet, because it needs approval, or because such a call has its lock and comes first.

    `key` names it in a decision, and is its idempotency key: run, turn and `index`.  `arguments` are those that were
    checked, and that it will run with.  `needs_approval` says whether a decision about this very call is awaited.
    """

    key: str
    index: int
    name: str
    arguments: dict[str, Any]
    effect: Effect
    needs_approval: bool = True


class Round(msgspec.Struct, frozen=True, dict=True, tag_field="type", tag="round"):
    """One answer of the model, and the results of its calls.  It is written once, so nothing in it may change.

    `provider` is the name of the adapter that the answer came from, and `model` the model's: signatures, thoughts and
    items go back to these alone.  Where one is "", it is not known, and only the kind of an item says whose it is.
    `heard` is what the user heard of the visible text before the answer was cancelled; None if that is not known, or
    all of it.  `waiting` are calls that wait for an approval; their results are placeholders.
    """

    response: ParsedResponse
    results: tuple[ToolResult, ...] = ()
    provider: str = ""
    model: str = ""
    heard: str | None = None
    waiting: tuple[WaitingCall, ...] = ()


Entry: TypeAlias = Prompt | Round

# The result of a call that has none: the program crashed, or the history was cut between call and result
OUTCOME_UNKNOWN: Final = (
    "no result of this call was kept, so it is not known whether it ran; find out before you call it again"
)

_OPEN: Final = "truncated_call"
_ABOUT_TEXT: Final = (CITATION, "annotation", "citation", "audio")
_SIGNATURES: Final = (*THOUGHT_ITEMS, "reasoning", SIGNATURE)
_LONGEST_NOTE: Final = 600  # bound: characters of a note to the model about what was left out

_Call: TypeAlias = ToolCall | BrokenCall


class SentRound(msgspec.Struct, frozen=True):
    """The parts of a round that are sent; `results` holds one for each call among the `parts`, by the call's index."""

    parts: list[Part]
    results: dict[int, ToolResult]
    notes: list[str]


def read_round(entry: Round, adapter: Adapter, model: str, lost: list[Loss]) -> SentRound:
    """Return the parts of a round that are sent to a model of this provider."""
    response = _cut_to_heard(entry.response, entry.heard)
    calls: list[_Call] = [*response.tool_calls, *response.broken_calls]
    results = _match_results(calls, entry.results)
    gone = [call for call in calls if _has_left(call, results.get(call.index))]
    indexes = {call.index for call in gone}
    kept = replace(
        response,
        tool_calls=[call for call in response.tool_calls if call.index not in indexes],
        broken_calls=[call for call in response.broken_calls if call.index not in indexes],
    )
    parts = _drop_foreign(read_answer(kept), entry, adapter, model, lost)
    if response.content != entry.response.content:
        parts = [part for part in parts if not _is_about_text(part)]
    if not response.ok or response.stop == "length":
        parts = _drop_unsigned(parts)
    answers = {call.index: results.get(call.index) or _make_result(call) for call in calls if call.index not in indexes}
    notes = [_describe_leaving(call, results.get(call.index)) for call in gone]
    return SentRound(parts, answers, [note for note in notes if note])


# -- interruptions -----------------------------------------------------------------------------------------


def _cut_to_heard(response: ParsedResponse, heard: str | None) -> ParsedResponse:
    """Cut the visible text to the part that was heard; a text that is no prefix of it takes its place."""
    if heard is None:
        return response
    visible = response.content + response.refusal
    end = _find_end(visible, heard)
    if end is None:
        order = [replace(mark, content=len(heard) if mark.content else 0, length=0) for mark in response.order]
        return replace(response, content=heard, refusal="", order=order)
    content, refusal = visible[: min(end, len(response.content))], visible[len(response.content) : end]
    order = [replace(mark, content=min(mark.content, len(content))) for mark in response.order]
    return replace(response, content=content, refusal=refusal, order=order)


def _find_end(text: str, beginning: str) -> int | None:
    """Find where in a text a beginning of it ends that may have other white space; None if it is no beginning."""
    end = 0
    for character in beginning:
        if character.isspace():
            continue
        while end < len(text) and text[end].isspace():
            end += 1
        if end == len(text) or text[end] != character:
            return None
        end += 1
    return end


def _is_about_text(part: Part) -> bool:
    """Whether an item is about a text, which it may not fit any more."""
    if not isinstance(part, Item):
        return False
    return part.kind in _ABOUT_TEXT or (part.kind == SIGNATURE and part.index is None)


# -- calls and their results -------------------------------------------------------------------------------


def _match_results(calls: Sequence[_Call], results: Iterable[ToolResult]) -> dict[int, ToolResult]:
    """Find the result of each call, by the call's index: by id and index, or by id, or by index where one has no id."""
    found: dict[int, ToolResult] = {}
    left = dict(enumerate(results))

    def match(key: Callable[[str, int], Hashable], *, without_id: bool = False) -> None:
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for number, result in left.items():
            waiting[key(result.call_id, result.index)].append(number)
        for call in calls:
            numbers = waiting.get(key(call.id, call.index))
            if call.index in found or not numbers or (without_id and call.id and left[numbers[0]].call_id):
                continue
            found[call.index] = left.pop(numbers.popleft())

    match(lambda id, index: (id, index))
    match(lambda id, index: id or (id, index))
    match(lambda _id, index: index, without_id=True)
    return found


def _has_left(call: _Call, result: ToolResult | None) -> bool:
    """Whether a call leaves the history: it was revoked, or it never closed."""
    if isinstance(call, BrokenCall):
        return call.code == _OPEN
    return call.revoked or (result is not None and result.revoked)


def _describe_leaving(call: _Call, result: ToolResult | None) -> str:
    """Say what must be known of a call that leaves: "" if it is nothing."""
    if isinstance(call, BrokenCall):
        note = (result.error if result is not None else None) or answer_broken(call).error or ""
    elif result is None or not (result.attempts or result.started is not None):
        return ""
    elif result.error is None:
        note = f"your call of {call.name[:100]!r} was revoked, but it had begun, and ran to its end: what it did stands"
    else:
        note = f"your call of {call.name[:100]!r} was revoked, but it had begun: {result.error}"
    return f"[{note if len(note) <= _LONGEST_NOTE else note[:_LONGEST_NOTE] + '…'}]"


def _make_result(call: _Call) -> ToolResult:
    """Make the result of a call that has none."""
    if isinstance(call, BrokenCall):
        return answer_broken(call)
    return ToolResult(call.id, call.name, error=OUTCOME_UNKNOWN, index=call.index)


# -- thoughts and items ------------------------------------------------------------------------------------


def _drop_foreign(parts: list[Part], entry: Round, adapter: Adapter, model: str, lost: list[Loss]) -> list[Part]:
    """Drop thoughts and items if they are another provider's, or another model's."""
    is_same_provider = entry.provider in ("", adapter.name, adapter.traits.family)
    is_same_model = not (entry.model and model) or entry.model == model
    if is_same_provider and is_same_model:
        return parts
    kinds = [
        "thought" if isinstance(part, Thought) else part.kind for part in parts if isinstance(part, (Thought, Item))
    ]
    whose = "model" if is_same_provider else "provider"
    lost += [Loss("assistant", "", kind, f"dropped: another {whose}'s own") for kind in dict.fromkeys(kinds)]
    return [part for part in parts if not isinstance(part, (Thought, Item))]


def _drop_unsigned(parts: list[Part]) -> list[Part]:
    """Drop thoughts that no signature follows before something else does."""
    kept: list[Part] = []
    is_signed = False
    for part in reversed(parts):
        if isinstance(part, Thought):
            kept += [part] if is_signed else []
        else:
            is_signed = isinstance(part, Item) and is_signature(part)
            kept.append(part)
    return kept[::-1]


def is_signature(item: Item) -> bool:
    """Whether an item signs the thought or the text before it, or holds a thought that only its provider can read."""
    is_of_a_call = item.index is not None
    return not is_of_a_call and (
        item.kind in _SIGNATURES or (item.kind.startswith("reasoning.") and ends_detail(item.data))
    )
