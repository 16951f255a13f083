"""Where a JSON value ends: a scanner for one object or array that arrives in pieces.

The scanner knows brackets and strings and nothing else, so it can say at the very character that the value
is whole.  That is the earliest safe moment to run a call: no valid JSON continues after the bracket that
closes the root.  Whether what lies between the brackets is JSON is for `streamparse.json` to say.

A `'` outside of a `"` string opens a string too: valid JSON never has one there, and models write Python
dicts, whose strings may hold brackets.  Within `"` strings `'` is data.

Each search ends at the next character that matters and the next one starts after it, so every
character is looked at once.
"""

from __future__ import annotations

from streamparse.patterns import lazy_re

__all__ = ["Scanner"]

_CLOSERS = {"{": "}", "[": "]"}
_NEXT = {
    "": lazy_re(r"""["'{}\[\]]"""),
    '"': lazy_re(r'["\\]'),
    "'": lazy_re(r"['\\]"),
}
"""What matters next outside of strings, and inside a string of either kind."""
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
        self.closed = False
        self.error: str | None = None
        self._max_depth = max_depth
        self._closers: list[str] = []
        self.quote = ""
        self.overshoot = 0  # 1 when a backslash was last: what it escapes is in the next piece

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
        quote = self.quote
        if quote and stop is None and not start:  # most fragments of a long string go on with it
            simple = quote not in text and "\\" not in text and not self.overshoot
            if simple or self.goes_on(text):
                return -1
        if self.closed or self.error is not None:
            return start
        size = len(text) if stop is None else stop
        at = start + self.overshoot
        closers = self._closers
        pattern = _NEXT[quote]
        while match := pattern.search(text, at, size):
            at = match.end()
            char = text[at - 1]
            if quote:
                if char == quote:
                    quote = ""
                    pattern = _NEXT[""]
                else:
                    at += 1
            elif char in "\"'":
                quote = char
                pattern = _NEXT[char]
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

    def try_scan(self, text: str) -> int:
        """As `scan`, but nothing is taken unless the value is still open after the text."""
        before = self.quote, self.overshoot, self._closers.copy(), self.closed, self.error
        end = self.scan(text)
        if end >= 0:
            self.quote, self.overshoot, self._closers, self.closed, self.error = before
        return end

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

    def _finish(self, at: int, error: str | None = None) -> int:
        self.closed = error is None
        self.error = error
        self.quote = ""
        return at
