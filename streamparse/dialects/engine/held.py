"""Calls that were told and may still be revoked, with the text that they stand in."""

from __future__ import annotations

from io import StringIO

from streamparse.sink import Call

__all__ = ["HeldCalls"]


class HeldCalls:
    """Complete calls, in order, and all text from the marker of the first one on."""

    __slots__ = ("_text", "calls")

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self._text = StringIO()

    def add(self, calls: list[Call], text: str) -> None:
        """Hold calls, and the text that was read of them."""
        self.calls += calls
        self._text.write(text)

    def add_text(self, text: str) -> None:
        """Hold what stands between calls, or behind them."""
        self._text.write(text)

    def take(self) -> tuple[list[Call], str]:
        """Return the calls and their text, and hold nothing."""
        calls, text = self.calls, self._text.getvalue()
        self.calls, self._text = [], StringIO()
        return calls, text
