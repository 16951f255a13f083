"""Changes one thing in a module, runs its tests, and lists what no test noticed.

    python tests/mutants.py                              # the turn, every mutant
    python tests/mutants.py --draw 50 --seed 7           # fifty of them
    python tests/mutants.py --module streamparse/json/scan.py --tests tests/json   # another module, other tests

A mutant is made in the syntax tree: a comparison is turned or moved by one, a condition negated, an operand, a keyword
or a statement left out, a constant changed, `min` becomes `max`.  Docstrings, annotations, `assert` and `__all__` stay
as they are.  Each mutant runs in a process of its own, forked from one that has imported all but the package; so it
costs what its tests cost until the first of them fails.  The order of the tests is that of the arguments.

Mutants that behave as the original does stand in `mutants.toml` beside this file, each with the reason.
Exits with 1 if fewer than `--reach` percent of the others were caught.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import importlib.abc
import importlib.util
import os
import random
import resource
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
EQUIVALENTS = Path(__file__).with_suffix(".toml")
RUNTIME = "streamparse/runtime"
MODULES = [f"{RUNTIME}/{name}.py" for name in ("turn", "call", "endings", "schedule", "admission", "retries", "facts")]
TESTS = [
    f"tests/runtime/{name}.py"
    for name in (
        "test_turn",
        "test_turn_words",
        "test_turn_details",
        "test_facts",
        "test_retry_after",
        "test_turn_laws",
        "test_streamed_turn",
        "test_streamed_laws",
    )
]
PRELOADED = ("hypothesis", "anyio", "trio", "msgspec", "regex", "jsonschema_rs", "asyncio")
MEMORY = 4 << 30
SECONDS = 180
"""What still runs then counts as caught."""

COMPARED: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is], ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}  # fmt: skip
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip
RENAMED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}


class Mutant(NamedTuple):
    """One change: `apply` puts it into `tree`, `undo` takes it out again."""

    module: str
    function: str
    line: int
    old: str
    new: str
    tree: ast.Module
    apply: Callable[[], None]
    undo: Callable[[], None]

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.module, self.function, self.old, self.new

    def __str__(self) -> str:
        lines = difflib.unified_diff(self.old.splitlines(), self.new.splitlines(), n=1, lineterm="")
        return "\n".join([f"{self.module}:{self.line} in {self.function}", *list(lines)[3:]])


# -- what may be changed -----------------------------------------------------------------------------------


def replace(node: ast.AST, **fields: Any) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def change_constant(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield replace(node, value=not value)
    elif isinstance(value, (int, float)):
        yield replace(node, value=value + 1)
    elif isinstance(value, str):
        yield replace(node, value=f"{value}XX" if value else "XX")
    elif value is None:
        yield replace(node, value=0)


def change_call(node: ast.Call) -> Iterator[ast.AST]:
    for place in range(len(node.keywords)):
        yield replace(node, keywords=[*node.keywords[:place], *node.keywords[place + 1 :]])
    if isinstance(node.func, ast.Name) and node.func.id in RENAMED:
        name = RENAMED[node.func.id]
        keywords = [] if name == "list" else node.keywords
        yield replace(node, func=replace(node.func, id=name), keywords=keywords)


def change_expression(node: ast.expr) -> Iterator[ast.AST]:
    match node:
        case ast.Constant():
            yield from change_constant(node)
        case ast.Compare(ops=[operator]):
            yield from (replace(node, ops=[other()]) for other in COMPARED[type(operator)])
        case ast.BoolOp(op=operator, values=values):
            yield replace(node, op=ast.Or() if isinstance(operator, ast.And) else ast.And())
            for place in range(len(values)):
                left = [*values[:place], *values[place + 1 :]]
                yield left[0] if len(left) == 1 else replace(node, values=left)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.BinOp(op=operator):
            yield replace(node, op=CALCULATED[type(operator)]())
        case ast.IfExp(body=body, orelse=other):
            yield from (body, other)
        case ast.Call():
            yield from change_call(node)
        case ast.Dict(keys=keys, values=values):
            for at in range(len(keys)):
                yield replace(node, keys=keys[:at] + keys[at + 1 :], values=values[:at] + values[at + 1 :])
        case ast.comprehension(ifs=[_, *_]):
            yield replace(node, ifs=[])


def change_statement(node: ast.stmt) -> Iterator[ast.AST]:
    nothing = ast.copy_location(ast.Pass(), node)
    match node:
        case ast.If(test=test) | ast.While(test=test):
            yield replace(node, test=ast.copy_location(ast.UnaryOp(ast.Not(), test), test))
        case ast.Return(value=ast.expr() as value) if not (isinstance(value, ast.Constant) and value.value is None):
            yield replace(node, value=ast.copy_location(ast.Constant(None), value))
        case ast.Continue() | ast.Break():
            yield ast.copy_location(ast.Break() if isinstance(node, ast.Continue) else ast.Continue(), node)
        case ast.AugAssign(op=operator):
            yield replace(node, op=CALCULATED[type(operator)]())
            yield nothing
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):
            yield nothing
        case ast.Assign() | ast.Delete() | ast.Raise() | ast.Return(value=None):
            yield nothing
        case ast.For():
            yield nothing


def change(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, (ast.expr, ast.comprehension)):
        yield from change_expression(node)
    elif isinstance(node, ast.stmt):
        yield from change_statement(node)


# -- where -------------------------------------------------------------------------------------------------


def find_mutants(module: str) -> Iterator[Mutant]:
    """All mutants of a module, in the order of its lines."""
    tree = ast.parse((ROOT / module).read_text())
    yield from find_in(tree, module, "the module", tree, tree)


def find_in(node: ast.AST, module: str, function: str, tree: ast.Module, statement: ast.AST) -> Iterator[Mutant]:
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        for place, child in enumerate(children):
            if not isinstance(child, ast.AST) or is_left_alone(node, name, child):
                continue
            around = child if isinstance(child, ast.stmt) else statement
            for changed in change(child):
                yield make_mutant(node, name, place, changed, (module, function, tree, around))
            named = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            within = child.name if named and function == "the module" else function
            within = f"{function}.{child.name}" if named and function != "the module" else within
            yield from find_in(child, module, within, tree, around)


def is_left_alone(parent: ast.AST, name: str, child: ast.AST) -> bool:
    """Whether nothing behaves otherwise if this is changed, or nothing is to be learnt from it."""
    if name in ("annotation", "returns", "decorator_list", "bases") or isinstance(child, (ast.Assert, ast.Import)):
        return True
    if isinstance(child, ast.ImportFrom) or (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
        return True
    if isinstance(child, ast.Assign) and ast.unparse(child.targets[0]) in ("__all__", "__slots__", "T"):
        return True
    if isinstance(child, ast.AnnAssign) and "TypeAlias" in ast.unparse(child.annotation):
        return True
    return isinstance(parent, ast.ClassDef) and name == "keywords"


def make_mutant(
    node: ast.AST, name: str, place: int, changed: ast.AST, where: tuple[str, str, ast.Module, ast.AST]
) -> Mutant:
    module, function, tree, statement = where
    before = getattr(node, name)
    after = [*before[:place], changed, *before[place + 1 :]] if isinstance(before, list) else changed
    is_whole = isinstance(before, list) and before[place] is statement

    def apply() -> None:
        setattr(node, name, after)

    def undo() -> None:
        setattr(node, name, before)

    old = ast.unparse(statement)
    apply()
    new = ast.unparse(changed if is_whole else statement)
    undo()
    line = getattr(before[place] if isinstance(before, list) else before, "lineno", getattr(statement, "lineno", 0))
    # Of a statement that holds others, what differs is enough to know the mutant by.
    old, new = shorten(old, new)
    return Mutant(module, function, line, old, new, tree, apply, undo)


def shorten(old: str, new: str) -> tuple[str, str]:
    """The first line, and those that differ."""
    ours, theirs = old.splitlines(), new.splitlines()
    if len(ours) < 3:
        return old, new
    gone, come = [], []
    for line in difflib.ndiff(ours, theirs):
        if line.startswith("- "):
            gone.append(line[2:].strip())
        elif line.startswith("+ "):
            come.append(line[2:].strip())
    return "\n".join([ours[0], *gone]) if gone[:1] != ours[:1] else "\n".join(gone), "\n".join(come)


# -- running -----------------------------------------------------------------------------------------------


class Loader(importlib.abc.Loader, importlib.abc.MetaPathFinder):
    """Imports one module from a changed tree."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        self._name = mutant.module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(self, name: str, *_: object) -> Any:
        if name != self._name:
            return None
        return importlib.util.spec_from_file_location(name, ROOT / self._mutant.module, loader=self)

    def exec_module(self, module: Any) -> None:
        tree = ast.fix_missing_locations(self._mutant.tree)
        exec(compile(tree, str(ROOT / self._mutant.module), "exec"), module.__dict__)  # noqa: S102


def start(mutant: Mutant | None, tests: list[str], profile: str) -> int:
    """Run the tests in a process of its own; returns its id."""
    if mutant is not None:
        mutant.apply()
    process = os.fork()
    if process == 0:
        run_tests(mutant, tests, profile)
    if mutant is not None:
        mutant.undo()
    return process


def run_tests(mutant: Mutant | None, tests: list[str], profile: str) -> None:
    signal.alarm(SECONDS)  # a mutant may never end
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    quiet = os.open(os.devnull, os.O_WRONLY)
    if mutant is not None:
        sys.meta_path.insert(0, Loader(mutant))
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--hypothesis-profile={profile}"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what was imported before the fork
    code = 1
    try:
        code = pytest.main([*options, *(["--tb=no"] if mutant is not None else []), *tests])
    except BaseException as error:  # noqa: BLE001 - what broke, broke because of the mutant
        print(repr(error))
        code = 1
    sys.stdout.flush()
    os._exit(int(code))


def run_all(mutants: list[Mutant], tests: list[str], profile: str, jobs: int) -> list[Mutant]:
    """Run each mutant; return those that the tests let pass."""
    running: dict[int, Mutant] = {}
    survivors = []
    waiting = iter(mutants)
    for number in range(1, len(mutants) + 1):
        while len(running) < jobs and (mutant := next(waiting, None)) is not None:
            running[start(mutant, tests, profile)] = mutant
        process, status = os.wait()
        mutant = running.pop(process)
        if status == 0:
            survivors.append(mutant)
            print(f"[{number}/{len(mutants)}, {profile} examples] survived: {mutant}\n", flush=True)
    return survivors


def read_equivalents() -> set[tuple[str, str, str, str]]:
    if not EQUIVALENTS.exists():
        return set()
    rows = tomllib.loads(EQUIVALENTS.read_text()).get("equivalent", [])
    return {(row["module"], row["function"], row["old"], row["new"]) for row in rows}


def read_arguments() -> argparse.Namespace:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--module", action="append", help="a module to change; may be given more than once")
    asked.add_argument("--tests", action="append", help="a test file or folder, the fastest first")
    asked.add_argument("--draw", type=int, help="how many mutants, drawn at random")
    asked.add_argument("--seed", type=int, default=1, help="of the draw")
    asked.add_argument("--reach", type=float, default=95.0, help="percent that must be caught")
    asked.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked.add_argument("--list", action="store_true", help="show the mutants, and run nothing")
    return asked.parse_args()


def choose_mutants(modules: list[str], draw: int | None, seed: int) -> list[Mutant]:
    """All that are not known to be equivalent, or some of them."""
    equivalents = read_equivalents()
    mutants = [mutant for module in modules for mutant in find_mutants(module)]
    unknown = {key for key in equivalents if key[0] in modules} - {mutant.key for mutant in mutants}
    if unknown:
        print(f"{EQUIVALENTS.name} speaks of mutants that are none any more:", *sorted(unknown), sep="\n  ")
    others = [mutant for mutant in mutants if mutant.key not in equivalents]
    print(f"{len(mutants)} mutants, {len(mutants) - len(others)} of them equivalent")
    return others if draw is None else random.Random(seed).sample(others, min(draw, len(others)))


def main() -> int:
    said = read_arguments()
    tests = said.tests or TESTS
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    for name in PRELOADED:
        importlib.import_module(name)
    mutants = choose_mutants(said.module or MODULES, said.draw, said.seed)
    if said.list:
        print(*mutants, sep="\n\n")
        return 0
    if os.waitpid(start(None, tests, "mutants"), 0)[1]:
        print("the tests fail without a mutant")
        return 1
    began = time.monotonic()
    passed = run_all(mutants, tests, "mutants", said.jobs)
    survivors = run_all(passed, tests, "usual", said.jobs)  # few examples catch most, and more some of the others
    caught = 100 * (1 - len(survivors) / max(len(mutants), 1))
    print(f"{len(mutants)} run in {time.monotonic() - began:.0f} s, {len(survivors)} survived: {caught:.1f} % caught")
    return int(caught < said.reach)


if __name__ == "__main__":
    sys.exit(main())
