"""Whether one tree of the project is slower than another: `python benches/compare_trees.py OLD [NEW] [--rounds 9]`.

`NEW` is this tree unless it is given.  In each round each tree has a new process, which waits for orders, and the two
are measured by turns: the streams of `corpora.py` against the floor of their tree, in CPU time, and then what it costs
to make a parser and to parse a small whole body, against some JSON that is decoded by the standard library.

A row has the medians of the ratios of both trees, and the median of new to old over the rounds; `time` is the same
without a floor: it shows if a floor became slower.  The exit status is 1 if a row's new to old is over 1.05.

    python benches/compare_trees.py ../old                        # all rows: about five minutes
    python benches/compare_trees.py ../old --only '*text*' --rounds 15
"""

from __future__ import annotations

import argparse
import sys
from fnmatch import fnmatch
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tree_process import ALLOWED, Seconds, Tree, measure_row

__all__ = ["Row", "main"]

ROOT = Path(__file__).resolve().parents[1]


class Row(NamedTuple):
    """Medians over all rounds: the ratios to the floor, and what changed."""

    name: str
    old: float
    new: float
    change: float
    time: float

    @property
    def is_slower(self) -> bool:
        return self.change > ALLOWED

    def __str__(self) -> str:
        verdict = "   slower" if self.is_slower else ""
        return f"{self.name:42} {self.old:9.2f} {self.new:9.2f} {self.change:9.3f} {self.time:9.3f}{verdict}"


def measure_round(old: Path, new: Path, only: list[str]) -> dict[str, tuple[Seconds, Seconds]]:
    """Measure all rows once, with new processes: where one lies in memory makes a difference of some percent."""
    with Tree(old) as before, Tree(new) as after:
        names = [name for name in after.rows if name in before.rows]
        return {
            name: measure_row(name, before, after)
            for name in names
            if not only or any(fnmatch(name, pattern) for pattern in only)
        }


def sum_up(name: str, rounds: list[tuple[Seconds, Seconds]]) -> Row:
    ratios = [(old[1] / old[0], new[1] / new[0]) for old, new in rounds]
    return Row(
        name,
        median(old for old, _ in ratios),
        median(new for _, new in ratios),
        median(new / old for old, new in ratios),
        median(new[1] / old[1] for old, new in rounds),
    )


def read_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    arguments.add_argument("old", type=Path)
    arguments.add_argument("new", type=Path, nargs="?", default=ROOT)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--only", action="append", default=[], help="a pattern of names of rows; may come again")
    return arguments.parse_args()


def main() -> int:
    given = read_arguments()
    rounds = []
    for number in range(given.rounds):
        rounds.append(measure_round(given.old.resolve(), given.new.resolve(), given.only))
        print(f"round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
    print(
        f"{'times the floor':42} {'old':>9} {'new':>9} {'new/old':>9} {'time':>9}   ({given.rounds} rounds; CPU time)"
    )
    rows = [sum_up(name, [found[name] for found in rounds]) for name in rounds[0]]
    print(*rows, sep="\n")
    slower = sum(row.is_slower for row in rows)
    print(f"{slower} of {len(rows)} rows are more than {ALLOWED - 1:.0%} slower")
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
