"""Writes a history as turns that a provider accepts, whatever happened in the conversation.

| in the history | sent |
|---|---|
| a call that was revoked, and its result | neither; that it had begun is said in words after the results |
| a call that was still open when the answer was cut, and its result | neither; that it was not run is said in words |
| a call that broke for another reason | the call, with its readable part; its result names the fault |
| a call without a result | the call, and a result that says that its outcome is not known |
| a result without a call | nothing |
| ids that repeat, are empty, or are refused | other ids, the same for call and result |
| names of tools that are refused, and not declared in the same request | names like them |
| thoughts, signatures, items | only to their own provider and model; Responses' reasoning only before what it led to |
| thoughts of a cut answer | only those that are signed |
| several prompts, or answers, one after the other | one turn |
| a turn, or a result, of which nothing is left | words that say so |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import zip_longest
from operator import is_
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from streamparse.loss import Loss, Translation
from streamparse.response import ToolCall
from streamparse.runtime.rounds import Entry, Round, is_signature, read_round
from streamparse.tools import ToolResult
from streamparse.writing.adapter import NO_ANSWER, Adapter, JSONObject
from streamparse.writing.correlation import drop_halves
from streamparse.writing.json_access import copy_json
from streamparse.writing.parts import SIGNATURE, Item, Message, Part, Role, Text, Thought
from streamparse.writing.prompts import Lesson
from streamparse.writing.results import show_result

# In place of a prompt that says nothing, and before an answer that no prompt asked for
NO_PROMPT: Final = "(no prompt)"
NO_RESULT: Final = "(the tool returned nothing)"  # in place of a result that shows nothing

_Variant: TypeAlias = tuple[Adapter, str, int, int]
"""For which provider and model an exchange was read, where it begins, and how many rounds it says were left out."""
_PLACE: Final = re.compile(r"\Amessages\[(\d+)\]")


def write_turns(
    system: str, entries: Sequence[Entry], omitted: int, adapter: Adapter, model: str, lost: list[Loss]
) -> list[Message]:
    """Write the turns of a conversation, with only what this provider accepts."""
    exchanges = _Reader(adapter, model, ()).read(entries, omitted)
    lost += [loss for each in exchanges for loss in each.lost]
    turns = adapter.adapt_messages(
        [turn for each in exchanges for turn in each.turns], model, is_thinking=_is_thinking(exchanges)
    )
    head = [Message("system", [Text(system)])] if system.strip() else []
    return [replace(turn, parts=[*turn.parts]) for turn in (*head, *turns)]  # whoever gets them may change them


def write_messages(system: str, entries: Sequence[Entry], omitted: int, adapter: Adapter, model: str) -> Translation:
    """Write the messages of a conversation, and list the losses."""
    lost: list[Loss] = []
    is_said = system.strip() and not adapter.traits.separate_system
    head = adapter.write_separately([Message("system", [Text(system)])] if is_said else [], lost)
    rest = write_entries(entries, omitted, adapter, model, lost, start=len(head))
    written = adapter.join_messages([*head, *rest])
    adapter.add_warnings(written, lost)
    return Translation(written, list(dict.fromkeys(lost)))


def write_entries(
    entries: Sequence[Entry],
    omitted: int,
    adapter: Adapter,
    model: str,
    lost: list[Loss],
    *,
    start: int = 0,
    declared: Container[str] = (),
    lesson: Lesson | None = None,
) -> list[JSONObject]:
    """Write the messages of entries, which `Adapter.join_messages` makes a conversation; `start` is their first place.

    `declared` are the names of the tools that are sent along: they stay as they are, as their definitions do.
    With a `lesson`, calls and results are texts.
    What was written of an entry before is kept beside it, and copied: whoever gets it may change it.
    """
    exchanges = _Reader(adapter, model, declared).read(entries, omitted)
    is_thinking = _is_thinking(exchanges)
    written: list[JSONObject] = []
    for each in exchanges:
        kept = each.write(lesson, is_thinking=is_thinking)
        lost += each.lost
        lost += [_move_loss(loss, start) for loss in kept.lost]
        start += kept.turns
        written += [copy_json(message) for message in kept.messages]
    return written


def describe_omission(rounds: int) -> str:
    """Say to the model, after the task, how many rounds were left out."""
    what = "1 earlier answer" if rounds == 1 else f"{rounds} earlier answers"
    return f"[{what} of this conversation, with the results of the tools, left out here]"


class _Draft:
    """The turns of an exchange while it is read."""

    __slots__ = ("calls", "is_paused", "lost", "turns")

    def __init__(self) -> None:
        self.turns: list[Message] = []
        self.calls: list[tuple[ToolCall, ToolCall]] = []
        self.lost: list[Loss] = []
        self.is_paused = False

    def add(self, role: Role, parts: Iterable[Part]) -> None:
        """Add to the last turn if it has this role, else a turn."""
        if not self.turns or self.turns[-1].role != role:
            self.turns.append(Message(role, []))
        self.turns[-1].parts.extend(parts)


class _Written(NamedTuple):
    """What was written of an exchange, of how many turns, and the losses, which count its turns from 0."""

    messages: list[JSONObject]
    turns: int
    lost: list[Loss]


class _Exchange:
    """An answer and what is said to the model after it; the first one holds what comes before any answer, too.

    What is sent of it does not depend on the others, but for ids of calls that are taken.  So it is read and written
    once, and kept beside its first entry: for the latest way in which it was sent to each provider.
    `calls` are its calls as they came and as they are sent, `rest` its entries but the first.
    """

    __slots__ = ("calls", "is_thinking", "lost", "rest", "turns", "variant", "written")

    def __init__(
        self,
        variant: _Variant,
        rest: Sequence[Entry],
        calls: list[tuple[ToolCall, ToolCall]],
        turns: list[Message],
        lost: list[Loss],
    ) -> None:
        self.variant = variant
        self.rest = rest
        self.calls = calls
        self.turns = turns
        self.lost = lost
        self.is_thinking = any(turn.thought or turn.calls for turn in turns)
        self.written: tuple[tuple[bool, str], _Written] | None = None

    def write(self, lesson: Lesson | None, *, is_thinking: bool) -> _Written:
        """Return what is written of it; nobody may change that."""
        way = (is_thinking, lesson.key if lesson else "")
        if self.written is not None and self.written[0] == way:
            return self.written[1]
        adapter, model, *_ = self.variant
        lost: list[Loss] = []
        turns = adapter.adapt_messages(self.turns, model, is_thinking=is_thinking)
        turns = lesson.write_messages(turns, lost) if lesson else turns
        made = _Written(adapter.write_separately(turns, lost), len(turns), lost)
        self.written = way, made
        return made


class _Reader:
    """Reads entries for one model of one provider."""

    def __init__(self, adapter: Adapter, model: str, declared: Container[str]) -> None:
        self._adapter = adapter
        self._key = f"_written_{adapter.name}"
        self._declared = declared
        self._model = model
        self._ids: set[str] = set()
        self._names: dict[str, str] = {}
        self._number = 0

    def read(self, entries: Sequence[Entry], omitted: int) -> list[_Exchange]:
        """Read the exchanges of a conversation from which so many rounds were left out."""
        exchanges: list[_Exchange] = []
        place = 0
        while place < len(entries):
            variant = (self._adapter, self._model, min(place, 1), 0 if place else omitted)
            exchange = self._find(entries, place, variant) or self._read_exchange(entries, place, variant)
            exchanges.append(exchange)
            place += 1 + len(exchange.rest)
        return exchanges

    def _find(self, entries: Sequence[Entry], place: int, variant: _Variant) -> _Exchange | None:
        """Find the exchange that was kept beside an entry, if it would be read the same now."""
        kept: _Exchange | None = entries[place].__dict__.get(self._key)
        if kept is None or kept.variant != variant:
            return None
        end = place + 1 + len(kept.rest)
        if end < len(entries) and not isinstance(entries[end], Round):
            return None
        if kept.rest and not (end <= len(entries) and all(map(is_, kept.rest, entries[place + 1 : end]))):
            return None
        number = self._number
        claimed = [self._claim_id(call.id) for call, _ in kept.calls]
        for id, (call, sent) in zip(claimed, kept.calls, strict=True):
            if id != sent.id or self._choose_name(call.name) != sent.name:
                self._ids.difference_update(claimed)
                self._number = number
                return None
        return kept

    def _read_exchange(self, entries: Sequence[Entry], place: int, variant: _Variant) -> _Exchange:
        *_, omitted = variant
        draft = _Draft()
        end = place
        while end < len(entries):
            entry = entries[end]
            if isinstance(entry, Round):
                if end > place and draft.turns[-1].role == "user":
                    break
                if end == 0:
                    draft.add("user", [])
                self._read_round(entry, draft)
            else:
                draft.add("user", entry.parts)
            if end == place and omitted:  # the first prompt is the task
                draft.add("user", [Text(describe_omission(omitted))])
            end += 1
        exchange = _Exchange(variant, entries[place + 1 : end], draft.calls, self._finish(draft), draft.lost)
        if draft.turns[-1].role == "user":  # else it may go on, and then says more, or otherwise
            entries[place].__dict__[self._key] = exchange
        return exchange

    def _read_round(self, entry: Round, draft: _Draft) -> None:
        """Add an answer and the results of its calls."""
        sent = read_round(entry, self._adapter, self._model, draft.lost)
        draft.is_paused = entry.response.ok
        parts: list[Part] = []
        answers: list[Part] = []
        # Calls in the order of their indexes: some adapters write them so, and the results are in it.
        calls = iter(sorted((part for part in sent.parts if isinstance(part, ToolCall)), key=lambda call: call.index))
        for part in sent.parts:
            if isinstance(part, ToolCall):
                came = next(calls)
                call = replace(came, id=self._claim_id(came.id), name=self._choose_name(came.name))
                draft.calls.append((came, call))
                parts.append(call)
                answers.append(_address_result(sent.results[call.index], call))
            else:
                parts.append(part)
        answers += [Text(note) for note in sent.notes]
        draft.add("assistant", parts)
        if answers:
            draft.add("user", answers)

    def _finish(self, draft: _Draft) -> list[Message]:
        """Return the turns, none of them empty."""
        last = len(draft.turns) - 1
        turns = []
        for number, turn in enumerate(draft.turns):
            if turn.role == "assistant":
                parts = _drop_parts(turn.parts, _is_empty, is_signature)
                parts = self._fill_answer(drop_halves(parts, is_paused=draft.is_paused and number == last))
            else:
                parts = [part for part in turn.parts if not isinstance(part, Text) or part.text.strip()]
                parts = parts or [Text(NO_PROMPT)]
            turns.append(replace(turn, parts=parts))
        return turns

    def _choose_name(self, name: str) -> str:
        """Find a name that the provider takes.

        One that is declared stays: there are servers that take more than the provider itself does, and the model would
        call the tool by the name that it has in the history.
        """
        chosen = self._names.get(name)
        if chosen is None:
            chosen = name if name in self._declared else self._adapter.traits.names.normalize(name)
            self._names[name] = chosen
        return chosen

    def _claim_id(self, id: str) -> str:
        """Find an id for a call that the provider takes and that no other call has."""
        claimed = self._adapter.traits.ids.normalize(id) if id else ""
        while not claimed or claimed in self._ids:
            claimed = self._adapter.traits.ids.normalize(f"call_{self._number}")
            self._number += 1
        self._ids.add(claimed)
        return claimed

    def _fill_answer(self, parts: list[Part]) -> list[Part]:
        """Return the parts of an answer so that something is visible."""
        if any(isinstance(part, Text) and part.text.strip() for part in parts):
            return parts
        if any(isinstance(part, ToolCall) for part in parts):
            # All texts are blank; Gemini's empty ones hold a signature.
            return _drop_parts(parts, lambda part: isinstance(part, Text), lambda item: item.kind == SIGNATURE)
        kept: list[Part] = [each for each in parts if not isinstance(each, (Text, Thought)) and not _is_mark(each)]
        for message in self._adapter.write_message(Message("assistant", kept), []) if kept else []:
            if any(value not in (None, "", []) for key, value in message.items() if key not in ("role", "type")):
                return parts
        return [*(part for part in parts if not isinstance(part, Text)), Text(NO_ANSWER)]


def _is_thinking(exchanges: Iterable[_Exchange]) -> bool:
    return any(each.is_thinking for each in exchanges)


def _move_loss(loss: Loss, by: int) -> Loss:
    """Return a loss whose place, if it is a message, is so many messages later."""
    match = _PLACE.match(loss.place) if by else None
    return replace(loss, place=f"messages[{int(match[1]) + by}]{loss.place[match.end() :]}") if match else loss


def _drop_parts(parts: list[Part], is_dropped: Callable[[Part], bool], keeps: Callable[[Item], bool]) -> list[Part]:
    """Drop parts, but for those that are followed by an item that keeps them."""
    return [
        part
        for part, following in zip_longest(parts, parts[1:])
        if not is_dropped(part) or (isinstance(following, Item) and keeps(following))
    ]


def _is_empty(part: Part) -> bool:
    """Whether a part is a text of nothing, or a thought of blanks alone."""
    return (isinstance(part, Text) and not part.text) or (isinstance(part, Thought) and not part.text.strip())


def _is_mark(part: Part) -> bool:
    """Whether an item signs something, or says of what kind a text is: by itself it is not an answer."""
    return isinstance(part, Item) and (is_signature(part) or part.index is not None or part.kind == "phase")


def _address_result(result: ToolResult, call: ToolCall) -> ToolResult:
    """Return a result under the id and name that its call is sent with; it shows something."""
    if result.error is None and not any(
        not isinstance(part, Text) or part.text.strip() for part in show_result(result)
    ):
        result = replace(result, result=NO_RESULT)
    return replace(result, call_id=call.id, tool_name=call.name, index=call.index)
