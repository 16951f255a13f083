"""A journal of a run: all that is needed to go on with it after its process has ended.

    result = await agent.run("…", journal="run.jsonl")  # the same line again goes on where it stopped

Each record is written before what follows from it is done or shown (`journal_records`).  `Journal` reads one, and
decides on its calls that wait for an approval.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import msgspec

from streamparse.events import Done
from streamparse.response import ParsedResponse
from streamparse.runtime import facts
from streamparse.runtime.journal_file import JournalFile, JournalStore
from streamparse.runtime.journal_records import (
    VERSION,
    Cancelled,
    Decided,
    Ended,
    Record,
    Sent,
    Step,
    TakenUp,
    TurnEnded,
    pack_facts,
)
from streamparse.runtime.steps import ChangedRun, list_begun
from streamparse.tools import ToolResult

Redact: TypeAlias = Callable[[str], str]

_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder(Record)


class Journal:
    """The journal of one run, in a file or in a `JournalStore`.

        sp.Journal("run.jsonl").approve(key)  # the run goes on with `agent.run("…", journal="run.jsonl")`

    `redact` is given each text before it is written, and returns what is written in its place.  A call whose arguments
    it changes cannot go on after a crash, nor after an approval that waited.
    """

    def __init__(self, path: str | os.PathLike[str] | JournalStore, *, redact: Redact | None = None) -> None:
        self._store: JournalStore = path if isinstance(path, JournalStore) else JournalFile(path)
        self._redact = redact
        self._is_open = False

    @classmethod
    def of(cls, given: Journal | str | os.PathLike[str] | JournalStore) -> Journal:
        """Return what was given as a journal."""
        return given if isinstance(given, Journal) else cls(given)

    def read(self) -> list[Record]:
        """Return the records; also while a run writes them.

        Raises ChangedRun for a journal of a newer version, or what is none.
        """
        lines = self._store.read()
        if lines:
            _check_version(lines[0])
        try:
            return [_DECODER.decode(line) for line in lines]
        except msgspec.MsgspecError as error:
            raise ChangedRun(f"this is no journal that can be read: {error}") from error

    @contextmanager
    def opened(self) -> Iterator[Journal]:
        """Be the only writer, as long as the block.  Raises JournalBusy if somebody else is."""
        self._store.acquire()
        self._is_open = True
        try:
            yield self
        finally:
            self._is_open = False
            self._store.release()

    def silence(self) -> None:
        """Write nothing any more: what follows is as if the process had ended here."""
        self._is_open = False

    def append(self, record: Record, *, durable: bool = True) -> None:
        """Write a record, if the journal is open.  Raises what the store raises."""
        if self._is_open:
            self._store.append(self._encode(record), durable=durable)

    def redact(self, value: Any) -> Any:
        """Return a value as it is written: as JSON has it, with what is to be hidden replaced."""
        plain = msgspec.to_builtins(value)
        return plain if self._redact is None else _map_texts(plain, self._redact)

    @property
    def requests(self) -> list[facts.ApprovalRequest]:
        """The requests for approval that wait for a decision."""
        return [*find_requests(self.read()).values()]

    def approve(self, key: str) -> None:
        """Let a call run that waits, once its run goes on.

        Raises ValueError if no call of that key waits, and JournalBusy while a run holds the journal: then ask it.
        """
        self._decide(Decided(key=key, granted=True))

    def deny(self, key: str, why: str = "") -> None:
        """Do not let a call run that waits; the model reads why.  Raises as `approve` does."""
        self._decide(Decided(key=key, granted=False, why=why))

    def _decide(self, decision: Decided) -> None:
        with self.opened():
            records = self.read()
            if decision.key not in find_requests(records):
                raise ValueError(_explain_missing(records, decision.key))
            self.append(decision)

    def _encode(self, record: Record) -> bytes:
        if self._redact is None:
            return _ENCODER.encode(record)
        plain = msgspec.to_builtins(record)
        hidden = _map_texts(plain, self._redact)
        if isinstance(record, Step) and hidden.get("facts") != plain.get("facts"):
            hidden["is_redacted"] = True
        return _ENCODER.encode(hidden)


class TurnRecorder:
    """Takes down the facts of one turn (`streamparse.runtime.run.Recorder`).

    `read_response` returns the whole answer once it has ended, None if that is written already.  `answers` are the
    results that are written, those of an earlier process too.
    """

    def __init__(
        self, journal: Journal, read_response: Callable[[], ParsedResponse | None], answers: dict[int, ToolResult]
    ) -> None:
        self._journal = journal
        self._read_response = read_response
        self._facts: list[facts.Fact] = []
        self.answers: dict[int, ToolResult] = answers
        self.has_response: bool = False

    def find_marks(self, results: Iterable[ToolResult]) -> dict[str, Any]:
        """Return what of the results of a whole turn is not written yet, as fields of `TurnEnded`."""
        marks, placeholders = [], []
        for each in results:
            written = self.answers.get(each.index)
            if written is None:
                placeholders.append(each)
            elif (written.revoked, written.incomplete) != (each.revoked, each.incomplete):
                marks.append((each.index, each.revoked, each.incomplete))
        return {"marks": tuple(marks), "placeholders": tuple(placeholders)}

    def note(self, fact: facts.Fact, commands: Sequence[facts.Command]) -> None:
        """Take a fact; write it at once if something follows from it, or if it is no event."""
        self._facts.append(fact)
        acts = [command for command in commands if not isinstance(command, facts.Wake)]
        if acts or not isinstance(fact, facts.Received):
            self._write(acts)

    def flush(self) -> None:
        """Write the events of one read."""
        if self._facts:
            self._write(())

    def _write(self, acts: Iterable[facts.Command]) -> None:
        taken, self._facts = self._facts, []
        items: list[ToolResult | facts.ApprovalRequest] = []
        for act in acts:
            match act:
                case facts.Answer(result):
                    items.append(result)
                case facts.RequestApproval(request):
                    items.append(request)
        answers = {item.index: item for item in items if isinstance(item, ToolResult)}
        began = tuple(list_begun(acts))
        ends = any(isinstance(each, facts.Received) and isinstance(each.event, Done) for each in taken)
        step = Step(
            facts=pack_facts(taken, answers.values()), began=began, items=tuple(items),
            response=self._read_response() if ends else None,
        )  # fmt: skip
        decides = any(isinstance(each, facts.Approval) for each in taken)
        self._journal.append(step, durable=bool(began or items or decides))
        self.answers |= answers
        self.has_response = self.has_response or step.response is not None


def _check_version(line: bytes) -> None:
    try:
        head = msgspec.json.decode(line)
        version, kind = head.get("version"), head.get("t")
    except (msgspec.DecodeError, AttributeError) as error:
        raise ChangedRun(f"this is no journal: {error}") from error
    if kind != "run" or not isinstance(version, int):
        raise ChangedRun("this is no journal: its first line does not begin a run")
    if version > VERSION:
        raise ChangedRun(f"this journal has the version {version}; this library reads versions up to {VERSION}")


def find_requests(records: Iterable[Record]) -> dict[str, facts.ApprovalRequest]:
    """Find the requests of the latest turn that were neither answered nor made void: no answer that was cut has any."""
    found: dict[str, facts.ApprovalRequest] = {}
    is_whole = True
    for record in records:
        match record:
            case Sent():
                found, is_whole = {}, False
            case TakenUp():
                is_whole = True
            case Step():
                is_whole = is_whole or record.response is not None
                found |= {each.key: each for each in record.requests}
                decided = {fact.index for fact in record.facts if isinstance(fact, facts.Approval)}
                answered = decided | {each.index for each in record.answers}
                found = {key: each for key, each in found.items() if each.index not in answered}
            case TurnEnded():
                waiting, is_whole = {each.key for each in record.waiting if each.needs_approval}, True
                found = {key: each for key, each in found.items() if key in waiting}
            case Decided():
                found.pop(record.key, None)
            case Cancelled():
                found = {}
            case Ended() if record.finish.stopped_by != "approval":
                found = {}
    return found if is_whole else {}


def _explain_missing(records: Iterable[Record], key: str) -> str:
    known = {each.key for record in records if isinstance(record, Step) for each in record.requests}
    if key not in known:
        return f"no call of this run has the key {key!r}"
    why = "it was decided on, or its run was cancelled, or its answer was cut, which makes it void"
    return f"the call {key!r} does not wait any more: {why}"


def _map_texts(value: Any, change: Redact) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {key: each if key in ("t", "type") else _map_texts(each, change) for key, each in value.items()}
    return [_map_texts(each, change) for each in value] if isinstance(value, (list, tuple)) else value
