"""A run of three turns in a process of its own, which may be killed before or after any append of its journal.

    python journaled.py FOLDER BACKEND KILL_AT WHEN

`KILL_AT` counts the appends of this process from 0, -1 kills none; `WHEN` is "before", "after", or "torn".
What its tools do is counted in files of the folder.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import anyio
import msgspec
from scripted import Scripted, calls, says

import streamparse as sp
from streamparse.runtime.journal_file import JournalFile

ANSWERS = [
    calls(("look", {"place": "north"}), ("send", {"to": "a"}), ("save", {"file": "x"})),
    calls(("send", {"to": "b"}), ("save", {"file": "y"}), before="Now the second."),
    says("All done."),
]


class Killed(JournalFile):
    """A file that ends the process at one of its appends."""

    def __init__(self, path: Path, kill_at: int, when: str) -> None:
        super().__init__(path)
        self.count, self.kill_at, self.when = 0, kill_at, when

    def append(self, line: bytes, *, durable: bool) -> None:
        is_last = self.count == self.kill_at
        self.count += 1
        if is_last and self.when == "before":
            kill()
        if is_last and self.when == "torn":
            super().append(line[: len(line) // 2], durable=True)
            with self.path.open("r+b") as file:  # without the end of the line
                file.truncate(self.path.stat().st_size - 1)
            kill()
        super().append(line, durable=durable)
        if is_last:
            kill()


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def count_effect(folder: Path, line: str) -> None:
    """Note in a file what a tool does, so that a kill right behind it cannot undo the note."""
    with (folder / "effects").open("a") as effects:
        effects.write(line + "\n")
        effects.flush()
        os.fsync(effects.fileno())


def make_tools(folder: Path) -> list[Any]:
    @sp.tool(effect="read")
    async def look(place: str) -> str:
        return f"a door in the {place}"

    @sp.tool
    async def send(to: str, ctx: sp.ToolContext) -> str:
        count_effect(folder, f"send {to} {ctx.idempotency_key}")
        return f"sent to {to}"

    @sp.tool(effect="idempotent")
    async def save(file: str, ctx: sp.ToolContext) -> str:
        count_effect(folder, f"save {file} {ctx.idempotency_key}")
        return f"saved {file}"

    return [look, send, save]


def make_model() -> Scripted:
    """A model that answers by how many rounds it is shown; so it goes on in whatever process."""

    class ByRounds(Scripted):
        async def __call__(self, request: sp.Request) -> Any:
            self.answers = [ANSWERS[min(len(request.history.rounds), 2)]]
            return await super().__call__(request)

    return ByRounds()


async def run_once(folder: Path, journal: Any) -> sp.RunResult[str]:
    agent = sp.Agent(make_model(), make_tools(folder), system="Be careful.")
    return await agent.run("Do it.", journal=journal)


def run_to_end(folder: Path, backend: str, kill_at: int, when: str) -> None:
    file = Killed(folder / "run.jsonl", kill_at, when)
    result = anyio.run(run_once, folder, file, backend=backend)
    (folder / "result").write_bytes(msgspec.json.encode((file.count, result)))


if __name__ == "__main__":
    run_to_end(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4])
