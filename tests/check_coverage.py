"""Fails if a room has lost branch coverage, or an uncovered branch of the core has no reason.

    python -m pytest --branches                  # records
    python tests/check_coverage.py               # compares with coverage.toml
    python tests/check_coverage.py --update      # writes coverage.toml anew
    python tests/check_coverage.py --room wires  # lists what is uncovered there

`coverage.toml` holds, for each room, the per cent of branches that the tests take, and for each branch of the core that
none takes the reason; `owed` are those that still want a test or a reason.  The core are the modules that
`mutants.toml` draws from.  A branch is named by its function, the text of its line, and the text of the line where it
would go (`exit`: out of the function): so its function may move to any module.  `--update` finds a branch whose
function has another name now by its lines, forgets those that a test takes, and adds new ones to `owed`.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import coverage
from mutants import read_rooms

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "streamparse"
EXPECTED = Path(__file__).with_name("coverage.toml")
HEAD = """\
# What `make coverage` holds the branches of the package to; tests/check_coverage.py says how to read and to write it.

# Per cent of the branches of each room that the traced tests take.

[floors]
"""
REASONED = "# What no traced test takes, and why.\n\n"
OWED = "# What still wants a test or a reason.\n\n"


class Branch(NamedTuple):
    """A way from one line to another: the function, and the text of both lines."""

    function: str
    line: str
    to: str

    def __str__(self) -> str:
        return f"{self.function}: {self.line!r} never goes to {self.to!r}"


class Room(NamedTuple):
    """How many branches a room has, and how many are taken."""

    branches: int
    taken: int

    @property
    def percent(self) -> float:
        """Rounded down to a tenth."""
        return math.floor(1000 * self.taken / self.branches) / 10 if self.branches else 100.0


def read_report() -> dict[str, Any]:
    """The files of coverage's report, by their path below the package."""
    recorded = coverage.Coverage(config_file=str(ROOT / "pyproject.toml"))
    recorded.combine(keep=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        recorded.json_report(outfile=str(report))
        files = json.loads(report.read_text(encoding="utf-8"))["files"]
    return {str((ROOT / path).relative_to(PACKAGE)): found for path, found in files.items()}


def count_rooms(files: dict[str, Any]) -> dict[str, Room]:
    """The rooms in the order of their names; a module beside the rooms is one."""
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, found in files.items():
        count = counts[Path(path).parts[0].removesuffix(".py")]
        count[0] += found["summary"]["num_branches"]
        count[1] += found["summary"]["covered_branches"]
    return {name: Room(*counts[name]) for name in sorted(counts) if counts[name][0]}


def name_lines(source: str) -> dict[int, str]:
    """The function in which each line stands, by its number; lines of a module's own are not there."""
    names: dict[int, str] = {}

    def walk(node: ast.AST, within: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{within}.{child.name}".removeprefix(".")
                names.update(dict.fromkeys(range(child.lineno, (child.end_lineno or child.lineno) + 1), name))
                walk(child, name)
            else:
                walk(child, within)

    walk(ast.parse(source), "")
    return names


def find_uncovered(files: dict[str, Any]) -> dict[Branch, str]:
    """The branches that no test takes, in the order of the lines, each with its file."""
    found = {}
    for path, report in sorted(files.items()):
        source = (PACKAGE / path).read_text(encoding="utf-8")
        lines, names = source.splitlines(), name_lines(source)
        for start, end in report["missing_branches"]:
            to = lines[end - 1].strip() if end > 0 else "exit"
            found[Branch(names.get(start, "the module"), lines[start - 1].strip(), to)] = path
    return found


def select_core(uncovered: dict[Branch, str]) -> list[Branch]:
    modules = {module for room in read_rooms() for module in room.modules}
    return [branch for branch, path in uncovered.items() if f"streamparse/{path}" in modules]


def find_fallen(rooms: dict[str, Room], floors: dict[str, float]) -> Iterator[str]:
    for name, floor in floors.items():
        if name not in rooms:
            yield f"{name}: no such room; take its floor out of {EXPECTED.name}"
        elif rooms[name].percent < floor:
            yield f"{name}: {rooms[name].percent} % of its branches are taken, not {floor} % any more"
    for name in rooms.keys() - floors.keys():
        yield f"{name}: the room has no floor in {EXPECTED.name}"


def read_reasons(expected: dict[str, Any]) -> dict[Branch, str]:
    """The branches with their reasons; the reason of what is owed is empty."""
    rows = [*expected.get("uncovered", []), *expected.get("owed", [])]
    return {Branch(row["function"], row["line"], row["to"]): row.get("reason", "") for row in rows}


def renew_reasons(reasons: dict[Branch, str], uncovered: list[Branch]) -> dict[Branch, str]:
    """The reasons of what is uncovered now: a branch without one has that of another function's equal lines."""
    lost = {branch: reason for branch, reason in reasons.items() if branch not in uncovered}
    by_lines = {branch[1:]: reason for branch, reason in lost.items()}
    return {branch: reasons.get(branch, by_lines.get(branch[1:], "")) for branch in uncovered}


def write_expected(rooms: dict[str, Room], reasons: dict[Branch, str]) -> None:
    parts = [HEAD, *(f"{name} = {room.percent}\n" for name, room in rooms.items())]
    for head, table, is_owed in (REASONED, "uncovered", False), (OWED, "owed", True):
        rows = [(branch, reason) for branch, reason in reasons.items() if (not reason) == is_owed]
        parts += ["\n", head] if rows else []
        parts.append("\n".join(write_row(table, branch, reason) for branch, reason in rows))
    EXPECTED.write_text("".join(parts), encoding="utf-8")


def write_row(table: str, branch: Branch, reason: str) -> str:
    fields = branch._asdict() | ({"reason": reason} if reason else {})
    lines = (f"{name} = {json.dumps(value, ensure_ascii=False)}\n" for name, value in fields.items())
    return f"[[{table}]]\n{''.join(lines)}"


def show_changes(before: Iterable[Branch], after: Iterable[Branch]) -> None:
    before, after = {*before}, {*after}
    print(*(f"gone: {branch}" for branch in sorted(before - after)), sep="\n")
    print(*(f"new: {branch}" for branch in sorted(after - before)), sep="\n")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--update", action="store_true", help="write coverage.toml anew")
    options.add_argument("--room", help="list the uncovered branches of a room")
    chosen = options.parse_args()
    expected = tomllib.loads(EXPECTED.read_text(encoding="utf-8"))
    files = read_report()
    rooms = count_rooms(files)
    uncovered = find_uncovered(files)
    if chosen.room:
        print(*(f"{path}: {branch}" for branch, path in uncovered.items() if path.startswith(chosen.room)), sep="\n")
        return 0
    core, reasons = select_core(uncovered), read_reasons(expected)
    complaints = [*find_fallen(rooms, expected["floors"])]
    if chosen.update:
        print(*complaints, sep="\n")
        show_changes(reasons, core)
        write_expected(rooms, renew_reasons(reasons, core))
        return 0
    complaints += [f"{branch}: write a test that takes it, or a reason" for branch in core if branch not in reasons]
    print(*(f"{name:15} {room.percent:5} % of {room.branches}" for name, room in rooms.items()), sep="\n")
    owed = sum(not reasons.get(branch) for branch in core)
    print(f"{len(core)} branches of the core are uncovered; {owed} of them still want a test or a reason.")
    if complaints:
        print(*complaints, sep="\n", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
