"""Calls that were left as text: how many there are, by place, and those that end an answer.

An answer that is over may still hold whole calls of declared tools: quoted, drafted in a thought, without a marker of
their own behind a sentence, or in markup that is not looked for on this wire.  Text they stay.  But they are counted,
and what ends an answer like a call shows that the model may have meant one: that is a `ToolIntent`.

They are looked for as if every format were named, wherever its marker is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from msgspec.structs import replace

from streamparse.assembler import Assembler, ParseHalted
from streamparse.assembler.call import CallState
from streamparse.dialects import CATALOGUE, Catalogue, Dialect, InBandParser
from streamparse.dialects.engine.attempt import has_required
from streamparse.events import Place, Source
from streamparse.limits import Limits
from streamparse.response import ParsedResponse, ToolCall, ToolIntent
from streamparse.tools import Toolset

_SIGNS: Final = "<[{(`"  # each call in text has one of these
_LAST: Final = frozenset("}])>`;")  # how a call ends, or what ends its turn
_TAIL: Final = 256  # bound: characters at the end of an answer in which a call may end
_NOTHING: Final = frozenset[str]()


class UnreadCall(NamedTuple):
    """A whole call of a declared tool, with the arguments that it requires; `text` is its own, or that of its list."""

    name: str
    place: Place
    text: str
    is_last: bool
    """Whether nothing visible but such calls follows."""


def find_unread(text: str, tools: Toolset, limits: Limits) -> list[UnreadCall]:
    """Find the whole calls of declared tools in a text, with the arguments that they require."""
    if not any(sign in text for sign in _SIGNS) or not any(name in text for name in tools):
        return []
    return list(_read_calls(text, tools, replace(limits, max_held_text=None, max_markers=None)))


def count_unread(
    response: ParsedResponse, late: Iterable[ToolCall], tools: Toolset, limits: Limits
) -> dict[str, int]:  # fmt: skip
    """Count the whole calls of declared tools that an answer holds as text or thought, by place.

    `late`: those that were told at the end, and stand in the text, too.
    """
    counts = Counter[str](call.place for call in find_unread(response.content, tools, limits))
    counts["thought"] += len(find_unread(response.reasoning, tools, limits))
    counts.subtract(call.place for call in late)
    return dict(+counts)


def find_call_intents(response: ParsedResponse, tools: Toolset, limits: Limits) -> list[ToolIntent]:
    """Find the calls without a marker of their own, not quoted, that end an answer, and were not told as calls."""
    if not tools or response.content[-_TAIL:].rstrip()[-1:] not in _LAST:
        return []
    called = {call.name for call in response.tool_calls if not call.revoked}
    return list(
        dict.fromkeys(
            ToolIntent(call.name, call.text, is_call=True)
            for call in find_unread(response.content, tools, limits)
            if call.is_last and call.place == "bare" and call.name not in called
        )
    )


class _Finder(Assembler):
    """Notes where the marker of each call is: so many characters before the end of the text."""

    def __init__(self, tools: Toolset, limits: Limits) -> None:
        super().__init__(tools, limits)
        self.left = 0
        self.lefts: list[int] = []

    def note_marker(self, left: int) -> None:
        self.left = left

    def call_start(
        self, name: str, id: str | None = None, source: Source = "native", place: Place = "field"
    ) -> CallState:  # fmt: skip
        self.lefts.append(self.left)
        return super().call_start(name, id, source, place)


def _read_calls(text: str, tools: Toolset, limits: Limits) -> Iterator[UnreadCall]:
    names = tuple(CATALOGUE.dialects)
    finder = _Finder(tools, limits)
    inband = InBandParser(
        finder, _make_catalogue(names), names, tools, "closed", limits, "calls", on_marker=finder.note_marker
    )  # fmt: skip
    try:
        inband.text(text)
        inband.close(stopped=True)
        finder.stop()
        finder.close()
    except ParseHalted:  # what was found before counts
        pass
    starts = [len(text) - left for left in finder.lefts]
    for call in finder.response.tool_calls:
        start = starts[call.index]
        end = min((each for each in starts if each > start), default=len(text))
        if call.name in tools and has_required(tools[call.name], call.arguments):
            yield UnreadCall(call.name, call.place, text[start:end].strip(), not call.revoked)


@lru_cache(maxsize=1)
def _make_catalogue(names: tuple[str, ...]) -> Catalogue:
    """All dialects, whose markers count anywhere; nothing else is looked for."""
    rows = {name: _loosen(CATALOGUE.dialects[name]) for name in names}
    endings, turn_ends = CATALOGUE.endings, CATALOGUE.turn_ends
    return Catalogue(rows, CATALOGUE.thoughts, (), endings, turn_ends, _NOTHING, load=lambda _: False)


def _loosen(row: Dialect) -> Dialect:
    openers = (replace(each, position="anywhere") for each in row.openers if each.text or each.each_tool)
    return replace(row, openers=tuple(openers), companions=())
