"""The command line: `streamparse parse`, `detect`, `timeline`, `bench`, `proxy`, `wires`, `formats`.

Exit status: 0; 1 if the stream was not ended by its server (`parse`); 2 if the command cannot be carried out, with one
line on stderr; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from streamparse.cli import bench, detect, listing, parse, proxy, timeline
from streamparse.cli.options import CommandError

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry out one command and return its exit status."""
    options = _command_line().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a model's answer holds what a terminal's encoding may lack
    try:
        status: int = options.run(options)
        sys.stdout.flush()
    except CommandError as error:
        print(f"streamparse: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has gone (`| head`).  Nothing is left to say, nor may the interpreter try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        return 130
    return status


class _CommandLine(argparse.ArgumentParser):
    """A parser whose errors are one line, as all errors here."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see --help)\n")


def _command_line() -> argparse.ArgumentParser:
    description = "Read the streams of language models."
    parser: argparse.ArgumentParser = _CommandLine(prog="streamparse", description=description)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    parse.add_command(commands)
    detect.add_command(commands)
    timeline.add_command(commands)
    bench.add_command(commands)
    proxy.add_command(commands)
    listing.add_commands(commands)
    return parser
