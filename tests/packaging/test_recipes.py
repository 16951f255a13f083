"""The two recipes of CONTRIBUTING are true: a copy of the project gets a wire and a dialect, exactly as they say.

Each block of code there is a file, a row of a table, or commands.  What stands right before it says which: "`PATH`:",
or "at the end of `TABLE` in `PATH`:".
"""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent, indent

import pytest

ROOT = Path(__file__).parents[2]
NEEDED = ("streamparse", "fixtures", "docs", "examples", "pyproject.toml", "README.md")
TESTED = ("wires", "dialects", "docs", "cli")
MOST_LINES = 80
"""Of a wire of a shape that exists."""

_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```\n", re.MULTILINE | re.DOTALL)
_ROW = re.compile(r"at the end of `(\w+)` in `([\w./-]+)`:\s*\Z")
_FILE = re.compile(r"`([\w./-]+)`:\s*\Z")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what the recipes touch and of the tests that they run."""
    for name in NEEDED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tmp_path / name)
        else:
            shutil.copy2(ROOT / name, tmp_path)
    for name in TESTED:
        shutil.copytree(ROOT / "tests" / name, tmp_path / "tests" / name)
    for file in (ROOT / "tests").glob("*.*"):
        shutil.copy2(file, tmp_path / "tests")
    return tmp_path


def _run(copy: Path, command: str) -> int:
    """Run a command in the copy; what it printed is shown if the test fails."""
    command = command.replace(".venv/bin/pytest", f"{shlex.quote(sys.executable)} -m pytest -p no:cacheprovider")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST_", "COV_"))}
    environment |= {"PYTHONPATH": str(copy), "PYTHONUTF8": "1"}
    done = subprocess.run(command, shell=True, cwd=copy, env=environment, capture_output=True, check=False)
    print(f"$ {command}\n{done.stdout.decode()}{done.stderr.decode()}")
    return done.returncode


def _add_row(file: Path, table: str, block: str) -> None:
    """Write the row of a block at the end of a table, and its imports behind those of the file."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    imports = "".join(line for line in block.splitlines(keepends=True) if line.startswith(("from ", "import ")))
    row = block.replace(imports, "")
    body = ast.parse("".join(lines)).body
    [end] = [literal.end_lineno or 0 for node in body if (literal := _find_literal(node, table)) is not None]
    last_import = max(node.end_lineno or 0 for node in body if isinstance(node, ast.ImportFrom))
    lines.insert(end - 1, indent(f"{row.strip()},\n", "        "))
    lines.insert(last_import, imports)
    file.write_text("".join(lines), encoding="utf-8")


def _find_literal(statement: ast.stmt, table: str) -> ast.expr | None:
    """The brackets of a table, if the statement is `TABLE = (...)` or `TABLE.declare({...})`."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=literal) if name == table:
            return literal
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[literal])) if name == table:
            return literal
        case _:
            return None


def _carry_out(copy: Path, recipe: str) -> list[Path]:
    """Do what the chapter says; return the files that it wrote by hand."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split(f"## {recipe}\n")[1].split("\n## ")[0]
    written: list[Path] = []
    for block in _BLOCK.finditer(text):
        before, content = text[: block.start()], dedent(block[2])
        if block[1] == "sh":
            for command in content.splitlines():
                assert _run(copy, command) == 0, command
        elif row := _ROW.search(before):
            written.append(copy / row[2])
            _add_row(written[-1], row[1], content)
        else:
            place = _FILE.search(before)
            assert place is not None, before[-200:]
            written.append(copy / place[1])
            assert not written[-1].exists()
            written[-1].write_text(content, encoding="utf-8")
    return written


def _read_fixtures(copy: Path) -> dict[str, bytes]:
    folder = copy / "fixtures"
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def _changed(before: dict[str, bytes], after: dict[str, bytes]) -> set[str]:
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def _break(file: Path, whole: str, broken: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(whole) == 1
    file.write_text(text.replace(whole, broken), encoding="utf-8")


def test_a_new_wire_is_one_module_one_row_and_one_fixture(copy: Path) -> None:
    before = _read_fixtures(copy)
    module, row, stream = _carry_out(copy, "Add a wire")
    assert len(module.read_text(encoding="utf-8").splitlines()) <= MOST_LINES
    assert _run(copy, f"{shlex.quote(sys.executable)} -m ruff check {module}") == 0
    assert _run(copy, f"{shlex.quote(sys.executable)} -m ruff format --check {module}") == 0
    golden = f"streams/{stream.stem}.events.json"
    after = _read_fixtures(copy)
    assert _changed(before, after) == {f"streams/{stream.name}", golden, "streams/index.toml"}
    assert [event["type"] for event in json.loads(after[golden])] == ["text_delta", "done"]

    _break(row, '"streamparse.providers.tgi:GenerateStream"', '"streamparse.providers.ollama.wire:OllamaChat"')
    assert _run(copy, ".venv/bin/pytest tests/wires/test_golden_streams.py -k tgi") == 1


def test_a_new_dialect_is_one_row_and_one_fixture(copy: Path) -> None:
    before = _read_fixtures(copy)
    [row] = _carry_out(copy, "Add a dialect")
    after = _read_fixtures(copy)
    assert _changed(before, after) == {"dialects/zeta.toml", "least_limits.json"}

    case = {"promise": "a call that lacks its end stands", "text": "<|fn|>now<|args|>{} <|fn|>now<|args|>{}"}
    (copy / "fixtures" / "texts" / "zeta.json").write_text(json.dumps([case]), encoding="utf-8")
    assert _run(copy, ".venv/bin/pytest tests/dialects/test_golden_texts.py -k zeta --update-golden") == 0
    assert _changed(after, _read_fixtures(copy)) == {"texts/zeta.json", "texts/zeta.events.json"}

    _break(row, 'closes=("<|/fn|>",)', 'closes=("<|fn/|>",)')
    assert _run(copy, ".venv/bin/pytest tests/dialects/test_contract.py -k zeta") == 1
