"""The engine stands alone: what the parsers import, copied into a folder by itself, still reads every stream.

The rooms above it, and what only requests and emitters need, are not there.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamparse

PACKAGE = Path(streamparse.__file__).parent
ROOT = Path(__file__).parents[2]
LEFT_OUT = {"writing", "emitting", "runtime"}
GOLDENS = ("tests/wires/test_golden_streams.py", "tests/dialects/test_golden_texts.py")
CONTRACT = ("tests/dialects/test_contract.py", "-k", "hermes or harmony or qwen3-coder or mistral or glm or llama")
LAWS = ("tests/laws/test_last.py",)


def _find_module(dotted: str) -> Path | None:
    """Find the file of a module of this package; of a name that a module exports, the module's."""
    parts = dotted.split(".")[1:]
    while parts:
        base = PACKAGE.joinpath(*parts)
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.exists():
                return path
        parts.pop()
    return None


def _list_imports(tree: ast.AST) -> Iterator[str]:
    """The dotted names of what a module imports, in or out of functions, or names as `module:class` to load later.

    What only type checkers import is left out.
    """
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            case ast.Constant(value=str() as text) if ":" in text:
                yield text.partition(":")[0]
        yield from _list_imports(node)


def _find_closure() -> set[Path]:
    """The modules that the package and its room `parser` need, with the packages in which they stand."""
    waiting = [PACKAGE / "__init__.py", *(PACKAGE / "parser").glob("*.py")]
    found: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting += [folder / "__init__.py" for folder in path.parents if PACKAGE in folder.parents]
        for dotted in _list_imports(ast.parse(path.read_text(encoding="utf-8"))):
            module = _find_module(dotted) if dotted.startswith("streamparse.") else None
            if module is not None:
                waiting.append(module)
    return found


def test_the_engine_needs_nothing_that_writes_or_runs() -> None:
    rooms = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in _find_closure()}
    assert not rooms & LEFT_OUT
    assert {"assembler", "dialects", "frames", "providers"} <= rooms


@pytest.mark.parametrize("tests", [GOLDENS, CONTRACT, LAWS], ids=["goldens", "contract", "laws"])
def test_the_engine_alone_reads_as_the_whole_package(tests: tuple[str, ...], tmp_path: Path) -> None:
    for path in _find_closure():
        copy = tmp_path / path.relative_to(PACKAGE.parent)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    loaded = subprocess.run(
        [sys.executable, "-P", "-c", "import streamparse; print(streamparse.__file__)"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert Path(loaded.stdout.strip()) == tmp_path / "streamparse" / "__init__.py"
    run = subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-4000:]
