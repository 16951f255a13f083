"""The markers that one answer is searched for, and what each of them is.

They change with what was found in the answer: structure of a dialect counts once the dialect has produced a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Final, NamedTuple, get_args

from streamparse.dialects.engine.catalogue import TURN_ENDS, Candidate, Catalogue, Selection
from streamparse.dialects.engine.grammar import Dialect, Dialects, Position, Quoted, Thought, leave_out_calls
from streamparse.dialects.engine.markers import IndexedMarkers, ToolNames, get_index, unite
from streamparse.dialects.engine.meanings import KINDS, TOKENS, Kind
from streamparse.patterns import lazy_re

_POSITIONS: Final[tuple[Position, ...]] = get_args(Position)
_TOKEN_SIGN = lazy_re(r"[|｜]|\[TOOL_CALLS\]")
_LONGEST_NAME: Final = 256  # bound: characters; no grammar reads a tag with a longer name
_NONE: Final[frozenset[str]] = frozenset()  # each one that is made costs 216 bytes
NO_MARKERS: Final = IndexedMarkers((), _NONE, (), ToolNames(_NONE))
"""What is looked for where nothing is a marker."""


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

    at_start: IndexedMarkers
    later: IndexedMarkers
    prose: IndexedMarkers

    def __init__(
        self, catalogue: Catalogue, dialects: Dialects, tools: frozenset[str], reasoning: bool, quoted: Quoted = "text"
    ) -> None:
        """`tools`: the names of the declared ones; otherwise as of `Catalogue.select`."""
        # What is looked for, or will be after `renew`.
        self.dialects: Dialects = dialects if isinstance(dialects, str) else tuple(dialects)
        self.is_outdated: bool = False
        self._catalogue = catalogue
        self._tools = _index_names(tools)
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
        self.has_start: bool = "" in self._selection.openers
        before = self._progress
        drops = self._selection.drops  # a set that is made anew for each parser takes 216 bytes
        self._note(_Progress(before.drops | drops if before.drops else drops, before.other_turns))

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
            before.drops.union(dialect.drops, TURN_ENDS if is_bare else ()),
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
                found = sorted([*found, *named], key=attrgetter("rank"))
        return found

    def _is_own(self, marker: str) -> bool:
        return marker in self._progress.drops or marker in self._selection.thoughts or bool(self._list_sharing(marker))

    def _is_repeated(self, candidate: Candidate) -> bool:
        return candidate.dialect.name in self._progress.found and candidate.opener.position != "start"


@lru_cache(maxsize=64)
def _index_names(names: frozenset[str]) -> ToolNames:
    sizes = {*map(len, names)}
    if max(sizes, default=0) > _LONGEST_NAME or 0 in sizes:
        names = frozenset(name for name in names if 0 < len(name) <= _LONGEST_NAME)
    return ToolNames(names)


@lru_cache(maxsize=64)
def _build(selection: Selection, tools: ToolNames, progress: _Progress) -> _Sets:
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
