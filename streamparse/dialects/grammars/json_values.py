"""JSON values inside text: read as they come, their end found without reading them twice.

`read_arguments` also takes what models write in place of an object of arguments.  An object passes through untouched.
A string that says an object (arguments that were encoded twice) becomes what it says; `null` and the empty string are
no arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from io import StringIO
from typing import Any

from streamparse.dialects.engine.markers import Stops
from streamparse.dialects.engine.reader import GoOn, Reader, Step
from streamparse.json import JSONError, read
from streamparse.json.scan import Scanner
from streamparse.limits import Limits
from streamparse.limits import most as most_of
from streamparse.patterns import lazy_partial

_PLAIN = lazy_partial(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_WORD = r"[^,;}\]\s<\"']{1,1024}+"
_LAST_SCALAR = lazy_partial(_WORD)
_SCALAR = lazy_partial(_WORD + r"(?=[,;}\]\s<\"'])")  # more of it may come


def read_container(reader: Reader, stops: Stops, max_depth: int | None, write: Callable[[str], Any]) -> Step[bool]:
    """Pass on an object or array as it comes; False if it breaks off.

    One of `stops` outside of a string breaks it: no JSON may hold one there.
    """
    scanner = Scanner(max_depth)
    go_on = _make_fast_path(scanner, stops, write) if reader.is_committed else None
    while scanner.error is None and not scanner.closed:
        text, at = reader.buffer, reader.at
        stop = reader.find(stops)
        limit = len(text) if stop is None else stop.start()
        end = scanner.scan(text, at, limit)
        if end >= 0:
            write(reader.take(end - at))
            break
        if limit > at:
            write(reader.take(limit - at))
        if stop is not None and not scanner.in_string and stops.is_complete(stop, reader.final):
            return False
        if stop is not None and (scanner.in_string or reader.final):
            scanner.scan(text, limit, limit + 1)
            write(reader.take(1))
        elif reader.final:
            return False
        else:
            reader.fast_path = go_on if stop is None else None
            yield
            reader.fast_path = None
    if scanner.error == "json_depth":
        write(reader.take(1))  # the bracket too many: what is passed on shows the reason
    return scanner.error is None


def _make_fast_path(scanner: Scanner, stops: Stops, write: Callable[[str], Any]) -> GoOn:
    """The short way for text that continues the value, while no marker can be in it."""
    firsts = {literal[0] for literal in stops.literals}
    first = next(iter(firsts)) if len(firsts) == 1 else ""  # nearly all are tags: looking for one character is quick
    look = re.compile("|".join(map(re.escape, firsts)) or "(?!)").search
    scan, goes_on = scanner.scan, scanner.goes_on

    def go_on(text: str, _: Reader) -> str | None:
        quote = scanner.quote
        if (not quote or quote in text or "\\" in text or scanner.overshoot) and not goes_on(text):
            if (first in text) if first else (look(text) is not None):
                return text
            end = scan(text)
            if end >= 0:
                write(text[:end])
                return text[end:]
        write(text)
        return None

    return go_on


def read_arguments(
    reader: Reader, limits: Limits, stops: Stops, write: Callable[[str], Any], first: str
) -> Step[bool]:  # fmt: skip
    """Pass on an argument value, which begins with `first`, as it comes; False if it breaks off, or is no value."""
    if first in ("{", "["):  # no generator in between, which each piece would have to pass
        return read_container(reader, stops, limits.max_depth, write)
    return _read_stand_in(reader, limits, write, first)


def _read_stand_in(reader: Reader, limits: Limits, write: Callable[[str], Any], first: str) -> Step[bool]:
    text = yield from (read_string(reader, limits.max_call_args, write) if first == '"' else read_scalar(reader))
    if text is None:
        return False
    write("{}" if text.strip() in ("", "null") else text)
    return True


def skip_value(reader: Reader, limits: Limits, stops: Stops) -> Step[bool]:
    """Take any JSON value; return False if it breaks off, or is not JSON."""
    first = yield from reader.skip_blanks()
    if first in ("{", "["):
        return (yield from read_container(reader, stops, limits.max_depth, lambda _: None))
    text = yield from (read_string(reader, limits.max_call_args) if first == '"' else read_scalar(reader))
    return text is not None


def read_scalar(reader: Reader) -> Step[str | None]:
    """Take a JSON number or literal; return None if there is no such thing."""
    word = yield from reader.match(_SCALAR, _LAST_SCALAR)
    if word is None or reader.is_at_end:  # at the end of the text it may be cut
        return None
    try:
        read(word[0], "strict")
    except JSONError:
        return None
    return word[0]


def read_string(
    reader: Reader, limit: int | None, write_broken: Callable[[str], Any] = lambda _: None
) -> Step[str | None]:
    """Read a JSON string; return what it says.  None if it is no string, or too long: its text is then passed on raw.

    `limit` bounds the text between the quotes; of a string beyond it, one character more is read.
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
            said = _unquote(token.getvalue())
        elif reader.final:
            said = None
        else:
            yield
            continue
        if said is None:
            write_broken(token.getvalue())
        return said


def _unquote(token: str) -> str | None:
    if "\\" not in token:
        return token[1:-1]
    try:
        value = read(token).value
    except JSONError:
        return None
    return value if isinstance(value, str) else None
