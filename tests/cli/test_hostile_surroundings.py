"""The commands where something is closed, full or hostile: one line, and never a traceback."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import pytest

import streamparse as sp
from streamparse.cli.parse import escape, escape_json

COMMAND = [sys.executable, "-m", "streamparse"]
BODY = (
    b'data: {"choices":[{"index":0,"delta":{"content":"Look."}}]}\n\n'
    b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'
)


@pytest.fixture
def body(tmp_path: Path) -> Path:
    file = tmp_path / "answer.body"
    file.write_bytes(BODY)
    return file


def run(*arguments: object, env: dict[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[bytes]:
    options = {"stdout": subprocess.PIPE, "stdin": subprocess.DEVNULL} | options
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(
        command, stderr=subprocess.PIPE, timeout=60, check=False, env={**os.environ, **(env or {})}, **options
    )


def in_shell(redirections: str, *arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Run a command with descriptors closed, as only a shell can."""
    script = f'exec "$@" {redirections}'
    command = ["sh", "-c", script, "sh", *COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False)


def failure(result: subprocess.CompletedProcess[bytes]) -> str:
    """The one line of a command that could not be carried out."""
    assert result.returncode == 2
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("streamparse: ")
    return line


COMMANDS = {
    "parse": ["parse", "FILE"],
    "parse-json": ["parse", "--json", "FILE"],
    "detect": ["detect", "FILE"],
    "detect-json": ["detect", "--json", "FILE"],
    "bench": ["bench", "--seconds", "0", "FILE"],
    "timeline": ["timeline", "FILE", "-o", "/dev/null"],
    "wires": ["wires"],
    "dialects": ["dialects", "--markdown"],
    "version": ["--version"],
    "help": ["--help"],
    "help of a command": ["parse", "--help"],
    "nothing": [],
}


def _words(name: str, body: Path) -> list[str]:
    return [str(body) if word == "FILE" else word for word in COMMANDS[name]]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_full_device_is_one_line(name: str, body: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        assert "standard output: No space left" in failure(run(*_words(name, body), stdout=full))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_closed_standard_output_is_one_line(name: str, body: Path) -> None:
    assert "standard output is closed" in failure(in_shell(">&-", *_words(name, body)))


@pytest.mark.parametrize("command", ["parse", "detect"])
def test_a_closed_standard_input_is_one_line(command: str) -> None:
    assert "standard input is closed" in failure(in_shell("<&-", command, "-"))


def test_a_failure_with_a_closed_standard_error_says_nothing_elsewhere() -> None:
    result = in_shell("2>&-", "parse", "no-such-file")
    assert (result.returncode, result.stdout, result.stderr) == (2, b"", b"")


DEEP = {
    "brackets": "[" * 100_000,
    "pairs": "[" * 100_000 + "]" * 100_000,
    "members": '[{"type":"function","function":{"name":"f","parameters":' + '{"a":' * 5000 + "1" + "}" * 5000 + "}}]",
    "some": '[{"name":"f","parameters":' + '{"items":' * 800 + "{}" + "}" * 800 + "}]",
    "bytes": '["\udcff"]',
}


@pytest.mark.parametrize("shape", DEEP)
@pytest.mark.parametrize("command", ["parse", "detect", "timeline", "bench"])
def test_definitions_nested_ever_deeper_are_read_or_one_line(
    command: str, shape: str, body: Path, tmp_path: Path
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_bytes(DEEP[shape].encode("utf-8", "surrogateescape"))
    more = {"timeline": ["-o", tmp_path / "page.html"], "bench": ["--seconds", "0"]}.get(command, [])
    result = run(command, "--tools", tools, *more, body)
    if result.returncode or shape in ("brackets", "pairs", "bytes"):
        assert "tools.json" in failure(result)


def test_times_nested_ever_deeper_are_one_line(body: Path, tmp_path: Path) -> None:
    reads = tmp_path / "reads.jsonl"
    reads.write_text('{"x":' + "[" * 100_000)
    assert "reads.jsonl" in failure(run("timeline", body, "--reads", reads, "-o", tmp_path / "page.html"))


# -- what a terminal shows ----------------------------------------------------------------------------------

HIDDEN = {
    "a zero-width space": "\u200b",
    "joiners": "\u200c\u200d\u2060\ufeff",
    "a soft hyphen": "\u00ad",
    "bidi": "\u061c\u200e\u200f\u202a\u202e\u2066\u2069",
    "tags": "".join(chr(0xE0000 + ord(c)) for c in "rm -rf"),
    "variation selectors": "\ufe00\ufe0f\U000e0100\U000e01ef",
    "fillers": "\u115f\u3164\uffa0",
    "separators": "\u2028\u2029",
    "C1": "\x7f\x80\x9b\x9f",
}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_cannot_be_seen_is_escaped(name: str) -> None:
    shown = escape(f"a{HIDDEN[name]}b")
    assert shown.isascii()
    assert shown.isprintable()
    assert shown.encode().decode("unicode_escape") == f"a{HIDDEN[name]}b"


@pytest.mark.parametrize("name", HIDDEN)
def test_json_with_escapes_says_the_same(name: str) -> None:
    text = f"a{HIDDEN[name]}é名😀"
    written = escape_json(msgspec.json.encode(text).decode())
    assert written.removeprefix('"a').removesuffix('é名😀"').isascii()
    assert json.loads(written) == text


def test_what_can_be_seen_stays() -> None:
    assert escape("Grüße, 名前 😀 नमस्ते שלום\n\t") == "Grüße, 名前 😀 नमस्ते שלום\n\t"


def _on_terminal(*arguments: object, env: dict[str, str] | None = None) -> bytes:
    """What a command shows on a terminal."""
    master, slave = pty.openpty()
    result = run(*arguments, env=env, stdout=slave)
    os.close(slave)
    shown = os.read(master, 65_536)
    os.close(master)
    assert result.stderr == b""
    return shown


def _hidden(tmp_path: Path) -> Path:
    text = "a\u202e\u200b\U000e0041\x9bb"
    frame = json.dumps({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]})
    file = tmp_path / "hidden.body"
    file.write_text(f"data: {frame}\n\ndata: [DONE]\n\n")
    return file


def test_json_on_a_terminal_hides_nothing_and_reads_back_as_the_events(tmp_path: Path) -> None:
    file = _hidden(tmp_path)
    shown = _on_terminal("parse", "--json", "--wire", "openai-chat", file)
    assert shown.isascii()
    parser = sp.StreamParser("openai-chat")
    events = [msgspec.json.decode(line, type=sp.Event) for line in shown.splitlines()]
    assert events == parser.feed(file.read_bytes()) + parser.close()


def test_json_in_a_pipe_has_the_characters_themselves(tmp_path: Path) -> None:
    shown = run("parse", "--json", "--wire", "openai-chat", _hidden(tmp_path)).stdout.decode()
    assert "a\u202e\u200b\U000e0041\x9bb" in shown


@pytest.mark.parametrize(("value", "coloured"), [("1", False), ("0", False), ("", True), (None, True)])
def test_no_color_is_obeyed(value: str | None, coloured: bool, tmp_path: Path) -> None:
    call = {"index": 0, "id": "c", "function": {"name": "look", "arguments": "{}"}}
    frame = json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]})
    file = tmp_path / "call.body"
    file.write_text(f"data: {frame}\n\ndata: [DONE]\n\n")
    shown = _on_terminal("parse", file, env={} if value is None else {"NO_COLOR": value})
    assert b"look" in shown
    assert (b"\x1b[" in shown) == coloured


# -- without a command --------------------------------------------------------------------------------------


def test_without_a_command_the_help_is_printed() -> None:
    result = run()
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout == run("--help").stdout
    assert result.stdout.startswith(b"usage: streamparse ")


def test_the_version_is_that_of_the_distribution() -> None:
    result = run("--version")
    assert (result.returncode, result.stdout.decode()) == (0, f"streamparse {version('llm-streamparse')}\n")
