"""How everything here is measured, and the tables that it goes into.

What is compared runs by turns in one process; the clock is CPU time; a figure is the median over some rounds.  A busy
machine slows all down alike, so ratios hold to a few percent where microseconds do not.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import NamedTuple

__all__ = [
    "ROUNDS",
    "Case",
    "Cell",
    "Row",
    "Table",
    "find_ratio",
    "hide_old_objects",
    "repeat",
    "take_turns",
    "time_run",
]

ROUNDS = 9
NEAR = 1.2
"""What misses its gate by more than this, a longer measurement would not bring there."""


def time_run(run: Callable[[], object]) -> float:
    """CPU seconds of this process for one run."""
    start = time.process_time()
    run()
    return time.process_time() - start


@contextmanager
def hide_old_objects() -> Iterator[None]:
    """Hide from the collector what is there already: what pytest and others hold is not ours to walk."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def take_turns(runs: Mapping[str, Callable[[], object]], rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Run all by turns; return the CPU seconds of each, round by round.  A first round warms up and does not count."""
    with hide_old_objects():
        turns = [{name: time_run(run) for name, run in runs.items()} for _ in range(rounds + 1)][1:]
    return {name: [turn[name] for turn in turns] for name in runs}


def repeat(run: Callable[[], object], repeats: int) -> Callable[[], object]:
    """Repeat what is too short for the clock."""

    def run_all() -> None:
        for _ in range(repeats):
            run()

    return run_all


# -- tables ----------------------------------------------------------------------------------------------------------


class Cell(NamedTuple):
    """One figure, and the most that its gate allows, where there is one."""

    value: float
    bound: float | None = None
    digits: int = 2

    @property
    def fails(self) -> bool:
        return self.bound is not None and self.value > self.bound

    def __str__(self) -> str:
        text = f"{self.value:,.{self.digits}f}"
        if not self.fails:
            return text
        bound = f"{self.bound:,.{self.digits}f}"
        return f"**{text}** (over {bound})" if text != bound else str(self._replace(digits=self.digits + 1))


class Row(NamedTuple):
    """A line of a table; None is a cell that does not apply."""

    name: str
    cells: tuple[Cell | None, ...]

    @property
    def fails(self) -> bool:
        return any(cell.fails for cell in self.cells if cell is not None)

    def __str__(self) -> str:
        return f"| {self.name} | " + " | ".join("–" if cell is None else str(cell) for cell in self.cells) + " |"


Case = Callable[[int], tuple[Cell | None, ...]]
"""Measures one row in so many rounds."""


@dataclass
class Table:
    """Rows that are measured alike; `name` is that of the markers around it in a page."""

    name: str
    columns: tuple[str, ...]
    cases: dict[str, Case]
    worst_by: tuple[int, ...] = (0,)
    """The cells whose largest value sorts the rows, the worst first; rows that miss a gate stand before all others."""
    shown: int | None = None
    """Rows that a page shows; of the others it says how many there are."""
    note: str = ""
    """What a reader must know of this run, such as what was left out."""
    gates: str = ""
    """What the gates are, in words."""
    summary: str = ""
    """What the figures are by which the rows are sorted, for the table of best and worst rows."""
    rows: list[Row] = field(default_factory=list)

    def measure(self, rounds: int = ROUNDS, tell: Callable[[str], None] = print) -> None:
        """Measure all rows."""
        for name in self.cases:
            self.rows.append(self.measure_row(name, rounds))
            tell(f"{self.name}: {self.rows[-1]}")

    def measure_row(self, name: str, rounds: int = ROUNDS) -> Row:
        """Measure one row; one that misses a gate by little is measured again for longer, and that counts."""
        row = Row(name, self.cases[name](rounds))
        missed = [cell.value / cell.bound for cell in row.cells if cell is not None and cell.bound and cell.fails]
        return Row(name, self.cases[name](2 * rounds)) if missed and max(missed) < NEAR else row

    def find_worst(self, row: Row) -> float:
        """Return the figure by which a row is sorted."""
        cells = (row.cells[index] for index in self.worst_by)
        return max((cell.value for cell in cells if cell is not None), default=0.0)

    def sort_rows(self) -> list[Row]:
        """Return the rows, the worst first."""
        return sorted(self.rows, key=lambda row: (row.fails, self.find_worst(row)), reverse=True)

    def sum_up(self) -> str:
        """Return one line with the best and the worst row."""
        best, worst = min(self.rows, key=self.find_worst), max(self.rows, key=self.find_worst)
        return f"| {self.summary} | {self._name(best)} | {self._name(worst)} |"

    def _name(self, row: Row) -> str:
        figure = f"{self.find_worst(row):,.2f}"
        return f"{f'**{figure}**' if row.fails else figure} ({row.name})"

    def write(self) -> str:
        """Return the table in Markdown."""
        worst = self.sort_rows()
        shown = worst[: self.shown]
        lines = [f"| {' | '.join(self.columns)} |", "|---|" + "---:|" * (len(self.columns) - 1), *map(str, shown)]
        if rest := worst[len(shown) :]:
            lines.append(f"\n{len(rest)} more rows, none of them above {self.find_worst(rest[0]):,.2f}.")
        gated = sum(any(cell is not None and cell.bound is not None for cell in row.cells) for row in self.rows)
        failed = sum(row.fails for row in self.rows)
        if gated:
            lines.append(f"\nGates: {self.gates} {failed} of {gated} rows miss one.")
        if self.note:
            lines.append(f"\n{self.note}")
        return "\n".join(lines)


def find_ratio(ours: list[float], base: list[float]) -> float:
    """The median of the ratios, round by round."""
    return median(one / other for one, other in zip(ours, base, strict=True))
