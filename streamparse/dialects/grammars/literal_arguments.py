"""The arguments of a call that is written as keys and literals: told as one JSON object while they come."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.grammars.call_arguments import broken
from streamparse.dialects.grammars.literals import Notation, literal, quoted
from streamparse.sink import Call

__all__ = ["Repairing", "literal_arguments"]


class Repairing(Notation, Protocol):
    """A notation that says whether it had to repair what it read."""

    @property
    def repaired(self) -> bool:
        """Whether a value could be read only after a repair."""


def literal_arguments(
    reader: Reader, context: Context, call: Call, key: Pattern, closes: str, notation: Callable[[str, bool], Repairing]
) -> Step[bool]:
    """Read `KEY VALUE, KEY VALUE` and the closing bracket, and end the call; False if they break off.

    `key` is a pattern of a key and what separates it from its value, with the group `key`.  `notation` is asked for
    the notation of each value: with its key, and True for a scalar, False for a container.
    """
    sink = context.sink
    tell = sink.call_teller(call)
    lead = "{"
    while (after := (yield from reader.blanks())) != closes:
        if after == "," and lead != "{":
            reader.take(1)
            yield from reader.blanks()
            continue
        found = yield from reader.match(key)
        if found is None:
            return _broken(reader, context, call)
        name = found["key"].strip()
        tell(lead + quoted(name) + ": ")
        lead = ", "
        value = notation(name, (yield from reader.blanks()) not in ("[", "(", "{"))
        if not (yield from literal(reader, tell, value, context.limits)):
            return _broken(reader, context, call)
        if value.repaired:
            sink.call_repaired(call)
    reader.take(1)
    tell("{}" if lead == "{" else "}")
    sink.call_end(call)
    return True


def _broken(reader: Reader, context: Context, call: Call) -> bool:
    if reader.final:  # the text ends inside of the call
        context.sink.call_arguments(call, reader.take(len(reader.buffer) - reader.at))
    else:
        broken(context, call, f"the arguments of {call.name!r} are no such literals")
    return False
