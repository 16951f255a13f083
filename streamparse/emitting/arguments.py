"""The argument text of one call on its way out: nothing leaves that is not the beginning of valid JSON.

A client of another wire knows nothing of repairs, and reads half of a value as it comes (Anthropic's SDK raises at the
first character that JSON does not allow).  So two promises hold for what it is sent:

1. At every moment it is the beginning of a JSON object.  What would spoil that waits; if the call turns out to be
   complete, the rest is written from the arguments that were read.
2. It is a whole object only if the call is complete: the closing brace goes out with `ToolCallComplete`, never before.
   A call that broke can be told by every reader of JSON.

Strings leave as they come; a number, a literal, an escape or a comma waits for the character that confirms it.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from streamparse.emitting.json_completion import rest_of
from streamparse.events import ToolCallComplete

__all__ = ["INSIDE", "Arguments"]

_ROOT: Final = 0  # the object has not begun
_VALUE: Final = 1  # a value must come
_FIRST: Final = 2  # a value, or the end of its array
_KEY: Final = 3  # a key must come
_FIRST_KEY: Final = 4  # a key, or the end of its object
_COLON: Final = 5
_AFTER: Final = 6  # a comma, or the end of what is open
_IN_KEY: Final = 7
_IN_STRING: Final = 8
_END: Final = 9  # the object is whole
_ODD: Final = 10  # no JSON: nothing more leaves before the end

_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HALF = r"[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?![dD][89a-fA-F])[0-9a-fA-F]{4}"
INSIDE: Final = re.compile(rf'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u(?:{_HALF}))[^"\\\x00-\x1f]*+)*+')
"""As much of the inside of a JSON string as is whole characters and whole escapes; matches everywhere."""

_ESCAPE_SIZE: Final = 12  # of a surrogate pair
_SCALAR = r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?=[ \t\r\n,}\]])"
_TOKEN = re.compile(rf'[ \t\r\n]*(?:([{{}}\[\]:,"])|{_SCALAR})')
_MAYBE_MORE = re.compile(r"[ \t\r\n]*[-+.0-9a-zA-Z]*")
_LONGEST_SCALAR: Final = 1100  # looking at more again and again would make the work grow with its square

_BLANK: Final = " \t\r\n"


class Arguments:
    """Passes a call's argument text on, as far as it is valid JSON."""

    __slots__ = ("_rest", "_sent", "_stack", "_state")

    def __init__(self) -> None:
        self._state = _ROOT
        self._stack: list[str] = []
        self._rest = ""  # came, and has not left
        self._sent = 0

    def feed(self, fragment: str) -> str:
        """Take the next piece; return what may leave."""
        if self._state == _IN_STRING and not self._rest and _PLAIN.fullmatch(fragment):
            self._sent += len(fragment)
            return fragment
        if self._state >= _END:
            self._rest = "" if self._state == _ODD else self._rest + fragment
            return ""
        text = self._rest + fragment
        safe = self._walk(text)
        self._rest = text[safe:]
        self._sent += safe
        return text[:safe]

    def finish(self, call: ToolCallComplete) -> str | None:
        """Return what is missing of a complete call; None if no rest can make one of what has left."""
        if self._state == _END and call.source != "recovered" and self._rest.strip(_BLANK) == "}":
            return self._rest
        sent = call.raw[: self._sent]
        rest = rest_of(sent, call.arguments)
        return rest if rest is not None and _says(sent + rest, call.arguments) else None

    def break_off(self) -> str:
        """Return what makes sure that a broken call is no valid JSON, not even as `""` for no arguments."""
        return "" if self._sent else "{"

    # -- inside ----------------------------------------------------------------------------------------

    def _walk(self, text: str) -> int:
        """Follow the text from where the last piece ended; return up to where it may leave."""
        place = safe = 0
        while place < len(text) and self._state < _END:
            if self._state in (_IN_KEY, _IN_STRING):
                safe = place = self._string(text, place)
                if self._state in (_IN_KEY, _IN_STRING):
                    break
                continue
            token = _TOKEN.match(text, place)
            if token is None:
                self._wait_or_stop(text, place)
                break
            if not self._take(token[1]):
                self._state = _ODD
            place = token.end()
            if token[1] != "," and self._state < _END:
                safe = place
        if safe < place and self._state < _END:
            self._state = _AFTER  # the comma waits, and will be read again
        return safe

    def _string(self, text: str, place: int) -> int:
        """Go on inside of a string; return where it ends, or what waits begins."""
        inside = INSIDE.match(text, place)
        assert inside is not None
        end = inside.end()
        if end < len(text) and text[end] == '"':
            self._state = _COLON if self._state == _IN_KEY else _AFTER
            return end + 1
        if end < len(text) and (text[end] != "\\" or len(text) - end >= _ESCAPE_SIZE):
            self._state = _ODD
        return end

    def _wait_or_stop(self, text: str, place: int) -> None:
        """No token: blanks, a scalar that may go on, or something that JSON does not have."""
        maybe = _MAYBE_MORE.match(text, place)
        assert maybe is not None
        if maybe.end() < len(text) or maybe.end() - place > _LONGEST_SCALAR:
            self._state = _ODD

    def _take(self, mark: str | None) -> bool:
        """Take a token, None for a scalar; whether it may stand here."""
        state = self._state
        if mark == '"':
            self._state = _IN_KEY if state in (_KEY, _FIRST_KEY) else _IN_STRING
            return state in (_KEY, _FIRST_KEY, _VALUE, _FIRST)
        if mark == ":":
            self._state = _VALUE
            return state == _COLON
        if mark == ",":
            self._state = _KEY if self._stack[-1:] == ["{"] else _VALUE
            return state == _AFTER
        if mark in ("{", "["):
            self._stack.append(mark)
            self._state = _FIRST_KEY if mark == "{" else _FIRST
            return state in (_VALUE, _FIRST) or (state == _ROOT and mark == "{")
        if mark is None:
            self._state = _AFTER
            return state in (_VALUE, _FIRST)
        return self._close(mark, state)

    def _close(self, mark: str, state: int) -> bool:
        opened = self._stack.pop() if self._stack else ""
        self._state = _AFTER if self._stack else _END
        return opened + mark in ("{}", "[]") and state in (_AFTER, _FIRST_KEY if mark == "}" else _FIRST)


def _says(text: str, value: Any) -> bool:
    try:
        return bool(msgspec.json.decode(text) == value)
    except (ValueError, RecursionError):
        return False
