"""Tables of what a native core would add: a slice of one in C, over the same streams, and what a client spends besides.

The slice frames, decodes and makes the events of plain text on the wire of chat completions, and nothing else
(`native/slice.c`).  It gives the same events as the parser, which is checked before anything is measured.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from corpora import CORPORA, Corpus
from floor import floor
from measuring import ROUNDS, Case, Cell, Table, find_ratio, take_turns
from minimal import find_minimal_floor
from native.build import build_slice
from proxy_load import CHUNKS
from reads import cut_by_bytes, cut_by_frames, take_frames
from rooms import parse

import streamparse as sp

__all__ = ["make_clients", "make_native"]

STREAMS = ("openai-chat, text", "openai-chat, text with noise")
CUTS: dict[str, Callable[[list[bytes]], list[bytes]]] = {
    "1 frame a read": partial(cut_by_frames, count=1),
    "2 frames": partial(cut_by_frames, count=2),
    "8 frames": partial(cut_by_frames, count=8),
    "1,400 bytes": partial(cut_by_bytes, size=1400),
    "64 KB": partial(cut_by_bytes, size=65_536),
}
NO_COMPILER = "Not measured: there is no C compiler here, or no header of this Python."


def read_natively(reads: Iterable[bytes]) -> None:
    """Run the slice over the reads."""
    module = build_slice()
    assert module is not None
    feed = module.Reader(sp.TextDelta).feed
    for read in reads:
        feed(read)


def check_events(frames: list[bytes], reads: list[bytes]) -> None:
    """Compare the slice's text with the parser's; raise AssertionError where they differ, or where it gave up."""
    module = build_slice()
    assert module is not None
    slice_, parser = module.Reader(sp.TextDelta), sp.StreamParser("openai-chat", dialects=())
    found = [event for read in reads for event in slice_.feed(read)]
    texts = [event for read in frames for event in parser.feed(read) if isinstance(event, sp.TextDelta)]
    assert [event for event in found if isinstance(event, sp.TextDelta)] == texts
    assert sum(isinstance(event, bytes) for event in found) <= 3  # the finish, and what follows


# -- the slice -------------------------------------------------------------------------------------------------------


def make_native() -> Table:
    """The slice beside the parser and both floors."""
    columns = ("stream, reads", "floor, µs a frame", "minimal floor", "parser", "slice in C", "parser to slice")
    if build_slice() is None:
        return Table("native", columns, {}, note=NO_COMPILER)
    cases: dict[str, Case] = {
        f"{name}, {cut}": partial(_measure_native, CORPORA[name], reads)
        for name in STREAMS
        for cut, reads in CUTS.items()
    }
    return Table("native", columns, cases, (4,))


def _measure_native(corpus: Corpus, cut: Callable[[list[bytes]], list[bytes]], rounds: int) -> tuple[Cell | None, ...]:
    frames = take_frames(corpus)
    reads = cut(frames)
    check_events(frames, reads)
    runs: dict[str, Callable[[], object]] = {
        "floor": partial(floor(corpus), frames),
        "minimal": partial(find_minimal_floor(corpus), frames),
        "parser": partial(parse, corpus.wire, reads),
        "slice": partial(read_natively, reads),
    }
    spent = take_turns(runs, rounds)
    found = {name: find_ratio(turns, spent["floor"]) for name, turns in spent.items()}
    return (
        Cell(median(spent["floor"]) * 1e6 / len(frames)),
        *(Cell(found[name]) for name in ("minimal", "parser", "slice")),
        Cell(find_ratio(spent["parser"], spent["slice"]), digits=1),
    )


# -- a client --------------------------------------------------------------------------------------------------------

CLIENTS = 20
"""Streams that are read at one time."""
MakeFeed = Callable[[], Callable[[bytes], object] | None]
READERS: dict[str, MakeFeed] = {
    "bytes alone": lambda: None,
    "and the parser": lambda: sp.StreamParser("openai-chat").feed,
    "and the slice in C": lambda: build_slice().Reader(sp.TextDelta).feed,  # type: ignore[union-attr]
}


def make_clients() -> Table:
    """A real client over loopback: httpx, many streams at one time, each chunk a read of its own."""
    columns = ("an httpx client", "µs a chunk", "from memory, µs", "share of the client, %")
    try:
        import httpx  # noqa: F401
    except ModuleNotFoundError:
        return Table("clients", columns, {}, note="Not measured: httpx is not installed.")
    names = [name for name in READERS if "slice" not in name or build_slice() is not None]
    found: dict[str, tuple[Cell | None, ...]] = {}

    def measure(name: str, rounds: int) -> tuple[Cell | None, ...]:
        if not found:
            found.update(_measure_clients(names, rounds))
        return found[name]

    note = (
        f"{CLIENTS} streams at one time over loopback, {len(CHUNKS)} chunks each, as fast as they can be read, "
        "which is when a chunk costs the client least; CPU time of its process."
    )
    return Table("clients", columns, {name: partial(measure, name) for name in names}, (2,), note=note)


def _measure_clients(names: list[str], rounds: int) -> dict[str, tuple[Cell | None, ...]]:
    load = Path(__file__).with_name("proxy_load.py")
    with subprocess.Popen([sys.executable, load], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}/"
        runs = {name: partial(_run_clients, url, READERS[name]) for name in names}
        spent = take_turns(runs, min(rounds, ROUNDS))
        server.stdin.close()
    chunks = CLIENTS * len(CHUNKS)
    each = {name: median(turns) * 1e6 / chunks for name, turns in spent.items()}
    in_memory = take_turns({name: partial(_read_memory, READERS[name]) for name in names}, rounds)
    cells: dict[str, tuple[Cell | None, ...]] = {"bytes alone": (Cell(each["bytes alone"], digits=1), None, None)}
    for name in names[1:]:
        ours = median(in_memory[name]) * 1e6 / chunks
        share = 100 * ours / (each["bytes alone"] + ours)
        cells[name] = (Cell(each[name], digits=1), Cell(ours), Cell(share, digits=1))
    return cells


def _run_clients(url: str, make: MakeFeed) -> None:
    asyncio.run(_read_streams(url, make))


async def _read_streams(url: str, make: MakeFeed) -> None:
    import httpx

    async def read(client: Any) -> None:
        feed = make()
        async with client.stream("POST", url, content=b"{}") as response:
            async for chunk in response.aiter_raw():
                if feed is not None:
                    feed(chunk)

    async with httpx.AsyncClient(limits=httpx.Limits(max_connections=CLIENTS)) as client:
        await asyncio.gather(*(read(client) for _ in range(CLIENTS)))


def _read_memory(make: MakeFeed) -> None:
    for _ in range(CLIENTS):
        feed = make()
        if feed is not None:
            for chunk in CHUNKS:
                feed(chunk)
