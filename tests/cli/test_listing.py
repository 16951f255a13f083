"""`streamparse dialects`, and the page that it prints.

`pytest tests/cli --update-golden` writes `docs/internals/dialects.md` anew.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import streamparse as sp
from streamparse.cli.dialects import EXAMPLE_TOOLS, find_auto, write_chapter, write_page

PAGE = Path(__file__).parents[2] / "docs" / "internals" / "dialects.md"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `streamparse dialects` to its end."""
    command = [sys.executable, "-X", "utf8", "-m", "streamparse", "dialects", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)


def test_the_page_of_the_dialects_is_that_of_the_table(update_golden: bool) -> None:
    if update_golden:
        PAGE.write_text(write_page(), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == write_page()


def test_the_page_has_a_chapter_and_a_row_for_every_dialect() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert re.findall(r"^## `(.+)`$", text, re.MULTILINE) == list(sp.DIALECTS)
    assert re.findall(r"^\| \[`(.+?)`\]", text, re.MULTILINE) == list(sp.DIALECTS)


@pytest.mark.parametrize("name", sp.DIALECTS)
def test_the_example_of_a_dialect_is_one_whole_call_of_the_tools_of_the_examples(name: str) -> None:
    parser = sp.TextParser([name], tools=EXAMPLE_TOOLS)
    parser.feed(sp.DIALECTS[name].example)
    parser.close()
    response = parser.response
    assert response.tool_calls
    assert not response.errors
    assert {call.name for call in response.tool_calls} <= {tool.name for tool in EXAMPLE_TOOLS}
    assert sp.DIALECTS[name].models


def test_dialects_are_listed_one_a_line_with_what_auto_does() -> None:
    result = run()
    assert (result.returncode, result.stderr) == (0, "")
    table, _, legend = result.stdout.partition("\n\n")
    lines = [line.split(maxsplit=2) for line in table.splitlines()]
    head = ["dialect", "auto", "written by"]
    assert lines == [head, *([name, find_auto(row), row.models] for name, row in sp.DIALECTS.items())]
    explained = [line.split()[0] for line in legend.splitlines()[1:]]
    assert {auto for _, auto, _ in lines[1:]} <= {*explained}


def test_dialects_with_a_name_tells_of_that_one() -> None:
    assert run("hermes", "react").stdout == "".join(
        f"# {name}\n\n{write_chapter(sp.DIALECTS[name])}\n" for name in ("hermes", "react")
    )


def test_dialects_prints_the_page() -> None:
    assert run("--markdown").stdout == PAGE.read_text(encoding="utf-8")


def test_an_unknown_dialect_is_one_line_that_lists_the_known() -> None:
    result = run("nonsense")
    assert result.returncode == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("streamparse: unknown dialect 'nonsense'")
    assert "hermes" in line


@pytest.mark.parametrize("arguments", [(), ("hermes",), ("--markdown",)])
def test_the_old_name_of_the_command_is_one_line_that_says_the_new_one(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "streamparse", "formats", *arguments]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "streamparse: `formats` is called `dialects`\n"
