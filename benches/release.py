"""The tree of the last release, where it can be had: `RELEASE=PATH` names it, or `RELEASE=COMMIT` checks one out.

What it costs to make a parser is stated in text deltas of that release, so that a faster delta does not look like a
dearer constructor.  Without it the unit is a text delta of this tree.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from compare_trees import Tree
from corpora import CORPORA
from measuring import time_run
from rooms import parse

__all__ = ["RELEASE", "TEXT", "find_release", "is_release_known", "time_text_delta"]

ROOT = Path(__file__).parents[1]
RELEASE = os.environ.get("RELEASE", "")
TEXT = "openai-chat, text"
"""The stream whose deltas are the unit."""
TURNS = 7


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


def time_text_delta() -> float:
    """Return the CPU seconds of one text delta, of the release where it is known."""
    corpus = CORPORA[TEXT]
    reads = list(corpus.reads())
    if not is_release_known():
        return median(time_run(lambda: parse(corpus.wire, reads)) for _ in range(TURNS)) / len(reads)
    with find_release() as path, Tree(path) as tree:
        tree.prepare(TEXT)
        return median(tree.measure()[1] for _ in range(TURNS)) / len(reads)
