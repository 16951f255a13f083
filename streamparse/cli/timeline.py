"""`streamparse timeline`: one HTML page that shows when each call of a stream was whole, and what that was worth."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from streamparse.cli.bench import cut_by_event
from streamparse.cli.options import add_parser_options, make_parser_factory, name_in_errors, read_file
from streamparse.cli.page import render
from streamparse.cli.timeline_model import Facts, Mark, analyse
from streamparse.parser import StreamParser
from streamparse.testing import Read


def replay(parser: StreamParser, pieces: Iterable[tuple[float, bytes]]) -> tuple[list[Mark], Facts]:
    """Feed pieces with their moments; return the marks, and what else is known then."""
    marks: list[Mark] = []
    first = finish = None
    moment = 0.0
    for moment, piece in pieces:
        if first is None and piece:
            first = moment
        marks += [Mark(moment, event) for event in parser.feed(piece)]
        if finish is None and parser.response.finish_reason is not None:
            finish = moment
    marks += [Mark(moment, event) for event in parser.close()]
    response = parser.response
    tokens = response.tokens if response.usage else None
    return marks, Facts(first, finish, parser.wire, response.model, tokens)


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `timeline` to the commands."""
    command = commands.add_parser("timeline", help="write a page that shows a stream over time", description=__doc__)
    command.add_argument("file", type=Path, help="a recorded body")
    command.add_argument(
        "--reads",
        type=Path,
        metavar="FILE.jsonl",
        help='the times of its reads, a line {"t": milliseconds, "off": offset, "n": bytes} for each;'
        " default: the file's name with .reads.jsonl for its suffix, if there is one; else the axis counts bytes",
    )
    command.add_argument("-o", "--output", type=Path, metavar="OUT.html", help="default: FILE.html, in this folder")
    command.add_argument("--title", help="the title of the page; default: the file's name")
    add_parser_options(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    parser = make_parser_factory(arguments)()
    body = read_file(arguments.file)
    recorded = arguments.file.with_suffix(".reads.jsonl")
    reads = arguments.reads or (recorded if recorded.is_file() else None)
    marks, facts = replay(parser, _cut_by_read(body, _load_reads(reads)) if reads else _cut_by_size(body))
    timeline = analyse(marks, axis="seconds" if reads else "bytes", facts=facts)
    output = arguments.output or Path(arguments.file.name).with_suffix(".html")
    with name_in_errors(output):
        output.write_text(render(timeline, arguments.title or arguments.file.name), encoding="utf-8")
    print(output)
    return 0


def _cut_by_size(body: bytes) -> Iterator[tuple[float, bytes]]:
    """Yield each event of a body at the number of bytes up to its end."""
    size = 0
    for piece in cut_by_event(body):
        size += len(piece)
        yield float(size), piece


def _cut_by_read(body: bytes, reads: list[Read]) -> Iterator[tuple[float, bytes]]:
    """Yield the bytes of each read; bytes that no read covers come with the last."""
    for read in reads:
        yield read.t / 1000, body[read.off : read.off + read.n]
    if reads and (rest := body[reads[-1].off + reads[-1].n :]):
        yield reads[-1].t / 1000, rest


def _load_reads(path: Path) -> list[Read]:
    with name_in_errors(path):
        return msgspec.json.Decoder(Read).decode_lines(path.read_bytes())
