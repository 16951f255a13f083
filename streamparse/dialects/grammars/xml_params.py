"""Grammars D and E: a tag for the call, with its name, and tags for each parameter.

    <tool_call>                             <tool_call>NAME
    <function=NAME>                         <arg_key>KEY</arg_key>
    <parameter=KEY>                         <arg_value>VALUE</arg_value>
    VALUE                                   </tool_call>
    </parameter>
    </function>
    </tool_call>

Both are one grammar: what opens a call says its name, what opens a value says its key.  The arguments become JSON
text on the way: a parameter that must be a string streams as it comes, any other when its tag closes.
The call is complete at its closing tag.
"""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.reader import Match, Reader, Step
from streamparse.dialects.grammars.call_arguments import broken
from streamparse.dialects.grammars.json_values import bracketed
from streamparse.dialects.grammars.json_writer import Members
from streamparse.dialects.grammars.tag_patterns import KEY, TagPatterns
from streamparse.dialects.grammars.tag_values import tagged
from streamparse.schema.kinds import ANY, STRING, Kinds, SchemaView, read_type_attribute
from streamparse.sink import Call

__all__ = ["KEY", "XmlParams"]

_ENVELOPES = frozenset({"arguments", "args", "input", "parameters", "params"})
"""Names of a single parameter in which models put all arguments as one JSON object."""


class XmlParams(TagPatterns, frozen=True, dict=True):
    """Reads the calls of one format of tags."""

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found = False
        while True:
            yield from reader.blanks()
            opening = yield from reader.match(self.opening)
            if opening is None:
                return found
            name = context.tool_name(self._plain(opening["name"]))
            if not context.believes(name):
                return found
            if name not in context.tools and (yield from self._says_little(reader, context)):
                return found
            reader.commit()
            yield from self._call(reader, context, name, opening)
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

    def _call(self, reader: Reader, context: Context, name: str, opening: Match) -> Step[None]:
        sink, said = context.sink, opening.groupdict()
        empty = said.get("empty") is not None
        call = sink.call_start(name, said.get("id"), "inband")
        if self.lead:
            yield from reader.match(self.leading)
        if not empty and (yield from reader.blanks()) == "{":
            yield from self._json_body(reader, context, call)
            return
        members = Members(context, call)
        members.repaired = _odd(opening)
        token = None if empty else (yield from self._members(reader, members))
        if token is None and not empty:
            if reader.beginning(self.token):
                reader.rest()  # the text ends inside of a tag; the call stays open
            elif not reader.over:
                sink.call_error(call, "malformed_call", f"the call of {name!r} holds something else than parameters")
            return
        if members.repaired or (token is not None and (token["end"] is None or _odd(token))):
            sink.call_repaired(call)
        members.close()
        sink.call_end(call)

    def _members(self, reader: Reader, members: Members) -> Step[Match | None]:
        """Read parameters; return what ended them, None if nothing of the format did."""
        while True:
            token = yield from reader.match(self.token)
            if token is None and reader.final and reader.stopped:
                token = yield from reader.match(self.last_token)
            if token is None or token["end"] is not None or token["cut"] is not None:
                return token
            members.repaired = members.repaired or token["stray"] is not None or _odd(token)
            if token["stray"] is None and not (yield from self._parameter(reader, members, token)):
                return None

    def _parameter(self, reader: Reader, members: Members, token: Match) -> Step[bool]:
        """Read a parameter's value; False if there is none, or the text ends inside of it."""
        key, declared = self._plain(token["key"]), members.typed.members
        foreign = members.empty and key in _ENVELOPES and bool(declared) and key not in declared
        entered = (yield from reader.match(self.entering)) if self.value_open else None
        groups = token.groupdict() | (entered.groupdict() if entered is not None else {})
        if groups.get("none") is not None:
            return False
        value = members.value(key, self.kinds(groups.get("type"), members.typed.member(key)))
        end = yield from tagged(reader, self.ending(groups.get("cdata") is not None), value, token["key"])
        if end is None:
            value.break_off()
            return False
        members.repaired = members.repaired or _odd(end) or (entered is not None and _odd(entered))
        held = value.read if foreign else None
        if held is not None and held.startswith("{") and (yield from reader.look(self.ended)) is not None:
            members.repaired = True
            members.replace(held)
        else:
            value.end()
        return True

    def kinds(self, word: str | None, typed: SchemaView) -> Kinds:
        """What a value may be: by its type in the markup, if there is one, else by the schema."""
        declared = typed.kinds if typed.kinds != ANY else self.untyped
        said = read_type_attribute(word or "") or declared
        # DeepSeek calls numbers strings at times; what no tool takes is not what it meant.
        return declared if said == STRING and "string" not in declared else said

    def _json_body(self, reader: Reader, context: Context, call: Call) -> Step[None]:
        """Some models write the arguments as one JSON object inside of the call's tag."""
        sink = context.sink
        whole = yield from bracketed(reader, self.markers, context.limits.max_depth, sink.call_teller(call))
        if whole:
            sink.call_end(call)
            yield from reader.match(self.token)
        elif not reader.over:
            broken(context, call, f"the arguments of {call.name!r} break off")

    def _plain(self, text: str) -> str:
        """A name or key without escapes."""
        for escape, character in self.entities:
            text = text.replace(escape, character)
        return text


def _odd(tag: Match) -> bool:
    """Whether a tag was not as it should be."""
    return tag.groupdict().get("odd") is not None
