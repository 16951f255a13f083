"""Writes the journal of one run of an agent, if it has one, and reads what an earlier process wrote."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import msgspec

from streamparse.loss import Loss
from streamparse.response import ParsedResponse
from streamparse.runtime import facts, loop
from streamparse.runtime.agent_items import RunEnd
from streamparse.runtime.agent_settings import AgentSettings
from streamparse.runtime.answer import Answer, RestoredAnswer
from streamparse.runtime.history import History
from streamparse.runtime.journal import TurnRecorder, find_requests
from streamparse.runtime.journal_records import (
    VERSION,
    Answering,
    Began,
    Cancelled,
    Decided,
    Ended,
    PauseEnded,
    Sent,
    Spent,
    TakenUp,
    TurnEnded,
)
from streamparse.runtime.loop_facts import Finish
from streamparse.runtime.replay import OpenTurn, Replay, check_same, check_tools, declare
from streamparse.runtime.run_options import Decision
from streamparse.runtime.steps import ChangedRun
from streamparse.usage import TokenCounts


class Diary:
    """The journal of a run; without one it writes nothing."""

    def __init__(self, settings: AgentSettings) -> None:
        self._settings = settings
        self._journal = settings.journal
        self._recorder: TurnRecorder | None = None
        self.asked: tuple[facts.ApprovalRequest, ...] = ()  # what a run asks that has ended with that
        self.is_reopened: bool = False  # it had ended, and somebody decided since
        self._has_ended = False  # that is written, and nobody decided since

    def opened(self) -> AbstractContextManager[object]:
        """Be the only writer, as long as the block.  Raises JournalBusy."""
        return nullcontext() if self._journal is None else self._journal.opened()

    def silence(self) -> None:
        """Write nothing any more."""
        if self._journal is not None:
            self._journal.silence()

    def read(self, given: History, decisions: dict[str, Decision]) -> Replay | None:
        """Return what the journal has of the run; None if it is to begin.

        Raises ChangedRun if that is another run, or if it does not fit the agent any more.
        """
        records = [] if self._journal is None else self._journal.read()
        if self._journal is None or not records:
            check_waiting(self._settings, given, decisions)
            return None
        began = records[0]
        if not isinstance(began, Began):
            raise ChangedRun("this is no journal: its first line does not begin a run")
        check_same(began, self._journal.redact(given), began.history)
        first = msgspec.structs.replace(began, history=given)
        replay = Replay(self._settings.make_loop(began.id))
        for record in (first, *records[1:]):
            replay.take(record)
        if replay.turn is not None:
            check_tools(began, self._settings.tools, replay.turn.open_names)
        requests = find_requests(records)
        self._take_decisions(decisions, replay, {*requests})
        waiting, finish = replay.loop.history.waiting, replay.loop.finish
        # Its end may not be written: the process ended right before.
        is_put_off = finish is not None and finish.stopped_by == "approval"
        self.is_reopened = is_put_off and any(each.key in replay.decisions for each in waiting)
        self._has_ended = replay.ended is not None and not self.is_reopened
        self.asked = (*requests.values(),) if is_put_off else ()
        if self.is_reopened:
            check_tools(began, self._settings.tools, {each.name for each in waiting})
        return replay

    def _take_decisions(self, decisions: Mapping[str, Decision], replay: Replay, known: set[str]) -> None:
        """Write the decisions that were given with the run, before anything comes of them; none counts twice."""
        for key, decision in decisions.items():
            if key in replay.decisions:
                continue
            if key not in known:
                raise ValueError(f"no call with the key {key!r} waits for an approval; those that do: {sorted(known)}")
            if self._journal is not None:
                self._journal.append(Decided(key=key, granted=decision.granted, why=decision.why))
            replay.decisions[key] = decision

    def begin(self, id: str, given: History, at: float, decisions: Mapping[str, Decision]) -> None:
        """Write who the run is, what it was given, and what was decided."""
        if self._journal is None:
            return
        tools = declare(self._settings.tools.values())
        self._journal.append(
            Began(version=VERSION, id=id, history=given, tools=tools, at=at, decisions=dict(decisions))
        )

    def note_sent(self, send: loop.Send, name: str, tier: int, at: float) -> None:
        """Write that a model is about to be asked."""
        if self._journal is not None:
            count = len(send.history.entries)
            self._journal.append(
                Sent(number=send.number, model=send.model, name=name, messages=count, tier=tier, at=at)
            )

    def note_answering(self, provider: str, model: str) -> None:
        """Write whose answer begins."""
        if self._journal is not None:
            self._journal.append(Answering(provider=provider, model=model), durable=False)

    def note_cancelled(self, at: float, heard: str | None) -> None:
        """Write that the run was cancelled."""
        if self._journal is not None:
            self._journal.append(Cancelled(at=at, heard=heard))

    def note_spent(self, tokens: TokenCounts, at: float) -> None:
        """Write what an agent has cost that a tool has asked."""
        if self._journal is not None:
            self._journal.append(Spent(tokens=tokens, at=at), durable=False)

    def note_taken_up(self, at: float) -> None:
        """Write that calls that waited begin."""
        if self._journal is not None:
            self._journal.append(TakenUp(at=at))

    def make_recorder(self, answer: Answer | RestoredAnswer, restored: OpenTurn | None = None) -> TurnRecorder | None:
        """Return what takes down the facts of a turn, with the whole answer, unless that is written already."""
        if self._journal is None:
            return None

        def read_response() -> ParsedResponse | None:
            return clean_response(answer.response) if isinstance(answer, Answer) else None

        written = {} if restored is None else restored.results
        self._recorder = TurnRecorder(self._journal, read_response, written)
        return self._recorder

    def end_turn(self, fact: loop.Fact, number: int, lost: tuple[Loss, ...]) -> None:
        """Write what the loop is about to read."""
        if self._journal is None:
            return
        recorder, self._recorder = self._recorder, None
        match fact:
            case loop.Waited(at):
                self._journal.append(PauseEnded(at=at), durable=False)
            case loop.RequestFailed(failure, at):
                self._journal.append(TurnEnded(number=number, at=at, is_answered=False, failure=failure, lost=lost))
            case loop.Resumed() if recorder is not None:
                marks = recorder.find_marks(fact.results)
                self._journal.append(
                    TurnEnded(number=number, at=fact.at, waiting=fact.waiting, waited=fact.waited, **marks)
                )
            case loop.AnswerEnded() if recorder is not None:
                marks = recorder.find_marks(fact.results)
                response = None if recorder.has_response else clean_response(fact.response)
                ended = TurnEnded(
                    number=number, at=fact.at, response=response, provider=fact.provider, model=fact.model,
                    failure=fact.failure, waiting=fact.waiting, waited=fact.waited, lost=lost, **marks,
                )  # fmt: skip
                self._journal.append(ended)

    def end(self, finish: Finish | None, end: RunEnd) -> None:
        """Write how the run ended, unless that is written."""
        if self._journal is not None and finish is not None and not self._has_ended:
            ended = Ended(
                finish=finish, usage=end.usage, approvals=end.approvals, refused=end.refused, failure=end.failure
            )
            self._journal.append(ended)


def check_waiting(settings: AgentSettings, history: History, decisions: Mapping[str, Decision]) -> None:
    """Raise ValueError for a decision about a call that does not wait, and for a tool that is not what it was."""
    waiting = {each.key: each for each in history.waiting if each.needs_approval}
    for key in decisions:
        if key not in waiting:
            raise ValueError(f"no call with the key {key!r} waits for an approval; those that do: {sorted(waiting)}")
    for each in history.waiting if decisions else ():
        tool = settings.tools.get(each.name)
        if tool is None or tool.effect != each.effect:
            raise ChangedRun(f"the tool {each.name!r}, of which a call waits, is gone, or has another effect now")


def clean_response(response: ParsedResponse) -> ParsedResponse:
    """Return an answer as it is kept."""
    return msgspec.structs.replace(response, raw_response=None)
