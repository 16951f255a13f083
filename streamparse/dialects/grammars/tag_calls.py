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

from functools import cached_property, lru_cache
from typing import Final

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, Markers, Stops
from streamparse.dialects.engine.reader import Match, Pattern, Reader, Step
from streamparse.dialects.grammars.call_block import Patterns, fail_call, read_block
from streamparse.dialects.grammars.json_values import read_container
from streamparse.dialects.grammars.tag_values import ObjectWriter, ValueEnd, read_value
from streamparse.patterns import lazy_partial
from streamparse.schema.kinds import ANY, STRING, Kinds, SchemaView, read_type_attribute
from streamparse.sink import Call

# In the pattern of a closing tag: the key of the parameter that it closes.
KEY: Final = "(?P=KEY)"

_ANY_KEY = r"(?P<closing>[^<>]{1,256})"
# Names of a single parameter in which models put all arguments as one JSON object.
_ENVELOPES = frozenset({"arguments", "args", "input", "parameters", "params"})


class TagCalls(msgspec.Struct, frozen=True, dict=True):
    """The tags of one format, as patterns of bounded length.

    In any of them the group `odd` matches where the tags are not as they should be: the call is repaired.
    """

    # What opens a call, and its block: group `name`; group `empty` if it closes at once.  No pattern may end in
    # something optional: what it matches must not depend on what has come so far.
    call: str
    # Enough of it to know it by.
    call_begin: str
    call_close: str
    # What says the key of a value: group `key`; group `type` if it may say a type.
    parameter: str
    # Enough of it to know it by.
    parameter_begin: str
    parameter_close: str
    # The literals with which begins what may end a value, or open a call inside it.
    stops: tuple[str, ...]
    # What closes the block, in formats that have one.
    block_close: str = "(?!)"
    # What may be between tags without a meaning.
    gap: str = GAP
    # What may be between the call's opening and its parameters.
    lead: str = ""
    # What may be between key and value: group `type`; group `cdata` if it opens a CDATA section; group `none` if
    # there is no value.
    value_open: str = ""
    # What closes a call ends the turn, too, so servers take it out of the text: where the server says that the model
    # stopped, and it did so after a parameter, the call is whole.
    stop: bool = False
    # One line break after a parameter's opening tag and one before its closing tag belong to the tags.
    trim: bool = False
    # A value may end without a closing tag where the next parameter begins.
    unclosed: bool = True
    # Text without a meaning that may be between a value and the next parameter: the call is repaired.
    stray: str = "(?!)"
    # A call without parameters is believed of any tool; else, where tools are declared, only of these.
    hollow: bool = True
    # What opens a call without parameters in a way of its own, which is no call inside a value.
    empty_call: str = ""
    # What a value may be where neither the markup nor a schema says anything of it.
    untyped: Kinds = ANY
    # Escapes in names and keys, and the characters that they mean.
    entities: tuple[tuple[str, str], ...] = ()

    @property
    def follows(self) -> str:
        """What the text of a call begins with."""
        return rf"(?:{self.call})|(?:{self.empty_call})" if self.empty_call else self.call

    @cached_property
    def markers(self) -> Stops:
        """Where a value may end."""
        return Markers(self.stops)

    @cached_property
    def patterns(self) -> Patterns:
        """What is around the parameters, and between them."""
        next_call = self._next_call
        return Patterns(
            self.compile_pattern,
            opening=self.follows,
            token=self._write_token(self.call_close),
            last_token=self._write_token(rf"{self.call_close}|\Z" if self.stop else self.call_close),
            ended=rf"{self.gap}(?:{self.call_close}|{next_call})",
            hollow=rf"{self.gap}(?:{self._stray_close}{self.gap})?(?:{self.call_close}|{next_call})",
            following=rf"{self.gap}(?:(?P<more>(?={self.call_begin}))|{self.block_close})",
            again=self.gap + self.block_close,
            leading=self.gap + self.lead,
            entering=self.value_open,
        )

    def compile_pattern(self, source: str) -> Pattern:
        """The pattern that is written so."""
        return lazy_partial(source)

    def _write_token(self, close: str) -> str:
        """A pattern of what is between the parameters of a call."""
        stray = rf"(?:{self._stray_close}|{self.stray}(?={self.parameter_begin}))"
        cut = rf"(?P<cut>(?={self._next_call}))"
        return rf"{self.gap}(?:{self.parameter}|(?P<end>{close})|{cut}|(?P<stray>{stray}))"

    @property
    def _stray_close(self) -> str:
        """What closes a parameter that is not open."""
        return "(?!)" if KEY in self.parameter_close else self.parameter_close

    @property
    def _next_call(self) -> str:
        return rf"(?:{self.block_close}|{self.call_begin})"

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        return read_block(reader, context, self._read_call, self._read_next, context.limits.max_call_args)

    def _read_call(self, reader: Reader, context: Context, found: bool) -> Step[bool]:  # noqa: ARG002
        yield from reader.skip_blanks()
        opening = yield from reader.match(self.patterns.opening)
        if opening is None:
            return False
        name = context.resolve_name(self._unescape(opening["name"]))
        if not context.believes(name):
            return False
        # Without parameters, a call of a tool that is not declared could as well be prose.
        is_weak = name not in context.tools and bool(context.tools) and not self.hollow
        if is_weak and (yield from reader.peek_match(self.patterns.hollow)) is not None:
            return False
        reader.commit()
        is_empty = _read_group("empty", opening) is not None
        call = context.sink.call_start(name, _read_group("id", opening), "inband")
        if self.lead:
            yield from reader.match(self.patterns.leading)
        if not is_empty and (yield from reader.skip_blanks()) == "{":
            yield from self._read_json(reader, context, call)
            return True
        members = ObjectWriter(context, call)
        members.was_repaired = _is_odd(opening)
        token = None if is_empty else (yield from self._read_members(reader, members))
        if token is not None or is_empty:
            if members.was_repaired or (token is not None and (token["end"] is None or _is_odd(token))):
                context.sink.call_repaired(call)
            members.close()
            context.sink.call_end(call)
        elif reader.is_cut_off(self.patterns.token):
            reader.take_rest()  # the text ends inside a tag; the call stays open
        elif not reader.is_at_end:
            message = f"the call of {name!r} holds something else than parameters"
            context.sink.call_error(call, "malformed_call", message)
        return True

    def _read_next(self, reader: Reader) -> Step[bool]:
        following = yield from reader.match(self.patterns.following)
        if following is not None and following["more"] is not None:
            return True
        if following is not None:
            yield from reader.match(self.patterns.again)  # some models close the block twice
        if reader.is_cut_off(self.patterns.again):
            reader.take_rest()  # the end of the block is cut off
        return False

    def _read_members(self, reader: Reader, members: ObjectWriter) -> Step[Match | None]:
        """Read parameters; return what ended them, None if nothing of the format did."""
        while True:
            token = yield from reader.match(self.patterns.token)
            if token is None and reader.final and reader.stopped:
                token = yield from reader.match(self.patterns.last_token)
            if token is None or token["end"] is not None or token["cut"] is not None:
                return token
            members.was_repaired = members.was_repaired or token["stray"] is not None or _is_odd(token)
            if token["stray"] is None and not (yield from self._read_parameter(reader, members, token)):
                return None

    def _read_parameter(self, reader: Reader, members: ObjectWriter, token: Match) -> Step[bool]:
        """Read a parameter's value; False if there is none, or the text ends inside it."""
        key, declared = self._unescape(token["key"]), members.typed.members
        foreign = members.is_empty and key in _ENVELOPES and bool(declared) and key not in declared
        entered = (yield from reader.match(self.patterns.entering)) if self.value_open else None
        if _read_group("none", entered, token) is not None:
            return False
        said = _read_group("type", entered, token)
        value = members.begin_value(key, self.find_kinds(said, members.typed.view_member(key)))
        ending = _make_value_end(self, _read_group("cdata", entered, token) is not None, _ANY_KEY)
        end = yield from read_value(reader, ending, value, token["key"])
        if end is None:
            value.abort()
            return False
        members.was_repaired = members.was_repaired or _is_odd(end) or (entered is not None and _is_odd(entered))
        held = value.json_text if foreign else None
        if (
            held is not None
            and held.startswith("{")
            and (yield from reader.peek_match(self.patterns.ended)) is not None
        ):
            members.was_repaired = True
            members.replace_members(held)
        else:
            value.end()
        return True

    def find_kinds(self, word: str | None, typed: SchemaView) -> Kinds:
        """What a value may be: by its type in the markup, if there is one, else by the schema."""
        declared = typed.kinds if typed.kinds != ANY else self.untyped
        said = read_type_attribute(word or "") or declared
        # DeepSeek calls numbers strings at times; what no tool takes is not what it meant.
        return declared if said == STRING and "string" not in declared else said

    def _read_json(self, reader: Reader, context: Context, call: Call) -> Step[None]:
        """Some models write the arguments as one JSON object inside the call's tag."""
        sink = context.sink
        whole = yield from read_container(reader, self.markers, context.limits.max_depth, sink.call_teller(call))
        if whole:
            sink.call_end(call)
            yield from reader.match(self.patterns.token)
        elif not reader.is_at_end:
            fail_call(context, call, f"the arguments of {call.name!r} break off")

    def _unescape(self, text: str) -> str:
        """A name or key without escapes."""
        for escape, character in self.entities:
            text = text.replace(escape, character)
        return text


def _is_odd(tag: Match) -> bool:
    """Whether a tag was not as it should be."""
    return _read_group("odd", tag) is not None


def _read_group(name: str, *tags: Match | None) -> str | None:
    """Return a group of the first tag whose pattern has it."""
    for tag in tags:
        if tag is not None and name in tag.re.groupindex:
            group: str | None = tag[name]
            return group
    return None


@lru_cache(maxsize=256)
def _make_value_end(tags: TagCalls, cdata: bool, key: str) -> ValueEnd:
    """What ends a value; `key` is the pattern of the key in its closing tag."""
    close = tags.parameter_close.replace(KEY, key)
    others = _make_value_end(tags, cdata, "(?!)") if KEY in tags.parameter_close and key == _ANY_KEY else None
    # Some models close a parameter twice.  First without a second tag: what it may be is checked only afterwards.
    again = rf"(?:{close}{tags.gap}){{0,2}}?"
    after = rf"{tags.gap}{again}(?:{tags.parameter_begin}|{tags.call_close}|{tags._next_call})"
    after = rf"(?={after}|{tags.stray}{tags.parameter_begin})"
    over = r"\s{0,256}\Z"
    if cdata:
        close = rf"\]\]>{tags.gap}{close}"
        last = f"{close}(?:{after}|(?={over}))"
        return ValueEnd(Markers(("]]>",)), f"{close}{after}", last, "(?!)", False, tags.compile_pattern, others)
    newline = r"(?:\r?\n)?" if tags.trim else ""
    unclosed = rf"|{tags.gap}(?P<odd>)(?={tags.parameter})" if tags.unclosed else ""
    closing = rf"{newline}{close}{after}{unclosed}|{newline}(?P<odd>)(?={tags.call_close}{tags.gap}{tags._next_call})"
    last = rf"{closing}|{newline}(?:{close}(?={over})|(?P<odd>)(?={tags.call_close}{over}))"
    inner = (
        rf"{newline}(?:{tags.call}{tags.gap}(?={tags.parameter_begin}|{tags.call_close})|(?P<out>{tags.call_close}))"
    )
    return ValueEnd(tags.markers, closing, last, inner, tags.trim, tags.compile_pattern, others)
