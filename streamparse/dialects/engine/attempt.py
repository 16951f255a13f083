"""What is tried where a marker was met: the dialects that share it read on, until one reads a call or none does.

What a call needs to be reported depends on where its marker is:

| the marker | a call is reported |
|---|---|
| is the format's own, in open text | as it comes |
| is a plain word (`<tool>`) | when it is whole, and names a declared tool with its required arguments |
| is not the format's own (`{`, a fence, a tool's name) | likewise; it is revoked if visible text follows |
| is in a thought | when it is whole, if its dialect says so; it may be revoked if the thought goes on |
| is quoted | never; with `quoted="calls"` when it is whole, and names a declared tool |
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from streamparse.dialects.engine.catalogue import Candidate
from streamparse.dialects.engine.grammar import Context, Dialect, Quoted
from streamparse.dialects.engine.meanings import Meaning
from streamparse.dialects.engine.reader import Overflow, Reader, Step
from streamparse.dialects.engine.sinks import DirectSink, Draft, RecordingSink, Spoiled
from streamparse.json import JSONError, read
from streamparse.limits import Limits, most
from streamparse.tools import Tool

_HEAD: Final = 32  # bench: characters after a marker by which most dialects are left out
_MOST_QUOTED: Final = 4096  # bound: characters of a quoted call that wait for its end


class MarkerMet(msgspec.Struct, frozen=True):
    """A marker that was met, and what it means there."""

    text: str
    # How many blanks are between it and the call before it.
    gap: int
    candidates: list[Candidate]
    meaning: Meaning
    # What it means if no dialect reads a call.
    otherwise: Meaning = "text"
    in_thought: bool = False
    # It is in a thought that is written in the text: never a call.
    is_drafted: bool = False

    @property
    def is_quoted(self) -> bool:
        """Whether a call is quoted here."""
        return self.meaning == "quoted attempt"

    def count_looked(self) -> int:
        """How much was looked at if no dialect has read anything."""
        for candidate in self.candidates:
            if not candidate.opener.inclusive:
                return self.gap + len(self.text)
        return self.gap


class Setting(msgspec.Struct, frozen=True):
    """What all attempts of one answer share."""

    reader: Reader
    direct: DirectSink
    context: Context
    # Whether a whole call of a declared tool is one even where the text quotes it.
    quoted: Quoted
    on_marker: Callable[[int], object] | None
    # The least number of characters that may be held before a call is certain.
    least_held: int

    # What believes recorded calls, by name and text: None if another call may vouch for it.  An attempt has none of its
    # own, which would keep it alive.

    def is_declared(self, name: str, raw: str) -> bool | None:  # noqa: ARG002 - a judge
        return name in self.context.tools or None

    def is_known(self, name: str, raw: str) -> bool | None:  # noqa: ARG002 - a judge
        tools = self.context.tools
        return not tools or name in tools or None

    def is_callable(self, name: str, raw: str) -> bool | None:
        tools = self.context.tools
        if name not in tools:
            return None if tools else True
        return _has_required_text(tools[name], raw, self.context.limits)

    def takes_anything(self, name: str) -> bool:
        """Whether a call of a declared tool is one whatever its arguments are."""
        tools = self.context.tools
        return name in tools and not tools[name].parameters.get("required")

    def note_marker(self, left: int) -> None:
        """A marker was met so many characters before the end of what was read."""
        if self.on_marker is not None:
            self.on_marker(left)

    def find_readers(self, met: MarkerMet) -> Iterator[Candidate]:
        """Find the candidates whose dialects may read what has come after a marker, as its first characters tell.

        Each is looked at when it is asked for: the pattern of a dialect is compiled at its first use.
        """
        if met.gap + len(met.text) > self.least_held:
            return iter(met.candidates)  # holding the marker itself ends the attempt
        start = self.reader.at + met.gap
        end = start + len(met.text)
        if end >= len(self.reader.buffer):
            return iter(met.candidates)  # nothing has come yet
        after, inclusive = self.reader.buffer[end : end + _HEAD], self.reader.buffer[start : end + _HEAD]
        return (
            candidate
            for candidate in met.candidates
            if candidate.dialect.may_be_followed_by(inclusive if candidate.opener.inclusive else after)
        )


class Outcome(msgspec.Struct, frozen=True):
    """What came of a marker."""

    # The dialect that read a call.
    dialect: Dialect | None
    # How much was looked at.
    looked: int
    # What was read as calls, if they had to be whole to be reported; some may not be.
    record: RecordingSink | None = None
    # All text of `record`.
    text: str = ""
    # A call in `record` that the end of the text cuts, and that is to be reported.
    cut: Draft | None = None


class Attempt:
    """Asks the dialects that share a marker, one after the other.

    Once one has read a whole call, no other one reads the same characters.
    """

    def __init__(self, setting: Setting, met: MarkerMet, first: Candidate, others: Iterator[Candidate]) -> None:
        """`first` and `others` are what `Setting.find_readers` finds."""
        self.met = met
        self._readers = chain((first,), others)
        self._setting = setting
        self._reader = setting.reader
        self._tools = setting.context.tools
        self._looked = 0  # how far after the marker the grammars have looked
        self._dialect: Dialect | None = None  # the one that reads
        self._record: RecordingSink | None = None
        self._outcome: Outcome | None = None  # once what was read is a call, or settled as text

    def resume(self, steps: Step[Dialect | None]) -> Outcome | None:
        """Let the grammar go on with what `read` returned; return None if it needs more text.

        The caller keeps the steps: they refer to the attempt, and would keep it alive if it had them.
        """
        try:
            next(steps)
        except StopIteration as stop:
            return self._end(stop.value, sys.maxsize)
        except Overflow as overflow:
            return self._end(self._settle_whole(), overflow.most)
        return None

    @property
    def is_certain(self) -> bool:
        """Whether what is being read is a call, or would be reported as one if the text ended here."""
        return self._reader.is_committed or self._get_open_draft() is not None

    def _end(self, dialect: Dialect | None, seen: int) -> Outcome:
        # What the grammar took and gave no meaning to is text again.
        kept = self._reader.end_checkpoint()
        self._reader.unread(kept)
        if self._outcome is not None:
            return self._outcome
        # The dialects that were left out have looked no further than the marker.
        return Outcome(dialect, min(max(self._looked, self.met.count_looked(), len(kept)), seen))

    def read(self) -> Step[Dialect | None]:
        """Return the steps of the attempt; the last one returns the dialect that has read a call."""
        reader, met = self._reader, self.met
        reader.tape.restart(reader.buffer, reader.at)
        if self._setting.on_marker is not None:
            self._setting.on_marker(len(reader.buffer) - reader.at)
        for candidate in self._readers:
            dialect = self._dialect = candidate.dialect
            self._record = self._make_record(candidate)
            reader.checkpoint(self._limit_held(candidate))
            reader.take(met.gap if candidate.opener.inclusive else met.gap + len(met.text))
            if (yield from reader.peek_match(dialect.probe)) is not None:
                if (yield from self._read_body(candidate, self._record)):
                    return dialect
                if self._outcome is not None:
                    return None
            elif met.otherwise == "dropped" and reader.is_cut_off(dialect.probe):
                self._report_cut_markup(dialect)
                return dialect
            self._looked = max(self._looked, reader.count_kept())
            reader.rewind(0)
        return None

    def _read_body(self, candidate: Candidate, record: RecordingSink | None) -> Step[bool]:
        """Let a dialect read what follows its marker; return whether it read a call."""
        context, dialect = self._setting.context, candidate.dialect
        if context.on_dialect is not None:
            context.on_dialect(dialect.name)
        if candidate.only_declared or (self.met.in_thought and self._tools):
            context = context.trust_declared()
        if record is None:
            return (yield from dialect.body(self._reader, context))
        self._reader.pin()
        try:
            is_found = yield from dialect.body(self._reader, replace(context, sink=record))
        except Spoiled:
            is_found = False
        return is_found if record.is_live else self._settle(record, is_found)

    def _report_cut_markup(self, dialect: Dialect) -> None:
        # The text ends inside a call's own markers, before its arguments: that is no text, and no call yet.
        reader = self._reader
        reader.take(len(reader.buffer) - reader.at)
        markup = reader.end_checkpoint()
        message = f"the text ended inside a call's markup ({dialect.name}): {markup}"
        self._setting.direct.error("call", "truncated_call", message)

    # -- calls that must be whole ----------------------------------------------------------------------

    def _settle(self, record: RecordingSink, is_sound: bool) -> bool:
        """Settle what was recorded after a marker; return whether it is a call.

        `is_sound`: what comes after the last whole call belongs to the calls, too.
        """
        reader = self._reader
        draft = self._get_open_draft() if reader.is_at_end else None
        may_cut = record.place in ("bare", "plain")
        if record.has_whole:
            is_sound = is_sound and (draft is None or may_cut)
            rest = reader.restart_checkpoint()
            reader.unpin()
            reader.end_checkpoint()
            if not is_sound:
                reader.unread(rest)
            is_cut = is_sound and (reader.stopped or record.place == "plain")
            text = record.consumed + (rest if is_sound else "")
            dialect = self._dialect if record.calls else None
            self._outcome = Outcome(dialect, 0, record, text, draft if is_cut else None)
            return dialect is not None
        if draft is not None and may_cut:
            reader.end_checkpoint()
            record.report_cut(draft)
            return True
        if is_sound and not record.has_calls and not self.met.is_quoted:
            reader.end_checkpoint()  # thought and text, which were passed on
            return True
        reader.unpin()
        return False

    def _settle_whole(self) -> Dialect | None:
        """A grammar took more than may be held: return the dialect if it has reported whole calls before that."""
        record = self._record
        if record is None or record.is_live or not record.has_whole or not self._settle(record, is_sound=False):
            return None
        return self._dialect

    def _get_open_draft(self) -> Draft | None:
        """The recorded call that has begun, is not over, and would be reported."""
        draft = self._record.open_draft if self._record is not None else None
        return draft if draft is not None and self._setting.is_known(draft.name, "") else None

    def _make_record(self, candidate: Candidate) -> RecordingSink | None:
        """How calls after the marker are judged; None if they are reported as they come."""
        setting, met, opener = self._setting, self.met, candidate.opener
        if candidate.is_companion:
            return None
        if met.in_thought:
            return RecordingSink(setting.direct, self._reader, "thought", setting.is_known)
        if met.meaning == "quoted attempt":
            judge = setting.is_declared if setting.quoted == "calls" and not met.is_drafted else None
            return RecordingSink(setting.direct, self._reader, "quoted", judge)
        if opener.bare:
            return RecordingSink(setting.direct, self._reader, "bare", setting.is_callable)
        if opener.word and self._tools:
            return RecordingSink(setting.direct, self._reader, "plain", setting.is_callable, setting.takes_anything)
        return None

    def _limit_held(self, candidate: Candidate) -> int | None:
        """How many characters may be held before a call is certain."""
        limits = self._setting.context.limits
        if self._record is None and not candidate.only_declared:
            return limits.max_call_args
        if self.met.is_quoted and self._setting.quoted == "text":  # it will be text: none of it waits for long
            return min(most(limits.max_held_text), _MOST_QUOTED)
        return limits.max_held_text


def _has_required_text(tool: Tool, raw: str, limits: Limits) -> bool | None:
    """Return whether the text of arguments holds all that the tool requires; None if it cannot be read."""
    try:
        value = read(raw, "heal", limits).value
    except JSONError:
        return None
    return isinstance(value, dict) and has_required(tool, value)


def has_required(tool: Tool, arguments: dict[str, Any]) -> bool:
    """Return whether arguments hold all that the tool requires."""
    required = tool.parameters.get("required")
    if not isinstance(required, list):
        return True
    return all(key in arguments for key in required if isinstance(key, str))
