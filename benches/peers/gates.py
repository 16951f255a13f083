"""What streamparse promises of itself beside the others: each gate is passed or failed by what was measured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from peers.results import OURS, OURS_OVER_HTTP, ClientRow, Results, TextRow

__all__ = ["CALL_KINDS", "LATE_BY_DESIGN", "Gate", "check_gates", "pair_clients", "pair_text_parsers"]

CALL_KINDS = ("call", "call, 1,400 bytes a read", "short call")
"""The kinds of streams whose calls are read."""
_NO_PARSER = "httpx-sse + json"
"""Cuts and decodes, and finds nothing: over one short call, what a parser costs once is most of it."""
LATE_BY_DESIGN = {
    ("anthropic", "no input deltas"): "Anthropic sends the same `content_block_stop` when `max_tokens` has cut the call"
    " before its first delta. Until the stop reason has come, no arguments may mean that they are missing.",
}
"""The quirks in which streamparse waits, and why."""
_FEWEST_QUIRKS = 28
_MOST_GROWTH = 1.25
"""How much dearer a frame of the largest stream may be than the cheapest: what two runs of the same differ by."""


class Gate(NamedTuple):
    """A promise, whether it is kept, and the figure."""

    name: str
    has_passed: bool
    figure: str


def check_gates(results: Results) -> list[Gate]:
    """Hold the results beside each promise."""
    return [
        _check_peers(results),
        _check_cost(results, OURS),
        _check_cost(results, OURS_OVER_HTTP),
        _check_cost_of_text(results),
        _check_lateness(results),
        _check_quirks(results),
        _check_growth(results),
    ]


def pair_clients(rows: Iterable[ClientRow], name: str) -> Iterator[tuple[ClientRow, ClientRow]]:
    """Our row of that name with each row of another library on the same wire."""
    rows = list(rows)
    for ours in (row for row in rows if row.name == name):
        yield from ((ours, row) for row in rows if row.wire == ours.wire and row.name not in {OURS, OURS_OVER_HTTP})


def pair_text_parsers(rows: Iterable[TextRow]) -> Iterator[tuple[TextRow, TextRow]]:
    """Our row with each row of another parser of the same format."""
    rows = list(rows)
    for ours in (row for row in rows if row.name == OURS):
        yield from ((ours, row) for row in rows if row.format == ours.format and row is not ours)


def _check_peers(results: Results) -> Gate:
    return Gate("every library could be used", not results.missing, ", ".join(results.missing) or "all")


def _check_cost(results: Results, name: str) -> Gate:
    ratios = {
        f"{theirs.name}, {theirs.wire}, {kind}": theirs.microseconds[kind] / ours.microseconds[kind]
        for ours, theirs in pair_clients(results.clients, name)
        for kind in CALL_KINDS
        if (theirs.name, kind) != (_NO_PARSER, "short call")
    }
    return _compare(f"{name}: the cheapest reader of calls on every wire", ratios)


def _check_cost_of_text(results: Results) -> Gate:
    ratios = {
        f"{theirs.name}, {theirs.format}, {size:,} characters": theirs.microseconds[size] / cost
        for ours, theirs in pair_text_parsers(results.text)
        for size, cost in ours.microseconds.items()
    }
    return _compare("the cheapest parser of every text format", ratios)


def _compare(name: str, ratios: dict[str, float]) -> Gate:
    """Another's cost over ours must be at least 1 everywhere."""
    behind = {where: ratio for where, ratio in ratios.items() if ratio < 1}
    least = min(ratios, key=ratios.__getitem__) if ratios else ""
    shown = behind or ({least: ratios[least]} if ratios else {})
    return Gate(
        name, bool(ratios) and not behind, "; ".join(f"× {ratio:.2f} {where}" for where, ratio in shown.items())
    )


def _check_lateness(results: Results) -> Gate:
    late = [
        f"{row.wire}, {row.name}"
        for row in results.clients
        if _is_ours(row.name) and any(each.bytes for each in row.late)
    ]
    late += [f"{row.format} in text" for row in results.text if row.name == OURS and row.late != 0]
    late += [
        f"{row.wire}, {row.name}"
        for row in results.quirks
        if (row.wire, row.name) not in LATE_BY_DESIGN
        for name, verdict in row.verdicts.items()
        if _is_ours(name) and verdict.late_bytes
    ]
    by_design = ", ".join(" ".join(place) for place in LATE_BY_DESIGN)
    return Gate("0 bytes late on every wire and format", not late, "; ".join(late) or f"by design only: {by_design}")


def _check_quirks(results: Results) -> Gate:
    wrong = [
        f"{row.wire}, {row.name}: {verdict.word}"
        for row in results.quirks
        for name, verdict in row.verdicts.items()
        if _is_ours(name) and not verdict.is_right
    ]
    wrong += [f"{row.format} in text: {row.word}" for row in results.text if row.name == OURS and row.word != "right"]
    has_passed = not wrong and len(results.quirks) >= _FEWEST_QUIRKS
    return Gate("right in every quirk", has_passed, "; ".join(wrong) or f"{len(results.quirks)} quirks")


def _check_growth(results: Results) -> Gate:
    grown = {
        f"{row.wire}, {row.name}": row.growth[max(row.growth)] / min(row.growth.values())
        for row in results.clients
        if _is_ours(row.name)
    }
    too_much = {where: ratio for where, ratio in grown.items() if ratio > _MOST_GROWTH}
    largest = max((size for row in results.clients for size in row.growth), default=0)
    shown = too_much or {where: ratio for where, ratio in grown.items() if ratio == max(grown.values())}
    figure = "; ".join(f"× {ratio:.2f} {where}" for where, ratio in shown.items())
    return Gate(f"flat to {largest / 2**20:.0f} MB", bool(grown) and not too_much, figure)


def _is_ours(name: str) -> bool:
    return name in {OURS, OURS_OVER_HTTP}
