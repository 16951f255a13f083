"""Markers that are looked up are those that are found where all of them are compared at every place."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamparse.dialects import CATALOGUE, DIALECTS
from streamparse.dialects.engine.active_markers import ActiveMarkers
from streamparse.dialects.engine.markers import IndexedMarkers, MarkerIndex, Markers, MarkerSet, Tags, ToolNames

BUILT_IN = ActiveMarkers(CATALOGUE, "auto", frozenset({"a"}), reasoning=True).at_start.literals
ENDS = [text[-size:] for text in BUILT_IN for size in (1, 3)]
LITERALS = st.one_of(st.sampled_from(sorted(BUILT_IN)), st.text("<a/|b ｜{", min_size=1, max_size=5))
NAMES = st.one_of(
    st.sampled_from(["bash", "get_weather", "read_file", "function", "tool_call", "f", "<", "a b", "查询", "Öl", "\n"]),
    st.text("<a/|b_｜T", min_size=1, max_size=5),
)
LEADS = st.sampled_from(["", "<", "</", "functions.", "f", "[", "｜"])


@dataclass(frozen=True)
class Found:
    """A part of a text."""

    string: str
    begins: int
    ends: int

    def __getitem__(self, group: Any) -> Any:
        assert group == 0
        return self.string[self.begins : self.ends]

    def start(self) -> int:
        return self.begins

    def end(self) -> int:
        return self.ends


class Compared:
    """All markers, each compared at every place: what stands at the end and is the beginning of one goes first."""

    def __init__(self, literals: Iterable[str]) -> None:
        self.literals = frozenset(literals)
        self.beginnings = frozenset(marker[:size] for marker in self.literals for size in range(1, len(marker)))
        self.sizes = sorted({len(marker) for marker in self.literals}, reverse=True)

    def search(self, text: str, pos: int = 0, /) -> Found | None:
        for at in range(pos, len(text)):
            if text[at:] in self.beginnings:
                return Found(text, at, len(text))
            for size in self.sizes:
                if (part := text[at : at + size]) in self.literals:
                    return Found(text, at, at + len(part))
        return None

    def is_complete(self, found: Found, final: bool, /) -> bool:
        at_end = not final and found.end() == len(found.string) and found[0] in self.beginnings
        return not at_end and found[0] in self.literals


def _found(markers: MarkerSet, text: str) -> list[tuple[int, int, str, bool, bool]]:
    """All that is found in a text, one after the other and one within the other."""
    found, at = [], 0
    while (place := markers.search(text, at)) is not None:
        begins, ends = place.start(), place.end()
        found.append((begins, ends, place[0], markers.is_complete(place, False), markers.is_complete(place, True)))
        at = begins + 1
    return found


@st.composite
def _sets(draw: st.DrawFn) -> tuple[list[frozenset[str]], tuple[str, ...], frozenset[str]]:
    literals = draw(st.lists(st.frozensets(LITERALS, max_size=12), min_size=1, max_size=2))
    return literals, tuple(draw(st.frozensets(LEADS, max_size=3))), draw(st.frozensets(NAMES, max_size=5))


def _texts(markers: Iterable[str]) -> st.SearchStrategy[str]:
    """Prose, floods of beginnings, markers that are cut."""
    known = sorted(markers) or ["<"]
    cut = st.sampled_from(known).flatmap(lambda marker: st.integers(1, len(marker)).map(lambda size: marker[:size]))
    flood = st.tuples(cut, st.integers(1, 80)).map(lambda pair: pair[0] * pair[1])
    part = st.one_of(cut, flood, st.sampled_from(known), st.sampled_from(ENDS), st.text("<a/ |b｜T{f\n", max_size=8))
    return st.lists(part, max_size=6).map("".join)


@given(st.data())
def test_what_an_index_finds_is_what_comparing_all_markers_finds(data: st.DataObject) -> None:
    literals, leads, names = data.draw(_sets())
    everything = frozenset().union(*literals, {lead + name for lead in leads for name in names})
    indexed = IndexedMarkers(tuple(map(MarkerIndex, literals)), frozenset(), leads, ToolNames(names))
    text = data.draw(_texts(everything))
    assert indexed.literals == everything
    assert _found(indexed, text) == _found(Compared(everything), text) == _found(Markers(everything), text)
    assert indexed.may_hold(text) is not None or indexed.search(text) is None


@pytest.mark.parametrize(("text", "shorter"), [("<a>\n<", "<a>"), ("<a>\n", "<a>"), ("<a", "")])
def test_a_longer_marker_that_the_end_cuts_begins_with_a_shorter_one_or_with_none(text: str, shorter: str) -> None:
    index = MarkerIndex({"<a>", "<a>\n<b>"})
    markers = IndexedMarkers((index,), frozenset(), (), ToolNames(frozenset()))
    found = markers.search(text)
    assert found is not None
    assert not markers.is_complete(found, final=True)
    assert markers.find_shorter(found) == shorter


def test_where_nothing_is_looked_for_nothing_is_found() -> None:
    universe = frozenset({"<tool_call>"})
    assert IndexedMarkers((), universe, (), ToolNames(frozenset())).search("<tool_call>x <tool_") is None


def test_it_is_known_of_any_number_of_texts_whether_they_have_a_marker() -> None:
    literals = frozenset({"<bash>"})
    indexed = IndexedMarkers((MarkerIndex(literals),), literals, (), ToolNames(frozenset()))
    texts = [f"{count} is <b>{end}" for count in range(300) for end in ("bold</b> ", "<bash>", "old</b> " + "x" * 80)]
    for _ in range(2):
        assert [indexed.is_known_without(text) for text in texts] == ["<bash>" not in text for text in texts]
    assert 0 < len(indexed._known) <= 256
    assert max(map(len, indexed._known)) <= 64


@pytest.mark.parametrize("after", ["<bash>", "<ba", "sh> <bash>", "<bas<bash", "", "<bas" * 400 + "<bash>"])
@pytest.mark.parametrize("unit", ["<bas", "<bas ", "<ba< ", "<bash", "h>", "<bas<ba"])
def test_what_stands_behind_what_repeats_itself_is_found(unit: str, after: str) -> None:
    literals = frozenset({"<bash>", "<bask", "h><"})
    tags = [literal for literal in literals if literal[0] == "<"]
    text = unit * 500 + after
    indexed = IndexedMarkers((MarkerIndex(literals),), literals, (), ToolNames(frozenset()))
    for start in (0, 3):
        for found, compared in ((indexed, Compared(literals)), (Tags(tags), Compared(tags))):
            place, expected = found.search(text, start), compared.search(text, start)
            assert (place and (place.start(), place.end())) == (expected and (expected.start(), expected.end()))


@pytest.mark.parametrize("place", ["at_start", "later", "prose"])
@given(st.data())
def test_what_is_armed_is_found_as_comparing_all_markers_finds_it(place: str, data: st.DataObject) -> None:
    names = data.draw(st.frozensets(NAMES, max_size=4))
    armed = ActiveMarkers(CATALOGUE, "auto", names, reasoning=True)
    if data.draw(st.booleans()):
        armed.note_found(data.draw(st.sampled_from(list(DIALECTS.values()))))
    markers: IndexedMarkers = getattr(armed, place)
    text = data.draw(_texts(markers.literals))
    assert _found(markers, text) == _found(Compared(markers.literals), text)
    assert markers.may_hold(text) is not None or markers.search(text) is None


@given(st.data())
def test_what_counts_in_a_thought_is_found_as_comparing_all_markers_finds_it(data: st.DataObject) -> None:
    armed = ActiveMarkers(CATALOGUE, "auto", data.draw(st.frozensets(NAMES, max_size=3)), reasoning=True)
    thought = data.draw(st.sampled_from([*armed.thoughts.values(), armed.any_thought]))
    markers = armed.get_markers_in_thought(thought, data.draw(st.booleans()))
    text = data.draw(_texts(markers.literals))
    assert _found(markers, text) == _found(Compared(markers.literals), text)
    assert markers.may_hold(text) is not None or markers.search(text) is None


@given(st.data())
def test_some_tags_are_found_as_comparing_all_of_them_finds_them(data: st.DataObject) -> None:
    tags = data.draw(st.lists(st.text("</ab", max_size=3).map("<".__add__), min_size=1, max_size=3))
    tags = sorted({tag for tag in tags if not any(tag != other and tag.startswith(other) for other in tags)})
    text = data.draw(_texts(tags))
    assert _found(Tags(tags), text) == _found(Compared(tags), text)


def test_a_thousand_sets_of_tools_take_little_memory() -> None:
    ActiveMarkers(CATALOGUE, "auto", frozenset({"warm"}), reasoning=True)
    tracemalloc.start()
    try:
        for number in range(1000):
            ActiveMarkers(
                CATALOGUE, "auto", frozenset(f"server{number}__tool{tool}" for tool in range(10)), reasoning=True
            )
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert held < 2**21


def test_markers_have_no_other_attributes() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        Markers(["<a>"]).nothing  # noqa: B018
