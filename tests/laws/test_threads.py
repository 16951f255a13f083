"""Parsers of several threads do not touch one another, whatever they share: a `Toolset`, tables, caches."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from subjects import SUBJECTS, fixtures_of

import streamparse as sp

THREADS = 4
PIECES = 5
"""In which an input is fed, so that the threads change in the middle of answers."""


def parse_everything() -> Iterator[tuple[str, list[sp.Event]]]:
    """Yield the events of the first input of each wire and of each row."""
    for subject in SUBJECTS:
        (name,) = subject.values
        each = next(iter(fixtures_of(str(name)).values()))
        size = len(each.data) // PIECES + 1
        parser = each.parser()
        events = [
            event for start in range(0, len(each.data), size) for event in parser.feed(each.data[start : start + size])
        ]
        yield f"{name}: {each.name}", [*events, *parser.close()]


def parse_in_threads() -> list[dict[str, list[sp.Event]]]:
    """Parse everything in each of several threads, which begin together and change places all the time."""
    barrier = threading.Barrier(THREADS)
    found: list[dict[str, list[sp.Event]]] = []

    def run() -> None:
        barrier.wait()
        found.append(dict(parse_everything()))

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    return found


def main() -> None:
    """Parse in threads first, while nothing is made yet, then alone; fail unless all agree."""
    found = parse_in_threads()
    alone = dict(parse_everything())
    differing = [name for name in alone if any(each.get(name) != alone[name] for each in found)]
    if len(found) < THREADS or differing:
        sys.exit(f"{len(found)} of {THREADS} threads came to the end; other events than alone: {differing}")


def test_threads_that_begin_together_in_a_new_process_get_the_events_that_one_alone_gets() -> None:
    here = Path(__file__).parent
    ran = subprocess.run(
        [sys.executable, "-c", "import test_threads; test_threads.main()"],
        cwd=here,
        env={"PYTHONPATH": f"{here}:{here.parent}:{here.parents[1]}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(not hasattr(sys, "_is_gil_enabled"), reason="this Python cannot say whether it has the lock")
@pytest.mark.skipif(getattr(sys, "_is_gil_enabled", lambda: True)(), reason="this Python runs one thread at a time")
def test_nothing_that_is_imported_gives_a_free_threaded_python_its_lock_back() -> None:
    code = "import sys, streamparse; sys.exit(sys._is_gil_enabled())"
    assert subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False).returncode == 0
