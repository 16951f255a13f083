"""How many times the floor a parser costs: `python benches/ratios.py`.

Floor and parser run by turns in one process; CPU time; the median of the ratios of at least 15 rounds.  A busy machine
slows both down alike, so the ratio holds to a few percent where microseconds do not.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from statistics import median
from typing import Any, NamedTuple

from corpora import CORPORA, Corpus
from floor import floor
from rooms import parse

__all__ = ["HEAD", "Ratio", "ratio_of"]

ROUNDS = 15
HEAD = f"{'stream':40} {'reads':>7} {'floor':>8} {'parser':>8} {'ratio':>6}   (µs a read; CPU time)"


class Ratio(NamedTuple):
    """Medians over all rounds; `floor` and `parser` are microseconds a read."""

    reads: int
    floor: float
    parser: float
    ratio: float

    def row(self, name: str) -> str:
        """A line for people, under `HEAD`."""
        return f"{name:40} {self.reads:7} {self.floor:8.2f} {self.parser:8.2f} {self.ratio:6.2f}"


def ratio_of(corpus: Corpus, rounds: int = ROUNDS, **options: Any) -> Ratio:
    """Measure one corpus; `options` are the parser's."""
    reads = list(corpus.reads())
    bare = floor(corpus.wire)
    gc.collect()
    gc.freeze()  # what pytest and others hold is not ours to walk
    try:
        pairs = [
            (_seconds(lambda: bare(reads)), _seconds(lambda: parse(corpus.wire, reads, **options)))
            for _ in range(rounds + 1)
        ][1:]
    finally:
        gc.unfreeze()
    each = 1e6 / len(reads)
    floors, parsers = ([seconds * each for seconds in column] for column in zip(*pairs, strict=True))
    return Ratio(len(reads), median(floors), median(parsers), median(ours / base for base, ours in pairs))


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


if __name__ == "__main__":
    print(HEAD)
    for name, corpus in CORPORA.items():
        print(ratio_of(corpus).row(name), flush=True)
