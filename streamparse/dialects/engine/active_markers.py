"""Which markers are looked for: those of the chosen dialects, and where in the answer each of their openers counts.

    Catalogue ──a choice of dialects──▶ _Selection ──the names of the tools, what was found so far──▶ ActiveMarkers

A `Catalogue` holds all dialects.  A `_Selection` is what some of them look for, whatever the tools are called: it is
made once and kept.  `ActiveMarkers` belongs to one answer, for it changes with what is found there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias, get_args

from msgspec.structs import replace

from streamparse.dialects.engine.grammar import (
    Dialect,
    Dialects,
    Opener,
    Position,
    Quoted,
    Thought,
    leave_out_calls,
)
from streamparse.dialects.engine.markers import IndexedMarkers, MarkerIndex, ToolNames, get_index, unite
from streamparse.dialects.engine.meanings import KINDS, TOKENS, Kind
from streamparse.patterns import lazy_re
from streamparse.unknown_names import list_known

_POSITIONS: Final[tuple[Position, ...]] = get_args(Position)
# What servers leave after a bare call, whatever the model: it is not text.
_TURN_ENDS: Final = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "</s>")
_FENCES: Final = ("```", "~~~")
_TOKEN_SIGN = lazy_re(r"[|｜]|\[TOOL_CALLS\]")
_LONGEST_NAME: Final = 256  # characters; no grammar reads a tag with a longer name


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
NO_MARKERS: Final = IndexedMarkers((), _NONE, (), ToolNames(_NONE))
"""What is looked for where nothing is a marker."""


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
        self._select: Callable[..., _Selection]  # from the dialects that are known

    def activate(
        self, dialects: Dialects, tools: frozenset[str], reasoning: bool, quoted: Quoted = "text"
    ) -> ActiveMarkers:
        """Return the markers that these dialects look for.

        `tools`: the names of the declared tools; `reasoning`: whether reasoning is looked for; `quoted`: with "calls"
        no fence is read as a whole, for each call in it is one by itself.  Raises ValueError for a name that is not
        known.
        """
        return ActiveMarkers(self, dialects, _index_names(tools), reasoning, quoted)

    def select(self, dialects: Dialects, tools: bool, reasoning: bool, quoted: Quoted) -> _Selection:
        """Return what these dialects look for, whatever the tools are called."""
        chosen = (dialects,) if isinstance(dialects, str) else tuple(dialects)
        if dialects.__class__ is not str and not all(isinstance(each, str) for each in chosen):
            return _Selection(self, chosen, tools, reasoning, quoted)
        known = tuple(self.dialects)
        if known != self._known:  # to compare them takes less time than to look them up
            self._select, self._known = lru_cache(maxsize=64)(self._select_named), known
        return self._select(chosen, tools, reasoning, quoted)

    def _select_named(self, chosen: tuple[str, ...], tools: bool, reasoning: bool, quoted: Quoted) -> _Selection:
        return _Selection(self, chosen, tools, reasoning, quoted)

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


class _Selection:
    """What a choice of dialects looks for, whatever the tools are called."""

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
        universe = frozenset((*self.any_thought.closes, *_TURN_ENDS)).union(
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


class KnownMarker(NamedTuple):
    """What a marker is, wherever it is."""

    # The marker, or the beginning of it that a dialect reads itself.
    text: str
    # In the order of the table of `meanings.py`.
    kinds: tuple[Kind, ...]
    # It is a special token, which is never code.
    is_token: bool


class _Progress(NamedTuple):
    """What was found in an answer so far, as far as it changes what is looked for."""

    # Markers that are structure, and dropped.
    drops: frozenset[str] = _NONE
    # What begins the turn of somebody else, once a call was found.
    other_turns: frozenset[str] = _NONE
    # What may follow the bare calls that were found, so that they are not revoked.
    settles: frozenset[str] = _NONE
    # The dialects that produced a call, by name.
    found: frozenset[str] = _NONE
    # Markers that count next to a call of their dialect, and what comes before a tool's name in others.
    repeated: frozenset[str] = _NONE
    repeated_leads: frozenset[str] = _NONE


class _Sets(NamedTuple):
    """What is looked for at the start, after a call and in text, and what was looked up of it.

    Answers with the same tools share it while the same was found in them.
    """

    at_start: IndexedMarkers
    later: IndexedMarkers
    prose: IndexedMarkers
    known: dict[str, KnownMarker]
    listed: dict[tuple[str, Position], list[Candidate]]
    in_thought: dict[tuple[Thought, bool], IndexedMarkers]


class ActiveMarkers:
    """The markers that one answer is searched for.

    Named dialects count wherever their markers may be.  With `"auto"` or `"all"` every dialect is looked for, with
    ambiguous openers only for declared tools, and most of these only at the start of the message.
    """

    def __init__(
        self, catalogue: Catalogue, dialects: Dialects, tools: ToolNames, reasoning: bool, quoted: Quoted
    ) -> None:
        # What is looked for, or will be after `renew`.
        self.dialects: Dialects = dialects if isinstance(dialects, str) else tuple(dialects)
        self.is_outdated = False
        self._catalogue = catalogue
        self._tools = tools
        self._reasoning = reasoning
        self._quoted: Quoted = quoted
        self._progress = _Progress()
        self.renew()

    def leave_out(self, *words: str) -> bool:
        """From `renew` on these words of `dialects` mean reasoning alone; return whether it has any of them."""
        dialects = leave_out_calls(self.dialects, *words)
        is_change = dialects != self.dialects
        self.dialects = dialects
        self.is_outdated = self.is_outdated or is_change
        return is_change

    def look_for_reasoning(self) -> None:
        """From here on look for no calls."""
        self.dialects = ("reasoning",)
        self.renew()

    def renew(self) -> None:
        """Look for what `dialects` means now.  Structure that was found stays structure."""
        self.is_outdated = False
        self._selection = self._catalogue.select(
            self.dialects, bool(self._tools.literals), self._reasoning, self._quoted
        )  # fmt: skip
        # Whether a dialect reads from the very first character on.
        self.has_start = "" in self._selection.openers
        before = self._progress
        self._note(_Progress(before.drops | self._selection.drops, before.other_turns))

    def _note(self, progress: _Progress) -> None:
        self._progress = progress
        self._sets = _build(self._selection, self._tools, progress)
        self.at_start, self.later, self.prose = self._sets[:3]

    @property
    def thoughts(self) -> Mapping[str, Thought]:
        """What opens a thought, by marker."""
        return self._selection.thoughts

    @property
    def any_thought(self) -> Thought:
        """A thought that any of the markers closes."""
        return self._selection.any_thought

    def note_found(self, dialect: Dialect) -> None:
        """A dialect produced a call.

        Its structure is structure from here on, and its openers count next to a call.
        """
        before, chosen = self._progress, self._selection
        if dialect.name in before.found:
            return
        repeated: set[str] = set()
        leads: set[str] = set()
        is_bare = False
        for opener in dialect.openers:
            is_bare = is_bare or opener.bare
            if opener.position != "start":
                (leads if opener.each_tool else repeated).add(opener.text)
        progress = _Progress(
            before.drops.union(dialect.drops, _TURN_ENDS if is_bare else ()),
            chosen.other_turns,
            before.settles.union(dialect.settles),
            before.found | {dialect.name},
            before.repeated | (repeated & chosen.openers.keys()),
            before.repeated_leads | (leads & chosen.by_name.keys()),
        )
        self._note(progress)

    def begin_text(self, marker: str) -> None:
        """A marker before all text opens it: what is structure of its dialect is structure from here on."""
        drops = self._progress.drops.union(self._selection.text_openers[marker])
        self._note(self._progress._replace(drops=drops))

    def find_kinds(self, marker: str) -> KnownMarker:
        """Return what a marker is."""
        known = self._sets.known.get(marker)
        if known is None:
            known = self._sets.known[marker] = self._find_kinds(marker)
        return known

    def _find_kinds(self, marker: str) -> KnownMarker:
        chosen, progress = self._selection, self._progress
        is_turn = False
        if marker in progress.other_turns:
            parts = (marker[:size] for size in range(len(marker), 1, -1))
            own = next(filter(self._is_own, parts), "")
            is_turn = not own
            marker = own or marker
        counts_inside, is_token = marker in chosen.inside, marker in chosen.tokens
        holds: dict[Kind, bool] = {
            "turn": is_turn,
            "text opener": not progress.drops.issuperset(chosen.text_openers.get(marker, ())),
            "settles": marker in progress.settles,
            "thought": marker in chosen.thoughts and not (counts_inside or is_token),
            "thought inside": marker in chosen.thoughts and counts_inside,
            "thought token": is_token,
            "end of a thought": marker in chosen.closers,
            "own end": marker in chosen.own_ends,
            "call": bool(self._list_sharing(marker)),
            "structure": marker in progress.drops,
            "ending": marker in chosen.endings,
            "end of a turn": marker in chosen.turn_ends,
        }
        kinds = tuple(kind for kind in KINDS if holds.get(kind))
        always = not TOKENS.isdisjoint(kinds)
        return KnownMarker(marker, kinds, always or _TOKEN_SIGN.search(marker) is not None)

    def get_markers_in_thought(self, thought: Thought, is_fresh: bool) -> IndexedMarkers:
        """Return the markers that count in an open thought; while nothing was said in it, its own openers, too."""
        built, progress = self._sets.in_thought, self._progress
        markers = built.get((thought, is_fresh))
        if markers is None:
            echoes = (*thought.opens, *thought.echoes) if is_fresh else ()
            own = get_index(progress.drops.union(progress.other_turns, thought.closes, echoes))
            fixed, leads = self._selection.ending
            markers = IndexedMarkers((fixed, own), self._selection.in_thought, leads, self._tools)
            built[thought, is_fresh] = markers
        return markers

    def list_candidates_in_thought(self, marker: str) -> list[Candidate]:
        """Return the dialects that may read what follows a marker in an open thought."""
        found = self.list_candidates(marker, "anywhere")
        return [each for each in found if each.dialect.in_thought != "text" and not each.opener.bare]

    def list_candidates(self, marker: str, position: Position) -> list[Candidate]:
        """Return the dialects that may read what follows a marker there, in the order in which they are asked."""
        listed = self._sets.listed.get((marker, position))
        if listed is None:
            listed = self._sets.listed[marker, position] = self._list_candidates(marker, position)
        return listed

    def _list_candidates(self, marker: str, position: Position) -> list[Candidate]:
        positions = _POSITIONS[: _POSITIONS.index(position) + 1]
        return [
            each
            for each in self._list_sharing(marker)
            # The opener counts in this position, ...
            if each.opener.position in positions
            # ... and, if it counts only before all text, this is there, or next to a call of the same dialect.
            if position == "start" or not each.only_at_start or (position == "edge" and self._is_repeated(each))
        ]

    def _list_sharing(self, marker: str) -> list[Candidate]:
        found = self._selection.openers.get(marker, [])
        for lead, named in self._selection.by_name.items():
            if marker.startswith(lead) and marker[len(lead) :] in self._tools.literals:
                found = sorted([*found, *named], key=_get_rank)
        return found

    def _is_own(self, marker: str) -> bool:
        return marker in self._progress.drops or marker in self._selection.thoughts or bool(self._list_sharing(marker))

    def _is_repeated(self, candidate: Candidate) -> bool:
        return candidate.dialect.name in self._progress.found and candidate.opener.position != "start"


@lru_cache(maxsize=64)
def _build(selection: _Selection, tools: ToolNames, progress: _Progress) -> _Sets:
    at_start, later, prose = selection.at_start, selection.later, selection.prose
    own = unite(progress.drops, progress.other_turns)
    after_call = own
    if progress.other_turns or progress.found:
        after_call = own.union(selection.endings, progress.settles, progress.repeated)
    leads = tuple({*later.leads, *progress.repeated_leads})
    return _Sets(
        IndexedMarkers((at_start.fixed, get_index(own)), selection.everywhere, at_start.leads, tools),
        IndexedMarkers((later.fixed, get_index(after_call)), selection.everywhere, leads, tools),
        IndexedMarkers((prose.fixed, get_index(own)), selection.in_prose, prose.leads, tools),
        {}, {}, {},
    )  # fmt: skip


def _get_rank(candidate: Candidate) -> int:
    return candidate.rank


def _may_come_later(candidate: Candidate) -> bool:
    return not candidate.only_at_start


@lru_cache(maxsize=64)
def _index_names(names: frozenset[str]) -> ToolNames:
    sizes = {*map(len, names)}
    if max(sizes, default=0) > _LONGEST_NAME or 0 in sizes:
        names = frozenset(name for name in names if 0 < len(name) <= _LONGEST_NAME)
    return ToolNames(names)


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
