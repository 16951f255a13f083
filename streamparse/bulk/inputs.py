"""Where bodies are: files, folders, and columns of JSONL or Parquet tables, cut into tasks of a few megabytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from fnmatch import fnmatchcase
from itertools import starmap
from typing import Any, Final, Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from streamparse.bulk.batch_lines import get_at_path, is_batch_line, read_batch_line
from streamparse.bulk.rows import import_arrow, import_parquet, view_as_bytes

__all__ = ["Body", "Input", "Known", "Task", "cut_tasks", "find_inputs", "read_bodies"]

TASK_SIZE = 4 * 1024 * 1024  # bench: a task costs more than to hand it to another process
"""Bytes of a task, about: so many that handing it to another process costs nothing beside parsing it."""
_READ_SIZE: Final = 256 * 1024  # bound: the memory of a read
_FIRST_LINE: Final = 16 * 1024  # bound: bytes of the first line that are looked at
_READ_FLAGS: Final = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_LINES: Final = (".jsonl", ".ndjson")
_PARQUET: Final = ".parquet"
_BESIDE: Final = (".reads.jsonl", ".request.json")

Known: TypeAlias = Mapping[str, Set[int | None]]
"""The rows that are there already: numbers by source."""


class Input(msgspec.Struct, frozen=True):
    """A file: one body, or a table of them; or a folder that could not be listed, with the reason."""

    path: str
    size: int
    kind: Literal["body", "lines", "parquet", "unreadable"]
    problem: str = ""


class Body(msgspec.Struct, frozen=True):
    """A body and where it was, or why there is none."""

    source: str
    row: int | None
    content: bytes | str | None
    problem: str = ""
    custom_id: str | None = None
    """Of a line of a provider's batch."""
    other: str | None = None
    """What else was in the row, as a JSON object."""


class _Files(msgspec.Struct, frozen=True):
    """Files of one body each."""

    files: list[tuple[str, int]]
    """Paths, and how large the files were when they were found."""
    size: int


class _Lines(msgspec.Struct, frozen=True):
    """The lines of a JSONL table that begin at byte `start` or later and before `end`.

    So the range need not end where a line ends.  `breaks` is how many line ends are before it.
    """

    path: str
    start: int
    end: int
    breaks: int
    column: str
    known: Set[int | None]

    @property
    def size(self) -> int:
        return self.end - self.start


class _Rows(msgspec.Struct, frozen=True):
    """A column of some rows of a Parquet table; `first` is the first's number."""

    path: str
    first: int
    column: Any  # of pyarrow
    inside: str
    """Where in each cell the body is: names with dots between them; empty if the cell is the body."""
    others: Any  # of pyarrow
    size: int
    known: Set[int | None]


class _Nothing(msgspec.Struct, frozen=True):
    """An input that cannot be read."""

    path: str
    problem: str
    size: int


Task: TypeAlias = _Files | _Lines | _Rows | _Nothing
"""Some bodies, each to be read where it is parsed; `size` is how many bytes of the inputs it covers."""


# -- finding ------------------------------------------------------------------------------------------------------


def find_inputs(
    paths: Sequence[str | os.PathLike[str]],
    column: str | None = None,
    leave_out: Collection[str | os.PathLike[str]] = (),
    include: str = "*",
) -> list[Input]:
    """Find the files of paths and folders, in the order of names, each once.

    A file is one body.  With a column, a `.jsonl` or `.ndjson` file is a table of bodies, and without one if it holds
    the results of a provider's batch; a `.parquet` file always is.
    Hidden files of a folder, those whose names do not match `include`, what `streamparse record` writes beside a body,
    and entries that are no files, are left out; so are the paths `leave_out` everywhere.
    Raises OSError for a path that is not there, and ImportError for Parquet without pyarrow.
    """
    hidden = {os.path.realpath(path) for path in leave_out}
    found: dict[str, Input] = {}
    for each in paths:
        path = os.path.normpath(os.fspath(each))
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            for entry in _walk(path, column, include):
                found.setdefault(entry.path, entry)
        else:
            found.setdefault(path, _describe(path, status.st_size, column))
    names = {os.path.basename(path) for path in leave_out}
    return [
        entry
        for entry in found.values()
        if os.path.basename(entry.path) not in names or os.path.realpath(entry.path) not in hidden
    ]


def _walk(folder: str, column: str | None, include: str) -> Iterator[Input]:
    failures: list[OSError] = []
    for place, folders, names in os.walk(folder, onerror=failures.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        present = set(names)
        for name in sorted(present):
            path = os.path.join(place, name)
            if name.startswith(".") or not fnmatchcase(name, include) or _is_beside_a_body(name, present):
                continue
            try:
                status = os.stat(path)
            except OSError as error:
                yield Input(path, 0, "unreadable", _describe_error(error))
                continue
            if stat.S_ISREG(status.st_mode):
                yield _describe(path, status.st_size, column)
    for failure in failures:
        yield Input(str(failure.filename), 0, "unreadable", _describe_error(failure))


def _is_beside_a_body(name: str, names: Collection[str]) -> bool:
    """Whether a file belongs to a recording: the times of its reads, or its request."""
    return any(name.endswith(each) and name.removesuffix(each) + ".body" in names for each in _BESIDE)


def _describe(path: str, size: int, column: str | None) -> Input:
    suffix = os.path.splitext(path)[1].lower()
    if suffix == _PARQUET:
        import_parquet()
        return Input(path, size, "parquet")
    is_table = suffix in _LINES and (column is not None or _has_batch(path))
    return Input(path, size, "lines" if is_table else "body")


def _has_batch(path: str) -> bool:
    """Whether a file begins with a result of a provider's batch; why one cannot be read is told where it is read."""
    try:
        with open(path, "rb") as file:
            return is_batch_line(file.readline(_FIRST_LINE))
    except OSError:
        return False


def _describe_error(error: Exception) -> str:
    reason = error.strerror if isinstance(error, OSError) else None
    return reason or str(error) or type(error).__name__


# -- cutting ------------------------------------------------------------------------------------------------------


def cut_tasks(inputs: Sequence[Input], column: str | None, known: Known) -> Iterator[Task]:
    """Yield the tasks of inputs, in their order; rows of tables that are known are not read again."""
    waiting: list[tuple[str, int]] = []
    size = 0
    for entry in inputs:
        if entry.kind == "body":
            waiting.append((entry.path, entry.size))
            size += entry.size
            if size < TASK_SIZE:
                continue
        if waiting:
            yield _Files(waiting, size)
            waiting, size = [], 0
        rows = known.get(name_source(entry.path), frozenset())
        if entry.kind == "lines":
            yield from _leave_out_failure(_cut_lines(entry, column or "", rows), rows)
        elif entry.kind == "parquet":
            yield from _leave_out_failure(_cut_rows(entry, column or "body", rows), rows)
        elif entry.kind == "unreadable":
            yield _Nothing(entry.path, entry.problem, entry.size)
    if waiting:
        yield _Files(waiting, size)


def _leave_out_failure(tasks: Iterator[Task], known: Set[int | None]) -> Iterator[Task]:
    """Leave out that a table cannot be read if the row that says so is known."""
    for task in tasks:
        yield _Files([], task.size) if isinstance(task, _Nothing) and None in known else task


def _cut_lines(entry: Input, column: str, known: Set[int | None]) -> Iterator[Task]:
    breaks = start = 0
    try:
        with open(entry.path, "rb") as table:
            while piece := table.read(TASK_SIZE):
                end, more = start + len(piece), piece.count(b"\n")
                yield _Lines(entry.path, start, end, breaks, column, _find_within(known, breaks, breaks + more + 1))
                start, breaks = end, breaks + more
    except OSError as error:
        yield _Nothing(entry.path, _describe_error(error), entry.size - start)


def _cut_rows(entry: Input, column: str, known: Set[int | None]) -> Iterator[Task]:
    """Cut here, not where a task is done, so that a table of one row group is shared among the processes too."""
    parquet = import_parquet()
    first = 0
    left = entry.size
    try:
        with parquet.ParquetFile(entry.path) as table:
            metadata = table.metadata
            top, path = _split_column(column, table.schema_arrow.names)
            if top is None:
                yield _Nothing(entry.path, f"no column {column!r}", left)
                return
            at_once = max(1, TASK_SIZE * metadata.num_rows // max(1, _measure(metadata, top)))
            for batch in table.iter_batches(at_once):
                end = first + batch.num_rows
                share = left * batch.num_rows // (metadata.num_rows - first)
                cells, others = view_as_bytes(batch.column(top)), batch.drop_columns([top])
                yield _Rows(entry.path, first, cells, path, others, share, _find_within(known, first, end))
                first, left = end, left - share
            if left:
                yield _Files([], left)  # there were no rows
    except (OSError, import_arrow().ArrowException) as error:
        yield _Nothing(entry.path, _describe_error(error), left)


def _split_column(column: str, names: Collection[str]) -> tuple[str | None, str]:
    """Return the column of the table, and the names with dots that lead on inside its cells."""
    top, _, path = (column, "", "") if column in names else column.partition(".")
    return (top if top in names else None), path


def _find_within(known: Set[int | None], first: int, end: int) -> Set[int | None]:
    return known & {None, *range(first, end)} if known else known


def _measure(metadata: Any, column: str) -> int:
    """Return the bytes of a column, before they were compressed."""
    return sum(
        chunk.total_uncompressed_size
        for group in range(metadata.num_row_groups)
        for number in range(metadata.num_columns)
        if (chunk := metadata.row_group(group).column(number)).path_in_schema.split(".")[0] == column
    )


# -- reading ------------------------------------------------------------------------------------------------------


def read_bodies(task: Task) -> Iterator[Body]:
    """Yield the bodies of a task."""
    match task:
        case _Files():
            return starmap(_read_file, task.files)
        case _Lines():
            return _read_lines(task)
        case _Rows():
            return _read_rows(task)
        case _Nothing():
            return iter([Body(name_source(task.path), None, None, task.problem)])


def name_source(path: str) -> str:
    """Return a path as the table has it: as it is, but for bytes that are no UTF-8."""
    return path if path.isascii() else os.fsencode(path).decode("utf-8", "backslashreplace")


def _read_file(path: str, size: int) -> Body:
    """Read a file that has about this size, with as few calls as there can be: most files are small."""
    try:
        file = os.open(path, _READ_FLAGS)
        try:
            content = os.read(file, size + 1)
            if len(content) != size:  # it has changed since, or is not on a disk
                with open(file, "rb", closefd=False) as rest:
                    content += rest.read()
        finally:
            os.close(file)
    except OSError as error:
        return Body(name_source(path), None, None, _describe_error(error))
    return Body(name_source(path), None, content)


def _read_lines(task: _Lines) -> Iterator[Body]:
    source = name_source(task.path)
    try:
        with open(task.path, "rb", buffering=_READ_SIZE) as table:
            number = task.breaks
            if task.start:
                table.seek(task.start - 1)
                rest = table.readline(task.size + 1)  # the end of a line that began before: not read to a far end
                if not rest.endswith(b"\n"):
                    return
                number += rest != b"\n"
            while table.tell() < task.end and (line := table.readline()):
                if number not in task.known and line.strip():
                    yield _read_cell(source, number, line, task.column)
                number += 1
    except OSError as error:
        if None not in task.known:
            yield Body(source, None, None, _describe_error(error))


def _read_cell(source: str, row: int, line: bytes, column: str) -> Body:
    """The body in a line: text, or the JSON itself if it is no text; without a column it is a line of a batch."""
    content: bytes | str | None
    try:
        fields = _decode_line(line)
        if column:
            top, cell = _find_cell(fields, column)
            content = _decode_text(cell) if cell.startswith(b'"') else cell
            content, problem = (None, f"no {column!r} in the line") if content == b"null" else (content, "")
        else:
            content, problem, top = read_batch_line(fields)
        identity = _get_text(msgspec.json.decode(fields.get("custom_id") or fields.get("recordId") or b"null"))
    except (ValueError, RecursionError) as error:
        return Body(source, row, None, _describe_error(error))
    other = _write_other({name: value for name, value in fields.items() if name != top})
    return Body(source, row, content, problem, identity, other)


def _find_cell(fields: Mapping[str, msgspec.Raw], column: str) -> tuple[str, bytes]:
    """Return the column of the line, and the JSON there, or in it, if the name has dots."""
    top, path = _split_column(column, fields)
    if top is None or not path:
        return column, bytes(fields[top]) if top is not None else b"null"
    return top, msgspec.json.encode(get_at_path(msgspec.json.decode(fields[top]), path))


def _get_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _write_other(fields: Mapping[str, Any]) -> str | None:
    """Return other columns as JSON; None without any, and for what has no JSON."""
    rest = {name: value for name, value in fields.items() if name not in ("custom_id", "recordId")}
    try:
        return msgspec.json.encode(rest).decode() if rest else None
    except (TypeError, ValueError, RecursionError):
        return None


_decode_line: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_text: Final = msgspec.json.Decoder(str).decode


def _read_rows(task: _Rows) -> Iterator[Body]:
    source = name_source(task.path)
    others = task.others.to_pylist() if task.others.num_columns else [{}] * len(task.column)
    for number, (cell, other) in enumerate(zip(task.column, others, strict=True), task.first):
        if number not in task.known:
            body = _read_value(source, number, cell, task.inside)
            yield replace(body, custom_id=_get_text(other.get("custom_id")), other=_write_other(other))


def _read_value(source: str, row: int, cell: Any, path: str) -> Body:
    try:
        value = get_at_path(cell.as_py(), path) if path else cell.as_py()
        content = value if value is None or isinstance(value, (bytes, str)) else msgspec.json.encode(value)
    except (ValueError, TypeError, RecursionError) as error:
        return Body(source, row, None, _describe_error(error))
    return Body(source, row, content, "" if content is not None else "the cell is empty")
