"""Tables of whole bodies, and of texts that try to cost much: markers that open nothing."""

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

__all__ = ["make_bodies", "make_markers"]

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


# -- markers that open nothing ---------------------------------------------------------------------------------------

MORE = 100.0
"""CPU milliseconds that 64 KB of nothing but an opening marker may take more than 64 KB of prose."""
SIZE = 64 * KIB
READ = KIB
TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
    for name in ("get_weather", "brave_search", "bash", "tool_1")
]


def _find_markers() -> list[str]:
    """The markers that open a call in any format; one that ends in the name of a tool gets one, and its bracket."""
    markers: dict[str, None] = {}
    for dialect in sp.DIALECTS.values():
        for opener in dialect.openers:
            names = [tool["name"] for tool in TOOLS[:1]] if opener.each_tool else [""]
            markers |= dict.fromkeys(opener.text + str(name) for name in names)
            markers |= dict.fromkeys(f"<{name}>" for name in names if name)
    return [marker for marker in markers if marker.strip()]


def make_markers() -> Table:
    """64 KB of one marker beside 64 KB of prose: in one read, in reads of 1 KB, and behind the first 64 KB."""
    cases: dict[str, Case] = {f"`{_show(marker)}`": partial(_measure_marker, marker) for marker in _find_markers()}
    columns = ("64 KB of", "ms more than prose", "in reads of 1 KB", "behind them, each 64 KB", "× prose")
    gates = f"at most {MORE:g} ms of CPU more than prose."
    summary = "64 KB of a marker, ms more than prose"
    return Table("markers", columns, cases, (0, 1), shown=15, gates=gates, summary=summary)


def _show(marker: str) -> str:
    return marker.replace("`", "ˋ").replace("|", "\\|").replace("\n", "↵")


def _measure_marker(marker: str, rounds: int) -> tuple[Cell | None, ...]:
    text = (marker * (4 * SIZE // len(marker) + 1))[: 4 * SIZE]
    with hide_old_objects():
        whole, reads, four = (
            _time_text(part, size, rounds) for part, size in ((text[:SIZE], SIZE), (text[:SIZE], READ), (text, SIZE))
        )
        return (
            Cell((whole - _prose(SIZE)) * 1e3, MORE, 1),
            Cell((reads - _prose(READ)) * 1e3, MORE, 1),
            Cell((four - whole) / 3 * 1e3, None, 1),
            Cell(whole / _prose(SIZE), None, 1),
        )


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

    parse()  # patterns are compiled when first used
    return median(time_run(parse) for _ in range(max(3, rounds // 3)))
