"""The event log: the events that were made, and the response that they sum to.

Duplicates among the complete calls are found here, and calls are revoked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from io import StringIO
from typing import Any, Protocol, TypeAlias

import msgspec
from msgspec.structs import replace

from streamparse.assembler.call import CallState
from streamparse.events import Error, Event, Place, Scope, Source, ToolCallComplete, ToolCallRevoked
from streamparse.response import Mark, ParsedResponse, ToolCall

_Seen: TypeAlias = tuple[str, dict[str, Any], int]
"""A call's name, arguments and index."""


class ParseHalted(Exception):
    """A stream limit ended the parse; `Done` has been made.  Never leaves the library."""


class HasOffset(Protocol):
    """A position in the stream: a frame, a framer, an `Offset`."""

    @property
    def offset(self) -> int | None: ...


class Offset(msgspec.Struct, frozen=True, gc=False):
    """A bare offset in the stream."""

    offset: int | None


_NOWHERE = Offset(None)


class EventLog:
    """The events made since they were taken last, and the sum of all of them.

    - `events`: the events since `take`.
    - `content`, `reasoning`, `refusal`: what came of each since `sum_up`; what came before is in `response`.
    - `content_before`, `reasoning_before`: how many characters that is.
    - `position`: where in the stream the current verbs come from; errors carry its offset.  Readers assign it for each
      frame, which costs less than a call, or once: a framer whose offset moves on.
    - `characters`: how many characters of text were fed, where those are counted and not bytes.
    - `dialect`: the dialect that reads the text, or read it last.
    - `origins`: how each call in the text was found, and its place, by index; known from its start on.
    - `leniencies`: what had to be mended in calls, by name.
    - `has_taken_back`: whether a call was revoked for another reason than that it turned out not to be a call.

    Some servers parse a call and leak its text too.  So the calls of either way that have not come the other way yet
    are kept, and the second of a pair is a duplicate.  The same call twice in one way is two calls.
    """

    def __init__(self) -> None:
        self.position: HasOffset = _NOWHERE
        self.characters: int | None = None
        self.events: list[Event] = []
        self.origins: dict[int, tuple[Source, Place]] = {}
        self.dialect: str = ""
        self.content: StringIO = StringIO()
        self.content_before: int = 0
        self.reasoning: StringIO = StringIO()
        self.reasoning_before: int = 0
        self.refusal: StringIO | None = None  # which hardly any answer has
        self.leniencies: dict[str, int] = {}
        self.response: ParsedResponse = ParsedResponse(tool_calls=[], broken_calls=[], items=[], order=[], errors=[])
        self.has_taken_back: bool = False
        self._places: dict[int, int] | None = None  # of the complete calls in the response, by index
        self._native: list[_Seen] = []
        self._in_text: list[_Seen] = []

    def take(self) -> list[Event]:
        """Return the events since the last time.  Swapping `events` for a new list is the same without the call."""
        events = self.events
        self.events = []
        return events

    def set_dialect(self, name: str) -> None:
        """Note the dialect that reads from now on."""
        self.dialect = name

    def note_marker(self, left: int) -> None:
        """Note that a marker was met so many characters before the end of the text: errors in its call are there."""
        if self.characters is not None:
            self.position = Offset(self.characters - left)

    def mark_late_call(self, start: int, end: int) -> None:
        """Note where in the content the text of the call is that began last."""
        order = self.response.order
        mark = replace(order.pop(), content=start, length=end - start)
        order.insert(bisect_right(order, start, key=lambda each: each.content), mark)

    def mark_item(self) -> None:
        """Note where among text and reasoning the next item comes."""
        content = self.content_before + self.content.tell()
        reasoning = self.reasoning_before + self.reasoning.tell()
        self.response.order.append(Mark("item", len(self.response.items), content, reasoning))

    def sum_up(self) -> ParsedResponse:
        """Return the response with all that came so far; `content`, `reasoning` and `refusal` are new buffers then.

        What came since the last time is appended, so that looking after each event costs as much as looking once.
        """
        if size := self.content.tell():
            self._add_up("content", self.content)
            self.content_before += size
        if size := self.reasoning.tell():
            self._add_up("reasoning", self.reasoning)
            self.reasoning_before += size
        if self.refusal is not None and self.refusal.tell():
            self._add_up("refusal", self.refusal)
        return self.response

    def _add_up(self, field: str, buffer: StringIO) -> None:
        # CPython extends a str in place if nobody else holds it; so the response must not while it grows.
        whole: str = getattr(self.response, field)
        setattr(self.response, field, "")
        whole += buffer.getvalue()
        setattr(self.response, field, whole)
        setattr(self, field, StringIO())

    def error(self, scope: Scope, code: str, message: str, index: int | None = None, offset: int | None = None) -> None:
        """Make an `Error` at the current position, unless a closer offset is known."""
        event = Error(scope, code, message, index, self.position.offset if offset is None else offset)
        self.events.append(event)
        self.response.errors.append(event)

    def count_repairs(self, repairs: Iterable[str]) -> None:
        """Count what had to be mended in a call."""
        for repair in repairs:
            self.leniencies[repair] = self.leniencies.get(repair, 0) + 1

    def add_refusal(self, text: str) -> None:
        """Add a piece of a refusal to the sum."""
        self.refusal = self.refusal or StringIO()
        self.refusal.write(text)

    # -- complete calls --------------------------------------------------------------------------------

    def add_call(self, call: CallState, arguments: dict[str, Any], raw: str) -> bool:
        """Take a call that is whole; return False, and take nothing, if it is a duplicate of one of the other way.

        A call in the text makes room for a native one if it does not count as that does.
        """
        same, other = self._native, self._in_text
        if call.source != "native":
            same, other = other, same
        for place, (name, values, index) in enumerate(other):
            if name == call.name and values == arguments and have_same_types(values, arguments):
                del other[place]
                if call.source != "native" or not self._make_room(index):
                    return False
                break
        else:
            same.append((call.name, arguments, call.index))
        source: Source = "repaired" if call.repairs else call.source
        reason = call.repairs[0] if call.repairs else call.reason
        found = ToolCall(call.name, arguments, call.id, source, raw, call.index, False, call.place, reason)
        if self._places is None:
            self._places = {}
        self._places[call.index] = len(self.response.tool_calls)
        self.response.tool_calls.append(found)
        complete = ToolCallComplete(call.index, call.id, call.name, arguments, source, raw, call.place, reason)
        self.events.append(complete)
        return True

    def revoke(self, index: int, reason: str) -> None:
        """Revoke a call that turned out not to be one; nothing if it is not complete, or was revoked before."""
        place = None if self._places is None else self._places.get(index)
        if place is not None and not (call := self.response.tool_calls[place]).revoked:
            self._revoke([(place, call)], reason)

    def revoke_all(self, reason: str) -> None:
        """Revoke every call: the server took its turn back."""
        self._take_back(self._list_valid(), reason)

    def revoke_uncertain(self) -> None:
        """Revoke the calls that only a good end makes certain: the answer was cut."""
        self._take_back([(at, call) for at, call in self._list_valid() if call.place in ("bare", "thought")], "cut")

    def revoke_inband(self, code: str, message: str) -> None:
        """Revoke the calls that were found in the text, with an error if there are any."""
        in_text = self.response.dialects
        doubtful = [(place, call) for place, call in self._list_valid() if call.index in in_text]
        if doubtful:
            self.error("call", code, message)
        self._take_back(doubtful, code)

    def _make_room(self, index: int) -> bool:
        """Revoke a call in the text if it counts less than a native one; return whether it was revoked.

        It was revoked before, is not a plain call, had to be repaired, or text follows it.
        """
        found = next(each for each in self.response.tool_calls if each.index == index)
        counts = found.place == "plain" and found.source == "inband" and not found.revoked
        if counts and not self._has_text_since(index):
            return False
        self.revoke(index, "duplicate_call")
        return True

    def _list_valid(self) -> list[tuple[int, ToolCall]]:
        """The calls that are not revoked, with their places in the response."""
        return [(place, call) for place, call in enumerate(self.response.tool_calls) if not call.revoked]

    def _take_back(self, found: list[tuple[int, ToolCall]], reason: str) -> None:
        self.has_taken_back = self.has_taken_back or bool(found)
        self._revoke(found, reason)

    def _revoke(self, found: list[tuple[int, ToolCall]], reason: str) -> None:
        for place, call in found:
            self.response.tool_calls[place] = replace(call, revoked=True)
            self.events.append(ToolCallRevoked(call.index, call.id, reason))

    def _has_text_since(self, index: int) -> bool:
        """Whether visible text has come since the call of that index began."""
        mark = next(mark for mark in self.response.order if mark.what == "call" and mark.index == index)
        before = self.response.content
        since = before[mark.content :] + self.content.getvalue()[max(0, mark.content - len(before)) :]
        return bool(since.strip())


def have_same_types(one: Any, other: Any) -> bool:
    """Whether equal values are the same JSON: to Python, true is 1."""
    if isinstance(one, dict):
        return all(have_same_types(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return all(map(have_same_types, one, other))
    return isinstance(one, bool) == isinstance(other, bool)
