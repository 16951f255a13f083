"""What a dialect is, what its grammar gets to read with, and what may be chosen when text is parsed.

A dialect is data: openers, a pattern of what follows them, and a grammar that reads a call.  A grammar is a generator
function of a `Reader` and a `Context`.  It reports what it reads to a `CallSink`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Final, Literal, Protocol, TypeAlias, get_args

import msgspec
from msgspec import field
from msgspec.structs import replace

from streamparse.dialects.engine.reader import Pattern, Reader, Step
from streamparse.dialects.names import DialectName
from streamparse.events import Scope, Source
from streamparse.limits import Limits
from streamparse.patterns import lazy_partial, lazy_re
from streamparse.schema.kinds import SchemaView
from streamparse.sink import Call
from streamparse.tools import Toolset
from streamparse.unknown_names import list_known

# The name of a dialect that was given none: `register_dialect` gives it its own.
UNNAMED: Final = "response-template"

_MOST_HEADS: Final = 256  # bound: texts of which a dialect keeps whether they may follow its opener
# What can be the name of a tool: no blanks, brackets or quotes, and a letter, a digit, `_`, `-` or `$` at its end.
_NAME = lazy_re(r"[^\s<>(){}\[\]\"'`|,;=]*[\w$-]")

_NONE: Final[frozenset[str]] = frozenset()  # each one that is made costs 216 bytes
_UNKNOWN: Final = SchemaView([], None)
NO_VIEWS: Final[dict[str, SchemaView]] = {}
"""For the context of an answer without tools, for which no schema is looked at."""


class TagBalance:
    """Counts the tags of a text that are plain words, or names of tools, and notes which of them held a call."""

    __slots__ = ("_called", "_open")

    def __init__(self) -> None:
        self._open: dict[str, int] = {}
        self._called: frozenset[str] = _NONE

    def note_call(self, tag: str) -> None:
        """Note that a tag held a call."""
        self._called |= {tag}

    def open(self, tag: str) -> None:
        """Note that a tag opens in the text."""
        self._open[tag] = self._open.get(tag, 0) + 1

    def close(self, tag: str) -> bool:
        """Note that a tag closes in the text; return False if none was open, and such a tag has held a call."""
        count = self._open.get(tag, 0)
        self._open[tag] = max(0, count - 1)
        return count > 0 or tag not in self._called


class CallSink(Protocol):
    """What a grammar may report: the verbs of `Sink` that have to do with calls and text."""

    def text(self, text: str) -> None: ...
    def reasoning(self, text: str) -> None: ...
    def call_start(self, name: str, id: str | None = None, source: Source = "inband") -> Call: ...
    def call_arguments(self, call: Call, fragment: str) -> None: ...
    def call_teller(self, call: Call) -> Callable[[str], object]: ...
    def call_end(self, call: Call) -> None: ...
    def call_repaired(self, call: Call) -> None: ...
    def call_error(self, call: Call, code: str, message: str) -> None: ...
    def calls_doubted(self, code: str, message: str) -> None: ...
    def error(self, scope: Scope, code: str, message: str, offset: int | None = None) -> None: ...


class Context(msgspec.Struct, frozen=True):
    """Where a grammar reports what it finds, and what it knows of the request.

    - `declared`: Only names of declared tools are believed, for the marker alone does not show a call.
    - `thoughts`: Whether reasoning is looked for.  Otherwise its markers are ordinary text.
    """

    sink: CallSink
    tools: Toolset
    limits: Limits
    declared: bool = False
    thoughts: bool = True
    tags: TagBalance = field(default_factory=TagBalance)
    views: dict[str, SchemaView] = field(default_factory=dict)
    """What the schemas say that were looked at, by the tool's name."""
    on_dialect: Callable[[str], object] | None = None
    """Is called with the name of a dialect that is about to read."""

    def trust_declared(self) -> Context:
        """Return a context in which only declared tools are believed."""
        return replace(self, declared=True)

    def trust_all(self) -> Context:
        """Return a context in which all names are believed."""
        # For a block whose first call was one of a declared tool: that call vouches for the others.
        return replace(self, declared=False) if self.declared else self

    def resolve_name(self, written: str) -> str:
        """Return the name that was meant."""
        return self.tools.resolve_name(written)

    def believes(self, name: str) -> bool:
        """Whether a call of this name counts: the tool is declared, or could be one that is not."""
        return name in self.tools or (not self.declared and _NAME.fullmatch(name) is not None)

    def believes_quoted(self, name: str) -> bool:
        """The same for a name in quotes."""
        # The quotes show where it ends, so where no tools are declared it may hold anything.
        return self.believes(name) or not (self.tools or self.declared)

    def view_parameters(self, name: str) -> SchemaView:
        """Return what the schema of a tool says of its arguments; of a tool that is not declared, nothing."""
        if name not in self.tools:
            return _UNKNOWN
        view = self.views.get(name)
        if view is None:
            schema = self.tools[name].parameters
            view = self.views[name] = SchemaView([schema], schema)
        return view


Body: TypeAlias = Callable[[Reader, Context], Step[bool]]
"""Reads what follows an opener.  Returns False if that was no call, and none was reported."""


def get_follows(body: Body) -> str:
    """The pattern of what a grammar reads, as it says itself (`follows`); raises ValueError if it does not."""
    follows: str | None = getattr(body, "follows", None)
    if follows is None:
        raise ValueError(f"neither the dialect nor its grammar says what follows the openers: {body!r}")
    return follows


def read_nothing(reader: Reader, context: Context) -> Step[bool]:  # noqa: ARG001
    """The grammar of a marker that opens no call."""
    yield from ()
    return False


Position: TypeAlias = Literal["anywhere", "line", "edge", "start"]
"""A position in the text, from the widest to the narrowest: each is also one of those before it here.

Anywhere; at the start of a line; at the start of the message or next to a call; before all other text.
"""


class Opener(msgspec.Struct, frozen=True):
    """A marker that may open a call.

    The empty one is before the very first character, for some prompts end with the marker.

    - `inclusive`: It is part of what the grammar reads (`{`, `<function=`).
    - `position`: Where it counts.
    - `auto`: With `dialects="auto"` it is looked for always; only for declared tools; only for these, and at the start
      of the message; never, for the dialect must be named.
    - `each_tool`: The marker is `text` and the name of a declared tool: a tag, or what a server leaves of markers.
    - `declared`: Only names of declared tools are believed, even where the dialect is named.
    - `bare`: It is not the format's own: a brace, a fence, a tool's name.  A call after it is reported only once it is
      whole, and is revoked if visible text follows.
    - `word`: It is a tag that is a plain word.  Where tools are declared, a call after it must name one of them and
      have its required arguments.
    """

    text: str
    inclusive: bool = False
    position: Position = "anywhere"
    auto: Literal["armed", "declared", "start", "named"] = "armed"
    each_tool: bool = False
    declared: bool = False
    bare: bool = False
    word: bool = False


def markers(*texts: str, **more: Any) -> tuple[Opener, ...]:
    """Return openers that are alike but for their text; `more` as of `Opener`."""
    return tuple(Opener(text, **more) for text in texts)


class Dialect(msgspec.Struct, frozen=True, dict=True):
    """One way to write calls in text.

    `follows` is a pattern of what follows an opener.  It says yes, no, or "need more", so dialects can share an opener.

    - `in_thought`: What a whole call in an open thought is: thought ("text"); a call, if only other calls follow in
      the thought ("ends"); a call, after which the thought may go on ("resumes"). Where tools are declared, only their
      names are believed.  What is quoted in a thought is always thought. No recorded stream has a call in a thought
      between tags.  The rows follow the parsers of other projects, and say "text" where nothing is known.
    - `thoughts`: How this dialect marks reasoning, besides `think`: rows of the table by name, or its own.
    - `drops`: Markers that are structure (wrappers of the visible text, ends of a turn).  They are dropped where the
      dialect is named, and once it was found.
    - `opens_text`: Special tokens that open the visible text.  Before all text they are structure even with
      `dialects="auto"`, and `drops` are structure from then on.
    - `settles`: What the format itself writes after its bare calls: it is text, and the calls are not revoked.
    - `companions`: What is looked for wherever this dialect is.  It reads no calls, but may cast doubt on them.
    """

    name: str
    openers: tuple[Opener, ...]
    body: Body
    follows: str | None = None
    """None: what the grammar itself says (`body.follows`)."""
    models: str = ""
    example: str = ""
    in_thought: Literal["text", "ends", "resumes"] = "text"
    thoughts: tuple[str | Thought, ...] = ()
    drops: tuple[str, ...] = ()
    opens_text: tuple[str, ...] = ()
    settles: tuple[str, ...] = ()
    companions: tuple[Dialect, ...] = ()

    def may_be_followed_by(self, head: str) -> bool:
        """Whether a text that begins with `head` may match the probe."""
        may_follow = self._known_heads.get(head)
        if may_follow is None:
            if len(self._known_heads) > _MOST_HEADS:
                self._known_heads.clear()
            may_follow = self._known_heads[head] = self.probe.match(head, partial=True) is not None
        return may_follow

    @cached_property
    def _known_heads(self) -> dict[str, bool]:
        return {}

    @cached_property
    def probe(self) -> Pattern:
        """The pattern of what follows an opener."""
        return lazy_partial(get_follows(self.body) if self.follows is None else self.follows)


class Thought(msgspec.Struct, frozen=True):
    """One way to mark reasoning in text: a span from one of `opens` to one of `closes`.

    Where the prompt opened the thought, some models open it again, so one of `opens` or `echoes` at its beginning is
    dropped, once.  A closing marker that nothing opened is dropped before all text.

    - `token`: Its markers are special tokens that no other model has.  They count in the middle of a text, too; with
      `dialects="auto"` not behind a blank, for prose that mentions one has a blank before it.
    - `pieces`: Spans that follow each other are pieces of one thought.  Otherwise a line break joins them.
    """

    name: str
    opens: tuple[str, ...]
    closes: tuple[str, ...]
    models: str = ""
    echoes: tuple[str, ...] = ()
    token: bool = False
    pieces: bool = False


Dialects: TypeAlias = Iterable[DialectName | Dialect] | Literal["auto", "all", "reasoning"]
"""What to look for in the text.

Names of `DIALECTS`, or dialects of your own; `"reasoning"`: reasoning alone; `"all"`: every dialect whose marker is
unambiguous; `"auto"`: as `"all"` where servers leave calls in the text, as `"reasoning"` on wires whose servers parse
calls themselves.  In a list, `"auto"` or `"all"` adds the other dialects to those that are named.
"""

Quoted: TypeAlias = Literal["text", "calls"]
"""What a whole call of a declared tool is where the text only quotes it."""

Reasoning: TypeAlias = Literal["auto", "open", "closed"]
"""Whether the text starts inside a thought (`"open"`); `"closed"`: no reasoning is looked for."""


def check_reasoning(reasoning: str) -> None:
    """Raise ValueError for a word that `Reasoning` does not have."""
    _check("reasoning", reasoning, get_args(Reasoning))


def check_quoted(quoted: str) -> None:
    """Raise ValueError for a word that `Quoted` does not have."""
    _check("quoted", quoted, get_args(Quoted))


def _check(option: str, word: str, known: tuple[str, ...]) -> None:
    if word not in known:
        raise ValueError(f"unknown {option} {word!r}; {list_known(word, known)}")


def leave_out_calls(dialects: Dialects, *words: str) -> Dialects:
    """Return the dialects with each of the words, `"auto"` or `"all"`, replaced by `"reasoning"`."""
    if isinstance(dialects, str):
        return ("reasoning",) if dialects in words else dialects
    chosen = tuple(dialects)
    for word in words:
        if word in chosen:
            chosen = tuple("reasoning" if each == word else each for each in chosen)
    return chosen
