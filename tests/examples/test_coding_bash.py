"""The shell of the coding agent: it leaves no process behind, holds no flood, and shows nobody's keys."""

from __future__ import annotations

import os
import signal
import tracemalloc
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from coding_agent import TOOLS
from coding_calls import call, call_all, events_of, fail
from scratch_folder import MAX_OUTPUT, Folder, run_command

import streamparse as sp

pytestmark = pytest.mark.anyio

FAMILY = """
sleep 1000 & echo $! >> pids
(sleep 1000 & echo $! >> pids; bash -c 'sleep 1000 & echo $! >> pids; echo $$ >> pids; wait') &
trap '' TERM INT HUP
while [ "$(wc -l < pids)" -lt 4 ]; do sleep 0.01; done
echo $$ >> pids; echo all of them run; touch ready
"""
"""A command that has started four processes, in two generations, and that listens to no polite signal."""


def _is_running(pid: int) -> bool:
    """Whether a process still runs; one that nobody has waited for does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


async def _expect_no_process(folder: Folder) -> None:
    pids = [int(line) for line in (folder.root / "pids").read_text().split()]
    assert len(pids) == 5
    with anyio.fail_after(10):
        while any(map(_is_running, pids)):  # a signal takes its moment
            await anyio.sleep(0.01)


async def test_a_command_gives_its_output_and_its_exit_code(folder: Folder) -> None:
    result = await call(folder, "bash", command="echo out; echo naïve >&2; exit 3")
    assert (result["stdout"], result["stderr"], result["exit_code"]) == ("out\n", "naïve\n", 3)
    (told,) = await call_all(folder, ("bash", {"command": "head -c 100000 /dev/zero; echo err >&2; exit 3"}))
    assert told.exit_code == 3
    assert told.metadata["stdout_truncated"]
    assert not told.metadata["stderr_truncated"]
    assert told.metadata["total_output_bytes"] == 100_004


async def test_a_command_runs_where_and_with_what_it_is_told(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a secret key")
    (folder.root / "inner").mkdir()
    result = await call(folder, "bash", command="pwd; env; cat", working_directory="inner", env={"COLOUR": "blue"})
    assert result["stdout"].startswith(f"{folder.root}/inner\n")
    assert "COLOUR=blue\n" in result["stdout"]
    assert "a secret key" not in result["stdout"]


async def test_without_approval_no_command_runs(folder: Folder) -> None:
    (result,) = await call_all(folder, ("bash", {"command": "touch ran"}), approve=False)
    assert result.failure is not None
    assert result.failure.code == "denied"
    assert os.listdir(folder.root) == []


@pytest.mark.parametrize("env", [{"A": "x\0y"}, {"A=B": "x"}, {"": "x"}])
async def test_an_environment_that_cannot_be_is_an_error_of_the_call(folder: Folder, env: dict[str, str]) -> None:
    (result,) = await call_all(folder, ("bash", {"command": "touch ran", "env": env}))
    assert result.failure is None or result.failure.kind == "validation"


async def test_what_runs_in_the_background_ends_with_the_command(folder: Folder) -> None:
    result = await call(folder, "bash", command=FAMILY, timeout_seconds=300)
    assert result["stdout"] == "all of them run\n"
    await _expect_no_process(folder)


async def test_a_command_that_takes_too_long_is_killed_with_all_that_it_started(folder: Folder) -> None:
    result = await fail(folder, "bash", command=FAMILY + "while true; do sleep 1; done", timeout_seconds=2)
    assert result.failure is not None
    assert result.failure.kind == "timeout"
    assert result.failure.details["limit_seconds"] == 2
    assert result.failure.details["partial_output"]["stdout"] == "all of them run\n"
    assert "all of them run" in (result.error or "")
    assert result.attempts == 1
    await _expect_no_process(folder)


async def test_a_cancelled_command_is_killed_with_all_that_it_started(folder: Folder) -> None:
    command = FAMILY + "while true; do sleep 1; done"
    async with sp.ToolRunner(TOOLS) as runner:
        run = runner.run(events_of(("bash", {"command": command, "timeout_seconds": 300})), deps=folder)
        async for item in run:
            if isinstance(item, sp.ApprovalRequest):
                run.approve(item)
                break
        with anyio.fail_after(60):
            while not (folder.root / "ready").exists():
                await anyio.sleep(0.01)
    await _expect_no_process(folder)


async def test_a_process_with_a_session_of_its_own_does_not_keep_the_command(folder: Folder) -> None:
    result = await call(folder, "bash", command="setsid sleep 1000 & echo $!; sleep 0.2", timeout_seconds=300)
    assert result["exit_code"] == 0
    os.kill(int(result["stdout"]), signal.SIGKILL)


async def test_a_flood_is_kept_at_both_ends_and_held_nowhere(folder: Folder) -> None:
    flood = "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo last"
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        result = await call(folder, "bash", command=f"({flood}); ({flood}) >&2", timeout_seconds=300)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before < 5_000_000
    for text in (result["stdout"], result["stderr"]):
        assert text.startswith("first\nxxx")
        assert text.endswith("xxxlast\n")
        assert f"[… {100_000_011 - MAX_OUTPUT} bytes are left out here …]" in text
        assert len(text) < MAX_OUTPUT + 100
    assert result["total_output_bytes"] == 200_000_022
    assert result["stdout_truncated"] is True
    assert result["stderr_truncated"] is True


async def test_bytes_that_are_no_text_are_shown_as_such(folder: Folder) -> None:
    result = await call(folder, "bash", command=r"printf 'a\xff\x00b'")
    assert result["stdout"] == "a�\0b"


def _find_processes(folder: Folder) -> list[str]:
    """The processes that work in the folder, whoever has started them."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(FileNotFoundError, ProcessLookupError, PermissionError):
                if os.readlink(entry / "cwd") == str(folder.root):
                    found.append(entry.name)
    return found


async def test_a_command_that_is_cancelled_at_any_moment_leaves_no_process(folder: Folder) -> None:
    command = "sleep 1000 & (sleep 1000 & sleep 1000) & echo much; sleep 1000"
    seen = 0
    for count in range(0, 400, 10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(run_command, command, folder.root, {}, 300)
            for _ in range(count):
                await anyio.sleep(0)
            seen = max(seen, len(_find_processes(folder)))
            tasks.cancel_scope.cancel()
        with anyio.fail_after(10):
            while _find_processes(folder):
                await anyio.sleep(0.001)
    assert seen > 0
