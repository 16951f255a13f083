"""The tolerant reader: reads any text, without recursion, up to the fault if it has one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Literal, NoReturn, TypeAlias

import msgspec

from streamparse.errors import CODES
from streamparse.limits import Limits
from streamparse.patterns import lazy_re

Mode: TypeAlias = Literal["strict", "lenient", "heal"]
"""How much a reader accepts; `streamparse.json` has the list."""

_CODE_OF_REPAIR = {
    "bom": "json_bom",
    "utf8": "utf8_invalid",
    "lone_surrogate": "json_lone_surrogate",
    "control_char": "json_control_char",
    "bad_escape": "json_bad_escape",
    "duplicate_key": "json_duplicate_key",
}
"""The error code of each repair in strict mode; of all others it is `json_syntax`."""

BLANKS = " \t\n\r"
LITERALS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_PYTHON_LITERALS = {"True": True, "False": False, "None": None}

BLANK = lazy_re(r"[ \t\n\r]*+")
LONE_SURROGATE = lazy_re("[\ud800-\udfff]")
NUMBER = lazy_re(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_BEGUN = lazy_re(r"-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?(?:(?<=[0-9])[eE][+-]?[0-9]*+)?)?")
_NUMBER_GOES_ON = lazy_re(r"[\w.+-]", re.ASCII)
_NOT_FINITE = lazy_re(r"(?:NaN|-?Infinity)(?!\w)", re.ASCII)
_WORD = lazy_re(r"[A-Za-z_$][\w$]*+", re.ASCII)
_COMMENT = lazy_re(r"//[^\n\r]*+|/\*.*?\*/", re.DOTALL)
_FENCE = lazy_re(r"[ \t\n\r]*+```[\w+-]*+[ \t]*+\r?\n", re.ASCII)

_STRING = {quote: lazy_re(rf"{quote}([^{quote}\\]*+(?:\\.[^{quote}\\]*+)*+)({quote})?", re.DOTALL) for quote in "\"'"}

_HIGH, _LOW, _HEX = "[dD][89abAB][0-9a-fA-F]{2}", "[dD][c-fC-F][0-9a-fA-F]{2}", "[0-9a-fA-F]"
_ANY_SPECIAL = (
    rf"(?P<pair>\\u{_HIGH}\\u{_LOW})|(?P<unit>\\u{_HEX}{{4}})|(?P<short>\\[\"\\/bfnrt])"
    r"|(?P<other>\\'?)|(?P<control>[\x00-\x1f]+)"
)
_SPECIAL = lazy_re(_ANY_SPECIAL)
_SPECIAL_OF_CUT_STRING = lazy_re(rf"(?P<half>\\u(?:{_HIGH}(?:\\(?:u{_HEX}{{0,3}})?)?|{_HEX}{{0,3}})\Z)|{_ANY_SPECIAL}")
_NOT_PLAIN = lazy_re(r"[\\\x00-\x1f]")
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class JSONError(ValueError):
    """The text is not one JSON value, or breaks a limit.

    `code` is one of `streamparse.errors.CODES`; `offset` counts the bytes (of text: as UTF-8) before the first
    one that is wrong.
    """

    def __init__(self, code: str, message: str, offset: int) -> None:
        super().__init__(f"{message} (at byte {offset})")
        self.code = code
        self.message = message
        self.offset = offset


class Reading(msgspec.Struct, frozen=True):
    """A value, and the names of the repairs that reading it took, in order of appearance."""

    value: Any
    repairs: tuple[str, ...] = ()


class TolerantReader:
    """Reads one text: `read_document` returns its value.

    A container is put where it belongs when it opens.  `repairs` names the accepted deviations from RFC 8259, each
    once, in order of appearance; `strict` accepts none.
    """

    def __init__(self, text: str | bytes, mode: Mode, limits: Limits) -> None:
        self.repairs: dict[str, None] = {}
        self._strict = mode == "strict"
        self._heal = mode == "heal"
        self._at = 0
        self._text = self._decode(text)
        self._quotes = "\"'" if self._heal else '"'
        self._limits = limits
        self._open: list[Any] = []

    def read_document(self) -> Any:
        """Return the value of a text that holds nothing else; raises JSONError."""
        self._skip_head()
        root: list[Any] = []
        self._read_value(root)
        while self._open:
            self._read_member(self._open[-1])
        if "fence" in self.repairs and self._skip_to_next() == "`" and self._text.startswith("```", self._at):
            self._at += 3
        self._skip()
        if self._at != len(self._text):
            self._fail("json_trailing", self._at)
        return root[0]

    def _skip_head(self) -> None:
        """Go to the root value, past a byte order mark and the head of a fence."""
        if self._text.startswith("\ufeff"):
            self._repair("bom", 0)
            self._at = 1
        fence = _FENCE.match(self._text, self._at) if self._heal else None
        if fence is not None:
            self._repair("fence", self._at)
            self._at = fence.end()
        self._skip()
        if self._at == len(self._text):
            self._fail("json_syntax" if self._text.strip(BLANKS + "\ufeff") else "json_empty", self._at)

    def _read_value(self, container: Any, key: str | None = None) -> None:
        """Read a scalar, or the opening bracket of a container, into its container."""
        char = self._skip_to_next()
        if char in "{[":
            if len(self._open) == self._limits.max_depth:
                self._fail("json_depth", self._at)
            value: Any = {} if char == "{" else []
            self._open.append(value)
            self._at += 1
        elif char in self._quotes:
            value, closed = self._read_string(char)
            if not closed:
                self._fail("json_truncated", len(self._text))
        elif _NOT_FINITE.match(self._text, self._at):
            self._fail("json_non_finite", self._at)
        elif char in "-0123456789":
            value = self._read_number()
        else:
            value = self._read_word()
        put_member(container, key, value)

    def _read_member(self, container: Any) -> None:
        """Read the next member of the innermost container, or its end."""
        closer = "}" if isinstance(container, dict) else "]"
        char = self._skip_to_next()
        if container and char != closer:
            if char != ",":
                self._fail("json_syntax", self._at)
            self._at += 1
            char = self._skip_to_next()
            if char == closer:
                self._repair("trailing_comma", self._at)
        if char == closer:
            self._at += 1
            self._open.pop()
        else:
            self._read_value(container, self._read_key(container) if closer == "}" else None)

    def _read_key(self, members: dict[str, Any]) -> str:
        start, char = self._at, self._skip_to_next()
        word = _WORD.match(self._text, start) if self._heal else None
        closed = True
        if char in self._quotes:
            key, closed = self._read_string(char)
        elif word is not None:
            self._repair("unquoted_key", start)
            key, self._at = word.group(), word.end()
        else:
            self._fail("json_syntax", start)
        if self._limits.max_key is not None and len(key) > self._limits.max_key:
            self._fail("json_key_too_long", start)
        if not closed:
            self._fail("json_truncated", len(self._text))
        if self._skip_to_next() != ":":
            self._fail("json_syntax", self._at)
        self._at += 1
        if key in members:
            self._repair("duplicate_key", start, f"the key {key[:80]!r} twice in one object")
        return key

    def _read_number(self) -> int | float:
        start = self._at
        end = self._at = match_end(_NUMBER_BEGUN, self._text, start)
        cut = end == len(self._text)
        limit = self._limits.max_number
        if limit is not None and end - start > limit:
            self._fail("json_number_too_long", start + limit)
        if cut and self._open:
            self._fail("json_truncated", end)
        digits = self._text[start:end]
        if NUMBER.fullmatch(digits) is None:
            self._fail("json_truncated" if cut else "json_syntax", end)
        if _NUMBER_GOES_ON.match(self._text, end):
            self._fail("json_syntax", end)
        try:
            return parse_number(digits)
        except ValueError:  # int() has a limit of its own, sys.get_int_max_str_digits()
            self._fail("json_number_too_long" if digits.lstrip("-").isdigit() else "json_non_finite", start)

    def _read_word(self) -> bool | None:
        match = _WORD.match(self._text, self._at)
        word = match.group() if match else ""
        known = {**LITERALS, **_PYTHON_LITERALS} if self._heal else LITERALS
        end = self._at + len(word)
        if word not in known:
            cut = word and end == len(self._text) and any(literal.startswith(word) for literal in known)
            self._fail("json_truncated" if cut else "json_syntax", end if cut else self._at)
        if word in _PYTHON_LITERALS:
            self._repair("python_literal", self._at)
        self._at = end
        return known[word]

    def _read_string(self, quote: str) -> tuple[str, bool]:
        """Read a string as far as it came, without half an escape; return it, and whether its closing quote came."""
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

    # -- the text --------------------------------------------------------------------------------------

    def _decode(self, text: str | bytes) -> str:
        """Decode a text; bytes that are not UTF-8 become surrogates until their string is read, so that offsets fit."""
        if isinstance(text, bytes):
            try:
                return text.decode()
            except UnicodeDecodeError as error:
                self._text = text[: error.start].decode()
                self._repair("utf8", len(self._text))
                return text.decode(errors="surrogateescape")
        self._text = text
        lone = LONE_SURROGATE.search(text)
        if lone is None:
            return text
        self._repair("lone_surrogate", lone.start())
        return LONE_SURROGATE.sub("\ufffd", text)

    def _fail(self, code: str, at: int, message: str = "") -> NoReturn:
        offset = len(self._text[:at].encode(errors="surrogateescape"))
        raise JSONError(code, message or CODES[code], offset)

    def _repair(self, name: str, at: int, message: str = "") -> None:
        if self._strict:
            self._fail(_CODE_OF_REPAIR.get(name, "json_syntax"), at, message)
        self.repairs[name] = None

    def _skip(self) -> None:
        """Go past blanks and, when healing, comments."""
        self._at = match_end(BLANK, self._text, self._at)
        while self._heal and self._text.startswith("/", self._at):
            comment = _COMMENT.match(self._text, self._at)
            if comment is None:
                cut = self._text.startswith("/*", self._at)
                self._fail("json_truncated" if cut else "json_syntax", len(self._text) if cut else self._at)
            self._repair("comment", self._at)
            self._at = match_end(BLANK, self._text, comment.end())

    def _skip_to_next(self) -> str:
        """Go to the next character that counts, and return it."""
        self._skip()
        if self._at == len(self._text):
            self._fail("json_truncated", self._at)
        return self._text[self._at]


def decode_body(body: str, quote: str, repair: Callable[[str, int], None], *, is_cut: bool) -> tuple[str, str]:
    """Decode the inside of a string; return it, and half an escape at its end, which is held back if the string is cut.

    `repair` is called with the name and the position of each thing that is not JSON.
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
    """Return the meaning of an escape or a control character in a string."""
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


def match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return where the match of a pattern ends that matches any text."""
    match = pattern.match(text, at)
    return at if match is None else match.end()


def put_member(container: Any, key: str | None, value: Any) -> None:
    """Put a value into an object under its key, or at the end of an array."""
    if isinstance(container, dict):
        container[key] = value
    else:
        container.append(value)


def parse_scalar(token: str) -> Any:
    """Return the value of a literal or a number; raises ValueError for anything else, and where `parse_number` does."""
    if token in LITERALS:
        return LITERALS[token]
    if NUMBER.fullmatch(token) is None:
        raise ValueError("neither a literal nor a number")
    return parse_number(token)


def parse_number(digits: str) -> int | float:
    """Return what a JSON number says; raises ValueError beyond the range of floats, and beyond what int() takes."""
    return int(digits) if digits.lstrip("-").isdigit() else parse_finite(digits)


def parse_finite(digits: str) -> float:
    """Return a number as a float; raises ValueError beyond the range of floats, and for NaN."""
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value
