"""All dialects, and what a choice of them looks for, whatever the tools of a request are called.

    Catalogue ──a choice of dialects──▶ Selection ──the names of the tools, what was found so far──▶ ActiveMarkers

A `Catalogue` holds all dialects.  A `Selection` is what some of them look for: it is made once and kept.
`ActiveMarkers` belongs to one answer, for it changes with what is found there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from streamparse.dialects.engine.grammar import (
    Dialect,
    Dialects,
    Opener,
    Quoted,
    Thought,
    leave_out_calls,
)
from streamparse.dialects.engine.markers import MarkerIndex
from streamparse.unknown_names import list_known

# What servers leave after a bare call, whatever the model: it is not text.
TURN_ENDS: Final = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "</s>")
_FENCES: Final = ("```", "~~~")


class Candidate(NamedTuple):
    """A dialect that may read what follows a marker, and the opener that allows it.

    Of those that share a marker the first by `rank` is asked first.
    """

    rank: int
    dialect: Dialect
    opener: Opener
    # The dialect was named, not looked for because of `"auto"` or `"all"`.
    is_named: bool
    # It reads no calls, but looks for what casts doubt on them.
    is_companion: bool
    # Only names of declared tools are believed.
    only_declared: bool
    # It counts only before all other text.
    only_at_start: bool


_Candidates: TypeAlias = dict[str, list[Candidate]]
_Counts: TypeAlias = Callable[[Candidate], bool]
_Chosen: TypeAlias = tuple[str | Dialect, ...]
_NONE: Final[frozenset[str]] = frozenset()  # each one that is made costs 216 bytes


class Catalogue:
    """All dialects that can be chosen.

    `dialects` by name, in the order in which they are asked; `thoughts`, the ways to mark reasoning, by name;
    `reasoning`: the dialects that `"reasoning"` means; `endings`: what ends calls and turns, whatever the dialect,
    and `turn_ends`: what ends turns; `other_turns`: what begins the turn of somebody else; `load(name)` adds a dialect
    that is not there yet, and returns False if no distribution offers it; `make_fence(self, chosen, openers)` returns
    what reads calls with markers of their own in a fence that is all of an answer; `own_ends`: what ends the turns of
    one family of models alone.
    """

    def __init__(
        self,
        dialects: dict[str, Dialect],
        thoughts: Mapping[str, Thought],
        reasoning: tuple[Dialect, ...],
        endings: frozenset[str],
        turn_ends: frozenset[str],
        other_turns: frozenset[str],
        load: Callable[[str], bool],
        make_fence: Callable[[Catalogue, _Chosen, Iterable[str]], Dialect] | None = None,
        own_ends: frozenset[str] = frozenset(),
    ) -> None:
        self.dialects = dialects
        self.thoughts = thoughts
        self.reasoning = reasoning
        self.endings = endings
        self.turn_ends = turn_ends
        self.other_turns = other_turns
        self.make_fence = make_fence
        self.own_ends = own_ends
        self._load = load
        self._known: tuple[str, ...] = ()
        self._select: Callable[..., Selection]  # from the dialects that are known

    def select(self, dialects: Dialects, tools: bool, reasoning: bool, quoted: Quoted) -> Selection:
        """Return what these dialects look for, whatever the tools are called.

        `tools`: whether any are declared; `reasoning`: whether reasoning is looked for; `quoted`: with "calls" no fence
        is read as a whole, for each call in it is one by itself.  Raises ValueError for a name that is not known.
        """
        chosen = (dialects,) if isinstance(dialects, str) else tuple(dialects)
        if dialects.__class__ is not str and not all(isinstance(each, str) for each in chosen):
            return Selection(self, chosen, tools, reasoning, quoted)
        known = tuple(self.dialects)
        if known != self._known:  # to compare them takes less time than to look them up
            self._select, self._known = lru_cache(maxsize=64)(self._select_named), known
        return self._select(chosen, tools, reasoning, quoted)

    def _select_named(self, chosen: tuple[str, ...], tools: bool, reasoning: bool, quoted: Quoted) -> Selection:
        return Selection(self, chosen, tools, reasoning, quoted)

    def get_rows(self, dialects: Iterable[str | Dialect]) -> tuple[Dialect, ...]:
        """Return the dialects of these names, and those that are given themselves."""
        chosen = tuple(dialects)
        words = [each for each in chosen if isinstance(each, str) and each != "reasoning"]
        for word in words:
            if word not in self.dialects and not self._load(word):
                known = (*self.dialects, "auto", "all", "reasoning")
                raise ValueError(f"unknown dialect {word!r}; {list_known(word, known)}")
        named = {name: (row,) for name, row in self.dialects.items()} | {"reasoning": self.reasoning}
        return tuple(row for each in chosen for row in (named[each] if isinstance(each, str) else (each,)))

    def get_thoughts(self, rows: Iterable[Dialect]) -> list[Thought]:
        """Return the ways in which these dialects mark reasoning; every model may use `think`."""
        named = dict.fromkeys(("think", *(thought for row in rows for thought in row.thoughts)))
        return [self.thoughts[thought] if isinstance(thought, str) else thought for thought in named]


class _Place(NamedTuple):
    """Which openers count at a place in the answer."""

    # Those that are always the same.
    fixed: MarkerIndex
    # What comes before a tool's name.
    leads: tuple[str, ...]


class Selection:
    """What a choice of dialects looks for, whatever the tools are called."""

    thoughts: dict[str, Thought]
    any_thought: Thought
    text_openers: dict[str, tuple[str, ...]]
    inside: frozenset[str]
    tokens: frozenset[str]
    closers: frozenset[str]
    drops: frozenset[str]
    endings: frozenset[str]
    turn_ends: frozenset[str]
    other_turns: frozenset[str]
    own_ends: frozenset[str]
    at_start: _Place
    later: _Place
    prose: _Place
    ending: _Place
    in_prose: frozenset[str]
    everywhere: frozenset[str]
    in_thought: frozenset[str]

    def __init__(
        self, catalogue: Catalogue, chosen: _Chosen, tools: bool, reasoning: bool, quoted: Quoted
    ) -> None:  # fmt: skip
        words = {each for each in chosen if isinstance(each, str)}
        named = catalogue.get_rows(each for each in chosen if each not in ("auto", "all"))
        names = {row.name for row in named}
        has_all = not words.isdisjoint(("auto", "all"))
        others = tuple(row for row in catalogue.dialects.values() if row.name not in names) if has_all else ()
        of_named = catalogue.get_thoughts(named) if reasoning and named else []
        knows_all = reasoning and (has_all or "reasoning" in words)
        spans = list(catalogue.thoughts.values()) if knows_all else of_named
        self.thoughts = {marker: thought for thought in reversed(spans) for marker in thought.opens}
        self.inside = frozenset(marker for thought in of_named if thought.token for marker in thought.opens)
        tokens = frozenset(marker for thought in spans if thought.token for marker in thought.opens)
        self.tokens = tokens - self.inside
        self.closers = frozenset(marker for thought in spans if thought.opens for marker in thought.closes)
        self.any_thought = Thought(
            "any",
            opens=tuple(marker for thought in spans for marker in (*thought.opens, *thought.echoes)),
            closes=tuple(marker for thought in spans for marker in thought.closes),
        )
        wrapping = catalogue.dialects.values() if "reasoning" in words else others
        self.text_openers = {marker: (marker, *row.drops) for row in wrapping for marker in row.opens_text}
        self.drops = frozenset(marker for row in named for marker in row.drops)
        self.endings, self.turn_ends = catalogue.endings, catalogue.turn_ends
        self.other_turns = catalogue.other_turns
        self.own_ends = catalogue.own_ends if knows_all else _NONE
        self.openers: _Candidates = {}
        self.by_name: _Candidates = {}
        candidates = _list_candidates(named, others, tools)
        if quoted == "text":
            candidates += _list_fences(catalogue, chosen, tools, candidates)
        for each in candidates:
            group = self.by_name if each.opener.each_tool else self.openers
            group.setdefault(each.opener.text, []).append(each)
        self._choose_places((*named, *others))

    def _choose_places(self, rows: Iterable[Dialect]) -> None:
        """Choose which openers count where."""
        around = (*self.thoughts, *self.closers, *self.own_ends)
        self.at_start = self._make_place((*around, *self.text_openers))
        self.later = self._make_place(around, _may_come_later)
        # In text the search is for fewer markers: one that counts only at an edge would slow it down for nothing.
        inside = self.inside.union(self.tokens, self.own_ends, (marker for marker in around if marker[0] == "<"))
        self.prose = self._make_place(inside, _may_come_later, lambda row: row.opener.position != "edge")
        self.ending = self._make_place((), _may_come_later, lambda row: row.dialect.in_thought != "text")
        # What may count later is looked for from the start where that costs prose nothing: then one pattern is enough.
        universe = frozenset((*self.any_thought.closes, *TURN_ENDS)).union(
            *self.text_openers.values(), *((*row.drops, *row.settles) for row in rows)
        )
        firsts = {marker[0] for marker in self.prose.fixed.literals}
        self.in_prose = self.prose.fixed.literals | {marker for marker in universe if marker[:1] in firsts}
        self.everywhere = self.in_prose | self.at_start.fixed.literals | universe | self.endings
        thought = universe.union(self.any_thought.opens)
        self.in_thought = self.ending.fixed.literals | {marker for marker in thought if marker[:1] == "<"}

    def _make_place(self, more: Iterable[str], *conditions: _Counts) -> _Place:
        """The openers of which each condition holds for some row, and more markers."""
        fixed, by_name = self.openers, self.by_name
        for holds in conditions:
            fixed = {marker: rows for marker, rows in fixed.items() if any(map(holds, rows))}
            by_name = {lead: rows for lead, rows in by_name.items() if any(map(holds, rows))}
        return _Place(MarkerIndex((*fixed, *more)), tuple(by_name))


def _may_come_later(candidate: Candidate) -> bool:
    return not candidate.only_at_start


def _list_candidates(named: tuple[Dialect, ...], others: tuple[Dialect, ...], tools: bool) -> list[Candidate]:
    """The openers to look for: the named dialects first, then the others, then the companions of both."""
    # Some dialects share a companion: it is taken once.
    companions = {id(each): (each, row in named) for row in (*named, *others) for each in row.companions}
    rows = [(row, True, False) for row in named] + [(row, False, False) for row in others]
    rows += [(row, is_named, True) for row, is_named in companions.values()]
    found: list[Candidate] = []
    for dialect, is_named, is_companion in rows:
        for each in dialect.openers:
            if not (is_named or each.auto == "armed" or (tools and each.auto != "named")):
                continue
            opener, condition = (_allow_on_lines(each), "") if is_named else (each, each.auto)
            only_declared = opener.declared or condition in ("declared", "start")
            only_at_start = opener.position == "start" or condition == "start"
            found.append(Candidate(len(found), dialect, opener, is_named, is_companion, only_declared, only_at_start))
    return found


def _list_fences(
    catalogue: Catalogue, chosen: _Chosen, tools: bool, candidates: list[Candidate]
) -> list[Candidate]:  # fmt: skip
    """The fences that may be all of an answer: the last to be asked, if any of the others has a marker of its own."""
    ours = [each for each in candidates if not each.is_companion and each.dialect not in catalogue.reasoning]
    marked = [each for each in ours if not each.opener.bare and (each.is_named or tools)]
    if catalogue.make_fence is None or not marked:
        return []
    is_named = any(each.is_named for each in marked)
    openers = {*_FENCES, *(each.opener.text for each in ours if each.opener.text.startswith(_FENCES))}
    believed = chosen if tools else leave_out_calls(chosen, "auto", "all")
    fence = catalogue.make_fence(catalogue, tuple(believed), openers)
    return [
        Candidate(len(candidates) + number, fence, opener, is_named, False, not is_named, True)
        for number, opener in enumerate(fence.openers)
    ]


def _allow_on_lines(opener: Opener) -> Opener:
    """If its dialect is named, JSON may have text before it, on lines of its own."""
    return replace(opener, position="line") if opener.text in ("{", "[") and opener.position == "start" else opener
