"""Grammars D and E: a tag for the call, with its name, and tags for each parameter.

    <tool_call>                             <tool_call>NAME
    <function=NAME>                         <arg_key>KEY</arg_key>
    <parameter=KEY>                         <arg_value>VALUE</arg_value>
    VALUE                                   </tool_call>
    </parameter>
    </function>
    </tool_call>

Both are one grammar: what opens a call says its name, what opens a value says its key.  Nothing is escaped in
these formats, so it takes structure on both sides to end a value (see `tagged`).  The arguments become JSON
text on the way: a parameter that must be a string streams as it comes, any other when its tag closes.
The call is complete at its closing tag.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache

import msgspec

from streamparse.coercion import Kinds, Typed, kinds_of_attribute
from streamparse.dialects.grammar import Context
from streamparse.dialects.markers import Markers
from streamparse.dialects.members import Members
from streamparse.dialects.reader import Match, Pattern, Reader, Step
from streamparse.dialects.tagged import Ending, tagged
from streamparse.dialects.values import bracketed
from streamparse.patterns import gradual
from streamparse.sink import Call

__all__ = ["GAP", "KEY", "XmlParams"]

GAP = r"[ \t\r\n]{0,64}"
"""Blanks between tags, as a pattern."""
KEY = "(?P=KEY)"
"""In the pattern of a closing tag: the key of the parameter that it closes."""

_ENVELOPES = frozenset({"arguments", "args", "input", "parameters", "params"})
"""Names of a single parameter in which models put all arguments as one JSON object."""


class XmlParams(msgspec.Struct, frozen=True, dict=True):
    """The tags of one format, as patterns of gradual length."""

    call: str
    """What opens a call, and its block: group `name`; group `empty` if it closes at once.

    No pattern may end in something optional: what it matches must not depend on what has come so far.
    """
    call_begin: str
    """Enough of it to know it by."""
    call_close: str
    block_close: str
    parameter: str
    """What says the key of a value: group `key`; group `type` if it may say a type."""
    parameter_begin: str
    """Enough of it to know it by."""
    parameter_close: str
    stops: tuple[str, ...]
    """Literals that begin whatever may end a value, or open a call inside of it."""
    lead: str = ""
    """What may stand between the call's opening and its parameters."""
    value_open: str = ""
    """What may stand between key and value: group `type`; group `cdata` if it opens a CDATA section."""
    trim: bool = True
    """One line break after a parameter's opening tag and one before its closing tag belong to the tags."""
    unclosed: bool = True
    """A value may end without a closing tag where the next parameter begins."""
    hollow: bool = True
    """A call without parameters is believed of any tool; else, where tools are declared, only of these."""
    entities: tuple[tuple[str, str], ...] = ()
    """What is escaped in names and keys, and what it stands for."""

    # Patterns are compiled on first use: few of the dialects that are armed ever meet their marker.

    @cached_property
    def opening(self) -> Pattern:
        """The tag that opens a call."""
        return gradual(self.call)

    @cached_property
    def markers(self) -> Markers:
        """Where a value may end."""
        return Markers(self.stops)

    @cached_property
    def token(self) -> Pattern:
        """What stands between the parameters of a call."""
        stray = "(?!)" if KEY in self.parameter_close else self.parameter_close
        return gradual(
            rf"{GAP}(?:{self.parameter}|(?P<end>{self.call_close})|(?P<cut>(?={self._next_call}))|(?P<stray>{stray}))"
        )

    @cached_property
    def ended(self) -> Pattern:
        """The end of the call, where it may stand."""
        return gradual(rf"{GAP}(?:{self.call_close}|{self._next_call})")

    @cached_property
    def following(self) -> Pattern:
        """What follows a call: another one, or the end of the block."""
        return gradual(rf"{GAP}(?:(?P<more>(?={self.call_begin}))|{self.block_close})")

    @cached_property
    def again(self) -> Pattern:
        """The end of the block, once more."""
        return gradual(GAP + self.block_close)

    @cached_property
    def leading(self) -> Pattern:
        """What may stand before the parameters."""
        return gradual(GAP + self.lead)

    @cached_property
    def entering(self) -> Pattern:
        """What may stand before a value."""
        return gradual(self.value_open)

    @property
    def _next_call(self) -> str:
        return rf"(?:{self.block_close}|{self.call_begin})"

    def ending(self, key: str, cdata: bool) -> Ending:
        """What ends the value of a parameter."""
        return _ending(self, key if KEY in self.parameter_close else "", cdata)

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found = False
        while True:
            yield from reader.blanks()
            opening = yield from reader.match(self.opening)
            if opening is None:
                return found
            name = context.tool_name(self._plain(opening["name"]))
            if name not in context.tools and (context.declared or (yield from self._says_little(reader, context))):
                return found
            reader.commit()
            yield from self._call(reader, context, name, opening.groupdict().get("empty") is not None)
            found = True
            following = yield from reader.match(self.following)
            if following is None or following["more"] is None:
                if following is not None:
                    yield from reader.match(self.again)  # some models close the block twice
                if reader.beginning(self.again):
                    reader.rest()  # the end of the block is cut off
                return True
            context = context.for_all()
            reader.remember(context.limits.max_call_args)

    def _says_little(self, reader: Reader, context: Context) -> Step[bool]:
        """Whether a call of a tool that is not declared could as well be prose."""
        if self.hollow or not context.tools:
            return False
        return (yield from reader.look(self.ended)) is not None

    def _call(self, reader: Reader, context: Context, name: str, empty: bool) -> Step[None]:
        sink = context.sink
        call = sink.call_start(name, None, "inband")
        if self.lead:
            yield from reader.match(self.leading)
        if not empty and (yield from reader.blanks()) == "{":
            yield from self._json_body(reader, context, call)
            return
        members = Members(context, call)
        token = None if empty else (yield from self._members(reader, members))
        if token is None and not empty:
            if reader.beginning(self.token):
                reader.rest()  # the text ends inside of a tag; the call stays open
            elif not reader.over:
                sink.call_error(call, "malformed_call", f"the call of {name!r} holds something else than parameters")
            return
        if members.repaired or (token is not None and token["end"] is None):
            sink.call_repaired(call)
        members.close()
        sink.call_end(call)

    def _members(self, reader: Reader, members: Members) -> Step[Match | None]:
        """Read parameters; return what ended them, None if nothing of the format did."""
        while True:
            token = yield from reader.match(self.token)
            if token is None or token["end"] is not None or token["cut"] is not None:
                return token
            if token["stray"] is not None:
                members.repaired = True
            elif not (yield from self._parameter(reader, members, token)):
                return None

    def _parameter(self, reader: Reader, members: Members, token: Match) -> Step[bool]:
        """Read a parameter's value; False if the text ends inside of it."""
        key, declared = self._plain(token["key"]), members.typed.members
        foreign = members.empty and key in _ENVELOPES and bool(declared) and key not in declared
        entered = (yield from reader.match(self.entering)) if self.value_open else None
        groups = token.groupdict() | (entered.groupdict() if entered is not None else {})
        value = members.value(key, self.kinds(groups.get("type"), members.typed.member(key)))
        if not (yield from tagged(reader, self.ending(token["key"], groups.get("cdata") is not None), value)):
            value.break_off()
            return False
        held = value.read if foreign else None
        if held is not None and held.startswith("{") and (yield from reader.look(self.ended)) is not None:
            members.replace(held)
        else:
            value.end()
        return True

    def kinds(self, word: str | None, typed: Typed) -> Kinds:
        """What a value may be: by its type in the markup, if there is one, else by the schema."""
        return kinds_of_attribute(word or "") or typed.kinds

    def _json_body(self, reader: Reader, context: Context, call: Call) -> Step[None]:
        """Some models write the arguments as one JSON object inside of the call's tag."""
        sink = context.sink
        whole = yield from bracketed(reader, self.markers, context.limits.max_depth, sink.call_teller(call))
        if whole:
            sink.call_end(call)
            yield from reader.match(self.token)
        elif not reader.over:
            sink.call_error(call, "malformed_call", f"the arguments of {call.name!r} break off")

    def _plain(self, text: str) -> str:
        """A name or key without escapes."""
        for escape, character in self.entities:
            text = text.replace(escape, character)
        return text


@lru_cache(maxsize=256)
def _ending(tags: XmlParams, key: str, cdata: bool) -> Ending:
    close = tags.parameter_close.replace(KEY, re.escape(key))
    # Some models close a parameter twice.
    after = rf"(?={GAP}(?:{close}{GAP}){{0,2}}(?:{tags.parameter_begin}|{tags.call_close}|{tags._next_call}))"
    over = r"\s{0,256}\Z"
    if cdata:
        close = rf"\]\]>{GAP}{close}"
        return Ending(Markers(("]]>",)), f"{close}{after}", f"{close}(?:{after}|(?={over}))", "(?!)", trim=False)
    newline = r"(?:\r?\n)?" if tags.trim else ""
    unclosed = rf"|{GAP}(?={tags.parameter})" if tags.unclosed else ""
    closing = rf"{newline}{close}{after}{unclosed}|{newline}(?={tags.call_close}{GAP}{tags._next_call})"
    last = rf"{closing}|{newline}(?:{close}(?={over})|(?={tags.call_close}{over}))"
    inner = rf"{newline}(?:{tags.call}{GAP}(?={tags.parameter_begin}|{tags.call_close})|(?P<out>{tags.call_close}))"
    return Ending(tags.markers, closing, last, inner, tags.trim)
