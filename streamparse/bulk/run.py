"""Parses many bodies, on one core or several, into a table that an interrupted run goes on with."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING, Any, Final

import msgspec

from streamparse.bulk.inputs import Body, Input, Task, cut_tasks, find_inputs, name_source, read_bodies
from streamparse.bulk.rows import Row, RowMaker, make_failure
from streamparse.bulk.tables import RowTable
from streamparse.dialects import Dialects
from streamparse.providers.wires import WireName
from streamparse.tools import Toolset

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["Progress", "parse_many"]

_AHEAD: Final = 4  # bound: the rows that wait in memory
"""Tasks for each process that wait or run, so that none is idle while rows are written in order."""


class Progress(msgspec.Struct, kw_only=True):
    """How far a run is.  `rows`, `not_ok` and `unreadable` are of the whole table, so they count earlier runs too."""

    size: int
    """Bytes of all inputs, as their files are."""
    done: int = 0
    """Bytes that are done."""
    rows: int = 0
    skipped: int = 0
    """Rows that an earlier run has written."""
    not_ok: int = 0
    """Rows that are not `ok`."""
    unreadable: int = 0
    """Rows that stand for an input that could not be read."""
    errors: Counter[str] = msgspec.field(default_factory=Counter)
    """Rows by the codes of their errors."""
    dialects: Counter[str] = msgspec.field(default_factory=Counter)
    """Rows with calls in their text, by dialect."""
    parsed: int = 0
    """Bytes that this run has done."""
    began: float = msgspec.field(default_factory=time.monotonic)

    @property
    def rate(self) -> float:
        """Bytes a second, of this run."""
        return self.parsed / max(time.monotonic() - self.began, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """At the rate so far; None before anything is done."""
        return (self.size - self.done) / self.rate if self.parsed else None

    def add(self, size: int, rows: _Rows) -> None:
        """Count a task of so many bytes as done."""
        self.done += size
        self.parsed += size if rows.count else 0
        self.rows += rows.count
        self.not_ok += rows.not_ok
        self.unreadable += rows.unreadable
        self.errors.update(rows.errors)
        self.dialects.update(rows.dialects)


def parse_many(
    paths: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *, jobs: int = 1, column: str | None = None, include: str = "*",
    wire: WireName = "auto", dialects: Dialects = "auto", tools: Iterable[Any] | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Progress:  # fmt: skip
    """Parse all bodies in files and folders into a table, and return the counts.

    | parameter | what it is |
    |---|---|
    | `paths` | files and folders; a file is one body, a `.parquet` file a table of bodies |
    | `out` | the table, `.jsonl` or `.parquet`; rows that are there already are kept, and not parsed again |
    | `jobs` | how many processes parse; with 1 it is this one |
    | `column` | the column of the tables that holds bodies; with it `.jsonl` and `.ndjson` files are tables too |
    | `wire`, `dialects`, `tools` | as of `StreamParser`, for all bodies |
    | `include` | which files of folders: a pattern for their names, such as `*.body` |
    | `on_progress` | called after each task, which is a few megabytes |

    Rows are in the order of the inputs.  A body that cannot be read or parsed is a row with an error.  After an
    interruption, by an exception of `on_progress` too, the next run goes on from the rows that are there.
    Raises ValueError for another kind of table and for unknown names, OSError for a path that is not there or a table
    that cannot be written, and ImportError for Parquet without pyarrow.
    """
    if jobs < 1:
        raise ValueError("jobs must be 1 or more")
    options: dict[str, Any] = {"wire": wire, "dialects": dialects, "tools": Toolset.of(tools)}
    maker = RowMaker(**options)
    table = RowTable(out)
    inputs = find_inputs(paths, column, table.files, include)
    progress = _begin(table, inputs)
    with table:
        tasks = cut_tasks(list(_leave_known(inputs, table, progress)), column, table.known)
        for task, rows in _parse_here(maker, tasks) if jobs == 1 else _parse_in_processes(options, tasks, jobs):
            table.add(rows.lines)
            progress.add(task.size, rows)
            if on_progress is not None:
                on_progress(progress)
    table.finish()
    return progress


def _begin(table: RowTable, inputs: list[Input]) -> Progress:
    size = sum(entry.size for entry in inputs)
    return Progress(
        size=size, rows=table.rows, not_ok=table.not_ok, unreadable=table.unreadable,
        errors=table.errors, dialects=table.dialects,
    )  # fmt: skip


def _leave_known(inputs: list[Input], table: RowTable, progress: Progress) -> Iterator[Input]:
    """Yield the inputs of which a row may be missing; the others are counted."""
    for entry in inputs:
        known = table.known.get(name_source(entry.path), ())
        progress.skipped += len(known)
        if None in known and entry.kind in ("body", "unreadable"):
            progress.done += entry.size
        else:
            yield entry


class _Rows(msgspec.Struct):
    """The rows of a task, as lines of JSON, and counts of them."""

    lines: bytes
    count: int
    not_ok: int
    unreadable: int
    errors: dict[str, int]
    dialects: dict[str, int]


_encode_lines: Final = msgspec.json.Encoder().encode_lines


def _parse_task(maker: RowMaker, task: Task) -> _Rows:
    rows = [_parse_body(maker, body) for body in read_bodies(task)]
    bad = [row.error_codes for row in rows if not row.ok]
    unreadable = sum("unreadable" in codes for codes in bad)
    errors = Counter(code for row in rows for code in {*row.error_codes})
    dialects = Counter(row.dialect for row in rows if row.dialect is not None)
    return _Rows(_encode_lines(rows), len(rows), len(bad), unreadable, errors, dialects)


def _parse_body(maker: RowMaker, body: Body) -> Row:
    if body.content is None:
        row = make_failure("unreadable", body.problem, body.source, body.row)
    else:
        row = maker.parse(body.content, body.source, body.row)
    row.custom_id, row.other = body.custom_id, body.other
    return row


def _parse_here(maker: RowMaker, tasks: Iterator[Task]) -> Iterator[tuple[Task, _Rows]]:
    return ((task, _parse_task(maker, task)) for task in tasks)


def _parse_in_processes(options: dict[str, Any], tasks: Iterator[Task], jobs: int) -> Iterator[tuple[Task, _Rows]]:
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - slow to import, and not always needed
    from multiprocessing import get_context  # noqa: PLC0415 - as above

    # Not forked: a program may have threads, and their locks would be copied as they are.
    pool = ProcessPoolExecutor(jobs, get_context("spawn"), _start_worker, (options,))
    running: deque[tuple[Task, Future[_Rows]]] = deque()
    try:
        for task in tasks:
            with _hold_interrupts():
                running.append((task, pool.submit(_parse_in_worker, task)))
            if len(running) >= _AHEAD * jobs:
                first, rows = running.popleft()
                yield first, rows.result()
        while running:
            first, rows = running.popleft()
            yield first, rows.result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _hold_interrupts() -> Iterator[None]:
    """Processes started meanwhile ignore Ctrl-C, which is for the process that writes the table."""
    if sys.platform == "win32":
        yield
        return
    from multiprocessing import resource_tracker  # noqa: PLC0415 - as above

    resource_tracker.ensure_running()  # which would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_worker: RowMaker
"""Of a process that works for another."""


def _start_worker(options: dict[str, Any]) -> None:
    global _worker  # noqa: PLW0603 - a process has one
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    _worker = RowMaker(**options)
    gc.freeze()  # the objects of now stay to the end: the garbage collector need not look at them again


def _end_with_parent() -> None:
    """End this process when the one that started it is gone: if that was killed, this one would wait for ever."""
    from multiprocessing import parent_process  # noqa: PLC0415 - as above

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _parse_in_worker(task: Task) -> _Rows:
    return _parse_task(_worker, task)
