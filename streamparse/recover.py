"""Whole responses, and what is done at the end about text that still looks like a call.

The strategies, in order: the wire's native fields, markup in the text, JSON in the content.  The first two are the
streaming engine itself, fed at once: there is one path.  JSON in the content is believed only where it
stands alone at the end of the message, is whole, and names a declared tool: nothing is ever guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import msgspec

from streamparse.assembler import Assembler, Halt
from streamparse.dialects import InBand
from streamparse.dialects.envelope import Found, calls_in
from streamparse.frames import FRAMERS, AutoFramer, Frame
from streamparse.jsonread import JSONError, read
from streamparse.jsonscan import Scanner
from streamparse.limits import Limits
from streamparse.response import ParsedResponse
from streamparse.sink import Sink
from streamparse.tools import Toolset
from streamparse.wires import WIRES, detect, foreign_error, tell_provider_error

__all__ = ["CompositeParser", "parse_response", "recover"]

_CANDIDATE = re.compile(r"^[ \t]*(?:```[\w-]*[ \t]*\r?\n\s*)?(?=[\[{])", re.MULTILINE)
_REST = re.compile(r"[\s;]*(?:```\s*)?")
_CANDIDATES = 64


def recover(content: str, tools: Toolset, sink: Sink, limits: Limits) -> None:
    """Tell the calls that stand as JSON at the end of a text, if one of them names a declared tool."""
    calls = list(_json_calls(content, limits)) if tools else []
    if not any(found.name in tools for found in calls):
        return
    for found in calls:
        call = sink.call_start(found.name, found.id, "recovered")
        sink.call_arguments(call, msgspec.json.encode(found.arguments).decode())
        sink.call_end(call)


def _json_calls(content: str, limits: Limits) -> Iterator[Found]:
    """The calls in the run of JSON values, in or out of a fence, that ends the text."""
    for number, candidate in enumerate(_CANDIDATE.finditer(content)):
        if number == _CANDIDATES:
            return
        calls: list[Found] = []
        at = candidate.end()
        while at < len(content) and content[at] in "[{":
            end = Scanner(limits.max_depth).scan(content, at)
            if end <= at:
                break
            found = _read_calls(content[at:end], limits)
            if not found:
                break
            calls += found
            rest = _REST.match(content, end)
            at = rest.end() if rest is not None else end
            again = _CANDIDATE.match(content, at)
            at = again.end() if again is not None else at
        if calls and at == len(content):
            yield from calls
            return


def _read_calls(text: str, limits: Limits) -> list[Found]:
    try:
        return list(calls_in(read(text, "heal", limits).value))
    except JSONError:
        return []


class CompositeParser:
    """Parses whole responses: dict, str or bytes, of any known wire, or the bare text of an answer.

    Never raises on input; what is wrong with it is in `ParsedResponse.errors`.
    """

    def __init__(
        self,
        wire: str = "auto",
        *,
        dialects: Iterable[str] | Literal["auto"] = "auto",
        tools: Iterable[Any] | None = None,
        reasoning: Literal["auto", "open", "closed"] = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        if wire != "auto" and wire not in WIRES:
            raise ValueError(f"unknown wire {wire!r}; known are: auto, {', '.join(WIRES)}")
        self._wire = wire
        self._dialects = dialects if isinstance(dialects, str) else tuple(dialects)
        self._tools = Toolset.of(tools)
        self._reasoning = reasoning
        self._limits = limits
        self._sinks()  # raises at once if a name is unknown

    def parse(self, body: Any) -> ParsedResponse:
        """Parse one body; `raw_response` is the body itself."""
        assembler, inband = self._sinks()
        try:
            self._tell(body, inband or assembler, assembler)
            if inband is not None:
                inband.close()
                if assembler.ended and not assembler.calls_found:
                    recover(assembler.response.content, self._tools, assembler, self._limits)
            assembler.close()
        except Halt:
            pass  # the response says why
        response = assembler.response
        response.raw_response = body
        return response

    def _sinks(self) -> tuple[Assembler, InBand | None]:
        assembler = Assembler(self._tools, self._limits)
        if not self._dialects:
            return assembler, None
        return assembler, InBand(assembler, self._dialects, self._tools, self._reasoning, self._limits)

    def _tell(self, body: Any, sink: Sink, assembler: Assembler) -> None:
        """Tell a body: the frames of a wire, or else text."""
        framer = AutoFramer(self._limits)
        frames = _frames(body, framer)
        names = [self._wire] if self._wire != "auto" else [name for frame in frames if (name := detect(frame))]
        error = foreign_error(frames[0], None if self._wire == "auto" else self._wire) if frames else None
        if error is not None:
            tell_provider_error(sink, error)
            del frames[0]
        if names or framer.format in FRAMERS:
            wire = WIRES[names[0] if names else next(iter(WIRES))](sink, self._tools, self._limits)
            for frame in frames:
                assembler.record.place = frame
                wire.frame(frame)
            if framer.error is not None:
                assembler.halt(framer.error.code, framer.error.message)
            wire.close()
            if isinstance(body, Mapping):  # decoded by someone who had all of it
                assembler.end()
            return
        if error is not None:
            return
        text = bytes(body).decode("utf-8", "replace") if isinstance(body, (bytes, bytearray, memoryview)) else body
        if isinstance(text, str):
            sink.text(text)
            assembler.end()


def _frames(body: Any, framer: AutoFramer) -> list[Frame]:
    if isinstance(body, Mapping):
        return [Frame(msgspec.json.encode(body))]
    if isinstance(body, str):
        body = body.encode("utf-8", "replace")
    if not isinstance(body, (bytes, bytearray, memoryview)):
        return []
    return [*framer.feed(bytes(body)), *framer.close()]


def parse_response(
    body: Any,
    wire: str = "auto",
    *,
    dialects: Iterable[str] | Literal["auto"] = "auto",
    tools: Iterable[Any] | None = None,
    reasoning: Literal["auto", "open", "closed"] = "auto",
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> ParsedResponse:
    """Parse a whole response in one call; see `CompositeParser`."""
    return CompositeParser(wire, dialects=dialects, tools=tools, reasoning=reasoning, limits=limits).parse(body)
