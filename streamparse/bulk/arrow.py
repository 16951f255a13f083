"""Tables of Arrow and Parquet.  Only what is here needs pyarrow, and only when it is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from streamparse.bulk.rows import Row

__all__ = ["import_arrow", "import_parquet", "make_schema", "make_table", "view_as_bytes"]

_MISSING: Final = "Parquet needs pyarrow: pip install 'llm-streamparse[parquet]'"


def import_arrow() -> Any:
    """Return the module `pyarrow`; raise ImportError with what to install."""
    try:
        import pyarrow  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError(_MISSING) from error
    return pyarrow


def import_parquet() -> Any:
    """Return the module `pyarrow.parquet`; raise ImportError with what to install."""
    try:
        from pyarrow import parquet  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError(_MISSING) from error
    return parquet


def view_as_bytes(column: Any) -> Any:
    """Return a column of texts as one of bytes, which need be no valid text; any other as it is."""
    arrow = import_arrow()
    if arrow.types.is_large_string(column.type):
        return column.cast(arrow.large_binary())
    return column.cast(arrow.binary()) if arrow.types.is_string(column.type) else column


def make_schema() -> Any:
    """Return the schema of a table of rows."""
    arrow = import_arrow()
    types = {
        str: arrow.string(),
        str | None: arrow.string(),
        bool: arrow.bool_(),
        int: arrow.int64(),
        int | None: arrow.int64(),
        list[str]: arrow.list_(arrow.string()),
        list[int | None]: arrow.list_(arrow.int64()),
    }
    return arrow.schema([(field.name, types[field.type]) for field in msgspec.structs.fields(Row)])


def make_table(rows: Sequence[Row]) -> Any:
    """Return rows as a table."""
    columns = {name: [getattr(row, name) for row in rows] for name in Row.__struct_fields__}
    return import_arrow().table(columns, schema=make_schema())
