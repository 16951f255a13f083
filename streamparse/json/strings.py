"""The strings of a JSON text: their escapes, and what they may hold by mistake."""

from __future__ import annotations

import re
from collections.abc import Callable

from streamparse.json.source import Source
from streamparse.patterns import plain

__all__ = ["Strings", "decode_body"]

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
        body, _ = decode_body(body, quote, lambda name, at: self._repair(name, start + 1 + at), is_cut=not closed)
        return body, closed


def decode_body(body: str, quote: str, repair: Callable[[str, int], None], *, is_cut: bool) -> tuple[str, str]:
    """Return what the inside of a string says, and half an escape at its end, which is held back if it is cut.

    `repair` is told the name and the place of what is no JSON.
    """
    if not _NOT_PLAIN.search(body):
        return body, ""
    half = ""

    def read_special(match: re.Match[str]) -> str:
        nonlocal half
        if match.lastgroup == "half":
            half = match.group()
            return ""
        return _read_special(match, quote, repair)

    special = _SPECIAL_OF_CUT_STRING if is_cut else _SPECIAL
    return special.sub(read_special, body), half


def _read_special(match: re.Match[str], quote: str, repair: Callable[[str, int], None]) -> str:
    """What an escape or a control character in a string stands for."""
    kind, piece = match.lastgroup, match.group()
    if kind == "short":
        return _SHORT_ESCAPES.get(piece[1], piece[1])
    if kind == "pair":
        return chr(0x10000 + ((int(piece[2:6], 16) & 0x3FF) << 10 | int(piece[8:], 16) & 0x3FF))
    if kind == "unit":
        code = int(piece[2:], 16)
        if 0xD800 <= code <= 0xDFFF:
            repair("lone_surrogate", match.start())
            code = 0xFFFD
        return chr(code)
    if kind == "other" and piece[1:] == quote:
        return quote
    repair("control_char" if kind == "control" else "bad_escape", match.start())
    return piece
