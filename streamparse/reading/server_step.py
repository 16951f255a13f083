"""A step that the server itself takes (a search, code that it runs): an item that comes in pieces."""

from __future__ import annotations

from io import StringIO
from typing import Any

__all__ = ["OwnStep"]


class OwnStep:
    """What has come of one step; `size` counts the characters and the elements that were added."""

    def __init__(self, item: dict[str, Any]) -> None:
        self._item = item
        self._texts: dict[str, StringIO] = {}  # fields that grow
        self.size = 0

    def add(self, fields: dict[str, Any]) -> None:
        """Add a piece: strings and lists grow, the rest is set; a step has one type."""
        for key, value in fields.items():
            known = self._item.get(key)
            if isinstance(value, str) and isinstance(known, str) and key != "type":
                self._grow(key, known, value)
            elif isinstance(value, list) and isinstance(known, list):
                known += value
                self.size += len(value)
            elif key != "type" or known is None:
                self._item[key] = value
                self._texts.pop(key, None)

    def whole(self) -> dict[str, Any]:
        """The step as far as it came."""
        return self._item | {key: text.getvalue() for key, text in self._texts.items()}

    def _grow(self, key: str, known: str, value: str) -> None:
        if key not in self._texts:
            self._texts[key] = StringIO()
            self._texts[key].write(known)
        self._texts[key].write(value)
        self.size += len(value)
