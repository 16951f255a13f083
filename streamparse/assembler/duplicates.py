"""Calls that came twice: natively and in the text."""

from __future__ import annotations

from typing import Any

from streamparse.assembler.call import CallState

__all__ = ["Doubles"]


class Doubles:
    """Remembers the complete calls of either way that have not come the other way yet.

    Some servers parse a call and leak its text too.  Of one way, the same call twice is two calls.
    """

    def __init__(self) -> None:
        self._native: list[tuple[str, dict[str, Any], int]] = []
        self._in_text: list[tuple[str, dict[str, Any], int]] = []

    def find(self, call: CallState, arguments: dict[str, Any]) -> int | None:
        """Return the index of the same call if it came before by the other way; one that did not is remembered."""
        same, other = self._native, self._in_text
        if call.source != "native":
            same, other = other, same
        for place, (name, values, index) in enumerate(other):
            if name == call.name and values == arguments and _same_types(values, arguments):
                del other[place]
                return index
        same.append((call.name, arguments, call.index))
        return None


def _same_types(one: Any, other: Any) -> bool:
    """Whether equal values are the same JSON: to Python, true is 1."""
    if isinstance(one, dict):
        return all(_same_types(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return all(map(_same_types, one, other))
    return isinstance(one, bool) == isinstance(other, bool)
