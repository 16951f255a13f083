"""`streamparse parse --out`: many bodies into a table, with a bar that shows how far it is.

The bar is tqdm's, or a line of our own where that is not installed; without a terminal there is none.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from streamparse.bulk import Progress, parse_many
from streamparse.cli.options import CommandError, read_dialects, read_tools

_SECONDS_BETWEEN: Final = 0.2  # bound: the writes to the terminal
"""Lines of our own are shown at most so often."""


def run_bulk(arguments: argparse.Namespace) -> int:
    """Carry out the command; raise CommandError if it cannot be."""
    if arguments.json or arguments.chunk is not None or "-" in arguments.paths:
        raise CommandError("--json, --chunk and standard input are for one stream, without --out")
    bar = _make_bar()
    try:
        progress = parse_many(
            arguments.paths,
            arguments.out,
            jobs=arguments.jobs or 1,
            column=arguments.column,
            wire=arguments.wire,
            dialects=read_dialects(arguments),
            tools=read_tools(arguments),
            include=arguments.include or "*",
            on_progress=bar.show,
        )
    except OSError as error:
        raise CommandError(f"{error.filename or arguments.out}: {error.strerror or error}") from error
    except (ValueError, ImportError) as error:
        raise CommandError(str(error)) from error
    except RuntimeError as error:  # of a pool, one of whose processes was killed
        raise CommandError(f"{error} The same command goes on from here.") from error
    except KeyboardInterrupt:
        bar.close()
        print("streamparse: stopped; the same command goes on from here", file=sys.stderr)
        return 130
    finally:
        bar.close()
    print(
        f"{arguments.out}: {progress.rows:,} rows, {progress.skipped:,} of them from before,"
        f" {progress.not_ok:,} not ok, {progress.unreadable:,} unreadable"
    )
    for label, counts in (("errors", progress.errors), ("dialects", progress.dialects)):
        if counts:
            ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
            print(f"{label}: {', '.join(f'{name} {count:,}' for name, count in ordered)}")
    return 1 if progress.unreadable else 0


class _Bar:
    """Shows nothing."""

    def show(self, progress: Progress) -> None:
        """Show how far a run is."""

    def close(self) -> None:
        """Leave the line."""


class _Line(_Bar):
    """One line that is written over again and again."""

    def __init__(self) -> None:
        self._next = 0.0
        self._width = 0

    def show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now >= self._next:
            self._next = now + _SECONDS_BETWEEN
            self._write(format_progress(progress))

    def close(self) -> None:
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            self._width = 0

    def _write(self, text: str) -> None:
        sys.stderr.write(f"\r{text:{self._width}}")
        sys.stderr.flush()
        self._width = len(text)


class _TqdmBar(_Bar):
    """The bar of tqdm."""

    def __init__(self, make: Callable[..., Any]) -> None:
        self._make = make
        self._bar: Any = None

    def show(self, progress: Progress) -> None:
        if self._bar is None:
            done_before = progress.done - progress.parsed
            self._bar = self._make(
                total=progress.size, initial=done_before, unit="B", unit_scale=True, dynamic_ncols=True
            )
        self._bar.set_postfix_str(f"{progress.rows:,} rows, {progress.not_ok:,} not ok", refresh=False)
        self._bar.update(progress.done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _make_bar() -> _Bar:
    if sys.stderr is None or not sys.stderr.isatty():
        return _Bar()
    try:
        from tqdm import tqdm  # noqa: PLC0415 - an extra
    except ImportError:
        return _Line()
    return _TqdmBar(tqdm)


def format_progress(progress: Progress) -> str:
    """Return how far a run is, in a line."""
    left = progress.seconds_left
    minutes, seconds = divmod(round(left or 0), 60)
    return (
        f"{progress.done / 1e6:.1f} of {progress.size / 1e6:.1f} MB, {progress.rate / 1e6:.1f} MB/s,"
        f" {'?' if left is None else f'{minutes}:{seconds:02}'} left, {progress.rows:,} rows,"
        f" {progress.not_ok:,} not ok"
    )
