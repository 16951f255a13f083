"""What a table of many recorded bodies costs, over splitting their lines and loading each line's JSON.

What is measured is whole: the files are read, the bodies parsed, the rows made and written.  The yardstick is
`splitlines` and `json.loads` of the same bytes, which are in memory already.  CPU time; both by turns in one process;
the median of the ratios.
"""

from __future__ import annotations

import gc
import json
import os
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from statistics import median

import pytest

import streamparse as sp
from streamparse.bulk import parse_many

ROOT = Path(__file__).parents[1]
COLLECTION = ROOT.parent / "shared" / "streams" / "files"
"""Recorded streams of many servers, if they lie beside the project."""
BODIES = {
    "a collection of recorded streams": sorted(path for path in COLLECTION.rglob("*") if path.is_file()),
    "the recordings of the fixtures": sorted((ROOT / "fixtures" / "recorded").glob("*.body")),
}
WITH_ROWS = 1.7
NAMED = 1.2
"""Over the yardstick: a whole run, and of the collection the parser alone with its wire named."""
AUTO = 1.15
TWO_PROCESSES = 1.8
ROUNDS = 9
_NUMBERS = count()
"""Of the tables: each run writes a new one."""


@pytest.fixture(params=BODIES)
def paths(request: pytest.FixtureRequest) -> list[Path]:
    """The files of one set of bodies."""
    if not BODIES[request.param]:
        pytest.skip("there is no collection of recorded streams")
    return BODIES[request.param]


def _load(bodies: list[bytes]) -> None:
    """Load each line that holds JSON, after its `data:` if it has one."""
    for body in bodies:
        for line in body.splitlines():
            if line.startswith(b"data:"):
                line = line[5:].lstrip()  # noqa: PLW2901
            if line.startswith((b"{", b"[")):
                try:
                    json.loads(line)
                except ValueError:
                    pass


def _feed(bodies: list[tuple[str, bytes]]) -> None:
    for wire, body in bodies:
        parser = sp.StreamParser(wire)
        parser.feed(body)
        parser.close()


def _find_wire(body: bytes) -> str:
    parser = sp.StreamParser()
    parser.feed(body)
    return parser.wire or "auto"


def _parse(paths: list[Path], folder: Path, wire: str = "auto") -> None:
    parse_many(paths, folder / f"{next(_NUMBERS)}.jsonl", wire=wire)


def _find_ratio(base: Callable[[], object], run: Callable[[], object]) -> float:
    """How many times as much a run costs as the base."""
    gc.collect()
    gc.freeze()  # what pytest and others hold is not ours to walk
    try:
        pairs = [(_seconds(base), _seconds(run)) for _ in range(ROUNDS + 1)][1:]
    finally:
        gc.unfreeze()
    return median(ours / theirs for theirs, ours in pairs)


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def test_a_run_costs_little_more_than_to_load_the_json_of_each_line(
    paths: list[Path], tmp_path: Path, request: pytest.FixtureRequest, tell: Callable[[str], None]
) -> None:
    bodies = [path.read_bytes() for path in paths]
    ratio = _find_ratio(lambda: _load(bodies), lambda: _parse(paths, tmp_path))
    named = [(_find_wire(body), body) for body in bodies]
    parser = _find_ratio(lambda: _load(bodies), lambda: _feed(named))
    size = sum(map(len, bodies)) / 1e6
    name = request.node.callspec.params["paths"]
    tell(
        f"bulk, {name}, {len(bodies)} bodies, {size:.1f} MB: {ratio:.2f} x splitlines and json.loads;"
        f" of it the parser, its wire named, {parser:.2f}"
    )
    assert ratio <= WITH_ROWS
    assert parser <= NAMED or "fixtures" in name  # those are so short that most of it is what a parser costs once


def test_to_detect_the_wire_costs_little(paths: list[Path], tmp_path: Path, tell: Callable[[str], None]) -> None:
    groups: dict[str, list[Path]] = {}
    for path in paths:
        parser = sp.StreamParser()
        parser.feed(path.read_bytes())
        if parser.wire is not None:
            groups.setdefault(parser.wire, []).append(path)
    ratio = _find_ratio(
        lambda: [_parse(group, tmp_path, wire) for wire, group in groups.items()],
        lambda: [_parse(group, tmp_path) for group in groups.values()],
    )
    tell(f"bulk, {len(paths)} bodies: auto {ratio:.2f} x a named wire")
    assert ratio <= AUTO


def _measure_processes(table: Path, jobs: int) -> float:
    """Seconds of CPU of a run, of all its processes."""
    before = os.times()
    with tempfile.TemporaryDirectory() as folder:
        parse_many([table], Path(folder, "out.jsonl"), jobs=jobs, column="body")
    return sum(os.times()[:4]) - sum(before[:4])


def test_two_processes_are_nearly_twice_as_fast(tmp_path: Path, tell: Callable[[str], None]) -> None:
    """Whatever else the machine does: two cores are busy for half of the CPU time that two processes take.

    The start of a process is left out, for it is the same for a million bodies: it is in a small run as in a large one.
    """
    texts = [path.read_bytes().decode("utf-8", "replace") for path in max(BODIES.values(), key=len)]
    lines = "".join(json.dumps({"body": text}, ensure_ascii=False) + "\n" for text in texts)
    times = max(1, round(8e6 / len(lines.encode())))
    small, large = tmp_path / "small.jsonl", tmp_path / "large.jsonl"
    small.write_text(lines * times * 2, encoding="utf-8")  # so much that both processes have all in use
    large.write_text(lines * times * 6, encoding="utf-8")
    runs = [(table, jobs) for jobs in (1, 2) for table in (small, large)]
    rounds = [[_measure_processes(*run) for run in runs] for _ in range(4)]
    small_one, large_one, small_two, large_two = map(min, zip(*rounds, strict=True))  # other work only adds to it
    speedup = 2 * (large_one - small_one) / (large_two - small_two)
    tell(f"bulk, two processes: {speedup:.2f} times as fast as one")
    assert speedup >= TWO_PROCESSES
