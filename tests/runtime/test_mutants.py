"""The script that changes a module and runs its tests does so; `make mutants` runs all of it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCHEDULE = ["--module", "streamparse/runtime/schedule.py", "--tests", "tests/runtime/test_turn_details.py"]


def run(*arguments):
    return subprocess.run(
        [sys.executable, "tests/mutants.py", "--jobs", "1", *arguments],
        capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
    )  # fmt: skip


def test_a_mutant_that_the_tests_notice_is_caught():
    ran = run(*SCHEDULE, "--draw", "3", "--seed", "4", "--reach", "100")
    assert "3 run in" in ran.stdout, ran.stdout + ran.stderr
    assert "0 survived: 100.0 % caught" in ran.stdout
    assert ran.returncode == 0


def test_a_mutant_that_no_test_notices_is_shown():
    tests = "tests/runtime/test_buffer.py"  # of something else
    ran = run("--module", "streamparse/runtime/schedule.py", "--tests", tests, "--draw", "1", "--seed", "2")
    assert "survived: streamparse/runtime/schedule.py:" in ran.stdout, ran.stdout + ran.stderr
    assert "1 survived: 0.0 % caught" in ran.stdout
    assert ran.returncode == 1
