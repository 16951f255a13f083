"""Tables of Parquet, as inputs and as what is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from stored_bodies import CALL, CUT, OLLAMA, PROSE, read_rows, write_bodies

from streamparse.bulk import inputs, parse_many
from streamparse.bulk.rows import make_schema

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_bodies(tmp_path / "bodies", 8)


def write_table(path: Path, bodies: list[Any], kind: Any = None, **options: Any) -> Path:
    parquet.write_table(arrow.table({"id": [*range(len(bodies))], "body": arrow.array(bodies, kind)}), path, **options)
    return path


def test_the_table_holds_the_rows_of_the_lines(folder: Path, tmp_path: Path) -> None:
    parse_many([folder], tmp_path / "out.jsonl")
    parse_many([folder], tmp_path / "out.parquet")
    table = parquet.read_table(tmp_path / "out.parquet")
    assert table.schema.equals(make_schema())
    assert table.to_pylist() == read_rows(tmp_path / "out.jsonl")
    assert sorted(os.listdir(tmp_path)) == ["bodies", "out.jsonl", "out.parquet"]


def test_a_run_that_was_stopped_goes_on_and_bodies_that_came_later_are_added(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "TASK_SIZE", 1)
    table = tmp_path / "out.parquet"

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        parse_many([folder], table, on_progress=stop)
    assert not table.exists()
    assert parse_many([folder], table).skipped == 1
    before = table.stat()
    assert parse_many([folder], table).skipped == 8
    assert table.stat().st_ino == before.st_ino  # nothing was to be written
    write_bodies(folder, 9)
    assert (parse_many([folder], table).rows, len(parquet.read_table(table))) == (9, 9)
    assert len({row["source"] for row in parquet.read_table(table).to_pylist()}) == 9


def test_a_run_that_was_killed_after_its_table_was_written_leaves_no_row_twice(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "out.parquet"
    parse_many([folder], tmp_path / "out.jsonl")
    parse_many([folder], table)
    (tmp_path / "out.jsonl").rename(tmp_path / "out.parquet.rows.jsonl")
    assert parse_many([folder], table).rows == 8
    assert len(parquet.read_table(table)) == 8


@pytest.mark.parametrize("kind", ["binary", "large_binary", "string", "large_string"])
def test_each_cell_of_a_column_is_a_body(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "TASK_SIZE", 1000)
    bodies = [PROSE, CALL, None, CUT, OLLAMA] * 3
    cells = [body.decode() if body is not None and "string" in kind else body for body in bodies]
    source = write_table(tmp_path / "in.parquet", cells, getattr(arrow, kind)(), row_group_size=4)
    table = tmp_path / "out.jsonl"
    progress = parse_many([source], table)
    rows = read_rows(table)
    assert [(row["source"], row["row"]) for row in rows] == [(str(source), number) for number in range(15)]
    assert [row["bytes"] for row in rows] == [len(body or b"") for body in bodies]
    assert rows[2]["error_messages"] == ["the cell is empty"]
    assert (progress.done, progress.unreadable) == (progress.size, 3)
    lines = table.read_bytes().splitlines(keepends=True)
    table.write_bytes(b"".join(lines[3:7]))
    assert parse_many([source], table).skipped == 4
    assert sorted(table.read_bytes().splitlines(keepends=True)) == sorted(lines)


def test_a_table_without_rows_is_done_at_once(tmp_path: Path) -> None:
    progress = parse_many([write_table(tmp_path / "in.parquet", [])], tmp_path / "out.jsonl")
    assert (progress.rows, progress.done) == (0, progress.size)


def test_a_cell_may_be_decoded_json(tmp_path: Path) -> None:
    chunk = {"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]}
    source = write_table(tmp_path / "in.parquet", [[chunk], [chunk, chunk]])
    parse_many([source], tmp_path / "out.jsonl")
    assert [row["content"] for row in read_rows(tmp_path / "out.jsonl")] == ["Hi", "HiHi"]


def test_text_that_is_no_utf_8_is_a_body_too(tmp_path: Path) -> None:
    broken = arrow.array([PROSE.replace(b"Gr", b"\xff"), CALL]).view(arrow.string())
    source = write_table(tmp_path / "in.parquet", broken)
    assert parse_many([source], tmp_path / "out.jsonl").not_ok == 0


def test_a_table_that_is_none_stops_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / "000.parquet").write_bytes(b"PAR1 and so on")
    write_table(folder / "001.parquet", [PROSE])
    progress = parse_many([folder], tmp_path / "out.jsonl", column="text")
    rows = [row for row in read_rows(tmp_path / "out.jsonl") if str(row["source"]).endswith("parquet")]
    assert [(row["row"], row["error_codes"]) for row in rows] == [(None, ["unreadable"])] * 2
    assert rows[1]["error_messages"] == ["no column 'text'"]
    assert (progress.rows, progress.unreadable, progress.done) == (10, 2, progress.size)


def test_a_parquet_file_that_is_no_table_of_rows_is_left_alone(folder: Path, tmp_path: Path) -> None:
    table = write_table(tmp_path / "out.parquet", [PROSE])
    before = table.read_bytes()
    with pytest.raises(ValueError, match="no column"):
        parse_many([folder], table)
    assert table.read_bytes() == before
