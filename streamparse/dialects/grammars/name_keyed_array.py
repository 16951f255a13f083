"""Grammar B with the tool's name for a key: a marker, then an array of `{NAME: {...}}`.

    <|tools_prefix|>[{"get_weather": {"city": "Paris"}}, {"now": {}}]<|tools_suffix|>

A call starts at the first character of its arguments and is complete at their closing brace: nothing
else stands in its object.
"""

from __future__ import annotations

from functools import cached_property

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, Markers, any_of
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.grammars.call_arguments import arguments, broken
from streamparse.dialects.grammars.json_values import string
from streamparse.patterns import gradual

__all__ = ["KeyedCalls"]

_BETWEEN = gradual(rf"{GAP}(?:(?:\}}{GAP})?,{GAP}(?:\{{{GAP})?(?=\")|\}}{GAP},?{GAP}\])")
"""What follows a call's arguments: another call, in an object of its own or not; or the end of the array."""


class KeyedCalls(msgspec.Struct, frozen=True, dict=True):
    """An array of objects, each key of which names a tool; `closes` may follow it."""

    closes: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()

    @cached_property
    def stops(self) -> Markers:
        """What may not stand inside of a call but in a string."""
        return Markers((*self.closes, *self.opens))

    @cached_property
    def end(self) -> Pattern:
        """The end of the block, whatever brackets of it are missing."""
        return gradual(rf"{GAP}\}}?{GAP}\]?{GAP}{any_of(self.closes)}")

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        for bracket in "[{":
            if (yield from reader.blanks()) != bracket:
                return False
            reader.take(1)
        found = False
        while (yield from reader.blanks()) == '"':
            if not (yield from self._call(reader, context)):
                return found
            found = True
            following = yield from reader.match(_BETWEEN)
            if following is None or following[0].endswith("]"):
                break
            reader.remember(context.limits.max_call_args)
        if found and (yield from reader.match(self.end)) is None and reader.beginning(self.end):
            reader.rest()  # the end of the block is cut off
        return found

    def _call(self, reader: Reader, context: Context) -> Step[bool]:
        """Read one name and its arguments; False if they are none."""
        written = yield from string(reader, context.limits.max_name)
        name = None if written is None else context.tool_name(written)
        if name is None or not context.believes_quoted(name) or (yield from reader.blanks()) != ":":
            return False
        reader.take(1)
        if (yield from reader.blanks()) not in ("{", '"'):
            return False
        reader.commit()
        sink = context.sink
        call = sink.call_start(name, None, "inband")
        if (yield from arguments(reader, context, self.stops, sink.call_teller(call))):
            sink.call_end(call)
        elif not reader.over:
            broken(context, call, f"the arguments of {name!r} break off")
        return True
