"""Small bodies, of which tests of many bodies are made."""

from __future__ import annotations

import json
from pathlib import Path

__all__ = ["CALL", "CUT", "OLLAMA", "PROSE", "read_rows", "write_bodies"]


def _chat(*deltas: dict[str, object], finish_reason: str | None = "stop", usage: dict[str, int] | None = None) -> bytes:
    chunks: list[dict[str, object]] = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    if finish_reason is not None:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish_reason}], "usage": usage})
    body = b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks)
    return body if finish_reason is None else body + b"data: [DONE]\n\n"


def _begin_call(arguments: str) -> dict[str, object]:
    return {"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "look", "arguments": arguments}}]}


PROSE = _chat(
    {"content": "Grüße"}, {"content": ", 世界"}, usage={"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
)
CALL = _chat({"reasoning_content": "Hm."}, _begin_call('{"a": [1, "x"]}'), finish_reason="tool_calls")
CUT = _chat({"content": "Look"}, _begin_call('{"a": 1'), finish_reason=None)
OLLAMA = (
    b'{"model":"m","message":{"role":"assistant","content":"Hi"},"done":false}\n'
    b'{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}\n'
)


def write_bodies(folder: Path, count: int = 3) -> Path:
    """Write so many files of bodies in turn, and return their folder."""
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"{number:03}.sse").write_bytes((PROSE, CALL, CUT, OLLAMA)[number % 4])
    return folder


def read_rows(table: Path) -> list[dict[str, object]]:
    """Return the rows of a JSONL table."""
    return [json.loads(line) for line in table.read_text(encoding="utf-8").splitlines()]
