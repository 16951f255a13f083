"""Tables of whole bodies, and of texts that try to cost much: floods of markers."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, partial
from statistics import median
from typing import Any

from measuring import Case, Cell, Table, find_ratio, hide_old_objects, repeat, take_turns, time_run
from response_bodies import BODIES, write_prose
from texts import KIB

import streamparse as sp

__all__ = ["make_bodies", "make_floods"]

# -- whole bodies ----------------------------------------------------------------------------------------------------

TO_FEEDING, TO_JSON = 1.5, 10.0
"""What `parse_response` may cost over constructor, feed and close, and on long prose over `json.loads`."""


def make_bodies() -> Table:
    """`parse_response` of whole answers, as bytes and as what `json.loads` makes of them."""
    cases: dict[str, Case] = {name: partial(_measure_body, *body) for name, body in BODIES.items()}
    columns = ("body", "µs", "× `json.loads`", "bytes, × feeding", "dict, × feeding")
    gates = (
        f"at most {TO_FEEDING:g} × constructor, feed and close of the same body; "
        f"64 KB of prose at most {TO_JSON:g} × `json.loads`."
    )
    return Table("bodies", columns, cases, (2, 3), gates=gates, summary="`parse_response`, × feeding the same body")


def _measure_body(wire: Any, is_prose: bool, body: dict[str, Any], rounds: int) -> tuple[Cell | None, ...]:
    data = json.dumps(body).encode()
    repeats = 5 if len(data) > KIB * 4 else 50

    def feed(chunk: Any) -> sp.ParsedResponse:
        parser = sp.StreamParser(wire)
        parser.feed(chunk)
        parser.close()
        return parser.response

    assert feed(data).content == sp.parse_response(data, wire).content
    runs: dict[str, Callable[[], object]] = {
        "json": lambda: json.loads(data),
        "bytes": lambda: sp.parse_response(data, wire),
        "fed bytes": lambda: feed(data),
        "dict": lambda: sp.parse_response(body, wire),
        "fed dict": lambda: feed(body),
    }
    spent = take_turns({name: repeat(run, repeats) for name, run in runs.items()}, rounds)
    return (
        Cell(median(spent["bytes"]) * 1e6 / repeats, digits=0),
        Cell(find_ratio(spent["bytes"], spent["json"]), TO_JSON if is_prose else None, 1),
        Cell(find_ratio(spent["bytes"], spent["fed bytes"]), TO_FEEDING),
        Cell(find_ratio(spent["dict"], spent["fed dict"]), TO_FEEDING),
    )


# -- floods ----------------------------------------------------------------------------------------------------------

FLOOD = 10.0
SIZE = 64 * KIB
READ = KIB
DEAR = 0.1
"""Seconds: what costs as much is measured once, for it has missed its gate by far."""
TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
    for name in ("get_weather", "brave_search", "bash", "tool_1")
]
HALF_MARKERS = (
    "<", "<|", "<bas", "<tool_cal", "[TOOL", "[{", "`", "``` ", "```json\n", '{"', '{"name": "', "<think>", "</think>",
    "call:", "Action: ", "functools[", "<tool_call>{", "<tool_call>\n<function=tool_1>",
    '{"name": "tool_1", "arguments": {', '<invoke name="tool_1">',
)  # fmt: skip


def _find_markers() -> list[str]:
    """The markers that open a call in any format; one that ends in the name of a tool gets one, and its bracket."""
    markers: dict[str, None] = {}
    for dialect in sp.DIALECTS.values():
        for opener in dialect.openers:
            names = [tool["name"] for tool in TOOLS[:1]] if opener.each_tool else [""]
            markers |= dict.fromkeys(opener.text + str(name) for name in names)
            markers |= dict.fromkeys(f"<{name}>" for name in names if name)
    markers |= dict.fromkeys(HALF_MARKERS)
    return [marker for marker in markers if marker.strip()]


def make_floods() -> Table:
    """64 KB of one marker, over 64 KB of prose; and 64 KB of how the calls of a format begin."""
    cases: dict[str, Case] = {
        f"`{_show(marker)}`": partial(_measure_flood, marker, FLOOD) for marker in _find_markers()
    }
    for name, dialect in sp.DIALECTS.items():
        head = dialect.example[: min(dialect.example.find(word) % 10_000 for word in ("Paris", "ls"))]
        cases[f"how calls of {name} begin"] = partial(_measure_flood, head, None)
    columns = ("64 KB of", "in one read, × prose", "in reads of 1 KB")
    gates = f"any opening marker at most {FLOOD:g} × prose."
    return Table("floods", columns, cases, (0, 1), shown=15, gates=gates, summary="64 KB of a marker, × prose")


def _show(marker: str) -> str:
    return marker.replace("`", "ˋ").replace("|", "\\|").replace("\n", "↵")


def _measure_flood(marker: str, bound: float | None, rounds: int) -> tuple[Cell | None, ...]:
    flood = (marker * (SIZE // len(marker) + 1))[:SIZE]
    with hide_old_objects():
        return tuple(Cell(_time_text(flood, size, rounds) / _prose(size), bound, 1) for size in (SIZE, READ))


@cache
def _prose(size: int) -> float:
    return _time_text(write_prose(SIZE), size, 9)


def _time_text(text: str, size: int, rounds: int) -> float:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]

    def parse() -> None:
        parser = sp.TextParser(tools=TOOLS)
        for piece in pieces:
            parser.feed(piece)
        parser.close()

    first = time_run(parse)
    return first if first > DEAR else median(time_run(parse) for _ in range(max(3, rounds // 3)))
