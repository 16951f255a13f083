"""The rest of a JSON text whose beginning is out already, when what it must say is known."""

from __future__ import annotations

import json
import re
from typing import Any

__all__ = ["rest_of"]

_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)("?)|[{}\[\],:]|[^\s{}\[\],:"]+')


class _Level:
    """An open object or array: its members, how many have begun, and what is expected next."""

    __slots__ = ("begun", "keyed", "members", "value_open")

    def __init__(self, value: dict[str, Any] | list[Any]) -> None:
        self.keyed = isinstance(value, dict)
        self.members: list[tuple[str, Any]] = (
            list(value.items()) if isinstance(value, dict) else [("", each) for each in value]
        )
        self.begun = 0
        self.value_open = False  # the value of the last member that began is not whole


def rest_of(beginning: str, value: dict[str, Any]) -> str | None:
    """Return a text that makes of the beginning an object equal to `value`; None if there is none.

    The beginning ends behind a token that is no comma, or inside of a string.  The caller has to compare: that the
    members of the beginning are those of the value is looked at only where it goes on.
    """
    levels: list[_Level] = []
    ending = ""
    last = ""
    for token in _TOKEN.finditer(beginning):
        last = token[0]
        if last in ("{", "["):
            inner = _next_value(levels) if levels else value
            if not isinstance(inner, dict if last == "{" else list):
                return None
            levels.append(_Level(inner))
        elif last in ("}", "]"):
            levels.pop()
            _value_done(levels)
        elif last not in (",", ":"):
            cut = _take_scalar(levels[-1], token)
            if cut is None:
                return None
            ending = cut
    if not levels:
        return json.dumps(value, ensure_ascii=False) if not beginning.strip() else ""
    return ending + _closing(levels, last)


def _next_value(levels: list[_Level]) -> Any:
    """The value that begins now."""
    level = levels[-1]
    if not level.keyed:
        level.begun += 1
        level.value_open = True
    return level.members[level.begun - 1][1] if 0 < level.begun <= len(level.members) else None


def _value_done(levels: list[_Level]) -> None:
    if levels:
        levels[-1].value_open = False


def _take_scalar(level: _Level, token: re.Match[str]) -> str | None:
    """Take a key or a value; return how it ends if it is a string that was cut, None if the value has no such."""
    is_key = level.keyed and not level.value_open
    if is_key or not level.keyed:
        level.begun += 1
    level.value_open = is_key
    if token[1] is None or token[2]:
        return ""
    key, whole = level.members[level.begun - 1] if level.begun <= len(level.members) else ("", None)
    wanted = key if is_key else whole
    said = json.loads(f'"{token[1]}"')
    if not isinstance(wanted, str) or not wanted.startswith(said):
        return None
    return json.dumps(wanted[len(said) :], ensure_ascii=False)[1:]


def _closing(levels: list[_Level], last: str) -> str:
    """Write what every open level lacks, from the inside out."""
    parts = []
    for depth, level in enumerate(reversed(levels)):
        if level.value_open and depth == 0:
            value = level.members[level.begun - 1][1] if level.begun <= len(level.members) else None
            parts.append(("" if last == ":" else ": ") + json.dumps(value, ensure_ascii=False))
        for number, (key, value) in enumerate(level.members[level.begun :]):
            comma = ", " if level.begun + number else ""
            name = json.dumps(key, ensure_ascii=False) + ": " if level.keyed else ""
            parts.append(comma + name + json.dumps(value, ensure_ascii=False))
        parts.append("}" if level.keyed else "]")
    return "".join(parts)
