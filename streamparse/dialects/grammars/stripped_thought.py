"""A thought whose opening token a server took away, and left the word behind it.

    thought
    TEXT<channel|>ANSWER

The word could begin an answer, so where the dialect was not named the thought counts only once its closing token has
come; it waits until then.
"""

from __future__ import annotations

from functools import cached_property
from io import StringIO

import msgspec

from streamparse.dialects.engine.grammar import Context
from streamparse.dialects.engine.markers import Markers
from streamparse.dialects.engine.reader import Reader, Step

__all__ = ["StrippedThought", "read_held_thought"]


class StrippedThought(msgspec.Struct, frozen=True, dict=True):
    """Reads a thought up to one of `closes`; where it has to wait, one of `disproves` shows that it is none."""

    closes: tuple[str, ...]
    disproves: tuple[str, ...] = ()

    @cached_property
    def ends(self) -> Markers:
        """The end of the thought."""
        return Markers(self.closes)

    @cached_property
    def ends_held(self) -> Markers:
        """The end of the waiting."""
        return Markers((*self.closes, *self.disproves))

    def __call__(self, reader: Reader, context: Context) -> Step[bool]:
        if not context.thoughts:
            return False
        if context.declared:
            end = yield from read_held_thought(reader, context, self.ends_held, self.disproves)
        else:
            reader.commit()
            end = yield from reader.until(self.ends, context.sink.reasoning)
        reader.take(len(end))
        return bool(end) or not context.declared


def read_held_thought(reader: Reader, context: Context, ends: Markers, disproves: tuple[str, ...] = ()) -> Step[str]:
    """Tell a thought once one of `ends` follows it, but none that `disproves` it; return that, not taken, else ""."""
    thought = StringIO()
    end = yield from reader.until(ends, thought.write)
    if end in disproves:
        return ""
    if end:
        reader.commit()
        context.sink.reasoning(thought.getvalue())
    return end
