"""Grammar H: messages in an envelope that names a channel and a recipient.

    <|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{...}<|call|>

The header routes what follows: thought (channel `analysis`, recipient `self`), text, or the arguments of a call.
Markers in the body of a message are data.  A call's arguments are JSON that passes through untouched, or markup with a
grammar of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import msgspec

from streamparse.dialects.engine.grammar import Body, Context
from streamparse.dialects.engine.markers import GAP, Markers, any_of
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.grammars.call_arguments import arguments, broken
from streamparse.dialects.grammars.channel_header import HEADER, Header, names_tool, read_header
from streamparse.dialects.grammars.literals import in_string
from streamparse.patterns import gradual

__all__ = ["ENDS", "ChannelThoughts", "Channels"]

ENDS = ("<|call|>", "<|end|>", "<|return|>", "<|eom|>", "<|eot|>")
"""What ends a message."""

_CUT = 2
"""So much of a marker is no text where the end of the text cuts it; a mere `<` may be meant."""


class Channels(msgspec.Struct, frozen=True, dict=True):
    """The messages of one format; `header` is a pattern with the group `header`.

    `markup` reads the calls of a message that is no JSON; with `markup_head` it reads their header, too.
    """

    header: str = HEADER
    markup: Body | None = None
    markup_head: str = r"(?!)"
    interrupts: tuple[str, ...] = ("<|start|>", "<|channel|>")
    """What ends a text that has no end of its own."""

    @cached_property
    def heading(self) -> Pattern:
        """What stands before the body of a message."""
        return gradual(self.header)

    @cached_property
    def marked(self) -> Pattern:
        """The header of a message that is all markup."""
        return gradual(self.markup_head)

    @cached_property
    def tags(self) -> Pattern:
        """The beginning of markup in a message."""
        return gradual(rf"{GAP}<[^|]")  # no look-ahead: at the end of what has come it would say yes

    @cached_property
    def ends(self) -> Markers:
        """What ends the arguments of a call."""
        return Markers(ENDS)

    @cached_property
    def breaks(self) -> Markers:
        """What ends a message, or what stands behind the arguments of a call; and what might."""
        return Markers((*ENDS, "<|start|>", *self.interrupts))

    @cached_property
    def between(self) -> Pattern:
        """What may stand between two messages: gpt-oss writes a lost channel name there."""
        return gradual(rf"{GAP}(?:commentary|assistant)?{GAP}(?=<\|(?:start|channel|message)\|>)")

    @cached_property
    def next(self) -> Pattern:
        """The first marker of another message."""
        return gradual(rf"{GAP}<\|(?:start|channel|message)\|>")

    @cached_property
    def end(self) -> Pattern:
        """The end of a message."""
        return gradual(rf"{GAP}{any_of(ENDS)}")

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found, last, mused = False, Header(None, None), False
        while True:
            if (yield from reader.look(self.marked)) is not None and self.markup is not None:
                if not (yield from self.markup(reader, context)):
                    return found
                reader.commit()
                yield from reader.match(self.end)
                mused = False
            else:
                heading = yield from reader.match(self.heading)
                if heading is None:
                    if found and reader.beginning(self.heading):
                        self._cut_off(reader, context)
                    return found
                header = read_header(heading["header"], last)
                reader.commit()
                if self._is_text(header, context):
                    yield from self._verbatim(reader, context, heading[0])
                else:
                    yield from self._message(reader, context, header, mused)
                last, mused = header, header.muses
            found = True
            reader.remember(context.limits.max_held_text)
            if (yield from reader.match(self.between)) is None:
                if reader.beginning(self.next):
                    reader.rest()  # the header of another message is cut off
                return True

    def _cut_off(self, reader: Reader, context: Context) -> None:
        """The text ends inside of a header: that is no text, and may have named a tool."""
        rest = reader.rest()
        if names_tool(rest):
            context.sink.error("call", "truncated_call", f"the text ended inside a header: {rest}")

    def _message(self, reader: Reader, context: Context, header: Header, mused: bool) -> Step[None]:
        """Read the body of a message, and its end."""
        sink = context.sink
        if header.muses:
            tell = _after_newline(sink.reasoning) if mused else sink.reasoning
            end = yield from reader.until(self.breaks, tell, _CUT)
        elif not header.calls:
            end = yield from reader.until(self.breaks, sink.text, _CUT)
            while end == "<|start|>" and end not in self.interrupts:
                sink.text(reader.take(len(end)))
                end = yield from reader.until(self.breaks, sink.text, _CUT)
        else:
            yield from self._call(reader, context, header.recipient or "")
            while (yield from reader.blanks()) == "}":  # a brace too many
                reader.take(1)
            end = yield from reader.until(self.breaks, sink.text, 1)
        if end in ENDS:
            reader.take(len(end))

    def _is_text(self, header: Header, context: Context) -> bool:
        """Whether a message is text as it stands, its markers and all."""
        return header.muses and not context.thoughts

    def _verbatim(self, reader: Reader, context: Context, heading: str) -> Step[None]:
        """Tell a message, its markers and all, as text."""
        context.sink.text(heading)
        end = yield from reader.until(self.breaks, context.sink.text)
        if end in ENDS:
            context.sink.text(reader.take(len(end)))

    def _call(self, reader: Reader, context: Context, recipient: str) -> Step[None]:
        """Read what is sent to a tool."""
        sink = context.sink
        if self.markup is not None and (yield from reader.look(self.tags)) is not None:
            reader.remember(context.limits.max_call_args)
            if not (yield from self.markup(reader, context)):
                reader.rewind(0)
            reader.commit()
            return
        name = context.tool_name(recipient.removeprefix("functions."))
        call = sink.call_start(name, None, "inband")
        tell = sink.call_teller(call)
        if recipient == "python" and (yield from reader.blanks()) != "{":  # the tool of gpt-oss that takes bare code
            tell('{"code": "')
            if not (yield from reader.until(self.ends, lambda text: tell(in_string(text)))):
                return
            tell('"}')
        elif (yield from reader.look(self.end)) is not None:
            tell("{}")
        elif (yield from reader.blanks()) not in ("{", '"') or not (
            yield from arguments(reader, context, self.ends, tell)
        ):
            if not reader.final:
                broken(context, call, f"the arguments of {name!r} are no JSON")
            return
        sink.call_end(call)


class ChannelThoughts(Channels, frozen=True, dict=True):
    """The thoughts and the answers among these messages; calls, and what is said before them, stay as they stand, for
    whoever reads the calls."""

    def _is_text(self, header: Header, context: Context) -> bool:
        return header.calls or header.channel == "commentary" or super()._is_text(header, context)

    def _cut_off(self, reader: Reader, context: Context) -> None:
        context.sink.text(reader.rest())


def _after_newline(tell: Callable[[str], None]) -> Callable[[str], None]:
    """Adjacent thoughts are joined with a line break."""
    lead = "\n"

    def told(text: str) -> None:
        nonlocal lead
        tell(lead + text)
        lead = ""

    return told
