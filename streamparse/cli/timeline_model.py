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
from streamparse.usage import TokenCounts

Axis: TypeAlias = Literal["seconds", "bytes"]
"""What a mark's `t` counts: seconds since the request was sent, or bytes read."""

Rule: TypeAlias = Literal["next_call", "finish", "end"]
"""How a client without a scanner learns that a call is whole."""

PROSE_KINDS: Final[dict[type, str]] = {
    events.TextDelta: "text",
    events.ReasoningDelta: "reasoning",
    events.RefusalDelta: "refusal",
}


_CLEARLY_LATE: Final = 0.02  # source: the drawing; less of the length of the axis is hardly to be seen


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
    """The run of a tool, all attempts together."""

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


class Facts(msgspec.Struct, frozen=True):
    """What is known of a stream besides its events.

    `first` is when its first byte was read, `finish` when the finish reason came, which has no event of its own.
    """

    first: float | None = None
    finish: float | None = None
    wire: str | None = None
    model: str | None = None
    tokens: TokenCounts | None = None


class Timeline(msgspec.Struct):
    """One stream, laid out along its axis from 0, its first byte, to `length`; `wait` is the time before that byte."""

    axis: Axis
    facts: Facts
    wait: float
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

    def is_end_late(self) -> bool:
        """Whether the end is so far behind the finish reason that a head start over it is another figure."""
        return self.end - self.finish > _CLEARLY_LATE * self.length

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


def analyse(
    marks: Iterable[Mark],
    *,
    axis: Axis = "seconds",
    facts: Facts = Facts(),  # noqa: B008 - frozen
    sent: float | None = None,
) -> Timeline:
    """Lay out one stream.  The marks come from one parser, in order; a `Done` among them ends the stream.

    Without the moment of the finish reason the end is taken; without that of the first byte the axis begins with the
    first mark.  Results of tools may stand anywhere: each is placed by the runner's own clock, on which the request was
    sent at `sent`; without `sent` no run is drawn.
    """
    marks = list(marks)
    stream = [(mark.t, mark.event) for mark in marks if not isinstance(mark.event, ToolResult)]
    results = [mark.event for mark in marks if isinstance(mark.event, ToolResult)]
    wait = _find_wait(stream, axis, facts)
    ends = [(t - wait, event) for t, event in stream if isinstance(event, events.Done)]
    last = max((t for t, _ in stream), default=wait) - wait
    end, done = ends[-1] if ends else (last, events.Done(None, None, ok=False))
    finish = end if facts.finish is None else min(facts.finish - wait, end)
    timeline = Timeline(axis, facts, wait, last, finish, end, done.ok, done.finish_reason, [], [], [])
    calls: dict[int, CallSpan] = {}
    previous: events.Event | None = None
    for t, event in stream:
        _add_event(timeline, calls, t - wait, event, follows=type(previous) is type(event))
        previous = event
    for result in results:
        _add_result(calls, result, None if axis == "bytes" or sent is None else sent + wait)
    timeline.calls.extend(calls.values())
    timeline.length = max([last, *(call.run.end for call in timeline.calls if call.run)])
    return timeline


def _find_wait(stream: list[tuple[float, events.Event]], axis: Axis, facts: Facts) -> float:
    """Return the moment of the first byte; bytes are counted from 0."""
    if axis == "bytes":
        return 0.0
    return facts.first if facts.first is not None else min((t for t, _ in stream), default=0.0)


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


def _add_result(calls: dict[int, CallSpan], result: ToolResult, zero: float | None) -> None:
    """Place a run on the axis, whose 0 is at `zero` on the runner's clock."""
    call = calls.get(result.index)
    if call is None:
        return
    if result.started is None or result.ended is None:
        call.problem = call.problem or (f"not run: {result.error}" if result.error else "")
    elif zero is not None:
        text = result.error if result.error is not None else repr(result.result)
        call.run = ToolRun(result.started - zero, result.ended - zero, result.success, text)
