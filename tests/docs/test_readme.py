"""Every block of the README runs, in order and in one namespace, and prints what the README says."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
OPTIONAL = {"openai"}
"""What a block may need although the project does not: elsewhere such a block is only compiled."""


def _blocks() -> list[tuple[str, str | None]]:
    """The Python blocks, each with the output that stands right behind it."""
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


def _line_of(source: str) -> int:
    return README[: README.index(source)].count("\n")


def _needs(source: str) -> set[str]:
    return {node.module or "" for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)}


BLOCKS = _blocks()


class Reader:
    """Runs blocks in one namespace, and before a block those above it that did not run: in another process, maybe."""

    def __init__(self) -> None:
        self._namespace: dict[str, Any] = {"__name__": "readme"}
        self._done = 0

    def read_to(self, number: int) -> None:
        """Run all blocks before one."""
        while self._done < number:
            self.read_next()

    def read_next(self) -> None:
        """Run one block, if what it needs is there."""
        source, self._done = BLOCKS[self._done][0], self._done + 1
        code = compile("\n" * _line_of(source) + source, "README.md", "exec")
        if _can_run(source):
            exec(code, self._namespace)  # noqa: S102 - our own README


def _can_run(source: str) -> bool:
    return all(find_spec(module) for module in _needs(source) & OPTIONAL)


@pytest.fixture(scope="module")
def reader() -> Reader:
    return Reader()


@pytest.mark.parametrize(
    "number", [pytest.param(number, id=f"line-{_line_of(block[0])}") for number, block in enumerate(BLOCKS)]
)
def test_a_block_of_the_readme_runs_and_prints_what_it_says(
    number: int,
    reader: Reader,
    servers: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    for name, url in servers.items():
        monkeypatch.setenv(name, url)
    reader.read_to(number)
    capsys.readouterr()
    reader.read_next()
    source, output = BLOCKS[number]
    assert output is None or not _can_run(source) or capsys.readouterr().out == output


def _commands() -> list[list[str]]:
    lines = [line for kind, block in BLOCK.findall(README) if kind == "sh" for line in block.splitlines()]
    return [shlex.split(line.split("| ")[-1], comments=True) for line in lines if line.strip()]


@pytest.mark.parametrize("command", [c for c in _commands() if c[0] == "streamparse"], ids=" ".join)
def test_a_command_of_the_readme_works(command: list[str], tmp_path: Path) -> None:
    written = (".html", ".jsonl")
    arguments = [str(tmp_path / word) if word.endswith(written) else word for word in command[1:]]
    if "bench" in arguments:
        arguments += ["--seconds", "0"]
    recorded = (ROOT / "fixtures" / "recorded" / "llamacpp-text.body").read_bytes()
    run = [sys.executable, "-W", "error", "-m", "streamparse", *arguments]
    done = subprocess.run(run, cwd=ROOT, input=recorded, capture_output=True, check=False, env=os.environ)
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout


def test_every_make_target_that_the_documents_name_exists() -> None:
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    named = {name for page in pages for name in re.findall(r"`make (\w+)`", page.read_text(encoding="utf-8"))}
    assert {"demo", "test", "bench"} <= named <= targets


def test_every_file_that_the_documents_link_to_or_name_exists() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        links = {page.parent / link.split("#")[0] for link in re.findall(r"\]\(([\w./-]+)[#\w-]*\)", text)}
        written = r"(?!:\n\n +```)"  # the name of a file that a recipe writes stands before what it holds
        named = re.findall(rf"`((?:streamparse|tests|fixtures|benches|docs|examples)/[\w./-]+)`{written}", text)
        missing = [path for path in (*links, *(ROOT / name for name in named)) if not path.exists()]
        assert not [path for path in missing if "NAME" not in path.name], page


def test_the_readme_states_every_law() -> None:
    laws = README.split("## The laws")[1].split("## ")[0]
    assert re.findall(r"^(\d)\. \*\*(\w[\w ]+)\*\*: ", laws, re.MULTILINE) == [
        (str(number), law)
        for number, law in enumerate(
            ["Cutting", "Sum", "Once", "Last", "Conservation", "Total", "Linear", "Early", "One path"], 1
        )
    ]
