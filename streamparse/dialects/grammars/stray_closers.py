"""Closing tags that close nothing: the sign that a value before them ended too early.

Formats of tags escape nothing, so a value that quotes the format's own closing tags and another call after them
looks like two calls: the value ends early, and what was quoted is reported as a call.  What gives it away comes
later: the value goes on as text, and its true end closes nothing.  Then no call of the text can be trusted, neither
the one that may be shortened nor those that may have been data.  A quoted call that leaves its own end out shows
no such sign, and counts.

Where the tag of a call is a word (`<tool>`), or the name of a tool (`<search>`), HTML and prose may have it, too: it
counts only once such a tag has held a call, and if it closes nothing that the text itself has opened.
"""

from __future__ import annotations

from functools import cache

import msgspec

from streamparse.dialects.engine.grammar import Body, Context, Dialect, Opener, get_follows, markers
from streamparse.dialects.engine.markers import GAP
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.tag_calls import KEY, TagCalls
from streamparse.patterns import lazy_partial, lazy_re

_OPENING = lazy_re(r"<(?P<tag>[^\s<>/]{1,256})(?=[\s<>/])")
_MOST_OPENING = 258  # bound: characters that `_OPENING` may match, and the one that shows its end
_AGAIN = lazy_partial(rf"{GAP}</(?P<tag>[^\s<>/]{{1,256}})>")
_ANY_TAG = r"<(?P<close>/)?(?P<tag>[^\s<>/]{1,256})(?=[\s>])"


class _StrayClosers(msgspec.Struct, frozen=True):
    """Casts doubt on the calls before such tags, which themselves stay text."""

    # The closing tags of a value and its call, as a pattern.
    tags: str

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        tags = yield from reader.peek_match(lazy_partial(self.tags))
        if tags is not None:
            _doubt(context, tags[0])
        return False


def _doubt(context: Context, tags: str) -> None:
    message = f"closing tags that close nothing: a value before them may have held them, or a call: {tags}"
    context.sink.calls_doubted("ambiguous_markup", message)


@cache
def find_stray_closers(tags: TagCalls, *begins: str) -> Dialect:
    """Return what reads a format's closing tags where they close nothing; `begins`: the literals they begin with.

    Formats that have the same tags share it.
    """
    value = tags.parameter_close.replace(KEY, r"[^<>\s/]{1,256}")
    return find_stray_closer(f"{value}{GAP}{tags.call_close}", *begins)


def find_stray_closer(follows: str, *begins: str) -> Dialect:
    """The same for a format; the pattern `follows` is the end of a value and of its call."""
    return Dialect("stray closers", markers(*begins, inclusive=True), _StrayClosers(follows), follows)


class RemembersTag(msgspec.Struct, frozen=True):
    """A body that notes its opening tag where it reads a call."""

    body: Body

    @property
    def follows(self) -> str:
        """What the body says."""
        return get_follows(self.body)

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        head = reader.buffer[reader.at : reader.at + _MOST_OPENING]  # a body is asked once the whole tag has come
        if not (yield from self.body(reader, context)):
            return False
        opening = _OPENING.match(head)
        if opening is not None:
            context.tags.note_call(opening["tag"])
            again = yield from reader.peek_match(_AGAIN)
            if again is not None and again["tag"] == opening["tag"]:
                context.tags.open(again["tag"])  # some models close a call twice
        return True


class _StrayTags(msgspec.Struct, frozen=True):
    """Follows the tags that belong to no call, which stay text."""

    words: tuple[str, ...]

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found = yield from reader.peek_match(lazy_partial(_ANY_TAG))
        tag = "" if found is None else found["tag"]
        if found is None or (tag not in self.words and tag not in context.tools):
            return False
        if found["close"] is None:
            context.tags.open(tag)
        elif not context.tags.close(tag):
            _doubt(context, f"</{tag}>")
        return False


def follow_stray_tags(*openers: Opener, words: tuple[str, ...] = ()) -> Dialect:
    """Return what follows the tags of `words`, or of declared tools, outside the calls of a `RemembersTag`."""
    return Dialect("stray tags", openers, _StrayTags(words), _ANY_TAG)
