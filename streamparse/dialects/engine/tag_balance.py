"""The tags of a text that are ordinary words, or names of tools: which of them told a call, and which are open."""

from __future__ import annotations

__all__ = ["OpenTags"]


class OpenTags:
    """Counts the tags of a text that belong to no call."""

    __slots__ = ("_open", "_told")

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._told: set[str] = set()

    def tell(self, tag: str) -> None:
        """A tag has told a call."""
        self._told.add(tag)

    def open(self, tag: str) -> None:
        """A tag opens in the text."""
        self._open[tag] = self._open.get(tag, 0) + 1

    def close(self, tag: str) -> bool:
        """A tag closes in the text; False if it closes nothing, and such a tag has told a call."""
        count = self._open.get(tag, 0)
        self._open[tag] = max(0, count - 1)
        return count > 0 or tag not in self._told
