"""`streamparse parse --out`: many bodies into a table."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from streamparse.bulk import Progress
from streamparse.cli import bulk, main

BODY = (
    b'data: {"choices":[{"index":0,"delta":{"content":"{\\"name\\": \\"look\\", \\"arguments\\": {}}"},'
    b'"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)
COMMAND = [sys.executable, "-m", "streamparse", "parse"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "bodies"
    folder.mkdir()
    (folder / "a.sse").write_bytes(BODY)
    (folder / "b.sse").write_bytes(BODY[:-20])
    return folder


def parse(*arguments: object) -> int:
    """The status of a command."""
    return main(["parse", *map(str, arguments)])


def read(table: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]


def test_the_status_is_0_whatever_the_answers_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = folder / "out.jsonl"
    assert parse(folder, "--out", table) == 0
    assert [row["ok"] for row in read(table)] == [True, False]
    errors = "errors: json_truncated 1, stream_truncated 1\n"
    assert capsys.readouterr() == (f"{table}: 2 rows, 0 of them from before, 1 not ok, 0 unreadable\n{errors}", "")
    assert parse(folder, "--out", table) == 0
    assert capsys.readouterr().out == f"{table}: 2 rows, 2 of them from before, 1 not ok, 0 unreadable\n{errors}"


def test_the_status_is_1_if_something_could_not_be_read(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.sse").symlink_to(folder / "nope")
    assert [parse(folder, "--out", folder / "out.jsonl") for _ in range(2)] == [1, 1]
    assert capsys.readouterr().out.count("2 not ok, 1 unreadable\n") == 2


def test_the_options_of_a_stream_are_those_of_all_bodies(folder: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"type": "function", "function": {"name": "look", "parameters": {}}}]))
    lines = tmp_path / "in.jsonl"
    lines.write_text(json.dumps({"answer": BODY.decode()}) + "\n")
    plain, named, without = (tmp_path / f"{number}.jsonl" for number in range(3))
    parse(lines, "--out", plain, "--column", "answer")
    parse(lines, "--out", named, "--column", "answer", "--tools", tools, "--wire", "openai-chat")
    parse(lines, "--out", without, "--column", "answer", "--tools", tools, "--dialect", "none")
    assert [read(table)[0]["call_names"] for table in (plain, named, without)] == [[], ["look"], []]
    assert read(named)[0]["row"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{folder}", "--out", "out.csv"], "must be .jsonl or .parquet"),
        (["{folder}/nope", "--out", "{folder}/out.jsonl"], "nope: No such file"),
        (["{folder}", "--out", "{folder}/no/out.jsonl"], "out.jsonl: No such file"),
        (["{folder}", "--out", "{folder}/a.sse.jsonl", "--wire", "nope"], "known are: auto"),
        (["{folder}", "--out", "out.jsonl", "--json"], "for one stream"),
        (["{folder}", "--out", "out.jsonl", "--chunk", "7"], "for one stream"),
        (["-", "--out", "out.jsonl"], "for one stream"),
        (["{folder}/a.sse", "{folder}/b.sse"], "are for --out"),
        (["{folder}/a.sse", "--jobs", "2"], "are for --out"),
        (["{folder}/a.sse", "--column", "text"], "are for --out"),
    ],
)
def test_a_command_that_cannot_be_carried_out_is_one_line(
    arguments: list[str], words: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert parse(*(argument.format(folder=folder) for argument in arguments)) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.startswith("streamparse: ")
    assert output.err.count("\n") == 1
    assert words in output.err


def test_parquet_without_pyarrow_says_what_to_install(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert parse(folder, "--out", folder / "out.parquet") == 2
    assert "llm-streamparse[parquet]" in capsys.readouterr().err


def test_a_process_that_dies_is_one_line(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("streamparse.bulk.run._start_worker", os._exit)  # which takes no options: each process fails
    assert parse(folder, "--out", folder / "out.jsonl", "--jobs", 2) == 2
    assert "The same command goes on from here." in capsys.readouterr().err


def test_ctrl_c_leaves_a_table_with_which_the_next_run_goes_on(tmp_path: Path) -> None:
    lines, table = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    one = json.dumps({"body": BODY.decode() + " " * 60_000}) + "\n"
    lines.write_text(one * 1000)
    command = [*COMMAND, str(lines), "--out", str(table), "--column", "body", "--jobs", "2"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as process:
        while not (table.exists() and table.stat().st_size) and process.poll() is None:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (output, errors) == (b"", b"streamparse: stopped; the same command goes on from here\n")
    done = len(read(table))
    assert 0 < done < 1000
    assert parse(lines, "--out", table, "--column", "body") == 0
    assert [row["row"] for row in read(table)] == [*range(1000)]


def test_a_summary_counts_errors_and_dialects_of_the_files_that_are_included(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded = Path(__file__).parents[2] / "fixtures" / "recorded"
    table = tmp_path / "out.jsonl"
    for _ in range(2):
        assert parse(recorded, "--include", "llamacpp-*.body", "--out", table) == 0
        shown = capsys.readouterr().out.splitlines()
        rows = read(table)
        assert {Path(row["source"]).suffix for row in rows} == {".body"}
        assert shown[1] == "errors: truncated_call 2, provider_error 1"
        assert shown[2] == "dialects: hermes 3, qwen3-coder 1"


@pytest.mark.parametrize("has_tqdm", [True, False])
def test_on_a_terminal_a_bar_shows_how_far_it_is(has_tqdm: bool, folder: Path) -> None:
    if has_tqdm:
        pytest.importorskip("tqdm")
    program = "import sys; sys.modules['tqdm'] = None; " if not has_tqdm else "import sys; "
    program += "from streamparse.cli import main; sys.exit(main())"
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 120))
    command = [sys.executable, "-c", program, "parse", str(folder), "--out", str(folder / "out.jsonl")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave) as process:
        output, _ = process.communicate(timeout=60)
    os.close(slave)
    shown = os.read(master, 4096).decode()
    os.close(master)
    assert process.returncode == 0
    assert b"2 rows, 0 of them from before, 1 not ok, 0 unreadable\n" in output
    assert ("100%" in shown and "2 rows" in shown) if has_tqdm else "0.0 of 0.0 MB" in shown
    assert "Traceback" not in shown


def test_a_line_says_how_far_a_run_is() -> None:
    progress = Progress(size=200_000_000, done=50_000_000, parsed=25_000_000, rows=1234, not_ok=5)
    assert bulk.format_progress(Progress(size=1_000_000)) == "0.0 of 1.0 MB, 0.0 MB/s, ? left, 0 rows, 0 not ok"
    progress.began -= 2.5
    text = bulk.format_progress(progress)
    assert text.startswith("50.0 of 200.0 MB, ")
    assert text.endswith(" 0:15 left, 1,234 rows, 5 not ok")
