"""Grammar C: the name of the tool, then its arguments, each after a marker of its own.

    [TOOL_CALLS]NAME[CALL_ID]ID[ARGS]{...}
    <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}<|tool_call_end|>

One pattern reads all that is before the arguments, for nothing there may be long.  So the call starts
when the first character of its arguments has come.  They pass through untouched to their closing brace,
where the call is complete: the closing marker is taken if it comes, and not missed if it does not.
"""

from __future__ import annotations

from functools import cached_property
from io import StringIO
from typing import Any, Final

import msgspec

from streamparse.dialects.engine.grammar import Context, read_nothing
from streamparse.dialects.engine.markers import GAP, Markers, write_any
from streamparse.dialects.engine.reader import Match, Reader, Step
from streamparse.dialects.grammars.call_block import Patterns, read_block, stream_call, write_call
from streamparse.dialects.grammars.json_values import read_arguments
from streamparse.dialects.grammars.tag_values import write_members
from streamparse.json import JSONError, read
from streamparse.patterns import lazy_partial, lazy_re
from streamparse.tools import Tool, Toolset

# A pattern of a tool's name.
NAME: Final = r"(?P<name>[^\s<>{}\[\]\"'`|]{1,256}?)"
_LABEL_NAME: Final = r"(?P<name>[\w.:/-]{1,256})"
# The opening tag that `LabelledCalls` reads.
LABEL: Final = rf"<tool:[ ]?{_LABEL_NAME}[ ]?>"

_USER = lazy_partial(r"all[ \t]{0,8}\r?\n")
_COUNTER = lazy_re(r"(?:(?:call|chatcmpl|tool)(?=[\w:-]*[0-9])[\w:-]++|[0-9]++)")


class MarkedCalls(msgspec.Struct, frozen=True, dict=True):
    """The parts of one format, as patterns; the closing markers are literals.

    `head` reads from the opener to the arguments; it has the group `name`, and `id` where the format has one.
    """

    head: str
    # What may end a call.  Where it comes in place of the arguments, the call has no arguments.
    closes: tuple[str, ...] = ()
    # What begins another call of the same block, with the white space before it.
    again: str = r"(?!)"
    block_closes: tuple[str, ...] = ()
    # What may not be inside the arguments but in a string, besides the closing markers.
    opens: tuple[str, ...] = ()
    # The name of every call, where the format has none for it; the group `name` is empty then.
    name: str = ""

    @property
    def follows(self) -> str:
        """What is before the arguments, if arguments or the end of the call follow."""
        return rf"{GAP}{self.head}{GAP}(?=[{{\"]|{write_any(self.closes)})"

    @cached_property
    def stops(self) -> Markers:
        """What may not be inside the arguments but in a string."""
        return Markers((*self.closes, *self.block_closes, *self.opens))

    @cached_property
    def patterns(self) -> Patterns:
        """What is around the arguments."""
        closes, block_closes = write_any(self.closes), write_any(self.block_closes)
        return Patterns(
            heading=self.follows,
            end=rf"{GAP}\}}?{GAP}{closes}",  # perhaps after one brace too many
            following=rf"(?P<more>(?={self.again}))|{GAP}{block_closes}",
            last=rf"{GAP}{write_any((*self.closes, *self.block_closes))}",
        )

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        return read_block(reader, context, self._read_call, self._read_next, context.limits.max_call_args)

    def _read_call(self, reader: Reader, context: Context, found: bool) -> Step[bool]:
        head = yield from reader.match(self.patterns.heading)
        if head is None and found and reader.is_cut_off(self.patterns.heading):
            markup = reader.take_rest()
            context.sink.error("call", "truncated_call", f"the text ended inside a block of calls: {markup}")
        return head is not None and (yield from self.read_named(reader, context, head))

    def read_named(self, reader: Reader, context: Context, head: Match) -> Step[bool]:
        """Read one call after its head; False if it is no call."""
        name = context.resolve_name(self.name or head["name"])
        if not context.believes(name):
            return read_nothing(reader, context)
        return stream_call(reader, context, name, head.groupdict().get("id"), self.stops)

    def _read_next(self, reader: Reader) -> Step[bool]:
        while (yield from reader.match(self.patterns.end)) is not None:
            pass  # a fence and a closing marker, or two nested ones
        following = yield from reader.match(self.patterns.following)
        if following is not None and following["more"] is not None:
            return True
        if reader.is_cut_off(self.patterns.last):
            reader.take_rest()  # of a closing marker the end of the text may leave but the beginning
        return False


class RecipientCalls(MarkedCalls, frozen=True, dict=True):
    """The calls of Functionary v3.2: the recipient is a line of its own.

        all
        TEXT>>>NAME
        {...}

    The prompt ends with the first `>>>`, so the answer begins with a recipient; `all` is the user.
    """

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        if (yield from reader.match(_USER)) is not None:
            reader.commit()  # what follows is text
            return True
        return (yield from super().__call__(reader, context))


class KimiCalls(MarkedCalls, frozen=True, dict=True):
    """The calls of Kimi K2: the id names the tool, or is a mere counter.

        <|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{...}<|tool_call_end|>
        <|tool_call_begin|>3<|tool_call_argument_begin|>{...}<|tool_call_end|>

    In the second kind the tool is the only declared one that takes these arguments, so the call is read whole; if there
    is no such tool, its name is the counter, and the call is one of an unknown tool.
    """

    def read_named(self, reader: Reader, context: Context, head: Match) -> Step[bool]:
        written = head["name"]
        if context.resolve_name(written) in context.tools or _COUNTER.fullmatch(written) is None:
            return (yield from super().read_named(reader, context, head))
        text = StringIO()
        first = yield from reader.skip_blanks()
        if not (yield from read_arguments(reader, context.limits, self.stops, text.write, first)):
            return False
        name = _find_taker(context.tools, text.getvalue())
        if context.declared and name is None:
            return False
        id = head["id"] or written
        write_call(reader, context, name or written, id, text.getvalue(), is_repaired=name is not None)
        return True


def _find_taker(tools: Toolset, text: str) -> str | None:
    """The name of the only tool that takes these arguments."""
    try:
        given = read(text, "heal").value
    except JSONError:
        return None
    fitting = [name for name, tool in tools.items() if isinstance(given, dict) and _accepts(tool, given)]
    return fitting[0] if len(fitting) == 1 else None


def _accepts(tool: Tool, given: dict[str, Any]) -> bool:
    known, required = tool.parameters.get("properties"), tool.parameters.get("required")
    known = known if isinstance(known, dict) else {}
    return known.keys() >= given.keys() and given.keys() >= set(required if isinstance(required, list) else ())


class LabelledCalls:
    """The calls of CWM: a tag that bears a label, then JSON, or the one argument as bare text.

        <tool: NAME>            <tool: NAME>            <tool: function>
        {...}                   TEXT                    NAME TEXT
        </tool>                 </tool>                 </tool>

    The third shape is that of a label which is no tool.  Text is the one parameter that the tool requires, or its only
    one; where no tools are declared, `command`.  It could be prose, so it is a call only once its closing tag has come.

    Facts: the server that Meta published with the model (`serve/tool.py` of facebookresearch/cwm), and vLLM's parser.
    """

    follows = LABEL
    stops: Markers = Markers(("</tool>", "<tool:"))
    close: Markers = Markers(("</tool>",))
    patterns: Patterns = Patterns(
        label=LABEL,
        inner=rf"{GAP}{_LABEL_NAME}(?=[\s<])[ \t]{{0,8}}",
        json=rf"{GAP}\{{{GAP}[\"'}}]",
        end=rf"{GAP}</tool>",
        again=rf"{GAP}(?={LABEL})",
        breaks=r"\A[ \t]{0,64}\r?\n|\r?\n[ \t]{0,64}\Z",
    )

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        # Where only declared tools are believed, each label must name one.  White space before a tag that proves to be
        # no call is text.
        most = context.limits.max_call_args
        return read_block(reader, context, self._read_call, self._read_next, most, vouches=False, keeps_gap=True)

    def _read_call(self, reader: Reader, context: Context, found: bool) -> Step[bool]:  # noqa: ARG002
        label = yield from reader.match(self.patterns.label)
        if label is None:
            return False
        name = context.resolve_name(label["name"])
        if name not in context.tools and (yield from reader.peek_match(self.patterns.json)) is None:
            inner = yield from reader.match(self.patterns.inner)
            name = "" if inner is None else context.resolve_name(inner["name"])
            context = context.trust_declared() if context.tools else context
        if not context.believes(name):
            return False
        is_text = (yield from reader.peek_match(self.patterns.json)) is None
        if is_text and not (yield from self._read_text(reader, context, name)):
            return False
        if not is_text:
            yield from stream_call(reader, context, name, None, self.stops)
        yield from reader.match_end(self.patterns.end)
        return True

    def _read_next(self, reader: Reader) -> Step[bool]:
        return (yield from reader.match(self.patterns.again)) is not None

    def _read_text(self, reader: Reader, context: Context, name: str) -> Step[bool]:
        """Read the one argument of a call up to the closing tag."""
        text = StringIO()
        if not (yield from reader.read_until(self.close, text.write)):
            return False
        value = self.patterns.breaks.sub("", text.getvalue())
        key = _find_only_key(context, name) if value.strip() else None
        if (key is None) if value.strip() else bool(_list_required(context, name)):
            return False
        write_members(reader, context, name, [(key, value)] if key is not None else [])
        return True


def _find_only_key(context: Context, name: str) -> str | None:
    """The parameter that takes a text; None if there are several, or none."""
    if not context.tools:
        return "command"
    keys = _list_required(context, name) or sorted(context.view_parameters(name).members)
    return keys[0] if len(keys) == 1 else None


def _list_required(context: Context, name: str) -> list[str]:
    required = context.tools[name].parameters.get("required") if name in context.tools else None
    declared = context.view_parameters(name).members
    return [key for key in required if key in declared] if isinstance(required, list) else []
