"""A call's arguments where a grammar meets them: a JSON object, or what models write in its place.

An object passes through untouched, as it comes.  A string that says an object (arguments that were encoded
twice) is told as what it says; `null` and the empty string are no arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import Stops
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.json_values import bracketed, string
from streamparse.json import JSONError, read
from streamparse.json.scan import Scanner
from streamparse.patterns import gradual
from streamparse.sink import Call

__all__ = ["arguments", "broken", "scalar", "skipped"]

_WORD = r"[^,;}\]\s<\"']{1,1024}+"
_LAST_SCALAR = gradual(_WORD)
_SCALAR = gradual(_WORD + r"(?=[,;}\]\s<\"'])")  # more of it may come


def arguments(reader: Reader, context: Context, stops: Stops, tell: Callable[[str], Any]) -> Step[bool]:
    """Tell an argument value as it comes; False if it breaks off, or is no value."""
    first = yield from reader.blanks()
    if first in ("{", "["):
        return (yield from bracketed(reader, stops, context.limits.max_depth, tell))
    text = yield from (string(reader, context.limits.max_call_args, tell) if first == '"' else scalar(reader))
    if text is None:
        return False
    tell("{}" if text.strip() in ("", "null") else text)
    return True


def broken(context: Context, call: Call, trouble: str) -> None:
    """A call cannot be read; where its arguments nest too deep, that is why."""
    scanner = Scanner(context.limits.max_depth)
    scanner.scan(call.raw)
    code = scanner.error if scanner.error == "json_depth" else "malformed_call"
    context.sink.call_error(call, code, trouble)


def scalar(reader: Reader) -> Step[str | None]:
    """Take a JSON number or literal; None if there is none."""
    word = yield from reader.match(_SCALAR, _LAST_SCALAR)
    if word is None or reader.over:  # at the end of the text nobody knows whether it is whole
        return None
    try:
        read(word[0], "strict")
    except JSONError:
        return None
    return word[0]


def skipped(reader: Reader, context: Context, stops: Stops) -> Step[bool]:
    """Pass over any JSON value; False if it breaks off, or is none."""
    first = yield from reader.blanks()
    if first in ("{", "["):
        return (yield from bracketed(reader, stops, context.limits.max_depth, lambda _: None))
    if first == '"':
        return (yield from string(reader, context.limits.max_call_args)) is not None
    return (yield from scalar(reader)) is not None
