"""The tolerant reader: any text, without recursion, up to the fault if it has one."""

from __future__ import annotations

import re
from typing import Any

from streamparse.json.c_reader import BLANKS, finite
from streamparse.json.result import Mode
from streamparse.json.source import end_of
from streamparse.json.strings import Strings
from streamparse.limits import Limits
from streamparse.patterns import plain

__all__ = ["Tolerant"]

_LITERALS = {"true": True, "false": False, "null": None}
_PYTHON_LITERALS = {"True": True, "False": False, "None": None}
_NOT_FINITE = plain(r"(?:NaN|-?Infinity)(?!\w)", re.ASCII)

_FENCE = plain(r"[ \t\n\r]*+```[\w+-]*+[ \t]*+\r?\n", re.ASCII)
_WORD = plain(r"[A-Za-z_$][\w$]*+", re.ASCII)
_NUMBER = plain(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_NUMBER_BEGUN = plain(r"-?(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?(?:(?<=[0-9])[eE][+-]?[0-9]*+)?)?")
_NUMBER_GOES_ON = plain(r"[\w.+-]", re.ASCII)


class Tolerant(Strings):
    """Reads any text; the value is in `root` as far as it was read, also when `document` raises.

    Containers are put where they belong when they open.  With `growing` the end of the text does not
    end a number.
    """

    def __init__(self, text: str | bytes, mode: Mode, limits: Limits, growing: bool = False) -> None:
        super().__init__(text, mode)
        self.root: list[Any] = []
        self._quotes = "\"'" if self._heal else '"'
        self._limits = limits
        self._growing = growing
        self._open: list[Any] = []

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
            self._fail("json_syntax" if self._text.strip(BLANKS + "\ufeff") else "json_empty", self._at)

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
        end = self._at = end_of(_NUMBER_BEGUN, self._text, start)
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
            return int(digits) if digits.lstrip("-").isdigit() else finite(digits)
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


def _put(container: Any, key: str | None, value: Any) -> None:
    if key is None:
        container.append(value)
    else:
        container[key] = value
