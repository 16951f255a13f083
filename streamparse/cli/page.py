"""The page of a timeline: one HTML file that loads nothing.

Its picture has a lane for the prose and one for each call.  A lane's bar grows while the arguments come, its diamond
is where the call was whole, and what follows in green is the head start over each rule.  Below it is the tool's run.
Text from the stream is escaped, and appears only in text and titles.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.resources import files
from string import Template
from typing import Final

import msgspec

from streamparse.cli.timeline_model import Axis, CallSpan, Rule, Timeline

_LEFT, _RIGHT, _WIDTH = 184.0, 1056.0, 1120.0
_TOP, _LANE, _BAR, _RUN = 50.0, 34.0, 16.0, 9.0
_CHARACTER: Final = 6.4  # source: the widest letters of the page's font at its size
"""Width of a character on a bar, in user units: a little too wide rather than too narrow."""


_NOTES: Final[dict[Axis, str]] = {
    "bytes": "The axis counts bytes, since the times of the reads are not known: distances say how much of the stream"
    " was still to come, not how long that took.",
    "seconds": "Times are those at which bytes were read, from the first byte of the answer.",
}


class _Words(msgspec.Struct, frozen=True):
    """A rule's colour on the page, and its words."""

    style: str
    moment: str
    column: str
    columns: str = ""
    """The style of its column in the table; `more` is left out on a phone."""


_RULES: Final[dict[Rule, _Words]] = {
    "next_call": _Words("gain-next", "the next call", "next call", "more"),
    "finish": _Words("gain-finish", "the finish reason", "finish"),
    "end": _Words("gain-end", "the end of the stream", "end", "more"),
}


def render(timeline: Timeline, title: str) -> str:
    """Return the page as HTML text; it needs no other file and makes no request."""
    template, style, script = (
        files("streamparse.cli").joinpath(f"page.{suffix}").read_text("utf-8") for suffix in ("html", "css", "js")
    )
    return Template(template).substitute(
        title=_shorten(title),
        style=style,
        script=script,
        head=_describe_answer(timeline),
        summary=_summarize(timeline),
        figures="".join(_write_figures(timeline)),
        picture=_Drawing(timeline).draw(),
        legend="".join(_write_legend(timeline)),
        table="".join(_write_table(timeline)),
        errors="".join(_write_errors(timeline)),
        note=_NOTES[timeline.axis],
    )


def _shorten(text: str, size: int = 200) -> str:
    """Cut a text from the stream, and make it safe in HTML."""
    shown = text[:size] + ("…" if len(text) > size else "")
    return escape("".join(c if c.isprintable() or c == "\n" else "�" for c in shown))


def _describe_answer(timeline: Timeline) -> str:
    """Say who answered, how much, and how long that took to begin."""
    facts, tokens = timeline.facts, timeline.facts.tokens
    words = [_shorten(word, 80) for word in (facts.wire, facts.model) if word]
    if tokens is not None:
        thought = f" ({tokens.reasoning:,} of them thought)" if tokens.reasoning else ""
        words.append(f"{tokens.prompt:,} tokens read, {tokens.completion:,} written{thought}")
    if timeline.wait:
        words.append(f"first byte after {timeline.format(timeline.wait)}")
    return " · ".join(words)


def _summarize(timeline: Timeline) -> str:
    whole = sum(call.closed is not None for call in timeline.calls)
    calls = f"{len(timeline.calls)} call{'' if len(timeline.calls) == 1 else 's'}"
    calls += f", {whole} whole" if whole < len(timeline.calls) else ""
    ended = f"ended by the server: {_shorten(timeline.finish_reason or 'no reason given')}"
    moments = f"end at {timeline.format(timeline.end)}"
    if timeline.finish < timeline.end:
        moments = f"finish reason at {timeline.format(timeline.finish)}, {moments}"
    return f"{calls} · {ended if timeline.ok else 'not ended by the server'} · {moments}"


def _write_figures(timeline: Timeline) -> Iterator[str]:
    if not timeline.calls:
        return
    yield '<section class="figures">'
    for rule, words in _RULES.items():
        gains = timeline.list_gains(rule)
        if gains and (rule != "end" or timeline.is_end_late()):
            calls = "one call" if len(gains) == 1 else f"{len(gains)} calls"
            text = f"the widest head start over {words.moment}; {timeline.format(sum(gains))} over {calls}"
            yield _write_figure(timeline.format(max(gains)), text, won=max(gains) > 0)
    now, late = timeline.find_last_result("closed"), timeline.find_last_result("finish")
    if now is not None and late is not None:
        text = f"until every result was there; {timeline.format(late)} had each tool begun at the finish reason"
        yield _write_figure(timeline.format(now), text, won=now < late)
    yield "</section>"


def _write_figure(figure: str, text: str, *, won: bool) -> str:
    return f'<div class="figure{" won" * won}"><b>{figure}</b><span>{text}</span></div>'


def _write_legend(timeline: Timeline) -> Iterator[str]:
    calls = timeline.calls
    kinds = dict.fromkeys(stretch.kind for stretch in timeline.prose)
    swatches = [(True, kind, kind) for kind in kinds] + [
        (bool(calls), "arguments", "arguments arrive"),
        (bool(calls), "closed", "call whole: can run"),
        (bool(timeline.list_gains("next_call")), "gain-next", "head start over the next call"),
        (bool(calls), "gain-finish", "head start over the finish reason"),
        (bool(calls) and timeline.is_end_late(), "gain-end", "head start over the end"),
        (any(call.run for call in calls), "run", "tool runs"),
        (any(call.closed is None or (call.run and not call.run.ok) for call in calls), "failed", "broken or failed"),
    ]
    for is_there, name, text in swatches:
        if is_there:
            yield f'<li><i class="{"diamond" * (name == "closed")}" style="--swatch:var(--{name})"></i>{text}</li>'


def _write_table(timeline: Timeline) -> Iterator[str]:
    if not timeline.calls:
        return
    runs, trouble = any(call.run for call in timeline.calls), any(call.problem for call in timeline.calls)
    yield '<section class="card"><table><thead><tr><th>call</th><th class="left">tool</th>'
    yield '<th class="more">begins</th><th>whole</th><th class="more">next call<br>begins</th>'
    yield "".join(f'<th class="{words.columns}">gained over<br>{words.column}</th>' for words in _RULES.values())
    yield "<th>run<br>took</th>" * runs + '<th class="left">trouble</th>' * trouble
    yield "</tr></thead><tbody>"
    for call in timeline.calls:
        values: list[tuple[float | None, str]] = [(call.start, "more"), (call.closed, ""), (call.next_call, "more")]
        for rule, words in _RULES.items():
            gain = call.find_gain(rule)
            values.append((gain, f"{words.columns}{' won' if gain else ''}".strip()))
        values += [(call.run.end - call.run.start if call.run else None, "")] * runs
        yield f'<tr data-call="{call.index}"><td>{call.index}</td><td class="left">'
        yield f'<code title="{_shorten(call.arguments)}">{_shorten(call.name, 40)}</code></td>'
        for value, style in values:
            yield f'<td class="{style}">{"–" if value is None else timeline.format(value)}</td>'
        yield f'<td class="left bad">{_shorten(call.problem, 60)}</td>' * trouble + "</tr>"
    yield "</tbody></table></section>"


def _write_errors(timeline: Timeline) -> Iterator[str]:
    if timeline.errors:
        yield '<section class="card"><ul class="errors">'
        for moment, error in timeline.errors:
            at = timeline.format(moment)
            yield f"<li>{at} <b>{escape(error.code)}</b> ({error.scope}): {_shorten(error.message)}</li>"
        yield "</ul></section>"


class _Drawing:
    """The picture: an SVG element."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._lane = _LANE + (_RUN + 4 if any(call.run for call in timeline.calls) else 0)
        self._bottom = _TOP + _LANE + self._lane * len(timeline.calls) + 6

    def draw(self) -> str:
        """Return the element."""
        bottom, length, axis = self._bottom, self._timeline.length, self._timeline.axis
        parts = [
            f'<svg class="plot" viewBox="0 0 {_WIDTH:g} {bottom + 26:g}" role="img" aria-label="Timeline of the stream"'
            f' data-left="{_LEFT:g}" data-right="{_RIGHT:g}" data-length="{length!r}" data-unit="{axis}">',
            *self._draw_axis(),
            *self._draw_prose(),
            *self._draw_calls(),
            *self._draw_moments(),
            f'<line class="cursor" y1="{_TOP:g}" y2="{bottom:g}"/>',
            f'<text class="readout name" y="{_TOP - 6:g}" text-anchor="middle" visibility="hidden"/></svg>',
        ]
        return "\n".join(parts)

    def _draw_axis(self) -> Iterator[str]:
        for value in _choose_ticks(self._timeline.length):
            yield self._draw_line("grid", value, _TOP)
            yield _draw_text("muted", self._find_x(value), self._bottom + 18, self._timeline.format(value), "middle")

    def _draw_prose(self) -> Iterator[str]:
        yield f'<g class="lane">{_draw_background(_TOP, _LANE)}'
        yield _draw_text("name", 10, _TOP + 21, "answer")
        for stretch in self._timeline.prose:
            kind, text = stretch.kind, "".join(stretch.fragments)
            yield self._draw_bar(kind, stretch.start, stretch.end, _TOP + 9, f"{kind},", text)
        yield "</g>"

    def _draw_calls(self) -> Iterator[str]:
        for row, call in enumerate(self._timeline.calls):
            top = _TOP + _LANE + row * self._lane
            yield f'<g class="lane" data-call="{call.index}">{_draw_background(top, self._lane)}'
            yield _draw_text("muted", 10, top + 21, str(call.index))
            yield _draw_text("name", 30, top + 21, f"{_shorten(call.name, 18)}<title>{_shorten(call.name)}</title>")
            yield from self._draw_gains(call, top + 9)
            yield from self._draw_arguments(call, top + 9)
            if run := call.run:
                style = "run" if run.ok else "failed"
                yield self._draw_bar(style, run.start, run.end, top + 9 + _BAR + 3, "ran", run.text, height=_RUN)
            yield "</g>"

    def _draw_gains(self, call: CallSpan, y: float) -> Iterator[str]:
        """Draw the head start over each rule, each bar from where the one before it ends."""
        if call.closed is None:
            return
        start = call.closed
        for rule, words in _RULES.items():
            gain = call.find_gain(rule)
            if gain is None or call.closed + gain <= start:
                continue
            x, right, text = self._find_x(start), self._find_x(call.closed + gain), self._timeline.format(gain)
            yield _draw_box(words.style, x, y, right - x, _BAR, f"whole {text} before {words.moment}")
            if len(text) * _CHARACTER < right - x - 24:
                yield _draw_text("onbar", right - 8, y + 12, text, "end")
            start = call.closed + gain

    def _draw_arguments(self, call: CallSpan, y: float) -> Iterator[str]:
        moments = [moment for moment, _ in call.pieces]
        last = call.closed if call.closed is not None else max([call.start, *moments])
        style = "arguments" if call.closed is not None else "failed"
        yield self._draw_bar(style, call.start, last, y, "arguments,", call.arguments)
        xs = sorted({round(self._find_x(t)) for t in moments if call.start < t < last})
        if xs and len(xs) * 4 < xs[-1] - xs[0]:  # else the strokes would hide the bar
            yield f'<path class="piece" d="{"".join(f"M{x} {y:g}v{_BAR:g}" for x in xs)}"/>'
        x = self._find_x(last)
        if call.closed is not None:
            yield f'<path class="closed" d="M{x:.1f} {y - 1:g}l9 9l-9 9l-9 -9z">'
            yield f"<title>whole at {self._timeline.format(call.closed)}</title></path>"
        words = call.problem[:40]
        if words and x + 14 + len(words) * _CHARACTER < _WIDTH:  # on the side where there is room
            yield _draw_text("problem onbar", x + 14, y + 12, _shorten(words))
        elif words:
            yield _draw_text("problem onbar", self._find_x(call.start) - 6, y + 12, _shorten(words), "end")

    def _draw_moments(self) -> Iterator[str]:
        """Draw the lines of the finish reason and of the end; their labels keep to different sides."""
        finish, end = self._timeline.finish, self._timeline.end
        yield self._draw_line("moment", end, _TOP - 22)
        yield _draw_text("muted", self._find_x(end) + 4, _TOP - 26, "end")
        if finish < end:
            yield self._draw_line("moment", finish, _TOP - 22)
            yield _draw_text("muted", self._find_x(finish) - 4, _TOP - 26, "finish reason", "end")

    def _draw_bar(
        self, style: str, start: float, end: float, y: float, words: str, text: str, *, height: float = _BAR
    ) -> str:
        """Draw a bar between two moments; its title has these, and the text between."""
        title = f"{words} {self._timeline.format(start)} to {self._timeline.format(end)}\n{_shorten(text)}"
        x = self._find_x(start)
        return _draw_box(style, x, y, max(self._find_x(end) - x, 2.5), height, title)

    def _draw_line(self, style: str, value: float, top: float) -> str:
        x = self._find_x(value)
        return f'<line class="{style}" x1="{x:.1f}" x2="{x:.1f}" y1="{top:g}" y2="{self._bottom:g}"/>'

    def _find_x(self, value: float) -> float:
        length = self._timeline.length
        return _LEFT + (_RIGHT - _LEFT) * (value / length if length else 0.0)


def _choose_ticks(length: float) -> list[float]:
    """Return round values from 0, at most ten."""
    if length <= 0:
        return [0.0]
    step = next(base * 10.0**power for power in range(-6, 12) for base in (1, 2, 5) if base * 10.0**power * 9 >= length)
    return [step * n for n in range(int(length / step) + 1)]


def _draw_text(style: str, x: float, y: float, words: str, anchor: str = "start") -> str:
    return f'<text class="{style}" x="{x:.1f}" y="{y:g}" text-anchor="{anchor}">{words}</text>'


def _draw_background(y: float, height: float) -> str:
    return f'<rect class="back" x="0" y="{y:g}" width="{_WIDTH:g}" height="{height:g}"/>'


def _draw_box(style: str, x: float, y: float, width: float, height: float, title: str) -> str:
    return (
        f'<rect class="{style}" x="{x:.1f}" y="{y:g}" width="{width:.1f}" height="{height:g}" rx="2">'
        f"<title>{title}</title></rect>"
    )
