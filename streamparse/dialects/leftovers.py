"""Closing tags that close nothing: the sign that a value before them ended too early.

Formats of tags escape nothing, so a value that quotes the format's own closing tags and another call behind them
cannot be told from two calls: the value ends early, and what was quoted is told as a call.  What gives it away comes
later: the value goes on as text, and its true end closes nothing.  Then no call of the text can be trusted, neither
the one that may be shortened nor those that may have been data.  A quoted call that leaves its own end out shows
no such sign, and stands.
"""

from __future__ import annotations

from functools import cached_property

import msgspec

from streamparse.dialects.grammar import Context, Dialect, Opener
from streamparse.dialects.reader import Pattern, Reader, Step
from streamparse.dialects.tag_patterns import GAP, KEY, TagPatterns
from streamparse.patterns import gradual

__all__ = ["leftover", "leftovers"]


class _Leftovers(msgspec.Struct, frozen=True, dict=True):
    """Casts doubt on the calls before such tags, which themselves stay text."""

    tags: str

    @cached_property
    def pattern(self) -> Pattern:
        """The closing tags of a value and its call."""
        return gradual(self.tags)

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        tags = yield from reader.look(self.pattern)
        if tags is not None:
            message = f"closing tags that close nothing: a value before them may have held them, or a call: {tags[0]}"
            context.sink.calls_doubted("ambiguous_markup", message)
        return False


def leftovers(name: str, tags: TagPatterns, *begins: str) -> Dialect:
    """What reads the closing tags of a format where they close nothing; `begins` are the literals they begin with."""
    value = tags.parameter_close.replace(KEY, r"[^<>\s/]{1,256}")
    return leftover(name, f"{value}{GAP}{tags.call_close}", *begins)


def leftover(name: str, follows: str, *begins: str) -> Dialect:
    """The same of a format whose end of a value and its call is the pattern `follows`."""
    return Dialect(name, tuple(Opener(text, inclusive=True) for text in begins), follows, _Leftovers(follows))
