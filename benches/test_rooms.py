"""What rooms and whole streams cost: `make bench` shows it, `--benchmark-autosave` keeps it for comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from corpora import CORPORA, Corpus
from floor import floor
from rooms import ROOMS, parse

SHORT = {name: corpus for name, corpus in CORPORA.items() if "1 MB" not in name}


def _measure(benchmark: Any, corpus: Corpus, run: Callable[[], object], reads: int) -> None:
    benchmark.group = corpus.wire
    benchmark.extra_info["reads"] = reads
    benchmark.pedantic(run, rounds=9, warmup_rounds=1)


@pytest.mark.parametrize("name", SHORT)
@pytest.mark.parametrize("room", ROOMS)
def test_room(benchmark: Any, name: str, room: str, tell: Callable[[str], None]) -> None:
    corpus = SHORT[name]
    reads = list(corpus.reads())
    run = ROOMS[room](corpus.wire, reads)
    if run is None:
        pytest.skip("this stream does not pass through this room")
    _measure(benchmark, corpus, run, len(reads))
    if benchmark.stats is not None:
        tell(f"{name:40} {room:12} {benchmark.stats.stats.median * 1e6 / len(reads):6.2f} µs a read")


@pytest.mark.parametrize("name", SHORT)
def test_floor(benchmark: Any, name: str) -> None:
    corpus = SHORT[name]
    reads = list(corpus.reads())
    run = floor(corpus)
    _measure(benchmark, corpus, lambda: run(reads), len(reads))


@pytest.mark.parametrize("name", SHORT)
def test_end_to_end(benchmark: Any, name: str, tell: Callable[[str], None]) -> None:
    corpus = SHORT[name]
    reads = list(corpus.reads())
    _measure(benchmark, corpus, lambda: parse(corpus.wire, reads), len(reads))
    if benchmark.stats is not None:
        tell(f"{name:40} {'end to end':12} {benchmark.stats.stats.median * 1e6 / len(reads):6.2f} µs a read")
