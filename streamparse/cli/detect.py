"""`streamparse detect`: the kind and the contents of a body or a text, in words."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from streamparse.cli.options import add_tools_option, read_pieces, read_tools
from streamparse.cli.parse import escape, escape_json, to_json
from streamparse.detection import Findings, detect_format


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `detect` to the commands."""
    command = commands.add_parser("detect", help="say what a body or a text is", description=__doc__)
    command.add_argument("file", help="a recorded body, the text of an answer, or - for standard input")
    command.add_argument("--json", action="store_true", help="one JSON object")
    add_tools_option(command)
    command.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    findings = detect_format(b"".join(read_pieces(arguments.file)), read_tools(arguments))
    if arguments.json:
        text = to_json(findings)
        print(escape_json(text) if sys.stdout.isatty() else text)
    else:
        for label, words in _describe(findings):
            print(f"{label:10}  {escape(words)}")
    return 0


def _describe(findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield the findings as labels and words."""
    if findings.framing == "text":
        yield "framing", f"none: a text of {findings.size} characters"
    else:
        yield "framing", f"{findings.framing}: {findings.frames} frames, {findings.size} bytes"
        yield "wire", findings.wire or "an error that does not show the wire"
    yield "dialect", _describe_dialect(findings)
    for call in findings.calls:
        revoked = ", revoked" if call.revoked else ""
        yield f"call {call.index}", f"{call.name}({to_json(call.arguments)})  {call.source}{revoked}"
    for broken in findings.broken_calls:
        yield f"call {broken.index}", f"{broken.name}: broken, {broken.code}: {broken.raw}"
    yield "reasoning", f"{findings.reasoning} characters, {findings.reasoning_from}" if findings.reasoning else "none"
    yield "text", f"{findings.text} characters" if findings.text else "none"
    for error in findings.errors:
        yield "error", error
    if findings.framing != "text":
        ended = "ended by the server" if findings.ok else "not ended by the server"
        yield "finish", f"{findings.finish_reason or 'no reason given'}, {ended}"


def _describe_dialect(findings: Findings) -> str:
    """Say which dialects read a call in the text."""
    also = ", ".join(findings.also)
    if findings.dialect:
        return f"{findings.dialect}; if named, also {also}" if also else findings.dialect
    return f"none that auto takes for a call here; if named, {also}" if also else "none"
