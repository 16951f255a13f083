"""`streamparse show` and `approve`: what a run has done, by its journal, and a decision on a call that waits."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from streamparse.cli.options import CommandError
from streamparse.cli.parse import escape_json
from streamparse.runtime import ChangedRun, Journal, JournalBusy
from streamparse.runtime.replay import list_items


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `show` and `approve` to the commands."""
    show = commands.add_parser("show", help="show a run by its journal", description="Print a run, an item a line.")
    show.add_argument("journal", help="the journal of a run, such as run.jsonl")
    show.set_defaults(run=_show)
    approve = commands.add_parser(
        "approve",
        help="decide on a call that waits",
        description="Approve a call that waits, or list those that do. The run goes on when its program runs it again.",
    )
    approve.add_argument("journal", help="the journal of a run, such as run.jsonl")
    approve.add_argument("key", nargs="?", help="the key of the call; without one those that wait are listed")
    approve.add_argument("--deny", metavar="WHY", help="do not let it run; the model reads why")
    approve.set_defaults(run=_approve)


def _show(arguments: argparse.Namespace) -> int:
    try:
        for item in list_items(_open(arguments).read()):
            _print_line(item)
    except ChangedRun as error:
        raise CommandError(str(error)) from error
    return 0


def _approve(arguments: argparse.Namespace) -> int:
    journal = _open(arguments)
    try:
        if arguments.key is None:
            for request in journal.requests:
                _print_line(request)
        elif arguments.deny is None:
            journal.approve(arguments.key)
        else:
            journal.deny(arguments.key, arguments.deny)
    except (JournalBusy, ValueError) as error:
        raise CommandError(str(error)) from error
    return 0


def _open(arguments: argparse.Namespace) -> Journal:
    if not Path(arguments.journal).exists():
        raise CommandError(f"{arguments.journal}: no such file")
    return Journal(arguments.journal)


def _print_line(value: object) -> None:
    text = msgspec.json.encode(value).decode()
    print(escape_json(text) if sys.stdout.isatty() else text)
