"""The three plots of the page, as SVG that is readable on a light and on a dark page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from pathlib import Path

from peers.results import OURS, OURS_OVER_HTTP, ClientRow

__all__ = ["draw_cost", "draw_growth", "draw_lateness"]

_WIDTH = 860
_ROW = 20
_LEFT, _RIGHT = 270, 130
"""Room for the names and for the figures."""
_STYLE = """\
<style>
text { font: 13px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 }
.wire { font-weight: 600 }
.small { font-size: 11px; fill: #59636e }
.page { fill: #ffffff }
.ours { fill: #0969da } .theirs { fill: #818b98 } .later { fill: #c8d1da } .ours-later { fill: #80ccff }
.grid { stroke: #d1d9e0; stroke-width: 1 }
.lead { stroke: #818b98; stroke-width: 1; stroke-dasharray: 2 4 }
.line { fill: none; stroke: #818b98; stroke-width: 1.5 } .our-line { fill: none; stroke: #0969da; stroke-width: 3 }
.our-name { fill: #0969da; font-weight: 600 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .small { fill: #9198a1 }
  .page { fill: #0d1117 }
  .ours { fill: #4493f8 } .theirs { fill: #7d8590 } .later { fill: #57606a } .ours-later { fill: #1f4f8f }
  .grid { stroke: #3d444d }
  .lead, .line { stroke: #9198a1 } .our-line { stroke: #4493f8 }
  .our-name { fill: #4493f8 }
}
</style>
"""


def draw_cost(rows: Sequence[ClientRow], path: Path) -> None:
    """A bar for each library on each wire: microseconds a frame, on a logarithmic axis."""
    costs = [row.microseconds["call"] for row in rows]
    low, high = math.log10(min(costs) / 2), math.log10(max(costs))

    def scale(cost: float) -> float:
        return (math.log10(cost) - low) / (high - low)

    def label(row: ClientRow) -> str:
        return f"{row.microseconds['call']:,.1f}"

    parts, height = _draw_bars(rows, [lambda row: scale(row.microseconds["call"])], label)
    _write(path, "CPU time for one frame of a call, in microseconds (logarithmic)", parts, height)


def draw_lateness(rows: Sequence[ClientRow], path: Path) -> None:
    """Two bars for each library on each wire: how late it gives out the first of two calls, and the second."""
    longest = max(late.ms for row in rows for late in row.late) or 1

    def label(row: ClientRow) -> str:
        first, second = (late.ms for late in row.late)
        return f"{first:,} and {second:,} ms"

    widths: list[Callable[[ClientRow], float]] = [
        lambda row: row.late[0].ms / longest,
        lambda row: row.late[1].ms / longest,
    ]
    parts, height = _draw_bars(rows, widths, label)
    _write(path, "How long after its last byte a call is given out: the first of two, and the second", parts, height)


def _draw_bars(
    rows: Sequence[ClientRow], widths: Sequence[Callable[[ClientRow], float]], label: Callable[[ClientRow], str]
) -> tuple[list[str], int]:
    """Bars under a heading for each wire; `widths` give the bars of one row as parts of the whole width."""
    parts, y = [], 48
    thickness = 14 // len(widths)
    for wire in dict.fromkeys(row.wire for row in rows):
        parts.append(f'<text class="wire" x="12" y="{y + 13}">{wire}</text>')
        y += _ROW + 2
        for row in (row for row in rows if row.wire == wire):
            parts.append(_text(_LEFT - 10, y + 13, row.name, "our-name" if _is_ours(row) else "", "end"))
            longest = 0.0
            for number, width in enumerate(widths):
                pixels = max(width(row) * (_WIDTH - _LEFT - _RIGHT), 1.5)
                longest = max(longest, pixels)
                kind = (("ours", "ours-later") if _is_ours(row) else ("theirs", "later"))[number]
                top = y + 2 + number * thickness
                parts.append(f'<rect class="{kind}" x="{_LEFT}" y="{top}" width="{pixels:.1f}" height="{thickness}"/>')
            parts.append(_text(_LEFT + longest + 6, y + 13, label(row)))
            y += _ROW
        y += 10
    return parts, y + 6


# -- growth ---------------------------------------------------------------------------------------------------------

_DECADE = 90
"""Pixels from one power of ten to the next."""
_BETWEEN = 90
_PLOT_LEFT, _PLOT_RIGHT = 64, 560
_NAMES_LEFT = 585


def draw_growth(rows: Sequence[ClientRow], path: Path) -> None:
    """For the wires that several libraries read: a line for each, microseconds a frame by the size of the arguments."""
    parts: list[str] = []
    top = 80.0
    for wire in dict.fromkeys(row.wire for row in rows):
        group = [row for row in rows if row.wire == wire]
        if len(group) > 3:
            panel, height = _draw_panel(group, wire, top)
            parts += panel
            top += height + _BETWEEN
    _write(path, "CPU time for one frame, in microseconds, as the arguments of a call grow", parts, top - 40)


def _draw_panel(rows: Sequence[ClientRow], wire: str, top: float) -> tuple[list[str], float]:
    """The lines of one wire, and how high they are together."""
    sizes = sorted({size for row in rows for size in row.growth})
    low = math.floor(math.log10(min(min(row.growth.values()) for row in rows)))
    high = math.ceil(math.log10(max(max(row.growth.values()) for row in rows)))
    bottom = top + _DECADE * (high - low)

    def x(size: int) -> float:
        return _PLOT_LEFT + (_PLOT_RIGHT - _PLOT_LEFT) * math.log2(size / sizes[0]) / math.log2(sizes[-1] / sizes[0])

    def y(cost: float) -> float:
        return bottom - _DECADE * (math.log10(cost) - low)

    parts = [f'<text class="wire" x="12" y="{top - 18:.0f}">{wire}</text>']
    for power in range(low, high + 1):
        parts.append(_line("grid", _PLOT_LEFT, y(10.0**power), _PLOT_RIGHT, y(10.0**power)))
        parts.append(_text(_PLOT_LEFT - 8, y(10.0**power) + 4, f"{10**power:,}", "small", "end"))
    parts += [_text(x(size), bottom + 18, _show_size(size), "small", "middle") for size in sizes]
    ends = {row.name: (x(max(row.growth)), y(row.growth[max(row.growth)])) for row in rows}
    names = _spread({name: height for name, (_, height) in ends.items()})
    for row in sorted(rows, key=_is_ours):
        points = " ".join(f"{x(size):.1f},{y(cost):.1f}" for size, cost in row.growth.items())
        left, height = ends[row.name]
        parts.append(_line("lead", left, height, _NAMES_LEFT - 4, names[row.name]))
        parts.append(f'<polyline class="{"our-line" if _is_ours(row) else "line"}" points="{points}"/>')
        parts.append(
            f'<circle class="{"ours" if _is_ours(row) else "theirs"}" cx="{left:.1f}" cy="{height:.1f}" r="4"/>'
        )
        parts.append(_text(_NAMES_LEFT, names[row.name] + 4, row.name, "our-name" if _is_ours(row) else ""))
    return parts, bottom - top


def _spread(heights: dict[str, float]) -> dict[str, float]:
    """Move names apart that would stand on each other, each at least a line below the one above."""
    placed: dict[str, float] = {}
    lowest = -math.inf
    for name in sorted(heights, key=heights.__getitem__):
        lowest = placed[name] = max(heights[name], lowest + 17)
    return placed


def _show_size(size: int) -> str:
    return f"{size // 1024} KB" if size < 2**20 else f"{size // 2**20} MB"


# -- SVG ------------------------------------------------------------------------------------------------------------


def _is_ours(row: ClientRow) -> bool:
    return row.name in {OURS, OURS_OVER_HTTP}


def _line(kind: str, left: float, top: float, right: float, bottom: float) -> str:
    return f'<line class="{kind}" x1="{left:.1f}" y1="{top:.1f}" x2="{right:.1f}" y2="{bottom:.1f}"/>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _write(path: Path, title: str, parts: Iterable[str], height: float) -> None:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img">\n'
    page = f'<rect class="page" width="{_WIDTH}" height="{height:.0f}"/>\n'
    body = "\n".join(parts)
    name = f"<title>{escape(title)}</title>\n"
    text = f'<text class="title" x="12" y="28">{escape(title)}</text>\n'
    path.write_text(f"{head}{name}{_STYLE}{page}{text}{body}\n</svg>\n", encoding="utf-8")
