"""Runs over many bodies: their table, and how one that was interrupted goes on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from stored_bodies import read_rows, write_bodies

import streamparse as sp
from streamparse.bulk import Progress, inputs, parse_many


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Eight bodies, each a task of its own."""
    monkeypatch.setattr(inputs, "TASK_SIZE", 1)
    return write_bodies(tmp_path / "bodies", 8)


class StopError(Exception):
    """What stops a run."""


def stop_after(tasks: int) -> object:
    """What raises after so many tasks."""
    seen = []

    def stop(progress: Progress) -> None:
        seen.append(progress)
        if len(seen) == tasks:
            raise StopError

    return stop


def test_each_body_is_a_row_in_the_order_of_the_inputs(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "out.jsonl"
    progress = parse_many([folder], table)
    rows = read_rows(table)
    assert [Path(str(row["source"])).name for row in rows] == [f"{number:03}.sse" for number in range(8)]
    assert [row["ok"] for row in rows] == [True, True, False, True] * 2
    assert [row["wire"] for row in rows[:4]] == ["openai-chat"] * 3 + ["ollama-chat"]
    assert (progress.rows, progress.not_ok, progress.skipped, progress.unreadable) == (8, 2, 0, 0)
    assert progress.done == progress.size == sum(row["bytes"] for row in rows)  # type: ignore[misc]


def test_the_rows_are_those_of_the_parser(folder: Path, tmp_path: Path) -> None:
    parse_many([folder], tmp_path / "out.jsonl", wire="openai-chat")
    for row in read_rows(tmp_path / "out.jsonl"):
        parser = sp.StreamParser("openai-chat")
        parser.feed(Path(str(row["source"])).read_bytes())
        parser.close()
        answer = parser.response
        assert (row["content"], row["ok"], row["stop"]) == (answer.content, answer.ok, answer.stop)
        assert row["error_codes"] == [error.code for error in answer.errors]


def test_progress_is_told_after_each_task(folder: Path, tmp_path: Path) -> None:
    seen = []
    parse_many(
        [folder], tmp_path / "out.jsonl", on_progress=lambda progress: seen.append((progress.rows, progress.done))
    )
    assert [rows for rows, _ in seen] == [*range(1, 9)]
    assert sorted({done for _, done in seen}) == [done for _, done in seen]


def test_the_rate_and_the_time_left_are_of_what_this_run_has_done() -> None:
    progress = Progress(size=300, done=200, parsed=100)
    progress.began -= 10
    assert progress.rate == pytest.approx(10, rel=0.1)
    assert progress.seconds_left == pytest.approx(10, rel=0.1)
    assert Progress(size=300, done=200).seconds_left is None


@pytest.mark.parametrize("tasks", [1, 3, 8])
def test_a_run_that_was_stopped_goes_on(tasks: int, folder: Path, tmp_path: Path) -> None:
    whole, table = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    parse_many([folder], whole)
    with pytest.raises(StopError):
        parse_many([folder], table, on_progress=stop_after(tasks))  # type: ignore[arg-type]
    assert len(read_rows(table)) == tasks
    progress = parse_many([folder], table)
    assert table.read_bytes() == whole.read_bytes()
    assert (progress.rows, progress.skipped, progress.not_ok) == (8, tasks, 2)
    assert progress.done == progress.size


def test_a_line_that_was_torn_at_any_byte_is_written_anew(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "out.jsonl"
    sources = [folder / "000.sse", folder / "002.sse"]
    parse_many(sources, table)
    whole = table.read_bytes()
    for cut in range(len(whole)):
        table.write_bytes(whole[:cut])
        parse_many(sources, table)
        assert table.read_bytes() == whole


def test_a_row_that_lacks_nothing_but_its_line_end_is_a_row(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "out.jsonl"
    parse_many([folder], table)
    whole = table.read_bytes()
    table.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]).removesuffix(b"\n"))
    assert parse_many([folder], table).skipped == 3
    assert table.read_bytes() == whole


def test_rows_of_a_table_of_bodies_are_not_lost_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "TASK_SIZE", 10)
    source, table = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text("".join(f'{{"text": "data: {{}}{number}"}}\n' for number in range(6)))
    parse_many([source], table, column="text")
    whole = table.read_bytes()
    lines = whole.splitlines(keepends=True)
    assert [row["row"] for row in read_rows(table)] == [*range(6)]
    table.write_bytes(lines[0] + lines[4] + lines[5])
    progress = parse_many([source], table, column="text")
    assert sorted(table.read_bytes().splitlines()) == sorted(whole.splitlines())
    assert (progress.rows, progress.skipped) == (6, 3)


def test_bodies_that_came_later_are_added(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "out.jsonl"
    parse_many([folder / "003.sse"], table)
    parse_many([folder], table)
    assert [Path(str(row["source"])).name for row in read_rows(table)] == ["003.sse"] + [
        f"{number:03}.sse" for number in range(8) if number != 3
    ]


def test_what_cannot_be_read_is_a_row_and_not_tried_again(folder: Path, tmp_path: Path) -> None:
    (folder / "004a").symlink_to(folder / "nope")
    table = tmp_path / "out.jsonl"
    first, second = (parse_many([folder], table) for _ in range(2))
    row = read_rows(table)[5]
    assert (row["error_codes"], row["error_messages"]) == (["unreadable"], ["No such file or directory"])
    assert (row["error_offsets"], row["ok"], row["wire"]) == ([None], False, None)
    assert (first.rows, first.unreadable, first.not_ok) == (second.rows, second.unreadable, second.not_ok) == (9, 1, 3)


def test_the_table_is_no_input_of_itself(folder: Path) -> None:
    table = folder / "out.jsonl"
    for _ in range(2):
        assert parse_many([folder], table).rows == 8


FOREIGN = [
    '{"a": 1}\n',
    "some notes",
    '{"source": 1}\n',
    '[]\n{"source":"',
    "\n",
    '{"source":"a","text":"b"}',
    '{"a": 1}',
]


@pytest.mark.parametrize("text", FOREIGN)
def test_a_file_that_is_no_such_table_is_left_alone(text: str, folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "out.jsonl"
    table.write_text(text)
    with pytest.raises(ValueError, match=r"out\.jsonl: line 1 is no row"):
        parse_many([folder], table)
    assert table.read_text() == text


def test_mistakes_are_told_before_anything_is_written(folder: Path, tmp_path: Path) -> None:
    table = tmp_path / "out.jsonl"
    with pytest.raises(ValueError, match=r"\.jsonl or \.parquet"):
        parse_many([folder], tmp_path / "out.csv")
    with pytest.raises(ValueError, match="nope"):
        parse_many([folder], table, wire="nope")
    with pytest.raises(ValueError, match="jobs"):
        parse_many([folder], table, jobs=0)
    with pytest.raises(FileNotFoundError):
        parse_many([folder / "nope"], table)
    assert os.listdir(tmp_path) == ["bodies"]


def test_two_processes_write_what_one_does(folder: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    parse_many([folder], one, tools=tools)
    with pytest.raises(StopError):
        parse_many([folder], two, jobs=2, tools=tools, on_progress=stop_after(2))  # type: ignore[arg-type]
    assert len(read_rows(two)) == 2
    assert parse_many([folder], two, jobs=2, tools=tools).skipped == 2
    assert two.read_bytes() == one.read_bytes()
