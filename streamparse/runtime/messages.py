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

from collections.abc import Callable, Container, Iterable
from itertools import zip_longest
from typing import Final

from msgspec.structs import replace

from streamparse.loss import Loss, Translation
from streamparse.response import ToolCall
from streamparse.runtime.rounds import Entry, Round, is_signature, read_round
from streamparse.tools import ToolResult
from streamparse.writing.adapter import NO_ANSWER, Adapter
from streamparse.writing.correlation import drop_halves
from streamparse.writing.parts import SIGNATURE, Item, Message, Part, Role, Text, Thought
from streamparse.writing.results import show_result

# In place of a prompt that says nothing, and before an answer that no prompt asked for
NO_PROMPT: Final = "(no prompt)"
NO_RESULT: Final = "(the tool returned nothing)"  # in place of a result that shows nothing


def write_turns(
    system: str,
    entries: Iterable[Entry],
    omitted: int,
    adapter: Adapter,
    model: str,
    lost: list[Loss],
    declared: Container[str] = (),
) -> list[Message]:
    """Write the turns of a conversation, with only what this provider accepts.

    `declared` are the names of the tools that are sent along: they stay as they are, as their definitions do.
    """
    conversation = _Conversation(adapter, model, lost, declared)
    for number, entry in enumerate(entries):
        if isinstance(entry, Round):
            conversation.add_round(entry)
        else:
            conversation.add("user", entry.parts)
        if omitted and number == 0:  # the first prompt is the task
            conversation.add("user", [Text(describe_omission(omitted))])
    head = [Message("system", [Text(system)])] if system.strip() else []
    return [*head, *conversation.finish()]


def write_messages(system: str, entries: Iterable[Entry], omitted: int, adapter: Adapter, model: str) -> Translation:
    """Write the messages of a conversation, and list the losses."""
    lost: list[Loss] = []
    turns = write_turns(system, entries, omitted, adapter, model, lost)
    spoken = [turn for turn in turns if turn.role != "system" or not adapter.traits.separate_system]
    written = adapter.write_messages(spoken, lost)
    adapter.add_warnings(written, lost)
    return Translation(written, list(dict.fromkeys(lost)))


def describe_omission(rounds: int) -> str:
    """Say to the model, after the task, how many rounds were left out."""
    what = "1 earlier answer" if rounds == 1 else f"{rounds} earlier answers"
    return f"[{what} of this conversation, with the results of the tools, left out here]"


class _Conversation:
    """The turns so far, for one provider."""

    def __init__(self, adapter: Adapter, model: str, lost: list[Loss], declared: Container[str]) -> None:
        self._adapter = adapter
        self._declared = declared
        self._model = model
        self._lost = lost
        self._turns: list[Message] = []
        self._ids: set[str] = set()
        self._number = 0
        self._is_paused = False

    def add(self, role: Role, parts: Iterable[Part]) -> None:
        """Add to the last turn if it has this role, else a turn."""
        if not self._turns or self._turns[-1].role != role:
            self._turns.append(Message(role, []))
        self._turns[-1].parts.extend(parts)

    def add_round(self, entry: Round) -> None:
        """Add an answer and the results of its calls."""
        sent = read_round(entry, self._adapter, self._model, self._lost)
        self._is_paused = entry.response.ok
        if not self._turns:
            self.add("user", [])
        parts: list[Part] = []
        answers: list[Part] = []
        # Calls in the order of their indexes: some adapters write them so, and the results are in it.
        calls = iter(sorted((part for part in sent.parts if isinstance(part, ToolCall)), key=lambda call: call.index))
        for part in sent.parts:
            if isinstance(part, ToolCall):
                call = next(calls)
                call = replace(call, id=self._claim_id(call.id), name=self._choose_name(call.name))
                parts.append(call)
                answers.append(_address_result(sent.results[call.index], call))
            else:
                parts.append(part)
        answers += [Text(note) for note in sent.notes]
        self.add("assistant", parts)
        if answers:
            self.add("user", answers)

    def finish(self) -> list[Message]:
        """Return the turns, none of them empty."""
        last = len(self._turns) - 1
        turns = []
        for number, turn in enumerate(self._turns):
            if turn.role == "assistant":
                parts = _drop_parts(turn.parts, _is_empty, is_signature)
                parts = self._fill_answer(drop_halves(parts, is_paused=self._is_paused and number == last))
            else:
                parts = [part for part in turn.parts if not isinstance(part, Text) or part.text.strip()]
                parts = parts or [Text(NO_PROMPT)]
            turns.append(replace(turn, parts=parts))
        return self._adapter.adapt_messages(turns, self._model)

    def _choose_name(self, name: str) -> str:
        """Find a name that the provider takes.

        One that is declared stays: there are servers that take more than the provider itself does, and the model would
        call the tool by the name that it has in the history.
        """
        return name if name in self._declared else self._adapter.traits.names.normalize(name)

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
