"""The streaming engine, fed a whole response at once: the one path that every parser of this room goes.

    body ──frames──▶ wire ──verbs──▶ [ in-band ] ──verbs──▶ assembler ──▶ ParsedResponse

A body whose wire does not show is the text of an answer, unless it is an error as every provider writes one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from streamparse.assembler import Assembler
from streamparse.dialects import CATALOGUE, Dialects, InBandParser, Quoted, Reasoning, check_quoted, check_reasoning
from streamparse.limits import Limits
from streamparse.parser.body import Body, body_of
from streamparse.parser.parse import Parse
from streamparse.providers.wires import foreign_error, wire_named
from streamparse.response import ParsedResponse
from streamparse.tools import Toolset

__all__ = ["Dialects", "Engine", "NativeReader", "Reading", "Reasoning"]


class Reading(msgspec.Struct, frozen=True):
    """What was read, and as what."""

    response: ParsedResponse
    body: Body
    wire: str | None
    """None if it was read as text."""
    dialect: str | None
    """The dialect in which a call was found."""


class Engine:
    """How whole responses are read.

    `wire` is forced; with "auto" it is the one that the body shows, or else `otherwise`.  Unknown names raise
    ValueError, what is no response TypeError; no response raises.
    """

    def __init__(
        self,
        wire: str = "auto",
        *,
        otherwise: str = "openai-chat",
        dialects: Dialects = "auto",
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
        quoted: Quoted = "text",
    ) -> None:
        check_reasoning(reasoning)
        check_quoted(quoted)
        for name in (wire, otherwise):
            if name != "auto":
                wire_named(name)
        self.tools = Toolset.of(tools)
        self.dialects = dialects if isinstance(dialects, str) else tuple(dialects)
        self.limits = limits
        self._wire = wire
        self._otherwise = otherwise
        self._reasoning: Reasoning = reasoning
        self._quoted: Quoted = quoted
        self._begin()  # an unknown dialect raises at once

    def read(self, thing: Any) -> Reading:
        """Read native fields, and calls and thoughts in the text."""
        body = body_of(thing, self.limits)
        return self._close(thing, body, self._tell(body))

    def read_json(self, thing: Any) -> Reading:
        """As `read`; where that finds no call, JSON in the content may be calls, and is taken out of it."""
        body = body_of(thing, self.limits)
        parse = self._tell(body)
        parse.recover()
        return self._close(thing, body, parse)

    def text(self, text: str) -> ParsedResponse:
        """Read a text, which is taken as nothing else."""
        parse = self._begin()
        parse.tell_text(text)
        return parse.close()

    def json_in(self, text: str) -> ParsedResponse:
        """Read the calls that stand as JSON in a text, which is taken as nothing else."""
        parse = self._begin()
        parse.tell_text(text)
        parse.recover()
        return parse.close()

    def _tell(self, body: Body) -> Parse:
        """Tell a body by the wire that is named, or by the one that it shows if it says nothing in the words of that.

        What is kept of an answer often has another form than the answer, such as a message whose content is a text.
        """
        forced = None if self._wire == "auto" else self._wire
        parse = self._tell_as(body, forced)
        is_other = body.wire not in (None, forced) and parse.wire == forced is not None
        return self._tell_as(body, body.wire) if is_other and body.whole and parse.silent else parse

    def _tell_as(self, body: Body, forced: str | None) -> Parse:
        parse = self._begin()
        wire = forced or body.wire
        error = foreign_error(body.frames[0], forced) if body.frames and (forced or not body.answer) else None
        if body.text is None or error is not None or (wire is not None and not body.prose) or body.streamed:
            parse.tell_frames(body, wire or self._otherwise, error)
            if wire is None:
                parse.disown(body)
        else:
            parse.tell_text(body.text)
        return parse

    def _begin(self) -> Parse:
        assembler = Assembler(self.tools, self.limits)
        inband = None
        if self.dialects:
            inband = InBandParser(
                assembler, CATALOGUE, self.dialects, self.tools, self._reasoning, self.limits,
                self._quoted, on_dialect=assembler.record.read_by,
            )  # fmt: skip
        return Parse(assembler, inband, self.dialects, self.tools, self.limits)

    def _close(self, thing: Any, body: Body, parse: Parse) -> Reading:
        response = parse.close()
        response.raw_response = thing
        return Reading(response, body, parse.wire, parse.dialect)


class NativeReader:
    """What the parsers share that look for no markup: an engine which reads native fields, and leaves the text."""

    def __init__(
        self,
        wire: str = "auto",
        *,
        otherwise: str = "openai-chat",
        tools: Iterable[Any] | None = None,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        self._engine = Engine(wire, otherwise=otherwise, dialects=(), tools=tools, limits=limits)
