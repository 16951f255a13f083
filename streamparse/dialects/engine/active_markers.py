"""Which markers are looked for: a set of dialects, and where in the answer each of their openers counts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import lru_cache
from typing import Final, NamedTuple, get_args

from msgspec.structs import replace

from streamparse.dialects.engine.grammar import Dialect, Opener, Spot, Thought
from streamparse.dialects.engine.marker_index import IndexedMarkers, MarkerIndex, ToolNames, index_of
from streamparse.dialects.engine.options import Dialects
from streamparse.dialects.registry import find_dialect
from streamparse.dialects.table import DIALECTS, REASONING, THOUGHTS

__all__ = ["Armed", "Candidate"]

_SPOTS: Final[tuple[Spot, ...]] = get_args(Spot)
_TURN_ENDS: Final = ("<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<end_of_turn>", "</s>")
"""What servers leave behind a bare call, whatever the model: it is no text."""
_LONGEST_NAME: Final = 256  # characters; a tag is read as no longer one


class Candidate(NamedTuple):
    """A dialect that may read what follows a marker, and the opener by which it may.

    Of those that share a marker the first by `rank` is asked first.
    """

    rank: int
    dialect: Dialect
    opener: Opener
    is_named: bool
    """The dialect was named; else `"auto"` or `"all"` armed it."""
    is_beside: bool
    """It reads no calls, but looks for what casts doubt on them."""

    @property
    def declared(self) -> bool:
        """Whether only names of declared tools are believed."""
        return self.opener.declared or (not self.is_named and self.opener.auto in ("declared", "start"))

    @property
    def is_first(self) -> bool:
        """Whether it counts only before all other text."""
        return self.opener.placed == "start" or (not self.is_named and self.opener.auto == "start")


_Candidates = dict[str, list[Candidate]]


class _Place(NamedTuple):
    """Which openers count at a place: the markers that are always the same, and what stands before a tool's name."""

    fixed: MarkerIndex
    leads: tuple[str, ...]


class _Choice:
    """What a choice of dialects arms, whatever the tools are called."""

    def __init__(self, chosen: tuple[str | Dialect, ...], tools: bool, thoughts: bool) -> None:
        words = {each for each in chosen if isinstance(each, str)}
        named = _rows(each for each in chosen if each not in ("auto", "all"))
        names = {row.name for row in named}
        is_all = not words.isdisjoint(("auto", "all"))
        others = tuple(row for row in DIALECTS.values() if row.name not in names) if is_all else ()
        spans = _thoughts(named, is_all or "reasoning" in words) if thoughts else []
        of_named = _thoughts(named, False) if thoughts and named else []
        self.thoughts = {marker: thought for thought in reversed(spans) for marker in thought.opens}
        self.inside = frozenset(marker for thought in of_named if thought.inside for marker in thought.opens)
        tokens = frozenset(marker for thought in spans if thought.token for marker in thought.opens)
        self.tokens = tokens - self.inside
        self.strays = frozenset(marker for thought in spans if thought.opens for marker in thought.closes)
        self.any_thought = Thought(
            "any",
            opens=tuple(marker for thought in spans for marker in (*thought.opens, *thought.echoes)),
            closes=tuple(marker for thought in spans for marker in thought.closes),
        )
        wrapping = DIALECTS.values() if "reasoning" in words else others
        self.text_openers = {m: (m, *row.drops) for row in wrapping for m in row.opens_text}
        self.drops = frozenset(marker for row in named for marker in row.drops)
        self.openers: _Candidates = {}
        self.by_name: _Candidates = {}
        for each in _candidates(named, others, tools):
            found = self.by_name if each.opener.each_tool else self.openers
            found.setdefault(each.opener.text, []).append(each)
        self.all_drops = frozenset(
            marker for row in (*named, *others) for marker in (*row.drops, *row.settles, *_TURN_ENDS)
        )
        self._place()

    def _place(self) -> None:
        """Say which openers count where."""
        around = (*self.thoughts, *self.strays)
        self.at_start = self._counting(lambda _: True, (*around, *self.text_openers))
        self.later = self._counting(lambda row: not row.is_first, around)
        # Within text the search is for less: a marker that counts only at an edge would slow it down for nothing.
        inside = self.inside.union(self.tokens, (marker for marker in around if marker[0] == "<"))
        self.prose = self._counting(lambda row: not row.is_first, inside, lambda row: row.opener.placed != "edge")
        self.ending = self._counting(lambda row: not row.is_first, (), lambda row: row.dialect.in_thought != "text")
        # What may count later is looked for from the beginning, where that costs prose nothing: one pattern is enough.
        later = self.all_drops.union(*self.text_openers.values(), self.any_thought.closes)
        firsts = {marker[0] for marker in self.prose.fixed.literals}
        self.in_prose = self.prose.fixed.literals.union(marker for marker in later if marker[:1] in firsts)
        self.everywhere = self.in_prose | self.at_start.fixed.literals | later
        thought = later.union(self.any_thought.opens)
        self.in_thought = self.ending.fixed.literals.union(marker for marker in thought if marker[:1] == "<")

    def _counting(
        self,
        counts: Callable[[Candidate], bool],
        more: Iterable[str],
        also: Callable[[Candidate], bool] = lambda _: True,
    ) -> _Place:
        """The openers of which some row counts, and some row does `also`; and more markers."""
        chosen = [
            tuple(m for m, rows in openers.items() if any(map(counts, rows)) and any(map(also, rows)))
            for openers in (self.openers, self.by_name)
        ]
        return _Place(MarkerIndex((*chosen[0], *more)), chosen[1])


class Armed:
    """The openers of the chosen dialects, and the markers that are passed over.

    Named dialects count wherever their markers may stand.  With `"auto"` or `"all"` every dialect is armed, the
    ambiguous openers only for declared tools, and most of these only at the start of the message.
    """

    def __init__(self, choice: _Choice, tools: ToolNames) -> None:
        self._choice = choice
        self._tools = tools
        self.thoughts = choice.thoughts
        self.inside = choice.inside
        """Markers of thoughts that count in the middle of a text, too."""
        self.tokens = choice.tokens
        """Markers of thoughts, tokens of a model that nobody named: they count there, but for those behind a blank."""
        self.strays = choice.strays
        self.any_thought = choice.any_thought
        self._known: frozenset[str] = frozenset()  # the dialects that produced a call
        self.drops: frozenset[str] = frozenset()
        self.settles: frozenset[str] = frozenset()
        """What may follow the bare calls that were found, and lets them stand."""
        self._again: frozenset[str] = frozenset()  # the markers that count because their dialect produced a call
        self._again_by_name: tuple[str, ...] = ()
        self._look_for(choice.drops)

    @classmethod
    def of(cls, dialects: Dialects, tools: frozenset[str], thoughts: bool) -> Armed:
        """What these dialects arm for these tools."""
        chosen = (dialects,) if isinstance(dialects, str) else tuple(dialects)
        names = tuple(each for each in chosen if isinstance(each, str))
        if len(names) == len(chosen):
            choice = _choice_of(names, bool(tools), thoughts, len(DIALECTS))
        else:
            choice = _Choice(chosen, bool(tools), thoughts)
        return cls(choice, _tool_names(tools))

    def found(self, dialect: Dialect) -> None:
        """A dialect produced a call: its structure is structure from now on, and another call may come next to it."""
        if dialect.name not in self._known:
            self._known |= {dialect.name}
            self.settles = self.settles.union(dialect.settles)
            openers = [opener for opener in dialect.openers if opener.placed != "start"]
            self._again |= {o.text for o in openers if not o.each_tool and o.text in self._choice.openers}
            by_name = (o.text for o in openers if o.each_tool and o.text in self._choice.by_name)
            self._again_by_name = tuple({*self._again_by_name, *by_name})
            is_bare = any(opener.bare for opener in dialect.openers)
            self._look_for((*dialect.drops, *(_TURN_ENDS if is_bare else ())))

    def opens_text(self, marker: str) -> bool:
        """Whether a marker before all text opens the visible text: the structure of its dialect is structure then."""
        if marker not in self._choice.text_openers:
            return False
        self.expect(self._choice.text_openers[marker])
        return True

    def expect(self, drops: Collection[str]) -> None:
        """These markers are structure from now on."""
        if not self.drops.issuperset(drops):
            self._look_for(drops)

    def in_thought(self, thought: Thought, fresh: bool) -> IndexedMarkers:
        """The markers that count inside of an open thought; while it is `fresh`, its opening marker, too."""
        echoes = (*thought.opens, *thought.echoes) if fresh else ()
        own = index_of(self.drops.union(thought.closes, echoes))
        choice = self._choice
        return IndexedMarkers((choice.ending.fixed, own), choice.in_thought, choice.ending.leads, self._tools)

    def candidates_in_thought(self, marker: str) -> list[Candidate]:
        """The dialects that may read what follows a marker in an open thought."""
        found = self.candidates(marker, "anywhere")
        return [each for each in found if each.dialect.in_thought != "text" and not each.opener.bare]

    def candidates(self, marker: str, spot: Spot) -> list[Candidate]:
        """The dialects that may read what follows a marker there."""
        spots = _SPOTS[: _SPOTS.index(spot) + 1]
        return [
            each
            for each in self._sharing(marker)
            if each.opener.placed in spots
            if spot == "start" or not each.is_first or (spot == "edge" and self._repeats(each))
        ]

    def _sharing(self, marker: str) -> list[Candidate]:
        """The dialects that share a marker, in the order in which they are asked."""
        found = self._choice.openers.get(marker, [])
        for lead, named in self._choice.by_name.items():
            if marker.startswith(lead) and marker[len(lead) :] in self._tools.names:
                found = sorted([*found, *named], key=_rank)
        return found

    def _look_for(self, drops: Iterable[str]) -> None:
        self.drops = self.drops.union(drops)
        choice, own = self._choice, index_of(self.drops)
        self.at_start = self._markers(choice.at_start, own, choice.everywhere)
        again = index_of(self.drops | self.settles | self._again)
        self.later = self._markers(choice.later, again, choice.everywhere, self._again_by_name)
        self.prose = self._markers(choice.prose, own, choice.in_prose)

    def _markers(
        self, place: _Place, own: MarkerIndex, universe: frozenset[str], more: tuple[str, ...] = ()
    ) -> IndexedMarkers:
        leads = place.leads if not more else tuple({*place.leads, *more})
        return IndexedMarkers((place.fixed, own), universe, leads, self._tools)

    def _repeats(self, candidate: Candidate) -> bool:
        """Whether an opener counts next to a call, too, because its dialect produced one."""
        return candidate.dialect.name in self._known and candidate.opener.placed != "start"


def _rank(candidate: Candidate) -> int:
    return candidate.rank


@lru_cache(maxsize=64)
def _choice_of(chosen: tuple[str, ...], tools: bool, thoughts: bool, known: int) -> _Choice:  # noqa: ARG001 - dialects may be added
    return _Choice(chosen, tools, thoughts)


@lru_cache(maxsize=64)
def _tool_names(names: frozenset[str]) -> ToolNames:
    return ToolNames(frozenset(name for name in names if 0 < len(name) <= _LONGEST_NAME))


def _rows(dialects: Iterable[str | Dialect]) -> tuple[Dialect, ...]:
    """The dialects of these names, and those that are given themselves."""
    chosen = tuple(dialects)
    for each in chosen:
        if isinstance(each, str) and each not in DIALECTS and each != "reasoning" and not find_dialect(each):
            raise ValueError(f"unknown dialect {each!r}; known are: {', '.join(DIALECTS)}, auto, all, reasoning")
    named = {name: (row,) for name, row in DIALECTS.items()} | {"reasoning": REASONING}
    return tuple(row for each in chosen for row in (named[each] if isinstance(each, str) else (each,)))


def _thoughts(rows: tuple[Dialect, ...], all_of_them: bool) -> list[Thought]:
    """The ways to mark reasoning that the dialects have; `think` is everybody's."""
    if all_of_them:
        return list(THOUGHTS.values())
    named = dict.fromkeys(("think", *(thought for row in rows for thought in row.thoughts)))
    return [THOUGHTS[thought] if isinstance(thought, str) else thought for thought in named]


def _candidates(named: tuple[Dialect, ...], others: tuple[Dialect, ...], tools: bool) -> list[Candidate]:
    """The openers that are armed: the named dialects first, then the others, then what is looked for beside them."""
    beside = {id(each): (each, row in named) for row in (*named, *others) for each in row.beside}  # some share one
    rows = [(row, True, False) for row in named] + [(row, False, False) for row in others]
    armed = (
        (dialect, _placed(opener) if is_named else opener, is_named, is_beside)
        for dialect, is_named, is_beside in [*rows, *((row, is_named, True) for row, is_named in beside.values())]
        for opener in dialect.openers
        if is_named or opener.auto == "armed" or (tools and opener.auto != "named")
    )
    return [Candidate(rank, *each) for rank, each in enumerate(armed)]


def _placed(opener: Opener) -> Opener:
    """Where an opener counts if its dialect is named: JSON may have text before it, on lines of its own."""
    return replace(opener, placed="line") if opener.text in ("{", "[") and opener.placed == "start" else opener
