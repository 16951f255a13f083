"""Changes one thing in a module, runs the tests of its room, and lists what no test noticed.

    python tests/mutants.py --draw 300 --seed 7           # of the core: from each room as many as its share of the code
    python tests/mutants.py --room frames                 # every mutant of a room
    python tests/mutants.py --module streamparse/json/scan.py --draw 20   # of a module, with its room's tests
    python tests/mutants.py --room json --only "scan.py:63 in"            # of a line: once a test for it is written
    python tests/mutants.py --replay                      # the bugs of `replayed_mutants.toml`

A mutant is made in the syntax tree: a comparison is turned or moved by one, a condition negated, an operand, a keyword
or a statement left out, a constant changed, `min` becomes `max`.  Docstrings, annotations, `assert`, `__all__` and
messages for people stay as they are.  A function returns no None where mypy is certain to refuse it: no such change
can land, and all others are left to the tests alone.  Each mutant runs in a process of its own, forked from one that
has imported all but the package, and the changed module is never written to a file.  What passes with few examples runs
its property tests again with the usual ones.  A test that takes far more of the processor than any of them does without
a mutant counts as failed.

`mutants.toml` says which tests own which modules, the quickest first.  It also has the mutants that behave as the
original does, each with the reason; they are known by file, function and operator, so that a rename changes no row.
Exits with 1 if fewer than `--reach` percent of the others were caught.
"""

from __future__ import annotations

import argparse
import ast
import copy
import difflib
import functools
import importlib.abc
import importlib.util
import math
import os
import random
import re
import resource
import signal
import sys
import time
import tomllib
from collections import Counter, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest

ROOT = Path(__file__).parent.parent
KNOWN = Path(__file__).with_suffix(".toml")
REPLAYED = ROOT / "tests/replayed_mutants.toml"
PRELOADED = ("hypothesis", "anyio", "trio", "msgspec", "regex", "jsonschema_rs", "asyncio")
MEMORY = 4 << 30
LONGEST = 40
"""Seconds of the processor that a test, or the import of its module, may take; none needs half."""
STAGES = (1, 3, 10)
"""How many test files are collected at once: most mutants are caught by the first, and wait for no others."""
PASSED = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
DEADLINE = 1800
"""Seconds until a process that waits for ever counts as caught, too."""

COMPARED: dict[type[ast.cmpop], list[type[ast.cmpop]]] = {
    ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE], ast.GtE: [ast.Gt, ast.Lt],
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is], ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
}  # fmt: skip
CALCULATED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift, ast.BitXor: ast.BitOr, ast.MatMult: ast.Mult,
}  # fmt: skip
BUILTIN = ("bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")
LONG_LINE, AROUND = 400, 80
"""Characters from which on a line is long, and of it around a change."""
PROSE = re.compile(r"[a-z:,;] |^ [a-z]| $")
"""A message for people, or a part of one."""
CLASS = re.compile(r"^ *class (\w+)(.*)", re.MULTILINE)
RENAMED = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list"}


Change: TypeAlias = tuple[str, ast.AST]
"""What was done, and the changed node."""
Key: TypeAlias = tuple[str, str, str, int]


class Room(NamedTuple):
    """Modules, and the tests that own them, the quickest first."""

    name: str
    modules: list[str]
    tests: list[str]


class Place(NamedTuple):
    """Where in the package a node stands."""

    module: str
    function: str
    tree: ast.Module
    statement: ast.AST
    returns: ast.expr | None
    """The annotation of what the function returns."""


class Mutant(NamedTuple):
    """One change: `apply` puts it into `tree`, `undo` takes it out again."""

    module: str
    function: str
    operator: str
    """What is done to the code, in words that name nothing of it."""
    number: int
    """Of those with this operator in the function, from 1 on, in the order of the code."""
    line: int
    old: str
    new: str
    tree: ast.Module
    apply: Callable[[], None]
    undo: Callable[[], None]

    @property
    def key(self) -> Key:
        return self.module, self.function, self.operator, self.number

    def changed(self) -> ast.Module:
        """The changed tree, once the change is applied."""
        return ast.fix_missing_locations(self.tree)

    def __str__(self) -> str:
        lines = difflib.unified_diff(self.old.splitlines(), self.new.splitlines(), n=1, lineterm="")
        operator = self.operator if self.number == 1 else f"{self.operator}, {self.number}"
        return "\n".join([f"{self.module}:{self.line} in {self.function}, {operator}", *list(lines)[3:]])


class Replayed(NamedTuple):
    """A bug that was written by hand: `old` stands once in the module, and becomes `new`."""

    module: str
    old: str
    new: str
    bug: str

    def changed(self) -> str:
        source = (ROOT / self.module).read_text()
        if source.count(self.old) != 1:
            raise ValueError(f"{self.module} has {source.count(self.old)} times: {self.old}")
        return source.replace(self.old, self.new)

    def __str__(self) -> str:
        return f"{self.module}: {self.bug}"


class Task(NamedTuple):
    """A mutant, or none, and the tests to run."""

    room: str
    mutant: Mutant | Replayed | None
    tests: list[str]


# -- what may be changed -----------------------------------------------------------------------------------


def replace(node: ast.AST, **fields: Any) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def change_constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield "other bool", replace(node, value=not value)
    elif isinstance(value, (int, float)):
        yield "number + 1", replace(node, value=value + 1)
    elif isinstance(value, str):
        if not PROSE.search(value):
            yield "other string", replace(node, value=f"{value}XX")
    elif isinstance(value, bytes):
        yield "other bytes", replace(node, value=value + b"XX")
    elif value is None:
        yield "0 for None", replace(node, value=0)


def change_call(node: ast.Call) -> Iterator[Change]:
    for place in range(len(node.keywords)):
        yield "no keyword", replace(node, keywords=[*node.keywords[:place], *node.keywords[place + 1 :]])
    if isinstance(node.func, ast.Name) and node.func.id in RENAMED:
        name = RENAMED[node.func.id]
        keywords = [] if name == "list" else node.keywords
        yield f"{name} for {node.func.id}", replace(node, func=replace(node.func, id=name), keywords=keywords)


def change_expression(node: ast.expr) -> Iterator[Change]:
    match node:
        case ast.Constant():
            yield from change_constant(node)
        case ast.Compare(ops=[operator]):
            for other in COMPARED[type(operator)]:
                yield name_change(operator, other()), replace(node, ops=[other()])
        case ast.BoolOp(op=operator, values=values):
            swapped = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield name_change(operator, swapped), replace(node, op=swapped)
            for place in range(len(values)):
                left = [*values[:place], *values[place + 1 :]]
                yield "no operand", left[0] if len(left) == 1 else replace(node, values=left)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "no not", operand
        case ast.BinOp(op=operator):
            calculated = CALCULATED[type(operator)]()
            yield name_change(operator, calculated), replace(node, op=calculated)
        case ast.IfExp(body=body, orelse=other):
            yield "no else", body
            yield "only else", other
        case ast.Call():
            yield from change_call(node)
        case ast.Dict(keys=keys, values=values):
            for at in range(len(keys)):
                yield "no item", replace(node, keys=keys[:at] + keys[at + 1 :], values=values[:at] + values[at + 1 :])
        case ast.comprehension(ifs=[_, *_]):
            yield "no filter", replace(node, ifs=[])


def name_change(before: ast.AST, after: ast.AST) -> str:
    return f"{type(after).__name__} for {type(before).__name__}"


def change_statement(node: ast.stmt, returns: ast.expr | None) -> Iterator[Change]:
    nothing = ast.copy_location(ast.Pass(), node)
    match node:
        case ast.If(test=test) | ast.While(test=test):
            yield "negated", replace(node, test=ast.copy_location(ast.UnaryOp(ast.Not(), test), test))
        case ast.Return(value=ast.expr() as value):
            if ast.unparse(value) != "None" and not refuses_none(returns):
                yield "return None", replace(node, value=ast.copy_location(ast.Constant(None), value))
        case ast.Continue() | ast.Break():
            other = ast.Break() if isinstance(node, ast.Continue) else ast.Continue()
            yield name_change(node, other), ast.copy_location(other, node)
        case ast.AugAssign(op=operator):
            calculated = CALCULATED[type(operator)]()
            yield name_change(operator, calculated), replace(node, op=calculated)
            yield "no statement", nothing
        case ast.Expr(value=value) if not isinstance(value, ast.Constant):
            yield "no statement", nothing
        case ast.Assign() | ast.Delete() | ast.Raise() | ast.Return(value=None):
            yield "no statement", nothing
        case ast.For():
            yield "no statement", nothing


def change(node: ast.AST, returns: ast.expr | None) -> Iterator[Change]:
    if isinstance(node, (ast.expr, ast.comprehension)):
        yield from change_expression(node)
    elif isinstance(node, ast.stmt):
        yield from change_statement(node, returns)


def refuses_none(annotation: ast.expr | None) -> bool:
    """Whether mypy refuses None where this is annotated, in all the code that it reaches; if in doubt it does not."""
    match annotation:
        case ast.BinOp(op=ast.BitOr(), left=left, right=right):
            return refuses_none(left) and refuses_none(right)
        case ast.Subscript(value=ast.Name(id="Step"), slice=result):  # a generator that ends with this
            return refuses_none(result)
        case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)):
            return name in BUILTIN or name in list_classes()
    return False


@functools.cache
def list_classes() -> frozenset[str]:
    """The names of the package's classes, but for its protocols: None may be of those."""
    sources = [file.read_text() for file in (ROOT / "streamparse").rglob("*.py")]
    headers = [header for source in sources for header in CLASS.finditer(source)]
    return frozenset(header[1] for header in headers if "Protocol" not in header[2])


# -- where -------------------------------------------------------------------------------------------------


def find_mutants(module: str) -> Iterator[Mutant]:
    """All mutants of a module, in the order of its lines."""
    tree = ast.parse((ROOT / module).read_text())
    counts: Counter[tuple[str, str]] = Counter()
    for mutant in find_in(tree, Place(module, "the module", tree, tree, None)):
        counts[mutant.function, mutant.operator] += 1
        yield mutant._replace(number=counts[mutant.function, mutant.operator])


def find_in(node: ast.AST, where: Place) -> Iterator[Mutant]:
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        for place, child in enumerate(children):
            if not isinstance(child, ast.AST) or is_left_alone(node, name, child):
                continue
            here = where._replace(statement=child) if isinstance(child, ast.stmt) else where
            match child:
                case ast.Assign(targets=[ast.Name(id=known)]) | ast.AnnAssign(target=ast.Name(id=known)):
                    here = here._replace(function=known) if here.function == "the module" else here
            for operator, changed in change(child, here.returns):
                yield make_mutant(operator, node, name, place, changed, here)
            yield from find_in(child, enter(child, here))


def enter(node: ast.AST, where: Place) -> Place:
    """The place of what stands in `node`."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return where
    function = node.name if where.function == "the module" else f"{where.function}.{node.name}"
    returns = None if isinstance(node, ast.ClassDef) else node.returns
    return where._replace(function=function, returns=returns)


def is_left_alone(parent: ast.AST, name: str, child: ast.AST) -> bool:
    """Whether nothing behaves otherwise if this is changed, or nothing is to be learnt from it."""
    match child:
        case ast.Assert() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
        case ast.Assign(value=ast.Call(func=test)) | ast.If(test=test) if is_typing(test):
            return True
        case ast.AnnAssign(annotation=annotation) if "TypeAlias" in ast.unparse(annotation):
            return True
    if isinstance(parent, ast.ClassDef) and name == "keywords":
        return True
    return name in ("annotation", "returns", "decorator_list", "bases")


def is_typing(node: ast.expr) -> bool:
    """Whether this is for the type checker."""
    return isinstance(node, ast.Name) and node.id in ("TypeVar", "ParamSpec", "NewType", "TYPE_CHECKING")


def make_mutant(operator: str, node: ast.AST, name: str, place: int, changed: ast.AST, where: Place) -> Mutant:
    before = getattr(node, name)
    after = [*before[:place], changed, *before[place + 1 :]] if isinstance(before, list) else changed
    statement = where.statement
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
    # Of a statement that holds others, what differs is enough to see the mutant.
    old, new = shorten(old, new)
    return Mutant(where.module, where.function, operator, 1, line, old, new, where.tree, apply, undo)


def shorten(old: str, new: str) -> tuple[str, str]:
    """The first line, and those that differ; of a long line, as those of tables are, what is near the change."""
    ours, theirs = old.splitlines(), new.splitlines()
    if len(ours) == len(theirs) == 1 and len(old) > LONG_LINE:
        start, end = count_common(old, new), count_common(old[::-1], new[::-1])
        return old[start : len(old) - end], new[start : len(new) - end]
    if len(ours) < 3:
        return old, new
    gone, come = [], []
    for line in difflib.ndiff(ours, theirs):
        if line.startswith("- "):
            gone.append(line[2:].strip())
        elif line.startswith("+ "):
            come.append(line[2:].strip())
    return "\n".join([ours[0], *gone]) if gone[:1] != ours[:1] else "\n".join(gone), "\n".join(come)


def count_common(one: str, other: str) -> int:
    """How many characters both begin with, but for some before the difference."""
    same = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return max(0, same - AROUND)


# -- rooms -------------------------------------------------------------------------------------------------


def read_rooms() -> list[Room]:
    """The rooms of the core, with the modules that no longer path of another room has."""
    rows = tomllib.loads(KNOWN.read_text())["room"]
    owners = {path: row["name"] for row in rows for path in row["paths"]}
    modules: dict[str, list[str]] = {row["name"]: [] for row in rows}
    for file in sorted((ROOT / "streamparse").rglob("*.py")):
        module = file.relative_to(ROOT).as_posix()
        if found := [path for path in owners if module.startswith(path)]:
            modules[owners[max(found, key=len)]].append(module)
    return [Room(row["name"], modules[row["name"]], row["tests"]) for row in rows]


def count_code_lines(room: Room) -> int:
    """The lines on which code begins."""
    trees = [ast.parse((ROOT / module).read_text()) for module in room.modules]
    return sum(
        len({node.lineno for node in ast.walk(tree) if isinstance(node, (ast.stmt, ast.expr))}) for tree in trees
    )


def read_equivalents() -> set[Key]:
    found = set()
    for module, rows in tomllib.loads(KNOWN.read_text()).get("equivalent", {}).items():
        for row in rows:
            function, operator, number = (row + ", 1").split(", ")[:3]
            found.add((module, function, operator, int(number)))
    return found


def find_all(rooms: list[Room]) -> dict[str, list[Mutant]]:
    """The mutants of each room that are not known to be equivalent."""
    equivalents = read_equivalents()
    found = {room.name: [mutant for module in room.modules for mutant in find_mutants(module)] for room in rooms}
    modules = {module for room in rooms for module in room.modules}
    unknown = {key for key in equivalents if key[0] in modules}
    unknown -= {mutant.key for mutants in found.values() for mutant in mutants}
    if unknown:
        print(f"{KNOWN.name} speaks of mutants that are none any more:", *sorted(unknown), sep="\n  ")
    return {name: [mutant for mutant in mutants if mutant.key not in equivalents] for name, mutants in found.items()}


def draw(rooms: list[Room], found: dict[str, list[Mutant]], number: int | None, seed: int) -> list[Task]:
    """Draw from each room as many as its share of the code, or take all."""
    dice = random.Random(seed)
    lines = {room.name: count_code_lines(room) for room in rooms}
    whole = sum(lines.values())
    tasks: list[Task] = []
    rest = 0.0
    for room in rooms:
        rest += len(found[room.name]) if number is None else number * lines[room.name] / whole
        drawn = dice.sample(found[room.name], min(int(rest + 0.5), len(found[room.name])))
        rest -= len(drawn)
        tasks += [Task(room.name, mutant, order_tests(room.tests, mutant.module)) for mutant in drawn]
    dice.shuffle(tasks)  # if there is no time for all, those that run are of all rooms
    return tasks


def order_tests(tests: list[str], module: str) -> list[str]:
    """The test files of a room; those whose names have a word of the module's come first."""
    folders = [sorted((ROOT / test).glob("test_*.py")) if (ROOT / test).is_dir() else [ROOT / test] for test in tests]
    files = dict.fromkeys(file.relative_to(ROOT).as_posix() for files in folders for file in files)
    words = [word.rstrip("s") for word in Path(module).stem.split("_") if len(word) > 2]
    return sorted(files, key=lambda file: not any(word in Path(file).stem for word in words))


# -- replaying ---------------------------------------------------------------------------------------------


def read_replayed() -> list[Task]:
    """The bugs that are to be replayed; those that no test can notice are not."""
    rows = tomllib.loads(REPLAYED.read_text())["mutant"]
    return [
        Task(row["bug"], Replayed(row["file"], row["old"], row["new"], row["bug"]), [row["tests"]])
        for row in rows
        if row.keys().isdisjoint(("equivalent", "undecided", "gone"))
    ]


# -- running -----------------------------------------------------------------------------------------------


class Loader(importlib.abc.Loader, importlib.abc.MetaPathFinder):
    """Imports one module from its changed code."""

    def __init__(self, mutant: Mutant | Replayed) -> None:
        self._mutant = mutant
        self._name = mutant.module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    def find_spec(self, name: str, *_: object) -> Any:
        if name != self._name:
            return None
        file = ROOT / self._mutant.module
        within = [str(file.parent)] if file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(name, file, loader=self, submodule_search_locations=within)

    def exec_module(self, module: Any) -> None:
        code = compile(self._mutant.changed(), str(ROOT / self._mutant.module), "exec")
        exec(code, module.__dict__)  # noqa: S102


class Clock:
    """Ends the process if one test takes too much of the processor."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds
        self.start()

    def start(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, self._seconds)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        self.start()

    @pytest.hookimpl(tryfirst=True)
    def pytest_make_collect_report(self) -> None:
        self.start()


def start(task: Task, profile: str) -> int:
    """Run the tests in a process of its own; returns its id."""
    if isinstance(task.mutant, Mutant):
        task.mutant.apply()
    process = os.fork()
    if process == 0:
        run_tests(task, profile)
    if isinstance(task.mutant, Mutant):
        task.mutant.undo()
    return process


def run_tests(task: Task, profile: str) -> None:
    signal.alarm(DEADLINE)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    if task.mutant is not None:
        sys.meta_path.insert(0, Loader(task.mutant))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
    options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--hypothesis-profile={profile}"]
    options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # what was imported before the fork
    options += ["--tb=no"] if task.mutant else []
    if profile == "usual" and isinstance(task.mutant, Mutant):
        options += ["-m", "hypothesis"]  # the others did what they do
    codes = []
    try:
        for tests in split_tests(task.tests):
            codes.append(pytest.main([*options, *tests], [Clock(LONGEST)]))
            if codes[-1] not in PASSED:
                break
    except BaseException as error:  # noqa: BLE001 - what broke, broke because of the mutant
        print(repr(error))
        codes.append(pytest.ExitCode.INTERNAL_ERROR)
    is_empty = task.mutant is None and pytest.ExitCode.OK not in codes
    code = 0 if codes[-1] in PASSED and not is_empty else 1
    sys.stdout.flush()
    os._exit(code)


def split_tests(tests: list[str]) -> Iterator[list[str]]:
    at = 0
    for number in STAGES:
        yield tests[at : at + number]
        at += number
        if at >= len(tests):
            return
    yield tests[at:]


def run_all(tasks: list[Task], profile: str, jobs: int, end: float = math.inf) -> tuple[list[Task], list[Task]]:
    """Run each mutant that can begin before `end`; return those that the tests let pass, and those that did not run."""
    running: dict[int, Task] = {}
    survivors = []
    waiting = deque(tasks)
    while running or (waiting and time.monotonic() < end):
        while waiting and len(running) < jobs and time.monotonic() < end:
            task = waiting.popleft()
            running[start(task, profile)] = task
        process, status = os.wait()
        task = running.pop(process)
        if status == 0:
            survivors.append(task)
        if task.mutant is not None:
            print(f"[{len(waiting)} to come, {profile} examples]", tell_fate(task.mutant, status), flush=True)
    return survivors, list(waiting)


def tell_fate(mutant: Mutant | Replayed, status: int) -> str:
    """What became of a mutant: a line, and what was changed if it survived."""
    return f"survived: {mutant}\n" if status == 0 else f"caught: {str(mutant).splitlines()[0]}"


def are_sound(tasks: list[Task], jobs: int) -> bool:
    """Whether the tests pass without a mutant."""
    groups = {frozenset(task.tests): task._replace(mutant=None) for task in tasks}
    passed = {frozenset(task.tests) for task in run_all(list(groups.values()), "mutants", jobs)[0]}
    for tests in groups.keys() - passed:
        print("these tests fail without a mutant:", *tests)
    return groups.keys() == passed


def read_arguments() -> argparse.Namespace:
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    asked.add_argument("--room", action="append", help="a room of mutants.toml; may be given more than once")
    asked.add_argument("--module", action="append", help="a module to change; may be given more than once")
    asked.add_argument("--tests", action="append", help="a test file or folder, the quickest first")
    asked.add_argument("--draw", type=int, help="how many mutants, drawn at random")
    asked.add_argument("--seed", type=int, default=1, help="of the draw")
    asked.add_argument("--reach", type=float, default=95.0, help="percent that must be caught")
    asked.add_argument("--minutes", type=float, default=math.inf, help="begin no mutant after so many")
    asked.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked.add_argument(
        "--replay", action="store_true", help="run the bugs of replayed_mutants.toml; all must be caught"
    )
    asked.add_argument("--only", default="", help="of these, the ones that --list shows with these words")
    asked.add_argument("--list", action="store_true", help="show the mutants, and run nothing")
    return asked.parse_args()


def choose(said: argparse.Namespace) -> list[Task]:
    """What is to be run."""
    return [task for task in choose_all(said) if not said.only or said.only in str(task.mutant)]


def choose_all(said: argparse.Namespace) -> list[Task]:
    if said.replay:
        return read_replayed()
    rooms = [room for room in read_rooms() if not said.room or room.name in said.room]
    if said.module:
        rooms = [room._replace(modules=[each for each in said.module if each in room.modules]) for room in rooms]
    rooms = [room._replace(tests=said.tests or room.tests) for room in rooms if room.modules]
    return draw(rooms, find_all(rooms), said.draw, said.seed)


def show_rooms(tasks: list[Task], survivors: list[Task]) -> None:
    for name in dict.fromkeys(task.room for task in tasks):
        drawn = sum(task.room == name for task in tasks)
        print(f"  {name}: {drawn - sum(task.room == name for task in survivors)} of {drawn} caught")


def main() -> int:
    said = read_arguments()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    sys.dont_write_bytecode = False  # of the tests and the modules that stay as they are
    tasks = choose(said)
    if said.list:
        print(*(task.mutant for task in tasks), sep="\n\n")
        return 0
    for name in PRELOADED:
        importlib.import_module(name)
    print(f"{len(tasks)} mutants, seed {said.seed}", flush=True)
    began = time.monotonic()
    if not are_sound(tasks, said.jobs):
        return 1
    end = began + 60 * said.minutes
    # Few examples catch most; the usual ones some of the others.  What there is no time for is not caught by them.
    passed, late = (tasks, []) if said.replay else run_all(tasks, "mutants", said.jobs, end)
    survivors, undecided = run_all(passed, "usual", said.jobs, end)
    survivors += undecided
    tasks = [task for task in tasks if task not in late]
    if late or undecided:
        print(f"time is over: {len(late)} did not run, {len(undecided)} not with the usual examples")
    caught = 100 * (1 - len(survivors) / max(len(tasks), 1))
    print(*["", *(f"survived: {task.mutant}" for task in survivors)], sep="\n")
    if not said.replay:
        show_rooms(tasks, survivors)
    print(f"{len(tasks)} run in {time.monotonic() - began:.0f} s, {len(survivors)} survived: {caught:.1f} % caught")
    return int(caught < (100 if said.replay else said.reach))


if __name__ == "__main__":
    sys.exit(main())
