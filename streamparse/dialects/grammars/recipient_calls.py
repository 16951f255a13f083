"""Grammar C as Functionary v3.2 writes it: the recipient is a line of its own.

    all
    TEXT>>>NAME
    {...}

The prompt ends with the first `>>>`, so the answer begins with a recipient; `all` is the user.
"""

from __future__ import annotations

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.reader import Reader, Step
from streamparse.dialects.grammars.name_then_json import MarkedCalls
from streamparse.patterns import gradual

__all__ = ["RecipientCalls"]

_USER = gradual(r"all[ \t]{0,8}\r?\n")


class RecipientCalls(MarkedCalls, frozen=True, dict=True):
    """The grammar of Functionary v3.2."""

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        if (yield from reader.match(_USER)) is not None:
            reader.commit()  # what follows is text
            return True
        return (yield from super().__call__(reader, context))
