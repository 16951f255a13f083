"""What all grammars do alike: read the calls of a block one after another, and pass each on.

    head ─▶ believed? ─▶ commit ─▶ call_start ─▶ arguments ─▶ call_end ─▶ end marker ─▶ another call? ─▶ head
             └─ no: the block ends before it             └─ broken: call_error

A grammar says how one call is read and what may follow it; `read_block` does the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

from streamparse.dialects.engine.grammar import Body, Context, get_follows
from streamparse.dialects.engine.markers import Stops
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.engine.sinks import Draft
from streamparse.dialects.grammars.json_values import read_arguments
from streamparse.json.scan import Scanner
from streamparse.patterns import lazy_partial
from streamparse.sink import Call

# Reads one call; False if there is none.  The last argument says whether another call of the block came before it.
ReadCall: TypeAlias = Callable[[Reader, Context, bool], Step[bool]]
# Reads what separates two calls, or the end of the block; True if another call may follow.
ReadNext: TypeAlias = Callable[[Reader], Step[bool]]


class Patterns:
    """The patterns of one format, as attributes; each is compiled when it is first matched.

    Few of the dialects that are armed ever meet their marker.
    """

    def __init__(self, make: Callable[[str], Pattern] = lazy_partial, /, **sources: str) -> None:
        self.__dict__.update({name: make(source) for name, source in sources.items()})

    def __getattr__(self, name: str) -> Pattern:
        raise AttributeError(name)


class Branch(msgspec.Struct, frozen=True):
    """`then` where what follows the opener matches the pattern `if_matches`, else `otherwise`."""

    if_matches: str
    then: Body
    otherwise: Body

    @property
    def follows(self) -> str:
        """What either of them begins with."""
        return rf"(?:{self.if_matches})|(?:{get_follows(self.otherwise)})"

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found = yield from reader.peek_match(lazy_partial(self.if_matches))
        return (yield from (self.otherwise if found is None else self.then)(reader, context))


class IfDeclared(msgspec.Struct, frozen=True):
    """`then` where only declared tools are believed, else `otherwise`: both read the same beginning."""

    then: Body
    otherwise: Body

    @property
    def follows(self) -> str:
        """What both begin with."""
        return get_follows(self.otherwise)

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        return (self.then if context.declared else self.otherwise)(reader, context)


def read_block(
    reader: Reader,
    context: Context,
    read_call: ReadCall,
    read_next: ReadNext,
    most: int | None,
    vouches: bool = True,
    keeps_gap: bool = False,
) -> Step[bool]:
    """Read the calls of a block; whether there is any.

    From the end of a call on, at most `most` characters are kept, for the case that no other one follows.  With
    `vouches` only the first call may have to be one of a declared tool: it vouches for the others.  With `keeps_gap`
    what separates two calls is text, too, if the second proves to be none.
    """
    found = False
    while (yield from read_call(reader, context, found)):
        found = True
        if vouches and context.declared:
            context = context.trust_all()
        if keeps_gap:
            reader.checkpoint(most)
        if not (yield from read_next(reader)):
            return True
        if not keeps_gap:
            reader.begin_call(most)
    return found


def stream_call(
    reader: Reader, context: Context, name: str, id: str | None, stops: Stops, ends_with_text: bool = False
) -> Step[bool]:
    """Pass on a call whose name is known, its arguments as they come; True.  Without arguments it gets an empty object.

    Where the text ends inside the arguments, the call stays open; with `ends_with_text` also where something else
    that has come ends them, and no more text is to come.
    """
    reader.commit()
    sink = context.sink
    call = sink.call_start(name, id, "inband")
    first = yield from reader.skip_blanks()
    if first in ("{", '"'):
        whole = yield from read_arguments(reader, context.limits, stops, sink.call_teller(call), first)
    else:
        whole = True
        sink.call_arguments(call, "{}")
    if whole:
        sink.call_end(call)
    elif not (reader.final if ends_with_text else reader.is_at_end):
        fail_call(context, call, f"the arguments of {name!r} break off")
    return True


def write_call(
    reader: Reader, context: Context, name: str, id: str | None, arguments: str, is_repaired: bool = False
) -> None:
    """Pass on a call that is known as a whole."""
    reader.commit()
    sink = context.sink
    call = sink.call_start(name, id, "inband")
    sink.call_arguments(call, arguments)
    if is_repaired:
        sink.call_repaired(call)
    sink.call_end(call)


def fail_call(context: Context, call: Call, trouble: str) -> None:
    """A call cannot be read; where its arguments nest too deep, that is why."""
    code = "malformed_call"
    if not isinstance(call, Draft):  # of what is recorded, errors are not told
        scanner = Scanner(context.limits.max_depth)
        scanner.scan(call.raw)
        code = scanner.error if scanner.error == "json_depth" else code
    context.sink.call_error(call, code, trouble)
