"""A function fits half a screen, a module is one idea, and a number at the head of a module says what chose it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import streamparse

PACKAGE = Path(streamparse.__file__).parent
MODULES = sorted(str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py"))
LONGEST_FUNCTION = 40
LONGEST_MODULE = 450
LONG_MODULES = {
    "assembler/assembler.py": "the verbs share one set of open calls, which each of them may close",
    "runtime/turn.py": "two tables and one machine: each fact may change what any call may do",
}
"""Modules that may be longer, with the reason."""
REASON = re.compile(r"  # (?:bench|bound|source): \S")


@cache
def parse(module: str) -> ast.Module:
    return ast.parse((PACKAGE / module).read_text(encoding="utf-8"))


def is_number(node: ast.expr | None) -> bool:
    match node:
        case ast.Constant(value):
            return isinstance(value, int | float) and not isinstance(value, bool)
        case ast.BinOp(left, _, right):
            return is_number(left) or is_number(right)
        case ast.UnaryOp(_, operand):
            return is_number(operand)
    return False


def find_numbers(module: str) -> Iterator[int]:
    """Yield the lines at the head of a module that give a number a name."""
    for node in parse(module).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_number(node.value):
            yield node.lineno


@pytest.mark.parametrize("module", [each for each in MODULES if any(find_numbers(each))])
def test_a_number_at_the_head_of_a_module_says_what_chose_it(module: str) -> None:
    lines = (PACKAGE / module).read_text(encoding="utf-8").splitlines()
    bare = [f"{number}: {lines[number - 1]}" for number in find_numbers(module) if not REASON.search(lines[number - 1])]
    assert bare == []


def test_no_function_is_longer_than_half_a_screen() -> None:
    long = [
        f"{module}:{node.lineno} {node.name}"
        for module in MODULES
        for node in ast.walk(parse(module))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]
    assert long == []


def test_a_module_is_one_idea() -> None:
    long = {
        module
        for module in MODULES
        if len((PACKAGE / module).read_text(encoding="utf-8").splitlines()) > LONGEST_MODULE
    }
    assert long == {*LONG_MODULES}
