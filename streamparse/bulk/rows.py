"""One flat row for each response, tables of rows, and a batch of bodies as a batch of rows.

A row holds the part of a response that fits into a table; `docs/bulk.md` describes the columns.  Only the functions for
Arrow and Parquet need pyarrow, and only when they are called.  `parse_batch` is what a cluster's data set maps over its
batches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec

from streamparse.dialects import Dialects
from streamparse.parser import StreamParser
from streamparse.providers.wires import WireName
from streamparse.response import FACTS, ParsedResponse
from streamparse.tools import Toolset

__all__ = [
    "Row", "RowMaker", "import_arrow", "import_parquet", "make_failure", "make_schema", "make_table", "parse_batch",
    "view_as_bytes",
]  # fmt: skip


class Row(msgspec.Struct, kw_only=True, gc=False):
    """One response.

    `source` and `row` say where its body was: a file, or a row of a table, from 0.  The columns that begin with `call_`
    have one entry for each complete call that was not taken back, `broken_call_` one for each that never became whole,
    and `error_` one for each error.  Arguments of complete calls are JSON, those of broken ones what there was of them.
    `safety` and `content_filters` are JSON; so is `other`, what else was in the row of a table.
    """

    source: str = ""
    row: int | None = None
    custom_id: str | None = None
    wire: str | None = None
    ok: bool = False
    stop: str | None = None
    finish_reason: str | None = None
    model: str | None = None
    id: str | None = None
    service_tier: str | None = None
    system_fingerprint: str | None = None
    provider: str | None = None
    native_finish_reason: str | None = None
    safety: str | None = None
    content_filters: str | None = None
    content: str = ""
    reasoning: str = ""
    refusal: str = ""
    call_names: list[str] = []
    call_ids: list[str] = []
    call_arguments: list[str] = []
    call_sources: list[str] = []
    call_places: list[str] = []
    dialect: str | None = None
    broken_call_names: list[str] = []
    broken_call_ids: list[str] = []
    broken_call_arguments: list[str] = []
    revoked_calls: int = 0
    error_codes: list[str] = []
    error_messages: list[str] = []
    error_offsets: list[int | None] = []
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    bytes: int = 0
    other: str | None = None


_YIELDING: Final = frozenset(FACTS) | {"custom_id", "dialect", "call_places", "other"}
"""The columns that give way to given ones."""
_OWN: Final = frozenset(Row.__struct_fields__) - _YIELDING
"""The columns that take the place of given ones."""
_encode: Final = msgspec.json.Encoder().encode


class RowMaker:
    """Parses bodies, each into a row.  Unknown names of wires and dialects raise ValueError at once."""

    def __init__(
        self, wire: WireName = "auto", *, dialects: Dialects = "auto", tools: Iterable[Any] | None = None
    ) -> None:
        self._wire = wire
        self._options: dict[str, Any] = {"dialects": dialects, "tools": Toolset.of(tools)}
        StreamParser(wire, **self._options)

    def parse(self, body: bytes | str, source: str = "", row: int | None = None) -> Row:
        """Parse one body, whole or streamed.  Nothing in it raises; what a plugin raises gets a note with its place."""
        try:
            made = self._parse(body if isinstance(body, bytes) else body.encode("utf-8", "replace"))
        except Exception as error:
            error.add_note(f"in {source}" if row is None else f"in row {row} of {source}")
            raise
        made.source = source
        made.row = row
        return made

    def _parse(self, body: bytes) -> Row:
        parser = StreamParser(self._wire, **self._options)
        parser.feed(body)
        parser.close()
        response = parser.response
        row = Row(
            wire=parser.wire,
            dialect=parser.stats.dialect,
            ok=response.ok,
            stop=response.stop,
            finish_reason=response.finish_reason,
            model=response.model,
            id=response.id,
            service_tier=response.service_tier,
            system_fingerprint=response.system_fingerprint,
            provider=response.provider,
            native_finish_reason=response.native_finish_reason,
            content=response.content,
            reasoning=response.reasoning,
            refusal=response.refusal,
            bytes=len(body),
        )
        if response.safety or response.content_filters:
            row.safety = _encode(response.safety).decode() if response.safety else None
            row.content_filters = _encode(response.content_filters).decode() if response.content_filters else None
        if response.usage:
            tokens = response.tokens
            row.prompt_tokens, row.cached_tokens = tokens.prompt, tokens.cached
            row.completion_tokens, row.reasoning_tokens = tokens.completion, tokens.reasoning
        _fill_calls(row, response)
        if response.errors:
            row.error_codes = [error.code for error in response.errors]
            row.error_messages = [error.message for error in response.errors]
            row.error_offsets = [error.offset for error in response.errors]
        return row


def _fill_calls(row: Row, response: ParsedResponse) -> None:
    if response.tool_calls:
        calls = [call for call in response.tool_calls if not call.revoked]
        row.call_names = [call.name for call in calls]
        row.call_ids = [call.id for call in calls]
        row.call_arguments = [_encode(call.arguments).decode() for call in calls]
        row.call_sources = [call.source for call in calls]
        row.call_places = [call.place for call in calls]
        row.revoked_calls = len(response.tool_calls) - len(calls)
    if response.broken_calls:
        row.broken_call_names = [call.name for call in response.broken_calls]
        row.broken_call_ids = [call.id for call in response.broken_calls]
        row.broken_call_arguments = [call.raw for call in response.broken_calls]


def make_failure(code: str, message: str, source: str, row: int | None) -> Row:
    """Return the row of a body that could not be read or parsed."""
    return Row(source=source, row=row, error_codes=[code], error_messages=[message], error_offsets=[None])


# -- tables of Arrow and Parquet -------------------------------------------------------------------

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
    import_arrow()
    from pyarrow import parquet  # noqa: PLC0415 - an extra

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


# -- batches ---------------------------------------------------------------------------------------


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

    These columns give way to those of `Row`.  Others stay unless a column of `Row` has their name; of names
    such as `model`, `id` and `custom_id`, the given column stays in place of the answer's.
    A body that is null or cannot be parsed is a row with an error.
    Raises KeyError if there is no such column, and ValueError for unknown names.
    """
    maker = RowMaker(wire, dialects=dialects, tools=tools)
    given = (column, source_column, row_column)
    if not isinstance(batch, Mapping):
        return _parse_table(maker, batch, *given)
    rows = _parse(maker, list(batch[column]), _get_column(batch, source_column), _get_column(batch, row_column))
    columns = {name: [getattr(row, name) for row in rows] for name in Row.__struct_fields__}
    return columns | {name: list(batch[name]) for name in batch if name not in _OWN.union(given)}


def _parse_table(maker: RowMaker, batch: Any, column: str, source_column: str, row_column: str) -> Any:
    """Parse a column of a `pyarrow.Table`."""
    names = batch.column_names
    if column not in names:
        raise KeyError(column)
    bodies = view_as_bytes(batch.column(column)).to_pylist()
    sources, numbers = (
        batch.column(name).to_pylist() if name in names else None for name in (source_column, row_column)
    )
    table = make_table(_parse(maker, bodies, sources, numbers))
    for name in names:
        if name not in _OWN.union((column, source_column, row_column)):
            table = table.drop_columns([name]) if name in _YIELDING else table
            table = table.append_column(batch.schema.field(name), batch.column(name))
    return table


def _get_column(batch: Mapping[str, Any], name: str) -> list[Any] | None:
    return None if batch.get(name) is None else list(batch[name])


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
