"""What whoever parses text may choose: the dialects to look for, and where a thought stands at the start."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias, get_args

from streamparse.dialects.engine.grammar import Dialect

__all__ = ["Dialects", "Quoted", "Reasoning", "check_quoted", "check_reasoning", "without_calls"]

Dialects: TypeAlias = Iterable[str | Dialect] | Literal["auto", "all", "reasoning"]
"""What to look for in the text.

Names of `DIALECTS`, or dialects of one's own; `"reasoning"`: thoughts alone; `"all"`: every dialect whose marker is
unambiguous; `"auto"`: as `"all"` where servers leave calls in the text, as `"reasoning"` on wires whose servers parse
calls themselves.  In a list, `"auto"` or `"all"` adds the rest to the dialects that are named before it.
"""

Quoted: TypeAlias = Literal["text", "calls"]
"""What a whole call of a declared tool is that the text only quotes."""

Reasoning: TypeAlias = Literal["auto", "open", "closed"]
"""Whether the text starts inside of a thought."""


def check_reasoning(reasoning: str) -> None:
    """Raise ValueError for a word that `Reasoning` does not have."""
    if reasoning not in get_args(Reasoning):
        raise ValueError(f"unknown reasoning {reasoning!r}; known are: {', '.join(get_args(Reasoning))}")


def check_quoted(quoted: str) -> None:
    """Raise ValueError for a word that `Quoted` does not have."""
    if quoted not in get_args(Quoted):
        raise ValueError(f"unknown quoted {quoted!r}; known are: {', '.join(get_args(Quoted))}")


def without_calls(dialects: Dialects, *words: str) -> Dialects:
    """Return the dialects with `"reasoning"` in the place of each of the words, `"auto"` or `"all"`."""
    if isinstance(dialects, str):
        return ("reasoning",) if dialects in words else dialects
    return tuple("reasoning" if isinstance(each, str) and each in words else each for each in dialects)
