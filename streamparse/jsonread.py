"""Reads one whole JSON text, as strictly or as kindly as its source deserves.

- `strict` is RFC 8259 and what it leaves open settled: no duplicate keys, no lone surrogates, no byte order mark.
- `lenient`, for arguments that models write, accepts what has one reading only: `bom`, `utf8`,
  `lone_surrogate` (both become U+FFFD), `control_char`, `bad_escape` (kept as they stand), `trailing_comma`,
  `duplicate_key` (the last one counts).
- `heal`, for whole responses, accepts besides `single_quotes`, `unquoted_key`, `python_literal`, `comment`, `fence`.

Whatever was accepted beyond RFC 8259 is named in `Reading.repairs`.  In no mode is a truncated value closed, a
number that is not finite read, or a name, a call or a tuple looked at.

Clean text is read by the standard library's C scanner.  Whenever that is not certain to be exact, the
tolerant reader of this module reads the text again, without recursion, and finds the value or the fault.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any, Literal, NoReturn, TypeAlias

import msgspec

from streamparse.errors import CODES
from streamparse.limits import Limits
from streamparse.patterns import plain

__all__ = ["JSONError", "Mode", "Reading", "read", "snapshot"]

Mode: TypeAlias = Literal["strict", "lenient", "heal"]
"""How much a reader accepts."""

_DEFAULT_LIMITS = Limits()


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


def read(text: str | bytes, mode: Mode = "lenient", limits: Limits = _DEFAULT_LIMITS) -> Reading:
    """Reads a text that holds one JSON value and nothing else.

    Of the limits, `max_depth`, `max_number` and `max_key` count here.  Integers are exact.
    Raises JSONError, and for no text anything else.
    """
    try:
        return Reading(_read_clean(text, limits))
    except (ValueError, RecursionError):
        reader = _Reader(text, mode, limits)
        return Reading(reader.document(), tuple(reader.repairs))


def snapshot(text: str) -> Any:
    """The part of a value that is still being written that no further text can change.

    Containers are shown as they fill, strings as far as they came, a number or a literal once it
    is whole, a key with its value; None when there is nothing to show yet.  Reads as `lenient`, up to
    the first fault, and never raises.
    """
    reader = _Reader(text, "lenient", _DEFAULT_LIMITS, growing=True)
    try:
        reader.document()
    except JSONError:
        pass
    return reader.root[0] if reader.root else None


# --- clean text ---------------------------------------------------------------------------------------------

_BLANKS = " \t\n\r"
_BRACKET = plain(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|([{}\[\]])', re.DOTALL)
_RISE = {"{": 1, "[": 1, "}": -1, "]": -1, "": 0}
_SURROGATE_ESCAPE = plain(r"\\u[dD][89a-fA-F]")


def _read_clean(text: str | bytes, limits: Limits) -> Any:
    """Reads text that every mode accepts as it is; a ValueError or RecursionError means: perhaps it is not."""
    if isinstance(text, bytes):
        text = text.decode()
    elif not text.isascii():
        text.encode()  # a lone surrogate is a ValueError
    text = text.strip(_BLANKS)
    size = len(text)
    if limits.max_depth is not None and text.count("[") + text.count("{") > limits.max_depth < _depth(text):
        raise ValueError("too deep")
    number, key = limits.max_number, limits.max_key
    scan = _clean_scanner(
        None if number is None or size <= number else number, None if key is None or size <= key else key
    )
    value, end = scan(text, 0)
    if end != size:
        raise ValueError("something follows")
    if "\\u" in text and _SURROGATE_ESCAPE.search(text):
        json.dumps(value, ensure_ascii=False).encode()  # a lone surrogate is a ValueError
    return value


def _depth(text: str) -> int:
    """How deep the brackets of a JSON text nest."""
    return max(accumulate(map(_RISE.__getitem__, _BRACKET.findall(text))))


@lru_cache(maxsize=16)
def _clean_scanner(max_number: int | None, max_key: int | None) -> Callable[[str, int], tuple[Any, int]]:
    """The C scanner, made to raise ValueError where it would read what no mode accepts unrepaired."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs) or (max_key is not None and any(len(key) > max_key for key in result)):
            raise ValueError("a duplicate or long key")
        return result

    def number(read_digits: Callable[[str], Any], digits: str) -> Any:
        if max_number is not None and len(digits) > max_number:
            raise ValueError("a long number")
        return read_digits(digits)

    decoder = json.JSONDecoder(
        object_pairs_hook=members,
        parse_int=None if max_number is None else partial(number, int),
        parse_float=partial(number, _finite),
        parse_constant=_finite,
    )
    return decoder.raw_decode


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value


# --- any text -----------------------------------------------------------------------------------------------

_CODE_OF_REPAIR = {
    "bom": "json_bom",
    "utf8": "utf8_invalid",
    "lone_surrogate": "json_lone_surrogate",
    "control_char": "json_control_char",
    "bad_escape": "json_bad_escape",
    "duplicate_key": "json_duplicate_key",
}
"""What a repaired text is in strict mode; where nothing is said, `json_syntax`."""

_LITERALS = {"true": True, "false": False, "null": None}
_PYTHON_LITERALS = {"True": True, "False": False, "None": None}
_NOT_FINITE = plain(r"(?:NaN|-?Infinity)(?!\w)", re.ASCII)

_BLANK = plain(r"[ \t\n\r]*+")
_COMMENT = plain(r"//[^\n\r]*+|/\*.*?\*/", re.DOTALL)
_FENCE = plain(r"[ \t\n\r]*+```[\w+-]*+[ \t]*+\r?\n", re.ASCII)
_WORD = plain(r"[A-Za-z_$][\w$]*+", re.ASCII)
_NUMBER = plain(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_BEGUN = plain(r"-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?(?:(?<=[0-9])[eE][+-]?[0-9]*+)?)?")
_NUMBER_GOES_ON = plain(r"[\w.+-]", re.ASCII)
_STRING = {
    quote: re.compile(rf"{quote}([^{quote}\\]*+(?:\\.[^{quote}\\]*+)*+)({quote})?", re.DOTALL) for quote in "\"'"
}
_LONE_SURROGATE = plain("[\ud800-\udfff]")

_HIGH, _LOW, _HEX = "[dD][89abAB][0-9a-fA-F]{2}", "[dD][c-fC-F][0-9a-fA-F]{2}", "[0-9a-fA-F]"
_SPECIAL = plain(
    rf"(?P<pair>\\u{_HIGH}\\u{_LOW})|(?P<unit>\\u{_HEX}{{4}})|(?P<short>\\[\"\\/bfnrt])"
    r"|(?P<other>\\'?)|(?P<control>[\x00-\x1f]+)"
)
_SPECIAL_OF_CUT_STRING = plain(
    rf"(?P<half>\\u(?:{_HIGH}(?:\\(?:u{_HEX}{{0,3}})?)?|{_HEX}{{0,3}})\Z)|{_SPECIAL.pattern}"
)
_NOT_PLAIN = plain(r"[\\\x00-\x1f]")
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class _Reader:
    """Reads any text; the value is in `root` as far as it was read, also when `document` raises.

    Containers are put where they belong when they open.  With `growing` the end of the text does not
    end a number.
    """

    def __init__(self, text: str | bytes, mode: Mode, limits: Limits, growing: bool = False) -> None:
        self.root: list[Any] = []
        self.repairs: dict[str, None] = {}
        self._strict = mode == "strict"
        self._heal = mode == "heal"
        self._quotes = "\"'" if self._heal else '"'
        self._limits = limits
        self._growing = growing
        self._open: list[Any] = []
        self._at = 0
        self._text = self._decode(text)

    def document(self) -> Any:
        """The value of a text that holds nothing else; raises JSONError."""
        self._begin()
        self._value(self.root)
        while self._open:
            self._step(self._open[-1])
        if "fence" in self.repairs and self._next() == "`" and self._text.startswith("```", self._at):
            self._at += 3
        self._skip()
        if self._at != len(self._text):
            self._fail("json_trailing", self._at)
        return self.root[0]

    # The text.

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
        self._at = _end(_BLANK, self._text, self._at)
        while self._heal and self._text.startswith("/", self._at):
            comment = _COMMENT.match(self._text, self._at)
            if comment is None:
                cut = self._text.startswith("/*", self._at)
                self._fail("json_truncated" if cut else "json_syntax", len(self._text) if cut else self._at)
            self._repair("comment", self._at)
            self._at = _end(_BLANK, self._text, comment.end())

    def _next(self) -> str:
        """The next character that counts, and goes to it."""
        self._skip()
        if self._at == len(self._text):
            self._fail("json_truncated", self._at)
        return self._text[self._at]

    def _begin(self) -> None:
        """Goes to the root value, past what may stand before it."""
        if self._text.startswith("\ufeff"):
            self._repair("bom", 0)
            self._at = 1
        fence = _FENCE.match(self._text, self._at) if self._heal else None
        if fence is not None:
            self._repair("fence", self._at)
            self._at = fence.end()
        self._skip()
        if self._at == len(self._text):
            self._fail("json_syntax" if self._text.strip(_BLANKS + "\ufeff") else "json_empty", self._at)

    # Values.

    def _value(self, container: Any, key: str | None = None) -> None:
        """Reads a scalar, or the opening bracket of a container, into where it belongs."""
        char = self._next()
        if char in "{[":
            if len(self._open) == self._limits.max_depth:
                self._fail("json_depth", self._at)
            value: Any = {} if char == "{" else []
            self._open.append(value)
            self._at += 1
        elif char in self._quotes:
            value, closed = self._string(char)
            if not closed:
                _put(container, key, value)
                self._fail("json_truncated", len(self._text))
        elif _NOT_FINITE.match(self._text, self._at):
            self._fail("json_non_finite", self._at)
        elif char in "-0123456789":
            value = self._number()
        else:
            value = self._word()
        _put(container, key, value)

    def _step(self, container: Any) -> None:
        """Reads the next member of the innermost container, or its end."""
        closer = "}" if isinstance(container, dict) else "]"
        char = self._next()
        if container and char != closer:
            if char != ",":
                self._fail("json_syntax", self._at)
            self._at += 1
            char = self._next()
            if char == closer:
                self._repair("trailing_comma", self._at)
        if char == closer:
            self._at += 1
            self._open.pop()
        else:
            self._value(container, self._key(container) if closer == "}" else None)

    def _key(self, members: dict[str, Any]) -> str:
        """Reads a key and its colon."""
        start, char = self._at, self._next()
        word = _WORD.match(self._text, start) if self._heal else None
        closed = True
        if char in self._quotes:
            key, closed = self._string(char)
        elif word is not None:
            self._repair("unquoted_key", start)
            key, self._at = word.group(), word.end()
        else:
            self._fail("json_syntax", start)
        if self._limits.max_key is not None and len(key) > self._limits.max_key:
            self._fail("json_key_too_long", start)
        if not closed:
            self._fail("json_truncated", len(self._text))
        if self._next() != ":":
            self._fail("json_syntax", self._at)
        self._at += 1
        if key in members:
            self._repair("duplicate_key", start, f"the key {key[:80]!r} twice in one object")
        return key

    def _number(self) -> int | float:
        start = self._at
        end = self._at = _end(_NUMBER_BEGUN, self._text, start)
        cut = end == len(self._text)
        limit = self._limits.max_number
        if limit is not None and end - start > limit:
            self._fail("json_number_too_long", start + limit)
        if cut and (self._open or self._growing):
            self._fail("json_truncated", end)
        digits = self._text[start:end]
        if _NUMBER.fullmatch(digits) is None:
            self._fail("json_truncated" if cut else "json_syntax", end)
        if _NUMBER_GOES_ON.match(self._text, end):
            self._fail("json_syntax", end)
        try:
            return int(digits) if digits.lstrip("-").isdigit() else _finite(digits)
        except ValueError:  # int() has a limit of its own, sys.get_int_max_str_digits()
            self._fail("json_number_too_long" if digits.lstrip("-").isdigit() else "json_non_finite", start)

    def _word(self) -> bool | None:
        match = _WORD.match(self._text, self._at)
        word = match.group() if match else ""
        known = {**_LITERALS, **_PYTHON_LITERALS} if self._heal else _LITERALS
        end = self._at + len(word)
        if word not in known:
            cut = word and end == len(self._text) and any(literal.startswith(word) for literal in known)
            self._fail("json_truncated" if cut else "json_syntax", end if cut else self._at)
        if word in _PYTHON_LITERALS:
            self._repair("python_literal", self._at)
        self._at = end
        return known[word]

    # Strings.

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


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where the match of a pattern that matches any text ends."""
    match = pattern.match(text, at)
    return at if match is None else match.end()


def _put(container: Any, key: str | None, value: Any) -> None:
    if key is None:
        container.append(value)
    else:
        container[key] = value
