"""The commands, run as a user runs them."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

import streamparse as sp

COMMAND = [sys.executable, "-m", "streamparse"]

BODY = (
    b'data: {"choices":[{"index":0,"delta":{"reasoning_content":"Hm."}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{"content":"Look:\\nhere \\u001b[31m"}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":'
    b'{"name":"look","arguments":"{\\"a\\": "}}]}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
)

PROSE = """\
reasoning   Hm.
text        Look:
            here \\x1b[31m
call 0      look  c1
            {"a": 1}
complete 0  look({"a":1})  native
done        ended by the server: tool_calls
"""


def run(*arguments: object, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a command to its end."""
    return subprocess.run([*COMMAND, *map(str, arguments)], input=given, capture_output=True, timeout=60, check=False)


@pytest.fixture
def body(tmp_path: Path) -> Path:
    file = tmp_path / "answer.body"
    file.write_bytes(BODY)
    return file


@pytest.fixture
def reading() -> Iterator[subprocess.Popen[bytes]]:
    """A `parse --json -` that waits for its input."""
    command = [*COMMAND, "parse", "--json", "--wire", "openai-chat", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        yield process
        process.kill()


def failure(result: subprocess.CompletedProcess[bytes]) -> str:
    """The one line of a command that could not be carried out."""
    assert result.returncode == 2
    assert result.stdout == b""
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("streamparse: ")
    return line


def test_parse_prints_running_text_with_labels_in_the_margin(body: Path) -> None:
    result = run("parse", body)
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.decode() == PROSE


def test_parse_prints_the_same_from_standard_input_in_single_bytes() -> None:
    assert run("parse", "-", "--chunk", 1, given=BODY).stdout.decode() == PROSE


def test_parse_uses_colours_only_on_a_terminal(body: Path) -> None:
    master, slave = pty.openpty()
    with subprocess.Popen([*COMMAND, "parse", str(body)], stdout=slave) as process:
        assert process.wait(60) == 0
    os.close(slave)
    shown = os.read(master, 4096)
    os.close(master)
    assert b"\x1b[36mlook" in shown
    assert b"\\x1b[31m" in shown
    assert b"\x1b[31m" not in shown


def test_parse_prints_json_lines_that_read_back_as_the_events(body: Path) -> None:
    lines = run("parse", "--json", "--wire", "openai-chat", body).stdout.splitlines()
    parser = sp.StreamParser("openai-chat")
    assert [msgspec.json.decode(line, type=sp.Event) for line in lines] == parser.feed(BODY) + parser.close()


def test_parse_shows_an_event_before_the_next_bytes_come(reading: subprocess.Popen[bytes]) -> None:
    assert reading.stdin
    assert reading.stdout
    for frame in BODY.split(b"\n\n")[:2]:
        reading.stdin.write(frame + b"\n\n")
        reading.stdin.flush()
        assert select.select([reading.stdout], [], [], 30)[0]
        assert json.loads(reading.stdout.readline())["type"] in {"reasoning_delta", "text_delta"}


def test_parse_ends_with_status_1_if_the_server_did_not_end_the_turn() -> None:
    result = run("parse", "-", given=BODY[:400])
    assert result.returncode == 1
    assert result.stderr == b""
    assert result.stdout.decode().splitlines()[-1] == "done        not ended by the server"


def test_an_interrupt_ends_quietly_with_status_130(reading: subprocess.Popen[bytes]) -> None:
    assert reading.stdin
    assert reading.stdout
    assert reading.stderr
    reading.stdin.write(BODY.split(b"\n\n")[0] + b"\n\n")
    reading.stdin.flush()
    assert reading.stdout.readline()
    reading.send_signal(signal.SIGINT)
    assert reading.wait(30) == 130
    assert reading.stderr.read() == b""


def test_a_reader_that_has_gone_is_no_traceback(reading: subprocess.Popen[bytes]) -> None:
    assert reading.stdin
    assert reading.stdout
    assert reading.stderr
    reading.stdout.close()
    reading.stdin.write(BODY)
    reading.stdin.close()
    assert reading.wait(30) == 0
    assert reading.stderr.read() == b""


def test_tools_and_dialects_change_what_is_found(tmp_path: Path) -> None:
    text = '{"name": "look", "arguments": {"a": 1}}'
    frame = {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}
    given = f"data: {json.dumps(frame)}\n\ndata: [DONE]\n\n".encode()
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"type": "function", "function": {"name": "look", "parameters": {}}}]))
    plain = run("parse", "--wire", "openai-chat", "-", given=given).stdout
    armed = run("parse", "--wire", "openai-chat", "--tools", tools, "-", given=given).stdout
    unarmed = run("parse", "--wire", "openai-chat", "--tools", tools, "--dialect", "none", "-", given=given).stdout
    assert b'look({"a":1})  inband' in armed
    assert b"inband" not in plain + unarmed


def test_a_missing_file_is_one_line() -> None:
    assert "no-such-file: No such file" in failure(run("parse", "no-such-file"))
    assert "no-such-file: No such file" in failure(run("timeline", "no-such-file"))


def test_a_folder_is_not_a_stream(tmp_path: Path) -> None:
    assert "Is a directory" in failure(run("parse", tmp_path))


def test_an_unknown_wire_is_one_line_that_lists_the_known(body: Path) -> None:
    assert "openai-chat" in failure(run("parse", "--wire", "nonsense", body))


def test_an_unknown_dialect_is_one_line_that_lists_the_known(body: Path) -> None:
    assert "hermes" in failure(run("parse", "--dialect", "nonsense", body))


def test_broken_tool_definitions_are_one_line(body: Path, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text("[{")
    assert "tools.json" in failure(run("parse", "--tools", tools, body))
    tools.write_text("[7]")
    failure(run("parse", "--tools", tools, body))


def test_a_chunk_size_must_be_positive(body: Path) -> None:
    result = run("parse", "--chunk", "0", body)
    assert result.returncode == 2
    assert b"'0' is not a positive number" in result.stderr


def test_wires_are_listed_one_a_line() -> None:
    lines = run("wires").stdout.decode().splitlines()
    assert [line.split()[0] for line in lines] == list(sp.WIRES)
    assert all(line.endswith(".") and len(line.split()) > 2 for line in lines)


def test_bench_gives_a_row_for_each_stream_of_a_folder_and_their_sum(body: Path) -> None:
    (body.parent / "more").mkdir()
    (body.parent / "more" / "second.sse").write_bytes(BODY)
    (body.parent / "answer.request.json").write_text("{}")
    result = run("bench", "--seconds", "0", body.parent)
    assert result.returncode == 0, result.stderr
    head, *rows = (line.split() for line in result.stdout.decode().splitlines())
    assert head == ["stream", "kB", "frames", "events", "MB/s", "µs/frame"]
    assert [row[0] for row in rows] == ["answer.body", "second.sse", "all"]
    events = len(sp.StreamParser().feed(BODY)) + 1
    assert [int(row[3]) for row in rows] == [events, events, 2 * events]
    assert all(float(row[4]) > 0 for row in rows)


def test_bench_of_a_folder_without_streams_is_one_line(tmp_path: Path) -> None:
    assert "no recorded streams" in failure(run("bench", tmp_path))


def test_timeline_takes_the_times_that_lie_beside_the_body(body: Path) -> None:
    cuts = [0, *(at + 2 for at in range(len(BODY)) if BODY.startswith(b"\n\n", at))]
    reads = [
        {"t": 100.0 * (number + 1), "off": start, "n": end - start}
        for number, (start, end) in enumerate(pairwise(cuts))
    ]
    body.with_suffix(".reads.jsonl").write_text("".join(json.dumps(read) + "\n" for read in reads))
    page = body.parent / "page.html"
    result = run("timeline", body, "-o", page, "--title", "An <answer>")
    assert (result.returncode, result.stdout.decode()) == (0, f"{page}\n"), result.stderr
    html = page.read_text("utf-8")
    assert "<title>An &lt;answer&gt;</title>" in html
    assert "first byte after 100 ms" in html
    assert "finish reason at 400 ms, end at 500 ms" in html
    assert '<td class="won">100 ms</td>' in html


def test_timeline_without_times_counts_bytes(body: Path) -> None:
    page = body.parent / "page.html"
    assert run("timeline", body, "-o", page).returncode == 0
    assert "The axis counts bytes" in page.read_text("utf-8")


def test_timeline_with_broken_times_is_one_line(body: Path) -> None:
    reads = body.parent / "reads.jsonl"
    reads.write_text('{"t": "soon"}\n')
    assert "reads.jsonl" in failure(run("timeline", body, "--reads", reads, "-o", body.parent / "page.html"))


def test_a_wrong_command_line_is_one_clear_line() -> None:
    for arguments in (["parse", "x", "--chunk", "0"], ["parse"], ["no-such-command"]):
        result = run(*arguments)
        assert result.returncode == 2
        assert result.stderr.startswith(b"streamparse")
        assert result.stderr.count(b"\n") == 1
