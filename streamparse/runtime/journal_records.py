"""What a journal holds: one JSON object a line, in the order in which things happened.

| record | says | written |
|---|---|---|
| `run` | format version, id, the history given with the prompt, the tools with their effects and schemas | first |
| `sent` | which model was asked with how many messages; neither body, headers nor keys | before it is asked |
| `answering` | whose words the answer comes in | before its first event |
| `step` | facts of the turn, what began because of them, results, requests for approval | before anything is done, or shown |
| `turn` | the end of a request | before the next one |
| `spent` | what an agent has cost that a tool has asked | |
| `waited` | a pause before another attempt is over | |
| `interrupted` | the run was cancelled | |
| `decision` | a call that waited was approved, or denied | before it begins |
| `taken_up` | the calls that waited begin as they were decided | before they do |
| `end` | how the run ended | before its last item |
"""  # noqa: E501 - a row of a table is one line

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from streamparse.events import Event
from streamparse.loss import Loss
from streamparse.response import ParsedResponse
from streamparse.runtime import facts as turn_facts
from streamparse.runtime.history import History
from streamparse.runtime.loop_facts import Finish
from streamparse.runtime.model_failures import ModelFailure
from streamparse.runtime.rounds import WaitingCall
from streamparse.runtime.run_options import Decision
from streamparse.tools import Effect, ToolResult
from streamparse.usage import TokenCounts

VERSION: Final = 1  # source: the records of this module


class _Record(msgspec.Struct, frozen=True, kw_only=True, tag_field="t", omit_defaults=True):
    """A line."""


class DeclaredTool(msgspec.Struct, frozen=True):
    """A tool as it was when the run began."""

    name: str
    effect: Effect
    parameters: dict[str, Any]


class Began(_Record, frozen=True, tag="run"):
    """The run begins; `at` is on its own clock, which stands still while no process runs it.

    `decisions`: by key, on calls of the history that waited.
    """

    version: int
    id: str
    history: History
    tools: tuple[DeclaredTool, ...]
    at: float
    decisions: dict[str, Decision] = {}


class Sent(_Record, frozen=True, tag="sent"):
    """A model is asked, by its place and its name, with so many messages."""

    number: int
    model: int
    name: str
    messages: int
    tier: int
    at: float


class Answering(_Record, frozen=True, tag="answering"):
    """An answer begins: the provider's words, and the model that was asked."""

    provider: str
    model: str


class Read(msgspec.Struct, frozen=True, tag=True):
    """Stands for `Received` of each of these events: what one read gave."""

    events: tuple[Event, ...]
    at: float


TakenFact: TypeAlias = (
    Read
    | turn_facts.Received
    | turn_facts.Opened
    | turn_facts.Misread
    | turn_facts.SourceEnded
    | turn_facts.Returned
    | turn_facts.Abandoned
    | turn_facts.Asked
    | turn_facts.Approval
    | turn_facts.Withdrawn
    | turn_facts.Cancelled
    | turn_facts.Woke
    | turn_facts.Suspended
    | turn_facts.Restarted
)


class Step(_Record, frozen=True, tag="step"):
    """Facts of the turn, and what came of them.

    `response` is the whole answer, with the facts in which it ended.  `is_redacted` says that something in the facts
    was replaced, so that no turn can be made of them.
    """

    facts: tuple[TakenFact, ...]
    began: tuple[str, ...] = ()
    items: tuple[ToolResult | turn_facts.ApprovalRequest, ...] = ()
    response: ParsedResponse | None = None
    is_redacted: bool = False

    @property
    def answers(self) -> list[ToolResult]:
        """The results of calls."""
        return [item for item in self.items if isinstance(item, ToolResult)]

    @property
    def requests(self) -> list[turn_facts.ApprovalRequest]:
        """The requests for approval."""
        return [item for item in self.items if not isinstance(item, ToolResult)]


class TurnEnded(_Record, frozen=True, tag="turn"):
    """A request is over; `is_answered` says that an answer came, `response` is there if no step has it.

    `marks` have the index of each result whose marks changed after it was there: revoked, and incomplete.
    """

    number: int
    at: float
    is_answered: bool = True
    response: ParsedResponse | None = None
    marks: tuple[tuple[int, bool, bool], ...] = ()
    placeholders: tuple[ToolResult, ...] = ()
    provider: str = ""
    model: str = ""
    failure: ModelFailure | None = None
    waiting: tuple[WaitingCall, ...] = ()
    waited: float = 0.0
    lost: tuple[Loss, ...] = ()


class PauseEnded(_Record, frozen=True, tag="waited"):
    """The time of a pause is over."""

    at: float


class Cancelled(_Record, frozen=True, tag="interrupted"):
    """The run was cancelled; `heard` is what was heard of its last answer."""

    at: float
    heard: str | None = None


class Spent(_Record, frozen=True, tag="spent"):
    """An agent that a tool has asked has cost so many tokens."""

    tokens: TokenCounts
    at: float


class Decided(_Record, frozen=True, tag="decision"):
    """A call that waited may run, or may not."""

    key: str
    granted: bool
    why: str = ""


class TakenUp(_Record, frozen=True, tag="taken_up"):
    """The calls of the latest answer that waited begin; the steps that follow are theirs."""

    at: float


class Ended(_Record, frozen=True, tag="end"):
    """The run is over, or waits for an approval."""

    finish: Finish
    usage: TokenCounts
    approvals: tuple[turn_facts.ApprovalRequest, ...] = ()
    refused: dict[str, int] = {}
    failure: str | None = None


Record: TypeAlias = (
    Began | Sent | Answering | Step | TurnEnded | PauseEnded | Spent | Cancelled | Decided | TakenUp | Ended
)


def pack_facts(taken: Sequence[turn_facts.Fact], answers: Iterable[ToolResult]) -> tuple[TakenFact, ...]:
    """Write the events of one read as one, and no value twice: what a function returned is in its call's answer."""
    answered = {each.index for each in answers if each.error is None}
    packed: list[TakenFact] = []
    for fact in taken:
        if isinstance(fact, turn_facts.Received):
            last = packed[-1] if packed else None
            if isinstance(last, Read) and last.at == fact.at:
                packed[-1] = Read((*last.events, fact.event), fact.at)
            else:
                packed.append(Read((fact.event,), fact.at))
        elif isinstance(fact, turn_facts.Returned) and fact.index in answered:
            packed.append(msgspec.structs.replace(fact, value=None))
        else:
            packed.append(fact)
    return tuple(packed)


def unpack_facts(step: Step) -> Iterator[turn_facts.Fact]:
    """Return the facts of a step as the turn took them."""
    values = {each.index: each.result for each in step.answers if each.error is None}
    for fact in step.facts:
        if isinstance(fact, Read):
            yield from (turn_facts.Received(event, fact.at) for event in fact.events)
        elif isinstance(fact, turn_facts.Returned) and fact.index in values:
            yield msgspec.structs.replace(fact, value=values[fact.index])
        else:
            yield fact
