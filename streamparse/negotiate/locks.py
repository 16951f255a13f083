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

_PATIENCE = 0.5
"""Seconds of one try: SQLite lets no signal through while it waits."""


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of this path, waiting for it as long as others do.  Raises OSError if it cannot be made."""
    try:
        database = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
    except sqlite3.Error as error:
        raise OSError(f"{path} cannot be made: {error}") from error
    with closing(database):
        try:
            while not _taken(database):
                pass
        except sqlite3.Error as error:
            raise OSError(f"{path} cannot be locked: {error}") from error
        yield


def _taken(database: sqlite3.Connection) -> bool:
    """Whether the lock was to be had in one try."""
    try:
        database.execute("PRAGMA journal_mode = MEMORY")  # no second file beside
        database.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True
