"""Writes `docs/internals/comparison.md` and its plots from what was measured; `docs/comparison.md` is its summary."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from peers.arguments import ARGUMENT_READERS
from peers.clients import CLIENTS
from peers.gates import LATE_BY_DESIGN, check_gates, pair_clients, pair_text_parsers
from peers.judge import Verdict
from peers.measure import GROWTH_SIZES
from peers.plots import draw_cost, draw_growth, draw_lateness
from peers.results import OURS, OURS_OVER_HTTP, ClientRow, QuirkRow, Results, TextRow
from peers.streams import MS_PER_TOKEN
from peers.summary import write_summary
from peers.text_parsers import TEXT_PARSERS

__all__ = ["write_report"]

_INTRODUCTION = """\
# The comparison in full

The same streams, in one process, through streamparse and through other libraries, each as its own documentation uses
it. `make peers` installs them into an environment of their own (`.venv-peers`), measures everything anew, writes this
page with its plots and [its summary](../comparison.md), and fails if a promise is broken.

The streams are written for this comparison (`benches/peers/streams.py`, `benches/peers/quirks.py`), so that what is
right is known. They are fed from memory, with no network and no waiting.

"""
_COST = """\
## What a frame costs

CPU time of the reading thread, in microseconds a frame (one server-sent event, or one line), the median of {rounds}
rounds in which the libraries take turns, after all has run once. A frame brings one token of five characters.

- **call**: one call with 4 KB of arguments, one frame a read. On Ollama's wire, whose calls come whole in one line, 40
  calls with 200 characters each.
- **call, 1,400 bytes a read**: the same bytes, as packets bring them.
- **short call**: one call with some 50 characters; what is made for each answer weighs most here.
- **text**: an answer of 4 KB without a call.
- **memory**: what was in use at the peak, beyond what was in use before, while a stream with 64 KB of arguments (on
  Ollama's wire: of text) was read.

**×** is the time of a call over that of *streamparse, over httpx*. The other clients do their own HTTP, from a
transport in memory, so that is the row to hold beside them: `sp.iter_events(response, …)` on a response of httpx.
*streamparse* alone is the parser fed with bytes.

![CPU time for one frame of a call](../images/peers_cost.svg)

"""
_LATENESS = f"""\
## How late a call is

An answer with two calls of 400 characters each. Late is what the library takes from the server between the frame whose
bytes close a call's arguments and the moment at which it gives the call out as complete: in bytes, and in milliseconds
at the stream's own pace of {1000 // MS_PER_TOKEN} tokens a second. Frames for which the model writes no token (usage,
end markers) come at once. Raw chunks declare nothing: as the SDK's documentation shows, their fragments are joined and
taken for calls at the finish reason. Ollama's server sends calls whole, so that no client can be late.

![How long after its last byte a call is given out](../images/peers_lateness.svg)

"""
_GROWTH = """\
## What longer arguments cost

Microseconds a frame of 256 characters, for calls of 16 KB to 16 MB (on Ollama's wire: a text of that size, then a
call). A library that is linear has a flat line; one that copies or reads again what has come has a rising one. At the
left end what is made once for each answer is shared by few frames. A library is not followed further after a size that
took it more than 0.4 seconds. streamparse runs with `Limits(max_call_args=None)`; as it comes, it refuses arguments of
more than 4 MB.

![CPU time for one frame as the arguments grow](../images/peers_growth.svg)

"""
_QUIRKS = """\
## What real servers do

Each row is one deviation from the documented stream, each column a library that reads the wire.
✓ is right; with a number, right and that many bytes late (all calls together). **cut call** gives out arguments that
are no JSON, **wrong call** gives out another call than the model wrote (joined, split, doubled, or filled up),
**lost** gives out too few, **raised** ends in an exception. No arguments at all count as an empty object. Where the
stream is cut, right is to give out no call, and to raise is right, too. A call that is given out and taken back later
counts as given out. Raw chunks are read with the loop that the SDK's documentation shows; a program may of course do
more, and look at the finish reason first.

"""
_TEXT = """\
## Calls in a model's text

The parsers that SGLang and vLLM run on their servers, without the server: their modules that need a GPU are replaced by
empty ones. All are fed with the model's tokens: a marker of the format whole, the rest in fives. The call has 1 KB or
8 KB of arguments, which are Python source. **Late** is in characters, fed one by one, from the character that closes
the call to the moment at which the arguments that were given out are whole JSON: kinder than their own servers, whose
clients learn it from the next call or the finish reason. The character that closes a call in Hermes' format is the
brace of the call's object; a parser that sends the arguments at their own brace is one character ahead of it.

"""
_PARTIAL = """\
## Looking at arguments that are still open

The value so far is read after each five characters. streamparse's is what `parser.partial(index)` reads with; it goes
on where it stopped, the others read the text so far again. What took more than 0.4 seconds was not followed further.

"""
_GATES = """\
## The promises

`make peers` fails if one of these is broken. In this run:

"""


def write_report(results: Results, docs: Path) -> None:
    """Write the page and the plots into a folder of documentation."""
    run, behind, gates = _describe_run(), _write_behind(results), _GATES + _write_gates(results)
    parts = [_INTRODUCTION, run, behind]
    parts += [_COST.format(rounds=results.rounds), *_write_costs(results.clients)]
    parts += [_LATENESS, _write_lateness(results.clients)]
    parts += [_GROWTH, *_write_growth(results.clients)]
    parts += [_QUIRKS, *_write_quirks(results.quirks)]
    parts += [_TEXT, _write_text(results.text), _PARTIAL, _write_partial(results)]
    if results.missing:
        parts.append("## What could not be used\n\n")
        parts.append("".join(f"- {name}: {reason}\n" for name, reason in results.missing.items()) + "\n")
    parts.append(gates)
    (docs / "internals").mkdir(exist_ok=True)
    (docs / "internals" / "comparison.md").write_text("".join(parts).rstrip() + "\n", encoding="utf-8")
    (docs / "comparison.md").write_text(write_summary(results, run, behind, gates, _table), encoding="utf-8")
    images = docs / "images"
    images.mkdir(exist_ok=True)
    draw_cost(results.clients, images / "peers_cost.svg")
    draw_lateness(results.clients, images / "peers_lateness.svg")
    draw_growth(results.clients, images / "peers_growth.svg")


# -- what, when, where ----------------------------------------------------------------------------------------------


def _describe_run() -> str:
    names = {"httpx", "pydantic"}
    names |= {client.distribution for client in CLIENTS} | {parser.distribution for parser in TEXT_PARSERS}
    names |= {reader.distribution for reader in ARGUMENT_READERS}
    versions = ", ".join(f"{name} {found}" for name in sorted(names) if (found := _find_version(name)))
    date = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    machine = f"{_find_processor()}, {os.cpu_count()} cores, {platform.system()} on {platform.machine()}"
    return f"Measured on {date} with {python} on {machine}, and with {versions}.\n\n"


def _find_version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _find_processor() -> str:
    """The processor's name: Linux tells it in a file, other systems more or less."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "an unnamed processor"


# -- where another library is ahead ---------------------------------------------------------------------------------


def _write_behind(results: Results) -> str:
    """The rows in which another library is ahead, before anything else."""
    lines = [
        *_find_cheaper_clients(results.clients),
        *_find_cheaper_parsers(results.text),
        *_find_cheaper_partial(results),
        *_find_earlier(results),
        *_find_better_quirks(results.quirks),
    ]
    return "## Where another library is ahead\n\n" + ("".join(lines) or "Nowhere in this run.\n") + "\n"


def _find_cheaper_clients(rows: Sequence[ClientRow]) -> Iterator[str]:
    for ours, theirs in pair_clients(rows, OURS_OVER_HTTP):
        for kind, cost in theirs.microseconds.items():
            if cost < ours.microseconds[kind]:
                figures = f"{cost:.1f} µs a frame, streamparse over httpx {ours.microseconds[kind]:.1f}"
                yield f"- Cost, {ours.wire}, {kind}: {theirs.name} {figures}.\n"
        if theirs.memory < ours.memory:
            figures = f"{theirs.memory / 1024:,.0f} KB, streamparse over httpx {ours.memory / 1024:,.0f} KB"
            yield f"- Memory, {ours.wire}: {theirs.name} {figures}.\n"


def _find_cheaper_parsers(rows: Sequence[TextRow]) -> Iterator[str]:
    for ours, theirs in pair_text_parsers(rows):
        for size, cost in theirs.microseconds.items():
            if cost < ours.microseconds[size]:
                figures = f"{cost:.1f} µs a piece, streamparse {ours.microseconds[size]:.1f}"
                yield f"- Cost, {ours.format} in text, {size // 1024} KB: {theirs.name} {figures}.\n"


def _find_cheaper_partial(results: Results) -> Iterator[str]:
    ours = next(row for row in results.partial if row.name == OURS)
    for theirs in results.partial:
        for size, cost in theirs.microseconds.items():
            if cost < ours.microseconds[size]:
                figures = f"{cost:.1f} µs a piece, streamparse {ours.microseconds[size]:.1f}"
                yield f"- Cost, looking at {size // 1024} KB of open arguments: {theirs.name} {figures}.\n"


def _find_earlier(results: Results) -> Iterator[str]:
    for ours, theirs in pair_clients(results.clients, OURS):
        if any(other.bytes < own.bytes for own, other in zip(ours.late, theirs.late, strict=True)):
            yield f"- Lateness, {ours.wire}: {theirs.name} gives out a call earlier.\n"
    for own, other in pair_text_parsers(results.text):
        if own.late is not None and other.late is not None and other.late < own.late:
            yield f"- Lateness, {own.format} in text: {other.name} {own.late - other.late} character earlier.\n"


def _find_better_quirks(rows: Sequence[QuirkRow]) -> Iterator[str]:
    for row in rows:
        ours = row.verdicts[OURS]
        ahead = [name for name, verdict in row.verdicts.items() if _is_better(verdict, ours)]
        if ahead:
            reason = LATE_BY_DESIGN.get((row.wire, row.name), "")
            end = f". By design: {reason}\n" if reason else ".\n"
            yield f"- Quirk, {row.wire}, {row.name}: {', '.join(ahead)}; streamparse is {_describe(ours)}{end}"


def _is_better(verdict: Verdict, ours: Verdict) -> bool:
    return verdict.is_right and (not ours.is_right or verdict.late_bytes < ours.late_bytes)


def _describe(verdict: Verdict) -> str:
    return f"{verdict.late_bytes} bytes late" if verdict.is_right else verdict.word


# -- tables ---------------------------------------------------------------------------------------------------------


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"


def _group_by_wire(rows: Iterable[ClientRow]) -> dict[str, list[ClientRow]]:
    groups: dict[str, list[ClientRow]] = {}
    for row in rows:
        groups.setdefault(row.wire, []).append(row)
    return groups


def _write_costs(rows: Iterable[ClientRow]) -> Iterator[str]:
    for wire, group in _group_by_wire(rows).items():
        one = next(row for row in group if row.name == OURS_OVER_HTTP).microseconds["call"]
        yield f"### {wire}\n\n" + _table(
            ("library", *group[0].microseconds, "×", "memory"),
            (
                (
                    row.name,
                    *(f"{cost:.1f}" for cost in row.microseconds.values()),
                    f"{row.microseconds['call'] / one:.1f}",
                    f"{row.memory / 1024:,.0f} KB",
                )
                for row in group
            ),
        )


def _write_lateness(rows: Iterable[ClientRow]) -> str:
    return _table(
        ("wire", "library", "first call", "second call"),
        ((row.wire, row.name, *(f"{late.bytes:,} bytes, {late.ms:,} ms" for late in row.late)) for row in rows),
    )


def _write_growth(rows: Iterable[ClientRow]) -> Iterator[str]:
    for wire, group in _group_by_wire(rows).items():
        yield f"### {wire}\n\n" + _table(
            ("library", *map(_show_size, GROWTH_SIZES)),
            (
                (row.name, *(f"{row.growth[size]:,.1f}" if size in row.growth else "" for size in GROWTH_SIZES))
                for row in group
            ),
        )


def _show_size(size: int) -> str:
    return f"{size // 1024} KB" if size < 2**20 else f"{size // 2**20} MB"


def _write_quirks(rows: Sequence[QuirkRow]) -> Iterator[str]:
    for wire in dict.fromkeys(row.wire for row in rows):
        group = [row for row in rows if row.wire == wire]
        names = [name for name in group[0].verdicts if name != OURS_OVER_HTTP]
        body = [(f"**{row.name}**: {row.what}", *(_show(row.verdicts[name]) for name in names)) for row in group]
        rights = [sum(row.verdicts[name].is_right for row in group) for name in names]
        sums = ("right", *(f"{right} of {len(group)}" for right in rights))
        yield f"### {wire}\n\n" + _table(("", *names), [*body, sums])


def _show(verdict: Verdict) -> str:
    if verdict.is_right:
        return f"✓ {verdict.late_bytes:,}" if verdict.late_bytes else "✓"
    return f"**{verdict.word}** {verdict.detail}".rstrip()


def _write_text(rows: Sequence[TextRow]) -> str:
    sizes = list(rows[0].microseconds)
    formats = list(dict.fromkeys(row.format for row in rows))
    return _table(
        ("format", "parser", *(f"µs a piece, {size // 1024} KB" for size in sizes), "result", "late"),
        (
            (row.format, row.name, *(f"{row.microseconds[size]:.1f}" for size in sizes), row.word, _show_late(row))
            for row in sorted(rows, key=lambda row: formats.index(row.format))
        ),
    )


def _show_late(row: TextRow) -> str:
    if row.late is None:
        return ""
    return "to the end" if row.is_late_to_the_end else str(row.late)


def _write_partial(results: Results) -> str:
    sizes = sorted({size for row in results.partial for size in row.microseconds})
    return _table(
        ("library", *(f"µs a piece, {size // 1024} KB" for size in sizes)),
        (
            (row.name, *(f"{row.microseconds[size]:,.1f}" if size in row.microseconds else "" for size in sizes))
            for row in results.partial
        ),
    )


def _write_gates(results: Results) -> str:
    rows = ((gate.name, "kept" if gate.has_passed else "**broken**", gate.figure) for gate in check_gates(results))
    return _table(("promise", "", "closest, or what breaks it"), rows)
