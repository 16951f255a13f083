"""Checks that a schema cannot say, named for the tools they guard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol
from urllib.parse import unquote

from streamparse.repair.findings import Finding, pointer
from streamparse.response import ToolCall

__all__ = ["Guard", "PathGuard"]

_OUTSIDE = re.compile(r"[/\\~]|[A-Za-z]:")
_SEPARATOR = re.compile(r"[/\\]+")


class Guard(Protocol):
    """Looks at a call before it runs; yields what it finds."""

    def __call__(self, call: ToolCall, /) -> Iterator[Finding]: ...


class PathGuard:
    """Finds paths that lead out of the folder they are relative to, in the named parameters of any tool.

    A path is refused if it is absolute on any system (`/x`, `\\x`, `C:x`, `~`), if its `..` steps climb above where it
    began, or if it holds a NUL; also where that shows only once percent escapes are read.  It looks at the text
    alone: links in the folder are for the tool itself to resolve.
    """

    def __init__(self, *parameters: str) -> None:
        if not parameters:
            raise ValueError("name the parameters that are paths")
        self._parameters = parameters

    def __call__(self, call: ToolCall) -> Iterator[Finding]:
        for name in self._parameters:
            for path, text in _texts(call.arguments.get(name), (name,)):
                if _leads_out(text) or _leads_out(unquote(text)):
                    yield Finding("path_traversal", f"{name!r} must be a path inside its folder", pointer(path))


def _texts(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """The texts of a parameter that is a path or a list of them."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _texts(each, (*path, number))


def _leads_out(path: str) -> bool:
    if "\0" in path or _OUTSIDE.match(path.lstrip()):
        return True
    depth = 0
    for step in _SEPARATOR.split(path):
        depth += {"..": -1, ".": 0, "": 0}.get(step.strip(), 1)
        if depth < 0:
            return True
    return False
