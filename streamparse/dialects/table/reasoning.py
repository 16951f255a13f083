"""Reasoning alone: for a server, or a reader after this one, that knows the calls, but leaves the thoughts in the text.

Every way to mark reasoning is looked for.  Calls stay text; but where the marker of one ends an open thought
in its own dialect, it does so here: what follows is for whoever reads the calls.  Where a format tells thoughts and
calls by the same headers, its own dialect has to be named.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from streamparse.dialects.grammar import Context, Dialect
from streamparse.dialects.reader import Reader, Step
from streamparse.dialects.table.thoughts import THOUGHTS

__all__ = ["reasoning_alone"]


def _left_in_the_text(reader: Reader, context: Context) -> Step[bool]:
    yield from ()
    context.sink.text(reader.forgive() or reader.take(1))
    return True


def reasoning_alone(dialects: Iterable[Dialect]) -> tuple[Dialect, ...]:
    """Return rows that read no call, but end a thought where these dialects would."""
    ending = (
        replace(row, body=_left_in_the_text, drops=(), thoughts=tuple(THOUGHTS))
        for row in dialects
        if row.in_thought == "ends"
    )
    return tuple(ending)
