"""The real server, once for all tests of this folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from live_server import Scripted, is_available, running_server


def _server(template: str, pad_layers: int = 0) -> Iterator[Scripted]:
    if not is_available():
        pytest.skip("the real server needs `pip install -e '.[live]'`")
    with running_server(template, pad_layers=pad_layers) as server:
        yield server


@pytest.fixture(scope="session")
def hermes() -> Iterator[Scripted]:
    """A server whose model writes calls as JSON between tags."""
    yield from _server("hermes")


@pytest.fixture(scope="session")
def qwen3_coder() -> Iterator[Scripted]:
    """A server whose model writes calls as XML-like parameters."""
    yield from _server("qwen3-coder")


@pytest.fixture(scope="session")
def paced() -> Iterator[Scripted]:
    """A server that writes a few hundred tokens a second."""
    yield from _server("hermes", pad_layers=60)
