"""`streamparse wires` and `streamparse formats`: what this version reads."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from streamparse.dialects import DIALECTS
from streamparse.wires import WIRES

__all__ = ["add_commands"]


def add_commands(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `wires` and `formats` to the commands."""
    wires = commands.add_parser("wires", help="list the wires: the ways a server streams")
    wires.set_defaults(run=lambda _: _print(WIRES))
    formats = commands.add_parser("formats", help="list the dialects: the ways a model writes calls in text")
    formats.set_defaults(run=lambda _: _print(DIALECTS))


def _print(names: Iterable[str]) -> int:
    for name in names:
        print(name)
    return 0
