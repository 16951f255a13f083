"""The command line: `streamparse parse`, `detect`, `timeline`, `record`, `replay`, `bench`, `proxy`, `run`, `show`,
`approve`, and lists.

Without a command it prints its help.

Exit status: 0; 1 if the stream was not ended by its server (`parse`); 2 if the command cannot be carried out, with one
line on stderr; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import Any, Final, NoReturn

from streamparse.cli import bench, detect, dialects, journal, parse, proxy, record, run, timeline
from streamparse.cli.options import CommandError
from streamparse.providers.wires import WIRES

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command and return its exit status."""
    try:
        return _run(arguments)
    except CommandError as error:
        print(f"streamparse: {error}", file=sys.stderr or _NOWHERE)
        return 2
    except KeyboardInterrupt:
        return 130


def _run(arguments: Sequence[str] | None) -> int:
    if sys.stdout is None:
        raise CommandError("standard output is closed")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a model's answer holds what a terminal's encoding may lack
    try:
        try:
            options = _make_command_line().parse_args(arguments)
            status: int = options.run(options)
        finally:
            sys.stdout.flush()  # also after `--help`, and the output before a failure
    except BrokenPipeError:
        _forget_output()  # the reader has gone (`| head`): nothing is left to say
        return 0
    except OSError as error:
        _forget_output()
        raise CommandError(f"{error.filename or 'standard output'}: {error.strerror or error}") from error
    return status


def _print(text: str) -> int:
    print(text)
    return 0


def _print_version(_: argparse.Namespace) -> int:
    import streamparse  # noqa: PLC0415 - the package imports this module later

    return _print(f"streamparse {streamparse.__version__}")


def _forget_output() -> None:
    """Discard unwritten output: the interpreter would try it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


_NOWHERE: Final = io.StringIO()


class _CommandLine(argparse.ArgumentParser):
    """A parser whose errors are one line, like all errors here."""

    def print_help(self, file: Any = None) -> None:
        """Write the help; argparse itself ignores that it cannot be written."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def _describe_wire(name: str) -> str:
    """Return a wire's name, and the first line of its docstring."""
    return f"{name:{max(map(len, WIRES))}}  {(WIRES[name].__doc__ or '').partition(chr(10))[0]}"


def _make_command_line() -> argparse.ArgumentParser:
    description = "Read the streams of language models."
    parser: argparse.ArgumentParser = _CommandLine(prog="streamparse", description=description)
    parser.add_argument("--version", action="store_const", const=_print_version, dest="run", help="print the version")
    parser.set_defaults(run=lambda _: _print(parser.format_help().rstrip()))
    commands = parser.add_subparsers(metavar="COMMAND")
    for command in (parse, detect, timeline, record, bench, proxy, run, journal, dialects):
        command.add_command(commands)
    wires = commands.add_parser("wires", help="list the wires: the ways a server streams")
    wires.set_defaults(run=lambda _: _print("\n".join(map(_describe_wire, WIRES))))
    return parser
