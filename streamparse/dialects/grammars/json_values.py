"""JSON values inside of text: read as they come, their end found without reading them twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from typing import Any

from streamparse.dialects.engine.markers import Stops
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.json import JSONError, read
from streamparse.json.scan import Scanner
from streamparse.limits import most as most_of
from streamparse.patterns import gradual

__all__ = ["bracketed", "string"]

_PLAIN = gradual(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)


def bracketed(reader: Reader, stops: Stops, max_depth: int | None, tell: Callable[[str], Any]) -> Step[bool]:
    """Tell an object or array as it comes; False if it breaks off.

    One of `stops` outside of a string breaks it: no JSON may hold one there.
    """
    scanner = Scanner(max_depth)
    flow = _flow(scanner, stops, tell) if reader.committed else None
    while scanner.error is None and not scanner.closed:
        text, at = reader.buffer, reader.at
        stop = stops.search(text, at)
        limit = len(text) if stop is None else stop.start()
        end = scanner.scan(text, at, limit)
        if end >= 0:
            tell(reader.take(end - at))
            break
        if limit > at:
            tell(reader.take(limit - at))
        if stop is not None and not scanner.in_string and stops.is_complete(stop, reader.final):
            return False
        if stop is not None and (scanner.in_string or reader.final):
            scanner.scan(text, limit, limit + 1)
            tell(reader.take(1))
        elif reader.final:
            return False
        else:
            reader.flow = flow if stop is None else None
            yield
            reader.flow = None
    if scanner.error == "json_depth":
        tell(reader.take(1))  # the bracket too many: what is told shows the reason
    return scanner.error is None


def _flow(scanner: Scanner, stops: Stops, tell: Callable[[str], Any]) -> Callable[[str], str | None]:
    """The short way for text that continues the value, while no marker can be in it."""
    firsts = {literal[0] for literal in stops.literals}
    first = next(iter(firsts)) if len(firsts) == 1 else ""  # nearly all are tags: looking for one character is quick
    look = re.compile("|".join(map(re.escape, firsts)) or "(?!)").search
    scan, goes_on = scanner.scan, scanner.goes_on

    def flow(text: str) -> str | None:
        quote = scanner.quote
        if (not quote or quote in text or "\\" in text or scanner.overshoot) and not goes_on(text):
            if (first in text) if first else (look(text) is not None):
                return text
            end = scan(text)
            if end >= 0:
                tell(text[:end])
                return text[end:]
        tell(text)
        return None

    return flow


def string(reader: Reader, limit: int | None, tell_broken: Callable[[str], Any] = lambda _: None) -> Step[str | None]:
    """Read a JSON string; return what it says, None if it is none, or is too long: then its text is told as it came.

    `limit` bounds what stands between the quotes; of a string beyond it, one character more is read.
    """
    token = StringIO()
    token.write(reader.take(1))
    most = most_of(limit) + 2  # with the quote that opens it
    while True:
        plain = _PLAIN.match(reader.buffer, reader.at)
        assert plain is not None
        token.write(reader.take(min(plain.end() - reader.at, most - token.tell())))
        if token.tell() == most:
            said = None
        elif reader.at < len(reader.buffer) and reader.buffer[reader.at] == '"':
            token.write(reader.take(1))
            said = _unquoted(token.getvalue())
        elif reader.final:
            said = None
        else:
            yield
            continue
        if said is None:
            tell_broken(token.getvalue())
        return said


def _unquoted(token: str) -> str | None:
    try:
        value = read(token).value
    except JSONError:
        return None
    return value if isinstance(value, str) else None
