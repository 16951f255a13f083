"""Makes of a journal what a run goes on with, and what it has shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from streamparse import events
from streamparse.response import BrokenCall, Mark, ParsedResponse, ToolCall
from streamparse.runtime import facts, loop
from streamparse.runtime.agent_items import AgentItem, RunEnd, TurnEnd
from streamparse.runtime.journal_records import (
    Answering,
    Began,
    Cancelled,
    Decided,
    DeclaredTool,
    Ended,
    PauseEnded,
    Read,
    Record,
    Sent,
    Spent,
    Step,
    TakenUp,
    TurnEnded,
    unpack_facts,
)
from streamparse.runtime.model_failures import ModelFailure
from streamparse.runtime.run_options import Decision
from streamparse.runtime.steps import ChangedRun, TakenStep
from streamparse.tools import Tool, ToolResult

PROGRAM_ENDED = ModelFailure("the program ended inside the answer", is_retryable=True, is_ours=True)


class OpenTurn(msgspec.Struct):
    """A request that has no end in the journal, and what was taken down of it."""

    sent: Sent | None
    answering: Answering | None = None
    steps: list[Step] = []
    is_taken_up: bool = False

    @property
    def facts(self) -> list[facts.Fact]:
        """What its turn took."""
        return [fact for step in self.steps for fact in unpack_facts(step)]

    @property
    def taken(self) -> list[TakenStep]:
        """The same by steps, for another process.  Raises ChangedRun if something in them was hidden.

        What was put off asks again there: that it was, and who asked, is only known once the turn has its end.
        """
        if any(step.is_redacted for step in self.steps):
            raise ChangedRun("what was redacted in this journal is missing: its latest turn cannot go on")
        return [
            TakenStep([fact for fact in unpack_facts(step) if not isinstance(fact, facts.Suspended)], step.began)
            for step in self.steps
        ]

    @property
    def events(self) -> list[events.Event]:
        """What the model wrote."""
        return [fact.event for fact in self.facts if isinstance(fact, facts.Received)]

    @property
    def results(self) -> dict[int, ToolResult]:
        """The results there are, by the index of their calls."""
        return {each.index: each for step in self.steps for each in step.answers}

    @property
    def response(self) -> ParsedResponse:
        """The whole answer, or what has come of it."""
        whole = next((step.response for step in self.steps if step.response is not None), None)
        return rebuild_response(self.events) if whole is None else whole

    @property
    def is_whole(self) -> bool:
        """Whether the model's answer has its end."""
        return any(step.response is not None for step in self.steps)

    @property
    def open_names(self) -> set[str]:
        """The tools of the calls that have no result."""
        named = {each.index: each.name for each in self.events if isinstance(each, events.ToolCallComplete)}
        return {name for index, name in named.items() if index not in self.results}


class Replay:
    """The records of a run, taken by its loop once more.

    To be read: `command` is what is to be done next, `turn` the request that was not over, `ended` how the run ended,
    `decisions` what was decided by key, `at` the latest time of the run's clock.
    """

    def __init__(self, machine: loop.Loop) -> None:
        self.loop = machine
        self.command: loop.Command | None = None
        self.turn: OpenTurn | None = None
        self.ended: Ended | None = None
        self.decisions: dict[str, Decision] = {}
        self.at: float = 0.0

    def take(self, record: Record) -> None:
        """Take the next record."""
        self.at = max(self.at, _find_time(record))
        match record:
            case Began():
                self.decisions |= record.decisions
                decides = bool(record.decisions)
                self.command = self.loop.take(loop.Started(record.history, record.at, decides=decides))
                self.turn = OpenTurn(None, is_taken_up=True) if decides else None
            case Sent():
                self.turn = OpenTurn(record)
            case Answering() if self.turn is not None:
                self.turn.answering = record
            case Step() if self.turn is not None:
                self.turn.steps.append(record)
            case TurnEnded():
                self.command = self.loop.take(self._end_turn(record))
                self.turn = None
            case Spent(tokens=tokens, at=at):
                self.loop.take(loop.Spent(tokens, at))
            case PauseEnded(at=at):
                self.command = self.loop.take(loop.Waited(at))
            case Cancelled(at=at, heard=heard):
                self.command = self.loop.take(loop.Interrupted(at, heard)) or self.command
            case Decided():
                self.decisions[record.key] = Decision(record.granted, record.why)
            case TakenUp():
                self.ended = None
                self.command = self.loop.take(loop.Decided(record.at))
                self.turn = OpenTurn(None, is_taken_up=True)
            case Ended():
                self.ended = record

    def _end_turn(self, record: TurnEnded) -> loop.Fact:
        turn = self.turn or OpenTurn(None)
        if not record.is_answered:
            return loop.RequestFailed(record.failure or ModelFailure(""), record.at)
        results = restore_results(turn, record)
        if turn.is_taken_up:
            return loop.Resumed(results, record.at, record.waiting, record.waited)
        response = turn.response if record.response is None else record.response
        return loop.AnswerEnded(
            response, record.at, results, record.provider, record.model, record.failure, record.waiting, record.waited
        )


def restore_results(turn: OpenTurn, record: TurnEnded) -> tuple[ToolResult, ...]:
    """Return the results of a turn as they were at its end."""
    found = turn.results | {each.index: each for each in record.placeholders}
    for index, revoked, incomplete in record.marks:
        found[index] = replace(found[index], revoked=revoked, incomplete=incomplete)
    return tuple(result for _, result in sorted(found.items()))


def _find_time(record: Record) -> float:
    if isinstance(record, Step):
        return max((fact.at for fact in record.facts), default=0.0)
    at = getattr(record, "at", 0.0)
    return at if isinstance(at, float) else 0.0


# -- what must be the same -----------------------------------------------------------------------------------


def declare(tools: Iterable[Tool]) -> tuple[DeclaredTool, ...]:
    """Return what a journal keeps of tools."""
    return tuple(DeclaredTool(tool.name, tool.effect, tool.parameters) for tool in tools)


def check_same(began: Began, given: Any, written: Any) -> None:
    """Raise ChangedRun if a run was begun with another prompt or history; both as they are written."""
    if msgspec.json.encode(given) != msgspec.json.encode(written):
        raise ChangedRun(f"the journal is of another run, {began.id}: its prompt or its history is not the one given")


def check_tools(began: Began, tools: Mapping[str, Tool], names: Iterable[str]) -> None:
    """Raise ChangedRun if a tool of these names has another effect or schema now; descriptions may differ."""
    then = {each.name: each for each in began.tools}
    for name in names:
        if name not in then and name not in tools:
            continue  # the model made it up
        tool = tools.get(name)
        if tool is None:
            raise ChangedRun(f"the tool {name!r}, of which a call is open, is gone")
        if name not in then or then[name].effect != tool.effect:
            raise ChangedRun(f"the tool {name!r}, of which a call is open, has another effect now: {tool.effect!r}")
        if _drop_words(then[name].parameters) != _drop_words(tool.parameters):
            raise ChangedRun(f"the tool {name!r}, of which a call is open, has other parameters now")


def _drop_words(schema: Any, *, is_schema: bool = True) -> Any:
    """Drop the descriptions of a schema; a property may have that name."""
    if isinstance(schema, Mapping):
        kept = {key: each for key, each in schema.items() if not (is_schema and key in ("description", "title"))}
        return {key: _drop_words(each, is_schema=key != "properties") for key, each in kept.items()}
    return [_drop_words(each) for each in schema] if isinstance(schema, (list, tuple)) else schema


# -- an answer that was cut ----------------------------------------------------------------------------------


def rebuild_response(told: Sequence[events.Event]) -> ParsedResponse:
    """Return what has come of an answer, by its events."""
    response = ParsedResponse()
    names: dict[int, tuple[str, str, list[str]]] = {}
    for event in told:
        place = (len(response.content), len(response.reasoning))
        match event:
            case events.TextDelta(text):
                response.content += text
            case events.ReasoningDelta(text):
                response.reasoning += text
            case events.RefusalDelta(text):
                response.refusal += text
            case events.ToolCallStart(index, id, name):
                names[index] = (name, id, [])
                response.order.append(Mark("call", index, *place))
            case events.ToolCallDelta(index, fragment):
                names[index][2].append(fragment)
            case events.ToolCallComplete():
                names.pop(event.index, None)
                response.tool_calls.append(_make_call(event))
            case events.ToolCallRevoked(index):
                response.tool_calls = [
                    replace(call, revoked=True) if call.index == index else call for call in response.tool_calls
                ]
            case events.ProviderItem(kind, data, index):
                response.order.append(Mark("item", len(response.items), *place))
                response.items.append({"kind": kind, "data": data, "index": index})
            case events.Error():
                response.errors.append(event)
    response.broken_calls = [
        BrokenCall(name, "".join(pieces), id, "truncated_call", index) for index, (name, id, pieces) in names.items()
    ]
    return response


def _make_call(event: events.ToolCallComplete) -> ToolCall:
    return ToolCall(
        event.name, event.arguments, event.id, event.source, event.raw, event.index, False, event.place, event.reason
    )


# -- what was shown ------------------------------------------------------------------------------------------


def list_items(records: Iterable[Record]) -> Iterator[AgentItem]:
    """Yield what a run has shown, without its model and its tools; neither `Progress` nor `Partial` is kept."""
    replay = Replay(loop.Loop(models=1_000_000))
    for record in records:
        turn = replay.turn
        replay.take(record)
        match record:
            case Step() if turn is not None:
                for fact in record.facts:
                    if isinstance(fact, Read) and not turn.is_taken_up:
                        yield from fact.events
                    elif isinstance(fact, facts.Asked):
                        yield fact.request
                yield from record.items
            case TurnEnded():
                yield _show_turn(record, turn or OpenTurn(None), replay.loop)
            case Ended(finish=finish):
                yield RunEnd(
                    finish.output, finish.stopped_by, record.usage, record.approvals, record.refused, record.failure
                )


def _show_turn(record: TurnEnded, turn: OpenTurn, machine: loop.Loop) -> TurnEnd:
    model = 0 if turn.sent is None else turn.sent.model
    if not record.is_answered:
        return TurnEnd(record.number, ParsedResponse(), (), model, True, record.failure, record.lost)
    response = turn.response if record.response is None else record.response
    results = restore_results(turn, record)
    failure = record.failure if turn.is_taken_up else machine.failure
    return TurnEnd(record.number, response, results, model, machine.was_discarded, failure, record.lost)
