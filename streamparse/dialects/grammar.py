"""What a grammar stands on, and what a dialect is: data over a few grammars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import regex

from streamparse.dialects.reader import Pattern, Reader, Step
from streamparse.limits import Limits
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["Body", "Context", "Dialect", "Opener", "Thought", "markers"]


@dataclass(frozen=True, slots=True)
class Context:
    """Where a grammar tells what it finds, and what it may know of the request."""

    sink: Sink
    tools: Toolset
    limits: Limits
    declared: bool = False
    """Believe only names of declared tools: the marker alone says too little."""

    def for_declared(self) -> Context:
        """The same ground, but only declared tools are believed."""
        return Context(self.sink, self.tools, self.limits, declared=True)

    def tool_name(self, written: str) -> str:
        """The name that was meant: some models write `functions.NAME`."""
        bare = written.removeprefix("functions.")
        return bare if written not in self.tools and bare in self.tools else written


Body: TypeAlias = Callable[[Reader, Context], Step[bool]]
"""Reads what follows an opening marker.  False: it was no call, and nothing was told of one."""


@dataclass(frozen=True, slots=True)
class Opener:
    """A marker that may open a call."""

    text: str
    inclusive: bool = False
    """It is part of the body (`{`, `<function=`), not a wrapper before it."""
    placed: Literal["anywhere", "line", "start"] = "anywhere"
    """Where it counts: anywhere, at the start of a line, or only before all other text."""
    auto: Literal["armed", "start"] = "armed"
    """With `dialects="auto"`: armed, or only at the start of the message and for declared tools."""


def markers(*texts: str) -> tuple[Opener, ...]:
    """Openers that count anywhere."""
    return tuple(Opener(text) for text in texts)


@dataclass(frozen=True)
class Dialect:
    """One way to write calls in text.

    `follows` is a pattern of what follows an opener: it says yes, no or "need more", so that dialects may share one.
    """

    name: str
    openers: tuple[Opener, ...]
    follows: str
    body: Body
    models: str = ""
    example: str = ""
    in_thought: Literal["text", "ends"] = "text"
    """What an opener inside of an open thought means: more thought, or its end."""

    @cached_property
    def probe(self) -> Pattern:
        """The pattern of what follows an opener."""
        return regex.compile(self.follows)


@dataclass(frozen=True, slots=True)
class Thought:
    """One way to mark reasoning in text: a span from one of `opens` to one of `closes`."""

    name: str
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    models: str = ""
