"""One call as a JSON object, read member by member.

    {"name": NAME, "arguments": {...}}

The call starts, and its arguments stream, as soon as its name and the first character of its arguments have come.  The
arguments pass through untouched: a string-aware scanner watches for their end, so that a marker inside of a JSON string
is data.  The call is complete at the brace that closes its object.
"""

from __future__ import annotations

from io import StringIO

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import Markers
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.call_block import fail_call, write_call
from streamparse.dialects.grammars.call_json import AROUND, calls_in, is_foreign
from streamparse.dialects.grammars.json_values import read_arguments, read_container, read_string, skip_value
from streamparse.json import JSONError, read
from streamparse.sink import Call

_VALUES = frozenset('{["n')
"""What an argument value may begin with."""


class Draft(msgspec.Struct):
    """What is known of one call object so far."""

    name: str | None = None
    id: str | None = None
    arguments: str | None = None  # they came before the name
    call: Call | None = None
    foreign: bool = False  # it names no declared tool where only those count
    other: bool = False  # it has members that no call has
    typed: bool = False  # it has members that the definition of a tool has, too
    whole: bool = True  # the last value that was begun has ended
    repaired: bool = False  # a brace is missing, or a comma too many


class CallObject(msgspec.Struct, frozen=True):
    """The keys of a format's call objects; none of `stops` may stand inside of one but in a string.

    With `explicit` an object without arguments is no call; with `by_name` it is one if it holds a name and nothing
    else, and the tool, if it is declared, needs no arguments.
    """

    stops: Markers
    names: tuple[str, ...]
    arguments: tuple[str, ...]
    ids: tuple[str, ...]
    explicit: bool
    by_name: bool = False

    def read(self, reader: Reader, context: Context, start: int) -> Step[bool]:
        """Read one call object, whose opening brace may be missing; False if it is none.

        `start` is how much the reader keeps of what came before it.
        """
        draft = Draft(repaired=reader.buffer[reader.at] != "{")
        if not draft.repaired:
            reader.take(1)
        sound = yield from self._read_members(reader, context, draft)
        if draft.call is not None:
            if not draft.whole and not reader.over:
                fail_call(context, draft.call, f"the call of {draft.name!r} breaks off")
            elif draft.whole:
                if draft.repaired or not sound:
                    context.sink.call_repaired(draft.call)
                context.sink.call_end(draft.call)
            return True  # where the text ends inside of the arguments, the call stays open
        if draft.foreign:
            return False
        if not sound:
            reader.rewind(start)
            return (yield from self._read_healed(reader, context))
        # The arguments came before the name, or not at all.
        if draft.name is None or (draft.arguments is None and not self._is_whole_without(draft.name, context, draft)):
            return False
        write_call(reader, context, draft.name, draft.id, draft.arguments or "{}", draft.repaired)
        return True

    def _is_whole_without(self, name: str, context: Context, draft: Draft) -> bool:
        """Whether an object without arguments is a call: another key may hold the arguments."""
        if draft.other or not self.explicit:
            return not draft.other
        may_be = not context.tools or (name in context.tools and not context.tools.requires_arguments(name))
        return self.by_name and not draft.typed and may_be

    def _read_members(self, reader: Reader, context: Context, draft: Draft) -> Step[bool]:
        """Read an object's members up to its closing brace; False where it is not sound."""
        separated = False
        while True:
            after = yield from reader.blanks()
            if after in ("}", ","):
                reader.take(1)
                draft.repaired = draft.repaired or separated
                separated = after == ","
                if after == "}":
                    return True
                continue
            separated = False
            key = (yield from read_string(reader, context.limits.max_key)) if after == '"' else None
            if key is None or (yield from reader.blanks()) != ":":
                return False
            reader.take(1)
            if not (yield from self._read_member(reader, context, draft, key)):
                return False

    def _read_member(self, reader: Reader, context: Context, draft: Draft, key: str) -> Step[bool]:
        """Read one member's value."""
        if context.declared and (yield from is_foreign(reader, key, (*self.names, *self.arguments, *self.ids))):
            draft.foreign = True
            return False
        first = yield from reader.blanks()
        if key in self.names and first == '"' and draft.name is None:
            return (yield from self._read_name(reader, context, draft))
        if key in self.ids and first == '"':
            draft.id = yield from read_string(reader, context.limits.max_id)
            return draft.id is not None
        if key in self.arguments and draft.call is None and draft.arguments is None:
            return (yield from self._read_arguments(reader, context, draft, first))
        draft.typed = draft.typed or key in ("function", "type")
        if key == "function" and first == "{" and draft.name is None:
            reader.take(1)
            return (yield from self._read_members(reader, context, draft))
        draft.other = draft.other or key not in (*self.names, *self.arguments, *self.ids, *AROUND)
        return (yield from skip_value(reader, context.limits, self.stops))

    def _read_name(self, reader: Reader, context: Context, draft: Draft) -> Step[bool]:
        name = yield from read_string(reader, context.limits.max_name)
        if name is None:
            return False
        draft.name = context.tool_name(name) or None
        draft.foreign = draft.name is None or not context.believes_quoted(draft.name)
        return not draft.foreign

    def _read_arguments(self, reader: Reader, context: Context, draft: Draft, first: str) -> Step[bool]:
        if draft.name is None:
            text = StringIO()
            whole = yield from read_arguments(reader, context.limits, self.stops, text.write)
            draft.arguments = text.getvalue()
            return whole
        if first not in _VALUES:
            return False
        reader.commit()
        call = draft.call = context.sink.call_start(draft.name, draft.id, "inband")
        draft.whole = False
        write = context.sink.call_teller(call)
        if first == "{":  # as in `read_arguments`, with one generator less on the way of each piece
            draft.whole = yield from read_container(reader, self.stops, context.limits.max_depth, write)
        else:
            draft.whole = yield from read_arguments(reader, context.limits, self.stops, write)
        return draft.whole

    def _read_healed(self, reader: Reader, context: Context) -> Step[bool]:
        """Read an object that is not JSON (a Python literal, say) as a whole; False if it is no call."""
        text = StringIO()
        if (yield from reader.peek()) != "{" or not (
            yield from read_container(reader, self.stops, context.limits.max_depth, text.write)
        ):
            return False
        try:
            value = read(text.getvalue(), "heal", context.limits).value
        except JSONError:
            return False
        found = next(calls_in(value, self.names, self.arguments), None)
        if found is None or not context.believes_quoted(context.tool_name(found.name)):
            return False
        arguments = msgspec.json.encode(found.arguments).decode()
        write_call(reader, context, context.tool_name(found.name), found.id, arguments, is_repaired=True)
        return True
