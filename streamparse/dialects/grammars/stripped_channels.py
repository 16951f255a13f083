"""What is left of the channels of gpt-oss when a server removes the special tokens.

    analysisWe need the weather.assistantcommentary to=functions.NAME json{...}
    analysisEasy.assistantfinalHello.

Words that end one message and begin the next.  They are glued to text, so the first `analysis` counts at once only
where the dialect was named; else the thought waits until the word that ends it has come.
"""

from __future__ import annotations

from functools import cached_property
from typing import Final

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import Markers
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.grammars.call_arguments import arguments, broken
from streamparse.dialects.grammars.stripped_thought import read_held_thought
from streamparse.patterns import gradual

__all__ = ["STRIPPED", "StrippedChannels"]

_TO = r" ?to=(?:functions\.)?(?P<name>[\w.-]{1,256}+)[ ]?(?:json|code)?(?=\{)"
STRIPPED: Final = rf"(?:analysis(?=[^\s\w(.:=]|[A-Z])|(?:assistant)?commentary(?:{_TO}))"
"""How such an answer begins: with a thought, or with a call."""


class StrippedChannels:
    """Reads messages up to the final answer, which is ordinary text."""

    @cached_property
    def words(self) -> Markers:
        """What ends a message."""
        return Markers(("assistantanalysis", "assistantcommentary", "assistantfinal", "commentary to=functions."))

    @cached_property
    def stops(self) -> Markers:
        """What no arguments may hold but in a string."""
        return Markers(("assistant",))

    @cached_property
    def call(self) -> Pattern:
        """The header of a call."""
        return gradual(rf"(?:assistant)?commentary{_TO}")

    @cached_property
    def head(self) -> Pattern:
        """The beginning of another message."""
        return gradual(r"(?:assistant)?(?P<channel>analysis|commentary|final)")

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found = False
        while True:
            call = yield from reader.match(self.call)
            if call is not None:
                if not (yield from self._call(reader, context, context.tool_name(call["name"]))):
                    return found
            else:
                head = yield from reader.match(self.head)
                if head is None or not (yield from self._message(reader, context, head["channel"], found)):
                    return found
            if found and call is None and head is not None and head["channel"] == "final":
                return True
            found = True
            reader.remember(context.limits.max_held_text)

    def _message(self, reader: Reader, context: Context, channel: str, found: bool) -> Step[bool]:
        """Read a message that is no call; False if it cannot be one."""
        if channel == "final":
            if found:
                reader.commit()
            return found
        if not context.thoughts or (channel == "commentary" and not found):
            return False
        tell = context.sink.reasoning if channel == "analysis" else context.sink.text
        if context.declared and not found:
            return bool((yield from read_held_thought(reader, context, self.words)))
        reader.commit()
        yield from reader.until(self.words, tell)
        return True

    def _call(self, reader: Reader, context: Context, name: str) -> Step[bool]:
        if not context.believes(name):
            return False
        reader.commit()
        sink = context.sink
        call = sink.call_start(name, None, "inband")
        if (yield from arguments(reader, context, self.stops, sink.call_teller(call))):
            sink.call_end(call)
        elif not reader.final:
            broken(context, call, f"the arguments of {name!r} are no JSON")
        return True
