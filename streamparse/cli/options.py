"""What the commands share: options that choose a parser, reading of files and standard input, and the error."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from streamparse.dialects import Dialects
from streamparse.parser import StreamParser
from streamparse.tools import Toolset

READ_SIZE = 64 * 1024  # bound: the memory of a read; it is the size of a pipe's buffer on Linux


class CommandError(Exception):
    """A command cannot be carried out; the message is one line for stderr."""


@contextmanager
def name_in_errors(name: object) -> Iterator[None]:
    """Raise what goes wrong with a file, or with the JSON in it, as a `CommandError` that names it."""
    try:
        yield
    except OSError as error:
        raise CommandError(f"{name}: {error.strerror or error}") from error
    except (ValueError, TypeError) as error:
        raise CommandError(f"{name}: {error}") from error
    except RecursionError as error:
        raise CommandError(f"{name}: nested too deeply") from error


def add_parser_options(command: argparse.ArgumentParser) -> None:
    """Add the options that choose a parser."""
    command.add_argument("--wire", default="auto", help="the wire (see `streamparse wires`); default: auto")
    add_dialect_option(command)
    add_tools_option(command)


def add_dialect_option(command: argparse.ArgumentParser) -> None:
    """Add the option that names dialects; `read_dialects` reads it."""
    command.add_argument(
        "--dialect",
        action="append",
        metavar="NAME",
        help="a dialect to look for in the text (see `streamparse dialects`), all, reasoning (thoughts alone) or none;"
        " repeatable; default: auto",
    )


def read_dialects(arguments: argparse.Namespace) -> Dialects:
    """Return what `--dialect` says, as a parser takes it."""
    names: list[str] = arguments.dialect or []
    return tuple(name for name in names if name != "none") if names else "auto"


def add_tools_option(command: argparse.ArgumentParser) -> None:
    """Add the option that declares tools; `read_tools` reads it."""
    command.add_argument("--tools", type=Path, metavar="FILE.json", help="tool definitions, a JSON array")


def read_tools(arguments: argparse.Namespace) -> Toolset:
    """Return the tools of the file that `--tools` names; raise CommandError if they cannot be read."""
    if arguments.tools is None:
        return Toolset()
    with name_in_errors(arguments.tools):
        definitions = msgspec.json.decode(arguments.tools.read_bytes())
        return Toolset.of(definitions if isinstance(definitions, list) else [definitions])


def make_parser_factory(arguments: argparse.Namespace) -> Callable[[], StreamParser]:
    """Return a function that makes a new parser as the options say; raise CommandError if they name nothing known."""
    dialects, tools = read_dialects(arguments), read_tools(arguments)

    def make() -> StreamParser:
        return StreamParser(arguments.wire, dialects=dialects, tools=tools)

    try:
        make()
    except ValueError as error:
        raise CommandError(str(error)) from error
    return make


def has_colours() -> bool:
    """Whether output may be coloured: on a terminal, unless `NO_COLOR` says otherwise (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def parse_size(text: str) -> int:
    """Return the number of bytes that an option gives; for argparse."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def read_pieces(name: str, size: int = READ_SIZE) -> Iterator[bytes]:
    """Yield the bytes of a file, or of standard input for "-", as they arrive, in pieces of at most that size."""
    if name == "-" and sys.stdin is None:
        raise CommandError("standard input is closed")
    is_file = name != "-"
    with name_in_errors(name), open(name if is_file else sys.stdin.fileno(), "rb", closefd=is_file) as file:
        while piece := os.read(file.fileno(), READ_SIZE):  # the bytes that have come, not as many as would fit
            yield from (piece[start : start + size] for start in range(0, len(piece), size))


def read_file(path: Path) -> bytes:
    """Return the bytes of a file; raise CommandError if it cannot be read."""
    with name_in_errors(path):
        return path.read_bytes()
