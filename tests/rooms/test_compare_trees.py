"""The script that compares two trees finds what was planted in one, and nothing between equal ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "compare_trees.py"
CALL = "streams/a-brace-in-a-string-closes-nothing.sse cut at 2 of 3"
INPUTS = (CALL, "streams/a-page-of-html-is-no-stream.sse cut at 2 of 3", "texts/hermes: text before*")

PLANTED = """

def _plant():
    feed, close = StreamParser.feed, StreamParser.close
    {planted}

_plant()
"""
CHANGES = """
    from msgspec.structs import replace
    def tell(events):
        return [replace(event, message="Oh!") if isinstance(event, Error) else event for event in events]
    def feed_late(self, chunk):
        kept = self.__dict__.setdefault("kept", [])
        kept += tell(feed(self, chunk))
        return [] if any(isinstance(event, ToolCallStart) for event in kept) else [kept.pop(0) for _ in kept[:]]
    StreamParser.feed = feed_late
    StreamParser.close = lambda self: [*self.__dict__.pop("kept", ()), *tell(close(self))]
"""
"""From the first call on events come in their order, but at the end; and the messages of errors are others."""


def plant(tree: Path, planted: str) -> Path:
    """A tree whose package is this one's, with some lines more at its front door."""
    package = tree / "streamparse"
    package.mkdir()
    for path in (ROOT / "streamparse").iterdir():
        if path.name not in ("__init__.py", "__pycache__"):
            (package / path.name).symlink_to(path)
    front_door = (ROOT / "streamparse" / "__init__.py").read_text(encoding="utf-8")
    (package / "__init__.py").write_text(front_door + PLANTED.format(planted=planted.strip()), encoding="utf-8")
    return tree


def run(old: Path, *inputs: str) -> subprocess.CompletedProcess[str]:
    chosen = [f"--only={pattern}" for pattern in inputs]
    return subprocess.run(
        [sys.executable, SCRIPT, old, "--shared", old / "absent", *chosen],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_equal_trees_read_everything_alike() -> None:
    ran = run(ROOT, *INPUTS)
    assert "0 inputs differ" in ran.stdout, ran.stdout + ran.stderr
    assert "messages of errors" not in ran.stdout
    assert ran.returncode == 0


def test_an_event_that_comes_later_is_a_difference_and_a_message_that_differs_is_none(tmp_path: Path) -> None:
    ran = run(plant(tmp_path, CHANGES), *INPUTS)
    differences, _, rest = ran.stdout.partition("messages of errors that differ:")
    assert f"{CALL}, whole\n" in differences, ran.stdout + ran.stderr
    assert 'new feed 0: {"type":"tool_call_start"' in differences
    assert "page-of-html" not in differences
    assert "old Oh!\n" in rest
    assert "1 inputs differ" in rest
    assert ran.returncode == 1


def test_a_name_that_no_input_has_is_no_agreement() -> None:
    assert run(ROOT, "streams/no-such-name").returncode == 2
