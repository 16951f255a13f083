"""Runs a program of the documents as it is pasted: in a process of its own, with local servers for the remote ones."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["BLOCK", "ROOT", "SDK_PAGES", "SERVER", "can_run", "run_program"]

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
SERVER = "http://127.0.0.1:8080"
"""Where the documents say that a model is."""
SDK_PAGES = ("start/loop", "recipes/loop", "recipes/retries", "recipes/frameworks", "recipes/fastapi")
"""Pages whose programs run each alone, because each stands on a library that may be absent; the last is a server."""


def can_run(source: str) -> bool:
    """Whether everything is installed that the program imports; it must compile in any case."""
    tree = ast.parse(source)
    names = [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return all(find_spec(name.split(".", 1)[0]) for name in names)


def run_program(source: str, chat: str, anthropic: str, *options: str) -> str:
    """Return what the program prints; `chat` and `anthropic` are the URLs of servers that speak these APIs."""
    environment = os.environ | {
        "OPENAI_BASE_URL": f"{chat}/v1",
        "OPENAI_API_KEY": "none",
        "ANTHROPIC_BASE_URL": anthropic,
        "ANTHROPIC_API_KEY": "none",
    }
    run = [sys.executable, *options, "-c", source.replace(SERVER, chat)]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()
