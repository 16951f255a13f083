"""How many times the floor a parser costs, and which room costs what: `python benches/ratios.py`.

Floor and parser run by turns in one process; CPU time; the median of the ratios of at least 15 rounds.  A busy machine
slows both down alike, so the ratio holds to a few percent where microseconds do not.  With `--write` the figures go
into the README and `docs/design.md`.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from corpora import CORPORA, Corpus
from floor import floor
from rooms import ROOMS, parse

__all__ = ["HEAD", "Ratio", "ratio_of", "rooms_of"]

ROOT = Path(__file__).parents[1]
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
    bare = floor(corpus)
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


def rooms_of(corpus: Corpus, rounds: int = 5) -> dict[str, float]:
    """Microseconds a read of each room by itself; rooms that the stream does not pass are not there."""
    reads = list(corpus.reads())
    runs = {room: make(corpus.wire, reads) for room, make in ROOMS.items()}
    seconds = {room: median(_seconds(run) for _ in range(rounds)) for room, run in runs.items() if run is not None}
    return {room: spent * 1e6 / len(reads) for room, spent in seconds.items()}


def _write(page: Path, name: str, table: str) -> None:
    before, rest = page.read_text(encoding="utf-8").split(f"<!-- {name} -->\n")
    _, after = rest.split(f"<!-- /{name} -->")
    fenced = f"\n```text\n{table}```\n\n"
    page.write_text(f"{before}<!-- {name} -->\n{fenced}<!-- /{name} -->{after}", encoding="utf-8")


def _table(head: str, rows: Iterable[str]) -> str:
    lines = [head]
    print(head)
    for row in rows:
        print(row, flush=True)
        lines.append(row)
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _rooms_row(name: str, corpus: Corpus) -> str:
    spent = rooms_of(corpus)
    return f"{name:40}" + "".join(f"{spent[room]:10.2f}" if room in spent else f"{'–':>10}" for room in ROOMS)


def main() -> None:
    """Print the tables; with `--write`, keep them."""
    ratios = _table(HEAD, (ratio_of(corpus).row(name) for name, corpus in CORPORA.items()))
    print()
    head = f"{'stream':40}" + "".join(f"{room:>10}" for room in ROOMS)
    rooms = _table(head, (_rooms_row(name, corpus) for name, corpus in CORPORA.items() if "1 MB" not in name))
    if "--write" in sys.argv[1:]:
        for page in (ROOT / "README.md", ROOT / "docs" / "design.md"):
            _write(page, "ratios", ratios)
        _write(ROOT / "docs" / "design.md", "rooms", rooms)


if __name__ == "__main__":
    main()
