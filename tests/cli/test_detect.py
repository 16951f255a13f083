"""`streamparse detect`: one line for each thing that a body or a text is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import streamparse as sp
from streamparse.cli.dialects import EXAMPLE_TOOLS
from streamparse.detection import Findings, detect_format
from streamparse.frames import FRAMERS

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "fixtures" / "recorded"
CALL = '<tool_call>\n{"name": "look", "arguments": {"a": 1}}\n</tool_call>'


def run(*arguments: object, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run `streamparse detect` to its end."""
    command = [sys.executable, "-X", "utf8", "-m", "streamparse", "detect", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, timeout=60, check=False)


def lines(result: subprocess.CompletedProcess[bytes]) -> list[tuple[str, str]]:
    """What was printed, as labels and words."""
    assert (result.returncode, result.stderr) == (0, b"")
    return [(line[:10].strip(), line[12:]) for line in result.stdout.decode().splitlines()]


def test_a_body_is_known_by_its_framing_and_wire() -> None:
    assert lines(run(RECORDED / "dynamo-cut-by-length.body")) == [
        ("framing", "sse: 3 frames, 683 bytes"),
        ("wire", "openai-chat"),
        ("dialect", "none"),
        ("call 0", 'get_weather({"city":"Paris"})  native'),
        ("reasoning", "none"),
        ("text", "none"),
        ("finish", "length, ended by the server"),
    ]


def test_a_call_in_the_text_of_a_body_is_known_by_its_dialect() -> None:
    found = detect_format((RECORDED / "ollama-chat-inband.body").read_bytes())
    assert (found.framing, found.wire, found.dialect) == ("ndjson", "ollama-chat", "hermes")
    assert "granite-array" in found.also
    assert {call.source for call in found.calls} == {"inband"}


def test_text_is_no_body() -> None:
    given = f"<think>Hm.</think>I look.\n{CALL}".encode()
    assert lines(run("-", given=given)) == [
        ("framing", f"none: a text of {len(given)} characters"),
        ("dialect", "hermes; if named, also ernie45, granite-array"),
        ("call 0", 'look({"a":1})  inband'),
        ("reasoning", "3 characters, in the text"),
        ("text", "8 characters"),
    ]


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_the_example_of_every_format_is_known_as_it_or_said_to_be_if_it_is_named(name: str) -> None:
    found = detect_format(sp.DIALECTS[name].example.encode(), EXAMPLE_TOOLS)
    assert found.wire is None
    assert name in (found.dialect, *found.also)


@pytest.mark.parametrize("text", ["Thought: no event stream.\n", "[1, 2]", "<b>Well</b>", "data: 1"])
def test_what_no_wire_claims_is_a_text_of_so_many_characters(text: str) -> None:
    assert detect_format(text.encode()) == Findings(framing="text", size=len(text), text=len(text), ok=True)


@pytest.mark.parametrize(
    ("body", "framing", "code"),
    [
        (b"", "empty", "empty_body"),
        (b" ", "empty", "empty_body"),
        (b'{"a": 1}', "json", "not_a_stream"),
        (b"<html><h1>502 Bad Gateway</h1></html>", "unknown", "not_a_stream"),
    ],
)
def test_a_body_that_says_nothing_or_is_no_answer_is_no_text(body: bytes, framing: str, code: str) -> None:
    found = detect_format(body)
    assert (found.framing, found.wire, found.text, found.ok) == (framing, None, 0, False)
    assert [error.partition(":")[0] for error in found.errors] == [code]


def test_the_declared_tools_decide_what_auto_believes(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text('[{"name": "look", "parameters": {}}]')
    given = b'{"name": "look", "arguments": {"a": 1}}'
    undeclared, declared = (dict(lines(run("-", *more, given=given))) for more in ((), ("--tools", tools)))
    assert undeclared["dialect"].startswith("none that auto takes for a call here; if named, llama3-json")
    assert declared["dialect"].startswith("bare-json")


def test_what_was_broken_is_told() -> None:
    labels = lines(run("-", given=CALL[:45].encode()))
    assert ("call 0", 'look: broken, truncated_call: {"a') in labels
    assert [words.split(":")[0] for label, words in labels if label == "error"] == ["truncated_call"]


def test_json_holds_the_same() -> None:
    findings = json.loads(run("--json", "-", given=CALL.encode()).stdout)
    assert findings["dialect"] == "hermes"
    assert findings["wire"] is None
    assert findings["calls"][0]["arguments"] == {"a": 1}


def test_control_characters_of_the_text_do_not_reach_the_terminal() -> None:
    given = CALL.replace("look", "lo\\u001b[31mok").encode()
    assert b"\x1b" not in run("-", given=given).stdout


@pytest.mark.parametrize("body", sorted(RECORDED.glob("*.body")), ids=lambda body: body.stem)
def test_every_recorded_body_has_a_framing_and_a_wire_if_it_is_no_error(body: Path) -> None:
    found = detect_format(body.read_bytes())
    assert found.framing in FRAMERS
    assert found.wire in sp.WIRES or [error.split(":")[0] for error in found.errors] == ["provider_error"]


def test_a_missing_file_and_broken_tools_are_one_line(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text("[7]")
    for result in (run("no-such-file"), run("-", "--tools", tools)):
        assert (result.returncode, result.stdout) == (2, b"")
        assert len(result.stderr.splitlines()) == 1
