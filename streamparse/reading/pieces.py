"""What comes in pieces and waits for its end: texts, calls, and items with fields that grow.

A `Budget` bounds how much may wait.  Several texts or items can share one.
"""

from __future__ import annotations

from io import StringIO
from typing import Any

import msgspec

from streamparse.patterns import BLANKS
from streamparse.sink import Call


def begins_object(text: str) -> bool:
    """Whether a piece of arguments looks like the start of them."""
    return text.lstrip(BLANKS)[:1] == "{"


class Budget(msgspec.Struct):
    """Characters and elements that may still be kept."""

    left: int

    def spend(self, size: int) -> bool:
        """Whether so much more may be kept; then it counts as kept."""
        if size > self.left:
            return False
        self.left -= size
        return True


class PendingText(msgspec.Struct, eq=False):
    """A text that comes in pieces; it is lost, and stays empty, once a piece does not fit into the budget."""

    budget: Budget
    is_lost: bool = False
    _text: StringIO | None = None  # made for the first piece

    def __bool__(self) -> bool:
        """Whether anything came, even if it was lost."""
        return self.is_lost or (self._text is not None and self._text.tell() > 0)

    def __str__(self) -> str:
        return self._text.getvalue() if self._text is not None else ""

    def add(self, piece: str) -> bool:
        """Add a piece.  False if this is the piece that does not fit."""
        if self.is_lost:
            return True
        if not self.budget.spend(len(piece)):
            self.take()
            self.is_lost = True
            return False
        if self._text is None:
            self._text = StringIO()
        self._text.write(piece)
        return True

    def take(self) -> str:
        """Return the text; it waits no longer, so another one may take its place in the budget."""
        if self._text is None:
            return ""
        text, self._text = self._text.getvalue(), None
        self.budget.left += len(text)
        return text


class PendingCall(msgspec.Struct, eq=False):
    """A call that may wait for its name: `early` is the argument text before it, `call` is set once it has started."""

    early: PendingText
    id: str | None = None
    name: str = ""
    index: int | None = None
    call: Call | None = None


class PendingItem(msgspec.Struct, eq=False):
    """An item that comes in pieces: strings and lists grow, other fields are set, and an item has one type.

    It is lost once a piece does not fit into the budget.
    """

    budget: Budget
    fields: dict[str, Any] = {}
    is_lost: bool = False
    _texts: dict[str, PendingText] = {}  # the fields that grow

    def add(self, fields: dict[str, Any]) -> bool:
        """Add a piece.  False if this is the piece that does not fit."""
        if self.is_lost:
            return True
        self.is_lost = not all(self._add_field(key, value) for key, value in fields.items())
        return not self.is_lost

    def add_text(self, key: str, piece: str) -> bool:
        """Add a piece to a field that begins with its first piece.  False if this is the piece that does not fit."""
        if self.is_lost:
            return True
        self.is_lost = not self._add_text(key, piece)
        return not self.is_lost

    def read_text(self, key: str) -> str | None:
        """Return a field that grows, as far as it came; None if nothing of it came."""
        return str(self._texts[key]) if key in self._texts else None

    def build(self) -> dict[str, Any]:
        """Return the item as far as it came."""
        return self.fields | {key: str(text) for key, text in self._texts.items()}

    def _add_text(self, key: str, piece: str) -> bool:
        if key not in self._texts:
            self._texts[key] = PendingText(self.budget)
        return self._texts[key].add(piece)

    def _add_field(self, key: str, value: Any) -> bool:
        known = self.fields.get(key)
        if key == "type" and known is not None:
            return True
        if isinstance(value, str) and key != "type":
            return self._add_text(key, known + value if isinstance(known, str) and key not in self._texts else value)
        if isinstance(value, list) and isinstance(known, list):
            if not self.budget.spend(len(value)):
                return False
            known += value
            return True
        self.fields[key] = value
        self._texts.pop(key, None)
        return True
