"""Whole responses: the assembly line, fed once.

What differs from a stream comes before it (`body`: what kind of body it is, and the body around what is only a part of
one) and after it (`late_calls`: JSON in the content).  A body whose wire does not show is the text of an answer, unless
it is an error as every provider writes one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from streamparse.assembler import Offset, ParseHalted
from streamparse.limits import Limits
from streamparse.parser.assembly_line import AssemblyLine
from streamparse.parser.body import Body, read_body
from streamparse.parser.late_calls import JSONRun
from streamparse.parser.options import ParserOptions
from streamparse.providers.wires import DEFAULT_WIRE, find_foreign_error
from streamparse.response import ParsedResponse
from streamparse.tools import Toolset

_EXCERPT: Final = 200


class Reading(msgspec.Struct, frozen=True):
    """What was read, and as what."""

    response: ParsedResponse
    body: Body
    wire: str | None
    """None if it was read as text."""
    dialect: str | None
    """The dialect in which a call was found."""


class BodyReader:
    """Reads whole responses, each on an assembly line of its own.

    The wire of `options` is forced; with "auto" it is the one that the body shows, or else `otherwise`.  An unknown
    dialect raises ValueError at once.  What is no response raises TypeError; no response raises.
    """

    def __init__(self, options: ParserOptions) -> None:
        self.options = options
        if options.dialects not in ("auto", "all", "reasoning", ()):
            _BodyLine(options)  # an unknown dialect raises

    def read(self, thing: Any, recovers: bool = False) -> Reading:
        """Read native fields, and calls and thoughts in the text.

        With `recovers`, where that finds no call, calls are looked for in what is in doubt; JSON that is calls is taken
        out of the content.
        """
        body = read_body(thing, self.options.limits)
        line = self._read(body)
        response = line.end(recovers)
        response.raw_response = thing
        return Reading(response, body, line.wire, line.dialect)

    def read_text(self, text: str, recovers: bool = False) -> ParsedResponse:
        """Read a text, which is taken as nothing else."""
        return self._read_text(text).end(recovers)

    def _read(self, body: Body) -> _BodyLine:
        """Read a body by the wire that is named, or by the one that it shows if it says nothing in the words of that.

        What is kept of an answer often has another form than the answer, such as a message whose content is a text.
        """
        forced = None if self.options.wire == "auto" else self.options.wire
        line = self._read_as(body, forced)
        is_other = body.wire not in (None, forced) and line.wire == forced is not None
        return self._read_as(body, body.wire) if is_other and body.whole and line.is_silent else line

    def _read_as(self, body: Body, forced: str | None) -> _BodyLine:
        wire = forced or body.wire
        may_fail = body.frames and (forced or not body.answer)
        failed = may_fail and find_foreign_error(body.frames[0], forced) is not None
        if body.text is not None and not failed and (wire is None or body.prose) and not body.streamed:
            return self._read_text(body.text)
        line = _BodyLine(self.options, wire or self.options.otherwise)
        line.take_frames(body)
        if wire is None:
            line.disown(body)
        return line

    def _read_text(self, text: str) -> _BodyLine:
        line = _BodyLine(self.options)
        line.take_text(text)
        return line


class NativeReader:
    """What the parsers share that look for no markup: a reader of native fields, which leaves the text."""

    def __init__(
        self,
        wire: str = "auto",
        *,
        otherwise: str = DEFAULT_WIRE,
        tools: Iterable[Any] | None = None,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        options = ParserOptions(wire=wire, otherwise=otherwise, dialects=(), tools=Toolset.of(tools), limits=limits)
        self._reader = BodyReader(options)


class _BodyLine(AssemblyLine):
    """One whole response on its way: taken first, then ended."""

    @property
    def wire(self) -> str | None:
        """The wire that was read; None for text."""
        return self._selector.name if self._selector is not None else None

    @property
    def dialect(self) -> str | None:
        """The dialect in which a call was found, once one was."""
        return self._inband.dialect if self._inband is not None else None

    @property
    def is_silent(self) -> bool:
        """Whether nothing has come of what an answer is made of, nor that it failed."""
        response = self.response
        said = response.content or response.reasoning or response.refusal or response.items
        failed = any(error.code == "provider_error" for error in response.errors)
        return not (said or failed or self._assembler.calls_found)

    def take_frames(self, body: Body) -> None:
        """Take the frames of a wire, and the end of the body."""
        assert self._selector is not None
        try:
            for frame in body.frames:
                self._record.position = frame
                self._selector.frame(frame)
            if body.fault is not None:
                self._halt(body.fault.code, body.fault.message, body.fault)
            end = Offset(body.size)
            self._close_wire(end)
            if body.whole and not self._assembler.ended and not (body.wire is None and self.is_silent):
                self._assembler.end_whole()
            self._close_text(end, self._assembler.stopped)
        except ParseHalted:  # the response says why
            self._is_open = False

    def take_text(self, text: str) -> None:
        """Take the text of an answer.  That the model ended it is the caller's word."""
        try:
            self._sink.text(text)
            self._close_text(Offset(None), stopped=True)
            self._assembler.stop()
        except ParseHalted:
            self._is_open = False

    def disown(self, body: Body) -> None:
        """No frame showed its wire: if the one that was tried found no fault, it is no answer at all."""
        if body.frames and self._is_open and not self.response.errors:
            self._record.position = body.frames[-1]
            excerpt = body.frames[0].data[:_EXCERPT].decode("utf-8", "replace")
            self._assembler.error("stream", "not_a_stream", f"no known wire speaks like this: {excerpt!r}")

    def end(self, recovers: bool) -> ParsedResponse:
        """Give up what is open, and return what the response holds."""
        run = None
        if self._is_open:
            try:
                run = self._recover() if recovers else None
                self._assembler.close()
            except ParseHalted:
                pass
        response = self.response
        if run is not None:
            _cut_out(response, run)
        return response


def _cut_out(response: ParsedResponse, run: JSONRun) -> None:
    """Leave of a run only the text around its calls; what comes after it moves up."""
    response.content = response.content[: run.start] + run.said + response.content[run.end :]
    removed = run.end - run.start - len(run.said)
    response.order = [
        msgspec.structs.replace(mark, content=max(run.start, mark.content - removed))
        if mark.content > run.start
        else mark
        for mark in response.order
    ]
