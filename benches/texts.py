"""What the corpora are written of: words, the arguments of a call, pieces as tokens cut them, framed events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

__all__ = ["FRAGMENT", "KIB", "MIB", "Reads", "arguments", "compact", "fragments", "source", "sse", "typed", "words"]

KIB = 1024
MIB = 1024 * KIB
FRAGMENT = 4
"""Characters of one piece of arguments, or of text with a call in it."""

Reads: TypeAlias = Iterator[bytes]
"""What a client reads, one after the other."""

_WORDS = ("Hello", " there", ",", " this", " is", " a", " stream", ".", " And", "\n", " more")
_LINES = 'def f(x):\n    return {"a": [x, "b"]}  # text with "quotes" and {braces}\n'


def words(count: int, joined: int = 1) -> Iterator[str]:
    """So many pieces of prose, each of so many words."""
    return ("".join(_WORDS[(number + word) % len(_WORDS)] for word in range(joined)) for number in range(count))


def source(size: int) -> str:
    """A file to write, of at most `size` characters."""
    return _LINES * (size // len(_LINES))


def arguments(size: int) -> str:
    """The JSON text of one call's arguments, `size` characters or a few more: a file to write."""
    frame = len(json.dumps({"path": "a.py", "content": ""}))
    unit = len(json.dumps(_LINES)) - 2
    return json.dumps({"path": "a.py", "content": _LINES * -(-(size - frame) // unit)})


def fragments(text: str, size: int = FRAGMENT) -> Iterator[str]:
    """Cut a text as tokens cut it."""
    return (text[at : at + size] for at in range(0, len(text), size))


def compact(message: dict[str, Any]) -> str:
    """JSON as most servers write it."""
    return json.dumps(message, separators=(",", ":"))


def sse(message: dict[str, Any], event: str = "") -> bytes:
    """One event."""
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {compact(message)}\n\n".encode()


def typed(message: dict[str, Any]) -> bytes:
    """One event that is named after the type of its message."""
    return sse(message, message["type"])
