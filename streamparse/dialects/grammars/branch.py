"""Two bodies behind one opener."""

from __future__ import annotations

from functools import cached_property

import msgspec

from streamparse.dialects.engine.grammar import Body, Context
from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.patterns import gradual

__all__ = ["Either"]


class Either(msgspec.Struct, frozen=True, dict=True):
    """`then` where what follows the opener matches the pattern `looks`, else `otherwise`."""

    looks: str
    then: Body
    otherwise: Body

    @cached_property
    def pattern(self) -> Pattern:
        """The compiled pattern."""
        return gradual(self.looks)

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        found = yield from reader.look(self.pattern)
        return (yield from (self.otherwise if found is None else self.then)(reader, context))
