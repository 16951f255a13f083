"""Measures everything in one process: what each library costs, how late it is, how it grows, what it gets wrong.

All times are CPU time of the thread that reads, so that what one library leaves to a thread of its own is not counted
to the next. The libraries take turns in each round, all has run before the clock starts (what is short, several times
on end), and a figure is the median of its rounds. What would take hours in all rounds and sizes is run once, and not in
larger sizes.
"""

from __future__ import annotations

import gc
import json
import logging
import statistics
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from peers.arguments import ARGUMENT_READERS
from peers.clients import CLIENTS
from peers.formats import cut_text, write_call
from peers.judge import Reader, judge, measure_lateness
from peers.quirks import make_quirks
from peers.results import OUR_DISTRIBUTION, OURS, OURS_OVER_HTTP, ClientRow, PartialRow, QuirkRow, Results, TextRow
from peers.streams import (
    Stream,
    cut,
    make_anthropic,
    make_chat,
    make_ollama,
    make_responses,
    source_code,
)
from peers.text_parsers import TEXT_PARSERS, Feed, TextParser

__all__ = ["GROWTH_SIZES", "measure"]

KIB = 1024
MIB = 1024 * KIB
GROWTH_SIZES = (16 * KIB, 64 * KIB, 256 * KIB, MIB, 4 * MIB, 16 * MIB)
"""Characters of arguments."""
_GROWTH_PIECE = 256
"""Characters a frame, where growth is measured: in fives, 16 MB would be three million frames."""
_GROWTH_TURNS = 5
_SHORTEST_RUN = 0.02
"""CPU seconds; what is quicker is run several times on end."""
_MOST_TIMES = 128
_LONGEST_RUN = 0.4
"""CPU seconds after which no larger size is tried, and nothing is run again."""
_TEXT_SIZES = (KIB, 8 * KIB)
_PARTIAL_SIZES = (KIB, 4 * KIB, 16 * KIB)
_SMALL_READ = 1400
"""Bytes that one packet brings."""
_PIECE = 5

Make = Callable[..., Stream]
_MAKERS: tuple[Make, ...] = (make_chat, make_anthropic, make_responses, make_ollama)
_Key = TypeVar("_Key")


def measure(rounds: int, tell: Callable[[str], None] = lambda _: None) -> Results:
    """Measure all; `tell` is told what is measured next."""
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    results = Results(rounds)
    readers = import_readers(results)
    gc.collect()
    gc.freeze()  # so that a collection looks at what a run made, not at all modules of all libraries
    for make in _MAKERS:
        stream = make([400, 400])
        tell(stream.wire)
        results.clients += measure_wire(make, [each for each in readers if stream.wire in each.wires], rounds)
    tell("quirks")
    results.quirks = judge_quirks(readers)
    tell("calls in text")
    results.text = measure_text_parsers(results, rounds)
    tell("open arguments")
    results.partial = measure_partial()
    return results


def import_readers(results: Results) -> list[Reader]:
    """Import each library and make its client; note those for which that fails."""
    readers = []
    for client in CLIENTS:
        try:
            readers.append(Reader(client))
        except Exception as error:  # whatever another library raises is a finding
            if client.distribution == OUR_DISTRIBUTION:
                raise
            results.missing[client.name] = f"{type(error).__name__}: {error}"
    return readers


def _spend(run: Callable[[], Any]) -> float:
    """CPU seconds."""
    gc.collect()
    began = time.thread_time()
    run()
    return time.thread_time() - began


def _repeat(run: Callable[[], Any]) -> tuple[Callable[[], Any], int]:
    """Return what runs so often that it takes long enough to be measured, and how often; it has run then."""
    run()
    repeated, times = run, 1
    # The first run after a collection is slow, so how often it is cannot be told from one of them.
    while _spend(repeated) < _SHORTEST_RUN and times < _MOST_TIMES:
        times *= 2
        repeated = partial(_run_times, run, times)
    return repeated, times


def _run_times(run: Callable[[], Any], times: int) -> None:
    for _ in range(times):
        run()


def _spend_least(run: Callable[[], Any]) -> float:
    """CPU seconds: the least of three runs, or one that is too long."""
    spent = _spend(run)
    return spent if spent > _LONGEST_RUN else min(spent, _spend(run), _spend(run))


def _alternate(runs: Mapping[_Key, tuple[Callable[[], Any], int]], rounds: int) -> dict[_Key, float]:
    """Run each so many times, by turns; return the median of microseconds for one of its frames or pieces."""
    repeated = {key: (*_repeat(run), count) for key, (run, count) in runs.items()}
    costs: dict[_Key, list[float]] = {key: [] for key in runs}
    for _ in range(rounds):
        for key, (run, times, count) in repeated.items():
            costs[key].append(_spend(run) * 1e6 / (times * count))
    return {key: statistics.median(cost) for key, cost in costs.items()}


# -- clients --------------------------------------------------------------------------------------------------------


def make_streams(make: Make) -> dict[str, tuple[Stream, int]]:
    """The streams whose cost is measured, each with the number of its frames."""
    # Ollama has a whole call in each line: many calls, where the others have many fragments.
    call = make([4 * KIB]) if make is not make_ollama else make([200] * 40)
    short = make([50])
    text = make([], source_code(4 * KIB))
    return {
        "call": (call, len(call.reads)),
        "call, 1,400 bytes a read": (call.rejoin(_SMALL_READ), len(call.reads)),
        "short call": (short, len(short.reads)),
        "text": (text, len(text.reads)),
    }


def measure_wire(make: Make, readers: list[Reader], rounds: int) -> list[ClientRow]:
    """What each library costs on one wire, how it grows, how late it is."""
    streams, large, two = make_streams(make), _make_large(make, 64 * KIB), make([400, 400])
    late = {reader.name: measure_lateness(reader, two) for reader in readers}
    costs = _alternate(
        {
            (reader.name, kind): (partial(reader.read, stream), frames)
            for kind, (stream, frames) in streams.items()
            for reader in readers
        },
        rounds,
    )
    growth = measure_growth(make, readers)
    return [
        ClientRow(
            wire=two.wire,
            name=reader.name,
            microseconds={kind: costs[reader.name, kind] for kind in streams},
            memory=_measure_peak(partial(reader.read, large)),
            late=late[reader.name],
            growth=growth[reader.name],
        )
        for reader in readers
    ]


def measure_growth(make: Make, readers: Iterable[Reader]) -> dict[str, dict[int, float]]:
    """Microseconds a frame by size, for each library until a size takes it too long; the least of some runs.

    The sizes take turns, so that what slows the machine down for a while does not slow down one of them alone.
    """
    streams = {size: _make_large(make, size) for size in GROWTH_SIZES}
    readers = list(readers)
    going_on = list(readers)
    spent: dict[tuple[str, int], float] = {}
    again: dict[tuple[str, int], Callable[[], Any]] = {}
    for size, stream in streams.items():
        for reader in list(going_on):
            key, run = (reader.name, size), partial(reader.read, stream)
            spent[key] = _spend(run)
            if spent[key] <= _LONGEST_RUN or reader.name in {OURS, OURS_OVER_HTTP}:
                again[key] = run
            else:
                going_on.remove(reader)  # the next size has four times the frames
    for _ in range(_GROWTH_TURNS - 1):
        for key, run in again.items():
            spent[key] = min(spent[key], _spend(run))
    growth: dict[str, dict[int, float]] = {reader.name: {} for reader in readers}
    for (name, size), seconds in spent.items():
        growth[name][size] = seconds * 1e6 / len(streams[size].reads)
    return growth


def _make_large(make: Make, size: int) -> Stream:
    """A stream with a call of that size; on a wire whose calls come whole, a text of that size and a call."""
    if make is make_ollama:
        return make([50], source_code(size), piece=_GROWTH_PIECE)
    return make([size], piece=_GROWTH_PIECE)


def _measure_peak(run: Callable[[], Any]) -> int:
    """Bytes that were in use at most during a run, beyond those before."""
    gc.collect()
    tracemalloc.start()
    run()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def judge_quirks(readers: Iterable[Reader]) -> list[QuirkRow]:
    """Each deviation through each library that reads its wire."""
    return [
        QuirkRow(
            stream.wire,
            stream.name,
            stream.what,
            {reader.name: judge(reader, stream) for reader in readers if stream.wire in reader.wires},
        )
        for stream in make_quirks()
    ]


# -- calls in text --------------------------------------------------------------------------------------------------


def measure_text_parsers(results: Results, rounds: int) -> list[TextRow]:
    """Microseconds a piece, lateness, and whether the call is right."""
    rows, runs = {}, {}
    for parser in TEXT_PARSERS:
        key = (parser.name, parser.format)
        try:
            rows[key] = judge_text_parser(parser)
        except Exception as error:  # see above
            if parser.distribution == OUR_DISTRIBUTION:
                raise
            results.missing[f"{parser.name}, {parser.format}"] = f"{type(error).__name__}: {error}"
            continue
        for size in _TEXT_SIZES:
            pieces = [*_write_pieces(parser, size, _PIECE), ""]
            runs[*key, size] = (partial(_parse, parser, pieces), len(pieces))
    costs = _alternate(runs, rounds)
    for key, row in rows.items():
        row.microseconds = {size: costs[*key, size] for size in _TEXT_SIZES}
    return list(rows.values())


def _write_pieces(parser: TextParser, size: int, piece: int) -> list[str]:
    opened, closed = write_call(parser.format, {"path": "a.py", "content": source_code(size)})
    return [*cut_text(opened, piece), *cut_text(closed, piece)]


def _parse(parser: TextParser, pieces: Iterable[str]) -> None:
    feed: Feed = parser.make()
    for piece in pieces:
        for _ in feed(piece):
            pass


def judge_text_parser(parser: TextParser) -> TextRow:
    """Whether a parser reads a call that comes one character a piece, and how late; without times."""
    arguments = {"path": "a.py", "content": source_code(60)}
    opened, closed = write_call(parser.format, arguments)
    feed, at = parser.make(), 0
    given = []
    for piece in [*cut_text(opened, 1), *cut_text(closed, 1), ""]:
        at += len(piece) or 1  # the end is one place beyond the last character
        given += [(at, found) for found in feed(piece)]
    row = TextRow(parser.format, parser.name, {}, "right", None)
    if [(found.name, found.arguments) for _, found in given] != [("write_file", arguments)]:
        row.word = "wrong call" if given else "lost"
    else:
        row.late = given[0][0] - len(opened)
        row.is_late_to_the_end = given[0][0] > len(opened + closed)
    return row


# -- open arguments -------------------------------------------------------------------------------------------------


def measure_partial() -> list[PartialRow]:
    """Microseconds a piece for arguments that are looked at after each."""
    rows = []
    for reader in ARGUMENT_READERS:
        run, row = reader.make(), PartialRow(reader.name, {})
        for size in _PARTIAL_SIZES:
            arguments = {"path": "a.py", "content": source_code(size)}
            pieces = list(cut(json.dumps(arguments)))
            spent = _spend_least(partial(run, pieces))
            row.microseconds[size] = spent * 1e6 / len(pieces)
            if spent > _LONGEST_RUN:
                break
            if run(pieces) != arguments:
                raise AssertionError(f"{reader.name} reads something else")
        rows.append(row)
    return rows
