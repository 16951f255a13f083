"""Where a JSON value ends: a scanner for one object or array that arrives in pieces.

The scanner knows brackets and strings and nothing else, so it can say at the very character that the value
is whole.  That is the earliest safe moment to run a call: no valid JSON continues after the bracket that
closes the root.  Whether what lies between the brackets is JSON is for `streamparse.json` to say.

A `'` outside of a `"` string opens a string too: valid JSON never has one there, and models write Python
dicts, whose strings may hold brackets.  Within `"` strings `'` is data.

Each search ends at the next character that matters and the next one starts after it, so every
character is looked at once, and twice in a string that goes on in the next piece.
"""

from __future__ import annotations

import re

from streamparse.patterns import lazy_re

_CLOSERS = {"{": "}", "[": "]"}
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
# What matters next outside of strings: whole strings do not, and one pattern passes over many of them.
_OUTSIDE = lazy_re(rf"""[^"'{{}}\[\]]*+(?:{_STRING}[^"'{{}}\[\]]*+)*+["'{{}}\[\]]""", re.DOTALL)
# The same inside a string of either kind.
_INSIDE = {'"': lazy_re(r'["\\]'), "'": lazy_re(r"['\\]")}
_ESCAPED = {quote: "\\" + quote for quote in "\"'"}


class Scanner:
    """Finds the end of one bracketed JSON value in text that is cut anywhere.

    The first character given must be the root's `{` or `[`.  How the text is cut changes nothing: not
    the end, not the error, not its place.  `closed` says that the root's closing bracket has come;
    `error` is None or a code of `streamparse.errors.CODES`: `json_depth` for the bracket that would make
    more than `max_depth` open ones (None: no bound), `json_syntax` for a closing bracket of the wrong kind.
    """

    __slots__ = ("_closers", "_max_depth", "closed", "error", "overshoot", "quote")

    def __init__(self, max_depth: int | None = 128) -> None:
        self.closed: bool = False
        self.error: str | None = None
        self._max_depth = max_depth
        self._closers: list[str] = []
        self.quote: str = ""
        self.overshoot: int = 0  # 1 when a backslash was last: what it escapes is in the next piece

    @property
    def depth(self) -> int:
        """How many brackets are open now."""
        return len(self._closers)

    @property
    def in_string(self) -> bool:
        """Whether a string is open now."""
        return bool(self.quote)

    def scan(self, text: str, start: int = 0, stop: int | None = None) -> int:
        """Go on with `text[start:stop]`, which follows what earlier calls were given.

        Returns the index just past the bracket that closes the root, that of the offending character when `error` gets
        set, or -1 when the value is still open.  Once closed or failed, it takes nothing more and returns `start`.
        """
        if stop is None and not start:
            has_brackets = "}" in text or "{" in text or "]" in text or "[" in text
            if self._take_strings(text) if not has_brackets else self.quote and self.goes_on(text):
                return -1
        if self.closed or self.error is not None:
            return start
        size = len(text) if stop is None else stop
        at = start + self.overshoot
        closers, quote = self._closers, self.quote
        find = _INSIDE[quote].search if quote else _OUTSIDE.match
        while match := find(text, at, size):
            at = match.end()
            char = text[at - 1]
            if quote:
                if char == quote:
                    quote = ""
                    find = _OUTSIDE.match
                else:
                    at += 1
            elif char in "\"'":
                quote = char
                find = _INSIDE[char].search
            elif char in _CLOSERS:
                if len(closers) == self._max_depth:
                    return self._finish(at - 1, "json_depth")
                closers.append(_CLOSERS[char])
            elif not closers or closers.pop() != char:
                return self._finish(at - 1, "json_syntax")
            elif not closers:
                return self._finish(at)
        self.quote = quote
        self.overshoot = at - size if at > size else 0
        return -1

    def goes_on(self, text: str) -> bool:
        """Whether all of a fragment belongs to the string that is open; it is taken then, and else it is not."""
        quote = self.quote
        if not quote or not text:
            return False
        rest = text[1:] if self.overshoot else text
        if "\\\\" in rest:  # first of all, or the second half of one would escape what follows
            rest = rest.replace("\\\\", "")
        if quote in rest:
            rest = rest.replace(_ESCAPED[quote], "")
            if quote in rest:
                return False
        self.overshoot = 1 if rest and rest[-1] == "\\" else 0
        return True

    def _take_strings(self, text: str) -> bool:
        """Take a text without brackets, if strings begin and end in it and nothing else; return whether it was."""
        quote = self.quote
        if "\\" in text or "'" in text or self.overshoot:
            return quote != "" and self.goes_on(text)
        if self.closed or self.error is not None:
            return False
        if quote != "'" and text.count('"') % 2:
            self.quote = "" if quote else '"'
        return True

    def _finish(self, at: int, error: str | None = None) -> int:
        self.closed = error is None
        self.error = error
        self.quote = ""
        return at
