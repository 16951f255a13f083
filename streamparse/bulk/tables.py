"""The table that a run writes, and how an interrupted run goes on with it.

While a run lasts its rows are lines of JSON: in the table itself, or in `OUT.parquet.rows.jsonl` if that is Parquet.
A line is written whole or, if the process was killed, in part; such a line is cut off when the table is opened again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, Self

import msgspec

from streamparse.bulk.rows import Row, import_parquet, make_schema, make_table

__all__ = ["RowTable"]

_GROUP: Final = 10_000  # bound: the rows that wait in memory
"""Rows of a row group of Parquet."""
_KEYS: Final = ("source", "row", "ok", "error_codes", "dialect")
_BEGIN: Final = b'{"source":"'
"""Of each line."""


class _Key(msgspec.Struct):
    """The row of a line, and its outcome."""

    source: str
    row: int | None
    ok: bool
    error_codes: list[str]
    dialect: str | None = None


class RowTable:
    """A table of rows, `.jsonl` or `.parquet`, to which more are added while it is open (`with`).

    Raises ValueError for another suffix and for a file that is no such table, OSError if it cannot be written, and
    ImportError for Parquet without pyarrow.
    """

    rows: int
    not_ok: int
    unreadable: int

    _file: BinaryIO
    """To which rows are added, while the table is open."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Path = Path(path)
        self.known: dict[str, set[int | None]] = {}
        """The rows that are there: numbers by source."""
        self.rows = self.not_ok = self.unreadable = 0
        """How many there are, how many are not `ok`, and how many stand for an input that could not be read."""
        self.errors: Counter[str] = Counter()
        self.dialects: Counter[str] = Counter()
        """Rows by the codes of their errors, and by the dialect of calls in their text."""
        if self.path.suffix not in (".jsonl", ".parquet"):
            raise ValueError(f"{self.path}: the table must be .jsonl or .parquet")
        self._is_parquet = self.path.suffix == ".parquet"
        self._lines = self.path.with_name(f"{self.path.name}.rows.jsonl") if self._is_parquet else self.path
        self._fresh = self.path.with_name(f"{self.path.name}.new")
        self.files: list[Path] = [self.path, self._lines, self._fresh] if self._is_parquet else [self.path]
        """What it writes; none of them is an input."""
        if self._is_parquet:
            import_parquet()
            if self.path.exists():
                for key in _read_keys(self.path):
                    self._count(key)
        self._mend()

    def __enter__(self) -> Self:
        self._file = open(self._lines, "ab")
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, lines: bytes) -> None:
        """Write rows, each a line of JSON."""
        self._file.write(lines)
        self._file.flush()

    def finish(self) -> None:
        """Make the table of the rows, all of which have been added."""
        if self._is_parquet:
            self._write_parquet()

    def _count(self, key: _Key) -> None:
        """Count a row, unless it was counted."""
        rows = self.known.setdefault(key.source, set())
        if key.row not in rows:
            rows.add(key.row)
            self.rows += 1
            self.not_ok += not key.ok
            self.unreadable += "unreadable" in key.error_codes
            self.errors.update({*key.error_codes})
            self.dialects.update([key.dialect] if key.dialect is not None else [])

    def _mend(self) -> None:
        """Read which rows an earlier run has written, and cut off a line that it did not finish.

        A line that is JSON was finished, but for its end: another program's file is not cut.
        """
        if not self._lines.exists():
            return
        whole = 0
        with open(self._lines, "r+b") as file:
            for number, line in enumerate(file, 1):
                has_end = line.endswith(b"\n")
                if not has_end and line.startswith(_BEGIN[: len(line)]) and not _is_json(line):
                    break
                try:
                    self._count(_decode_key(line))
                except ValueError as error:
                    raise ValueError(f"{self._lines}: line {number} is no row of such a table: {error}") from error
                whole += len(line)
                if not has_end:
                    file.seek(whole)
                    whole += file.write(b"\n")
            file.truncate(whole)

    def _write_parquet(self) -> None:
        """Write the rows of the table and the new ones into a new file, and put it in the place of the table."""
        if self.path.exists() and not self._lines.stat().st_size:
            self._lines.unlink()
            return
        parquet = import_parquet()
        written = set()
        with parquet.ParquetWriter(self._fresh, make_schema()) as writer:
            if self.path.exists():
                written = {(key.source, key.row) for key in _read_keys(self.path)}
                with parquet.ParquetFile(self.path) as table:
                    for batch in table.iter_batches(_GROUP):
                        writer.write_batch(batch)
            for rows in _read_groups(self._lines):
                # A run that was killed between the two steps below has left rows that are in the table.
                writer.write_table(make_table([row for row in rows if (row.source, row.row) not in written]))
        self._fresh.replace(self.path)
        self._lines.unlink()


_decode_key: Final = msgspec.json.Decoder(_Key).decode
_decode_row: Final = msgspec.json.Decoder(Row).decode


def _is_json(line: bytes) -> bool:
    try:
        msgspec.json.decode(line)
    except (ValueError, RecursionError):
        return False
    return True


def _read_keys(path: Path) -> Iterator[_Key]:
    with import_parquet().ParquetFile(path) as table:
        if missing := {*_KEYS} - {*table.schema_arrow.names}:
            raise ValueError(f"{path} is no such table: it has no column {min(missing)!r}")
        for batch in table.iter_batches(columns=[*_KEYS]):
            yield from (msgspec.convert(row, _Key) for row in batch.to_pylist())


def _read_groups(lines: Path) -> Iterator[list[Row]]:
    rows: list[Row] = []
    with open(lines, "rb") as file:
        for line in file:
            rows.append(_decode_row(line))
            if len(rows) == _GROUP:
                yield rows
                rows = []
    yield rows
