"""`streamparse parse`: the events of a stream, printed as its bytes arrive: prose with labels in the margin, or JSON.

With `--out` it parses many bodies into a table; that is in `cli/bulk.py`.

Text from the stream is shown with control characters and invisible characters escaped: a model's answer
can neither move the cursor or set the title of a window, nor hide a text.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from functools import partial

import msgspec

from streamparse import events
from streamparse.cli import options
from streamparse.cli.timeline_model import PROSE_KINDS

MARGIN = 12  # source: the longest label, `revoked 10`, and two blanks

_INVISIBLE = (
    *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810)),
    *(*range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070)),
    *(0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0, *range(0xFFF0, 0xFFFC)),
    *(*range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE1000)),
)
"""Characters that have no width, end a line or turn the direction of writing: Unicode's `Default_Ignorable_Code_Point`,
the separators of lines and paragraphs, and the marks of annotations."""

_CONTROLS = (*range(0x20), *range(0x7F, 0xA0))

_ESCAPES = {code: f"\\x{code:02x}" for code in _CONTROLS if chr(code) not in "\n\t"} | {
    code: f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}" for code in _INVISIBLE
}

_JSON_ESCAPES = {
    code: json.dumps(chr(code))[1:-1] if code > 0x7F else "\\u007f" for code in (*range(0x7F, 0xA0), *_INVISIBLE)
}

_STYLES = {
    "reasoning": "2;3",
    "call": "36",
    "complete": "1;32",
    "revoked": "1;31",
    "item": "35",
    "error": "1;31",
    "done": "2",
}
"""ANSI attributes by the first word of a label."""


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `parse` to the commands."""
    command = commands.add_parser(
        "parse",
        help="print the events of a stream as its bytes arrive",
        description="Print the events of a stream as its bytes arrive. The exit status is 1 if the server did not end"
        " the turn itself. With --out, parse many bodies into a table, a row each; run again, the command goes on where"
        " it was stopped. The exit status is then 1 if something could not be read.",
    )
    command.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a recorded body, or - for standard input; with --out any number of files, folders, and tables of bodies",
    )
    command.add_argument("--json", action="store_true", help="one JSON object a line")
    command.add_argument(
        "--chunk", type=options.parse_size, metavar="N", help="feed the parser in pieces of at most N bytes"
    )
    command.add_argument(
        "--out", metavar="FILE", help="the table for many bodies: .jsonl, or .parquet, which needs pyarrow"
    )
    command.add_argument(
        "--jobs", type=options.parse_size, metavar="N", help="with --out: how many processes parse; default: 1"
    )
    command.add_argument(
        "--column",
        metavar="NAME",
        help="with --out: the column of bodies in tables, with dots for what is inside one; with it .jsonl and .ndjson"
        " files are tables, too; default: body in .parquet files, and a .jsonl file is one body, or a batch's results",
    )
    command.add_argument(
        "--include", metavar="PATTERN", help="with --out: which files of folders, such as '*.body'; default: all"
    )
    options.add_parser_options(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    if arguments.out is not None:
        from streamparse.cli.bulk import run_bulk  # noqa: PLC0415 - one stream is shown without what many need

        return run_bulk(arguments)
    if len(arguments.paths) > 1 or arguments.jobs is not None or arguments.column or arguments.include:
        raise options.CommandError("several paths, --jobs, --column and --include are for --out FILE")
    parser = options.make_parser_factory(arguments)()
    print_prose = ProsePrinter(styled=options.has_colours()).print
    show = partial(print_json, escaping=sys.stdout.isatty()) if arguments.json else print_prose
    for piece in options.read_pieces(arguments.paths[0], arguments.chunk or options.READ_SIZE):
        show(parser.feed(piece))
    show(parser.close())
    return 0 if parser.response.ok else 1


def print_json(batch: Iterable[events.Event], *, escaping: bool) -> None:
    """Print events as JSON, one object a line, as `msgspec.json.decode(line, type=Event)` reads it back, and flush.

    With `escaping`, strings have escapes for what a terminal would obey or not show.
    """
    output = sys.stdout.buffer
    for event in batch:
        line = to_json(event)
        output.write((escape_json(line) if escaping else line).encode() + b"\n")
    output.flush()


class ProsePrinter:
    """Prints events as running text; each change of speaker starts a new line with its label in the margin."""

    def __init__(self, styled: bool) -> None:
        """Use colours if `styled`."""
        self._styled = styled
        self._label = ""

    def print(self, batch: Iterable[events.Event]) -> None:
        """Write the events and flush."""
        for event in batch:
            self._print(event)
        sys.stdout.flush()

    def _print(self, event: events.Event) -> None:
        match event:
            case events.TextDelta() | events.ReasoningDelta() | events.RefusalDelta():
                self._run_on(PROSE_KINDS[type(event)], event.text)
            case events.ToolCallStart(index=index, id=id, name=name):
                self._start_line(f"call {index}", f"{name}  {id}\n")
            case events.ToolCallDelta(index=index, arguments=piece):
                self._run_on(f"call {index}", piece)
            case events.ToolCallComplete(index=index, name=name, source=source, arguments=arguments):
                self._start_line(f"complete {index}", f"{name}({to_json(arguments)})  {source}")
            case events.ToolCallRevoked(index=index, reason=reason):
                self._start_line(f"revoked {index}", reason)
            case events.ProviderItem(kind=kind, data=data):
                self._start_line("item", f"{kind}  {to_json(data)}")
            case events.Error():
                self._start_line("error", _describe_error(event))
            case events.Done():
                self._start_line("done", _describe_end(event))
                sys.stdout.write("\n")

    def _run_on(self, label: str, text: str) -> None:
        """Write text that continues the last text under the label."""
        if label != self._label:
            self._start_line(label, text)
        else:
            self._write(text)

    def _start_line(self, label: str, text: str) -> None:
        sys.stdout.write(("\n" if self._label else "") + label.ljust(MARGIN))
        self._label = label
        self._write(text)

    def _write(self, text: str) -> None:
        text = escape(text).replace("\n", "\n" + " " * MARGIN)
        style = _STYLES.get(self._label.split(" ")[0]) if self._styled else None
        sys.stdout.write(f"\x1b[{style}m{text}\x1b[0m" if style else text)


def escape(text: str) -> str:
    """Return text from a stream as it may be shown on a terminal."""
    return text.translate(_ESCAPES)


def escape_json(text: str) -> str:
    """Return JSON as it may be shown on a terminal; its value is the same."""
    return text.translate(_JSON_ESCAPES)


def to_json(data: object) -> str:
    """Return data as JSON text."""
    return msgspec.json.encode(data).decode()


def _describe_error(error: events.Error) -> str:
    call = f", call {error.index}" if error.index is not None else ""
    byte = f", byte {error.offset}" if error.offset is not None else ""
    return f"{error.code} ({error.scope}{call}{byte}): {error.message}"


def _describe_end(done: events.Done) -> str:
    ended = f"ended by the server: {done.finish_reason or 'no reason given'}" if done.ok else "not ended by the server"
    return f"{ended}  {to_json(done.usage)}" if done.usage else ended
