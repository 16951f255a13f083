"""`streamparse detect`: what a body or a text is, and what is in it, in words."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import msgspec

from streamparse.cli.options import CommandError, add_tools_option, read_pieces, read_tools
from streamparse.cli.printing import escaped, escaped_json
from streamparse.parser.detection import Findings, detect_format

__all__ = ["add_command"]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `detect` to the commands."""
    command = commands.add_parser("detect", help="say what a body or a text is", description=__doc__)
    command.add_argument("file", help="a recorded body, the text of an answer, or - for standard input")
    command.add_argument("--json", action="store_true", help="one JSON object")
    add_tools_option(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    tools = read_tools(arguments.tools) if arguments.tools else None
    body = b"".join(read_pieces(arguments.file))
    try:
        findings = detect_format(body, tools)
    except (TypeError, ValueError) as error:  # of the tools
        raise CommandError(str(error)) from error
    except RecursionError as error:
        raise CommandError(f"{arguments.tools}: nested too deeply") from error
    if arguments.json:
        text = msgspec.json.encode(findings).decode()
        sys.stdout.write((escaped_json(text) if sys.stdout.isatty() else text) + "\n")
    else:
        for label, words in _lines(findings):
            print(f"{label:10}  {escaped(words)}")
    return 0


def _lines(findings: Findings) -> Iterator[tuple[str, str]]:
    """The findings as labels and words."""
    if findings.framing == "text":
        yield "framing", f"none: a text of {findings.size} characters"
    else:
        yield "framing", f"{findings.framing}: {findings.frames} frames, {findings.size} bytes"
        yield "wire", findings.wire or "an error that does not show the wire"
    yield from _dialects(findings)
    for call in findings.calls:
        written = msgspec.json.encode(call.arguments).decode()
        yield f"call {call.index}", f"{call.name}({written})  {call.source}" + ", revoked" * call.revoked
    for broken in findings.broken_calls:
        yield f"call {broken.index}", f"{broken.name}: broken, {broken.code}: {broken.raw}"
    yield "reasoning", f"{findings.reasoning} characters, {findings.reasoning_from}" if findings.reasoning else "none"
    yield "text", f"{findings.text} characters" if findings.text else "none"
    for error in findings.errors:
        yield "error", error
    if findings.framing != "text":
        ended = "ended by the server" if findings.ok else "not ended by the server"
        yield "finish", f"{findings.finish_reason or 'no reason given'}, {ended}"


def _dialects(findings: Findings) -> Iterator[tuple[str, str]]:
    """Which formats read a call in the text."""
    if findings.dialect:
        also = f"; if named, also {', '.join(findings.also)}" if findings.also else ""
        yield "dialect", findings.dialect + also
    elif findings.also:
        yield "dialect", f"none that auto takes for a call here; if named, {', '.join(findings.also)}"
    else:
        yield "dialect", "none"
