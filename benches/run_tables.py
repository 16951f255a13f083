"""Tables of what runs for long: the runner over lists of events, memory, the collector, threads."""

from __future__ import annotations

import asyncio
import gc
import sys
import sysconfig
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from itertools import islice
from statistics import median
from threading import Thread
from time import perf_counter
from typing import Any

from measuring import Case, Cell, Table, find_ratio, take_turns
from ollama_bodies import ollama_hermes, ollama_qwen3_coder, ollama_text
from openai_bodies import chat_calls, chat_noisy_text, chat_text
from rooms import parse
from texts import KIB, MIB

import streamparse as sp
from streamparse.tools import tool

__all__ = ["OPEN_CALLS", "find_peak_of_open_call", "make_collections", "make_memory", "make_runner", "make_threads"]

# -- the runner ------------------------------------------------------------------------------------------------------

LISTS = 1.3
"""What the runner may cost over lists of events, as `feed` returns them, over the same events one by one."""


@tool(effect="read")
def write_file(path: str, content: str) -> str:
    """Write a file."""
    return f"{path}: {len(content)}"


def make_runner() -> Table:
    """`ToolRunner.run` over events one by one, and over lists of them as `feed` returns them."""
    streams: dict[str, Iterator[bytes]] = {
        "text": islice(chat_text(4000), 4000),
        "a call": chat_calls(16 * KIB),
    }
    cases: dict[str, Case] = {name: partial(_measure_runner, list(reads)) for name, reads in streams.items()}
    columns = ("µs a read", "events, async", "events", "lists, async", "to events, async", "lists", "to events, async")
    gates = f"lists at most {LISTS} × events one by one, from an async iterator, which is the cheapest way."
    return Table("runner", columns, cases, (3, 5), gates=gates)


def _measure_runner(reads: list[bytes], rounds: int) -> tuple[Cell | None, ...]:
    parser = sp.StreamParser("openai-chat", tools=[write_file])
    batches: list[Any] = [*map(parser.feed, reads), parser.close()]
    events = [event for batch in batches for event in batch]
    runs: dict[str, Callable[[], object]] = {
        "events, async": lambda: asyncio.run(_run_tools(_iterate(events))),
        "events": lambda: asyncio.run(_run_tools(events)),
        "lists, async": lambda: asyncio.run(_run_tools(_iterate(batches))),
        "lists": lambda: asyncio.run(_run_tools(batches)),
    }
    spent = take_turns(runs, rounds)
    each = {name: Cell(median(turns) * 1e6 / len(reads)) for name, turns in spent.items()}
    to_events = {name: Cell(find_ratio(turns, spent["events, async"]), LISTS) for name, turns in spent.items()}
    return (
        each["events, async"], each["events"],
        each["lists, async"], to_events["lists, async"], each["lists"], to_events["lists"],
    )  # fmt: skip


async def _iterate(items: list[Any]) -> AsyncIterator[Any]:
    for item in items:
        yield item


async def _run_tools(source: Any) -> None:
    async with sp.ToolRunner([write_file]) as runner:
        async for _ in runner.run(source):
            pass


# -- memory ----------------------------------------------------------------------------------------------------------

IDLE = 8.0
"""KB of a parser that waits."""
OPEN_CALLS: dict[str, tuple[str, Callable[[int], Iterator[bytes]]]] = {
    "native call": ("openai-chat", chat_calls),
    "call in the text as JSON": ("ollama-chat", ollama_hermes),
    "call in the text as tags": ("ollama-chat", ollama_qwen3_coder),
}
"""A wire, and what writes the reads of a stream with one call of so many characters."""
_PARSERS = 200


def make_memory() -> Table:
    """What parsers hold, in KB."""
    text = list(islice(chat_text(3), 3))
    cases: dict[str, Case] = {
        "an idle parser, new": lambda _: (Cell(_find_size([]) / KIB, IDLE, 1),),
        "an idle parser, after three words": lambda _: (Cell(_find_size(text) / KIB, IDLE, 1),),
    }
    for name in OPEN_CALLS:
        cases[f"the peak in a {name} of 1 MB"] = partial(_measure_open_call, name)
    return Table("memory", ("what is held", "KB"), cases, gates=f"an idle parser at most {IDLE:g} KB.")


def _find_size(reads: list[bytes]) -> float:
    def make() -> sp.StreamParser:
        parser = sp.StreamParser("openai-chat")
        for read in reads:
            parser.feed(read)
        return parser

    make()  # what is made once in a process, is made
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        kept = [make() for _ in range(_PARSERS)]
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / len(kept)
    finally:
        tracemalloc.stop()


def _measure_open_call(name: str, _: int) -> tuple[Cell | None, ...]:
    return (Cell(find_peak_of_open_call(name, MIB)[0] / KIB, digits=0),)


def find_peak_of_open_call(name: str, size: int) -> tuple[int, int]:
    """Return the most bytes that were held before the call's Complete, and the length of its arguments so far."""
    wire, make = OPEN_CALLS[name]
    parse(wire, make(KIB))
    reads = list(make(size))
    parser = sp.StreamParser(wire)
    length = peak = 0
    tracemalloc.start()
    try:
        for read in reads:
            for event in parser.feed(read):
                if isinstance(event, sp.ToolCallComplete):
                    return peak, length
                length += len(event.arguments) if isinstance(event, sp.ToolCallDelta) else 0
            peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    raise AssertionError("no call was completed")


# -- the collector ---------------------------------------------------------------------------------------------------

FEEDS = 100_000


def make_collections() -> Table:
    """Collections while text is fed, and the objects of a dropped parser that only the collector frees."""
    streams: dict[str, tuple[str, Callable[[int], Iterator[bytes]]]] = {
        "openai-chat, text": ("openai-chat", chat_text),
        "openai-chat, text with noise": ("openai-chat", chat_noisy_text),
        "openai-chat, call": ("openai-chat", chat_calls),
        "ollama-chat, text": ("ollama-chat", ollama_text),
    }
    cases: dict[str, Case] = {name: partial(_measure_collections, *stream) for name, stream in streams.items()}
    columns = ("stream", f"collections in {FEEDS:,} feeds", "objects left in cycles", "after `parse_response`")
    gates = "no collection while text is fed, and nothing left to the collector."
    return Table("collections", columns, cases, (0, 1, 2), gates=gates)


def _measure_collections(wire: Any, write: Callable[[int], Iterator[bytes]], _: int) -> tuple[Cell | None, ...]:
    reads = list(islice(write(4 * FEEDS if write is chat_calls else FEEDS), FEEDS))
    is_text = write is not chat_calls
    feed = sp.StreamParser(wire).feed
    gc.collect()
    before = _count_collections()
    for read in reads:
        feed(read)
    collections = _count_collections() - before
    short = list(write(20))
    body = b"".join(short)
    left = [_count_left(lambda: parse(wire, short)), _count_left(lambda: sp.parse_response(body, wire))]
    return (Cell(collections, 0 if is_text else None, 0), *(Cell(count, 0, 0) for count in left))


def _count_collections() -> int:
    return sum(generation["collections"] for generation in gc.get_stats())


def _count_left(run: Callable[[], object]) -> int:
    run()
    gc.collect()
    gc.disable()
    try:
        run()
        return gc.collect()
    finally:
        gc.enable()


# -- threads ---------------------------------------------------------------------------------------------------------

THREADS = (2, 4)
SPEEDUP = 0.8


def make_threads() -> Table:
    """N threads, each with its parser, against one; only where threads run at the same time."""
    is_free = bool(sysconfig.get_config_var("Py_GIL_DISABLED")) and not getattr(sys, "_is_gil_enabled", lambda: True)()
    cases: dict[str, Case] = {f"{count} threads": partial(_measure_threads, count) for count in THREADS if is_free}
    gates = f"N threads take at most 1 / {SPEEDUP} of the time of one for N times the work."
    note = "" if is_free else "Not measured: this interpreter has a GIL, so its threads take turns."
    return Table("threads", ("threads", "time of one, for N times the work"), cases, gates=gates, note=note)


def _measure_threads(count: int, rounds: int) -> tuple[Cell | None, ...]:
    """By the clock on the wall, as no CPU time shows that threads wait for each other."""
    reads = list(chat_text(20_000))

    def run(threads: int) -> float:
        workers = [Thread(target=parse, args=("openai-chat", reads)) for _ in range(threads)]
        start = perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return perf_counter() - start

    return (Cell(median(run(count) / run(1) for _ in range(rounds)), 1 / SPEEDUP),)
