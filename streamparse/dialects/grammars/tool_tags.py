"""Grammar D where the tag of the call is the tool's name: only for declared tools.

    <NAME>                      <NAME>{"KEY": VALUE}</NAME>         <NAME KEY="VALUE"/>         <NAME>VALUE</NAME>
    <KEY>VALUE</KEY>
    </NAME>

The last shape is for tools of one parameter.  Its text could be prose, so it is a call only once its
closing tag has come.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from io import StringIO
from typing import cast

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, Tags
from streamparse.dialects.engine.reader import Match, Pattern, Reader, Step
from streamparse.dialects.grammars.tag_calls import KEY, TagCalls
from streamparse.dialects.grammars.tag_values import write_members
from streamparse.patterns import lazy_partial, lazy_re

# The name of the tool, in the source of a pattern.
NAME = "(?P=NAME)"
# What the tag of a parameter may hold where the tool declares none.
A_KEY = r"[A-Za-z_][\w.-]{0,255}"

_FIRST = lazy_re(rf"\s{{0,2}}<[^<>/]{{0,264}}>{GAP}<(?P<begun>(?!/)[^<>]{{0,256}})\Z")
_A_KEY = lazy_re(rf"(?:{A_KEY})?\Z")
_WINDOW = 4096  # bound: more characters than any of these patterns can match
_TAG = lazy_partial(r"<(?P<name>[^\s<>/]{1,256})\s{0,8}/?>")
# What any tool's tag and the beginning of what it holds look like.
_CALL = lazy_partial(rf"<[^\s<>/]{{1,256}}\s{{0,8}}(?:/>|>{GAP}(?:<|\{{\s{{0,64}}[\"'}}]))")
_ELEMENT = lazy_re(r"<[A-Za-z][\w-]{0,63}\s")
_VALUE = r"\"(?P<value>[^\"<>]{0,1024})\"|'(?P<value>[^'<>]{0,1024})'"
_ATTRIBUTES = rf"(?:\s{{1,8}}(?P<key>[\w.-]{{1,64}})=(?:{_VALUE})){{1,32}}\s{{0,8}}(?:/>|>{GAP}</[^<>]{{1,256}}>)"
_BREAKS = lazy_partial(r"\A\r?\n|\r?\n\Z")
_INSIDE = rf"(?={GAP}(?:<(?P<first>[^<>/][^<>]{{0,255}})>|</{NAME}>|\{{\s{{0,64}}[\"'}}]))"


class ToolTags:
    """Tags or JSON between the tags of a declared tool."""

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        opening = yield from reader.peek_match(_TAG)
        if opening is None or opening["name"] not in context.tools:
            return False
        if (yield from reader.peek_match(_CALL)) is None:
            return False
        name = opening["name"]
        return (yield from _make_tags(name, context.view_parameters(name).members)(reader, context))


class ToolText(msgspec.Struct, frozen=True):
    """The one parameter of a declared tool as bare text, between `follows` (group `name`, group `tag`) and `</tag>`."""

    follows: str

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        opening = yield from reader.match(lazy_partial(self.follows))
        if opening is None or opening["name"] not in context.tools:
            return False
        name, text = opening["name"], StringIO()
        named = context.tools[name].parameters.get("properties")
        if isinstance(named, dict) and len(named) > 1:  # mostly; to look at all of the schema takes longer
            return False
        keys = context.view_parameters(name).members
        close = f"</{opening['tag']}>"
        if len(keys) > 1 or not (yield from reader.read_until(Tags((close,)), text.write)):
            return False
        value = text.getvalue().strip()
        if bool(keys) != bool(value) or _ELEMENT.match(value) is not None:
            return False  # an element of HTML, which holds others with attributes
        reader.take(len(close))
        write_members(reader, context, name, [(key, _BREAKS.sub("", text.getvalue())) for key in keys])
        return True


class ToolAttributes(msgspec.Struct, frozen=True):
    """`<NAME KEY="VALUE" .../>` of a declared tool; `opening` (group `name`) is what the attributes follow."""

    opening: str

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        tag = yield from reader.match(lazy_partial(self.opening + _ATTRIBUTES))
        if tag is None or tag["name"] not in context.tools:
            return False
        write_members(reader, context, tag["name"], zip(tag.captures("key"), tag.captures("value"), strict=True))
        return True


class _TagsOfTool(TagCalls, frozen=True, dict=True):
    """The tags of one tool: the patterns are the same for all of them."""

    tool: str = ""
    members: frozenset[str] = frozenset()

    def compile_pattern(self, source: str) -> Pattern:
        """The pattern that is written so, for this tool."""
        return cast("Pattern", ToolPattern(source, self.tool, self.members))

    @cached_property
    def markers(self) -> Tags:
        """Where a value may end."""
        return Tags(self.stops)


@lru_cache(maxsize=256)
def _make_tags(name: str, members: frozenset[str]) -> _TagsOfTool:
    """The tags of one tool; what follows its own must be one of its parameters, or JSON."""
    return _TagsOfTool(
        call=rf"<(?P<name>{NAME})\s{{0,8}}(?:(?P<empty>/)>|>{_INSIDE})",
        call_begin=rf"<{NAME}\s{{0,8}}/?>",
        call_close=f"</{NAME}>",
        parameter=rf"<(?P<key>{A_KEY})>",
        parameter_begin=f"<{A_KEY}>",
        parameter_close=f"</{KEY}>",
        stops=("</", f"<{name}"),
        trim=True,
        unclosed=False,
        tool=name,
        members=members,
    )


class ToolPattern:
    """A pattern in which the tag is the name of a tool, though it was not compiled for this one.

    It is matched against the name, `<` and the text: `NAME` refers back to the name.  The group `first`, which is what
    the tag of a parameter holds, must be one of `members`, if the tool has any.
    """

    __slots__ = ("_first", "_members", "_name", "_pattern")

    def __init__(self, source: str, name: str, members: frozenset[str]) -> None:
        self._pattern = lazy_partial(rf"(?P<NAME>[^<]++)<\K(?:{source})")
        self._first = "(?P<first>" in source
        self._name = name
        self._members = members

    def match(self, text: str, pos: int = 0, *, partial: bool = False) -> Match | None:
        """What matches at `pos`, as if the text began in front of it."""
        text = text[pos : pos + _WINDOW]
        found = self._pattern.match(f"{self._name}<{text}", partial=partial)
        if found is None or not self._first:
            return found
        if found.partial:
            begun = _FIRST.match(text)
            return found if begun is None or self._may_begin(begun["begun"]) else None
        first = found["first"]
        return found if first is None or self._is_one(first) else None

    def _is_one(self, key: str) -> bool:
        """Whether a parameter is called so."""
        return key in self._members if self._members else _A_KEY.match(key) is not None

    def _may_begin(self, head: str) -> bool:
        """Whether a parameter may be called so, as far as it has come."""
        if self._members:
            return any(member.startswith(head) for member in self._members)
        return _A_KEY.match(head) is not None
