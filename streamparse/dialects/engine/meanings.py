"""What a marker means: one table, and the function that looks it up.

A marker may be of several kinds, and the text before it is in one state.  The first kind, in the order of the table,
that means something in this state decides; a marker that means nothing is text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Literal, TypeAlias

Kind: TypeAlias = Literal[
    "turn", "text opener", "settles", "end of this thought", "echo", "thought", "thought inside", "thought token",
    "end of a thought", "own end", "call", "structure", "ending", "end of a turn",
]  # fmt: skip
State: TypeAlias = Literal[
    "start", "after a call", "after a bare call", "at a line", "after a blank", "after a token", "in text",
    "after a quoted call", "in a draft", "quoted",
    "in a thought", "after a call in a thought", "quoted in a thought", "invented",
]  # fmt: skip
Meaning: TypeAlias = Literal[
    "text", "dropped", "ending", "thought", "thought ends", "calls were drafts", "attempt", "quoted attempt",
    "settled", "another turn", "text begins", "opened before",
    # These change the state, and the marker is looked up again without its first kind.
    "draft begins", "draft ends", "invented from here",
]  # fmt: skip

KINDS: Final[dict[Kind, str]] = {
    "turn": "begins the turn of a user, a tool or a system, and a call stands before it",
    "text opener": "opens the visible text in a format with special tokens",
    "settles": "is what the format writes after its bare calls (`Observation:`)",
    "end of this thought": "closes the thought that is open",
    "echo": "opens a thought of the kind that is open, in which nothing was said yet",
    "thought": "opens a thought",
    "thought inside": "the same, and a dialect that was named says that it counts in the middle of a text",
    "thought token": "the same of a dialect that was not named: prose that mentions it writes a blank before it",
    "end of a thought": "closes thoughts",
    "own end": "ends the turns of one family of models",
    "call": "a dialect may read a call here, or doubts the calls before",
    "structure": "is structure of a dialect that was named or found",
    "ending": "ends calls or turns, whatever the dialect",
    "end of a turn": "ends turns, whatever the dialect",
}
STATES: Final[dict[State, str]] = {
    "start": "only blanks, thoughts and structure so far",
    "after a call": "only blanks since a call",
    "after a bare call": "only blanks since a call that visible text revokes",
    "at a line": "in text, at the start of a line",
    "after a blank": "in text, a blank before it",
    "after a token": "in text, a special token or a dropped marker right before it",
    "in text": "in text, something else before it",
    "after a quoted call": "only blanks since a call that was quoted",
    "in a draft": "behind an opener of thoughts that is text",
    "quoted": "in a fence, a code span, a string, … (`quotes.py`)",
    "in a thought": "in a thought",
    "after a call in a thought": "only blanks since a call in a thought",
    "quoted in a thought": "quoted in a thought",
    "invented": "in a thought, behind a call and the turn of somebody else",
}

TOKENS: Final[frozenset[Kind]] = frozenset({"turn", "thought inside", "thought token", "own end"})
"""The kinds that are special tokens, however they are written."""

CHANGES: Final[frozenset[Meaning]] = frozenset({"draft begins", "draft ends", "invented from here"})

_EDGES: Final[tuple[State, ...]] = ("start", "after a call", "after a bare call")
_OPEN: Final[tuple[State, ...]] = ("at a line", "after a blank", "after a token", "in text")
_UNTRUSTED: Final[tuple[State, ...]] = ("after a quoted call", "in a draft", "quoted")
_THOUGHT: Final[tuple[State, ...]] = ("in a thought", "after a call in a thought")
_ANY_THOUGHT: Final[tuple[State, ...]] = (*_THOUGHT, "quoted in a thought", "invented")


def _at(meaning: Meaning, *states: State) -> dict[State, Meaning]:
    return dict.fromkeys(states, meaning)


MEANINGS: Final[dict[Kind, dict[State, Meaning]]] = {
    "turn": _at("another turn", "after a call", "after a bare call", "at a line", "after a token")
    | _at("invented from here", "after a call in a thought"),
    "text opener": _at("text begins", "start"),
    "settles": _at("settled", "after a bare call"),
    "end of this thought": _at("thought ends", *_ANY_THOUGHT),
    "echo": _at("opened before", *_ANY_THOUGHT),
    "thought": _at("thought", *_EDGES) | _at("draft begins", "at a line", "after a quoted call"),
    "thought inside": _at("thought", *_EDGES, *_OPEN, "after a quoted call", "in a draft"),
    "thought token": _at("thought", *_EDGES, "at a line", "after a token", "in text")
    | _at("thought", "after a quoted call", "in a draft"),
    "end of a thought": _at("calls were drafts", *_EDGES) | _at("draft ends", "in a draft"),
    "own end": _at("dropped", "after a token", "in text", "after a quoted call"),
    "call": _at("attempt", *_EDGES, *_OPEN, *_THOUGHT) | _at("quoted attempt", *_UNTRUSTED),
    "structure": _at("dropped", *_EDGES, *_OPEN, *_THOUGHT, "invented"),
    "ending": _at("ending", "after a call"),
    "end of a turn": _at("ending", "after a call", "after a bare call"),
}


@lru_cache(maxsize=4096)
def find_meaning(kinds: tuple[Kind, ...], state: State) -> Meaning:
    """Return what a marker of these kinds, in the order of the table, means in this state."""
    for kind in kinds:
        if (meaning := MEANINGS[kind].get(state)) is not None:
            return meaning
    return "text"
