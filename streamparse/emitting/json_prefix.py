"""The argument text of one call on its way out: nothing is sent that is not the beginning of valid JSON.

A client of another wire knows nothing of repairs, and reads a value while it arrives (Anthropic's SDK raises at the
first character that JSON does not allow).  So `ArgumentWriter` keeps two promises for what the client is sent:

1. At every moment it is the beginning of a JSON object.  What would spoil that waits.  If the call turns out to be
   complete, `complete_json` writes the rest from the arguments that were read.
2. It is a whole object only if the call is complete: the closing brace is sent with `ToolCallComplete`, never before.
   So any JSON parser shows a client which call broke.

Strings are sent as they come; a number, a literal, an escape or a comma waits for the character that confirms it.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from streamparse.events import ToolCallComplete

# What must come next.
_ROOT: Final = 0  # the object
_VALUE: Final = 1
_FIRST: Final = 2  # a value, or the end of its array
_KEY: Final = 3
_FIRST_KEY: Final = 4  # a key, or the end of its object
_COLON: Final = 5
_AFTER: Final = 6  # a comma, or the end of what is open
_IN_KEY: Final = 7
_IN_STRING: Final = 8
_END: Final = 9  # the object is whole
_INVALID: Final = 10  # not JSON: nothing more is sent before the end

_STEPS: Final[dict[str | None, dict[int, int]]] = {
    '"': {_KEY: _IN_KEY, _FIRST_KEY: _IN_KEY, _VALUE: _IN_STRING, _FIRST: _IN_STRING},
    ":": {_COLON: _VALUE},
    ",": {_AFTER: _VALUE},  # or _KEY in an object
    "{": {_ROOT: _FIRST_KEY, _VALUE: _FIRST_KEY, _FIRST: _FIRST_KEY},
    "[": {_VALUE: _FIRST, _FIRST: _FIRST},
    "}": {_AFTER: _AFTER, _FIRST_KEY: _AFTER},  # or _END at the root
    "]": {_AFTER: _AFTER, _FIRST: _AFTER},
    None: {_VALUE: _AFTER, _FIRST: _AFTER},  # a number or a literal
}
"""By token and state: the state after the token.  A pair that is missing is not JSON."""
_CLOSING: Final = {"{": "}", "[": "]"}

_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HALF = r"[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?![dD][89a-fA-F])[0-9a-fA-F]{4}"
INSIDE: Final = re.compile(rf'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u(?:{_HALF}))[^"\\\x00-\x1f]*+)*+')
"""The inside of a JSON string as far as it is whole characters and whole escapes; also matches the empty text."""

LONGEST_ESCAPE: Final = 12
"""The characters of the longest escape, a surrogate pair."""

_SCALAR = r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?=[ \t\r\n,}\]])"
_TOKEN = re.compile(rf'[ \t\r\n]*(?:([{{}}\[\]:,"])|{_SCALAR})')
_MAYBE_MORE = re.compile(r"[ \t\r\n]*[-+.0-9a-zA-Z]*")
_LONGEST_SCALAR: Final = 1100  # a longer one, looked at again with each piece, would cost the square of its length
_WHITESPACE: Final = " \t\r\n"

_WHOLE_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)("?)|[{}\[\],:]|[^\s{}\[\],:"]+')


class ArgumentWriter:
    """Passes a call's argument text on, as far as it is valid JSON."""

    __slots__ = ("_held", "_sent", "_stack", "_state")

    def __init__(self) -> None:
        self._state = _ROOT
        self._stack: list[str] = []
        self._held = ""  # text that came and was not sent
        self._sent = 0

    def feed(self, fragment: str) -> str:
        """Take the next piece; return what may be sent."""
        if self._state == _IN_STRING and not self._held and _PLAIN.fullmatch(fragment):
            self._sent += len(fragment)
            return fragment
        if self._state >= _END:
            self._held = "" if self._state == _INVALID else self._held + fragment
            return ""
        text = self._held + fragment
        safe = self._walk(text)
        self._held = text[safe:]
        self._sent += safe
        return text[:safe]

    def finish(self, call: ToolCallComplete) -> str | None:
        """Return the rest of a complete call's arguments; None if no text completes what was sent."""
        if self._state == _END and call.source != "recovered" and self._held.strip(_WHITESPACE) == "}":
            return self._held
        sent = call.raw[: self._sent]
        # Where a key came twice, tokens cannot be matched by counting; then closing all brackets may be enough.
        closing = "".join([_CLOSING[mark] for mark in reversed(self._stack)]) or "}"
        rests = (complete_json(sent, call.arguments), closing)
        return next((rest for rest in rests if rest is not None and _is_decoded_as(sent + rest, call.arguments)), None)

    def abort(self) -> str:
        """Return what has to be sent so that a broken call is not valid JSON; clients read `""` as no arguments."""
        return "" if self._sent else "{"

    # -- inside ----------------------------------------------------------------------------------------

    def _walk(self, text: str) -> int:
        """Follow the text from where the last piece ended; return up to where it may be sent."""
        place = safe = 0
        while place < len(text) and self._state < _END:
            if self._state in (_IN_KEY, _IN_STRING):
                safe = place = self._read_string(text, place)
                if self._state in (_IN_KEY, _IN_STRING):
                    break
                continue
            token = _TOKEN.match(text, place)
            if token is None:
                self._wait_or_stop(text, place)
                break
            self._take(token[1])
            place = token.end()
            if token[1] != "," and self._state < _END:
                safe = place
        if safe < place and self._state < _END:
            self._state = _AFTER  # the comma waits, and will be read again
        return safe

    def _read_string(self, text: str, place: int) -> int:
        """Go on inside a string; return where it ends, or where an escape begins that is not whole."""
        inside = INSIDE.match(text, place)
        assert inside is not None
        end = inside.end()
        if end < len(text) and text[end] == '"':
            self._state = _COLON if self._state == _IN_KEY else _AFTER
            return end + 1
        if end < len(text) and (text[end] != "\\" or len(text) - end >= LONGEST_ESCAPE):
            self._state = _INVALID
        return end

    def _wait_or_stop(self, text: str, place: int) -> None:
        """Decide about a text that is no token: whitespace, a scalar that may go on, or something that is not JSON."""
        maybe = _MAYBE_MORE.match(text, place)
        assert maybe is not None
        if maybe.end() < len(text) or maybe.end() - place > _LONGEST_SCALAR:
            self._state = _INVALID

    def _take(self, token: str | None) -> None:
        """Take a token, None for a number or a literal."""
        state = _STEPS[token].get(self._state, _INVALID)
        if token in ("}", "]") and self._stack and _CLOSING[self._stack[-1]] != token:
            state = _INVALID
        if state == _INVALID:
            pass
        elif token in ("{", "["):
            self._stack.append(token)
        elif token in ("}", "]"):
            self._stack.pop()
            state = _AFTER if self._stack else _END
        elif token == "," and self._stack[-1] == "{":
            state = _KEY
        self._state = state


def complete_json(beginning: str, value: dict[str, Any]) -> str | None:
    """Return the text that completes the beginning to an object equal to `value`; None if no text does.

    The beginning ends after a token other than a comma, or inside a string.  Its tokens are counted, not compared: the
    caller has to check the value of the whole.
    """
    whole = _encode(value)
    wanted = _WHOLE_TOKEN.finditer(whole)
    place = 0  # in `whole`, after as many tokens as the beginning has
    for token in _WHOLE_TOKEN.finditer(beginning):
        known = next(wanted, None)
        if known is None:
            return None
        place = known.end() + (token[0] == ":")  # the space after the colon need not be written
        if token[1] is not None and not token[2]:
            string, begun = json.loads(known[0]) if known[2] else None, json.loads(f'"{token[1]}"')
            if string is None or not string.startswith(begun):
                return None
            return _encode(string[len(begun) :])[1:] + whole[place:]
    return whole[place:]


def _encode(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _is_decoded_as(text: str, value: Any) -> bool:
    try:
        return bool(msgspec.json.decode(text) == value)
    except (ValueError, RecursionError):
        return False
