"""Grammar D where the tag of the call is the tool's name: only for declared tools.

    <NAME>                      <NAME>{"KEY": VALUE}</NAME>         <NAME KEY="VALUE"/>         <NAME>VALUE</NAME>
    <KEY>VALUE</KEY>
    </NAME>

The last shape is for tools of one parameter.  Its text could be prose, so it is a call only once its
closing tag has come.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from io import StringIO
from typing import cast

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.marker_index import Literal, Tags
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.grammars.json_writer import Members
from streamparse.dialects.grammars.tag_patterns import KEY
from streamparse.dialects.grammars.tool_pattern import A_KEY, NAME, ToolPattern
from streamparse.dialects.grammars.xml_params import XmlParams
from streamparse.patterns import gradual, plain
from streamparse.schema.kinds import SchemaView

__all__ = ["ToolAttributes", "ToolTags", "ToolText"]

_TAG = gradual(r"<(?P<name>[^\s<>/]{1,256})\s{0,8}/?>")
_CALL = gradual(rf"<[^\s<>/]{{1,256}}\s{{0,8}}(?:/>|>{GAP}(?:<|\{{\s{{0,64}}[\"'}}]))")
"""What any tool's tag and the beginning of what it holds look like."""


class ToolTags:
    """Tags or JSON between the tags of a declared tool."""

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        opening = yield from reader.look(_TAG)
        if opening is None or opening["name"] not in context.tools:
            return False
        if (yield from reader.look(_CALL)) is None:
            return False
        name = opening["name"]
        schema = context.tools[name].parameters
        return (yield from _tags_of(name, SchemaView([schema], schema).members)(reader, context))


class ToolText(msgspec.Struct, frozen=True, dict=True):
    """The one parameter of a declared tool as bare text, between `opening` (group `name`, group `tag`) and `</tag>`."""

    opening: str

    @cached_property
    def opens(self) -> Pattern:
        """What stands before the text."""
        return gradual(self.opening)

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        opening = yield from reader.match(self.opens)
        if opening is None or opening["name"] not in context.tools:
            return False
        name, text = opening["name"], StringIO()
        schema = context.tools[name].parameters
        typed = SchemaView([schema], schema)
        close = f"</{opening['tag']}>"
        if len(typed.members) > 1 or not (yield from reader.until(Literal(close), text.write)):
            return False
        value = text.getvalue().strip()
        if bool(typed.members) != bool(value) or _ELEMENT.match(value) is not None:
            return False  # an element of HTML, which holds others with attributes
        reader.take(len(close))
        _tell(reader, context, name, [(key, _BREAKS.sub("", text.getvalue())) for key in typed.members])
        return True


class ToolAttributes(msgspec.Struct, frozen=True, dict=True):
    """`<NAME KEY="VALUE" .../>` of a declared tool; `opening` (group `name`) is what the attributes follow."""

    opening: str

    @cached_property
    def tag(self) -> Pattern:
        """The whole tag."""
        value = r"\"(?P<value>[^\"<>]{0,1024})\"|'(?P<value>[^'<>]{0,1024})'"
        attributes = rf"(?:\s{{1,8}}(?P<key>[\w.-]{{1,64}})=(?:{value})){{1,32}}"
        return gradual(rf"{self.opening}{attributes}\s{{0,8}}(?:/>|>{GAP}</[^<>]{{1,256}}>)")

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        tag = yield from reader.match(self.tag)
        if tag is None or tag["name"] not in context.tools:
            return False
        _tell(reader, context, tag["name"], zip(tag.captures("key"), tag.captures("value"), strict=True))
        return True


def _tell(reader: Reader, context: Context, name: str, arguments: Iterable[tuple[str, str]]) -> None:
    """Tell a whole call."""
    reader.commit()
    call = context.sink.call_start(name, None, "inband")
    members = Members(context, call)
    for key, text in arguments:
        value = members.value(key, members.typed.member(key).kinds)
        value(text)
        value.end()
    members.close()
    context.sink.call_end(call)


_ELEMENT = plain(r"<[A-Za-z][\w-]{0,63}\s")
_BREAKS = gradual(r"\A\r?\n|\r?\n\Z")
_INSIDE = rf"(?={GAP}(?:<(?P<first>[^<>/][^<>]{{0,255}})>|</{NAME}>|\{{\s{{0,64}}[\"'}}]))"


class _TagsOfTool(XmlParams, frozen=True, dict=True):
    """The tags of one tool: the patterns are the same for all of them."""

    tool: str = ""
    members: frozenset[str] = frozenset()

    def compiled(self, source: str) -> Pattern:
        """The pattern that is written so, for this tool."""
        return cast("Pattern", ToolPattern(source, self.tool, self.members))

    @cached_property
    def markers(self) -> Tags:
        """Where a value may end."""
        return Tags(self.stops)


@lru_cache(maxsize=256)
def _tags_of(name: str, members: frozenset[str]) -> _TagsOfTool:
    """The tags of one tool; what follows its own must be one of its parameters, or JSON."""
    return _TagsOfTool(
        call=rf"<(?P<name>{NAME})\s{{0,8}}(?:(?P<empty>/)>|>{_INSIDE})",
        call_begin=rf"<{NAME}\s{{0,8}}/?>",
        call_close=f"</{NAME}>",
        block_close="(?!)",
        parameter=rf"<(?P<key>{A_KEY})>",
        parameter_begin=f"<{A_KEY}>",
        parameter_close=f"</{KEY}>",
        stops=("</", f"<{name}"),
        unclosed=False,
        tool=name,
        members=members,
    )
