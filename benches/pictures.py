"""Draws the pictures of the README: `make pictures` writes `docs/images/timeline.svg` and `docs/images/lateness.svg`.

The first is a recorded turn of a real server, laid out by the model of `streamparse timeline`; the second has the
figures of `docs/internals/comparison.md`.  Nothing is measured here, so the same files give the same pictures.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TypeAlias

import msgspec

import streamparse as sp
from streamparse.cli.timeline import replay
from streamparse.cli.timeline_model import CallSpan, Timeline, analyse
from streamparse.testing import Read

__all__ = ["draw_lateness", "draw_timeline", "read_lateness"]

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
RECORDED = ROOT / "fixtures" / "recorded" / "llamacpp-paced.body"
WIDTH = 860
Place: TypeAlias = Callable[[float], float]
"""From a moment to its x."""
TOOL_SECONDS = 0.4
"""How long each tool of `make demo` takes."""
# Okabe and Ito's colours, which the colour-blind tell apart, lighter where the page is dark.
STYLE = """<style>
text { font: 13px system-ui, "Segoe UI", "Helvetica Neue", Arial, sans-serif; fill: #1f2328 }
.title { font-size: 16px; font-weight: 600 }
.small { font-size: 11px; fill: #59636e }
.strong { font-weight: 600; fill: #005a8c }
.page { fill: #ffffff }
.grid { stroke: #d1d9e0 }
.mark { stroke: #59636e; stroke-dasharray: 4 3 }
.prose { fill: #b4bcc6 } .arguments { fill: #e69f00 } .run { fill: #0072b2 } .theirs { fill: #818b98 }
.waiting { fill: none; stroke: #818b98; stroke-width: 1.5; stroke-dasharray: 3 2 }
.closed { fill: #1f2328 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .small { fill: #9198a1 }
  .strong { fill: #56b4e9 }
  .page { fill: #0d1117 }
  .grid { stroke: #3d444d }
  .mark { stroke: #9198a1 }
  .prose { fill: #57606a } .arguments { fill: #e69f00 } .run { fill: #56b4e9 } .theirs { fill: #7d8590 }
  .waiting { stroke: #9198a1 }
  .closed { fill: #f0f6fc }
}
</style>
"""


def draw_timeline(timeline: Timeline) -> str:
    """Return the picture of a turn: what the model writes, and each tool as early and as late as it could start."""
    first = min(each.start for each in (*timeline.prose, *timeline.calls))
    left, right = 130, WIDTH - 30
    scale = (right - left) / (timeline.finish + TOOL_SECONDS - first)

    def place(moment: float) -> float:
        return left + (moment - first) * scale

    lanes = 56 + 44 * (1 + len(timeline.calls))
    parts = [_write(12, 26, "Tools start while the model still writes", "title"), _write(12, 70, "the model writes")]
    for tenth in range(0, int((timeline.finish + TOOL_SECONDS - first) * 10) + 1, 5):
        x = place(first + tenth / 10)
        parts += [_line("grid", x, 46, lanes), _write(x, lanes + 16, f"{tenth / 10:.1f} s", "small", "middle")]
    for stretch in timeline.prose:
        parts.append(_box("prose", place(stretch.start), 58, place(stretch.end) - place(stretch.start)))
    for number, call in enumerate(timeline.calls):
        parts += _draw_call(call, timeline.finish, 58, 102 + 44 * number, place, scale)
    x = place(timeline.finish)
    parts += [_line("mark", x, 46, lanes), _write(x - 5, 42, "finish reason", "small", "end")]
    parts += _write_legend(lanes + 38)
    return _wrap("Tools start while the model still writes", parts, lanes + 54)


def _draw_call(call: CallSpan, finish: float, model: float, lane: float, place: Place, scale: float) -> list[str]:
    assert call.closed is not None
    start, closed, run = place(call.start), place(call.closed), TOOL_SECONDS * scale
    gain = f"{(finish - call.closed) * 1000:,.0f} ms earlier"
    return [
        _box("arguments", start, model, closed - start),
        _write(12, lane + 12, call.name),
        _box("run", closed, lane, run),
        _box("waiting", place(finish), lane, run),
        f'<path class="closed" d="M{closed:.1f} {model - 7}l5 -6h-10z"/>',
        _write(closed + run + 8, lane + 12, gain, "strong"),
    ]


def _write_legend(y: float) -> list[str]:
    parts = [f'<path class="closed" d="M138 {y - 1}l5 -6h-10z"/>', _write(150, y, "the call is whole", "small")]
    x = 268.0
    for style, text in (
        ("prose", "text"),
        ("arguments", "a call's arguments"),
        ("run", "the tool runs"),
        ("waiting", "if it waited for the finish reason"),
    ):
        parts += [f'<rect class="{style}" x="{x:.0f}" y="{y - 9}" width="16" height="10"/>']
        parts += [_write(x + 22, y, text, "small")]
        x += 46 + 6.2 * len(text)
    return parts


def read_lateness(page: str, wire: str = "openai-chat") -> list[tuple[str, int, int]]:
    """Return the libraries that read the wire, each with the bytes and milliseconds that its first call is late."""
    rows = re.findall(rf"^\| {wire} \| (.+?) \| ([\d,]+) bytes, ([\d,]+) ms \|", page, re.MULTILINE)
    return [(name, int(size.replace(",", "")), int(ms.replace(",", ""))) for name, size, ms in rows]


def draw_lateness(rows: list[tuple[str, int, int]]) -> str:
    """Return the picture of how late each library gives out the first of two calls."""
    title = "From the last byte of a call to the call: the first of two, at 50 tokens a second"
    left, right = 200, WIDTH - 200
    longest = max(ms for _, _, ms in rows)
    parts, y = [_write(12, 26, title, "title")], 46
    for name, size, ms in sorted(rows, key=lambda row: row[2]):
        ours = name.startswith("streamparse")
        parts.append(_write(left - 10, y + 12, name, "strong" if ours else "", "end"))
        parts.append(_box("run" if ours else "theirs", left, y, max(2.0, (right - left) * ms / longest)))
        x = left + max(2.0, (right - left) * ms / longest) + 8
        parts.append(_write(x, y + 12, f"{ms:,} ms, {size:,} bytes", "strong" if ours else "small"))
        y += 24
    return _wrap(title, parts, y + 8)


def _write(x: float, y: float, text: str, style: str = "", anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _box(style: str, x: float, y: float, width: float) -> str:
    return f'<rect class="{style}" x="{x:.1f}" y="{y:.1f}" width="{max(width, 2):.1f}" height="16" rx="3"/>'


def _line(style: str, x: float, top: float, bottom: float) -> str:
    return f'<line class="{style}" x1="{x:.1f}" x2="{x:.1f}" y1="{top}" y2="{bottom}"/>'


def _wrap(title: str, parts: list[str], height: float) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" role="img">\n'
    page = f'<rect class="page" width="{WIDTH}" height="{height:.0f}"/>\n'
    return f"{head}<title>{escape(title)}</title>\n{STYLE}{page}" + "\n".join(parts) + "\n</svg>\n"


def lay_out(body: Path) -> Timeline:
    """Return the timeline of a recording whose reads have times."""
    content = body.read_bytes()
    reads = msgspec.json.Decoder(Read).decode_lines(body.with_suffix(".reads.jsonl").read_bytes())
    marks, facts = replay(
        sp.StreamParser("openai-chat"), ((read.t / 1000, content[read.off : read.off + read.n]) for read in reads)
    )
    return analyse(marks, facts=facts)


def main() -> None:
    """Write both pictures."""
    IMAGES.joinpath("timeline.svg").write_text(draw_timeline(lay_out(RECORDED)), encoding="utf-8")
    page = (ROOT / "docs" / "internals" / "comparison.md").read_text(encoding="utf-8")
    IMAGES.joinpath("lateness.svg").write_text(draw_lateness(read_lateness(page)), encoding="utf-8")


if __name__ == "__main__":
    main()
