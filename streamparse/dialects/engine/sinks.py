"""The sinks of grammars: one reports calls as they come, one keeps them until they are whole.

Calls without a marker of their own, calls after plain words, calls in thoughts and calls that are quoted may turn out
to be prose.  For these a `RecordingSink` takes the reports of one grammar, keeps the text that the grammar takes, and
judges each call at its end: what is believable is reported at once, what is not stays text.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any, NoReturn

import msgspec

from streamparse.dialects.engine.reader import Reader
from streamparse.dialects.engine.spans import IN_TEXT, VisibleText
from streamparse.events import Place, Scope, Source
from streamparse.patterns import BLANKS
from streamparse.sink import Call, Sink


class DirectSink:
    """Passes the reports of a grammar on to `sink`: calls in open text, and visible text to `visible`.

    A call that only the end of the text ends stays open, unless the model itself ended the text.
    """

    def __init__(self, sink: Sink, reader: Reader, visible: VisibleText) -> None:
        self._sink = sink
        self._reader = reader
        self._visible = visible
        self.reasoning: Callable[[str], None] = sink.reasoning
        self.call_arguments: Callable[..., None] = sink.call_arguments
        self.call_teller: Callable[[Call], Callable[[str], None]] = sink.call_teller
        self.call_repaired: Callable[[Call], None] = sink.call_repaired
        self.error: Callable[..., None] = sink.error

    def call_start(
        self, name: str, id: str | None = None, source: Source = "inband", place: Place = "plain"
    ) -> Call:  # fmt: skip
        call = self._sink.call_start(name, id, source, place)
        visible = self._visible
        if visible.calls and visible.place >= IN_TEXT:  # text parts them: what closes a thought is too late for those
            visible.calls = []
            self._reader.tape.give_back()
        if place == "plain":
            visible.calls.append(call)
            self._reader.tape.has_call = True
        return call

    def text(self, text: str) -> None:
        reader = self._reader
        if reader.tape.has_call:  # it is not of the call before it
            reader.tape.restart(reader.buffer, reader.at, text)
        held = self._visible.held
        if held.text is not None and not text.strip(BLANKS):
            held.add_text(text)
            return
        self._visible.revoke("text_follows")
        self._visible.pass_on(text)

    def call_error(self, call: Call, code: str, message: str) -> None:
        self._reader.tape.has_call = False  # the error has its text
        self._sink.call_error(call, code, message)

    def calls_doubted(self, code: str, message: str) -> None:
        # All calls so far are revoked.  They may be data of a value, so their text is not given back.
        self._visible.calls = []
        self._reader.tape.give_back()
        self._sink.calls_doubted(code, message)

    def revoke(self, reason: str) -> str:
        """Revoke the calls of open text; return their text."""
        calls, text = self._visible.calls, self._reader.tape.give_back()
        self._visible.calls = []
        for call in calls:
            self._sink.call_revoke(call, reason)
        # What is too long to be kept twice is given back as what was read of it.
        return "".join(call.raw for call in calls) if text is None else text

    def call_end(self, call: Call) -> None:
        if not self._reader.final or self._reader.stopped:
            self._sink.call_end(call)


class Draft(msgspec.Struct):
    """A `Call` that was not reported yet."""

    index: int
    name: str
    id: str
    arguments: StringIO = msgspec.field(default_factory=StringIO)
    closed: bool = False
    is_repaired: bool = False

    @property
    def pending(self) -> bool:
        return not self.arguments.tell()

    @property
    def raw(self) -> str:
        return self.arguments.getvalue()


class Spoiled(Exception):
    """Something that is no call was read after calls: from there on all is text, whatever the grammar would read."""


class RecordingSink:
    """Takes the reports of a grammar that reads from `reader`, which keeps what is taken.

    A whole call is reported to `sink` if `judge(name, raw)` believes it, with those before it that waited.  Once one
    was believed, so are those that follow of which the judge is not sure (None); one that it refuses is no call
    wherever it is.  Without `judge` nothing is reported.  Where `is_sure(name)` believes the first call by its name
    alone, the recording is over, and all is reported as it comes.  Until then a report may raise `Spoiled`.
    """

    def __init__(
        self,
        sink: DirectSink,
        reader: Reader,
        place: Place,
        judge: Callable[[str, str], bool | None] | None,
        is_sure: Callable[[str], bool] | None = None,
    ) -> None:
        self.place: Place = place
        # Whether all is reported as it comes.
        self.is_live: bool = False
        # The calls that were reported.
        self.calls: list[Call] = []
        # The dialect that reads, by name, if it is not the one that was asked.
        self.format: str | None = None
        # Whether a whole call was read, reported or not.
        self.has_whole: bool = False
        self._sink = sink
        self._reader = reader
        self._judge = judge
        self._is_sure = is_sure
        self._drafts: list[Draft] = []
        self._waiting: list[Draft] = []  # whole calls that are not believed yet
        self._is_spoiled = False
        self._consumed = StringIO()

    @property
    def consumed(self) -> str:
        """The text up to the end of the last whole call."""
        return self._consumed.getvalue()

    @property
    def open_draft(self) -> Draft | None:
        """The call that has begun, and has not ended."""
        last = self._drafts[-1] if self._drafts and not self._is_spoiled else None
        return last if last is not None and not last.closed else None

    @property
    def has_calls(self) -> bool:
        """Whether a call has begun."""
        return bool(self._drafts)

    def report_cut(self, draft: Draft) -> None:
        """Report a call that the end of the text cuts, as far as it came."""
        message = f"the text ended inside the call of {draft.name!r}: {draft.raw}"
        self._sink.call_error(self._start(draft), "truncated_call", message)

    def _start(self, draft: Draft) -> Call:
        call = self._sink.call_start(draft.name, draft.id or None, "inband", self.place)
        self._reader.tape.has_call = False  # its text is recorded here
        self._sink.call_arguments(call, draft.raw)
        return call

    def _report(self, draft: Draft) -> None:
        call = self._start(draft)
        if draft.is_repaired:
            self._sink.call_repaired(call)
        self._sink.call_end(call)
        self.calls.append(call)

    # -- the reports of a grammar ----------------------------------------------------------------------

    def call_start(self, name: str, id: str | None = None, source: Source = "inband") -> Call:
        if self._is_sure is not None and not self._drafts and self._is_sure(name):
            self.is_live = True
            self._reader.unpin()
            self._reader.commit()
        if self.is_live:
            return self._sink.call_start(name, id, source, self.place)
        draft = Draft(len(self._drafts), name, id or "")
        self._drafts.append(draft)
        return draft

    def call_arguments(self, call: Call, fragment: str) -> None:
        if self.is_live:
            self._sink.call_arguments(call, fragment)
        else:
            self._drafts[call.index].arguments.write(fragment)

    def call_teller(self, call: Call) -> Callable[[str], Any]:
        return self._sink.call_teller(call) if self.is_live else self._drafts[call.index].arguments.write

    def call_end(self, call: Call) -> None:
        if not self.is_live:
            self._end_draft(self._drafts[call.index])
        elif self._judge is not None and self._judge(call.name, call.raw) is False:
            self._sink.call_error(call, "missing_arguments", f"the call of {call.name!r} lacks required arguments")
        else:
            self._sink.call_end(call)

    def _end_draft(self, draft: Draft) -> None:
        if self._reader.final and not self._reader.stopped:
            return  # what only the end of the text decides is no call, unless the model itself ended it
        draft.closed = True
        self.has_whole = True
        self._consumed.write(self._reader.restart_checkpoint())
        self._waiting.append(draft)
        believed = self._judge(draft.name, draft.raw) if self._judge is not None else None
        if believed is False:
            self._spoil()
        if self._judge is not None and (self.calls or believed):
            for each in self._waiting:
                self._report(each)
            self._waiting.clear()

    def call_repaired(self, call: Call) -> None:
        if self.is_live:
            self._sink.call_repaired(call)
        else:
            self._drafts[call.index].is_repaired = True

    def call_error(self, call: Call, code: str, message: str) -> None:
        if self.is_live:
            self._sink.call_error(call, code, message)
        else:
            self._spoil()

    def reasoning(self, text: str) -> None:
        """Report thought between calls; what was kept of it is not given back."""
        if self.is_live:
            self._sink.reasoning(text)
            return
        if self._judge is None or self._waiting or self.open_draft is not None:
            self._spoil()
        kept = self._reader.restart_checkpoint()
        if self.calls:
            self._consumed.write(kept.removesuffix(text))
        self._sink.reasoning(text)

    def text(self, text: str) -> None:
        """Report text before all calls; after a call it shows that the text was no call."""
        if self.is_live:
            self._sink.text(text)
        elif self._judge is None or self.has_calls:
            self._spoil()
        else:
            self._reader.restart_checkpoint()
            self._sink.text(text)

    def calls_doubted(self, code: str, message: str) -> None:
        if self.is_live:
            self._sink.calls_doubted(code, message)
        else:
            self._spoil()

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        if self.is_live:
            self._sink.error(scope, code, message, offset)
        else:
            self._spoil()

    def _spoil(self) -> NoReturn:
        self._is_spoiled = True
        raise Spoiled
