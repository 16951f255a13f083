"""`streamparse detect`: what a body or a text is, and what is in it.

A body is known by the wire that claims its frames; what no wire claims is read as the text of an answer.
Beside the format that "auto" found, every other is tried by name: so that one learns which to name.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from streamparse.cli.options import CommandError, add_tools_option, read_pieces, read_tools
from streamparse.cli.printing import escaped
from streamparse.dialects import DIALECTS
from streamparse.frames import AutoFramer
from streamparse.limits import Limits
from streamparse.parser import Dialects, StreamParser, TextParser
from streamparse.response import BrokenCall, ParsedResponse, ToolCall
from streamparse.wires import detect as wire_of

__all__ = ["Findings", "add_command", "detect"]

_NATIVE = "native"
_IN_TEXT = "in the text"


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What a body is; lengths are characters."""

    framing: str
    """A format of the framers, or `text`: not a body, but the text of an answer."""
    size: int
    frames: int = 0
    wire: str | None = None
    """None for a text, and for an error that any server may send."""
    dialect: str | None = None
    """The format in which `auto` found a call."""
    also: list[str] = []
    """The other formats that read a call in the same text, if they are named."""
    calls: list[ToolCall] = []
    broken_calls: list[BrokenCall] = []
    text: int = 0
    reasoning: int = 0
    reasoning_from: str | None = None
    """Where the thought was: `native`, or `in the text`."""
    finish_reason: str | None = None
    ok: bool = False
    errors: list[str] = []


def detect(body: bytes, tools: list[Any] | None = None) -> Findings:
    """Find out what a body is."""
    framer = AutoFramer(Limits())
    frames = [*framer.feed(body), *framer.close()]
    wire = next((name for frame in frames if (name := wire_of(frame))), None)
    parser, native = (StreamParser(wire or "auto", dialects=which, tools=tools) for which in ("auto", ()))
    for each in (parser, native):
        each.feed(body)
        each.close()
    if wire is None and "provider_error" not in parser.stats.errors:
        return _of_text(body.decode("utf-8", "replace"), tools)
    return _findings(
        parser,
        native.response,
        tools,
        framing=framer.format or "empty",
        size=len(body),
        frames=parser.stats.frames,
        wire=wire,
    )


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
        findings = detect(body, tools)
    except (TypeError, ValueError) as error:  # of the tools
        raise CommandError(str(error)) from error
    if arguments.json:
        sys.stdout.write(msgspec.json.encode(findings).decode() + "\n")
    else:
        for label, words in _lines(findings):
            print(f"{label:10}  {escaped(words)}")
    return 0


def _of_text(text: str, tools: list[Any] | None) -> Findings:
    parser = TextParser(tools=tools)
    parser.feed(text)
    parser.close()
    return _findings(parser, ParsedResponse(content=text), tools, framing="text", size=len(text))


def _findings(
    parser: StreamParser | TextParser, native: ParsedResponse, tools: list[Any] | None, **known: Any
) -> Findings:
    """Put together what the parser found, and what it would have found without looking into the text."""
    response, dialect = parser.response, parser.stats.dialect
    also = [name for name in DIALECTS if name != dialect and _reads(name, native.content, tools)]
    thought = (_NATIVE if native.reasoning else _IN_TEXT) if response.reasoning else None
    return Findings(
        **known,
        dialect=dialect,
        also=also,
        calls=response.tool_calls,
        broken_calls=response.broken_calls,
        text=len(response.content),
        reasoning=len(response.reasoning),
        reasoning_from=thought,
        finish_reason=response.finish_reason,
        ok=response.ok,
        errors=[f"{error.code}: {error.message}" for error in response.errors],
    )


def _reads(name: str, text: str, tools: list[Any] | None) -> bool:
    names: Dialects = (name,)
    parser = TextParser(names, tools=tools)
    parser.feed(text)
    parser.close()
    return any(call.source == "inband" for call in parser.response.tool_calls)


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
