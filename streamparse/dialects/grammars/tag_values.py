"""Arguments that are written as tags, on their way to JSON text: an object, member by member.

Values between tags in formats that escape nothing: where they end.

A closing tag ends a value only if what follows it is structure again: the next parameter, or the end of the
call or of its block.  A whole call that is written inside a value (documentation, a transcript) is data
up to its own closing tag.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from io import StringIO

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import Stops
from streamparse.dialects.engine.reader import GoOn, Match, Pattern, Reader, Step
from streamparse.dialects.grammars.call_block import Patterns
from streamparse.limits import most
from streamparse.patterns import BLANKS, lazy_partial
from streamparse.schema.kinds import Kinds, SchemaView, is_string, quote, to_json_text
from streamparse.sink import Call


class ObjectWriter:
    """Tells a call's arguments as the text of a JSON object; `typed` is what the tool's schema says of them.

    `was_repaired` says that their markup was broken.
    """

    __slots__ = ("_call", "_end", "_keys", "_sink", "is_empty", "limit", "typed", "was_repaired", "write")

    def __init__(self, context: Context, call: Call) -> None:
        self._call = call
        self._sink = context.sink
        self._keys: set[str] = set()
        self.typed: SchemaView = context.view_parameters(call.name)
        self.is_empty: bool = True
        self.was_repaired: bool = False
        self._end = "{}"
        self.write: Callable[[str], object] = context.sink.call_teller(call)
        self.limit: int | None = context.limits.max_call_args

    def begin_member(self, key: str) -> str:
        """A member begins: return the text before its value, to be passed on with it.

        A key that came before ends the call with an error: it is not known which of the two values was meant.
        """
        if key in self._keys:
            message = f"the parameter {key!r} of {self._call.name!r} came twice"
            self._sink.call_error(self._call, "duplicate_parameter", message)
        self._keys.add(key)
        lead = ("{" if self.is_empty else ", ") + quote(key) + ": "
        self.is_empty = False
        self._end = "}"
        return lead

    def begin_value(self, key: str, kinds: Kinds) -> ValueWriter:
        """A member begins; what is returned takes its text."""
        return ValueWriter(self.begin_member(key), kinds, self.limit, self.write)

    def replace_members(self, text: str) -> None:
        """The text of an object is all the members, in place of the one that began."""
        self._end = ""
        self.write(text)

    def close(self) -> None:
        """The object ends."""
        self.write(self._end)


class ValueWriter:
    """A value's text, given in pieces by calling this: streamed once it must be a string, else held to its end."""

    __slots__ = ("_held", "_kinds", "_lead", "_most", "_open", "_write", "verbatim")

    def __init__(self, lead: str, kinds: Kinds, limit: int | None, write: Callable[[str], object]) -> None:
        self._lead = lead
        self._kinds = kinds
        self._most = most(limit) + 1  # more says nothing but that it is too long
        self._write = write
        self._held: StringIO | None = StringIO()
        self._open = True  # whether it is a string is not known yet
        # While the value is streamed, takes text that needs no escapes in a JSON string.
        self.verbatim: Callable[[str], object] | None = None
        self._decide("")

    def __call__(self, text: str) -> None:
        held = self._held
        if held is None:
            self._write(quote(text)[1:-1])
            return
        held.write(text[: max(0, self._most - held.tell())])
        if self._open:
            self._decide(held.getvalue())

    @property
    def json_text(self) -> str | None:
        """The JSON text of the whole value; None if it was streamed."""
        return None if self._held is None else to_json_text(self._held.getvalue(), self._kinds)

    def end(self) -> None:
        """The value is whole."""
        read = self.json_text
        self._write('"' if read is None else self._lead + read)

    def abort(self) -> None:
        """The text ends inside the value: what came of it is kept."""
        if self._held is not None:
            self._write(self._lead + quote(self._held.getvalue())[:-1])

    def _decide(self, head: str) -> None:
        string = is_string(head, self._kinds)
        self._open = string is None
        if string:
            self._held = None
            self.verbatim = self._write
            self._write(self._lead + quote(head)[:-1])


def write_members(reader: Reader, context: Context, name: str, arguments: Iterable[tuple[str, str]]) -> None:
    """Pass on a call that is known as a whole; the texts of its arguments become what its tool's schema says."""
    reader.commit()
    call = context.sink.call_start(name, None, "inband")
    members = ObjectWriter(context, call)
    for key, text in arguments:
        value = members.begin_value(key, members.typed.view_member(key).kinds)
        value(text)
        value.end()
    members.close()
    context.sink.call_end(call)


_BREAK = lazy_partial(r"\r?\n")
_MOST_HELD = 64  # bound: characters before the end of a value in which a line break is looked for


class ValueEnd(msgspec.Struct, frozen=True, dict=True):
    """Where a value ends: at one of `stops`, if `closing` matches there (`last` at the end of the text).

    `inner` matches what opens or closes (group `out`) a call inside the value.
    """

    stops: Stops
    closing: str
    last: str
    inner: str
    # One line break after the opening tag and one before the closing tag belong to the tags.
    trim: bool
    # Makes a pattern of `closing`, `last` and `inner`.
    compile_pattern: Callable[[str], Pattern] = lazy_partial
    # The same without the closing tags that hold a key, where `closing` takes any key: it is compared afterwards, for a
    # pattern for each key of a request would have to be compiled.
    others: ValueEnd | None = None

    @cached_property
    def patterns(self) -> Patterns:
        """The same, compiled."""
        return Patterns(self.compile_pattern, closing=self.closing, last=self.last, inner=self.inner)

    @cached_property
    def begins(self) -> Callable[[str], re.Match[str] | None]:
        """Finds what may begin a stop."""
        return re.compile(self._firsts).search

    @cached_property
    def first(self) -> str:
        """What all stops begin with, "" if not all do with one character; to look for that is quicker."""
        firsts = {literal[0] for literal in self.stops.literals}
        return firsts.pop() if len(firsts) == 1 else ""

    def take_end(self, reader: Reader, key: str) -> Step[Match | None]:
        """Take what ends the value of this parameter, if it ends here."""
        if self.others is None:
            return (yield from reader.match(self.patterns.closing, self.patterns.last))
        found = yield from reader.peek_match(self.patterns.closing, self.patterns.last)
        if found is not None and all(closing == key for closing in found.captures("closing")):
            reader.take(found.end() - found.start())
            return found
        return None if found is None else (yield from self.others.take_end(reader, key))

    @property
    def _firsts(self) -> str:
        return "|".join(re.escape(first) for first in sorted({literal[0] for literal in self.stops.literals}))


def _count_held(text: str, start: int, end: int) -> int:
    """How much of the end may belong to what ends the value: a line break, and the blanks after it."""
    if end == start or text[end - 1] not in BLANKS:
        return 0
    tail = text[max(start, end - _MOST_HELD) : end]
    blanks = tail[len(tail.rstrip(BLANKS)) :]
    return len(blanks.lstrip(" \t"))


def read_value(reader: Reader, ending: ValueEnd, value: ValueWriter, key: str) -> Step[Match | None]:
    """Pass on the text of a key's value as it comes; take and return what ends it, None if the text ends inside it."""
    if ending.trim:
        yield from reader.match(_BREAK)
    depth = 0
    go_on: GoOn | None = None
    while True:
        found = ending.stops.search(reader.buffer, reader.at)
        end = len(reader.buffer) if found is None else found.start()
        end -= _count_held(reader.buffer, reader.at, end)
        if end > reader.at:
            value(reader.take(end - reader.at))
        if found is not None and ending.stops.is_complete(found, reader.final):
            if depth == 0 and (close := (yield from ending.take_end(reader, key))) is not None:
                return close
            inner = yield from reader.match(ending.patterns.inner)
            if inner is not None:
                depth = max(0, depth + (-1 if inner["out"] else 1))
            value(inner[0] if inner is not None else reader.take(1))
        elif reader.final:
            value(reader.take(len(reader.buffer) - reader.at))
            return None
        else:
            go_on = go_on or _make_fast_path(ending, value)
            reader.push("")  # what it holds now is not read yet
            reader.fast_path = go_on if reader.is_committed else None
            yield
            reader.fast_path = None


def _make_fast_path(ending: ValueEnd, value: ValueWriter) -> GoOn:
    """The short way for text that cannot end the value."""
    first, begins = ending.first, ending.begins

    def go_on(text: str, reader: Reader) -> str | None:
        if reader.buffer:
            text = reader.take_rest() + text
        if (first in text) if first else (begins(text) is not None):
            return text
        verbatim = value.verbatim
        if verbatim is not None and text.isprintable():  # no line break, and of what JSON escapes only these
            verbatim(text.replace("\\", "\\\\").replace('"', '\\"'))
            return None
        if held := _count_held(text, 0, len(text)):
            reader.push(text[-held:])
            text = text[:-held]
        if verbatim is None:
            value(text)
        else:
            verbatim(quote(text)[1:-1])
        return None

    return go_on
