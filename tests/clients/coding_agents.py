"""Coding agents by `streamparse run`, in front of a server whose model writes its calls as text.

The server is scripted, and as strict as a template: it refuses a system message that is not the first.  An agent works
if its two commands have run, once each, and it ended well; and if a command that was cut never ran.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

from serving import read_body, serving

__all__ = ["AGENTS", "Agent", "run_agent"]

PROGRAMS: Final = Path(os.environ.get("CLIENTS_BIN", Path(__file__).parents[2] / ".clients" / "node_modules" / ".bin"))
SECONDS: Final = 180
PROMPT: Final = "Write one and two into out.txt."
_TOOLS: Final = {"exec_command": "cmd", "Bash": "command", "bash": "command"}
"""The tool of each agent that runs a command, and the argument that holds it."""


class Agent(NamedTuple):
    """A coding agent: the package of npm, the API that it speaks, and its command line."""

    package: str
    api: str
    command: list[str]

    def read_version(self) -> str:
        """Return the version that is installed."""
        described = (PROGRAMS.parent / self.package / "package.json").read_text(encoding="utf-8")
        return str(json.loads(described)["version"])


AGENTS: Final = {
    "Claude Code": Agent("@anthropic-ai/claude-code", "Messages", ["claude", "-p", PROMPT, "--allowedTools", "Bash"]),
    "Codex": Agent(
        "@openai/codex",
        "Responses",
        ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
    ),
    "opencode": Agent("opencode-ai", "chat", ["opencode", "run", PROMPT]),
}


class StrictServer:
    """Writes two calls as text, the second one cut if `cuts`, and an end when their results are there."""

    def __init__(self, *, cuts: bool) -> None:
        self.cuts = cuts
        self.refused = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        body = await read_body(receive)
        status, kind, written = self._answer(json.loads(body)) if body else (200, b"application/json", _MODELS)
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-type", kind)]})
        await send({"type": "http.response.body", "body": written})

    def _answer(self, request: dict[str, Any]) -> tuple[int, bytes, bytes]:
        roles = [message["role"] for message in request["messages"]]
        if "system" in roles[1:]:
            self.refused += 1
            return 500, b"application/json", b'{"error":{"message":"System message must be at the beginning."}}'
        names = [tool["function"]["name"] for tool in request.get("tools") or ()]
        name = next((name for name in _TOOLS if name in names), None)
        if name is None:
            return 200, b"text/event-stream", _stream("A title", "stop")
        if "tool" in roles:
            return 200, b"text/event-stream", _stream("All done.", "stop")
        first, second = (_write_call(name, f"echo {word} >> out.txt") for word in ("one", "two"))
        if self.cuts:
            return 200, b"text/event-stream", _stream("I will.\n" + first[: first.index(" >>")], "length")
        return 200, b"text/event-stream", _stream(f"I will.\n{first}\n{second}", "stop")


_MODELS: Final = json.dumps({"object": "list", "data": [{"id": "toy", "max_model_len": 200_000}]}).encode()


def _write_call(name: str, command: str) -> str:
    more = {} if name == "exec_command" else {"description": "Write a word."}
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': {_TOOLS[name]: command, **more}})}\n</tool_call>"


def _stream(text: str, finish: str) -> bytes:
    deltas: list[tuple[dict[str, Any], str | None]] = [
        *(({"content": text[at : at + 7]}, None) for at in range(0, len(text), 7)),
        ({}, finish),
    ]
    counts = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    chunks = [
        {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "toy", "usage": counts}
        | {"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
        for delta, reason in deltas
    ]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks) + b"data: [DONE]\n\n"


def run_agent(agent: Agent) -> str:
    """Return how an agent fared: `works`, or what went wrong."""
    for cuts, expected in ((False, ["one", "two"]), (True, [])):
        server = StrictServer(cuts=cuts)
        with serving(server) as url, TemporaryDirectory(prefix="agent_") as home:
            status, told, wrote = _run(agent, url, Path(home))
        if sorted(wrote.split()) != expected:  # Codex runs the calls of a turn side by side
            return f"fails: {'the cut call ran' if cuts else f'wrote {wrote!r}'}, status {status}: {told[-300:]}"
        if server.refused or (status != 0 and not cuts):
            return f"fails: status {status}, {server.refused} requests refused: {told[-300:]}"
    return "works"


def _run(agent: Agent, url: str, home: Path) -> tuple[int, str, str]:
    """Run an agent in a folder of its own; return its status, what it printed, and what it wrote."""
    folder = home / "work"
    folder.mkdir()
    program, *arguments = agent.command
    command = [sys.executable, "-m", "streamparse", "run", "--upstream", url, "--", str(PROGRAMS / program), *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env=_make_environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    out = folder / "out.txt"
    wrote = out.read_text(encoding="utf-8") if out.exists() else ""
    return done.returncode, " ".join((done.stdout + done.stderr).split()), wrote


def _make_environment(home: Path) -> Mapping[str, str]:
    """Return an environment without the user's own configuration; the programs are those of Node's packages."""
    path = f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"
    folders = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"), str(home))
    return {"PATH": path, "TERM": "dumb", "LANG": "C.UTF-8", **folders}
