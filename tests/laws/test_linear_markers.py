"""Law 7 where a model that is stuck writes the same marker again and again, and none of them opens anything.

Behind many of these markers a call is read as behind a few.  Behind `Limits.max_markers` of them no more calls are
looked for, and the rest takes work that does not grow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from call_counts import count_calls
from cuts import in_pieces
from msgspec.structs import replace
from subjects import ROWS, TOOLS
from work import read

import streamparse as sp
from streamparse.assembler.call import CallState
from streamparse.assembler.event_log import EventLog
from streamparse.dialects.engine import grammar
from streamparse.dialects.engine.markers import Markers
from streamparse.dialects.engine.reader import Reader
from streamparse.dialects.grammars.json_values import read_container
from streamparse.schema.kinds import SchemaView

pytestmark = pytest.mark.usefixtures("uncollected")

PIECE = 16
CALL = '\n\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
STARTS = [
    *('[{"', '{"name": "', "Action:", "Action:\n", "```json\n", "</think>", "<tool_call>{", "<tool_call>\n", "<think>"),
    *("<tool_ca", "<tool_call><function=", "<|channel|>analysis<|message|>", "<tool>\n", ">>>", "<tool_call>x "),
    *("<think></think>", '<tools>\n{"name": "unknown", "arguments": {"city": "Paris"}}\n</tools> '),
    '`<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>` and ',
]


def _list_markers(row: str) -> list[str]:
    return list(dict.fromkeys(opener.text for opener in sp.DIALECTS[row].openers if opener.text))


UNITS = [*STARTS, *dict.fromkeys(marker for row in ROWS for marker in _list_markers(row))]


def _reading(unit: str, size: int, piece: int, limits: sp.Limits | None = None) -> Callable[[], None]:
    pieces = in_pieces((unit * -(-size // len(unit)))[:size], piece)
    return partial(read, sp.TextParser(tools=TOOLS, limits=limits or sp.Limits()), pieces)


def _read_merged(pieces: list[str]) -> tuple[sp.ParsedResponse, list[tuple[int, sp.Event]]]:
    """The response, and all events but text, with the number of characters that had come."""
    parser = sp.TextParser(tools=TOOLS)
    found, length = [], 0
    for piece in pieces:
        length += len(piece)
        found += [(length, event) for event in parser.feed(piece)]
    found += [(length, event) for event in parser.close()]
    others = [(at, event) for at, event in found if not isinstance(event, sp.TextDelta | sp.ReasoningDelta)]
    return parser.response, [
        (at, replace(event, offset=None) if isinstance(event, sp.Error) else event) for at, event in others
    ]


@pytest.mark.parametrize("lead", ["", "Some words first, in a line.\n"])
@pytest.mark.parametrize("marker", UNITS)
def test_a_call_behind_a_flood_is_found_as_behind_a_few_markers(marker: str, lead: str) -> None:
    few, many = lead + marker * 4, lead + marker * 64
    expected, events = _read_merged(list(few + CALL))
    response, later = _read_merged([*in_pieces(many, PIECE), *CALL])
    shift = len(many) - len(few)
    assert later == [(at + shift, event) for at, event in events]
    assert len(response.content) - len(expected.content) in (0, shift)
    whole, _ = _read_merged([many + CALL])
    assert (whole.content, whole.reasoning, whole.tool_calls) == (
        response.content, response.reasoning, response.tool_calls,
    )  # fmt: skip


@pytest.mark.parametrize("marker", UNITS)
def test_behind_the_most_markers_the_work_does_not_grow(marker: str) -> None:
    few = sp.Limits(max_markers=4)
    _reading(marker, 12_288, PIECE, few)()  # patterns are compiled when first used
    first, second, third = (count_calls(_reading(marker, size, PIECE, few)) for size in (4096, 8192, 12_288))
    assert third - second <= 1.15 * (second - first)


def test_after_a_bare_call_that_nests_too_deep_nothing_is_read_for_it_any_more() -> None:
    unit = '{"name": "get_weather", "arguments": {'
    few, many = (count_calls(_reading(unit, size, size)) for size in (8 * 1024, 64 * 1024))
    assert many <= 1.15 * few
    for piece in (1, PIECE, 64 * 1024):
        response, events = _read_merged([*in_pieces(unit * 200, piece), *CALL])
        assert [at for at, event in events if isinstance(event, sp.ToolCallComplete)] == [len(unit * 200 + CALL) - 13]
        assert response.content == unit * 200 + "\n\n"


class _CountingMarkers(Markers):
    """Markers that note how many characters each search looks at."""

    __slots__ = ("looked",)

    def __init__(self, *literals: str) -> None:
        super().__init__(literals)
        self.looked = 0

    def search(self, text: str, pos: int = 0) -> re.Match[str] | None:
        found = re.compile("|".join(map(re.escape, self.literals))).search(text, pos)
        self.looked += (len(text) if found is None else found.end()) - pos
        return found


@pytest.mark.parametrize("end", ["", "<end>"])
def test_what_ends_a_call_is_looked_for_once_in_a_text_that_holds_many(end: str) -> None:
    text = '{"a": [1]}' * 1000 + end
    reader, stops = Reader(), _CountingMarkers("<end>", "<more>")
    reader.push(text)
    for _ in range(1000):
        assert list(read_container(reader, stops, None, lambda _: None)) == []
    assert reader.at == len(text) - len(end)
    assert stops.looked <= len(text)


class _WatchedList(list[Any]):
    """A list that counts how often all of it is gone through."""

    passes = 0

    def __iter__(self) -> Iterator[Any]:
        self.passes += 1
        return super().__iter__()


def test_to_revoke_a_call_takes_no_look_at_the_others() -> None:
    log = EventLog()
    calls = log.response.tool_calls = _WatchedList()
    for index in range(8):
        assert log.add_call(CallState(index, f"i{index}", "f"), {"a": index}, f'{{"a": {index}}}')
    for index in (3, 0, 7, 3, 9):
        log.revoke(index, "text_follows")
    assert calls.passes == 0
    assert [call.index for call in calls if call.revoked] == [0, 3, 7]
    assert [event.index for event in log.events if isinstance(event, sp.ToolCallRevoked)] == [3, 0, 7]


@pytest.mark.parametrize("calls", [1, 30])
def test_what_a_schema_says_of_a_parameter_is_looked_up_once_in_an_answer(
    calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[SchemaView] = []

    def make(*given: Any) -> SchemaView:
        made.append(SchemaView(*given))
        return made[-1]

    monkeypatch.setattr(grammar, "SchemaView", make)
    call = "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>\n"
    parser = sp.TextParser(["qwen3-coder"], tools=TOOLS)
    parser.feed(call * calls)
    assert len(parser.response.tool_calls) == calls
    assert len(made) == 1
    assert made[0].view_member("command") is made[0].view_member("command")
