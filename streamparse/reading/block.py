"""One content block: what came of it that is not told yet."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

from streamparse.sink import Call

__all__ = ["INPUT", "Block"]

INPUT = "input"
"""The field that holds the arguments of a call."""


class Block:
    """One block; with neither a call nor an item it is a thought, or one whose start has not come."""

    __slots__ = ("call", "given", "id", "item", "kind", "lost", "size", "tell", "texts")

    def __init__(self, kind: str = "", item: dict[str, Any] | None = None) -> None:
        self.kind = kind
        self.item = item
        self.call: Call | None = None
        self.tell: Callable[[str], None] | None = None  # the call's arguments, once it has none of its start
        self.id = ""
        self.given = ""  # arguments that stood in the start: they count if no others follow
        self.texts: dict[str, StringIO] = {}  # fields that come in pieces
        self.size = 0
        self.lost = False  # more of it came than may be kept: it is not told

    @property
    def unknown(self) -> bool:
        """Whether argument text came, but not what it is for."""
        return self.call is None and self.item is None and INPUT in self.texts

    def add(self, key: str, piece: str) -> None:
        """Add a piece to the text of a field."""
        if key not in self.texts:
            self.texts[key] = StringIO()
        self.texts[key].write(piece)

    def lose(self, key: str) -> None:
        """Keep nothing of its texts, to which this one was to be added."""
        self.lost = True
        self.texts = {known: StringIO() for known in (*self.texts, key)}
