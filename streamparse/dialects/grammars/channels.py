"""Grammar H: messages in an envelope that names a channel and a recipient.

    <|start|>assistant<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>{...}<|call|>

The header routes what follows: thought (channel `analysis`, recipient `self`), text, or the arguments of a call.
Markers in the body of a message are data.  A call's arguments are JSON that passes through untouched, or markup with a
grammar of its own.

The recipient may be in either part of a header, and models garble the rest, so a header is any short text before
`<|message|>`; before arguments even that may be lost.

Messages and thoughts whose special tokens a server took away: words are left.

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

from collections.abc import Callable
from functools import cached_property
from io import StringIO
from typing import Final, NamedTuple

import msgspec

from streamparse.dialects.engine.grammar import Body, Context
from streamparse.dialects.engine.markers import GAP, Markers, compile_markers, write_any
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.call_block import Patterns, fail_call, read_block, stream_call
from streamparse.dialects.grammars.json_values import read_arguments
from streamparse.dialects.grammars.literals import escape_text
from streamparse.patterns import lazy_partial

# What ends a message.
ENDS = ("<|call|>", "<|end|>", "<|return|>", "<|eom|>", "<|eot|>")

_CUT = 2  # bound: characters of a marker that the end of the text cuts; a mere `<` is text
_WITHIN = r"(?:[^<{\n]|<(?!\|(?:start|message|call|end|return|eom|eot)\|>))"
_TO_BEGIN = r" ?to=[^\s<{]{1,128}+(?: \w{1,16})? ?(?:<\||\{)"
# Where a header begins without a marker, one must follow soon: a text that begins with such words is not held back.
_BEGIN = rf"(?=<\||{_TO_BEGIN}|(?:analysis|commentary|final)(?:<\|| to=))"
_MARKED = rf"(?P<header>{_WITHIN}{{0,256}}?)<\|message\|>"
_UNMARKED = rf"(?P<header>{_WITHIN}{{0,128}}?to=[^\s<{{]{{1,256}}+{_WITHIN}{{0,64}}?)(?=\{{)"
# The header of a message; where arguments follow, its end may be lost.
HEADER = rf"(?:{_BEGIN}(?:<\|start\|>){{0,2}}{_MARKED}|(?=<\|)(?:<\|start\|>){{0,2}}{_UNMARKED})"
# What only the header of a call has: it says how the arguments are written.
_CONSTRAIN = "<|constrain|>"
_TO = lazy_partial(r"to=(?P<recipient>[^\s<]{1,256})")
_CHANNEL = lazy_partial(r"<\|channel\|>\W*(?P<channel>\w*)")
_SELF = frozenset({"self", "assistant"})
_AUDIENCE = frozenset({"user", "commentary", "all", "developer", "system"})


class Header(NamedTuple):
    """What a header says; None for what it does not."""

    recipient: str | None
    channel: str | None

    @property
    def is_reasoning(self) -> bool:
        """Whether the message is thought: what a model says to itself, some write `to=assistant`."""
        return self.recipient in _SELF or (self.recipient is None and self.channel == "analysis")

    @property
    def is_tool_call(self) -> bool:
        """Whether the message is sent to a tool."""
        return self.recipient is not None and self.recipient not in (_SELF | _AUDIENCE)


def read_header(text: str, last: Header) -> Header:
    """Return what a header says; one that says nothing goes on as the last."""
    recipient, channels = _TO.search(text), _CHANNEL.findall(text)
    if recipient is None and not channels:
        return last if last.is_reasoning else Header(None, None)
    return Header(recipient and recipient["recipient"], channels[-1] if channels else None)


def names_tool(cut: str) -> bool:
    """Whether a header that the end of the text cut was sent to a tool, as far as it came."""
    found = _TO.search(cut)
    return found is not None and not any(word.startswith(found["recipient"]) for word in (*_AUDIENCE, *_SELF))


class Channels(msgspec.Struct, frozen=True, dict=True):
    """The messages of one format; `follows` is a pattern of a header, with the group `header`.

    `markup` reads the calls of a message that is no JSON; with `markup_head` it reads their header, too.
    """

    follows: str = HEADER
    markup: Body | None = None
    markup_head: str = r"(?!)"
    # What ends a text that has no end of its own.
    interrupts: tuple[str, ...] = ("<|start|>", "<|channel|>")

    @cached_property
    def patterns(self) -> Patterns:
        """What is around the bodies of messages."""
        return Patterns(
            heading=self.follows,
            marked=self.markup_head,
            tags=rf"{GAP}<[^|]",  # the beginning of markup; a look-ahead would say yes at the end of what has come
            # Between two messages gpt-oss writes a lost channel name.
            between=rf"{GAP}(?:commentary|assistant)?{GAP}(?=<\|(?:start|channel|message)\|>)",
            next=rf"{GAP}<\|(?:start|channel|message)\|>",
            end=rf"{GAP}{write_any(ENDS)}",
        )

    @cached_property
    def breaks(self) -> Markers:
        """What ends a message, or what is after the arguments of a call; and what might."""
        return Markers((*ENDS, "<|start|>", *self.interrupts))

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        messages, most = _Messages(self), context.limits.max_held_text
        # Any name of a tool is believed, so that no call has to vouch for others.
        return read_block(reader, context, messages.read, messages.read_next, most, vouches=False, keeps_gap=True)

    def is_text(self, header: Header, context: Context) -> bool:
        """Whether a message is text with its markers."""
        return header.is_reasoning and not context.thoughts

    def report_cut(self, reader: Reader, context: Context) -> None:
        """The text ends inside a header: that is no text, and may have named a tool."""
        rest = reader.take_rest()
        if names_tool(rest):
            context.sink.error("call", "truncated_call", f"the text ended inside a header: {rest}")


class ChannelThoughts(Channels, frozen=True, dict=True):
    """The thoughts and the answers among these messages.  Calls, and what is said before them, are left as text for the
    parser that reads the calls."""

    def is_text(self, header: Header, context: Context) -> bool:
        return header.is_tool_call or header.channel == "commentary" or super().is_text(header, context)

    def report_cut(self, reader: Reader, context: Context) -> None:
        context.sink.text(reader.take_rest())


class _Messages(msgspec.Struct):
    """The messages of one envelope after another."""

    format: Channels
    last: Header = Header(None, None)
    follows_thought: bool = False

    def read(self, reader: Reader, context: Context, found: bool) -> Step[bool]:
        """Read one message, and its end."""
        reader.tape.restart(reader.buffer, reader.at)  # what is kept of a call is its own message
        markup = self.format.markup
        if markup is not None and (yield from reader.peek_match(self.format.patterns.marked)) is not None:
            if not (yield from markup(reader, context)):
                return False
            reader.commit()
            yield from reader.match(self.format.patterns.end)
            self.follows_thought = False
            return True
        heading = yield from reader.match(self.format.patterns.heading)
        if heading is None:
            if found and reader.is_cut_off(self.format.patterns.heading):
                self.format.report_cut(reader, context)
            return False
        header = read_header(heading["header"], self.last)
        reader.commit()
        if self.format.is_text(header, context):
            context.sink.text(heading[0])
            end = yield from reader.read_until(self.format.breaks, context.sink.text)
            if end in ENDS:
                context.sink.text(reader.take(len(end)))
        else:
            yield from self._read_body(reader, context, header)
            if header.recipient is None and header.channel == "commentary" and _CONSTRAIN in heading[0]:
                context.sink.error("call", "malformed_call", f"arguments were sent to no tool: {heading[0]}")
        self.last, self.follows_thought = header, header.is_reasoning
        return True

    def read_next(self, reader: Reader) -> Step[bool]:
        """Read what is before another message."""
        if (yield from reader.match(self.format.patterns.between)) is not None:
            return True
        if reader.is_cut_off(self.format.patterns.next):
            reader.take_rest()  # the header of another message is cut off
        return False

    def _read_body(self, reader: Reader, context: Context, header: Header) -> Step[None]:
        sink, breaks = context.sink, self.format.breaks
        if header.is_reasoning:
            write = _join_with_newline(sink.reasoning) if self.follows_thought else sink.reasoning
            end = yield from reader.read_until(breaks, write, _CUT)
        elif not header.is_tool_call:
            end = yield from reader.read_until(breaks, sink.text, _CUT)
            while end == "<|start|>" and end not in self.format.interrupts:
                sink.text(reader.take(len(end)))
                end = yield from reader.read_until(breaks, sink.text, _CUT)
        else:
            yield from self._read_call(reader, context, header.recipient or "")
            while (yield from reader.skip_blanks()) == "}":  # a brace too many
                reader.take(1)
            end = yield from reader.read_until(breaks, sink.text, 1)
        if end in ENDS:
            reader.take(len(end))

    def _read_call(self, reader: Reader, context: Context, recipient: str) -> Step[None]:
        """Read what is sent to a tool."""
        sink, limits, ends, markup = context.sink, context.limits, compile_markers(*ENDS), self.format.markup
        if markup is not None and (yield from reader.peek_match(self.format.patterns.tags)) is not None:
            reader.checkpoint(limits.max_call_args)
            if not (yield from markup(reader, context)):
                reader.rewind(0)
                if not reader.final:
                    context.sink.error("call", "malformed_call", f"what was sent to {recipient!r} is no call")
            reader.commit()
            return
        name = context.resolve_name(recipient.removeprefix("functions."))
        call = sink.call_start(name, None, "inband")
        write = sink.call_teller(call)
        if (
            recipient == "python" and (yield from reader.skip_blanks()) != "{"
        ):  # the tool of gpt-oss that takes bare code
            write('{"code": "')
            if not (yield from reader.read_until(ends, lambda text: write(escape_text(text)))):
                return
            write('"}')
        elif (yield from reader.peek_match(self.format.patterns.end)) is not None:
            write("{}")
        else:
            first = yield from reader.skip_blanks()
            if first not in ("{", '"') or not (yield from read_arguments(reader, limits, ends, write, first)):
                if not reader.final:
                    fail_call(context, call, f"the arguments of {name!r} are no JSON")
                return
        sink.call_end(call)


def _join_with_newline(write: Callable[[str], None]) -> Callable[[str], None]:
    """Adjacent thoughts are joined with a line break."""
    lead = "\n"

    def write_joined(text: str) -> None:
        nonlocal lead
        write(lead + text)
        lead = ""

    return write_joined


_STRIPPED_TO = r" ?to=(?:functions\.)?(?P<name>[\w.-]{1,256}+)[ ]?(?:json|code)?(?=\{)"
# How such an answer begins: with a thought, or with a call.
STRIPPED: Final = rf"(?:analysis(?=[^\s\w(.:=]|[A-Z])|(?:assistant)?commentary(?:{_STRIPPED_TO}))"


class StrippedChannels:
    """Reads messages up to the final answer, which is ordinary text."""

    follows = STRIPPED
    # What ends a message, and what no arguments may hold but in a string.
    words: Markers = Markers(("assistantanalysis", "assistantcommentary", "assistantfinal", "commentary to=functions."))
    stops: Markers = Markers(("assistant",))
    patterns: Patterns = Patterns(
        call=rf"(?:assistant)?commentary{_STRIPPED_TO}",
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
        name = context.resolve_name(call["name"])
        if not context.believes(name):
            return False
        return (yield from stream_call(reader, context, name, None, self.stops, ends_with_text=True))

    def _read_next(self, reader: Reader) -> Step[bool]:  # noqa: ARG002
        yield from ()
        return True

    def _read_message(self, reader: Reader, context: Context, channel: str, found: bool) -> Step[bool]:
        """Read a message that is no call; False if it cannot be one."""
        if channel == "final":  # never the first message: `STRIPPED` shows
            reader.commit()
            return False
        if not context.thoughts or (channel == "commentary" and not found):
            return False
        if context.declared and not found:
            return bool((yield from _read_held_thought(reader, context, self.words)))
        reader.commit()
        yield from reader.read_until(self.words, context.sink.reasoning if channel == "analysis" else context.sink.text)
        return True


class StrippedThought(msgspec.Struct, frozen=True):
    """Reads a thought up to one of `closes`; where it has to wait, one of `disproves` shows that it is no thought."""

    closes: tuple[str, ...]
    disproves: tuple[str, ...] = ()

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        if not context.thoughts:
            return False
        if context.declared:
            ends = compile_markers(*self.closes, *self.disproves)
            end = yield from _read_held_thought(reader, context, ends, self.disproves)
        else:
            reader.commit()
            end = yield from reader.read_until(compile_markers(*self.closes), context.sink.reasoning)
        reader.take(len(end))
        return bool(end) or not context.declared


def _read_held_thought(reader: Reader, context: Context, ends: Markers, disproves: tuple[str, ...] = ()) -> Step[str]:
    """Tell a thought once one of `ends` follows it, but none that `disproves` it; return that, not taken, else ""."""
    thought = StringIO()
    end = yield from reader.read_until(ends, thought.write)
    if end in disproves:
        return ""
    if end:
        reader.commit()
        context.sink.reasoning(thought.getvalue())
    return end
