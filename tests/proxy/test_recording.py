"""`--record`: the proxy keeps what its server answers, and no credential of a client."""

from __future__ import annotations

from pathlib import Path

import anyio
import httpx
import pytest

from streamparse import proxy
from streamparse.testing import Recording, list_recordings, replaying

RECORDED = Path(__file__).parents[2] / "fixtures" / "recorded"
KEY = "a-key-that-was-planted"
TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}]


async def ask(upstream: str, record: str, path: str, request: object) -> int:
    """Ask through a proxy that records, and return the status."""
    async with proxy.app(upstream, record=record) as application:
        transport = httpx.ASGITransport(application)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (await client.post(path, json=request, headers={"authorization": f"Bearer {KEY}"})).status_code


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages"])
def test_the_answers_of_the_server_are_recorded_as_they_came(path: str, tmp_path: Path) -> None:
    served = Recording.load(RECORDED / "llamacpp-inband-hermes")
    request = {"messages": [{"role": "user", "content": f"Go. {KEY}"}], "tools": TOOLS, "max_tokens": 9, "stream": True}
    with replaying(served, speed=0) as url:
        assert anyio.run(ask, url, str(tmp_path), path, request) == 200
    [recording] = list_recordings(tmp_path)
    assert recording.body == served.body
    assert (recording.path, recording.status) == ("/v1/chat/completions", 200)
    assert recording.content_type.startswith("text/event-stream")
    assert [file for file in tmp_path.iterdir() if KEY in file.read_text(encoding="utf-8")] == []


def test_a_folder_that_cannot_be_written_disturbs_no_answer(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "file"
    folder.touch()
    with replaying(Recording.load(RECORDED / "llamacpp-text"), speed=0) as url:
        assert anyio.run(ask, url, str(folder), "/v1/chat/completions", {"messages": [], "tools": TOOLS}) == 200
    assert "could not be recorded" in caplog.text
