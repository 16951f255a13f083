"""What happened when in a stream, and what the early hand-over of each call was worth.

A `Mark` is an event, or the result of a tool, with its moment.  `analyse` makes the marks of one stream into a
`Timeline`: a pure function, so that a recorded body, a live server and a test are looked at the same way.

For each call four moments are compared:

| moment | a client knows the call is whole when |
|---|---|
| `closed` | the last byte of its arguments is there (this library) |
| `next_call` | the next call begins; a call that has none is not compared |
| `finish` | the finish reason is there |
| `end` | the stream has ended |
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias

import msgspec

from streamparse import events
from streamparse.tools.result import ToolResult

Axis: TypeAlias = Literal["seconds", "bytes"]
"""What a mark's `t` counts: seconds since the request was sent, or bytes read."""

Rule: TypeAlias = Literal["next_call", "finish", "end"]
"""How a client without a scanner learns that a call is whole."""

PROSE_KINDS: Final[dict[type, str]] = {
    events.TextDelta: "text",
    events.ReasoningDelta: "reasoning",
    events.RefusalDelta: "refusal",
}


class Mark(msgspec.Struct, frozen=True):
    """An event or a tool's result, and the moment at which it was there."""

    t: float
    event: events.Event | ToolResult


class Prose(msgspec.Struct):
    """A stretch of `text`, `reasoning` or `refusal` without anything else in between."""

    kind: str
    start: float
    end: float
    fragments: list[str]


class ToolRun(msgspec.Struct, frozen=True):
    """One execution of a tool; it ends when its result was seen."""

    start: float
    end: float
    ok: bool
    text: str


class CallSpan(msgspec.Struct):
    """When one call began, when it was whole (None: never), and when each rule would have shown that it was."""

    index: int
    name: str
    start: float
    finish: float
    end: float
    next_call: float | None = None
    closed: float | None = None
    pieces: list[tuple[float, str]] = []
    """The arguments as they came."""
    problem: str = ""
    run: ToolRun | None = None

    @property
    def arguments(self) -> str:
        """The arguments as far as they came."""
        return "".join(piece for _, piece in self.pieces)

    def find_gain(self, rule: Rule) -> float | None:
        """Return how much earlier than by the rule the call was whole.

        None if it never was, or if the rule is the next call and no call follows.
        """
        moment: float | None = getattr(self, rule)
        return None if self.closed is None or moment is None else max(0.0, moment - self.closed)


class Timeline(msgspec.Struct):
    """One stream, laid out along its axis from 0 to `length`."""

    axis: Axis
    length: float
    finish: float
    end: float
    ok: bool
    finish_reason: str | None
    prose: list[Prose]
    calls: list[CallSpan]
    errors: list[tuple[float, events.Error]]

    def format(self, value: float) -> str:
        """Write a moment or a distance on the axis with its unit."""
        if self.axis == "bytes":
            return f"{value:,.0f} B"
        return f"{value * 1000:,.0f} ms" if self.length < 10 else f"{value:,.2f} s"

    def list_gains(self, rule: Rule) -> list[float]:
        """Return the gain of each whole call to which the rule applies."""
        return [gain for call in self.calls if (gain := call.find_gain(rule)) is not None]

    def find_last_result(self, rule: Literal["closed", "finish", "end"]) -> float | None:
        """Return when the last result would be there had each run begun by the rule, or None without runs.

        Each run takes as long as it took; runs do not wait for each other.
        """
        moments = [
            run.end if rule == "closed" else getattr(call, rule) + run.end - run.start
            for call in self.calls
            if (run := call.run) is not None
        ]
        return max(moments, default=None)


def analyse(marks: Iterable[Mark], *, axis: Axis = "seconds", finish: float | None = None) -> Timeline:
    """Lay out one stream.  The marks come from one parser, in order; a `Done` among them ends the stream.

    `finish` is when the finish reason came, which has no event of its own; without it the end is taken.
    """
    marks = list(marks)
    length = max((mark.t for mark in marks), default=0.0)
    ends = [(mark.t, mark.event) for mark in marks if isinstance(mark.event, events.Done)]
    end, done = ends[-1] if ends else (length, events.Done(None, None, ok=False))
    finish = end if finish is None else min(finish, end)
    timeline = Timeline(axis, length, finish, end, done.ok, done.finish_reason, prose=[], calls=[], errors=[])
    calls: dict[int, CallSpan] = {}
    previous: events.Event | None = None  # a tool's result is no part of the stream
    for mark in marks:
        if isinstance(mark.event, ToolResult):
            _add_result(calls, mark.t, mark.event, axis)
            continue
        _add_event(timeline, calls, mark.t, mark.event, follows=type(previous) is type(mark.event))
        previous = mark.event
    timeline.calls.extend(calls.values())
    return timeline


def _add_event(timeline: Timeline, calls: dict[int, CallSpan], t: float, event: events.Event, *, follows: bool) -> None:
    match event:
        case events.TextDelta(text=text) | events.ReasoningDelta(text=text) | events.RefusalDelta(text=text):
            if not follows:
                timeline.prose.append(Prose(PROSE_KINDS[type(event)], t, t, []))
            timeline.prose[-1].end = t
            timeline.prose[-1].fragments.append(text)
        case events.ToolCallStart(index=index, name=name):
            if calls:
                next(reversed(calls.values())).next_call = t
            calls[index] = CallSpan(index, name, t, timeline.finish, timeline.end)
        case events.ToolCallDelta(index=index, arguments=piece) if index in calls:
            calls[index].pieces.append((t, piece))
        case events.ToolCallComplete(index=index) if index in calls:
            calls[index].closed = t
        case events.ToolCallRevoked(index=index, reason=reason) if index in calls:
            calls[index].problem = f"revoked: {reason}"
        case events.Error():
            timeline.errors.append((t, event))
            if event.scope == "call" and event.index in calls:
                calls[event.index].problem = event.code


def _add_result(calls: dict[int, CallSpan], t: float, result: ToolResult, axis: Axis) -> None:
    """Place a run on the marks' own clock, which need not be the runner's."""
    call = calls.get(result.index)
    if call is None:
        return
    if result.started is None:
        call.problem = call.problem or (f"not run: {result.error}" if result.error else "")
    elif axis == "seconds":
        text = result.error if result.error is not None else repr(result.result)
        call.run = ToolRun(t - result.seconds, t, result.success, text)
