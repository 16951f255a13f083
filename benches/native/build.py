"""Builds `slice.c` with the system's compiler into a folder of its own, and imports it."""

from __future__ import annotations

import importlib.util
import shlex
import subprocess
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType

__all__ = ["build_slice"]

SOURCE = Path(__file__).with_name("slice.c")


@cache
def build_slice() -> ModuleType | None:
    """Return the extension, or None where there is no compiler or no header of Python."""
    paths = sysconfig.get_paths()
    compiler = shlex.split(sysconfig.get_config_var("CC") or "cc")[:1]
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / f"slice{sysconfig.get_config_var('EXT_SUFFIX')}"
        flags = ["-O2", "-shared", "-fPIC", "-Wall", "-Wextra", f"-I{paths['include']}", f"-I{paths['platinclude']}"]
        try:
            subprocess.run([*compiler, *flags, str(SOURCE), "-o", str(built)], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        spec = importlib.util.spec_from_file_location("slice", built)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
