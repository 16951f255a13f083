"""Batches of columns, as a cluster hands them out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from stored_bodies import CALL, CUT, OLLAMA, PROSE, read_rows

from streamparse.bulk import Row, parse_batch, parse_many


@pytest.fixture
def rows(tmp_path: Path) -> list[dict[str, Any]]:
    """What a run makes of the same bodies, with their number for a source."""
    for number, body in enumerate((PROSE, CALL, CUT, OLLAMA)):
        (tmp_path / str(number)).write_bytes(body)
    parse_many([tmp_path], tmp_path / "out.jsonl")
    return [row | {"source": Path(str(row["source"])).name} for row in read_rows(tmp_path / "out.jsonl")]


def _turn(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def test_a_batch_becomes_the_rows_of_a_run(rows: list[dict[str, Any]]) -> None:
    batch = {"source": [0, 1, 2, 3], "body": [PROSE, CALL.decode(), CUT, OLLAMA]}
    assert _turn(parse_batch(batch)) == rows


def test_columns_may_have_other_names_and_others_stay(rows: list[dict[str, Any]]) -> None:
    batch = {"bytes": (PROSE,), "path": ("0",), "number": [3], "model": ["m"], "ok": ["?"]}
    columns = parse_batch(batch, column="bytes", source_column="path", row_column="number")
    assert _turn(columns) == [rows[0] | {"row": 3, "model": "m"}]


def test_a_table_becomes_a_table(rows: list[dict[str, Any]]) -> None:
    arrow = pytest.importorskip("pyarrow")
    bodies = [PROSE, CALL, CUT, OLLAMA]
    table = arrow.table({"source": ["0", "1", "2", "3"], "body": bodies, "model": ["m"] * 4})
    made = parse_batch(table)
    assert made.to_pylist() == [row | {"model": "m"} for row in rows]
    assert parse_batch(table.slice(0, 0)).schema == made.schema


def test_cells_may_be_decoded_json_or_empty() -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    columns = parse_batch({"body": [[chunk], None, object()]}, wire="openai-chat")
    assert columns["content"] == ["Hi", "", ""]
    assert columns["source"] == [""] * 3
    assert columns["error_codes"][1:] == [["unreadable"]] * 2


def test_an_empty_batch_has_the_columns() -> None:
    assert parse_batch({"body": []}) == {field.name: [] for field in msgspec.structs.fields(Row)}


def test_mistakes_are_errors() -> None:
    with pytest.raises(KeyError, match="text"):
        parse_batch({"body": []}, column="text")
    with pytest.raises(ValueError, match="nope"):
        parse_batch({"body": []}, wire="nope")
    arrow = pytest.importorskip("pyarrow")
    with pytest.raises(KeyError, match="text"):
        parse_batch(arrow.table({"body": []}), column="text")
