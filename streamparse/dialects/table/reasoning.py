"""Reasoning alone: for a server, or a reader after this one, that knows the calls, but leaves the thoughts in the text.

Every way to mark reasoning is looked for.  Calls stay text; but where the marker of one ends an open thought
in its own dialect, it does so here: what follows is for whoever reads the calls.  Where a format tells thoughts, texts
and calls by the same headers, a message to a tool stays text with its header.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from streamparse.dialects.grammar import Dialect, no_call
from streamparse.dialects.table.thoughts import THOUGHTS

__all__ = ["reasoning_alone"]

_TOKENS = ("<|", "<｜")


def _parts(row: Dialect) -> Iterator[Dialect]:
    tokens = tuple(opener for opener in row.openers if opener.text[:2] in _TOKENS)
    tags = tuple(opener for opener in row.openers if opener not in tokens)
    alone = replace(row, body=no_call, in_thought="yields", drops=(), thoughts=tuple(THOUGHTS))
    yield replace(alone, openers=tags)
    yield replace(alone, openers=tokens, follows="")


def reasoning_alone(dialects: Iterable[Dialect]) -> tuple[Dialect, ...]:
    """Return rows that read no call, but end a thought where these dialects would.

    A token of the model's own (`<|...|>`) is no word of a thought, so it ends one whatever follows; a tag that could
    as well be mentioned must be followed by the beginning of a call.
    """
    return tuple(part for row in dialects if row.in_thought == "ends" for part in _parts(row))
