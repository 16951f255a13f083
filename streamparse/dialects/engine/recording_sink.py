"""A sink for calls that are told only once they are whole.

Calls without a marker of their own, calls behind plain words, calls in thoughts and calls that are quoted may turn out
to be prose.  A trial takes the verbs of one grammar, keeps the text that the grammar takes, and judges each call at
its end: what is believable is told at once, what is not stays text.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

from streamparse.dialects.engine.reader import Reader
from streamparse.events import Place, Scope, Source
from streamparse.sink import Call, Outcome, Sink

__all__ = ["Draft", "Trial"]


class Draft:
    """A call that was not told yet."""

    __slots__ = ("_arguments", "closed", "id", "index", "is_broken", "is_repaired", "name")

    def __init__(self, index: int, name: str, id: str) -> None:
        self.index = index
        self.name = name
        self.id = id
        self.closed = False
        self.is_repaired = False
        self.is_broken = False
        self._arguments = StringIO()

    @property
    def write(self) -> Callable[[str], Any]:
        """Adds a piece of the argument text."""
        return self._arguments.write

    @property
    def pending(self) -> bool:
        return not self._arguments.tell()

    @property
    def raw(self) -> str:
        return self._arguments.getvalue()


class Trial:
    """Takes the verbs of a grammar that reads from `reader`, which keeps what is taken.

    A call that is whole is told to `sink` if `judge(name, raw)` believes it, together with those before it; once one
    was believed, it vouches for those that follow.  Without `judge` nothing is told.  Where `is_sure(name)` believes
    the first call by its name alone, the trial is over: all is told as it comes.
    """

    def __init__(
        self,
        sink: Sink,
        reader: Reader,
        place: Place,
        judge: Callable[[str, str], bool] | None,
        is_sure: Callable[[str], bool] | None = None,
    ) -> None:
        self.place: Place = place
        self.is_over = False
        """Whether all is told as it comes."""
        self._is_sure = is_sure
        self.calls: list[Call] = []
        """The calls that were told."""
        self.has_whole = False
        """Whether a whole call was read, told or not."""
        self.is_spoiled = False
        """Whether something else than calls was read behind them: from there on all is text."""
        self._sink = sink
        self._reader = reader
        self._judge = judge
        self._drafts: list[Draft] = []
        self._waiting: list[Draft] = []
        self._consumed = StringIO()

    @property
    def consumed(self) -> str:
        """The text up to the end of the last whole call."""
        return self._consumed.getvalue()

    @property
    def open_draft(self) -> Draft | None:
        """The call that has begun, and has not ended."""
        last = self._drafts[-1] if self._drafts and not self.is_spoiled else None
        return last if last is not None and not last.closed and not last.is_broken else None

    @property
    def has_calls(self) -> bool:
        """Whether a call has begun."""
        return bool(self._drafts)

    def tell_cut(self, draft: Draft) -> None:
        """Tell a call that the end of the text cuts, as far as it came."""
        call = self._start(draft)
        message = f"the text ended inside the call of {draft.name!r}: {draft.raw}"
        self._sink.call_error(call, "truncated_call", message)

    def _start(self, draft: Draft) -> Call:
        call = self._sink.call_start(draft.name, draft.id or None, "inband", self.place)
        self._sink.call_arguments(call, draft.raw)
        return call

    def _tell(self, draft: Draft) -> None:
        call = self._start(draft)
        if draft.is_repaired:
            self._sink.call_repaired(call)
        self._sink.call_end(call)
        self.calls.append(call)

    # -- the verbs of a grammar ------------------------------------------------------------------------

    def call_start(
        self, name: str, id: str | None = None, source: Source = "native", place: Place = "field"  # noqa: ARG002
    ) -> Call:  # fmt: skip
        if self._is_sure is not None and not self._drafts and self._is_sure(name):
            self._end()
        if self.is_over:
            return self._sink.call_start(name, id, "inband", self.place)
        draft = Draft(len(self._drafts), name, id or "")
        self._drafts.append(draft)
        return draft

    def _end(self) -> None:
        """Tell all that comes, and keep nothing."""
        self.is_over = True
        self._reader.unpin()
        self._reader.commit()

    def call_arguments(self, call: Call, fragment: str) -> None:
        if self.is_over:
            self._sink.call_arguments(call, fragment)
        else:
            self._drafts[call.index].write(fragment)

    def call_teller(self, call: Call) -> Callable[[str], Any]:
        return self._sink.call_teller(call) if self.is_over else self._drafts[call.index].write

    def call_whole(self, name: str, arguments: str, id: str | None = None) -> Call:
        call = self.call_start(name, id)
        self.call_arguments(call, arguments)
        self.call_end(call)
        return call

    def call_end(self, call: Call) -> None:
        if self.is_over:
            self._sink.call_end(call)
        elif not self.is_spoiled:
            self._end_draft(self._drafts[call.index])

    def _end_draft(self, draft: Draft) -> None:
        if self._reader.final and not self._reader.stopped:
            return  # what only the end of the text decides is no call, unless the model itself ended it
        draft.closed = True
        self.has_whole = True
        self._consumed.write(self._reader.restart())
        self._waiting.append(draft)
        if self._judge is not None and (self.calls or self._judge(draft.name, draft.raw)):
            for each in self._waiting:
                self._tell(each)
            self._waiting.clear()

    def call_repaired(self, call: Call) -> None:
        if self.is_over:
            self._sink.call_repaired(call)
        else:
            self._drafts[call.index].is_repaired = True

    def call_error(self, call: Call, code: str, message: str) -> None:
        if self.is_over:
            self._sink.call_error(call, code, message)
            return
        self._drafts[call.index].is_broken = True
        self.is_spoiled = True

    def call_revoke(self, call: Call, reason: str) -> None:
        raise NotImplementedError("a grammar revokes no call")

    def reasoning(self, text: str) -> None:
        """Thought between calls is told; what was kept of it is not given back."""
        if self.is_over:
            self._sink.reasoning(text)
            return
        if self._judge is None or self._waiting or self.open_draft is not None:
            self.is_spoiled = True
        if self.is_spoiled:
            return
        kept = self._reader.restart()
        if self.calls:
            self._consumed.write(kept.removesuffix(text))
        self._sink.reasoning(text)

    def text(self, text: str) -> None:
        """Text before all calls is told; behind one it shows that the calls are none."""
        if self.is_over:
            self._sink.text(text)
        elif self._judge is None or self.has_calls:
            self.is_spoiled = True
        elif not self.is_spoiled:
            self._reader.restart()
            self._sink.text(text)

    def _spoil(self) -> None:
        self.is_spoiled = True

    def calls_doubted(self, code: str, message: str) -> None:
        if self.is_over:
            self._sink.calls_doubted(code, message)
        self._spoil()

    def refusal(self, text: str) -> None:  # noqa: ARG002
        self._spoil()

    def item(self, kind: str, data: Any, index: int | None = None) -> None:  # noqa: ARG002
        self._spoil()

    def usage(self, usage: dict[str, Any]) -> None:  # noqa: ARG002
        self._spoil()

    def finish(self, reason: str, outcome: Outcome = "stop") -> None:  # noqa: ARG002
        self._spoil()

    def end(self) -> None:
        self._spoil()

    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None:
        if self.is_over:
            self._sink.error(scope, code, message, offset)
        self._spoil()
