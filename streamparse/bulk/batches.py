"""A batch of bodies into a batch of rows: the function that a cluster's data set maps over its batches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from streamparse.bulk.arrow import make_table, view_as_bytes
from streamparse.bulk.rows import Row, RowMaker, make_failure
from streamparse.dialects import Dialects
from streamparse.providers.wires import WireName

__all__ = ["parse_batch"]


def parse_batch(
    batch: Any,
    *,
    column: str = "body",
    source_column: str = "source",
    row_column: str = "row",
    wire: WireName = "auto",
    dialects: Dialects = "auto",
    tools: Iterable[Any] | None = None,
) -> Any:
    """Parse a column of bodies: a mapping of columns gives a dict of lists, a `pyarrow.Table` a table.

    | parameter | what it is |
    |---|---|
    | `column` | the bodies: bytes, text, or decoded JSON |
    | `source_column`, `row_column` | where each was, if the batch says so |
    | `wire`, `dialects`, `tools` | as of `StreamParser`, for all bodies |

    These columns give way to those of `Row`.  Others stay unless a column of `Row` has their name.
    A body that is null or cannot be parsed is a row with an error.
    Raises KeyError if there is no such column, and ValueError for unknown names.
    """
    maker = RowMaker(wire, dialects=dialects, tools=tools)
    given = {column, source_column, row_column}
    if isinstance(batch, Mapping):
        rows = _parse(maker, list(batch[column]), _list(batch.get(source_column)), _list(batch.get(row_column)))
        columns = {name: [getattr(row, name) for row in rows] for name in Row.__struct_fields__}
        return columns | {name: list(batch[name]) for name in batch if name not in {*columns, *given}}
    names = batch.column_names
    if column not in names:
        raise KeyError(column)
    bodies = view_as_bytes(batch.column(column)).to_pylist()
    sources, numbers = (
        batch.column(name).to_pylist() if name in names else None for name in (source_column, row_column)
    )
    table = make_table(_parse(maker, bodies, sources, numbers))
    for name in names:
        if name not in {*Row.__struct_fields__, *given}:
            table = table.append_column(batch.schema.field(name), batch.column(name))
    return table


def _list(column: Iterable[Any] | None) -> list[Any] | None:
    return None if column is None else list(column)


def _parse(
    maker: RowMaker, bodies: Sequence[Any], sources: Sequence[Any] | None, numbers: Sequence[Any] | None
) -> list[Row]:
    sources = sources or [""] * len(bodies)
    numbers = numbers or [None] * len(bodies)
    return [
        _parse_cell(maker, body, str(source), None if number is None else int(number))
        for body, source, number in zip(bodies, sources, numbers, strict=True)
    ]


def _parse_cell(maker: RowMaker, cell: Any, source: str, number: int | None) -> Row:
    if cell is None:
        return make_failure("unreadable", "the cell is empty", source, number)
    if not isinstance(cell, (bytes, str)):
        try:
            cell = msgspec.json.encode(cell)
        except (TypeError, ValueError, RecursionError) as error:
            return make_failure("unreadable", str(error), source, number)
    return maker.parse(cell, source, number)
