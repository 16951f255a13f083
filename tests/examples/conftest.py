"""The examples can be imported here, and a scratch folder lies beside a secret."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from scratch_folder import Folder


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> Any:
    """Both event loops."""
    return request.param


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """An empty folder; beside it lies what no tool may see or change."""
    (tmp_path / "secret").write_text("a secret\n")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "secret").write_text("a secret\n")
    (tmp_path / "scratch").mkdir()
    return Folder(tmp_path / "scratch")
