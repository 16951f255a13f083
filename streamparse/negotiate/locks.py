"""A file that one thread of one process holds at a time, and that is gone when nobody does.

The lock ends with its process, however that ends: on POSIX it is the `flock` of the file, on Windows the file is one
that the system deletes with its last handle.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["held"]


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of this path, waiting for it as long as others do.  Raises OSError if it cannot be made."""
    descriptor = _taken(path)
    try:
        yield
    finally:
        _given_back(descriptor, path)


if sys.platform == "win32":
    import time

    _PAUSE = 0.01
    _TRIES = 1000

    def _taken(path: Path) -> int:
        for _ in range(_TRIES):
            try:
                return os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_TEMPORARY)
            except (FileExistsError, PermissionError):  # the latter while the last holder's file is being deleted
                time.sleep(_PAUSE)
        raise TimeoutError(f"{os.fspath(path)} is held by another process")

    def _given_back(descriptor: int, _path: Path) -> None:
        os.close(descriptor)

else:
    import fcntl

    def _taken(path: Path) -> int:
        while True:
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if _is_at(descriptor, path):
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)  # the one who held it has taken the file away

    def _is_at(descriptor: int, path: Path) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), os.stat(path))
        except FileNotFoundError:
            return False

    def _given_back(descriptor: int, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        finally:
            os.close(descriptor)
