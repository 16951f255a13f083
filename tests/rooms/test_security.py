"""What the source of the package must not hold: the rules that no test of behaviour can show."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import streamparse

PACKAGE = Path(streamparse.__file__).parent
SOURCES = {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}
CALLS = {"eval", "exec", "compile", "__import__"}
MODULES = {"pickle", "marshal", "shelve", "yaml", "xml", "dill", "cloudpickle"}
COMPILERS = {"re", "regex"}


def _tree(name: str) -> ast.Module:
    return ast.parse(SOURCES[name].read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", SOURCES)
def test_the_source_runs_nothing_that_it_reads(name: str) -> None:
    for node in ast.walk(_tree(name)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in CALLS, f"line {node.lineno}"
        if isinstance(node, ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else ""
            assert node.attr != "literal_eval", f"line {node.lineno}"
            assert node.attr != "compile" or owner in COMPILERS, f"line {node.lineno}"
        if isinstance(node, ast.Import):
            assert not {alias.name.split(".")[0] for alias in node.names} & MODULES, f"line {node.lineno}"
        if isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] not in MODULES, f"line {node.lineno}"
            assert node.module != "ast" or not {alias.name for alias in node.names} & {"literal_eval"}


def _raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and (last.exc is None or last.cause is not None)


@pytest.mark.parametrize("name", [name for name in SOURCES if not name.startswith("runtime")])
def test_no_exception_of_every_kind_is_swallowed(name: str) -> None:
    for node in ast.walk(_tree(name)):
        if isinstance(node, ast.ExceptHandler) and not _raises_again(node):
            caught = {each.id for each in ast.walk(node.type) if isinstance(each, ast.Name)} if node.type else {""}
            assert not caught & {"", "Exception", "BaseException"}, f"line {node.lineno}"
