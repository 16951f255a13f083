"""The real servers, each once for all tests of this folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))

from live_server import Scripted, is_available, running_server
from live_server.running import EXAMPLES

TEMPLATES = sorted(file.stem for file in EXAMPLES.glob("live_server/templates/*.jinja"))


def _server(template: str, **options: Any) -> Iterator[Scripted]:
    if not is_available():
        pytest.skip("the real server needs `pip install -e '.[live]'`")
    with running_server(template, **options) as server:
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


@pytest.fixture(scope="session", params=TEMPLATES)
def template(request: pytest.FixtureRequest) -> str:
    """Each of the templates; the tests of all modules with one of them run in a row, and share its servers."""
    return str(request.param)


@pytest.fixture(scope="session")
def reading(template: str) -> Iterator[Scripted]:
    """A server that reads the calls out of its answers, by the template."""
    yield from _server(template)


@pytest.fixture(scope="session")
def plain(template: str) -> Iterator[Scripted]:
    """A server that leaves the calls in the text of its answers."""
    yield from _server(template, pure_content=True)
