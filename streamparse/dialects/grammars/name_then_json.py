"""Grammar C: the name of the tool, then its arguments, each behind a marker of its own.

    [TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{...}
    <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}<|tool_call_end|>

One pattern reads all that stands before the arguments, for there lies nothing that may be long; so the call starts
when the first character of its arguments has come.  They pass through untouched to their closing brace,
where the call is complete: the closing marker is taken if it comes, and not missed if it does not.
"""

from __future__ import annotations

from functools import cached_property

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, Markers, any_of
from streamparse.dialects.engine.reader import Match, Pattern, Reader, Step
from streamparse.dialects.grammars.call_arguments import arguments, broken
from streamparse.patterns import gradual

__all__ = ["NAME", "MarkedCalls"]

NAME = r"(?P<name>[^\s<>{}\[\]\"'`|]{1,256}?)"
"""A pattern of a tool's name."""


class MarkedCalls(msgspec.Struct, frozen=True, dict=True):
    """The parts of one format, as patterns; the closing markers are literals.

    `head` reads from behind the opener to the arguments; it has the group `name`, and `id` where the format has one.
    """

    head: str
    closes: tuple[str, ...] = ()
    """What may end a call; if it stands where the arguments should, there are none."""
    again: str = r"(?!)"
    """What begins another call of the same block, with the white space before it."""
    block_closes: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    """What may not stand inside of the arguments but in a string, besides the closing markers."""
    name: str = ""
    """The name of every call, where the format has none for it; the group `name` is empty then."""

    # Patterns are compiled on first use: few of the dialects that are armed ever meet their marker.

    @cached_property
    def stops(self) -> Markers:
        """What may not stand inside of the arguments but in a string."""
        return Markers((*self.closes, *self.block_closes, *self.opens))

    @cached_property
    def heading(self) -> Pattern:
        """What stands before the arguments, if arguments or the end of the call follow."""
        return gradual(rf"{GAP}{self.head}{GAP}(?=[{{\"]|{any_of(self.closes)})")

    @cached_property
    def end(self) -> Pattern:
        """The end of a call, perhaps behind one brace too many."""
        return gradual(rf"{GAP}\}}?{GAP}{any_of(self.closes)}")

    @cached_property
    def following(self) -> Pattern:
        """What follows a call: another one, or the end of the block."""
        return gradual(rf"(?P<more>(?={self.again}))|{GAP}{any_of(self.block_closes)}")

    @cached_property
    def last(self) -> Pattern:
        """A closing marker, of which the end of the text may leave but the beginning."""
        return gradual(rf"{GAP}{any_of((*self.closes, *self.block_closes))}")

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found = False
        while True:
            head = yield from reader.match(self.heading)
            if head is None and found and reader.beginning(self.heading):
                markup = reader.rest()
                context.sink.error("call", "truncated_call", f"the text ended inside a block of calls: {markup}")
            if head is None or not (yield from self.call(reader, context, head)):
                return found
            found = True
            context = context.for_all()
            while (yield from reader.match(self.end)) is not None:
                pass  # a fence and a closing marker, or two nested ones
            following = yield from reader.match(self.following)
            if following is None or following["more"] is None:
                if reader.beginning(self.last):
                    reader.rest()
                return True
            reader.remember(context.limits.max_call_args)

    def call(self, reader: Reader, context: Context, head: Match) -> Step[bool]:
        """Read one call; False if it is none."""
        name = context.tool_name(self.name or head["name"])
        if not context.believes(name):
            return False
        reader.commit()
        sink = context.sink
        call = sink.call_start(name, head.groupdict().get("id"), "inband")
        if (yield from reader.peek()) not in ("{", '"'):
            sink.call_arguments(call, "{}")
        elif not (yield from arguments(reader, context, self.stops, sink.call_teller(call))):
            if not reader.over:
                broken(context, call, f"the arguments of {name!r} break off")
            return True  # where the text ends inside of the arguments, the call stays open
        sink.call_end(call)
        return True
