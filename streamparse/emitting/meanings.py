"""What the end of a turn means to a client of another wire."""

from __future__ import annotations

from typing import Literal, TypeAlias

from streamparse.finish_reasons import find_stop

__all__ = ["Meaning", "is_filter", "meaning_of"]

Meaning: TypeAlias = Literal["stop", "tool_calls", "length", "content_filter", "error"]


def is_filter(word: str | None) -> bool:
    """Whether a server's word is that of a filter."""
    return find_stop(word) == "filter"


def meaning_of(reason: str | None, *, ok: bool, called: bool, broken: bool, refused: bool) -> Meaning:
    """Return what the end of a turn is to a client, who knows only what has been emitted.

    `called` is whether complete calls were, `broken` whether calls were begun that will never be complete: a turn that
    holds such a call has been cut, whatever its server says, for a client must not run it.  `refused` is whether
    the model refused in words: then calls do not count either.
    """
    if is_filter(reason) or (refused and not ok):
        return "content_filter"
    if not ok:
        return "error"
    if broken or find_stop(reason) == "length":
        return "length"
    return "tool_calls" if called else "stop"
