"""One tree of the project in a process of its own, which waits for orders and measures: `Tree` is its front.

`python benches/tree_process.py TREE` is the process; the package and the benches on its path are those of the tree.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

__all__ = ["ALLOWED", "Seconds", "Tree", "measure_row"]

ALLOWED = 1.05
"""New to old, at most; the rest is noise."""

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
            [sys.executable, "-P", __file__, str(tree)],  # -P: the benches of that tree, not of this one
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


if __name__ == "__main__":
    sys.exit(obey())
