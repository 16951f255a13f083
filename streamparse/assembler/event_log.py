"""The event log: the events that were made, and the response that they sum to."""

from __future__ import annotations

from collections import Counter
from io import StringIO
from typing import Literal, NamedTuple, Protocol

from streamparse.events import Error, Event, Place, Scope, Source
from streamparse.response import Mark, ParsedResponse


class ParseHalted(Exception):
    """A stream limit ended the parse; `Done` has been made.  Never leaves the library."""


class HasOffset(Protocol):
    """A position in the stream: a frame, a framer, an `Offset`."""

    @property
    def offset(self) -> int | None: ...


class Offset(NamedTuple):
    """A bare offset in the stream."""

    offset: int | None


class EventLog:
    """The events made since they were taken last, and the sum of all of them.

    - `events`: the events since `take`.
    - `content`, `reasoning`, `refusal`: what came of each since `sum_up`; what came before is in `response`.
    - `position`: where in the stream the current verbs come from; errors carry its offset.  Readers assign it for each
      frame, which costs less than a call, or once: a framer whose offset moves on.
    - `dialect`: the dialect that reads the text, or read it last.
    - `origins`: how each call in the text was found, and its place, by index; known from its start on.
    - `leniencies`: the repairs that reading the arguments took, by name.
    """

    def __init__(self) -> None:
        self.position: HasOffset = Offset(None)
        self.events: list[Event] = []
        self.origins: dict[int, tuple[Source, Place]] = {}
        self.dialect = ""
        self.content = StringIO()
        self.reasoning = StringIO()
        self.refusal = StringIO()
        self.leniencies: Counter[str] = Counter()
        self.response = ParsedResponse(tool_calls=[], broken_calls=[], items=[], order=[], errors=[])

    def take(self) -> list[Event]:
        """Return the events since the last time.  Swapping `events` for a new list is the same without the call."""
        events = self.events
        self.events = []
        return events

    def set_dialect(self, name: str) -> None:
        """Note the dialect that reads from now on."""
        self.dialect = name

    def mark_position(self, what: Literal["call", "item"], index: int) -> None:
        """Note where among text and reasoning a call begins, or an item comes."""
        content = len(self.response.content) + self.content.tell()
        reasoning = len(self.response.reasoning) + self.reasoning.tell()
        self.response.order.append(Mark(what, index, content, reasoning))

    def has_text_since(self, index: int) -> bool:
        """Whether visible text has come since the call of that index began."""
        mark = next(mark for mark in self.response.order if mark.what == "call" and mark.index == index)
        before = self.response.content
        since = before[mark.content :] + self.content.getvalue()[max(0, mark.content - len(before)) :]
        return bool(since.strip())

    def sum_up(self) -> ParsedResponse:
        """Return the response with all that came so far; `content`, `reasoning` and `refusal` are new buffers then.

        What came since the last time is appended, so that looking after each event costs as much as looking once.
        """
        for field in ("content", "reasoning", "refusal"):
            buffer: StringIO = getattr(self, field)
            if buffer.tell():
                _append(self.response, field, buffer.getvalue())
                setattr(self, field, StringIO())
        return self.response

    def error(self, scope: Scope, code: str, message: str, index: int | None = None, offset: int | None = None) -> None:
        """Make an `Error` at the current position, unless a closer offset is known."""
        event = Error(scope, code, message, index, self.position.offset if offset is None else offset)
        self.events.append(event)
        self.response.errors.append(event)


def _append(response: ParsedResponse, field: str, text: str) -> None:
    # CPython extends a str in place if nobody else holds it; so the response must not while `whole` grows.
    whole: str = getattr(response, field)
    setattr(response, field, "")
    whole += text
    setattr(response, field, whole)
