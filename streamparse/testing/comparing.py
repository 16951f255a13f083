"""Events that can be compared, whatever the cuts of the reads that gave them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from msgspec.structs import replace

from streamparse import events

__all__ = ["check_cuts", "merge"]


class Parser(Protocol):
    """What is fed with pieces: a `StreamParser`, for one."""

    def feed(self, chunk: bytes, /) -> list[events.Event]:
        """Take a piece."""

    def close(self) -> list[events.Event]:
        """End the body."""


def merge(batch: Iterable[events.Event]) -> list[events.Event]:
    """Return the events with adjacent deltas of one kind, and of one call, joined: the form of a golden file.

    Any two ways to cut a body give the same list.
    """
    merged: list[events.Event] = []
    for event in batch:
        joined = _join(merged[-1], event) if merged else None
        if joined is None:
            merged.append(event)
        else:
            merged[-1] = joined
    return merged


def _join(last: events.Event, event: events.Event) -> events.Event | None:
    """Return one delta for two that belong together; None for others."""
    match last, event:
        case (
            (events.TextDelta(text=first), events.TextDelta(text=second))
            | (events.ReasoningDelta(text=first), events.ReasoningDelta(text=second))
            | (events.RefusalDelta(text=first), events.RefusalDelta(text=second))
        ):
            return replace(last, text=first + second)
        case (
            events.ToolCallDelta(index=one, arguments=first),
            events.ToolCallDelta(index=other, arguments=second),
        ) if one == other:
            return replace(last, arguments=first + second)
    return None


def check_cuts(make: Callable[[], Parser], body: bytes) -> list[events.Event]:
    """Feed a body whole, byte by byte, and in two pieces at each place; return the merged events.

    Raises AssertionError with the cut that gives other events.  `make` makes a new parser each time.
    """
    whole = merge(_parse(make(), [body]))
    for name, pieces in _list_cuts(body):
        found = merge(_parse(make(), pieces))
        if found != whole:
            raise AssertionError(f"{name} gives other events: {_find_difference(whole, found)}")
    return whole


def _list_cuts(body: bytes) -> Iterator[tuple[str, list[bytes]]]:
    yield "byte by byte", [body[at : at + 1] for at in range(len(body))]
    for at in range(1, len(body)):
        yield f"cut at byte {at}", [body[:at], body[at:]]


def _parse(parser: Parser, pieces: list[bytes]) -> list[events.Event]:
    return [event for piece in pieces for event in parser.feed(piece)] + parser.close()


def _find_difference(whole: list[events.Event], found: list[events.Event]) -> str:
    for number, (one, other) in enumerate(zip(whole, found, strict=False)):
        if one != other:
            return f"event {number} is {other}, and was {one}"
    return f"{len(found)} events, and there were {len(whole)}"
