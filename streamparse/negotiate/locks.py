"""A file that one thread of one process holds at a time.

It is the lock of an SQLite database that nothing is ever written to: one that every system has, and that ends with its
process, however that ends.  The file is empty, and stays: who took it away would let two in that wait at two files.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

__all__ = ["held"]

_FOR_EVER = 2_000_000
"""Seconds, of which SQLite counts the milliseconds in 32 bits."""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of this path, waiting for it as long as others do.  Raises OSError if it cannot be made."""
    try:
        database = sqlite3.connect(path, timeout=_FOR_EVER, isolation_level=None)
    except sqlite3.Error as error:
        raise OSError(f"{path} cannot be made: {error}") from error
    with closing(database):
        try:
            database.execute("PRAGMA journal_mode = MEMORY")  # no second file beside
            database.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            raise OSError(f"{path} cannot be locked: {error}") from error
        yield
