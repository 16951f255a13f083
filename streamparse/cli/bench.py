"""`streamparse bench`: how fast recorded streams are parsed on this machine.

Each stream is fed as a server would write it, one event or line a read, unless pieces of another size are asked for.
Figures are the best of many rounds: the cost of the code, without other work of the machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from msgspec.structs import astuple

from streamparse.cli.options import CommandError, add_parser_options, make_parser_factory, parse_size, read_file
from streamparse.parser import StreamParser

SUFFIXES = (".body", ".sse", ".ndjson", ".eventstream")


class Figures(msgspec.Struct, frozen=True):
    """What one stream cost: `seconds` is the best round."""

    size: int
    frames: int
    events: int
    seconds: float

    @property
    def rate(self) -> float:
        """Megabytes a second."""
        return self.size / 1e6 / self.seconds

    @property
    def per_frame(self) -> float:
        """Microseconds a frame."""
        return self.seconds * 1e6 / max(self.frames, 1)


def measure(make: Callable[[], StreamParser], pieces: list[bytes], seconds: float) -> Figures:
    """Parse the pieces again and again for about that many seconds, at least three times."""
    best = float("inf")
    deadline = time.perf_counter() + seconds
    rounds = 0
    while rounds < 3 or time.perf_counter() < deadline:
        parser = make()
        feed = parser.feed
        start = time.perf_counter()
        events = sum(len(feed(piece)) for piece in pieces) + len(parser.close())
        best = min(best, time.perf_counter() - start)
        rounds += 1
    return Figures(sum(map(len, pieces)), parser.stats.frames, events, best)


def cut_by_event(body: bytes) -> list[bytes]:
    """Cut a body as a server writes it: after each blank line, or after each line if it has none."""
    end = b"\n\n" if b"\n\n" in body else b"\n"
    *whole, last = body.split(end)
    return [piece + end for piece in whole] + [last] * bool(last)


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `bench` to the commands."""
    command = commands.add_parser("bench", help="measure the throughput over recorded streams", description=__doc__)
    command.add_argument(
        "paths", nargs="+", type=Path, metavar="PATH", help=f"files, or folders of *{', *'.join(SUFFIXES)}"
    )
    command.add_argument("--chunk", type=parse_size, metavar="N", help="feed pieces of N bytes instead of whole events")
    command.add_argument("--seconds", type=float, default=0.3, metavar="S", help="time for each stream; default: 0.3")
    add_parser_options(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    make = make_parser_factory(arguments)
    streams = [stream for path in arguments.paths for stream in _find_streams(path)]
    width = max(len(stream.name) for stream in streams)
    print(f"{'stream':{width}}  {'kB':>9}  {'frames':>7}  {'events':>7}  {'MB/s':>8}  {'µs/frame':>8}", flush=True)
    everything = []
    for stream in streams:
        figures = measure(make, _cut(read_file(stream), arguments.chunk), arguments.seconds)
        everything.append(figures)
        print(_write_row(stream.name, width, figures), flush=True)
    if len(everything) > 1:
        totals = [sum(column) for column in zip(*map(astuple, everything), strict=True)]
        print(_write_row("all", width, Figures(*totals)))
    return 0


def _find_streams(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.stat().st_size)
    if not found:
        raise CommandError(f"{path}: no recorded streams (*{', *'.join(SUFFIXES)})")
    yield from found


def _cut(body: bytes, size: int | None) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)] if size else cut_by_event(body)


def _write_row(name: str, width: int, figures: Figures) -> str:
    return (
        f"{name:{width}}  {figures.size / 1e3:9.1f}  {figures.frames:7}  {figures.events:7}"
        f"  {figures.rate:8.1f}  {figures.per_frame:8.2f}"
    )
