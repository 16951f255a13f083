"""Reads the inputs of `compare_trees.py` with the package of one tree, in every way, and writes what came of them.

    python tests/trees/reader.py TREE INPUTS OUT [--keep NAME ...]

`OUT` has one JSON object a line for each input and way: how many findings there were, a digest over them, and the
messages of errors, which are no part of the digest.  With `--keep` only the inputs of these names are read, and all
findings are written out.

A finding is a place ("feed 12") and what was found there: the events of one feed, as they came and unmerged, or bytes
that were written.  So an event that comes later than before is a difference, though the list of all events is the same.

Only public names of the package are used.  Those that do not stand at its top level are in `PLACES`: a room that moves
gets another entry there.
"""

from __future__ import annotations

import argparse
import base64
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import msgspec
from msgspec.structs import astuple, replace

import streamparse as sp

__all__ = ["WAYS", "Finding", "find_name"]

PLACES = {
    "EMITTERS": ("emit", "emitting", "providers", "writing"),
    "Rewriter": ("proxy.rewriter", "proxy"),
    "Toolset": ("tools",),
    "ADAPTERS": ("adapters", "providers", "writing"),
    "PROMPTS": ("adapters", "writing", "dialects"),
    "format_calls_as_text": ("adapters", "writing", "dialects"),
    "format_results_as_text": ("adapters", "writing", "dialects"),
    "format_system_prompt": ("adapters", "writing", "dialects"),
    "translate_messages": ("adapters", "providers", "writing"),
    "translate_request": ("adapters", "providers", "writing"),
}
"""Modules of the package that may hold a name, in the order in which they are tried."""

SMALL = 2000
"""Bytes, or characters, up to which an input is also fed one by one, else in sevens."""

DETECTED = 32
"""One of so many inputs is given to `detect_format`."""

_ERROR = re.compile(rb'("type":"error","scope":"[a-z]*","code":"[a-z0-9_]*","message":)"((?:[^"\\]|\\.)*)"')
"""An `Error` as JSON; quotation marks inside of strings are escaped, so no text looks like one."""
_WRITTEN_ERROR = re.compile(rb'("error":(?:\{[^{}]*?"message":)?)"((?:[^"\\]|\\.)*)"')
"""An error in the words of OpenAI, Anthropic or Ollama."""
_BLANK_LINES = re.compile(rb"(?<=\n\n)|(?<=\r\n\r\n)")
_LINES = re.compile(rb"(?<=\n)")


class Finding(NamedTuple):
    """What was found in one place; `messages` is for people, and is compared apart."""

    place: str
    value: Any
    messages: tuple[str, ...] = ()


Findings: TypeAlias = Iterator[Finding]


@cache
def find_name(name: str) -> Any:
    """A public name of the package, wherever it stands in this tree; the process ends if it is not found."""
    for place in PLACES[name]:
        module = f"streamparse.{place}"
        parent = module.rpartition(".")[0]
        if find_spec(parent) and find_spec(module):
            found = getattr(import_module(module), name, None)
            if found is not None:
                return found
    raise SystemExit(f"{name} is in none of {PLACES[name]}: say in PLACES where it went")


# -- feeding a parser ------------------------------------------------------------------------------------------------


def _feed(parser: Any, pieces: Iterable[Any], **end: Any) -> Findings:
    for number, piece in enumerate(pieces):
        if events := parser.feed(piece):
            yield Finding(f"feed {number}", events)
    yield Finding("close", parser.close(**end))
    yield Finding("response", replace(parser.response, raw_response=None))


def _feed_and_look(parser: Any, pieces: Iterable[Any]) -> Findings:
    """As `_feed`, and the arguments so far of each open call behind each piece."""
    is_open: dict[int, bool] = {}
    for number, piece in enumerate(pieces):
        events = parser.feed(piece)
        yield Finding(f"feed {number}", events)
        for event in events:
            if isinstance(event, sp.ToolCallStart):
                is_open[event.index] = True
            elif isinstance(event, (sp.ToolCallComplete, sp.Error)) and event.index is not None:
                is_open.pop(event.index, None)
        for index in is_open:
            yield Finding(f"partial {index} behind feed {number}", parser.partial(index))
    yield Finding("close", parser.close())


def _cut(data: Any, size: int | None = None) -> list[Any]:
    size = size or (1 if len(data) <= SMALL else 7)
    return [data[start : start + size] for start in range(0, len(data), size)]


def _cut_by_message(body: bytes) -> list[bytes]:
    """Cut behind every message: by the lengths of AWS, behind blank lines, or behind every line if there are none."""
    if body[:1] == b"\0":
        pieces, start = [], 0
        while start < len(body):
            end = start + max(int.from_bytes(body[start : start + 4], "big"), 1)
            pieces.append(body[start:end])
            start = end
        return pieces
    return [piece for piece in re.split(_BLANK_LINES if _BLANK_LINES.search(body) else _LINES, body) if piece]


# -- the ways of each kind of input ----------------------------------------------------------------------------------


def read_stream(case: Any) -> Iterator[tuple[str, Findings]]:
    wire, options = case["wire"], {**case["options"]}
    body = base64.b64decode(case["body"])
    options["tools"] = find_name("Toolset").of(options.get("tools"))

    def make(wire: str = wire, **changed: Any) -> Any:
        return sp.StreamParser(wire, **(options | changed))

    messages = _cut_by_message(body)
    yield "whole", _feed(make(), [body])
    yield "in small pieces", _feed(make(), _cut(body))
    yield "message by message", _feed_and_look(make(), messages)
    if case["format"]:
        yield "with its format", _feed(make(dialects=[case["format"]]), messages)
    elif not case["is_brief"]:
        yield "with all dialects", _feed(make(dialects="all"), messages)
    if not case["is_brief"]:
        yield "by a wire that is not named", _feed(make("auto"), messages)
        yield "without dialects", _feed(make(dialects=()), messages)
        yield "with calls that are quoted", _feed(make(quoted="calls"), [body])
        yield "as a whole body", _parse(body, wire, options)
        yield from _write_again(make, messages)
    if _is_drawn(case):
        yield "detected", _detect(body, options["tools"])


def _parse(body: Any, wire: str, options: Any) -> Findings:
    known = {key: value for key, value in options.items() if key != "choice"}
    response = sp.parse_response(body, wire, **known)
    yield Finding("response", replace(response, raw_response=None))


def _is_drawn(case: Any) -> bool:
    """Whether an input is one of those that are also detected, which costs as much as all the rest."""
    return crc32(case["name"].encode()) % DETECTED == 0


def _detect(body: Any, tools: Any) -> Findings:
    yield Finding("found", msgspec.json.encode(astuple(sp.detect_format(body, tools))))


def _write_again(make: Callable[[], Any], messages: list[bytes]) -> Iterator[tuple[str, Findings]]:
    """The answer on every wire that can be written, and as the message that is sent back to every provider."""
    emitters, rewriter = find_name("EMITTERS"), find_name("Rewriter")
    for target, emitter in emitters.items():
        yield f"written as {target}", _emit(make(), emitter, messages)
        yield f"proxied to {target}", _rewrite(rewriter(make(), _make(emitter)), messages)
        yield f"proxied to {target}, whole", _rewrite_whole(rewriter(make(), _make(emitter)), messages)
    parser = make()
    for message in messages:
        parser.feed(message)
    parser.close()
    yield "sent back", _send_back(parser.response)


def _make(emitter: Any) -> Any:
    return emitter(model="m", id="i", created=0)


def _emit(parser: Any, emitter: Any, messages: list[bytes]) -> Findings:
    writer = _make(emitter)
    for number, message in enumerate(messages):
        yield Finding(f"feed {number}", b"".join([writer.emit(event) for event in parser.feed(message)]))
    yield Finding("close", b"".join([writer.emit(event) for event in parser.close()]))
    yield Finding("whole", _make(emitter).whole(parser.response))


def _rewrite(rewriter: Any, messages: list[bytes]) -> Findings:
    for number, message in enumerate(messages):
        if written := rewriter.feed(message):
            yield Finding(f"feed {number}", written)
    yield Finding("close", rewriter.close())
    yield Finding("state", msgspec.json.encode([rewriter.over, rewriter.failed, rewriter.problem]))


def _rewrite_whole(rewriter: Any, messages: list[bytes]) -> Findings:
    for message in messages:
        rewriter.feed(message)
    yield Finding("whole", rewriter.whole())


def _as_message(response: Any, provider: str) -> Any:
    """The message for a provider; up to version 0.1.0 it was a method."""
    return response.as_message(provider) if hasattr(response, "as_message") else sp.as_message(response, provider)


def _send_back(response: Any) -> Findings:
    """The message for each provider, and this message in the words of each other one."""
    translate, providers = find_name("translate_messages"), list(find_name("ADAPTERS"))
    written = {provider: _as_message(response, provider) for provider in providers}
    for provider, message in written.items():
        yield Finding(f"to {provider}", message)
    if response.tool_calls or response.items:
        for source, target in product(providers, providers):
            message = written[source]
            told = translate(message if isinstance(message, list) else [message], source, target)
            yield _translated(f"of {source} to {target}", told)


def read_text(case: Any) -> Iterator[tuple[str, Findings]]:
    text, options = case["text"], {**case["options"]}
    options["tools"] = find_name("Toolset").of(options.get("tools"))
    for dialects in case["dialects"]:
        label = f"dialects {json.dumps(dialects)}"

        def make(dialects: Any = dialects) -> Any:
            return sp.TextParser(dialects, **options)

        yield f"{label}, whole", _feed(make(), [text], stopped=True)
        yield f"{label}, in small pieces", _feed(make(), _cut(text), stopped=True)
        yield f"{label}, cut", _feed(make(), [text], stopped=False)
    yield "as a whole body", _parse(text, "auto", options)
    if _is_drawn(case):
        yield "detected", _detect(text, options["tools"])


def read_body(case: Any) -> Iterator[tuple[str, Findings]]:
    wire, options, body = case["wire"], case["options"], case["body"]
    written = json.dumps(body, ensure_ascii=False)
    yield "as an object", _parse(body, wire, options)
    yield "as bytes", _parse(written.encode("utf-8", "replace"), wire, options)
    yield "as a text", _parse(written, wire, options)
    yield "by a wire that is not named", _parse(body, "auto", options)
    yield "without dialects", _parse(body, wire, options | {"dialects": ()})
    yield "with all dialects", _parse(body, wire, options | {"dialects": "all"})
    if _is_drawn(case):
        yield "detected", _detect(body, options["tools"])


def read_request(case: Any) -> Iterator[tuple[str, Findings]]:
    """The request in the words of every provider, and from there in those of every other."""
    yield "translated", _translate_request(case["request"], case["provider"])


def _translate_request(request: Any, source: str) -> Findings:
    translate, providers = find_name("translate_request"), find_name("ADAPTERS")
    tools = find_name("translate_messages"), sp.translate_tools
    written = {}
    for target in providers:
        written[target], finding = _try(f"to {target}", translate, request, source, target)
        yield finding
    for middle, target in product(providers, providers):
        if isinstance(written[middle], dict):
            yield _try(f"by {middle} to {target}", translate, written[middle], middle, target)[1]
    for target in providers:
        yield _try(f"messages to {target}", tools[0], request.get("messages"), source, target)[1]
        yield _try(f"tools to {target}", tools[1], request.get("tools") or [], target)[1]


def _try(place: str, translate: Callable[..., Any], *arguments: Any) -> tuple[Any, Finding]:
    """What a translation gives, or the ValueError of one that is not known."""
    try:
        told = translate(*arguments)
    except ValueError as error:
        return None, Finding(place, "ValueError", (str(error),))
    return told.result, _translated(place, told)


def _translated(place: str, told: Any) -> Finding:
    """What a translation gave and lost; the sentence that a loss says is for people."""
    lost = [astuple(loss) for loss in told.lost]
    facts = [[value for value in loss if not _is_sentence(value)] for loss in lost]
    sentences = [value for loss in lost for value in loss if _is_sentence(value)]
    return Finding(place, [told.result, facts], tuple(sentences))


def _is_sentence(value: Any) -> bool:
    return isinstance(value, str) and " " in value


def read_conversation(case: Any) -> Iterator[tuple[str, Findings]]:
    tools = [sp.Tool(**tool) for tool in case["tools"]]
    calls = [sp.ToolCall(**call) for call in case["calls"]]
    results = [sp.ToolResult(**result) for result in case["results"]]
    for name, adapter in find_name("ADAPTERS").items():
        yield f"in the words of {name}", _format(adapter, tools, calls, results)
    yield "as text", _format_as_text(tools, calls, results)
    yield "definitions translated", _translate_tools(tools)


def _format(adapter: Any, tools: list[Any], calls: list[Any], results: list[Any]) -> Findings:
    definitions = adapter.format_tools(tools)
    yield Finding("tools", definitions)
    yield Finding("tools read again", [[tool.name, tool.parameters] for tool in adapter.read_tools(definitions)])
    written = adapter.format_calls(calls)
    yield Finding("calls", written)
    yield Finding("calls read again", adapter.read_calls(written))
    messages = adapter.format_results(results)
    yield Finding("results", messages)
    yield Finding("results read again", adapter.read_results(messages, calls))
    yield Finding("prompt", adapter.format_system_prompt(tools))


def _format_as_text(tools: list[Any], calls: list[Any], results: list[Any]) -> Findings:
    write_calls, write_results = find_name("format_calls_as_text"), find_name("format_results_as_text")
    write_prompt = find_name("format_system_prompt")
    for dialect in find_name("PROMPTS"):
        for place, write in (
            ("prompt", lambda dialect=dialect: write_prompt(tools, dialect)),
            ("calls", lambda dialect=dialect: write_calls(calls, dialect, tools)),
            ("results", lambda dialect=dialect: write_results(results, dialect, tools)),
        ):
            try:
                text = write()
            except ValueError as error:  # what the dialect cannot say
                yield Finding(f"{place} in {dialect}", "ValueError", (str(error),))
                continue
            yield Finding(f"{place} in {dialect}", text)


def _translate_tools(tools: list[Any]) -> Findings:
    adapters = find_name("ADAPTERS")
    for source, target in product(adapters, adapters):
        told = sp.translate_tools(adapters[source].format_tools(tools), target)
        yield _translated(f"of {source} to {target}", told)


WAYS: dict[str, Callable[[Any], Iterator[tuple[str, Findings]]]] = {
    "stream": read_stream,
    "text": read_text,
    "body": read_body,
    "request": read_request,
    "conversation": read_conversation,
}
"""What reads each kind of input: its ways, each with a name."""


# -- what is kept of it ----------------------------------------------------------------------------------------------


def _until_raised(findings: Findings) -> Findings:
    """The findings, and what ended them if that was an exception: it is a finding, too."""
    while True:
        try:
            finding = next(findings, None)
        except Exception as error:  # noqa: BLE001 - whatever a tree does is reported
            yield Finding("raised", type(error).__name__, (str(error),))
            return
        if finding is None:
            return
        yield finding


def _encode(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    try:
        return msgspec.json.encode(value)
    except (OverflowError, RecursionError, TypeError, ValueError):  # long integers, deep values, halves of characters
        return repr(value).encode("utf-8", "backslashreplace")


def _without_messages(finding: Finding) -> tuple[bytes, list[str]]:
    """The finding as bytes, and the messages of errors that stood in it."""
    messages = list(finding.messages)
    pattern = _WRITTEN_ERROR if isinstance(finding.value, bytes) else _ERROR
    data = _encode(finding.value)
    if b'"error"' not in data:
        return data, messages

    def blank(match: re.Match[bytes]) -> bytes:
        messages.append(match[2].decode("utf-8", "replace"))
        return match[1] + b'""'

    return pattern.sub(blank, data), messages


def _count(findings: Findings) -> dict[str, Any]:
    """How many there are, their digest, and all messages."""
    digest = blake2b(digest_size=12)
    messages: list[str] = []
    count = 0
    for finding in _until_raised(findings):
        data, told = _without_messages(finding)
        digest.update(b"%s\n%d\n%s" % (finding.place.encode(), len(data), data))
        messages += told
        count += 1
    return {"count": count, "digest": digest.hexdigest(), "messages": messages}


def _each(findings: Findings) -> Findings:
    """The findings, with each of several events by itself."""
    for finding in _until_raised(findings):
        several = isinstance(finding.value, list) and all(isinstance(each, msgspec.Struct) for each in finding.value)
        for value in finding.value if several else [finding.value]:
            yield Finding(finding.place, value, finding.messages)


def _keep(findings: Findings) -> dict[str, Any]:
    """All findings."""
    return {
        "findings": [
            [each.place, _without_messages(each)[0].decode("utf-8", "backslashreplace")] for each in _each(findings)
        ]
    }


def read_all(inputs: Path, out: Path, names: set[str]) -> None:
    """Read the inputs in all their ways; one line for each."""
    account = _keep if names else _count
    with inputs.open("rb") as lines, out.open("wb") as written:
        for line in lines:
            case = msgspec.json.decode(line)
            if not names or case["name"] in names:
                for way, findings in _ways(case):
                    row = {"name": case["name"], "way": way, **account(findings)}
                    written.write(msgspec.json.encode(row) + b"\n")


def _ways(case: Any) -> Iterator[tuple[str, Findings]]:
    """The ways of an input; an exception that keeps a tree from even beginning one is its last way."""
    ways = WAYS[case["kind"]](case)
    while True:
        try:
            way = next(ways, None)
        except Exception as error:  # noqa: BLE001 - whatever a tree does is reported
            yield "begun", iter([Finding("raised", type(error).__name__, (str(error),))])
            return
        if way is None:
            return
        yield way


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("tree", type=Path)
    arguments.add_argument("inputs", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--keep", nargs="*", default=[])
    given = arguments.parse_args()
    package = Path(sp.__file__).resolve().parents[1]
    if package != given.tree.resolve():
        print(f"the package is that of {package}, and not of {given.tree}", file=sys.stderr)
        return 2
    read_all(given.inputs, given.out, set(given.keep))
    return 0


if __name__ == "__main__":
    sys.exit(main())
