"""Tables of what streams cost: by the size of their reads, as servers sent them, whole recordings, and by rooms."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from statistics import median
from typing import Any

from corpora import CORPORA, Corpus
from floor import floor
from measuring import Case, Cell, Table, find_ratio, repeat, take_turns
from minimal import find_minimal_floor
from reads import (
    RECORDED,
    Recording,
    Server,
    cut_by_bytes,
    cut_by_frames,
    deal_reads,
    read_fixtures,
    take_frames,
)
from release import compare_with_release, is_release_known
from rooms import ROOMS, parse

import streamparse as sp

__all__ = ["make_reads", "make_recorded_sizes", "make_recordings", "make_rooms"]

PROMISED = {
    "openai-chat, text": 1.2,  # as good as all messages are alike, and not decoded; so in the calls
    "openai-chat, call of 64 KB": 1.3,
    "gemini, 512 whole calls of 1 KB": 2.5,  # a quarter of it reads the arguments, which the floor does not
}
"""Bounds for one frame a read, over the floor, of streams that differ from their wire."""
DECODED = ("openai-responses", "gemini", "bedrock", "ollama", "openai-chat, text with noise")
"""How the streams begin of which every message is decoded."""
TO_RELEASE, DECODED_TO_RELEASE = 1.1, 1.6
"""Bounds to 0.1.0.  It learnt the forms of those, too, which took more code than it was worth, and told less."""
SERVER, OPENROUTER = 2.0, 2.3
"""Bounds over the floor for whole recordings of servers with 500 recorded frames."""
OUR_STREAM = 1.5
"""Bound over the floor for a long stream of ours in the reads that a server was recorded with."""
REPEATS = 600
"""Reads, at least, of recorded answers in one run: they are short."""


def _promise(name: str) -> float:
    return PROMISED.get(name, 3.3 if name.startswith("ollama") else 2.3 if name.startswith(DECODED) else 2.0)


# -- by the size of the reads ----------------------------------------------------------------------------------------


def make_reads() -> Table:
    """One frame a read, two, eight, and reads of 1,400 bytes and of 64 KB."""
    cases: dict[str, Case] = {
        name: partial(_measure_reads, name, corpus) for name, corpus in CORPORA.items() if "1 MB" not in name
    }
    columns = ("stream", "floor, µs", "minimal floor", "1 frame", "2", "8", "1,400 B", "64 KB")
    bounds = "one frame a read at most 2 × the floor, 2.3 where every message is decoded, on Ollama 3.3, of some less"
    if is_release_known():
        columns += ("to 0.1.0",)
        bounds += f"; at most {TO_RELEASE} × what it cost in 0.1.0, {DECODED_TO_RELEASE} × where all are decoded"
    return Table(
        "reads",
        columns,
        cases,
        (2, 3, 4, 5, 6),
        gates=f"{bounds}.",
        summary="long streams, at their dearest size of reads, × floor",
    )


def _measure_reads(name: str, corpus: Corpus, rounds: int) -> tuple[Cell | None, ...]:
    frames = take_frames(corpus)
    cuts = {
        "1": frames,
        "2": cut_by_frames(frames, 2),
        "8": cut_by_frames(frames, 8),
        "1400": cut_by_bytes(frames, 1400),
        "64K": cut_by_bytes(frames, 65_536),
    }
    runs: dict[str, Callable[[], object]] = {
        "floor": partial(floor(corpus), frames),
        "minimal": partial(find_minimal_floor(corpus), frames),
        **{cut: partial(parse, corpus.wire, reads) for cut, reads in cuts.items()},
    }
    spent = take_turns(runs, rounds)
    found = {run: find_ratio(turns, spent["floor"]) for run, turns in spent.items()}
    cells = [Cell(found[cut], _promise(name) if cut == "1" else None) for cut in cuts]
    each = median(spent["floor"]) * 1e6 / len(frames)
    against_release = [_compare(name)] if is_release_known() else []
    return (Cell(each), Cell(found["minimal"]), *cells, *against_release)


def _compare(name: str) -> Cell | None:
    change = compare_with_release(name)
    return None if change is None else Cell(change, DECODED_TO_RELEASE if name.startswith(DECODED) else TO_RELEASE)


# -- as servers sent them --------------------------------------------------------------------------------------------


def make_recorded_sizes() -> Table:
    """The recorded sizes of the reads of real servers, over streams of ours and over the recorded bytes."""
    cases: dict[str, Case] = {name: partial(_measure_server, name, server) for name, server in RECORDED.items()}
    columns = ("server", "frames", "alone, %", "our stream", "to 1 frame", "recorded", "to 1 frame", "feeds only")
    ours = f"our stream at most {OUR_STREAM:g} × the floor"
    known = f"recordings of servers with 500 recorded frames at most {SERVER:g} × (OpenRouter {OPENROUTER:g})"
    has_recordings = any(server.find_recordings() for server in RECORDED.values())
    note = "" if has_recordings else "The recorded bytes are not there: these are streams of ours only."
    return Table(
        "recorded-sizes",
        columns,
        cases,
        (2, 4),
        gates=f"{ours}; {known}.",
        note=note,
        summary="reads as servers sent them, × floor",
    )


def _measure_server(name: str, server: Server, rounds: int) -> tuple[Cell | None, ...]:
    corpus = server.find_stream(name)
    frames = take_frames(corpus)
    ours = [Recording(b"".join(frames), deal_reads(frames, server))]
    recorded = server.find_recordings()
    bound = (OPENROUTER if name == "OpenRouter" else SERVER) if server.is_well_known else None
    head = (Cell(server.frames, digits=0), Cell(100 * server.frames_alone, digits=0))
    return (
        *head,
        *_measure_recordings(server, ours, OUR_STREAM, rounds)[:2],
        *_measure_recordings(server, recorded, bound, rounds),
    )


def _measure_recordings(
    server: Server, recordings: list[Recording], bound: float | None, rounds: int
) -> tuple[Cell | None, ...]:
    """Over the floor of the same reads, over the same bytes at one frame a read, and without making and closing."""
    if not recordings:
        return (None, None, None)
    corpus = Corpus(server.wire, lambda: iter(()), b"\r\n\r\n" if server.wire == "gemini" else b"\n\n")
    alone = [cut_at_frames(recording.body) for recording in recordings]
    repeats = -(-REPEATS // sum(map(len, alone)))
    bare = floor(corpus)
    runs: dict[str, Callable[[], object]] = {
        "floor": lambda: [bare(recording.reads) for recording in recordings],
        "alone": lambda: [parse(server.wire, frames) for frames in alone],
        "reads": lambda: [parse(server.wire, recording.reads) for recording in recordings],
        "empty": lambda: [parse(server.wire, ()) for _ in recordings],
    }
    spent = take_turns({run: repeat(what, repeats) for run, what in runs.items()}, rounds)
    whole, to_alone = find_ratio(spent["reads"], spent["floor"]), find_ratio(spent["reads"], spent["alone"])
    feeds = find_ratio(
        [all_of_it - empty for all_of_it, empty in zip(spent["reads"], spent["empty"], strict=True)], spent["floor"]
    )
    return (Cell(whole, bound), Cell(to_alone), Cell(feeds))


def cut_at_frames(body: bytes) -> list[bytes]:
    """One frame a read, by the blank lines; a body without any is a line of JSON a read."""
    pieces = re.split(rb"(?<=\n\n)|(?<=\r\n\r\n)", body)
    return [piece for piece in (pieces if len(pieces) > 2 else body.splitlines(keepends=True)) if piece]


# -- whole recordings ------------------------------------------------------------------------------------------------


def make_recordings() -> Table:
    """Our own recorded answers, each whole: the parser is made, fed, closed, and its response is asked for."""
    cases: dict[str, Case] = {
        name: partial(_measure_recording, recording)
        for name, recording in read_fixtures()
        if len(cut_at_frames(recording.body)) > 1
    }
    columns = ("recording", "frames", "reads", "µs a frame", "× floor", "in one read", "`auto`")
    return Table("recordings", columns, cases, (3,), shown=12, summary="recorded answers whole, × floor")


def _measure_recording(recording: Recording, rounds: int) -> tuple[Cell | None, ...]:
    wire: Any = _find_wire(recording.body)
    frames = cut_at_frames(recording.body)
    reads = recording.reads if len(recording.reads) > 1 else frames
    corpus = Corpus(wire, lambda: iter(()), b"\n" if wire.startswith("ollama") else b"\n\n")
    bare = floor(corpus)
    repeats = -(-REPEATS // len(frames))
    runs: dict[str, Callable[[], object]] = {
        "floor": lambda: bare(reads),
        "parser": lambda: parse(wire, reads),
        "one read": lambda: parse(wire, [recording.body]),
        "auto": lambda: parse("auto", [recording.body]),
    }
    spent = take_turns({run: repeat(what, repeats) for run, what in runs.items()}, rounds)
    each = median(spent["parser"]) * 1e6 / len(frames) / repeats
    return (
        Cell(len(frames), digits=0),
        Cell(len(reads), digits=0),
        Cell(each),
        Cell(find_ratio(spent["parser"], spent["floor"])),
        Cell(find_ratio(spent["one read"], spent["floor"])),
        Cell(find_ratio(spent["auto"], spent["floor"])),
    )


@cache
def _find_wire(body: bytes) -> str:
    parser = sp.StreamParser("auto")
    parser.feed(body)
    parser.close()
    assert parser.wire is not None
    return parser.wire


# -- by rooms --------------------------------------------------------------------------------------------------------


def make_rooms() -> Table:
    """Each room by itself, fed from memory, one frame a read: microseconds."""
    cases: dict[str, Case] = {
        name: partial(_measure_rooms, corpus) for name, corpus in CORPORA.items() if "1 MB" not in name
    }
    return Table("rooms", ("stream, µs a frame", *ROOMS), cases, tuple(range(len(ROOMS))))


def _measure_rooms(corpus: Corpus, rounds: int) -> tuple[Cell | None, ...]:
    frames = take_frames(corpus)
    made = {room: make(corpus.wire, frames) for room, make in ROOMS.items()}
    spent = take_turns({room: run for room, run in made.items() if run is not None}, rounds)
    each: dict[str, float] = {room: median(turns) * 1e6 / len(frames) for room, turns in spent.items()}
    return tuple(Cell(each[room]) if room in each else None for room in ROOMS)
