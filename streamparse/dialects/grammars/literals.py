"""Literals of notations other than JSON, told as JSON text on the way: what Python and brace literals share.

A notation says what its brackets, its scalars and its keys are.  Containers need no recursion: what is open
is a list of levels.  In Python `{` opens a dict or a set, so its first element waits for what follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import StringIO
from typing import Any, Literal, Protocol, TypeAlias

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.grammars.call_block import fail_call
from streamparse.limits import Limits, most
from streamparse.schema.kinds import quote
from streamparse.sink import Call

Tell: TypeAlias = Callable[[str], Any]
"""Takes the next piece of JSON text."""

_QUOTES = 2


class Notation(Protocol):
    """How the parts of a literal are written.  Its readers return False where the text is not of this notation."""

    @property
    def brackets(self) -> Mapping[str, str]:
        """The closing bracket of each opening one; `{` opens a mapping, any other a list."""

    @property
    def sets(self) -> bool:
        """Whether a `{` without keys is a list, too."""

    def scalar(self, reader: Reader, tell: Tell) -> Step[bool]:
        """Tell a value that is no container, as JSON text."""

    def key(self, reader: Reader, tell: Tell) -> Step[bool]:
        """Tell a key of a mapping, as JSON text of any kind."""

    @property
    def repaired(self) -> bool:
        """Whether a value could be read only after a repair."""


class _Level:
    """A container that is open."""

    __slots__ = ("closes", "fresh", "keyed", "opens")

    def __init__(self, opens: str, closes: str) -> None:
        self.opens = opens
        self.closes = closes
        self.fresh = True  # no element has come
        self.keyed = opens == "{"

    def lead(self) -> str:
        """Return what is told before an element; the next one will not be the first."""
        lead = ", " if not self.fresh else "{" if self.keyed else "["
        self.fresh = False
        return lead

    def end(self) -> str:
        """Return what is told at the closing bracket."""
        return (self.lead() if self.fresh else "") + ("}" if self.keyed else "]")


def literal(reader: Reader, tell: Tell, notation: Notation, limits: Limits) -> Step[bool]:
    """Tell one literal as JSON text while it comes; False if it breaks off, or is of another notation."""
    levels: list[_Level] = []
    while True:
        first = yield from reader.blanks()
        if first and first in notation.brackets:
            if len(levels) == limits.max_depth:
                tell(first if first == "{" else "[")  # so that what is told shows the reason
                return False
            reader.take(1)
            levels.append(_Level(first, notation.brackets[first]))
        elif not (yield from notation.scalar(reader, tell)):
            return False
        following = "end"
        while levels and following == "end":
            following = yield from _element(reader, tell, notation, limits, levels)
        if following == "broken":
            return False
        if not levels:
            return True


def literal_arguments(
    reader: Reader, context: Context, call: Call, key: Pattern, closes: str, notation: Callable[[str, bool], Notation]
) -> Step[bool]:
    """Read `KEY VALUE, KEY VALUE` and the closing bracket, and end the call; False if they break off.

    `key` is a pattern of a key and what separates it from its value, with the group `key`.  `notation` is asked for
    the notation of each value: with its key, and True for a scalar, False for a container.
    """
    sink = context.sink
    tell = sink.call_teller(call)
    lead = "{"
    while (after := (yield from reader.blanks())) != closes:
        if after == "," and lead != "{":
            reader.take(1)
            yield from reader.blanks()
            continue
        found = yield from reader.match(key)
        if found is None:
            return _fail(reader, context, call)
        name = found["key"].strip()
        tell(lead + quote(name) + ": ")
        lead = ", "
        value = notation(name, (yield from reader.blanks()) not in ("[", "(", "{"))
        if not (yield from literal(reader, tell, value, context.limits)):
            return _fail(reader, context, call)
        if value.repaired:
            sink.call_repaired(call)
    reader.take(1)
    tell("{}" if lead == "{" else "}")
    sink.call_end(call)
    return True


def _fail(reader: Reader, context: Context, call: Call) -> bool:
    if reader.final:  # the text ends inside of the call
        context.sink.call_arguments(call, reader.take(len(reader.buffer) - reader.at))
    else:
        fail_call(context, call, f"the arguments of {call.name!r} are no such literals")
    return False


def _element(
    reader: Reader, tell: Tell, notation: Notation, limits: Limits, levels: list[_Level]
) -> Step[Literal["value", "end", "broken"]]:
    """Go on in the innermost container: to its next value, or over its end ("end": its own value is whole)."""
    level = levels[-1]
    after = yield from reader.blanks()
    if after == "," and not level.fresh:
        reader.take(1)
        after = yield from reader.blanks()
    elif after != level.closes and not level.fresh:
        return "broken"
    if after == level.closes:
        reader.take(1)
        tell(levels.pop().end())
        return "end"
    if not level.keyed or (level.fresh and notation.sets and after in notation.brackets):
        level.keyed = False
        tell(level.lead())
        return "value"
    return (yield from _member(reader, tell, notation, limits, level))


def _member(
    reader: Reader, tell: Tell, notation: Notation, limits: Limits, level: _Level
) -> Step[Literal["value", "end", "broken"]]:
    """Read a key up to its value; or, where a set begins, its first element."""
    held = StringIO()
    whole = yield from notation.key(reader, bounded(held, limits.max_key))
    key = held.getvalue()
    if not whole or len(key) - _QUOTES * key.startswith('"') > most(limits.max_key):
        tell(level.lead() + key)  # it is no key, but nothing is lost
        return "broken"
    if (yield from reader.blanks()) == ":":
        reader.take(1)
        tell(level.lead() + (key if key.startswith('"') else f'"{key}"') + ": ")
        return "value"
    if not (level.fresh and notation.sets):
        tell(level.lead() + key)  # it is no key, but nothing is lost
        return "broken"
    level.keyed = False
    tell(level.lead() + key)
    return "end"


def in_string(text: str) -> str:
    """The text as it stands inside of a JSON string."""
    return quote(text)[1:-1]


def bounded(held: StringIO, limit: int | None) -> Tell:
    """Write, but of the JSON text of a string keep no more than it takes to know that the string passes the limit."""
    room = most(limit) + _QUOTES + 1

    def write(text: str) -> None:
        held.write(text[: room - held.tell()])

    return write
