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
        self._native: list[tuple[str, dict[str, Any]]] = []
        self._in_text: list[tuple[str, dict[str, Any]]] = []

    def has(self, call: CallState, arguments: dict[str, Any]) -> bool:
        """Whether the same call came before by the other way; one that did not is remembered."""
        same, other = self._native, self._in_text
        if call.source != "native":
            same, other = other, same
        made = (call.name, arguments)
        for place, (name, values) in enumerate(other):
            if name == call.name and values == arguments and _same_types(values, arguments):
                del other[place]
                return True
        same.append(made)
        return False


def _same_types(one: Any, other: Any) -> bool:
    """Whether equal values are the same JSON: to Python, true is 1."""
    if isinstance(one, dict):
        return all(_same_types(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return all(map(_same_types, one, other))
    return isinstance(one, bool) == isinstance(other, bool)
