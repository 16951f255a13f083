"""Where the documents are, and a server for those that talk to one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "examples"))

from live_server import Read, Recording, replaying  # noqa: E402 - from the path above

RECORDED = ROOT / "fixtures" / "recorded"


def _at_once(name: str) -> Recording:
    body = (RECORDED / f"{name}.body").read_bytes()
    return Recording("", {}, body, [Read(0.0, len(body))])


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, str]]:
    """Environment variables that name servers, each of which plays a recording."""
    with (
        replaying(Recording.load(RECORDED, "llamacpp-paced")) as chat,
        replaying(_at_once("ollama-chat-inband")) as ollama,
    ):
        yield {"LLM_SERVER": chat, "OLLAMA_SERVER": ollama}
