"""The examples, as a person starts them, on a real server that is told what to say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from dictation import hermes_call
from live_server import CHAT, Scripted, is_available, running_server
from serving import serving

import streamparse as sp

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
PATHS = {"openai-chat": CHAT, "openai-responses": "/v1/responses", "anthropic": "/v1/messages"}
LINES = "".join(f"line {number}\n" for number in range(40))


@pytest.fixture(scope="module")
def server() -> Iterator[Scripted]:
    """A server with room for eight tools and a conversation."""
    if not is_available():
        pytest.skip("the real server needs `pip install -e '.[live]'`")
    with running_server(context=8192) as running:
        yield running


def _start(example: str, *options: str, said: str = "") -> str:
    """What an example prints, which must end well; `said` is typed into it."""
    command = [sys.executable, "-W", "error", f"examples/{example}.py", *options]
    env = os.environ | {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}
    ended = subprocess.run(command, cwd=ROOT, env=env, input=said, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def _calls(*calls: tuple[str, dict[str, Any]]) -> str:
    return "\n".join(hermes_call(*call) for call in calls)


@pytest.mark.parametrize("wire", PATHS)
def test_the_coding_agent_does_its_task(server: Scripted, tmp_path: Path, wire: str) -> None:
    answers = [
        "I write a file, and read it.\n"
        + _calls(
            ("write_file", {"path": "a/b.txt", "content": LINES}), ("read_file", {"path": "./a/b.txt", "end_line": 2})
        ),
        _calls(
            ("think", {"thought": "39 stands there once."}),
            ("edit_file", {"path": "a/b.txt", "old_content": "39", "new_content": "forty"}),
            ("bash", {"command": "tail -n 1 a/b.txt; exit 3"}),
            ("read_file", {"path": "../secret"}),
        ),
        _calls(("search", {"pattern": "^.*forty", "type": "regex"}), ("list_files", {"recursive": True})),
        "It is done.\n" + _calls(("submit", {"answer": "I wrote it.", "confidence": 0.9})),
    ]
    task = server.script_turns(answers, "Write a file.")
    options = ["--url", server.url + PATHS[wire], "--model", "copy", "--wire", wire, "--folder", str(tmp_path)]
    shown = _start("coding_agent", *options, "--yes", task)
    assert (tmp_path / "a" / "b.txt").read_text() == LINES.replace("39", "forty")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    for text in (
        "< read_file line 0\nline 1\n",
        "< bash {'stdout': 'line forty\\n', 'stderr': '', 'exit_code': 3,",
        "the call of 'read_file' failed (permission): '../secret' is outside of the folder",
        "a/b.txt:40: line forty",
        "< list_files a/\na/b.txt\n",
        "{'answer': 'I wrote it.', 'confidence': 0.9}\n",
    ):
        assert text in shown
    assert shown.endswith("{'answer': 'I wrote it.', 'confidence': 0.9}\n")


@pytest.mark.parametrize(("said", "files"), [("y\n", ["ran"]), ("n\n", []), ("", [])])
def test_the_coding_agent_asks_before_it_runs_a_command(
    server: Scripted, tmp_path: Path, said: str, files: list[str]
) -> None:
    task = server.script_turns([_calls(("bash", {"command": "touch ran"})), "I tried."], "Run a command.")
    options = ["--url", server.url + CHAT, "--model", "copy", "--folder", str(tmp_path)]
    shown = _start("coding_agent", *options, task, said=said)
    assert "Run 'touch ran'? [y/n] " in shown
    assert shown.endswith("I tried.\n")
    assert [path.name for path in tmp_path.iterdir()] == files


@pytest.mark.parametrize(("example", "path"), [("openai_model", "/v1"), ("anthropic_model", "")])
def test_an_sdk_is_the_model_of_an_agent(server: Scripted, example: str, path: str) -> None:
    calls = _calls(("get_weather", {"city": "Rome"}), ("get_weather", {"city": "Oslo"}))
    task = server.script_turns([f"I look.\n{calls}", "It is sunny in both."], "Is it sunny in Rome and in Oslo?")
    assert _start(example, server.url + path, "copy", task) == "It is sunny in both.\n"


def test_a_client_that_goes_away_at_any_item_takes_its_run_with_it(server: Scripted) -> None:
    fastapi_sse = pytest.importorskip("fastapi_sse")
    running, cancelled, answered = list[str](), list[str](), threading.Semaphore(0)

    @sp.tool(effect="read")
    async def wait(name: str) -> None:
        """Wait for as long as anybody wants the result."""
        running.append(name)
        try:
            await anyio.sleep_forever()
        finally:
            running.remove(name)
            cancelled.append(name)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            await fastapi_sse.app(scope, receive, send)
        finally:
            answered.release()

    calls = _calls(("wait", {"name": "one"}), ("wait", {"name": "two"}))
    task = server.script_turns([f"I wait.\n{calls}"], "Wait.")
    model = sp.http_model(server.url + CHAT, "openai-chat", "copy")
    fastapi_sse.app.state.agent = sp.Agent(model, [wait])
    seen = list[str]()
    with serving(app, lifespan="off") as url, httpx.Client(base_url=url, timeout=60) as client:
        while "done" not in seen:  # what follows are results, which never come
            cancelled.clear()
            count, seen = len(seen) + 1, []
            with client.stream("POST", "/runs", json={"prompt": task}) as response:
                for line in filter(None, response.iter_lines()):
                    seen.append(json.loads(line[6:])["type"])
                    if len(seen) == count or seen[-1] == "done":  # in another run the same text may come in fewer items
                        break
            assert answered.acquire(timeout=60)
            assert running == []
            assert len(cancelled) >= seen.count("tool_call_complete")
    assert sorted(cancelled) == ["one", "two"]
