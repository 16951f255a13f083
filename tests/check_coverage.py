"""Fails if a room has lost branch coverage, or an uncovered branch of the core has no reason.

    python -m pytest --branches                  # records
    python tests/check_coverage.py               # compares with coverage.toml
    python tests/check_coverage.py --update      # writes the floors of coverage.toml anew
    python tests/check_coverage.py --room wires  # lists what is uncovered there

`coverage.toml` holds, for each room, the per cent of branches that the tests take, and for each branch of the core that
none takes the reason; `owed` are those that still want a test or a reason.  A branch is named by its file, the text of
its line, and the text of the line where it would go (`exit`: out of the function): so it may move within its file.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import coverage

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "streamparse"
EXPECTED = Path(__file__).with_name("coverage.toml")


class Branch(NamedTuple):
    """A way from one line to another: the file below the package, and the text of both lines."""

    file: str
    line: str
    to: str

    def __str__(self) -> str:
        return f"streamparse/{self.file}: {self.line!r} never goes to {self.to!r}"


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


def find_uncovered(files: dict[str, Any]) -> Iterator[Branch]:
    """The branches that no test takes, in the order of the lines."""
    for path, found in sorted(files.items()):
        lines = (PACKAGE / path).read_text(encoding="utf-8").splitlines()
        for start, end in found["missing_branches"]:
            yield Branch(path, lines[start - 1].strip(), lines[end - 1].strip() if end > 0 else "exit")


def find_fallen(rooms: dict[str, Room], floors: dict[str, float]) -> Iterator[str]:
    for name, floor in floors.items():
        if name not in rooms:
            yield f"{name}: no such room; take its floor out of {EXPECTED.name}"
        elif rooms[name].percent < floor:
            yield f"{name}: {rooms[name].percent} % of its branches are taken, not {floor} % any more"
    for name in rooms.keys() - floors.keys():
        yield f"{name}: the room has no floor in {EXPECTED.name}"


def select_core(branches: Iterable[Branch], patterns: list[str]) -> list[Branch]:
    return [branch for branch in branches if any(fnmatch(branch.file, pattern) for pattern in patterns)]


def read_branches(entries: list[dict[str, str]]) -> list[Branch]:
    return [Branch(entry["file"], entry["line"], entry["to"]) for entry in entries]


def find_unexplained(uncovered: list[Branch], expected: dict[str, Any]) -> Iterator[str]:
    """Uncovered branches of the core without a reason, and reasons for lines that are no more."""
    reasons = read_branches(expected["uncovered"]) + read_branches(expected["owed"])
    for branch in uncovered:
        if branch not in reasons:
            yield f"{branch}: write a test that takes it, or the reason into {EXPECTED.name}"
    for branch in reasons:
        file = PACKAGE / branch.file
        lines = {line.strip() for line in file.read_text(encoding="utf-8").splitlines()} if file.exists() else set()
        if not {branch.line, branch.to} <= {*lines, "exit"}:
            yield f"{branch}: there is no such line any more"


def write_floors(rooms: dict[str, Room]) -> None:
    text = EXPECTED.read_text(encoding="utf-8")
    rows = "".join(f"{name} = {room.percent}\n" for name, room in rooms.items())
    EXPECTED.write_text(re.sub(r"(?<=\[floors\]\n)(\w+ = .*\n)*", rows, text), encoding="utf-8")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--update", action="store_true", help="write the floors anew")
    options.add_argument("--room", help="list the uncovered branches of a room")
    chosen = options.parse_args()
    expected = tomllib.loads(EXPECTED.read_text(encoding="utf-8"))
    files = read_report()
    rooms = count_rooms(files)
    uncovered = list(find_uncovered(files))
    if chosen.room:
        print(*(branch for branch in uncovered if Path(branch.file).parts[0] == chosen.room), sep="\n")
        return 0
    if chosen.update:
        write_floors(rooms)
        return 0
    uncovered = select_core(uncovered, expected["core"])
    complaints = [*find_fallen(rooms, expected["floors"]), *find_unexplained(uncovered, expected)]
    print(*(f"{name:15} {room.percent:5} % of {room.branches}" for name, room in rooms.items()), sep="\n")
    owed = len(set(uncovered) & set(read_branches(expected["owed"])))
    print(f"{len(set(uncovered))} branches of the core are uncovered; of {owed} nobody has said why.")
    if complaints:
        print(*complaints, sep="\n", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
