"""`streamparse wires` and `streamparse formats`: what this version reads."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from streamparse.cli.formats import chapter, in_auto, page
from streamparse.cli.options import CommandError
from streamparse.dialects import DIALECTS
from streamparse.providers.wires import WIRES

__all__ = ["add_commands"]


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `wires` and `formats` to the commands."""
    wires = commands.add_parser("wires", help="list the wires: the ways a server streams")
    wires.set_defaults(run=lambda _: _print(WIRES))
    formats = commands.add_parser(
        "formats",
        help="list the dialects: the ways a model writes calls in text",
        description="List the dialects: name, what `auto` does, who writes it. With names, all that is known of these.",
    )
    formats.add_argument("names", nargs="*", metavar="NAME", help="a dialect to tell more of")
    formats.add_argument("--markdown", action="store_true", help="print the page of all of them")
    formats.set_defaults(run=_formats)


def _formats(arguments: argparse.Namespace) -> int:
    unknown = [name for name in arguments.names if name not in DIALECTS]
    if unknown:
        raise CommandError(f"unknown dialect {unknown[0]!r}; known are: {', '.join(DIALECTS)}")
    if arguments.markdown and not arguments.names:
        print(page(), end="")
        return 0
    if arguments.names:
        return _print(f"# {name}\n\n{chapter(DIALECTS[name])}" for name in arguments.names)
    width = max(map(len, DIALECTS))
    return _print(f"{name:{width}}  {in_auto(row):8}  {row.models}" for name, row in DIALECTS.items())


def _print(lines: Iterable[str]) -> int:
    for line in lines:
        print(line)
    return 0
