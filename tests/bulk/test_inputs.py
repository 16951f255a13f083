"""Which bodies there are, and that each is read once."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import pytest

from streamparse.bulk import inputs
from streamparse.bulk.inputs import Body, cut_tasks, find_inputs, read_bodies


def read_all(*paths: Path, column: str | None = None, known: dict[str, set[int | None]] | None = None) -> list[Body]:
    found = find_inputs(paths, column)
    return [body for task in cut_tasks(found, column, known or {}) for body in read_bodies(task)]


def test_files_of_folders_are_in_the_order_of_names_without_hidden_ones(tmp_path: Path) -> None:
    for name in ("b", "a/z", "a/.hidden", ".git/x", "a/b/c"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    os.mkfifo(tmp_path / "pipe")
    found = read_all(tmp_path)
    assert [(body.source, body.content) for body in found] == [
        (str(tmp_path / name), name.encode()) for name in ("b", "a/z", "a/b/c")
    ]


def test_of_a_recording_in_a_folder_the_body_alone_is_read(tmp_path: Path) -> None:
    for name in ("a.body", "a.reads.jsonl", "a.request.json", "b.request.json"):
        (tmp_path / name).write_text(name)
    found = [os.path.basename(body.source) for body in read_all(tmp_path)]
    assert found == ["a.body", "b.request.json"]


def test_a_file_that_is_named_twice_is_one_body(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    assert len(read_all(tmp_path, tmp_path / "a", tmp_path / "." / "a")) == 1


def test_a_path_that_is_not_there_is_an_error_of_the_caller(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        find_inputs([tmp_path / "nope"])


def test_what_cannot_be_read_is_a_body_without_content(tmp_path: Path) -> None:
    (tmp_path / "broken").symlink_to(tmp_path / "nope")
    (tmp_path / "gone").write_text("a")
    found = find_inputs([tmp_path])
    (tmp_path / "gone").unlink()
    bodies = [body for task in cut_tasks(found, None, {}) for body in read_bodies(task)]
    assert {(Path(body.source).name, body.content) for body in bodies} == {("broken", None), ("gone", None)}
    assert all(body.problem == "No such file or directory" for body in bodies)


@pytest.mark.parametrize("size", [0, 3, 8])
def test_a_file_whose_size_has_changed_is_read_to_its_end(size: int, tmp_path: Path) -> None:
    path = tmp_path / "body"
    path.write_text("x" * size)
    found = find_inputs([path])
    path.write_text("a body")
    assert [body.content for task in cut_tasks(found, None, {}) for body in read_bodies(task)] == [b"a body"]


@pytest.mark.parametrize("length", [3, 5000])
def test_line_ends_are_counted_whatever_the_length_of_the_lines(
    length: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "in.jsonl"
    line = json.dumps({"text": "x" * length}) + "\n"
    monkeypatch.setattr(inputs, "TASK_SIZE", 3 * len(line) + 5)
    table.write_text(line * 3 + "\n" + line * 40)
    tasks = [*cut_tasks(find_inputs([table], "text"), "text", {})]
    assert len(tasks) > 9
    assert [body.row for task in tasks for body in read_bodies(task)] == [0, 1, 2, *range(4, 44)]


def test_a_folder_that_cannot_be_listed_is_a_body_without_content(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "closed").mkdir()
    scan = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert read_all(tmp_path) == [Body(str(tmp_path / "closed"), None, None, "Permission denied")]


def test_a_name_that_is_no_text_is_shown_with_escapes(tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/a\xff", "wb") as file:
        file.write(b"a")
    assert read_all(tmp_path) == [Body(f"{tmp_path}/a\\xff", None, b"a")]


def test_without_a_column_a_file_of_lines_is_one_body(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "x"}\n')
    assert [body.row for body in read_all(tmp_path)] == [None]


LINES = (
    b'{"body": "one\\n"}\n'
    b'\n'
    b'{"other": 1, "body": {"choices": []}}\r\n'
    b'{"body": "\\u00e9\xc3\xa9"}\n'
    b'{"body": null}\n'
    b'{"nobody": 1}\n'
    b'not JSON\n'
    b'{"body": "\xff"}\n'
    b'{"body": "last"}'
)  # fmt: skip


@pytest.mark.parametrize("size", [*range(1, 40), len(LINES) - 1, len(LINES), 1000])
def test_each_line_of_a_table_is_a_body_however_the_table_is_cut(
    size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inputs, "TASK_SIZE", size)
    table = tmp_path / "a.ndjson"
    table.write_bytes(LINES)
    bodies = read_all(table, column="body")
    assert [(body.row, body.content) for body in bodies] == [
        (0, "one\n"), (2, b'{"choices": []}'), (3, "éé"), (4, None), (5, None), (6, None), (7, None), (8, "last")
    ]  # fmt: skip
    assert all(body.source == str(table) and bool(body.problem) == (body.content is None) for body in bodies)
    left = read_all(table, column="body", known={str(table): {0, 3, 4, 5, 8}})
    assert [body.row for body in left] == [2, 6, 7]


def test_a_table_that_cannot_be_read_is_one_body_without_content(tmp_path: Path) -> None:
    table = tmp_path / "a.jsonl"
    table.write_bytes(LINES)
    found = find_inputs([table], "body")
    table.unlink()
    (task,) = cut_tasks(found, "body", {})
    assert task.size == len(LINES)
    assert list(read_bodies(task)) == [Body(str(table), None, None, "No such file or directory")]


def test_a_table_that_goes_away_while_it_is_read_is_one_more(tmp_path: Path) -> None:
    table = tmp_path / "a.jsonl"
    table.write_bytes(LINES)
    tasks = list(cut_tasks(find_inputs([table], "body"), "body", {}))
    table.unlink()
    assert [body.problem for task in tasks for body in read_bodies(task)] == ["No such file or directory"]


def test_the_sizes_of_tasks_are_those_of_the_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "TASK_SIZE", 50)
    for number in range(10):
        (tmp_path / f"{number}.sse").write_bytes(b"x" * 20)
        (tmp_path / f"{number}.jsonl").write_text(json.dumps({"text": "y" * 70}))
    found = find_inputs([tmp_path], "text")
    tasks = list(cut_tasks(found, "text", {}))
    assert sum(task.size for task in tasks) == sum(entry.size for entry in found)
    assert len(tasks) > 20


def test_a_table_that_cannot_be_read_is_a_body_once(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text('{"body": "a"}\n')
    found = find_inputs([table], "body")
    for known, count in (({}, 1), ({str(table): {None}}, 0)):
        table.touch()
        begun = list(cut_tasks(found, "body", known))
        table.unlink()
        for tasks in (begun, list(cut_tasks(found, "body", known))):
            bodies = [body for task in tasks for body in read_bodies(task)]
            assert [(body.row, body.content) for body in bodies] == [(None, None)] * count
        table.write_text('{"body": "a"}\n')


def test_a_long_line_is_read_once_and_passed_over_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "TASK_SIZE", 100)
    monkeypatch.setattr(inputs, "_READ_SIZE", 16)
    (tmp_path / "t.jsonl").write_text(json.dumps({"body": "x" * 10_000}) + '\n{"body": "y"}\n')
    tasks = list(cut_tasks(find_inputs([tmp_path], "body"), "body", {}))
    read = 0

    class Counted(io.FileIO):
        def readinto(self, buffer: Any, /) -> int | None:
            nonlocal read
            size = super().readinto(buffer)
            read += size or 0
            return size

    def open_counted(path: str, _mode: str, buffering: int) -> io.BufferedReader:
        return io.BufferedReader(Counted(path), buffering)

    monkeypatch.setattr(inputs, "open", open_counted, raising=False)
    assert [body.content for task in tasks for body in read_bodies(task)] == ["x" * 10_000, "y"]
    assert read < 3 * 10_000
