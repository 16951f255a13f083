"""Messages and thoughts whose special tokens a server took away: words are left.

Of the channels of gpt-oss:

    analysisWe need the weather.assistantcommentary to=functions.NAME json{...}
    analysisEasy.assistantfinalHello.

Words that end one message and begin the next.  They are glued to text, so the first `analysis` counts at once only
where the dialect was named; else the thought waits until the word that ends it has come.

Of a thought whose opening token had a word after it, as in Gemma 4:

    thought
    TEXT<channel|>ANSWER

The word could begin an answer, so where the dialect was not named the thought counts only once its closing token has
come; it waits until then.
"""

from __future__ import annotations

from functools import cached_property
from io import StringIO
from typing import Final

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import Markers
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.call_block import Patterns, read_block, stream_call

_TO = r" ?to=(?:functions\.)?(?P<name>[\w.-]{1,256}+)[ ]?(?:json|code)?(?=\{)"
STRIPPED: Final = rf"(?:analysis(?=[^\s\w(.:=]|[A-Z])|(?:assistant)?commentary(?:{_TO}))"
"""How such an answer begins: with a thought, or with a call."""


class StrippedChannels:
    """Reads messages up to the final answer, which is ordinary text."""

    follows = STRIPPED
    # What ends a message, and what no arguments may hold but in a string.
    words = Markers(("assistantanalysis", "assistantcommentary", "assistantfinal", "commentary to=functions."))
    stops = Markers(("assistant",))
    patterns = Patterns(
        call=rf"(?:assistant)?commentary{_TO}",
        head=r"(?:assistant)?(?P<channel>analysis|commentary|final)",
    )

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        # Each of its calls must be believed on its own: no call vouches for the others.
        most = context.limits.max_held_text
        return read_block(reader, context, self._read, self._read_next, most, vouches=False)

    def _read(self, reader: Reader, context: Context, found: bool) -> Step[bool]:
        """Read one message; False also where the final answer begins."""
        call = yield from reader.match(self.patterns.call)
        if call is None:
            head = yield from reader.match(self.patterns.head)
            return head is not None and (yield from self._read_message(reader, context, head["channel"], found))
        name = context.tool_name(call["name"])
        if not context.believes(name):
            return False
        return (yield from stream_call(reader, context, name, None, self.stops, ends_with_text=True))

    def _read_next(self, reader: Reader) -> Step[bool]:  # noqa: ARG002
        yield from ()
        return True

    def _read_message(self, reader: Reader, context: Context, channel: str, found: bool) -> Step[bool]:
        """Read a message that is no call; False if it cannot be one."""
        if channel == "final":
            if found:
                reader.commit()
            return False
        if not context.thoughts or (channel == "commentary" and not found):
            return False
        if context.declared and not found:
            return bool((yield from _read_held_thought(reader, context, self.words)))
        reader.commit()
        yield from reader.until(self.words, context.sink.reasoning if channel == "analysis" else context.sink.text)
        return True


class StrippedThought(msgspec.Struct, frozen=True, dict=True):
    """Reads a thought up to one of `closes`; where it has to wait, one of `disproves` shows that it is none."""

    closes: tuple[str, ...]
    disproves: tuple[str, ...] = ()

    @cached_property
    def ends(self) -> Markers:
        """The end of the thought."""
        return Markers(self.closes)

    @cached_property
    def ends_held(self) -> Markers:
        """The end of the waiting."""
        return Markers((*self.closes, *self.disproves))

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        if not context.thoughts:
            return False
        if context.declared:
            end = yield from _read_held_thought(reader, context, self.ends_held, self.disproves)
        else:
            reader.commit()
            end = yield from reader.until(self.ends, context.sink.reasoning)
        reader.take(len(end))
        return bool(end) or not context.declared


def _read_held_thought(reader: Reader, context: Context, ends: Markers, disproves: tuple[str, ...] = ()) -> Step[str]:
    """Tell a thought once one of `ends` follows it, but none that `disproves` it; return that, not taken, else ""."""
    thought = StringIO()
    end = yield from reader.until(ends, thought.write)
    if end in disproves:
        return ""
    if end:
        reader.commit()
        context.sink.reasoning(thought.getvalue())
    return end
