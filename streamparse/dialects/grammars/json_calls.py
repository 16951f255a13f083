"""One call as a JSON object, read member by member.

    {"name": NAME, "arguments": {...}}

The call starts, and its arguments stream, as soon as its name and the first character of its arguments have come.  The
arguments pass through untouched: a string-aware scanner watches for their end, so that a marker inside a JSON string
is data.  The call is complete at the brace that closes its object.

Grammars A and B: a marker, then JSON that is one or more calls.

    <tool_call>                                    <|tools_prefix|>[{NAME: {...}}, {NAME: {...}}]<|tools_suffix|>
    {"name": NAME, "arguments": {...}}
    </tool_call>

There may be several objects, one after another or in an array.  Each call is complete at the brace that closes its
object, whatever closing tag may follow.  Where only declared tools are believed, one of them vouches for all calls of
its list, also for those before it.
"""

from __future__ import annotations

import re
from functools import cached_property
from io import StringIO
from typing import Final

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, Markers, write_any
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.call_block import (
    Patterns,
    fail_call,
    read_block,
    stream_call,
    write_call,
)
from streamparse.dialects.grammars.call_json import (
    ARGUMENT_KEYS,
    NEUTRAL_KEYS,
    ExtractedCall,
    disproves_call,
    extract_calls,
)
from streamparse.dialects.grammars.json_values import read_arguments, read_container, read_string, skip_value
from streamparse.json import JSONError, read
from streamparse.limits import most
from streamparse.patterns import lazy_partial, lazy_re
from streamparse.sink import Call

# What an argument value may begin with.
_VALUES = frozenset('{["n')
_LEAST_HEAD = 32  # bench: characters of a text in which a name and the key of the arguments are looked for at once


class Draft(msgspec.Struct):
    """What is known of one call object so far."""

    name: str | None = None
    id: str | None = None
    arguments: str | None = None  # they came before the name
    call: Call | None = None
    is_foreign: bool = False  # it names no declared tool where only those count
    has_others: bool = False  # it has members that no call has
    has_type: bool = False  # it has members that the definition of a tool has, too
    is_whole: bool = True  # the last value that was begun has ended
    was_repaired: bool = False  # a brace or a comma is missing or one too many, or the call says a thing twice


_NOTHING: Final[frozenset[str]] = frozenset()
_HEAD: Final = frozenset({"name", "arguments"})
_MORE = rf"(?P<more>[;,]?{GAP}(?=\{{))"
_FIRST_KEY = lazy_partial(r"\{[ \t\r\n]{0,64}\"(?P<key>[^\"\\]{1,256})\"[ \t\r\n]{0,64}:")
# What follows the arguments under a tool's name: another call, in an object of its own or not; or the end.
_BETWEEN_KEYED = lazy_partial(rf"{GAP}(?:(?:\}}{GAP})?,{GAP}(?:\{{{GAP})?(?=\")|\}}{GAP},?{GAP}\])")


class JsonCalls(msgspec.Struct, frozen=True, dict=True):
    """One or more JSON objects, each a call; also in an array.

    `closes` may end the block; none of `opens` may be inside it but in a string.
    With `explicit` an object without arguments is no call; with `by_name` it is one, outside of an array, if it holds a
    name and nothing else.
    """

    closes: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()
    # Closing markers as a model cuts them short at the end of its text.
    last_closes: tuple[str, ...] = ()
    names: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ARGUMENT_KEYS
    ids: tuple[str, ...] = ("id",)
    explicit: bool = False
    by_name: bool = False
    # A pattern of what is between the opener and the JSON.
    lead: str = ""

    @property
    def follows(self) -> str:
        """What a block begins with: an object, or an array of them."""
        return rf"{self.lead}\s{{0,64}}[\[{{]"

    @cached_property
    def stops(self) -> Markers:
        """What may not be inside a call's JSON but in a string."""
        return Markers((*self.closes, *self.opens))

    @cached_property
    def roles(self) -> dict[str, str]:
        """What the keys that make a call say of it."""
        return {
            **dict.fromkeys(self.ids, "id"),
            **dict.fromkeys(self.arguments, "arguments"),
            **dict.fromkeys(self.names, "name"),
        }

    @cached_property
    def patterns(self) -> Patterns:
        """What is around and between the objects."""
        closes, last_closes = write_any(self.closes), write_any((*self.closes, *self.last_closes))
        return Patterns(
            leading=self.lead,
            between=rf"{GAP}{_MORE}",
            in_list=rf"{GAP}(?:{_MORE}|,?{GAP}\])",
            end=rf"{GAP}\}}?{GAP}{closes}",  # perhaps after one brace too many
            last_end=rf"{GAP}\}}?{GAP}{last_closes}",
        )

    @cached_property
    def head(self) -> re.Pattern[str]:
        """How nearly every call begins, after its brace."""
        names, arguments = write_any(self.names), write_any(self.arguments)
        name = rf"\"{names}\"{GAP}:{GAP}\"(?P<name>[^\"\\]{{1,256}})\""
        return lazy_re(rf"{GAP}{name}{GAP},{GAP}\"{arguments}\"{GAP}:{GAP}(?=\{{)")

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        block = _Objects(self)
        return read_block(reader, context, block.read_call, block.read_next, context.limits.max_call_args)

    def read_object(self, reader: Reader, context: Context, start: int, is_element: bool) -> Step[bool]:
        """Read one call object, whose opening brace may be missing; False if it is no call.

        `start` is how much the reader keeps of what came before it; `is_element`: it is in an array.
        """
        draft = Draft(was_repaired=reader.buffer[reader.at] != "{")
        if not draft.was_repaired:
            reader.take(1)
        sound, known = True, _NOTHING
        if len(reader.buffer) - reader.at > _LEAST_HEAD and self._take_head(reader, context, draft):
            sound, known = (yield from self._read_arguments(reader, context, draft, "{")), _HEAD
        sound = sound and (yield from self._read_members(reader, context, draft, known))
        if draft.call is not None:
            if not draft.is_whole and not reader.is_at_end:
                fail_call(context, draft.call, f"the call of {draft.name!r} breaks off")
            elif draft.is_whole:
                if draft.was_repaired or not sound:
                    context.sink.call_repaired(draft.call)
                context.sink.call_end(draft.call)
            return True  # where the text ends inside the arguments, the call stays open
        if draft.is_foreign:
            return False
        if not sound:
            reader.rewind(start)
            return (yield from self._read_healed(reader, context))
        # The arguments came before the name, or not at all.
        if draft.name is None or (draft.arguments is None and not self._is_whole(draft, context, is_element)):
            return False
        write_call(reader, context, draft.name, draft.id, draft.arguments or "{}", draft.was_repaired)
        return True

    def _take_head(self, reader: Reader, context: Context, draft: Draft) -> bool:
        """Take a name and the key of the arguments at once, if they have come; else nothing."""
        head = None if context.declared else self.head.match(reader.buffer, reader.at)
        if head is None or len(head[0]) > min(most(context.limits.max_key), most(context.limits.max_name)):
            return False  # what comes is read piece by piece, and may be too long
        name = context.resolve_name(head["name"])
        if not head["name"].isprintable() or not context.believes_quoted(name):
            return False
        draft.name = name
        reader.take(len(head[0]))
        return True

    def _is_whole(self, draft: Draft, context: Context, is_element: bool) -> bool:
        """Whether an object without arguments is a call: another key may hold the arguments."""
        if draft.has_others or not self.explicit:
            return not draft.has_others
        tools, name = context.tools, draft.name or ""
        may_be = not tools or (name in tools and not tools.requires_arguments(name))
        return self.by_name and not is_element and not draft.has_type and may_be

    def _read_members(
        self, reader: Reader, context: Context, draft: Draft, known: frozenset[str] = _NOTHING
    ) -> Step[bool]:
        """Read an object's members up to its closing brace; False where it is not sound.

        `known` is what the members say that were read before.
        """
        is_empty = separated = not known
        while True:
            after = yield from reader.skip_blanks()
            if after in ("}", ","):
                reader.take(1)
                if separated and not (is_empty and after == "}"):
                    draft.was_repaired = True
                if after == "}":
                    return True
                separated = True
                continue
            key = (yield from read_string(reader, context.limits.max_key)) if after == '"' else None
            if key is None or (yield from reader.skip_blanks()) != ":":
                return False
            reader.take(1)
            role = self.roles.get(key)
            if not separated or role in known:
                draft.was_repaired = True
            elif role is not None:
                known |= {role}
            is_empty = separated = False
            if not (yield from self._read_member(reader, context, draft, key)):
                return False

    def _read_member(self, reader: Reader, context: Context, draft: Draft, key: str) -> Step[bool]:
        """Read one member's value."""
        if context.declared and (yield from disproves_call(reader, key, self.roles)):
            draft.is_foreign = True
            return False
        first = yield from reader.skip_blanks()
        if key in self.names and first == '"' and draft.name is None:
            return (yield from self._read_name(reader, context, draft))
        if key in self.ids and first == '"':
            draft.id = yield from read_string(reader, context.limits.max_id)
            return draft.id is not None
        if key in self.arguments and draft.call is None and draft.arguments is None:
            return (yield from self._read_arguments(reader, context, draft, first))
        draft.has_type = draft.has_type or key in ("function", "type")
        if key == "function" and first == "{" and draft.name is None:
            reader.take(1)
            return (yield from self._read_members(reader, context, draft))
        # What is no word may hold what the call is to be given.
        is_known = (key in self.roles or key in NEUTRAL_KEYS) and first not in ("{", "[")
        draft.has_others = draft.has_others or not is_known
        return (yield from skip_value(reader, context.limits, self.stops))

    def _read_name(self, reader: Reader, context: Context, draft: Draft) -> Step[bool]:
        name = yield from read_string(reader, context.limits.max_name)
        if name is None:
            return False
        draft.name = context.resolve_name(name) or None
        draft.is_foreign = draft.name is None or not context.believes_quoted(draft.name)
        return not draft.is_foreign

    def _read_arguments(self, reader: Reader, context: Context, draft: Draft, first: str) -> Step[bool]:
        if draft.name is None:
            text = StringIO()
            whole = yield from read_arguments(reader, context.limits, self.stops, text.write, first)
            draft.arguments = text.getvalue()
            return whole
        if first not in _VALUES:
            return False
        reader.commit()
        call = draft.call = context.sink.call_start(draft.name, draft.id, "inband")
        draft.is_whole = False
        write = context.sink.call_teller(call)
        draft.is_whole = yield from read_arguments(reader, context.limits, self.stops, write, first)
        return draft.is_whole

    def _read_healed(self, reader: Reader, context: Context) -> Step[bool]:
        """Read an object that is not JSON (a Python literal, say) as a whole; False if it is no call."""
        text = yield from self.read_text(reader, context)
        found = None if text is None else self.find_call(text, context)
        if found is None or not context.believes_quoted(found.name):
            return False
        arguments = msgspec.json.encode(found.arguments).decode()
        write_call(reader, context, found.name, found.id, arguments, is_repaired=True)
        return True

    def read_text(self, reader: Reader, context: Context) -> Step[str | None]:
        """Take an object; return None if there is no object, or it breaks off."""
        text = StringIO()
        if (yield from reader.peek()) != "{":
            return None
        whole = yield from read_container(reader, self.stops, context.limits.max_depth, text.write)
        return text.getvalue() if whole else None

    def find_call(self, text: str, context: Context, is_strict: bool = False) -> ExtractedCall | None:
        """The call that an object is, by the name of its tool; `is_strict`: it holds nothing that no call has."""
        try:
            value = read(text, "heal", context.limits).value
        except JSONError:
            return None
        if is_strict and not value.keys() <= {*self.roles, *NEUTRAL_KEYS}:
            return None
        found = next(extract_calls(value, self.names, self.arguments), None)
        return None if found is None else found._replace(name=context.resolve_name(found.name))


class _Objects(msgspec.Struct):
    """The objects after one marker."""

    format: JsonCalls
    is_list: bool = False

    def read_call(self, reader: Reader, context: Context, found: bool) -> Step[bool]:
        if not found and self.format.lead:
            yield from reader.match(self.format.patterns.leading)
        first = yield from reader.skip_blanks()
        if not found and first == "[":
            self.is_list = True
            reader.take(1)
            first = yield from reader.skip_blanks()
        if first not in ("{", '"'):
            return False
        start = reader.count_kept()
        if (yield from self.format.read_object(reader, context, start, self.is_list)):
            return True
        if context.declared and not found and self.is_list and (yield from self._is_vouched(reader, context, start)):
            return (yield from self.format.read_object(reader, context.trust_all(), start, self.is_list))
        if found and reader.is_at_end:
            # The text ends inside a block of calls, before another call has its name: that is not text.
            message = f"the text ended inside a block of calls: {reader.kept}"
            reader.commit()
            context.sink.error("call", "truncated_call", message)
            return False
        return found and self.is_list and (yield from self._pass_on(reader, context, start))

    def read_next(self, reader: Reader) -> Step[bool]:
        """Read what follows an object: another one, or the end of the block."""
        between = self.format.patterns.in_list if self.is_list else self.format.patterns.between
        following = yield from reader.match(between)
        if following is not None and following["more"] is not None:
            return True
        ended = yield from reader.match_end(self.format.patterns.end, self.format.patterns.last_end)
        if ended is None and reader.is_cut_off(between):
            reader.take_rest()  # the comma before another call
        return False

    def _is_vouched(self, reader: Reader, context: Context, start: int) -> Step[bool]:
        """Whether a list whose first call is of an unknown tool holds one of a declared tool; takes nothing."""
        reader.rewind(start)
        name, is_more = "", True
        while is_more and name not in context.tools:
            text = yield from self.format.read_text(reader, context)
            found = None if text is None else self.format.find_call(text, context, is_strict=True)
            following = yield from reader.match(self.format.patterns.in_list)
            if found is None:
                break
            name = found.name
            is_more = following is not None and following["more"] is not None
        reader.rewind(start)
        return name in context.tools

    def _pass_on(self, reader: Reader, context: Context, start: int) -> Step[bool]:
        """Pass on an object in a list of calls that is no call as text, with an error; False if it breaks off."""
        reader.rewind(start)
        text = yield from self.format.read_text(reader, context)
        if text is None:
            return False
        reader.commit()
        context.sink.text(text)
        context.sink.error("call", "malformed_call", "an object in a list of calls is no call")
        return True


class GuidedCalls(JsonCalls, frozen=True, dict=True):
    """JSON under constrained decoding: an array of calls, or the arguments of the one tool that was asked for.

        [{"name": NAME, "parameters": {...}}]      tool_choice="required"
        {...}                                      tool_choice names the tool

    The second kind has no name; it is believed where exactly one tool is declared, and the first key is one of its
    parameters.
    """

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        first = yield from reader.peek_match(_FIRST_KEY)
        name = next(iter(context.tools), "")
        known = len(context.tools) == 1 and first is not None and first["key"] not in (*self.names, *self.arguments)
        if first is None or not known or context.tools.parameter_schema(name, first["key"]) is None:
            return (yield from super().__call__(reader, context))
        return (yield from stream_call(reader, context, name, None, self.stops))


class KeyedCalls(msgspec.Struct, frozen=True, dict=True):
    """An array of objects, each key of which names a tool and holds its arguments; `closes` may follow it.

    A call starts at the first character of its arguments and is complete at their closing brace: nothing else is in
    its object.
    """

    closes: tuple[str, ...] = ()
    opens: tuple[str, ...] = ()

    @cached_property
    def stops(self) -> Markers:
        """What may not be inside a call but in a string."""
        return Markers((*self.closes, *self.opens))

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        # Each of its calls must be believed on its own: no call vouches for the others.
        most = context.limits.max_call_args
        return read_block(reader, context, self._read_call, self._read_next, most, vouches=False)

    def _read_call(self, reader: Reader, context: Context, found: bool) -> Step[bool]:
        for bracket in "" if found else "[{":
            if (yield from reader.skip_blanks()) != bracket:
                return False
            reader.take(1)
        if (yield from reader.skip_blanks()) != '"':
            return False
        written = yield from read_string(reader, context.limits.max_name)
        name = None if written is None else context.resolve_name(written)
        if name is None or not context.believes_quoted(name) or (yield from reader.skip_blanks()) != ":":
            return False
        reader.take(1)
        if (yield from reader.skip_blanks()) not in ("{", '"'):
            return False
        return (yield from stream_call(reader, context, name, None, self.stops))

    def _read_next(self, reader: Reader) -> Step[bool]:
        following = yield from reader.match(_BETWEEN_KEYED)
        if following is not None and not following[0].endswith("]"):
            return True
        # Whatever brackets are missing.
        yield from reader.match_end(lazy_partial(rf"{GAP}\}}?{GAP}\]?{GAP}{write_any(self.closes)}"))
        return False
