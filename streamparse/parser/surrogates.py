"""Text from clients that cut between the halves of a surrogate pair."""

from __future__ import annotations

_HIGH = ("\ud800", "\udbff")


class SurrogateJoiner:
    """Joins surrogate pairs whose halves come in two pieces; a half that stays alone becomes U+FFFD."""

    __slots__ = ("_high",)

    def __init__(self) -> None:
        self._high = ""

    def join(self, piece: str) -> str:
        """Return the text of a piece, whole characters only; an open half waits for the next one."""
        if not self._high and piece.isascii():
            return piece
        text = self._high + piece
        self._high = text[-1:] if _HIGH[0] <= text[-1:] <= _HIGH[1] else ""
        whole = text[: len(text) - len(self._high)]
        try:
            whole.encode()
        except UnicodeEncodeError:
            return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole

    def end(self) -> str:
        """Return what a half that never found its other one stands for."""
        left, self._high = self._high, ""
        return "\N{REPLACEMENT CHARACTER}" if left else ""
