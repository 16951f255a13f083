"""Where the shared collection lies, and how its files are read; all empty where it is absent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["SHARED", "json_file", "json_lines"]

SHARED = Path(__file__).parents[2].parent / "shared"


def json_file(name: str, absent: Any) -> Any:
    """Read one JSON file."""
    path = SHARED / name
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else absent


def json_lines(name: str) -> list[dict[str, Any]]:
    """Read a file of one JSON object a line."""
    path = SHARED / name
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []
