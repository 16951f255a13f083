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
from streamparse.patterns import BLANKS

_VALUE: Final = '{["s'  # the tokens that begin a value; `s` is any number or literal
_CLOSING: Final = {"{": "}", "[": "]"}

_PLAIN = re.compile(r'[^"\\\x00-\x1f]*')
_HALF = r"[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?![dD][89a-fA-F])[0-9a-fA-F]{4}"
INSIDE: Final = re.compile(rf'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u(?:{_HALF}))[^"\\\x00-\x1f]*+)*+')
"""The inside of a JSON string as far as it is whole characters and whole escapes; also matches the empty text."""

LONGEST_ESCAPE: Final = 12  # source: RFC 8259, section 7: two escapes of six characters
"""The characters of the longest escape, a surrogate pair."""

_SCALAR = r"(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?=[ \t\r\n,}\]])"
_TOKEN = re.compile(rf'[ \t\r\n]*(?:([{{}}\[\]:,"])|{_SCALAR})')
_MAYBE_MORE = re.compile(r"[ \t\r\n]*[-+.0-9a-zA-Z]*")
_LONGEST_SCALAR: Final = 1100  # bound: the characters that are looked at again with each piece

_WHOLE_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*+)("?)|[{}\[\],:]|[^\s{}\[\],:"]+')


class ArgumentWriter:
    """Passes a call's argument text on, as far as it is valid JSON."""

    __slots__ = ("_after_string", "_closers", "_expected", "_held", "_is_whole", "_sent")

    def __init__(self) -> None:
        self._expected = "{"  # the tokens that may come next; "" after the end, and after text that is not JSON
        self._after_string = ""  # inside a string: the tokens that may follow it
        self._closers: list[str] = []
        self._is_whole = False
        self._held = ""  # text that came and was not sent
        self._sent = 0

    def feed(self, fragment: str) -> str:
        """Take the next piece; return what may be sent."""
        if self._after_string and not self._held and _PLAIN.fullmatch(fragment):
            self._sent += len(fragment)
            return fragment
        if not self._expected:
            self._held = self._held + fragment if self._is_whole else ""
            return ""
        text = self._held + fragment
        safe = self._walk(text)
        self._held = text[safe:]
        self._sent += safe
        return text[:safe]

    def finish(self, call: ToolCallComplete) -> str | None:
        """Return the rest of a complete call's arguments; None if no text completes the part that was sent."""
        if self._is_whole and call.source != "repaired" and self._held.strip(BLANKS) == "}":
            return self._held
        sent = call.raw[: self._sent]
        # Where a key came twice, tokens cannot be matched by counting; then closing all brackets may be enough.
        rests = (complete_json(sent, call.arguments), "".join(reversed(self._closers)) or "}")
        return next((rest for rest in rests if rest is not None and _is_decoded_as(sent + rest, call.arguments)), None)

    def abort(self) -> str:
        """Return what has to be sent so that a broken call is not valid JSON; clients read `""` as no arguments."""
        return "" if self._sent else "{"

    # -- inside ----------------------------------------------------------------------------------------

    def _walk(self, text: str) -> int:
        """Follow the text from where the last piece ended; return up to where it may be sent."""
        place = safe = 0
        while place < len(text) and self._expected:
            if self._after_string:
                safe = place = self._read_string(text, place)
                if self._after_string:
                    break
                continue
            token = _TOKEN.match(text, place)
            if token is None:
                self._wait_or_stop(text, place)
                break
            self._take(token[1] or "s")
            place = token.end()
            if token[1] != "," and self._expected:
                safe = place
        if safe < place and self._expected:
            self._expected = self._list_after_value()  # the comma waits, and will be read again
        return safe

    def _read_string(self, text: str, place: int) -> int:
        """Go on inside a string; return where it ends, or where an escape begins that is not whole."""
        inside = INSIDE.match(text, place)
        assert inside is not None
        end = inside.end()
        if end < len(text) and text[end] == '"':
            self._expected, self._after_string = self._after_string, ""
            return end + 1
        if end < len(text) and (text[end] != "\\" or len(text) - end >= LONGEST_ESCAPE):
            self._expected = self._after_string = ""
        return end

    def _wait_or_stop(self, text: str, place: int) -> None:
        """Decide about a text that is no token: whitespace, a scalar that may go on, or something that is not JSON."""
        maybe = _MAYBE_MORE.match(text, place)
        assert maybe is not None
        if maybe.end() < len(text) or maybe.end() - place > _LONGEST_SCALAR:
            self._expected = ""

    def _take(self, token: str) -> None:
        if token not in self._expected:
            self._expected = ""
        elif token == '"':
            self._after_string = self._list_after_value() if "s" in self._expected else ":"
        elif token == "s":
            self._expected = self._list_after_value()
        elif token in "{[":
            self._closers.append(_CLOSING[token])
            self._expected = '"}' if token == "{" else _VALUE + "]"
        elif token in "}]":
            self._closers.pop()
            self._is_whole = not self._closers
            self._expected = self._list_after_value()
        else:
            self._expected = '"' if token == "," and self._closers[-1] == "}" else _VALUE

    def _list_after_value(self) -> str:
        return "," + self._closers[-1] if self._closers else ""


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
