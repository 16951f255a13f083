"""Whether two trees of the project read everything alike: `python tests/compare_trees.py OLD [NEW] [--shared PATH]`.

`NEW` is this tree unless it is given.  Both trees read the same inputs: the fixtures of `NEW`, and the collection in
`shared` beside it where that exists (recorded streams, servers' recordings, vectors, other projects' cases).  What is
compared are the events of each feed as they come, unmerged, with every field but the messages of errors, in several
cuts and with several dialects; whole responses; answers written on every wire that can be written, through the proxy's
rewriter, and as messages for every provider; requests, tools, calls and results in the words of every provider.

    python tests/compare_trees.py ../old                        # everything: about four minutes of CPU time
    python tests/compare_trees.py ../old --only 'streams/*'     # the inputs whose names match
    python tests/compare_trees.py ../old --list                 # the names

Differences are listed by input, with the first finding that differs.  Messages of errors that differ are listed at the
end; they are no difference.  The exit status is 1 if anything differs, and 2 if a tree cannot be read.

`trees/inputs.py` makes the inputs and `trees/reader.py` reads them, one process for each tree.  Names that a tree has
in another room are looked up there (`PLACES`).
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Comparison", "compare", "main"]

ROOT = Path(__file__).resolve().parents[1]
TREES = ROOT / "tests" / "trees"
SHOWN = 25
"""Inputs whose first difference is shown; of others only the name."""
AROUND = 160
"""Characters that are shown before and behind the place where two findings part."""


class Comparison(NamedTuple):
    """What came of two trees: how much was compared, the ways of each input that differ, and other messages."""

    inputs: int
    ways: int
    findings: int
    different: dict[str, list[str]]
    messages: Counter[tuple[str, str]]


# -- the processes ---------------------------------------------------------------------------------------------------


class TreeError(Exception):
    """A tree could not be read at all."""


def _start(tree: Path, script: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
    """Start a script with the package of a tree."""
    surroundings = os.environ | {"PYTHONPATH": str(tree), "PYTHONHASHSEED": "0"}
    return subprocess.Popen([sys.executable, TREES / script, *arguments], env=surroundings)


def _wait(*processes: subprocess.Popen[bytes]) -> None:
    ends = [process.wait() for process in processes]
    if any(ends):
        raise TreeError("a tree could not be read")


def make_inputs(new: Path, shared: Path, only: list[str], folder: Path) -> Path:
    """Write the inputs of `new` into the folder."""
    out = folder / "inputs.jsonl"
    script = new / "tests" / "trees" / "inputs.py"  # that tree knows best where its fixtures lie
    patterns = [f"--only={pattern}" for pattern in only]
    _wait(_start(new, str(script if script.is_file() else TREES / "inputs.py"), out, "--shared", shared, *patterns))
    return out


def read_trees(trees: tuple[Path, Path], inputs: Path, folder: Path, keep: Iterable[str] = ()) -> tuple[Path, Path]:
    """Let both trees read the inputs, at the same time."""
    old, new = folder / "old.jsonl", folder / "new.jsonl"
    chosen = ["--keep", *keep] if keep else []
    _wait(*[
        _start(tree, "reader.py", tree, inputs, out, *chosen) for tree, out in zip(trees, (old, new), strict=True)
    ])  # fmt: skip
    return old, new


# -- what is compared ------------------------------------------------------------------------------------------------


def _rows(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def compare(old: Path, new: Path) -> Comparison:
    """Compare what two trees wrote, line by line."""
    names, ways, findings = set(), 0, 0
    different: dict[str, list[str]] = {}
    messages: Counter[tuple[str, str]] = Counter()
    for before, after in _pairs(old, new):
        row = after or before
        names.add(row["name"])
        ways += 1
        findings += row["count"]
        if before is None or after is None or before["digest"] != after["digest"]:
            different.setdefault(row["name"], []).append(row["way"])
        elif before["messages"] != after["messages"]:
            pairs = zip_longest(before["messages"], after["messages"], fillvalue="(none)")
            messages.update(pair for pair in pairs if pair[0] != pair[1])
    return Comparison(len(names), ways, findings, different, messages)


def _pairs(old: Path, new: Path) -> Iterator[tuple[Any, Any]]:
    """The rows of both by input and way; None where a tree has no such way."""
    for before, after in zip(_inputs(old), _inputs(new), strict=True):
        for way in before | after:
            yield before.get(way), after.get(way)


def _inputs(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of one input after another, by way."""
    rows: dict[str, Any] = {}
    for row in _rows(path):
        if rows and next(iter(rows.values()))["name"] != row["name"]:
            yield rows
            rows = {}
        rows[row["way"]] = row
    if rows:
        yield rows


# -- what is shown ---------------------------------------------------------------------------------------------------


def show_differences(comparison: Comparison, old: Path, new: Path) -> None:
    """Print the first finding that differs of each input in `old` and `new`, which hold all findings."""
    for before, after in _pairs(old, new):
        row = after or before
        first, *others = comparison.different[row["name"]]
        if row["way"] == first:
            print(f"\n{row['name']}, {first}")
            _show_first((before or {}).get("findings", []), (after or {}).get("findings", []))
            if others:
                print("  and:", "; ".join(others))


def _show_first(old: list[Any], new: list[Any]) -> None:
    for number, (before, after) in enumerate(zip_longest(old, new, fillvalue=("", "(nothing)"))):
        if before != after:
            print(f"  finding {number} of {len(old)} and {len(new)}")
            start = _find_parting(before[1], after[1])
            for label, (place, text) in (("old", before), ("new", after)):
                print(f"    {label} {place}: {_shorten(text, start)}")
            return
    print("  the findings are the same when they are read again")


def _find_parting(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)


def _shorten(text: str, start: int) -> str:
    """The part of a text around the place where it parts from another."""
    begin, end = max(0, start - AROUND), start + AROUND
    return f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}"


def show_summary(comparison: Comparison, seconds: float) -> None:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    by_source = Counter(name.split("/")[0] for name in comparison.different)
    if hidden := list(comparison.different)[SHOWN:]:
        print("\nand also:", *hidden, sep="\n  ")
    if comparison.messages:
        print("\nmessages of errors that differ:")
        for (before, after), count in comparison.messages.most_common():
            print(f"  {count} times\n    old {before}\n    new {after}")
    print(
        f"\n{comparison.inputs} inputs, {comparison.ways} ways, {comparison.findings} findings:"
        f" {len(comparison.different)} inputs differ {dict(by_source) if by_source else ''}"
        f"\n{seconds:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of CPU time"
    )


def read_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    arguments.add_argument("old", type=Path)
    arguments.add_argument("new", type=Path, nargs="?", default=ROOT)
    arguments.add_argument("--shared", type=Path, help="the collection; beside the new tree unless it is given")
    arguments.add_argument("--only", action="append", default=[], help="a pattern of names of inputs; may come again")
    arguments.add_argument("--list", action="store_true", help="print the names of the inputs")
    return arguments.parse_args()


def run(given: argparse.Namespace, folder: Path) -> int:
    """Compare the trees; all that is long lies in the folder."""
    trees = given.old.resolve(), given.new.resolve()
    inputs = make_inputs(trees[1], given.shared or trees[1].parent / "shared", given.only, folder)
    if given.list:
        print(*(row["name"] for row in _rows(inputs)), sep="\n")
        return 0
    if not inputs.stat().st_size:
        print("no input has such a name")
        return 2
    began = time.monotonic()
    comparison = compare(*read_trees(trees, inputs, folder))
    if comparison.different:
        names = list(comparison.different)[:SHOWN]
        show_differences(comparison, *read_trees(trees, inputs, folder, names))
    show_summary(comparison, time.monotonic() - began)
    return int(bool(comparison.different))


def main() -> int:
    given = read_arguments()
    with tempfile.TemporaryDirectory() as folder:
        try:
            return run(given, Path(folder))
        except TreeError as error:
            print(error, file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main())
