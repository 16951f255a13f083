"""The agent in a DBOS workflow is killed at points all over its run, and comes to the same end each time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("dbos")

if sys.platform == "win32":
    pytest.skip("there is no fork here", allow_module_level=True)

POINTS = 20
CHILD = Path(__file__).with_name("durable_child.py")
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for each point at which a run was killed, and `whole` for one that was not."""
    folder = tmp_path_factory.mktemp("runs")
    path = os.pathsep.join(str(ROOT / name) for name in ("tests/runtime", "examples"))
    command = [sys.executable, CHILD, folder, str(POINTS)]
    subprocess.run(command, check=True, timeout=500, env={**os.environ, "PYTHONPATH": path})
    return folder


def _read_effects(folder: Path) -> list[str]:
    """What the tools did, each with the key of its call."""
    return (folder / "effects").read_text().splitlines()


def _read_end(folder: Path) -> dict[str, Any]:
    end: dict[str, Any] = json.loads((folder / "end").read_text())
    return end


def test_a_run_that_nobody_kills_pays_what_was_approved(runs: Path) -> None:
    done = [line.split()[:2] for line in _read_effects(runs / "whole")]
    assert sorted(done) == [["pay", "a"], ["pay", "c"], ["save", "x"], ["save", "y"]]
    end = _read_end(runs / "whole")
    assert end["output"] == "All paid."
    assert [error for name, _, error in end["results"] if error] == ["the call was not run: it was denied: too much"]
    assert end["appends"] >= POINTS


@pytest.mark.parametrize("point", range(POINTS))
def test_a_run_that_was_killed_comes_to_the_same_end(runs: Path, point: int) -> None:
    """But for calls that had begun, and for those of an answer that was not whole yet: the model is told of both."""
    whole, end = _read_end(runs / "whole"), _read_end(runs / str(point))
    assert end["output"] == whole["output"]
    other = [found for expected, found in zip(whole["results"], end["results"], strict=True) if found != expected]
    unknown = [found for found in other if found[0] == "pay" and "its outcome is unknown" in found[2]]
    cut = [found for found in other if found[2] and found[2].endswith("not run")]
    assert len(unknown) + len(cut) == len(other)
    assert len(unknown) <= 1
    made = sum(name == "pay" and error is None for name, _, error in end["results"])
    payments = sum(line.startswith("pay") for line in _read_effects(runs / str(point)))
    assert made <= payments <= made + len(unknown)


@pytest.mark.parametrize("point", range(POINTS))
def test_nothing_is_paid_twice_and_what_may_be_repeated_has_the_same_key(runs: Path, point: int) -> None:
    effects, whole = _read_effects(runs / str(point)), _read_effects(runs / "whole")
    payments = [line for line in effects if line.startswith("pay")]
    assert len(payments) == len(set(payments))
    assert {line.split()[1] for line in payments} <= {"a", "c"}
    assert len(set(effects)) <= len(whole), "a call was repeated with another key"
    keys = {line.split()[2].rpartition(":")[0].partition(":")[0] for line in effects}
    assert len(keys) == 1, "the run has another id"
