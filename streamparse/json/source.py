"""A text that is read from the front: where the reader stands, what it repaired, what went wrong."""

from __future__ import annotations

import re
from typing import NoReturn

from streamparse.errors import CODES
from streamparse.json.result import JSONError, Mode
from streamparse.patterns import plain

__all__ = ["Source", "end_of"]

_CODE_OF_REPAIR = {
    "bom": "json_bom",
    "utf8": "utf8_invalid",
    "lone_surrogate": "json_lone_surrogate",
    "control_char": "json_control_char",
    "bad_escape": "json_bad_escape",
    "duplicate_key": "json_duplicate_key",
}
"""What a repaired text is in strict mode; where nothing is said, `json_syntax`."""

_BLANK = plain(r"[ \t\n\r]*+")
_COMMENT = plain(r"//[^\n\r]*+|/\*.*?\*/", re.DOTALL)
_LONE_SURROGATE = plain("[\ud800-\udfff]")


class Source:
    """Decodes a text, skips what does not count, and names each repair once; `strict` allows none."""

    def __init__(self, text: str | bytes, mode: Mode) -> None:
        self.repairs: dict[str, None] = {}
        self._strict = mode == "strict"
        self._heal = mode == "heal"
        self._at = 0
        self._text = self._decode(text)

    def _decode(self, text: str | bytes) -> str:
        """Bytes that are not UTF-8 become surrogates until their string is read, so that offsets can be told."""
        if isinstance(text, bytes):
            try:
                return text.decode()
            except UnicodeDecodeError as error:
                self._text = text[: error.start].decode()
                self._repair("utf8", len(self._text))
                return text.decode(errors="surrogateescape")
        self._text = text
        lone = _LONE_SURROGATE.search(text)
        if lone is None:
            return text
        self._repair("lone_surrogate", lone.start())
        return _LONE_SURROGATE.sub("\ufffd", text)

    def _fail(self, code: str, at: int, message: str = "") -> NoReturn:
        offset = len(self._text[:at].encode(errors="surrogateescape"))
        raise JSONError(code, message or CODES[code], offset)

    def _repair(self, name: str, at: int, message: str = "") -> None:
        if self._strict:
            self._fail(_CODE_OF_REPAIR.get(name, "json_syntax"), at, message)
        self.repairs[name] = None

    def _skip(self) -> None:
        """Goes past blanks and, when healing, comments."""
        self._at = end_of(_BLANK, self._text, self._at)
        while self._heal and self._text.startswith("/", self._at):
            comment = _COMMENT.match(self._text, self._at)
            if comment is None:
                cut = self._text.startswith("/*", self._at)
                self._fail("json_truncated" if cut else "json_syntax", len(self._text) if cut else self._at)
            self._repair("comment", self._at)
            self._at = end_of(_BLANK, self._text, comment.end())

    def _next(self) -> str:
        """The next character that counts, and goes to it."""
        self._skip()
        if self._at == len(self._text):
            self._fail("json_truncated", self._at)
        return self._text[self._at]


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of a pattern that matches any text ends."""
    match = pattern.match(text, at)
    return at if match is None else match.end()
