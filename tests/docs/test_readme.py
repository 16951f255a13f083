"""Every program of the README runs alone, as it is pasted, and prints what the README says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from model_server import ModelServer
from programs import BLOCK, ROOT, can_run, run_program
from serving import proxied, serving

README = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES, FIRST_CODE, INSTALL = 250, 15, 60
SAID = "This is what the README says."
PRINTED = {0: f"{SAID}\n", 1: SAID, 2: SAID, 4: "['row 1'] [['now']] ['tools']\n"}
"""What a program prints whose output the README does not show, by its number."""


def _programs() -> list[tuple[str, str | None]]:
    """The programs, each with the output that stands right behind it."""
    found = list(BLOCK.finditer(README))
    return [
        (
            block[2],
            after[2]
            if after is not None and after[1] == "text" and not README[block.end() : after.start()].strip()
            else None,
        )
        for block, after in zip(found, [*found[1:], None], strict=True)
        if block[1] == "python"
    ]


def _apply(difference: str, program: str) -> str:
    """The program with each run of `-` lines replaced by the `+` lines behind it."""
    for removed, added in re.findall(r"((?:^-.*\n)+)((?:^\+.*\n)+)", difference, re.MULTILINE):
        old, new = (re.sub("^.", "", lines, flags=re.MULTILINE) for lines in (removed, added))
        assert program.count(old) == 1, old
        program = program.replace(old, new)
    return program


PROGRAMS = _programs()
[DIFFERENCE] = [block for kind, block in BLOCK.findall(README) if kind == "diff"]
[LOOP] = [source for source, _ in PROGRAMS if "AsyncOpenAI" in source]


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[str, str]]:
    with serving(ModelServer()) as chat, proxied(ModelServer(), wire="openai-chat") as anthropic:
        yield chat, anthropic


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_of_the_readme_runs_alone_and_prints_what_it_says(number: int, servers: tuple[str, str]) -> None:
    source, output = PROGRAMS[number]
    if can_run(source):
        assert run_program(source, *servers, "-W", "error") == (PRINTED[number] if output is None else output)


def test_the_loop_with_the_lines_that_differ_for_anthropic_runs(servers: tuple[str, str]) -> None:
    source = _apply(DIFFERENCE, LOOP)
    if can_run(source):
        assert run_program(source, *servers, "-W", "error") == SAID


def test_the_readme_is_short_and_begins_with_a_program() -> None:
    lines = README.splitlines()
    assert len(lines) <= MOST_LINES
    assert lines.index("```python") < FIRST_CODE
    assert lines.index("## Install") < INSTALL


WITH_MORE = {"approve", "proxy", "record", "replay", "run", "show"}
"""Commands that need a server or a client, or the journal of a run; tests of their own run them."""


def _commands() -> list[list[str]]:
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    blocks = [block for page in pages for kind, block in BLOCK.findall(page.read_text("utf-8")) if kind == "sh"]
    lines = {line: None for block in blocks for line in block.splitlines() if line.strip()}
    return [shlex.split(line.split("| ")[-1], comments=True) for line in lines]


@pytest.mark.parametrize(
    "command", [c for c in _commands() if c[:1] == ["streamparse"] and c[1] not in WITH_MORE], ids=" ".join
)
def test_a_command_of_the_documents_works(command: list[str], tmp_path: Path) -> None:
    arguments = [*command[1:], *(("--seconds", "0") if "bench" in command else ())]
    for name in ("body", "reads.jsonl"):
        (tmp_path / "recorded").mkdir(exist_ok=True)
        shutil.copy(ROOT / "fixtures" / "recorded" / f"llamacpp-paced.{name}", tmp_path / "recorded" / f"answer.{name}")
    body = (tmp_path / "recorded" / "answer.body").read_bytes()
    run = [sys.executable, "-W", "error", "-m", "streamparse", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(run, cwd=tmp_path, input=body, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout


def test_every_make_target_that_the_documents_name_exists() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    named = {name for page in pages for name in re.findall(r"`make (\w+)`", page.read_text(encoding="utf-8"))}
    assert {"demo", "test", "bench"} <= named <= targets


def test_every_file_that_the_documents_link_to_or_name_exists() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        links = {page.parent / link.split("#")[0] for link in re.findall(r"\]\(([\w./-]+)[#\w-]*\)", text)}
        written = r"(?!:\n\n +```)"  # the name of a file that a recipe writes stands before what it holds
        named = re.findall(rf"`((?:streamparse|tests|fixtures|benches|docs|examples)/[\w./-]+)`{written}", text)
        missing = [path for path in (*links, *(ROOT / name for name in named)) if not path.exists()]
        assert not [path for path in missing if "NAME" not in path.name], page


LAWS = (
    *("Cutting", "Sum", "Once", "Last", "Conservation", "Total", "Linear", "Early", "One path", "Loud"),
    "Quoted is quoted",
)


def test_the_page_of_the_guarantees_states_every_law() -> None:
    page = (ROOT / "docs" / "parser" / "guarantees.md").read_text(encoding="utf-8")
    laws = page.split("## The laws")[1].split("## ")[0]
    stated = re.findall(r"^(\d+)\. \*\*(\w[\w ]+)\*\*: ", laws, re.MULTILINE)
    assert stated == [(str(number), law) for number, law in enumerate(LAWS, 1)]
