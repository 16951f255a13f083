"""The tree of the last release, where it can be had: `RELEASE=PATH` names it, or `RELEASE=COMMIT` checks one out.

What it costs to make a parser is stated in text deltas of that release, so that a faster delta does not look like a
dearer constructor.  Without it the unit is a text delta of this tree.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from statistics import median

from corpora import CORPORA
from measuring import time_run
from rooms import parse
from tree_process import Tree, measure_row

__all__ = ["RELEASE", "TEXT", "compare_with_release", "find_release", "is_release_known", "time_text_delta"]

ROOT = Path(__file__).parents[1]
RELEASE = os.environ.get("RELEASE", "")
TEXT = "openai-chat, text"
"""The stream whose deltas are the unit."""
TURNS = 7
PAIRS = 3


def is_release_known() -> bool:
    """Whether there is a tree to compare with."""
    return bool(RELEASE)


@contextmanager
def find_release() -> Iterator[Path]:
    """Give the release's tree; one that is checked out for this is removed afterwards."""
    if Path(RELEASE).is_dir():
        yield Path(RELEASE).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder).resolve() / "release"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", str(tree), RELEASE], check=True, capture_output=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True, capture_output=True)


@cache
def _open_pairs() -> list[tuple[Tree, Tree]]:
    """Processes of the release and of this tree, which live until the end: where one lies in memory matters."""
    stack = ExitStack()
    atexit.register(stack.close)
    release = stack.enter_context(find_release())
    return [(stack.enter_context(Tree(release)), stack.enter_context(Tree(ROOT))) for _ in range(PAIRS)]


def compare_with_release(name: str) -> float | None:
    """Return what a stream of the corpora costs at one frame a read, over what it cost in the release.

    Each counts over the floor of its own process.  None if the release did not have the stream.
    """
    changes = []
    for old, new in _open_pairs():
        if name not in old.rows:
            return None
        (old_floor, before), (new_floor, after) = measure_row(name, old, new)
        changes.append((after / new_floor) / (before / old_floor))
    return median(changes)


def time_text_delta() -> float:
    """Return the CPU seconds of one text delta, of the release where it is known."""
    corpus = CORPORA[TEXT]
    reads = list(corpus.reads())
    if not is_release_known():
        return median(time_run(lambda: parse(corpus.wire, reads)) for _ in range(TURNS)) / len(reads)
    with find_release() as path, Tree(path) as tree:
        tree.prepare(TEXT)
        return median(tree.measure()[1] for _ in range(TURNS)) / len(reads)
