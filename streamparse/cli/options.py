"""What the commands have in common: how a parser is chosen, how bytes are read, how a failure is told."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from streamparse.dialects import Dialects
from streamparse.parser import StreamParser

__all__ = [
    "CommandError",
    "add_dialect_option",
    "add_parser_options",
    "add_tools_option",
    "dialects_named",
    "has_colours",
    "parser_maker",
    "piece_size",
    "read_pieces",
    "read_tools",
    "read_whole",
]

READ_SIZE = 64 * 1024


class CommandError(Exception):
    """What the user asked for cannot be done; the message is one line for stderr."""


def add_parser_options(command: argparse.ArgumentParser) -> None:
    """Add the options that choose a parser."""
    command.add_argument("--wire", default="auto", help="the wire (see `streamparse wires`); default: auto")
    add_dialect_option(command)
    add_tools_option(command)


def add_dialect_option(command: argparse.ArgumentParser) -> None:
    """Add the option that names dialects; `dialects_named` reads it."""
    command.add_argument(
        "--dialect",
        action="append",
        metavar="NAME",
        help="a dialect to look for in the text (see `streamparse formats`), all, reasoning (thoughts alone) or none;"
        " repeatable; default: auto",
    )


def dialects_named(arguments: argparse.Namespace) -> Dialects:
    """Return what `--dialect` says, as a parser takes it."""
    names: list[str] = arguments.dialect or []
    return tuple(name for name in names if name != "none") if names else "auto"


def add_tools_option(command: argparse.ArgumentParser) -> None:
    """Add the option that declares tools."""
    command.add_argument("--tools", type=Path, metavar="FILE.json", help="tool definitions, a JSON array")


def parser_maker(arguments: argparse.Namespace) -> Callable[[], StreamParser]:
    """Return what makes a fresh parser as the options say; raise CommandError if they make no sense."""
    dialects = dialects_named(arguments)
    tools = read_tools(arguments.tools) if arguments.tools else None

    def make() -> StreamParser:
        return StreamParser(arguments.wire, dialects=dialects, tools=tools)

    try:
        make()
    except (ValueError, TypeError) as error:
        raise CommandError(str(error)) from error
    except RecursionError as error:
        raise CommandError(f"{arguments.tools}: nested too deeply") from error
    return make


def has_colours() -> bool:
    """Whether output may be coloured: on a terminal, unless `NO_COLOR` says otherwise (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def piece_size(text: str) -> int:
    """Return the number an option gives; for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def read_pieces(name: str, size: int | None = None) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input for "-", as they arrive; with a size, in pieces of that size."""
    if name == "-" and sys.stdin is None:
        raise CommandError("standard input is closed")
    try:
        descriptor = sys.stdin.fileno() if name == "-" else os.open(name, os.O_RDONLY)
    except OSError as error:
        raise CommandError(_told(name, error)) from error
    try:
        while piece := _read(name, descriptor):
            yield from _cut(piece, size or READ_SIZE)
    finally:
        if name != "-":
            os.close(descriptor)


def read_whole(path: Path) -> bytes:
    """Return the bytes of a file; raise CommandError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(_told(str(path), error)) from error


def read_tools(path: Path) -> list[Any]:
    """Return the definitions a file holds; raise CommandError if they cannot be read."""
    try:
        tools = msgspec.json.decode(read_whole(path))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {error}") from error
    except RecursionError as error:
        raise CommandError(f"{path}: nested too deeply") from error
    return tools if isinstance(tools, list) else [tools]


def _read(name: str, descriptor: int) -> bytes:
    try:
        return os.read(descriptor, READ_SIZE)  # what is there, not as much as would fit
    except OSError as error:
        raise CommandError(_told(name, error)) from error


def _cut(piece: bytes, size: int) -> Iterator[bytes]:
    return (piece[start : start + size] for start in range(0, len(piece), size))


def _told(name: str, error: OSError) -> str:
    return f"{name}: {error.strerror or error}"
