"""Where figures are kept between runs: a JSON file, or an SQLite database."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Protocol

import msgspec

__all__ = ["JSONFile", "Record", "SQLiteFile", "Store"]


class Record(msgspec.Struct, frozen=True):
    """The figures of one model in one format."""

    model: str
    format: str
    figures: dict[str, Any]


class Store(Protocol):
    """Keeps records between runs."""

    def load(self) -> list[Record]:
        """Return what was saved last; nothing if nothing ever was."""

    def save(self, records: Iterable[Record], /) -> None:
        """Put these records in the place of what was saved before, wholly or not at all."""


class JSONFile:
    """Keeps the records in one JSON file.  Raises OSError where that fails, ValueError if it is no such file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def load(self) -> list[Record]:
        """Read the file, if there is one."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        return msgspec.json.decode(data, type=list[Record])

    def save(self, records: Iterable[Record]) -> None:
        """Write a new file beside the old one, then put it in its place."""
        data = msgspec.json.format(msgspec.json.encode(list(records)), indent=1)
        with NamedTemporaryFile(dir=self._path.parent, prefix=f".{self._path.name}.", delete=False) as file:
            file.write(data + b"\n")
        os.replace(file.name, self._path)


class SQLiteFile:
    """Keeps the records in one table of an SQLite database, which may hold other tables.  Raises sqlite3.Error."""

    def __init__(self, path: str | os.PathLike[str], table: str = "capabilities") -> None:
        if not table.isidentifier():
            raise ValueError(f"not the name of a table: {table!r}")
        self._path = path
        self._table = table

    def load(self) -> list[Record]:
        """Read the table."""
        with closing(self._opened()) as database:
            rows = database.execute(f"SELECT model, format, figures FROM {self._table}").fetchall()
        return [Record(model, format_name, msgspec.json.decode(figures)) for model, format_name, figures in rows]

    def save(self, records: Iterable[Record]) -> None:
        """Replace the table's rows in one transaction."""
        rows = [(each.model, each.format, msgspec.json.encode(each.figures).decode()) for each in records]
        with closing(self._opened()) as database, database:
            database.execute(f"DELETE FROM {self._table}")
            database.executemany(f"INSERT INTO {self._table} VALUES (?, ?, ?)", rows)

    def _opened(self) -> sqlite3.Connection:
        database = sqlite3.connect(self._path)
        database.execute(
            f"CREATE TABLE IF NOT EXISTS {self._table}"
            " (model TEXT, format TEXT, figures TEXT, PRIMARY KEY (model, format))"
        )
        return database
