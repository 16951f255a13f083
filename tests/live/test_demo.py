"""The demo, as `make demo` runs it, from the recording and from the server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from live_server import is_available

from streamparse.testing import Recording

ROOT = Path(__file__).parents[2]


AGENT = ["as each call closes", "all at the end of the stream", "one after the other, at the end"]


def _agent_rows(shown: str) -> list[str]:
    """The ways to run the agent's turn that were measured."""
    return re.findall(r"^(.*?) +\d+\.\d+ s +-?\d+\.\d ms, -?\d+\.\d%$", shown, re.MULTILINE)


def _demo(out: Path, *options: str) -> str:
    command = [sys.executable, "-W", "error", "examples/demo.py", "--out", str(out), "--rounds", "1", *options]
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


@pytest.mark.parametrize("loop", ["asyncio", "trio"])
def test_the_demo_plays_a_recording_where_there_is_no_server(tmp_path: Path, loop: str) -> None:
    shown = _demo(tmp_path, "--replay", "--loop", loop)
    recorded = Recording.load(ROOT / "fixtures" / "recorded" / "llamacpp-paced")
    assert Recording.load(tmp_path / "turn").body == recorded.body
    assert "a recording of one" in shown
    assert "\x1b" not in shown
    assert _agent_rows(shown) == AGENT
    assert "find_trains" in (tmp_path / "timeline.html").read_text(encoding="utf-8")


@pytest.mark.live
@pytest.mark.skipif(not is_available(), reason="the real server needs `pip install -e '.[live]'`")
def test_the_demo_runs_on_a_real_server(tmp_path: Path) -> None:
    shown = _demo(tmp_path, "--pad-layers", "20")
    assert "A llama.cpp server" in shown
    assert shown.count("ms after the read") == 2
    assert _agent_rows(shown) == AGENT
