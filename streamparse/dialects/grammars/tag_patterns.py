"""What a format of tags is, as data: a pattern for each of its tags, and the patterns that follow from them.

What stands between the parameters of a call is `token`; what ends a value is `ending`.  Nothing is escaped in these
formats, so a closing tag ends a value only if what follows it is structure again.
"""

from __future__ import annotations

from functools import cached_property, lru_cache

import msgspec

from streamparse.dialects.engine.markers import GAP, Markers, Stops
from streamparse.dialects.engine.reader import Pattern
from streamparse.dialects.grammars.tag_values import Ending
from streamparse.patterns import gradual
from streamparse.schema.kinds import ANY, Kinds

__all__ = ["KEY", "TagPatterns"]

KEY = "(?P=KEY)"
"""In the pattern of a closing tag: the key of the parameter that it closes."""

_ANY_KEY = r"(?P<closing>[^<>]{1,256})"


class TagPatterns(msgspec.Struct, frozen=True, dict=True):
    """The tags of one format, as patterns of gradual length.

    In any of them the group `odd` stands where the tags are not as they should be: the call is repaired.
    """

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
    gap: str = GAP
    """What may stand between tags and says nothing."""
    lead: str = ""
    """What may stand between the call's opening and its parameters."""
    value_open: str = ""
    """What may stand between key and value: group `type`; group `cdata` if it opens a CDATA section; group `none` if
    there is no value."""
    stop: bool = False
    """What closes a call ends the turn, too, so servers take it out of the text: where the server says that the model
    stopped, and it did so behind a parameter, the call is whole."""
    trim: bool = True
    """One line break after a parameter's opening tag and one before its closing tag belong to the tags."""
    unclosed: bool = True
    """A value may end without a closing tag where the next parameter begins."""
    stray: str = "(?!)"
    """Text that may stand between a value and the next parameter, and says nothing: the call is repaired."""
    hollow: bool = True
    """A call without parameters is believed of any tool; else, where tools are declared, only of these."""
    untyped: Kinds = ANY
    """What a value may be where neither the markup nor a schema says anything of it."""
    entities: tuple[tuple[str, str], ...] = ()
    """What is escaped in names and keys, and what it stands for."""

    # Patterns are compiled on first use: few of the dialects that are armed ever meet their marker.

    def compiled(self, source: str) -> Pattern:
        """The pattern that is written so."""
        return gradual(source)

    @cached_property
    def opening(self) -> Pattern:
        """The tag that opens a call."""
        return self.compiled(self.call)

    @cached_property
    def markers(self) -> Stops:
        """Where a value may end."""
        return Markers(self.stops)

    @cached_property
    def token(self) -> Pattern:
        """What stands between the parameters of a call."""
        return self._token(self.call_close)

    @cached_property
    def last_token(self) -> Pattern:
        """The same where the model ended the text."""
        return self._token(rf"{self.call_close}|\Z") if self.stop else self.token

    def _token(self, close: str) -> Pattern:
        stray = "(?!)" if KEY in self.parameter_close else self.parameter_close
        stray = rf"(?:{stray}|{self.stray}(?={self.parameter_begin}))"
        return self.compiled(
            rf"{self.gap}(?:{self.parameter}|(?P<end>{close})|(?P<cut>(?={self._next_call}))|(?P<stray>{stray}))"
        )

    @cached_property
    def ended(self) -> Pattern:
        """The end of the call, where it may stand."""
        return self.compiled(rf"{self.gap}(?:{self.call_close}|{self._next_call})")

    @cached_property
    def following(self) -> Pattern:
        """What follows a call: another one, or the end of the block."""
        return self.compiled(rf"{self.gap}(?:(?P<more>(?={self.call_begin}))|{self.block_close})")

    @cached_property
    def again(self) -> Pattern:
        """The end of the block, once more."""
        return self.compiled(self.gap + self.block_close)

    @cached_property
    def leading(self) -> Pattern:
        """What may stand before the parameters."""
        return self.compiled(self.gap + self.lead)

    @cached_property
    def entering(self) -> Pattern:
        """What may stand before a value."""
        return self.compiled(self.value_open)

    @property
    def _next_call(self) -> str:
        return rf"(?:{self.block_close}|{self.call_begin})"

    def ending(self, cdata: bool) -> Ending:
        """What ends the value of a parameter."""
        return _ending(self, cdata, _ANY_KEY)


@lru_cache(maxsize=256)
def _ending(tags: TagPatterns, cdata: bool, key: str) -> Ending:
    """What ends a value; `key` is the pattern of the key in its closing tag."""
    close = tags.parameter_close.replace(KEY, key)
    others = _ending(tags, cdata, "(?!)") if KEY in tags.parameter_close and key == _ANY_KEY else None
    # Some models close a parameter twice.  First without a second tag: what it may be is checked only afterwards.
    again = rf"(?:{close}{tags.gap}){{0,2}}?"
    after = rf"{tags.gap}{again}(?:{tags.parameter_begin}|{tags.call_close}|{tags._next_call})"
    after = rf"(?={after}|{tags.stray}{tags.parameter_begin})"
    over = r"\s{0,256}\Z"
    if cdata:
        close = rf"\]\]>{tags.gap}{close}"
        last = f"{close}(?:{after}|(?={over}))"
        return Ending(Markers(("]]>",)), f"{close}{after}", last, "(?!)", False, tags.compiled, others)
    newline = r"(?:\r?\n)?" if tags.trim else ""
    unclosed = rf"|{tags.gap}(?P<odd>)(?={tags.parameter})" if tags.unclosed else ""
    closing = rf"{newline}{close}{after}{unclosed}|{newline}(?P<odd>)(?={tags.call_close}{tags.gap}{tags._next_call})"
    last = rf"{closing}|{newline}(?:{close}(?={over})|(?P<odd>)(?={tags.call_close}{over}))"
    inner = (
        rf"{newline}(?:{tags.call}{tags.gap}(?={tags.parameter_begin}|{tags.call_close})|(?P<out>{tags.call_close}))"
    )
    return Ending(tags.markers, closing, last, inner, tags.trim, tags.compiled, others)
