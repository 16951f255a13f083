"""Measures everything; writes the tables of `docs/internals/performance.md`: `python benches/performance.py`.

    python benches/performance.py                          # all tables: some minutes
    python benches/performance.py --only reads markers     # these alone; the others stay as they are
    RELEASE=../old python benches/performance.py           # beside a tree of the last release, or a commit

A table stands between `<!-- NAME -->` and `<!-- /NAME -->`.  Rows that miss a gate stand first, in bold.  The exit
status is 0 although gates are missed: `make bench` is what fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from history_tables import make_messages
from measuring import ROUNDS, Table
from native_tables import make_clients, make_native
from release import RELEASE
from run_tables import make_collections, make_memory, make_runner, make_threads
from start_tables import make_constructors, make_dearest_feeds, make_first_parsers, make_short_answers
from stream_tables import make_reads, make_recorded_sizes, make_recordings, make_rooms
from text_tables import make_bodies, make_markers

import streamparse as sp

__all__ = ["TABLES", "TABLES_OF_OTHERS", "main", "replace_between"]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "internals" / "performance.md"
TABLES: dict[str, Callable[[], Table]] = {
    "reads": make_reads,
    "recorded-sizes": make_recorded_sizes,
    "recordings": make_recordings,
    "rooms": make_rooms,
    "short-answers": make_short_answers,
    "constructors": make_constructors,
    "first-parsers": make_first_parsers,
    "dearest-feeds": make_dearest_feeds,
    "bodies": make_bodies,
    "markers": make_markers,
    "runner": make_runner,
    "messages": make_messages,
    "memory": make_memory,
    "collections": make_collections,
    "threads": make_threads,
    "native": make_native,
    "clients": make_clients,
}
"""What makes each table, by the name of its markers."""
TABLES_OF_OTHERS = ("concurrent-runs",)
"""Those that need other libraries: `concurrent_runs.py` makes this one."""


def replace_between(page: str, name: str, text: str) -> str:
    """Return a page with the text between two markers; raise ValueError if the page has none of that name."""
    opening, closing = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = page.partition(opening)
    if not found or closing not in rest:
        raise ValueError(f"the page has no {opening} with its end")
    return f"{before}{opening}\n\n{text}\n\n{closing}{rest.partition(closing)[2]}"


def describe_run() -> str:
    """When, where and with what it was measured."""
    today = datetime.now(UTC).date()
    packages = ", ".join(f"{name} {_find_version(name)}" for name in ("msgspec", "regex", "anyio", "httpx"))
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{platform.system()} on {_find_processor()}, {os.cpu_count()} cores"
    release = " (beside the tree of the last release)" if RELEASE else ""
    return f"{today}: streamparse {sp.__version__}{release}, {python}, {packages}; {machine}."


def _find_version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def _find_processor() -> str:
    facts = Path("/proc/cpuinfo")
    model = re.search(r"model name\s*: (.+)", facts.read_text(encoding="utf-8")) if facts.is_file() else None
    return model[1] if model else platform.processor() or platform.machine()


def sum_up(tables: list[Table]) -> str:
    """Return the table of best and worst rows."""
    lines = ["| measured | best | worst |", "|---|---|---|"]
    lines += [table.sum_up() for table in tables if table.summary and table.rows]
    missed = sum(row.fails for table in tables for row in table.rows)
    gated = sum(any(cell is not None and cell.bound for cell in row.cells) for table in tables for row in table.rows)
    lines.append(f"\n{missed} of {gated} rows with a gate miss it; they are in bold below.")
    return "\n".join(lines)


def read_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    arguments.add_argument("--only", nargs="+", choices=TABLES, default=[], help="measure these tables alone")
    arguments.add_argument("--rounds", type=int, default=ROUNDS)
    return arguments.parse_args()


def main() -> int:
    """Measure, print and write."""
    given = read_arguments()
    page = PAGE.read_text(encoding="utf-8")
    tables = []
    for name in given.only or TABLES:
        start = time.perf_counter()
        table = TABLES[name]()
        table.measure(given.rounds, lambda line: print(line, flush=True))
        print(f"{name} took {time.perf_counter() - start:.0f} s", flush=True)
        page = replace_between(page, name, table.write())
        tables.append(table)
    if not given.only:
        page = replace_between(page, "run", describe_run())
        page = replace_between(page, "summary", sum_up(tables))
    PAGE.write_text(page, encoding="utf-8")
    missed = [f"{table.name}: {row}" for table in tables for row in table.rows if row.fails]
    print(f"\n{len(missed)} rows miss a gate", *missed, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
