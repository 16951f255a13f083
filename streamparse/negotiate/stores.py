"""Where figures are kept between runs: a JSON file, or an SQLite database.

A JSON file is changed under a lock file: an SQLite database to which nothing is written.  SQLite can lock a file on
every system, and its lock ends with the process, however that ends.  The lock file is empty, and it stays: if it were
removed, two processes could wait for two files.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

import msgspec

_BUSY_TIMEOUT: Final = 60.0  # bound: seconds; SQLite picks the next writer by chance, and among many one may wait long


class Record(msgspec.Struct, frozen=True):
    """The figures of one model in one format, in all or of one slot of time."""

    model: str
    format: str
    figures: dict[str, Any]
    slot: int = 0


Change: TypeAlias = Callable[[list[Record]], list[Record]]


class Store(Protocol):
    """Keeps records between runs."""

    def load(self) -> list[Record]:
        """Return the records saved last; none if nothing ever was."""

    def save(self, records: Iterable[Record], /) -> None:
        """Replace all saved records by these, wholly or not at all."""


@runtime_checkable
class SharedStore(Store, Protocol):
    """A store that several learners may share, also of several processes."""

    def update(self, change: Change, /) -> list[Record]:
        """Replace the records by what `change` makes of them, while no one else writes; return the new ones."""
        ...

    def save(self, records: Iterable[Record], /) -> None:
        """Replace all saved records by these, wholly or not at all."""
        self.update(lambda _: list(records))


class JSONFile(SharedStore):
    """Keeps the records in one JSON file.  Raises OSError where that fails, ValueError if it is no such file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path).resolve()

    def load(self) -> list[Record]:
        """Read the file, if there is one."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        return msgspec.json.decode(data, type=list[Record])

    def update(self, change: Change) -> list[Record]:
        """Write a new file next to the old one, then put it in its place; a lock file keeps other writers out."""
        new = self._path.with_name(f".{self._path.name}.new")
        with lock_file(self._path.with_name(f".{self._path.name}.lock")):
            records = change(self.load())
            data = msgspec.json.format(msgspec.json.encode(records), indent=1) + b"\n"
            try:
                with new.open("wb") as file:
                    file.write(data)
                    file.flush()
                    os.fsync(file.fileno())
                new.replace(self._path)
            except OSError:
                new.unlink(missing_ok=True)
                raise
        return records


class SQLiteFile(SharedStore):
    """Keeps the records in one table of an SQLite database, which may hold other tables.

    Raises sqlite3.Error where that fails, ValueError if a row holds something else.
    """

    def __init__(self, path: str | os.PathLike[str], table: str = "capabilities") -> None:
        if not table.isidentifier():
            raise ValueError(f"not the name of a table: {table!r}")
        self._path = Path(path)
        self._table = f'"{table}"'

    def load(self) -> list[Record]:
        """Read the table, if there is one."""
        if not self._path.exists():
            return []
        with closing(self._open()) as database:
            return self._read(database)

    def update(self, change: Change) -> list[Record]:
        """Change the table's rows in one transaction, which no other writer can enter."""
        with closing(self._open()) as database, database:
            database.execute("BEGIN IMMEDIATE")
            records = change(self._read(database))
            database.execute(
                f"CREATE TABLE IF NOT EXISTS {self._table}"
                " (model TEXT, format TEXT, figures TEXT, slot INTEGER, PRIMARY KEY (model, format, slot))"
            )
            database.execute(f"DELETE FROM {self._table}")
            for each in records:
                row = (each.model, each.format, msgspec.json.encode(each.figures).decode(), each.slot)
                database.execute(f"INSERT INTO {self._table} VALUES (?, ?, ?, ?)", row)
        return records

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_BUSY_TIMEOUT, isolation_level=None)

    def _read(self, database: sqlite3.Connection) -> list[Record]:
        known = database.execute(f"SELECT name FROM pragma_table_info('{self._table[1:-1]}')").fetchall()
        if not known:
            return []
        found = database.execute(f"SELECT model, format, figures, slot FROM {self._table}").fetchall()
        rows = msgspec.convert(found, list[tuple[str, str, str, int]])
        decode = msgspec.json.Decoder(dict[str, Any]).decode
        return [Record(model, name, decode(figures), slot) for model, name, figures, slot in rows]


_LOCK_TIMEOUT: Final = 0.5  # bound: seconds of one try; SQLite handles no signal while it waits


@contextmanager
def lock_file(path: Path) -> Iterator[None]:
    """Hold the lock of this path, and wait while others hold it.  Raises OSError if it cannot be made."""
    try:
        database = sqlite3.connect(path, timeout=_LOCK_TIMEOUT, isolation_level=None)
    except sqlite3.Error as error:
        raise OSError(f"{path} cannot be made: {error}") from error
    with closing(database):
        try:
            while not _try_lock(database):
                pass
        except sqlite3.Error as error:
            raise OSError(f"{path} cannot be locked: {error}") from error
        yield


def _try_lock(database: sqlite3.Connection) -> bool:
    """Try once to get the lock; return whether that worked."""
    try:
        database.execute("PRAGMA journal_mode = MEMORY")  # no second file next to it
        database.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return True
