"""Grammar F: calls as Python writes them.

    [NAME(key="value", n=1), NAME2()]

Also one call a line, without the list.  The head of a call is believed only as far as its first `key=`, or the `)`:
no prose and no Markdown looks like that.  Then the arguments stream as JSON text; the call is complete at its `)`.
Where only declared tools are believed, one of them vouches for all calls of its list, also for those before it.
"""

from __future__ import annotations

from functools import cached_property

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, any_of
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.grammars.literal_arguments import literal_arguments
from streamparse.dialects.grammars.literals import literal
from streamparse.dialects.grammars.python_literals import KEYWORD, PythonLiterals
from streamparse.patterns import gradual

__all__ = ["CALL_HEAD", "PythonCalls"]

_NAME = r"[^\W\d][\w.:/-]{0,255}"
CALL_HEAD = rf"(?P<name>{_NAME})[ \t]{{0,8}}\((?={GAP}(?:\)|{KEYWORD}{GAP}=[^=]))"
"""The beginning of a call, looked at up to its first argument's name."""


class _Patterns:
    """Compiled on first use: few programs ever meet such a call."""

    @cached_property
    def head(self) -> Pattern:
        """The name of a call."""
        return gradual(CALL_HEAD)

    @cached_property
    def following(self) -> Pattern:
        """What stands between two calls."""
        return gradual(rf"{GAP}[,;]?{GAP}(?={CALL_HEAD})")

    @cached_property
    def list_begin(self) -> Pattern:
        """The beginning of a list of calls."""
        return gradual(rf"{GAP}\[{GAP}(?={_NAME})")

    @cached_property
    def list_end(self) -> Pattern:
        """The end of a list of calls."""
        return gradual(rf"{GAP},?{GAP}\]")

    @cached_property
    def key(self) -> Pattern:
        """The name of an argument."""
        return gradual(rf"(?P<key>{KEYWORD}){GAP}=(?=[^=])")


_PATTERNS = _Patterns()


def _literals(_key: str, scalar: bool) -> PythonLiterals:
    return PythonLiterals(argument=scalar)


class PythonCalls(msgspec.Struct, frozen=True, dict=True):
    """One or more calls, in a list or not; one of `closes` may end them.

    `method` is what a name may end with that is not part of the tool's name.
    """

    closes: tuple[str, ...] = ()
    method: str = ""

    @cached_property
    def end(self) -> Pattern:
        """The end of the block."""
        return gradual(rf"{GAP}{any_of(self.closes)}")

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        listed = yield from reader.match(_PATTERNS.list_begin)
        yield from reader.blanks()
        found = False
        while True:
            start = reader.taken()
            head = yield from reader.match(_PATTERNS.head)
            name = "" if head is None else context.tool_name(head["name"].removesuffix(self.method))
            if head is None or not context.believes(name):
                may_be_vouched = head is not None and listed is not None and context.declared and not found
                if not may_be_vouched or not (yield from self._is_vouched(reader, context, start)):
                    return found
                context = context.for_all()
                continue
            reader.commit()
            call = context.sink.call_start(name, None, "inband")
            whole = yield from literal_arguments(reader, context, call, _PATTERNS.key, ")", _literals)
            found = True
            context = context.for_all()
            if not whole:
                return True
            reader.remember()
            if (yield from reader.match(_PATTERNS.following)) is None:
                break
        reader.commit()
        if listed is not None:
            yield from reader.match(_PATTERNS.list_end)
        if (yield from reader.match(self.end)) is None and reader.beginning(self.end):
            reader.rest()  # the end of the block is cut off
        return True

    def _is_vouched(self, reader: Reader, context: Context, start: int) -> Step[bool]:
        """Whether a list whose first call is of an unknown tool holds one of a declared tool; takes nothing."""
        reader.rewind(start)
        name = ""
        while name not in context.tools:
            head = yield from reader.match(_PATTERNS.head)
            if head is None or not (yield from _passed_over(reader, context)):
                break
            name = context.tool_name(head["name"].removesuffix(self.method))
            yield from reader.match(_PATTERNS.following)
        reader.rewind(start)
        return name in context.tools


def _passed_over(reader: Reader, context: Context) -> Step[bool]:
    """Take the arguments of a call and the bracket behind them; False if they break off."""
    while (after := (yield from reader.blanks())) != ")":
        if after == ",":
            reader.take(1)
            yield from reader.blanks()
        if (yield from reader.match(_PATTERNS.key)) is None:
            return False
        notation = _literals("", (yield from reader.blanks()) not in ("[", "(", "{"))
        if not (yield from literal(reader, lambda _: None, notation, context.limits)):
            return False
    reader.take(1)
    return True
