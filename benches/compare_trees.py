"""Whether one tree of the project is slower than another: `python benches/compare_trees.py OLD [NEW] [--rounds 9]`.

`NEW` is this tree unless it is given.  In each round each tree has a new process, which waits for orders, and the two
are measured by turns: the streams of `corpora.py` against the floor of their tree, in CPU time, and then what it costs
to make a parser and to parse a small whole body, against some JSON that is decoded by the standard library.

A row has the medians of the ratios of both trees, and the median of new to old over the rounds; `time` is the same
without a floor: it shows if a floor became slower.  The exit status is 1 if a row's new to old is over 1.05.

    python benches/compare_trees.py ../old                        # all rows: about five minutes
    python benches/compare_trees.py ../old --only '*text*' --rounds 15
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

__all__ = ["Row", "main"]

ROOT = Path(__file__).resolve().parents[1]
ALLOWED = 1.05
"""New to old, at most."""
TOOLS = (0, 8, 32)
PARSERS = 400
"""Parsers that are made in one measurement, each for tools with new names."""
BODIES = 400
"""Small bodies that are parsed in one measurement."""
LEAST_TURNS = 3
SECONDS = 0.2
"""How much of a row is measured in one round, for each tree."""
BODY = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": "I look it up.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "get_weather", "arguments": '{"city": "Paris", "days": 3}'},
                    }
                ],
            },
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {"prompt_tokens": 12, "completion_tokens": 8, "total_tokens": 20},
}


class Row(NamedTuple):
    """Medians over all rounds: the ratios to the floor, and what changed."""

    name: str
    old: float
    new: float
    change: float
    time: float

    @property
    def is_slower(self) -> bool:
        return self.change > ALLOWED

    def __str__(self) -> str:
        verdict = "   slower" if self.is_slower else ""
        return f"{self.name:42} {self.old:9.2f} {self.new:9.2f} {self.change:9.3f} {self.time:9.3f}{verdict}"


# -- in the process of one tree --------------------------------------------------------------------------------------

Runs = tuple[Callable[[], object], Callable[[], object]]
"""The floor, and what is measured against it."""


def _seconds(run: Callable[[], object]) -> float:
    gc.collect()
    start = time.process_time()
    run()
    return time.process_time() - start


def _stream_runs(name: str) -> Runs:
    from corpora import CORPORA
    from floor import floor

    import streamparse as sp

    corpus = CORPORA[name]
    reads = list(corpus.reads())

    def parse() -> None:
        parser = sp.StreamParser(corpus.wire)
        feed = parser.feed
        for read in reads:
            feed(read)
        parser.close()

    return partial(floor(corpus), reads), parse


def _parser_runs(size: int) -> Runs:
    import streamparse as sp

    numbers = iter(range(1_000_000))

    def make_tools() -> list[Any]:
        number = next(numbers)
        properties = {f"city{number}": {"type": "string"}, f"days{number}": {"type": "integer"}}
        schema = {"type": "object", "properties": properties, "required": [f"city{number}"]}
        return [{"name": f"tool{number}_{each}", "description": "", "parameters": schema} for each in range(size)]

    def make_parsers() -> None:
        for _ in range(PARSERS):
            sp.StreamParser("openai-chat", tools=make_tools())

    return _decode_bodies, make_parsers


def _body_runs() -> Runs:
    import streamparse as sp

    text = json.dumps(BODY).encode()

    def parse() -> None:
        for _ in range(BODIES):
            sp.parse_response(text, "openai-chat")

    return _decode_bodies, parse


def _decode_bodies() -> None:
    """The floor of what reads no stream: plain work of about the same size."""
    text = json.dumps(BODY)
    for _ in range(20 * BODIES):
        json.loads(text)


def _find_runs() -> dict[str, Callable[[], Runs]]:
    from corpora import CORPORA

    runs: dict[str, Callable[[], Runs]] = {name: partial(_stream_runs, name) for name in CORPORA}
    runs |= {f"a parser with {size} new tools": partial(_parser_runs, size) for size in TOOLS}
    runs["parse_response of a small body"] = _body_runs
    return runs


def obey() -> int:
    """Wait for orders: `{"row": NAME}` makes a row ready, `{}` measures it once; each is answered with one line."""
    known = _find_runs()
    print(json.dumps({"tree": _package(), "rows": list(known)}), flush=True)
    runs: Runs = (lambda: None, lambda: None)
    for line in sys.stdin:
        order = json.loads(line)
        if "row" in order:
            runs = known[order["row"]]()
            answer: Any = {"ready": order["row"]}
        else:
            answer = {"seconds": [_seconds(run) for run in runs]}
        print(json.dumps(answer), flush=True)
    return 0


def _package() -> str:
    import streamparse as sp

    return str(Path(sp.__file__).resolve().parents[1])


# -- in front of both ------------------------------------------------------------------------------------------------


class Tree:
    """A process of one tree; used as a context manager."""

    def __init__(self, tree: Path) -> None:
        path = os.pathsep.join(str(folder) for folder in (tree, tree / "benches"))
        self._process = subprocess.Popen(
            [sys.executable, "-P", __file__, str(tree), "--obey"],  # -P: the benches of that tree, not of this one
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "0"},
        )  # fmt: skip
        hello = self._answer()
        if hello["tree"] != str(tree):
            raise SystemExit(f"the package is that of {hello['tree']}, and not of {tree}")
        self.rows: list[str] = hello["rows"]

    def __enter__(self) -> Tree:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def prepare(self, row: str) -> None:
        self._order({"row": row})

    def measure(self) -> tuple[float, float]:
        """CPU seconds of the floor and of what stands on it."""
        floor, spent = self._order({})["seconds"]
        return floor, spent

    def _order(self, order: dict[str, str]) -> Any:
        assert self._process.stdin is not None
        print(json.dumps(order), file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("the process of a tree has ended")
        return json.loads(line)


Seconds = tuple[float, float]
"""The floor, and what stands on it: the least of several turns, for a busy machine only adds to it."""


def measure_row(name: str, old: Tree, new: Tree) -> tuple[Seconds, Seconds]:
    """Measure both trees by turns, until each has had its time; the first turn does not count."""
    for tree in (old, new):
        tree.prepare(name)
    turns: dict[Tree, list[Seconds]] = {old: [], new: []}
    while len(turns[new]) <= LEAST_TURNS or sum(map(sum, turns[new])) < SECONDS:
        for tree in (old, new) if len(turns[new]) % 2 else (new, old):
            turns[tree].append(tree.measure())
    return _least(turns[old][1:]), _least(turns[new][1:])


def _least(turns: list[Seconds]) -> Seconds:
    floors, spent = zip(*turns, strict=True)
    return min(floors), min(spent)


def measure_round(old: Path, new: Path, only: list[str]) -> dict[str, tuple[Seconds, Seconds]]:
    """Measure all rows once, with new processes: where one lies in memory makes a difference of some percent."""
    with Tree(old) as before, Tree(new) as after:
        names = [name for name in after.rows if name in before.rows]
        return {
            name: measure_row(name, before, after)
            for name in names
            if not only or any(fnmatch(name, pattern) for pattern in only)
        }


def sum_up(name: str, rounds: list[tuple[Seconds, Seconds]]) -> Row:
    ratios = [(old[1] / old[0], new[1] / new[0]) for old, new in rounds]
    return Row(
        name,
        median(old for old, _ in ratios),
        median(new for _, new in ratios),
        median(new / old for old, new in ratios),
        median(new[1] / old[1] for old, new in rounds),
    )


def read_arguments() -> argparse.Namespace:
    arguments = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    arguments.add_argument("old", type=Path)
    arguments.add_argument("new", type=Path, nargs="?", default=ROOT)
    arguments.add_argument("--rounds", type=int, default=9)
    arguments.add_argument("--only", action="append", default=[], help="a pattern of names of rows; may come again")
    arguments.add_argument("--obey", action="store_true", help=argparse.SUPPRESS)
    return arguments.parse_args()


def main() -> int:
    given = read_arguments()
    if given.obey:
        return obey()
    rounds = []
    for number in range(given.rounds):
        rounds.append(measure_round(given.old.resolve(), given.new.resolve(), given.only))
        print(f"round {number + 1} of {given.rounds}", file=sys.stderr, flush=True)
    print(
        f"{'times the floor':42} {'old':>9} {'new':>9} {'new/old':>9} {'time':>9}   ({given.rounds} rounds; CPU time)"
    )
    rows = [sum_up(name, [found[name] for found in rounds]) for name in rounds[0]]
    print(*rows, sep="\n")
    slower = sum(row.is_slower for row in rows)
    print(f"{slower} of {len(rows)} rows are more than {ALLOWED - 1:.0%} slower")
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
