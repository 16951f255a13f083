"""What is made: the events, and the response that they sum to."""

from __future__ import annotations

from collections import Counter
from io import StringIO
from typing import Literal, NamedTuple, Protocol

from streamparse.events import Error, Event, Scope, Source
from streamparse.events import Place as CallPlace
from streamparse.response import Mark, ParsedResponse

__all__ = ["At", "Halt", "Place", "Record"]


class Halt(Exception):
    """A stream limit ended the parse; `Done` has been made.  Never leaves the library."""


class Place(Protocol):
    """Something that stands at an offset of the stream: a frame, a framer."""

    @property
    def offset(self) -> int | None: ...


class At(NamedTuple):
    """A bare offset."""

    offset: int | None


class Record:
    """The events made since they were taken last, and the sum of all of them.

    `content`, `reasoning` and `refusal` hold what came of each since `sum_up` was called last; what came before is in
    `response`.  `place` is where in the stream the verbs being told come from; errors carry its offset.  `dialect` is
    the one that reads the text, or read it last.  `origins` says of each call that was found in the text, by its index,
    how it was found and where it stands; it is known once the call has begun.
    """

    __slots__ = ("content", "dialect", "events", "leniencies", "origins", "place", "reasoning", "refusal", "response")

    def __init__(self) -> None:
        self.place: Place = At(None)
        self.events: list[Event] = []
        self.origins: dict[int, tuple[Source, CallPlace]] = {}
        self.dialect = ""
        self.content = StringIO()
        self.reasoning = StringIO()
        self.refusal = StringIO()
        self.leniencies: Counter[str] = Counter()  # repairs that reading the calls took, by name
        self.response = ParsedResponse(tool_calls=[], broken_calls=[], items=[], order=[], errors=[])

    def take(self) -> list[Event]:
        """Return the events made since the last time; the same as swapping `events` for a new list."""
        events = self.events
        self.events = []
        return events

    def read_by(self, dialect: str) -> None:
        """Note the dialect that reads from now on."""
        self.dialect = dialect

    def mark(self, what: Literal["call", "item"], index: int) -> None:
        """Note where among text and thought a call begins, or an item comes."""
        content = len(self.response.content) + self.content.tell()
        reasoning = len(self.response.reasoning) + self.reasoning.tell()
        self.response.order.append(Mark(what, index, content, reasoning))

    def has_text_since(self, index: int) -> bool:
        """Whether visible text has come since a call began."""
        mark = next(mark for mark in self.response.order if mark.what == "call" and mark.index == index)
        before = self.response.content
        since = before[mark.content :] + self.content.getvalue()[max(0, mark.content - len(before)) :]
        return bool(since.strip())

    def sum_up(self) -> ParsedResponse:
        """Return the response with all that came so far; the buffers `content`, `reasoning` and `refusal` are new ones.

        What came since the last time is appended to what was there, so that a response that is looked at after each
        event costs as much as one that is looked at once.
        """
        for field in ("content", "reasoning", "refusal"):
            buffer: StringIO = getattr(self, field)
            if buffer.tell():
                _append(self.response, field, buffer.getvalue())
                setattr(self, field, StringIO())
        return self.response

    def error(self, scope: Scope, code: str, message: str, index: int | None = None, offset: int | None = None) -> None:
        """Make an `Error`, at the place of what is being told unless a closer offset is known."""
        event = Error(scope, code, message, index, self.place.offset if offset is None else offset)
        self.events.append(event)
        self.response.errors.append(event)


def _append(response: ParsedResponse, field: str, text: str) -> None:
    # CPython extends a str in place if nobody else holds it; so the response must not while `whole` grows.
    whole: str = getattr(response, field)
    setattr(response, field, "")
    whole += text
    setattr(response, field, whole)
