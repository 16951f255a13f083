"""Patterns of tags that are called as a tool is: compiled once, for no tool."""

from __future__ import annotations

from functools import lru_cache

from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.engine.reader import Match, Pattern
from streamparse.patterns import gradual, plain

__all__ = ["A_KEY", "NAME", "ToolPattern"]

NAME = "(?P=NAME)"
"""The name of the tool, in the source of a pattern."""
A_KEY = r"[A-Za-z_][\w.-]{0,255}"
"""What the tag of a parameter may hold where the tool declares none."""

_FIRST = plain(rf"\s{{0,2}}<[^<>/]{{0,264}}>{GAP}<(?P<begun>(?!/)[^<>]{{0,256}})\Z")
_A_KEY = plain(rf"(?:{A_KEY})?\Z")
_WINDOW = 4096  # more characters than any of these patterns can match


class ToolPattern:
    """A pattern in which the tag is the name of a tool, though it was not compiled for this one.

    It is matched against the name, `<` and the text: `NAME` refers back to the name.  The group `first`, which is what
    the tag of a parameter holds, must be one of `members`, if the tool has any.
    """

    __slots__ = ("_first", "_members", "_name", "_pattern")

    def __init__(self, source: str, name: str, members: frozenset[str]) -> None:
        self._pattern = _behind_name(source)
        self._first = "(?P<first>" in source
        self._name = name
        self._members = members

    def match(self, text: str, pos: int = 0, *, partial: bool = False) -> Match | None:
        """What matches at `pos`, as if the text began in front of it."""
        text = text[pos : pos + _WINDOW]
        found = self._pattern.match(f"{self._name}<{text}", partial=partial)
        if found is None or not self._first:
            return found
        if found.partial:
            begun = _FIRST.match(text)
            return found if begun is None or self._begins(begun["begun"]) else None
        first = found["first"]
        return found if first is None or self._is_one(first) else None

    def _is_one(self, key: str) -> bool:
        """Whether a parameter is called so."""
        return key in self._members if self._members else _A_KEY.match(key) is not None

    def _begins(self, head: str) -> bool:
        """Whether a parameter may be called so, as far as it has come."""
        if self._members:
            return any(member.startswith(head) for member in self._members)
        return _A_KEY.match(head) is not None


@lru_cache(maxsize=32)
def _behind_name(source: str) -> Pattern:
    return gradual(rf"(?P<NAME>[^<]++)<\K(?:{source})")
