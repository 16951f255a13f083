"""A journal's lines in a file: appended, durable, and written by one process at a time."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, Protocol, runtime_checkable

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_MODE = 0o600  # bound: a journal holds what users and tools say


class JournalBusy(RuntimeError):
    """Somebody else writes this journal at this moment: a run that goes on, or a decision."""


@runtime_checkable
class JournalStore(Protocol):
    """Where the lines of one journal are kept: a file, or a table of your own.

    `acquire` makes this process the only writer until `release`; it raises JournalBusy if another one is.  `read`
    returns the whole lines, without their ends.  `append` adds one; if it is to be `durable`, it survives a power cut
    once `append` returns.  What it raises ends the run before anything is done that was not written.
    """

    def acquire(self) -> None: ...

    def release(self) -> None: ...

    def read(self) -> list[bytes]: ...

    def append(self, line: bytes, *, durable: bool) -> None: ...


class JournalFile:
    """A file of lines, with a lock file beside it; a last line that was torn off is dropped.

    The file can be read by its owner alone, where the system has such modes.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path: Path = Path(path).resolve()  # by whatever name it is opened, there is one lock
        self._lock: IO[bytes] | None = None
        self._file: int | None = None
        self._size = 0

    def acquire(self) -> None:
        """Take the lock.  Raises JournalBusy if somebody has it, and OSError for a path that cannot be written."""
        beside = os.open(f"{self.path}.lock", os.O_RDWR | os.O_CREAT, _MODE)
        lock = os.fdopen(beside, "r+b", buffering=0)
        try:
            _lock(lock.fileno())
        except OSError as error:
            lock.close()
            raise JournalBusy(f"{self.path} is written by somebody else at this moment") from error
        self._lock = lock
        try:
            self._open()
        except OSError:
            self.release()
            raise

    def _open(self) -> None:
        is_new = not self.path.exists()
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), _MODE)
        self._size = sum(len(line) + 1 for line in self.read())
        os.ftruncate(self._file, self._size)  # what was torn off is no line
        if is_new:
            _sync_folder(self.path.parent)

    def release(self) -> None:
        """Let others write; a second time does nothing."""
        file, lock, self._file, self._lock = self._file, self._lock, None, None
        if file is not None:
            os.close(file)
        if lock is not None:
            lock.close()

    def read(self) -> list[bytes]:
        """Return the whole lines; may be called without the lock."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return []
        return content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]

    def append(self, line: bytes, *, durable: bool) -> None:
        """Add a line.  Raises OSError (a full disk); then nothing of the line is left."""
        if self._file is None:
            raise RuntimeError(f"{self.path} is not acquired")
        written = line + b"\n"
        try:
            os.lseek(self._file, self._size, os.SEEK_SET)
            _write_all(self._file, written)
            if durable:
                os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(written)


def _write_all(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]


def _lock(file: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _sync_folder(folder: Path) -> None:
    """Make the name of a new file durable, where the system can."""
    if sys.platform == "win32":
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
