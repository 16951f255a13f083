"""What the pages of docs show runs as it stands."""

from __future__ import annotations

import ast
import asyncio
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from inspect import CO_COROUTINE
from pathlib import Path
from typing import Any

import pytest
from model_server import ModelServer
from programs import SDK_PAGES
from serving import serving

PROGRAM = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PROGRAMS = {
    name: blocks
    for page in sorted(DOCS.rglob("*.md"))
    if (name := page.relative_to(DOCS).with_suffix("").as_posix()) not in SDK_PAGES
    if (blocks := PROGRAM.findall(page.read_text(encoding="utf-8")))
}
NEEDED = {"providers/repair": "jsonschema_rs", "agents/durable": "dbos"}
IN_A_CELL = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
"""Programs are compiled as cells of a notebook, which may await."""


SERVER = "http://127.0.0.1:8080"
"""Where the pages say that a model is."""
MOST_LINES = 10
"""Of an agent with two tools, without blank lines."""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with serving(ModelServer()) as url:
        yield url


@pytest.mark.parametrize("page", PROGRAMS)
def test_the_programs_of_a_page_run_in_order(
    page: str, server: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if page in NEEDED and not find_spec(NEEDED[page]):
        pytest.skip(f"the page needs {NEEDED[page]}")
    shutil.copy(ROOT / "README.md", tmp_path)  # all that the programs may ask for
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with asyncio.Runner() as runner:
        for block in PROGRAMS[page]:
            written = block.replace(SERVER, server).replace('"run.jsonl"', repr(str(tmp_path / "run.jsonl")))
            program = compile(written, f"docs/{page}.md", "exec", IN_A_CELL, dont_inherit=True)
            done = eval(program, names)  # noqa: S307 - our own page
            if program.co_flags & CO_COROUTINE:
                runner.run(done)


def test_an_agent_with_two_tools_is_ten_lines(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    program = PROGRAMS["agents/agents"][0]
    assert len([line for line in program.splitlines() if line.strip()]) <= MOST_LINES
    code = compile(program.replace(SERVER, server), "docs/agents/agents.md", "exec", dont_inherit=True)
    exec(code, {"__name__": "agents"})  # noqa: S102 - our own page
    assert "the README says" in capsys.readouterr().out
