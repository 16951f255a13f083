"""What a grammar stands on, and what a dialect is: data over a few grammars."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Literal, TypeAlias

import msgspec
from msgspec import field
from msgspec.structs import replace

from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.engine.tag_balance import OpenTags
from streamparse.limits import Limits
from streamparse.patterns import gradual, plain
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["Body", "Context", "Dialect", "Opener", "Spot", "Thought", "follows_of", "markers", "no_call"]

_NAME = plain(r"[^\s<>(){}\[\]\"'`|,;=]*[\w$-]")
"""What could be the name of a tool: no blanks, brackets or quotes; a letter, a digit, `_`, `-` or `$` ends it."""


class Context(msgspec.Struct, frozen=True):
    """Where a grammar tells what it finds, and what it may know of the request."""

    sink: Sink
    tools: Toolset
    limits: Limits
    declared: bool = False
    """Believe only names of declared tools: the marker alone says too little."""
    thoughts: bool = True
    """Whether thoughts are looked for; else their markers are ordinary text."""
    tags: OpenTags = field(default_factory=OpenTags)
    """What is known of the tags in the text that are words or names of tools."""

    def for_declared(self) -> Context:
        """The same ground, but only declared tools are believed."""
        return replace(self, declared=True)

    def for_all(self) -> Context:
        """The same ground once a declared tool was called: the first call of a block vouches for the others."""
        return replace(self, declared=False) if self.declared else self

    def tool_name(self, written: str) -> str:
        """The name that was meant: some models write `functions.NAME` or `NAME.NAME`."""
        bare = written.removeprefix("functions.")
        namespace, _, name = bare.partition(".")
        bare = name if name == namespace else bare
        return bare if written not in self.tools and bare in self.tools else written

    def believes(self, name: str) -> bool:
        """Whether a call of this name counts: it is declared, or could be the name of a tool that is not."""
        return name in self.tools or (not self.declared and _NAME.fullmatch(name) is not None)

    def believes_quoted(self, name: str) -> bool:
        """The same of a name in quotes, which say where it ends: where no tools are declared it may hold anything."""
        return self.believes(name) or not (self.tools or self.declared)


Body: TypeAlias = Callable[[Reader, Context], Step[bool]]
"""Reads what follows an opening marker.  False: it was no call, and nothing was told of one."""


def follows_of(body: Body) -> str:
    """The pattern of what a grammar reads, as it says itself (`follows`); raises ValueError if it does not."""
    follows: str | None = getattr(body, "follows", None)
    if follows is None:
        raise ValueError(f"neither the dialect nor its grammar says what follows the openers: {body!r}")
    return follows


def no_call(reader: Reader, context: Context) -> Step[bool]:  # noqa: ARG001
    """The body of what is looked for and is no call."""
    yield from ()
    return False


Spot: TypeAlias = Literal["anywhere", "line", "edge", "start"]
"""A place in the text: anywhere; at the start of a line; at the start of the message or next to a call; before all
other text.  Each is also what stands before it here."""


class Opener(msgspec.Struct, frozen=True):
    """A marker that may open a call.

    The empty one stands before the very first character: some prompts end with the marker.
    """

    text: str
    inclusive: bool = False
    """It is part of the body (`{`, `<function=`), not a wrapper before it."""
    placed: Spot = "anywhere"
    """Where it counts."""
    auto: Literal["armed", "declared", "start", "named"] = "armed"
    """With `dialects="auto"`: armed; only for declared tools; only for these and at the start of the message; not at
    all, for the dialect must be named."""
    each_tool: bool = False
    """The name of each declared tool, behind `text`, is such a marker: a tag, or what a server leaves of markers."""
    declared: bool = False
    """Here only names of declared tools are believed, also where the dialect was named."""
    bare: bool = False
    """It is no marker of the format's own: a brace, a fence, a tool's name.  What is read behind it is told as a call
    only once it is whole, and is revoked if visible text follows."""
    word: bool = False
    """It is a tag that is a plain word: where tools are declared, a call behind it must name one of them and have its
    required arguments."""


def markers(*texts: str) -> tuple[Opener, ...]:
    """Openers that count anywhere."""
    return tuple(Opener(text) for text in texts)


class Dialect(msgspec.Struct, frozen=True, dict=True):
    """One way to write calls in text.

    `follows` is a pattern of what follows an opener: it says yes, no or "need more", so that dialects may share one.
    """

    name: str
    openers: tuple[Opener, ...]
    body: Body
    follows: str | None = None
    """None: what the grammar itself says (`body.follows`)."""
    models: str = ""
    example: str = ""
    in_thought: Literal["text", "ends", "resumes"] = "text"
    """What a whole call inside of an open thought is: thought ("text"); a call that stands if nothing but other calls
    follows ("ends"); a call that stands, and the thought goes on ("resumes").

    Where tools are declared, only their names are believed.  What is quoted inside of a thought is always thought.
    No recorded stream has a call in a thought between tags; what a row says follows the readers of other projects, and
    is "text" where nobody knows.
    """
    thoughts: tuple[str | Thought, ...] = ()
    """The ways of this dialect to mark reasoning, besides `think`: rows of the table by name, or ways of its own."""
    drops: tuple[str, ...] = ()
    """Markers that are structure (wrappers of the visible text, ends of a turn): passed over in silence where the
    dialect is named, or once it was found."""
    opens_text: tuple[str, ...] = ()
    """Tokens of the model's own that open the visible text: before all text they are structure also with
    `dialects="auto"`, and so are `drops` from then on."""
    settles: tuple[str, ...] = ()
    """What the format itself writes behind its bare calls: it is text, and the calls stand."""
    beside: tuple[Dialect, ...] = ()
    """What is looked for wherever this dialect is, and is no call."""

    @cached_property
    def probe(self) -> Pattern:
        """The pattern of what follows an opener."""
        return gradual(follows_of(self.body) if self.follows is None else self.follows)


class Thought(msgspec.Struct, frozen=True):
    """One way to mark reasoning in text: a span from one of `opens` to one of `closes`.

    Where the prompt opened the thought, some models open it again: one of `opens` or `echoes` at its beginning says
    nothing, once.  A closing marker that nothing opened is no text, if it stands before all text.
    """

    name: str
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    models: str = ""
    echoes: tuple[str, ...] = ()
    inside: bool = False
    """Its markers are tokens of the model's own: where the dialect is named, they count inside of a text, too."""
    token: bool = False
    """No prose holds them but to quote them, and no other model has them: they do so also with `dialects="auto"`."""
