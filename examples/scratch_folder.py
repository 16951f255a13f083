"""What the tools of `coding_agent` do to one folder: no path leads out of it, no process stays, no text is too long.

What goes wrong is raised as `sp.ToolError`, in words for the model.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import IO, Any

import anyio
import regex
from anyio.abc import ByteReceiveStream, Process

import streamparse as sp

__all__ = [
    "MAX_FILE",
    "MAX_OUTPUT",
    "MAX_SECONDS",
    "Folder",
    "explain",
    "find_lines",
    "join_lines",
    "read_lines",
    "run_command",
]

MAX_OUTPUT = 30_000
"""Characters or bytes of one text that the model gets to see."""
MAX_LINE = 500
"""Characters of one line that is found."""
MAX_FILE = 10_000_000
"""Bytes of a file that is edited or searched."""
MAX_SECONDS = 10.0
"""Seconds of one search: a regular expression may take for ever."""
KEPT = ("HOME", "LANG", "PATH", "TMPDIR", "USER")
"""What commands see of our environment: nobody's keys."""


class Folder:
    """Where the tools work.

    Paths are checked before they are opened.  That holds against what a model writes, not against a program that
    changes links at the same moment; but whoever can run programs needs no trick.
    """

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()

    def find(self, path: str) -> Path:
        """Find the place that a path means, links followed.  Raises ToolError if it is not in the folder."""
        with explain(path):
            found = (self.root / path).resolve()
            found.exists()  # raises for a name that is too long
        if not found.is_relative_to(self.root):
            raise sp.ToolError("permission", f"{path!r} is outside of the folder", suggestion="use a path inside of it")
        return found

    def find_file(self, path: str) -> Path:
        """Find a file.  Raises ToolError for what is none: to read from a pipe may take for ever."""
        found = self.find(path)
        if not found.is_file():
            raise sp.ToolError("resource", f"there is no file {path!r}", suggestion="list_files shows what there is")
        return found

    def walk(self, path: str, depth: int, until: float, *, hidden: bool = False) -> Iterator[os.DirEntry[str]]:
        """Give what is in a folder, by name, and in those below it; links are not followed.

        Raises TimeoutError at a moment of the monotonic clock.
        """
        with explain(path):
            entries = sorted(os.scandir(self.find(path)), key=lambda entry: entry.name)
        check_time(until)
        for entry in entries:
            if hidden or not entry.name.startswith("."):
                yield entry
                if depth > 1 and entry.is_dir(follow_symlinks=False):
                    yield from self.walk(os.path.relpath(entry.path, self.root), depth - 1, until, hidden=hidden)

    def find_files(self, path: str, until: float) -> Iterator[Path]:
        """Give the files that a path names: one, or those below a folder that are not hidden."""
        if self.find(path).is_dir():
            yield from (Path(each.path) for each in self.walk(path, 100, until) if each.is_file(follow_symlinks=False))
        else:
            yield self.find_file(path)

    @contextmanager
    def replace(self, target: Path) -> Iterator[IO[bytes]]:
        """Give a new file that takes the target's place at the end of the block: whole, or not at all."""
        with NamedTemporaryFile(dir=self.root, prefix=".part-", delete=False) as part:
            try:
                yield part
                part.flush()
                os.chmod(part.name, target.stat().st_mode if target.exists() else 0o644)
                os.replace(part.name, target)
            finally:
                Path(part.name).unlink(missing_ok=True)


@contextmanager
def explain(path: str) -> Iterator[None]:
    """Tell the model what the system says of a path."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise sp.ToolError("resource", f"{path!r}: {error.strerror}") from error
    except PermissionError as error:
        raise sp.ToolError("permission", f"{path!r}: {error.strerror}") from error
    except OSError as error:
        raise sp.ToolError("execution", f"{path[:200]!r}: {error.strerror}") from error
    except RuntimeError as error:
        raise sp.ToolError("validation", f"{path!r} is a circle of links") from error
    except ValueError as error:  # a zero byte, another encoding
        raise sp.ToolError("validation", f"{path[:200]!r}: {error}") from error


# -- commands ----------------------------------------------------------------------------------------------


class Output:
    """What a process writes: its beginning and its end are kept, what is between them is counted."""

    def __init__(self) -> None:
        self.size, self._head, self._tail = 0, b"", b""

    async def read(self, stream: ByteReceiveStream) -> None:
        """Read to the end."""
        async for chunk in stream:
            room = MAX_OUTPUT // 2 - len(self._head)
            self._head += chunk[:room]
            self._tail = (self._tail + chunk[room:])[-MAX_OUTPUT // 2 :]
            self.size += len(chunk)

    @property
    def cut(self) -> int:
        """How many bytes are left out."""
        return self.size - len(self._head) - len(self._tail)

    @property
    def text(self) -> str:
        """What is kept, marked where it is cut."""
        note = f"\n[… {self.cut} bytes are left out here …]\n".encode() if self.cut else b""
        return (self._head + note + self._tail).decode(errors="replace")


async def run_command(command: str, cwd: Path, env: dict[str, str], seconds: float) -> dict[str, Any]:
    """Run a command with bash, without input; kill it, and all that it has started, at the end.

    Returns its output and its exit code.  Raises ToolError with the output so far if it takes longer.
    """
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    with explain(command[:100]), anyio.CancelScope(shield=True):  # it is started and known, or it is not started
        process = await anyio.open_process(
            ["bash", "-c", command], stdin=subprocess.DEVNULL, cwd=cwd, env=kept | env, start_new_session=True
        )
    assert process.stdout is not None
    assert process.stderr is not None
    out, err = Output(), Output()
    try:
        with anyio.move_on_after(seconds) as limit:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(out.read, process.stdout)
                tasks.start_soon(err.read, process.stderr)
                await process.wait()
                kill_group(process)  # what runs in the background would keep the output open
                tasks.cancel_scope.deadline = anyio.current_time() + 1
    finally:
        kill_group(process)
        with anyio.CancelScope(shield=True):
            await process.aclose()
    result = {
        "stdout": out.text,
        "stderr": err.text,
        "exit_code": process.returncode,
        "stdout_truncated": bool(out.cut),
        "stderr_truncated": bool(err.cut),
        "total_output_bytes": out.size + err.size,
    }
    if limit.cancelled_caught:
        told = f"the command was killed after {seconds:g} s; until then it wrote: {out.text}{err.text}"
        raise sp.ToolError("timeout", told, details={"limit_seconds": seconds, "partial_output": result})
    return result


def kill_group(process: Process) -> None:
    """Kill a process and what it has started, but for what has made itself a session of its own."""
    with suppress(ProcessLookupError, PermissionError):  # none of them is left
        os.killpg(process.pid, signal.SIGKILL)


# -- lines -------------------------------------------------------------------------------------------------


def read_lines(file: Path) -> list[str]:
    """Read the lines of a file, if that is text and not too large."""
    data = file.read_bytes() if file.stat().st_size <= MAX_FILE else b"\0"
    return [] if b"\0" in data[:8192] else data.decode(errors="replace").split("\n")


def find_lines(name: str, lines: list[str], wanted: regex.Pattern[str], context: int, until: float) -> Iterator[str]:
    """Give each line that matches, and the lines around it, with name and number.  Raises TimeoutError as `walk`."""
    for at, line in enumerate(lines):
        check_time(until)
        if wanted.search(line[:MAX_OUTPUT], timeout=max(until - time.monotonic(), 0.001)):
            around = range(max(at - context, 0), min(at + context + 1, len(lines)))
            yield "\n".join(f"{name}:{n + 1}{':' if n == at else '-'} {lines[n][:MAX_LINE]}" for n in around)


def check_time(until: float) -> None:
    """Raise TimeoutError after that moment: a thread cannot be stopped, so it stops itself."""
    if time.monotonic() > until:
        raise TimeoutError


def join_lines(lines: Iterator[str], most: int) -> str:
    """Join the first of the lines, and say whether there are more."""
    text = ""
    try:
        for count, line in enumerate(lines):
            if count == most or len(text) + len(line) > MAX_OUTPUT:
                return f"{text}[… cut after {count}; there are more: ask for less, by a folder or a pattern …]"
            text += f"{line}\n"
    except TimeoutError as error:
        told = f"the search took more than {MAX_SECONDS:g} s; until then it found:\n{text}"
        details = {"limit_seconds": MAX_SECONDS, "partial_output": text}
        raise sp.ToolError("timeout", told, details=details, suggestion="use a simpler pattern") from error
    return text or "nothing found"
