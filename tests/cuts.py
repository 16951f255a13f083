"""How every stream is fed: whole, one by one, cut in two, in random pieces, with empty ones between.

`assert_same_in_every_cut` is the law of cutting as one call.  Every offset of an input is cut at, for it is fed one by
one.  Combs cut at each sixteenth offset, and begin at four of the first sixteen; which four depends on the input's
length.  An input is also cut in two: at every offset if it is `TINY`, else at some of the places where something
happens (around line ends, quotes, brackets, markers, inside characters of several bytes).  The nightly run has all
combs, cuts at every offset of a `SMALL` input and at more of those of others.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, Protocol, TypeVar, get_args

import msgspec
from branches import untraced
from thoroughness import is_nightly, spread

import streamparse as sp
from streamparse.errors import CODES
from streamparse.events import Scope

__all__ = [
    "SMALL",
    "Parser",
    "assert_same_in_every_cut",
    "calls_of",
    "cut_at",
    "cuts_of",
    "end_of",
    "events_of",
    "in_messages",
    "in_pieces",
    "in_random_pieces",
    "merged",
    "places_of",
    "plain",
    "reasoning_of",
    "revoked_of",
    "text_of",
]

Pieces = TypeVar("Pieces", bytes, str)

TINY, SMALL = 24, 1024
"""Up to these sizes an input is cut in two at every offset: always, and in the nightly run."""

SAMPLED, SAMPLED_NIGHTLY = 10, 100
"""How many places another input is cut in two at."""

COMB, SHARE = 16, 4
"""How far the cuts of a comb are from each other, and that each fourth of the combs is usual."""

_BLANK_LINES = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)")
_LINES = re.compile(rb"(?<=\n)")
_STRUCTURE = re.compile(rb'[\r\n{}\[\]"\\<>|:]|[\x80-\xff]|data')


class Parser(Protocol):
    """A `StreamParser` or a `TextParser`."""

    def feed(self, chunk: Any, /) -> list[sp.Event]: ...
    def close(self) -> list[sp.Event]: ...
    @property
    def response(self) -> sp.ParsedResponse: ...


def events_of(parser: Parser, pieces: Iterable[bytes | str]) -> list[sp.Event]:
    """Feed the pieces and close; a text ends well."""
    events = [event for piece in pieces for event in parser.feed(piece)]
    return events + end_of(parser)


def end_of(parser: Parser) -> list[sp.Event]:
    """Close a parser at the good end of its stream or text."""
    return parser.close(stopped=True) if isinstance(parser, sp.TextParser) else parser.close()


def merged(events: Iterable[sp.Event]) -> list[sp.Event]:
    """Join neighbouring deltas of one kind and one call."""
    joined: list[sp.Event] = []
    for _, run in groupby(events, _run_of):
        first, *others = run
        if others and isinstance(first, sp.ToolCallDelta):
            first = sp.ToolCallDelta(first.index, "".join([delta.arguments for delta in (first, *others)]))
        elif others:
            first = type(first)("".join([delta.text for delta in (first, *others)]))
        joined.append(first)
    return joined


def _run_of(event: Any) -> object:
    """What deltas that are joined have in common; each other event is by itself."""
    kind = type(event)
    if kind in (sp.TextDelta, sp.ReasoningDelta, sp.RefusalDelta):
        return kind
    return (kind, event.index) if kind is sp.ToolCallDelta else object()


def plain(events: Iterable[sp.Event]) -> list[dict[str, Any]]:
    """The merged events as JSON values, as golden files hold them."""
    values: list[dict[str, Any]] = [msgspec.to_builtins(event) for event in merged(events)]
    return values


def text_of(events: Iterable[sp.Event]) -> str:
    """The visible text."""
    return "".join(event.text for event in events if isinstance(event, sp.TextDelta))


def reasoning_of(events: Iterable[sp.Event]) -> str:
    """The thought."""
    return "".join(event.text for event in events if isinstance(event, sp.ReasoningDelta))


def calls_of(events: Iterable[sp.Event]) -> list[tuple[str, dict[str, Any]]]:
    """The complete calls: name and arguments."""
    return [(event.name, event.arguments) for event in events if isinstance(event, sp.ToolCallComplete)]


def places_of(events: Iterable[sp.Event]) -> list[str]:
    """Where the complete calls stood."""
    return [event.place for event in events if isinstance(event, sp.ToolCallComplete)]


def revoked_of(events: Iterable[sp.Event]) -> list[tuple[int, str]]:
    """The calls that were revoked: index and reason."""
    return [(event.index, event.reason) for event in events if isinstance(event, sp.ToolCallRevoked)]


def cut_at(data: Pieces, offsets: Iterable[int]) -> list[Pieces]:
    """Cut at the given offsets, in order; equal ones make empty pieces."""
    places = [0, *offsets, len(data)]
    return [data[start:end] for start, end in pairwise(places)]


def in_pieces(data: Pieces, size: int) -> list[Pieces]:
    """Cut into pieces of one size."""
    return [data[start : start + size] for start in range(0, len(data), size)]


def in_messages(data: bytes) -> list[bytes]:
    """Cut behind every blank line, or behind every line if there is none: as most servers write."""
    return [piece for piece in re.split(_BLANK_LINES if _BLANK_LINES.search(data) else _LINES, data) if piece]


def in_random_pieces(data: Pieces, seed: int) -> list[Pieces]:
    """Cut at up to thirty places, some of them equal."""
    dice = random.Random(seed)
    return cut_at(data, sorted(dice.randrange(len(data) + 1) for _ in range(dice.randrange(1, 30))))


def cuts_of(data: Pieces, most: int | None = None) -> Iterator[tuple[str, Sequence[Pieces]]]:
    """Every way to feed `data`, each with a name for messages; the first is whole; at most about `most` cut in two."""
    yield "whole", [data]
    yield "one by one", in_pieces(data, 1)
    if isinstance(data, bytes):
        yield "message by message", in_messages(data)
    empty = data[:0]
    yield "by 7 with empty pieces", [piece for seven in in_pieces(data, 7) for piece in (empty, seven, empty)]
    with untraced():
        for seed in range(3 if is_nightly() else 1):
            yield f"random {seed}", in_random_pieces(data, seed)
        for first in spread(range(1, min(COMB + 1, len(data))), len(data), SHARE):
            yield f"comb from {first}", cut_at(data, range(first, len(data), COMB))
        for offset in offsets_of(data, most):
            yield f"cut at {offset}", cut_at(data, [offset])


def offsets_of(data: bytes | str, most: int | None = None) -> Sequence[int]:
    """Where to cut in two: everywhere, or at some of the places where something happens."""
    if len(data) <= (SMALL if is_nightly() else TINY):
        return range(1, len(data))
    text = data if isinstance(data, bytes) else data.encode("latin-1", "replace")
    near = {offset for match in _STRUCTURE.finditer(text) for offset in (match.start(), match.end())}
    places = sorted(near - {0, len(data)}) or range(1, len(data))
    limit = SAMPLED_NIGHTLY if is_nightly() else SAMPLED
    most = min(most or limit, limit)
    return places[:: -(-len(places) // most)]


def assert_same_in_every_cut(
    make_parser: Callable[[], Parser], data: bytes | str, most: int | None = None
) -> list[sp.Event]:
    """Assert that every cut of `data` gives the same merged events and the same response; return those events."""
    expected: list[sp.Event] | None = None
    response: sp.ParsedResponse | None = None
    frames: tuple[int, int] = (0, 0)
    for name, pieces in cuts_of(data, most):
        parser = make_parser()
        events = merged(events_of(parser, pieces))
        counted = _count_frames(parser)
        if expected is None or response is None:
            expected, response, frames = events, parser.response, counted
        assert events == expected, f"{name}:\n{events}\nwhole:\n{expected}"
        assert parser.response == response, name
        assert counted == frames, name
    assert expected is not None
    assert response is not None
    assert {error.code for error in response.errors} <= {*CODES}
    assert {error.scope for error in response.errors} <= {*get_args(Scope)}
    return expected


def _count_frames(parser: Parser) -> tuple[int, int]:
    """How many messages there were, and how many of them were passed over; a limit may end a read within them."""
    if not isinstance(parser, sp.StreamParser) or any(
        error.scope == "stream" and error.code.startswith("limit_") for error in parser.response.errors
    ):
        return 0, 0
    return parser.stats.frames, parser.stats.ignored_frames
