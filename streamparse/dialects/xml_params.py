"""Grammar D: a call tag with a name, and a tag for each parameter.

    <tool_call>
    <function=NAME>
    <parameter=KEY>
    VALUE
    </parameter>
    </function>
    </tool_call>

Nothing is escaped in these formats.  So a closing tag counts only if what follows it is structure again: the
next parameter, or the end of the call or of the block.  The arguments become JSON text on the way: a parameter
that the schema says is a string streams as it comes, any other when its tag closes.  The call is complete
at its closing tag.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from io import StringIO
from typing import Any

import msgspec
import regex

from streamparse.coercion import coerced, only_string
from streamparse.dialects.grammar import Context
from streamparse.dialects.markers import Markers, any_of
from streamparse.dialects.reader import Pattern, Reader, Step
from streamparse.dialects.values import bracketed
from streamparse.sink import Call

__all__ = ["XmlParams"]

_GAP = r"[ \t\r\n]{0,64}"


@dataclass(frozen=True)
class XmlParams:
    """The tags of one format.

    `call` and `parameter` are patterns with the groups `name` and `key`; the rest are literals.
    """

    call: str
    parameter: str
    parameter_closes: tuple[str, ...]
    call_closes: tuple[str, ...]
    block_closes: tuple[str, ...]
    call_begins: tuple[str, ...]
    parameter_begins: tuple[str, ...]
    trim: bool = True
    """One line break after a parameter's opening tag and one before its closing tag belong to the tags."""

    # Patterns are compiled on first use: few of the dialects that are armed ever meet their marker.

    @cached_property
    def stops(self) -> Markers:
        """Where the end of a value may be."""
        return Markers((*self.parameter_closes, *self.parameter_begins, *self.call_closes))

    @cached_property
    def opening(self) -> Pattern:
        """The tag that opens a call."""
        return regex.compile(self.call)

    @cached_property
    def token(self) -> Pattern:
        """What stands between the parameters of a call."""
        close, end, cut = any_of(self.parameter_closes), any_of(self.call_closes), self._next_call
        return regex.compile(rf"{_GAP}(?:{self.parameter}|(?P<end>{end})|(?P<cut>(?={cut}))|(?P<stray>{close}))")

    @cached_property
    def closing(self) -> Pattern:
        """What ends a value: its closing tag before structure, or structure without it."""
        return regex.compile(self._closing)

    @cached_property
    def last_closing(self) -> Pattern:
        """What ends a value at the end of the text."""
        close, end = any_of(self.parameter_closes), any_of(self.call_closes)
        return regex.compile(rf"{self._closing}|{self._newline}(?:{close}(?=\s*\Z)|(?={end}\s*\Z))")

    @cached_property
    def following(self) -> Pattern:
        """What follows a call: another one, or the end of the block."""
        return regex.compile(rf"{_GAP}(?:(?P<more>(?={any_of(self.call_begins)}))|{any_of(self.block_closes)})")

    @cached_property
    def again(self) -> Pattern:
        """The end of the block, once more."""
        return regex.compile(rf"{_GAP}{any_of(self.block_closes)}")

    @property
    def _newline(self) -> str:
        return r"(?:\r?\n)?" if self.trim else ""

    @property
    def _next_call(self) -> str:
        return rf"(?:{any_of(self.block_closes)}|{any_of(self.call_begins)})"

    @property
    def _closing(self) -> str:
        close, end = any_of(self.parameter_closes), any_of(self.call_closes)
        after = rf"(?:{any_of(self.parameter_begins)}|{end}|{self._next_call})"
        ended = rf"{self._newline}{close}(?={_GAP}{after})|{_GAP}(?={self.parameter})"
        return rf"{ended}|{self._newline}(?={end}{_GAP}{self._next_call})"

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found = False
        while True:
            yield from reader.blanks()
            opening = yield from reader.match(self.opening)
            if opening is None:
                return found
            reader.commit()
            yield from self._call(reader, context, context.tool_name(opening["name"]))
            found = True
            following = yield from reader.match(self.following)
            if following is None or following["more"] is None:
                if following is not None:
                    yield from reader.match(self.again)  # some models close the block twice
                return True
            reader.remember()

    def _call(self, reader: Reader, context: Context, name: str) -> Step[None]:
        sink = context.sink
        call = sink.call_start(name, None, "inband")
        if (yield from reader.blanks()) == "{":
            yield from self._json_body(reader, context, call)
            return
        lead = "{"
        while True:
            token = yield from reader.match(self.token)
            if token is None or token["end"] is not None or token["cut"] is not None:
                break
            if token["stray"] is None:
                sink.call_arguments(call, lead + _quoted(token["key"]) + ": ")
                yield from self._parameter(reader, context, call, token["key"])
                lead = ", "
        if token is None and reader.at == len(reader.buffer) and reader.final:
            return  # the stream ends inside of the call
        if token is None:
            sink.call_error(call, "malformed_call", f"the call of {name!r} holds something else than parameters")
            return
        if token["end"] is None:
            sink.call_repaired(call)
        sink.call_arguments(call, "{}" if lead == "{" else "}")
        sink.call_end(call)

    def _json_body(self, reader: Reader, context: Context, call: Call) -> Step[None]:
        """Some models write the arguments as one JSON object inside of the call's tag."""
        sink = context.sink
        whole = yield from bracketed(
            reader, self.stops, context.limits.max_depth, lambda text: sink.call_arguments(call, text)
        )
        if not whole and not reader.final:
            sink.call_error(call, "malformed_call", f"the arguments of {call.name!r} break off")
        elif whole:
            sink.call_end(call)
            yield from reader.match(self.token)

    def _parameter(self, reader: Reader, context: Context, call: Call, key: str) -> Step[None]:
        sink, schema = context.sink, context.tools.parameter_schema(call.name, key)
        if only_string(schema):
            sink.call_arguments(call, '"')
            if (yield from self._value(reader, lambda text: sink.call_arguments(call, _quoted(text)[1:-1]))):
                sink.call_arguments(call, '"')
            return
        held = StringIO()
        if (yield from self._value(reader, _bounded(held, context.limits.max_call_args))):
            sink.call_arguments(call, coerced(held.getvalue(), schema))
        else:  # the stream ends inside of the value: keep what came
            sink.call_arguments(call, _quoted(held.getvalue())[:-1])

    def _value(self, reader: Reader, tell: Callable[[str], Any]) -> Step[bool]:
        """Tell a parameter's text as it comes; False if the stream ends inside of it."""
        if self.trim and (yield from reader.peek()) == "\n":
            reader.take(1)
        while True:
            found = self.stops.search(reader.buffer, reader.at)
            end = len(reader.buffer) if found is None else found.start()
            if self.trim and reader.buffer.endswith("\n", reader.at, end):
                end -= 1  # perhaps the one that belongs to the closing tag
            if end > reader.at:
                tell(reader.take(end - reader.at))
            if found is not None and self.stops.whole(found, reader.final):
                if (yield from reader.match(self.closing, self.last_closing)) is not None:
                    return True
                tell(reader.take(1))
            elif reader.final:
                tell(reader.take(len(reader.buffer) - reader.at))
                return False
            else:
                yield


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def _bounded(held: StringIO, limit: int | None) -> Callable[[str], Any]:
    """Write, but keep no more than it takes to know that the limit was passed."""

    def write(text: str) -> None:
        if limit is None or held.tell() <= limit:
            held.write(text)

    return write
