"""Gemini's streamed arguments: values at JSON paths, written as the text of one JSON object.

    $.city = "Bos" …   ─▶  {"city":"Bos
    $.city = "ton"     ─▶  ton"
    $.days[0].n = 1    ─▶  ,"days":[{"n":1
    (the call ends)    ─▶  }]}

Values come in the order of the text: what has been left is closed, and nothing can be added to it.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from streamparse.patterns import lazy_re

Path: TypeAlias = list[str | int]

_STEP = lazy_re(r"""\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]|\["([^"]*)"\]""")


class PartialArg(msgspec.Struct, gc=False):
    """One value, or a piece of a string, and where it belongs."""

    jsonPath: str = ""
    stringValue: str | None = None
    numberValue: msgspec.Raw = msgspec.Raw()
    boolValue: bool | None = None
    nullValue: msgspec.Raw = msgspec.Raw()
    willContinue: bool | None = None


class PathError(ValueError):
    """A path that the text written so far cannot lead to."""


class ArgumentWriter:
    """Turns the fragments of one call into pieces of JSON text."""

    def __init__(self) -> None:
        self._path: Path = []  # of the value that was written last
        self._keys: list[set[str]] = []  # of each open container, those that are taken
        self._shown = ""  # the same, as it came
        self._in_string = False

    @property
    def has_begun(self) -> bool:
        """Whether a value has been written."""
        return bool(self._path)

    @property
    def can_end(self) -> bool:
        """Whether the object may end here: no string is open."""
        return not self._in_string

    def write(self, part: PartialArg) -> str:
        """The text of the next fragment.  Raises PathError."""
        text = part.stringValue
        shown = part.jsonPath
        if text is not None and self._in_string and shown == self._shown:
            return self._write_characters(text, part)
        value = None if text is not None else _write_literal(part)
        if text is None and value is None:
            return ""  # a path is announced
        if self._in_string:
            raise PathError(f"{shown} begins inside a string")
        start = self._go_to(_parse_path(shown), shown)
        self._shown = shown
        return start + (value or "" if text is None else '"' + self._write_characters(text, part))

    def _write_characters(self, text: str, part: PartialArg) -> str:
        """A piece of a string, with the quote that ends it unless more of it follows."""
        self._in_string = bool(part.willContinue)
        encoded = msgspec.json.encode(text).decode()
        return encoded[1:-1] if self._in_string else encoded[1:]

    def close(self) -> str:
        """The text that ends the object."""
        return _close_path(self._path)

    def _go_to(self, path: Path, shown: str) -> str:
        """Leave the last value for another one: the text between the two."""
        last = self._path
        if not last:
            level, text = 0, "{"
        else:
            level = next((n for n, (old, new) in enumerate(zip(last, path, strict=False)) if old != new), -1)
            if level < 0:
                raise PathError(f"{shown} has been written")
            text = _close_path(last[level + 1 :]) + ","
            del self._keys[level + 1 :]
        text += self._write_step(path[level], level, last[level] if last else "", shown)
        for deeper, step in enumerate(path[level + 1 :], level + 1):
            is_key = isinstance(step, str)
            text += ("{" if is_key else "[") + self._write_step(step, deeper, "" if is_key else -1, shown)
        self._path = path
        return text

    def _write_step(self, step: str | int, level: int, before: str | int, shown: str) -> str:
        """The text that leads to one step of a path, in a container where another one was before."""
        if level == len(self._keys):
            self._keys.append(set())
        if isinstance(step, int):
            if not isinstance(before, int) or step != before + 1:
                raise PathError(f"{shown} does not follow")
            return ""
        if isinstance(before, int) or step in self._keys[level]:
            raise PathError(f"{shown} has been left")
        self._keys[level].add(step)
        return msgspec.json.encode(step).decode() + ":"


def _close_path(path: Path) -> str:
    return "".join("}" if isinstance(step, str) else "]" for step in reversed(path))


def _parse_path(path: str) -> Path:
    steps: Path = []
    at = 1
    while match := _STEP.match(path, at):
        key, index, quoted, double_quoted = match.groups()
        steps.append(int(index) if index else key or quoted or double_quoted or "")
        at = match.end()
    if not path.startswith("$") or at != len(path) or not steps:
        raise PathError(f"{path!r} is not a path")
    return steps


def _write_literal(part: PartialArg) -> str | None:
    """The JSON text of any value but a string."""
    if part.boolValue is not None:
        return "true" if part.boolValue else "false"
    number = bytes(part.numberValue).decode("utf-8", "replace")
    return number or ("null" if bytes(part.nullValue) else None)
