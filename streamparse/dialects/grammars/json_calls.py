"""Grammar A: a marker, then a JSON object that is the call.

    <tool_call>
    {"name": NAME, "arguments": {...}}
    </tool_call>

Also several objects, one behind the other or in an array.  Each call is complete at the brace that closes its object,
whatever closing tag may follow.  Where only declared tools are believed, one of them vouches for all calls of its
list, also for those before it.
"""

from __future__ import annotations

from functools import cached_property
from io import StringIO

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, Markers, any_of
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.grammars.call_json import ARGUMENT_KEYS, AROUND, calls_in
from streamparse.dialects.grammars.call_object import CallObject
from streamparse.dialects.grammars.json_values import bracketed
from streamparse.json import JSONError, read
from streamparse.patterns import gradual

__all__ = ["JsonCalls"]

_MORE = rf"(?P<more>[;,]?{GAP}(?=\{{))"


class JsonCalls(msgspec.Struct, frozen=True, dict=True):
    """One or more JSON objects, each a call; also in an array.

    `closes` may end the block; none of `opens` may stand inside of it but in a string.
    With `explicit` an object without arguments is no call; with `by_name` it is one, outside of an array, if it holds a
    name and nothing else.
    """

    closes: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    last_closes: tuple[str, ...] = ()
    """Closing markers as a model cuts them short at the end of its text."""
    names: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ARGUMENT_KEYS
    ids: tuple[str, ...] = ("id",)
    explicit: bool = False
    by_name: bool = False
    lead: str = ""
    """A pattern of what stands between the opener and the JSON."""

    # Patterns are compiled on first use: few of the dialects that are armed ever meet their marker.

    @cached_property
    def stops(self) -> Markers:
        """What may not stand inside of a call's JSON but in a string."""
        return Markers((*self.closes, *self.opens))

    @cached_property
    def call(self) -> CallObject:
        """One of the objects."""
        return CallObject(self.stops, self.names, self.arguments, self.ids, self.explicit, self.by_name)

    @cached_property
    def element(self) -> CallObject:
        """One of the objects in an array."""
        return CallObject(self.stops, self.names, self.arguments, self.ids, self.explicit)

    @cached_property
    def leading(self) -> Pattern:
        """What stands between the opener and the JSON."""
        return gradual(self.lead)

    @cached_property
    def between(self) -> Pattern:
        """What follows an object: another one, or the end of the block."""
        return gradual(rf"{GAP}(?:{_MORE}|(?=\}}?{GAP}{any_of(self.closes)}))")

    @cached_property
    def in_list(self) -> Pattern:
        """What follows an object in an array."""
        return gradual(rf"{GAP}(?:{_MORE}|,?{GAP}\])")

    @cached_property
    def end(self) -> Pattern:
        """The end of the block, perhaps behind one brace too many."""
        return gradual(rf"{GAP}\}}?{GAP}{any_of(self.closes)}")

    @cached_property
    def last_end(self) -> Pattern:
        """The end of the block at the end of the text."""
        return gradual(rf"{GAP}\}}?{GAP}{any_of((*self.closes, *self.last_closes))}")

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        if self.lead:
            yield from reader.match(self.leading)
        found, between, call = False, self.between, self.call
        if (yield from reader.blanks()) == "[":
            reader.take(1)
            between, call = self.in_list, self.element
        while (yield from reader.blanks()) in ("{", '"'):
            start = reader.taken()
            if not (yield from call.read(reader, context)):
                may_be_vouched = context.declared and not found and between is self.in_list
                if may_be_vouched and (yield from self._is_vouched(reader, context, start)):
                    context = context.for_all()
                    continue
                if found and reader.over:
                    self._cut_off(reader, context)
                    return True
                if not found or between is not self.in_list or not (yield from self._passed(reader, context, start)):
                    return found
            found = True
            context = context.for_all()
            following = yield from reader.match(between)
            if following is None or following["more"] is None:
                ended = yield from reader.match(self.end, self.last_end)
                if ended is None and (reader.beginning(self.end) or reader.beginning(between)):
                    reader.rest()  # a closing marker, or the comma before another call, is cut off
                return True
            reader.remember(context.limits.max_call_args)
        return found

    def _is_vouched(self, reader: Reader, context: Context, start: int) -> Step[bool]:
        """Whether a list whose first call is of an unknown tool holds one of a declared tool; takes nothing."""
        reader.rewind(start)
        found: str | None = ""
        while found is not None and found not in context.tools:
            text = StringIO()
            whole = yield from bracketed(reader, self.stops, context.limits.max_depth, text.write)
            found = self._name(text.getvalue(), context) if whole else None
            following = yield from reader.match(self.in_list)
            if found not in context.tools and (following is None or following["more"] is None):
                break
        reader.rewind(start)
        return found is not None and found in context.tools

    def _name(self, text: str, context: Context) -> str | None:
        """The name of the tool that an object calls; None if it is no call."""
        try:
            value = read(text, "heal", context.limits).value
        except JSONError:
            return None
        if not value.keys() <= {*self.names, *self.arguments, *self.ids, *AROUND}:
            return None
        found = next(calls_in(value, self.names, self.arguments), None)
        return None if found is None else context.tool_name(found.name)

    def _passed(self, reader: Reader, context: Context, start: int) -> Step[bool]:
        """Tell an object among calls that is none as text, and that it is; False if it breaks off."""
        reader.rewind(start)
        text = StringIO()
        if (yield from reader.peek()) != "{" or not (
            yield from bracketed(reader, self.stops, context.limits.max_depth, text.write)
        ):
            return False
        reader.commit()
        context.sink.text(text.getvalue())
        context.sink.error("call", "malformed_call", "an object in a list of calls is no call")
        return True

    def _cut_off(self, reader: Reader, context: Context) -> None:
        """The text ends inside of a block of calls, before another call has its name: that is no text."""
        markup = reader.kept
        reader.commit()
        context.sink.error("call", "truncated_call", f"the text ended inside a block of calls: {markup}")
