"""The strings of a JSON text: their escapes, and what they may hold by mistake."""

from __future__ import annotations

import re
from functools import partial

from streamparse.jsonread.source import Source
from streamparse.patterns import plain

__all__ = ["Strings"]

_STRING = {quote: plain(rf"{quote}([^{quote}\\]*+(?:\\.[^{quote}\\]*+)*+)({quote})?", re.DOTALL) for quote in "\"'"}

_HIGH, _LOW, _HEX = "[dD][89abAB][0-9a-fA-F]{2}", "[dD][c-fC-F][0-9a-fA-F]{2}", "[0-9a-fA-F]"
_ANY_SPECIAL = (
    rf"(?P<pair>\\u{_HIGH}\\u{_LOW})|(?P<unit>\\u{_HEX}{{4}})|(?P<short>\\[\"\\/bfnrt])"
    r"|(?P<other>\\'?)|(?P<control>[\x00-\x1f]+)"
)
_SPECIAL = plain(_ANY_SPECIAL)
_SPECIAL_OF_CUT_STRING = plain(rf"(?P<half>\\u(?:{_HIGH}(?:\\(?:u{_HEX}{{0,3}})?)?|{_HEX}{{0,3}})\Z)|{_ANY_SPECIAL}")
_NOT_PLAIN = plain(r"[\\\x00-\x1f]")
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Strings(Source):
    """Reads a string where one begins."""

    def _string(self, quote: str) -> tuple[str, bool]:
        """A string as far as it came, half escapes held back, and whether its closing quote did."""
        start = self._at
        match = _STRING[quote].match(self._text, start)
        assert match is not None, "the pattern matches whatever begins with the quote"
        body, closed = match[1], match[2] is not None
        self._at = match.end()
        if quote == "'":
            self._repair("single_quotes", start)
        if "utf8" in self.repairs:
            body = body.encode(errors="surrogateescape").decode(errors="replace")
        if _NOT_PLAIN.search(body):
            special = _SPECIAL if closed else _SPECIAL_OF_CUT_STRING
            body = special.sub(partial(self._special, quote, start + 1), body)
        return body, closed

    def _special(self, quote: str, start: int, match: re.Match[str]) -> str:
        """What an escape or a control character in a string stands for; `start` is where the string's body begins."""
        kind, piece = match.lastgroup, match.group()
        if kind == "half":
            return ""
        if kind == "short":
            return _SHORT_ESCAPES.get(piece[1], piece[1])
        if kind == "pair":
            return chr(0x10000 + ((int(piece[2:6], 16) & 0x3FF) << 10 | int(piece[8:], 16) & 0x3FF))
        if kind == "unit":
            code = int(piece[2:], 16)
            if 0xD800 <= code <= 0xDFFF:
                self._repair("lone_surrogate", start + match.start())
                code = 0xFFFD
            return chr(code)
        if kind == "other" and piece[1:] == quote:
            return quote
        self._repair("control_char" if kind == "control" else "bad_escape", start + match.start())
        return piece
