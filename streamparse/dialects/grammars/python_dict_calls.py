"""Grammar B as Python literals: a marker, then a list of dicts, each a call.

    <|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Paris'}}, {'name': 'now', 'arguments': {}}]

The arguments become JSON text on the way; a call starts as soon as its name and its arguments' key have come, and
is complete at the brace that closes its dict.
"""

from __future__ import annotations

from functools import cached_property
from io import StringIO
from typing import Any

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import GAP, any_of
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.grammars.call_arguments import broken
from streamparse.dialects.grammars.call_json import is_foreign
from streamparse.dialects.grammars.literals import Tell, bounded, literal
from streamparse.dialects.grammars.python_literals import PythonLiterals
from streamparse.json import JSONError, read
from streamparse.patterns import gradual
from streamparse.sink import Call

__all__ = ["LiteralCalls"]

_BETWEEN = gradual(rf"{GAP}(?:(?P<more>[,;]?{GAP}(?=\{{))|,?{GAP}\])")
"""What follows a dict: another one, or the end of the list."""


class _Draft(msgspec.Struct):
    name: str | None = None
    arguments: str | None = None  # they came before the name
    call: Call | None = None
    foreign: bool = False


class LiteralCalls(msgspec.Struct, frozen=True, dict=True):
    """Dicts in a list, each a call; `closes` may follow."""

    closes: tuple[str, ...] = ()
    names: tuple[str, ...] = ("name",)
    arguments: tuple[str, ...] = ("arguments", "parameters")

    @cached_property
    def end(self) -> Pattern:
        """The end of the block."""
        return gradual(rf"{GAP}{any_of(self.closes)}")

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        if (yield from reader.blanks()) == "[":
            reader.take(1)
        found = False
        while (yield from reader.blanks()) == "{":
            if not (yield from self._dict(reader, context)):
                return found
            found = True
            context = context.for_all()
            following = yield from reader.match(_BETWEEN)
            if following is None or following["more"] is None:
                yield from reader.match(self.end)
                return True
            reader.remember(context.limits.max_call_args)
        return found

    def _dict(self, reader: Reader, context: Context) -> Step[bool]:
        """Read one dict; False if it is no call."""
        reader.take(1)
        draft, sink = _Draft(), context.sink
        sound = True
        while sound and (after := (yield from reader.blanks())) != "}":
            if after == ",":
                reader.take(1)
            else:
                sound = yield from self._member(reader, context, draft)
        if draft.call is None and sound and draft.name is not None and draft.arguments is not None:
            reader.commit()
            draft.call = sink.call_start(draft.name, None, "inband")
            sink.call_arguments(draft.call, draft.arguments)
        if draft.call is None:
            return False
        if sound:
            reader.take(1)
            sink.call_end(draft.call)
        elif reader.final:
            sink.call_arguments(draft.call, reader.rest())  # the text ends inside of the call
        else:
            broken(context, draft.call, f"the arguments of {draft.name!r} are no Python literals")
        return True

    def _member(self, reader: Reader, context: Context, draft: _Draft) -> Step[bool]:
        """Read one key and its value; False where it is not sound."""
        key = yield from _text(reader, context, context.limits.max_key)
        if key is None or (yield from reader.blanks()) != ":":
            return False
        reader.take(1)
        yield from reader.blanks()
        if context.declared and (yield from is_foreign(reader, key, (*self.names, *self.arguments))):
            return False
        if key in self.names and draft.name is None:
            name = yield from _text(reader, context, context.limits.max_name)
            draft.name = None if name is None else context.tool_name(name)
            return draft.name is not None and context.believes_quoted(draft.name)
        if key not in self.arguments or draft.call is not None:
            return (yield from literal(reader, _nothing, PythonLiterals(argument=False), context.limits))
        if draft.name is None:
            held = StringIO()
            whole = yield from literal(reader, held.write, PythonLiterals(argument=False), context.limits)
            draft.arguments = held.getvalue()
            return whole
        reader.commit()
        draft.call = context.sink.call_start(draft.name, None, "inband")
        tell: Tell = context.sink.call_teller(draft.call)
        notation = PythonLiterals(argument=False)
        whole = yield from literal(reader, tell, notation, context.limits)
        if notation.repaired:
            context.sink.call_repaired(draft.call)
        return whole


def _text(reader: Reader, context: Context, limit: int | None) -> Step[str | None]:
    """Read a string literal; None if there is none."""
    held = StringIO()
    if not (yield from PythonLiterals(argument=False).scalar(reader, bounded(held, limit))):
        return None
    try:
        value: Any = read(held.getvalue(), "strict", context.limits).value
    except JSONError:
        return None
    return value if isinstance(value, str) else None


def _nothing(_: str) -> None:
    """Tell nobody."""
