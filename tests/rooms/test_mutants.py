"""The script that changes a module and runs its tests does so; `make mutants` and `make nightly` run all of it."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import mutants
import pytest

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
SCHEDULE = ["--module", "streamparse/runtime/schedule.py", "--tests", "tests/runtime/test_turn_details.py"]
ROOMS: list[dict[str, Any]] = tomllib.loads((TESTS / "mutants.toml").read_text())["room"]
REPLAYED: list[dict[str, str]] = tomllib.loads((TESTS / "replayed_mutants.toml").read_text())["mutant"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "tests/mutants.py", "--jobs", "1", *arguments],
        capture_output=True, text=True, timeout=120, check=False, cwd=ROOT,
    )  # fmt: skip


def test_a_mutant_that_the_tests_notice_is_caught() -> None:
    ran = run(*SCHEDULE, "--draw", "3", "--seed", "4", "--reach", "100")
    assert "3 run in" in ran.stdout, ran.stdout + ran.stderr
    assert "0 survived: 100.0 % caught" in ran.stdout
    assert ran.stdout.count("caught: streamparse/runtime/schedule.py:") == 3
    assert ran.returncode == 0


def test_a_mutant_that_no_test_notices_is_shown() -> None:
    tests = "tests/runtime/test_buffer.py"  # of something else
    ran = run("--module", "streamparse/runtime/schedule.py", "--tests", tests, "--draw", "1", "--seed", "2")
    assert "survived: streamparse/runtime/schedule.py:" in ran.stdout, ran.stdout + ran.stderr
    assert "1 survived: 0.0 % caught" in ran.stdout
    assert ran.returncode == 1


def test_what_there_is_no_time_for_is_said_and_not_counted() -> None:
    ran = run(*SCHEDULE, "--draw", "3", "--minutes", "0")
    assert "time is over: 3 did not run, 0 not with the usual examples" in ran.stdout, ran.stdout + ran.stderr
    assert "0 run in" in ran.stdout


def test_a_replayed_mutant_is_caught() -> None:
    ran = run("--replay", "--only", "the byte order mark is not counted")
    assert "1 run in" in ran.stdout, ran.stdout + ran.stderr
    assert "0 survived: 100.0 % caught" in ran.stdout
    assert ran.returncode == 0


@pytest.mark.parametrize("mutant", REPLAYED, ids=lambda mutant: mutant["bug"])
def test_a_replayed_mutant_stands_once_where_its_row_says_and_its_tests_exist(mutant: dict[str, str]) -> None:
    if "gone" in mutant:
        return
    source = (ROOT / mutant["file"]).read_text()
    assert source.count(mutant["old"]) == 1
    compile(source.replace(mutant["old"], mutant["new"]), mutant["file"], "exec")
    file, _, name = mutant["tests"].partition("::")
    assert f"def {name}" in (ROOT / file).read_text()


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room["name"])
def test_a_room_has_modules_and_tests(room: dict[str, Any]) -> None:
    files = [file.relative_to(ROOT).as_posix() for file in ROOT.glob("streamparse/**/*.py")]
    assert [path for path in room["paths"] if not any(file.startswith(path) for file in files)] == []
    assert [path for path in room["tests"] if not (ROOT / path).exists()] == []


def test_what_is_known_to_be_equivalent_is_a_mutant() -> None:
    known = mutants.read_equivalents()
    found = {mutant.key for module in {key[0] for key in known} for mutant in mutants.find_mutants(module)}
    assert known - found == set()


@pytest.mark.parametrize(
    ("annotation", "refused"),
    [
        ("bool", True), ("list[str | None]", True), ("ToolCall", True), ("str | bytes", True), ("Step[int]", True),
        ("bool | None", False), ("None | bool", False), ("Step[str | None]", False), ("Any", False), ("object", False),
        ("T", False), ("Optional[str]", False), ("Sink", False),
    ],
)  # fmt: skip
def test_a_function_returns_none_only_where_the_type_checker_may_let_it(annotation: str, refused: bool) -> None:
    tree = ast.parse(f"def read(text) -> {annotation}:\n    return text")
    found = mutants.find_in(tree, mutants.Place("a.py", "the module", tree, tree, None))
    assert [mutant.new for mutant in found] == ([] if refused else ["return None"])


def test_of_the_mutants_those_that_are_shown_with_some_words_may_be_run_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["mutants.py", *SCHEDULE, "--only", "in _has_clash"])
    chosen = [task.mutant for task in mutants.choose(mutants.read_arguments())]
    found = mutants.find_mutants("streamparse/runtime/schedule.py")
    of_function = [mutant for mutant in found if mutant.function == "_has_clash"]
    assert {mutant.key for mutant in chosen if isinstance(mutant, mutants.Mutant)} == {each.key for each in of_function}
    assert len(chosen) == len(of_function) > 0


def test_each_room_is_drawn_from_by_its_share_of_the_code() -> None:
    rooms = [
        mutants.Room("a", ["streamparse/json/scan.py"], []),
        mutants.Room("b", ["streamparse/assembler/call.py"], []),
    ]
    found = mutants.find_all(rooms)
    lines = [mutants.count_code_lines(room) for room in rooms]
    drawn = mutants.draw(rooms, found, 20, seed=1)
    assert len(drawn) == 20
    assert abs(sum(task.room == "a" for task in drawn) - 20 * lines[0] / sum(lines)) <= 0.5
    assert drawn == mutants.draw(rooms, found, 20, seed=1) != mutants.draw(rooms, found, 20, seed=2)
