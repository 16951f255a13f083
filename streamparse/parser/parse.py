"""One whole response on its way through the rooms: told first, then closed."""

from __future__ import annotations

from typing import Any, Final

from msgspec.structs import replace

from streamparse.assembler import Assembler, At, Halt
from streamparse.dialects import Dialects, InBandParser
from streamparse.limits import Limits
from streamparse.parser.body import Body
from streamparse.parser.content_json import Run
from streamparse.parser.late_calls import recover
from streamparse.providers.wires import PARSES_CALLS, WIRES
from streamparse.reading.errors import tell_provider_error
from streamparse.reading.recognition import Recognition
from streamparse.response import ParsedResponse
from streamparse.sink import Sink
from streamparse.tools import Toolset

__all__ = ["Parse"]

_SHOWN: Final = 200


class Parse:
    """The assembler of one response, and the sink in front of it."""

    def __init__(
        self, assembler: Assembler, inband: InBandParser | None, dialects: Dialects, tools: Toolset, limits: Limits
    ) -> None:
        self._dialects = dialects
        self._assembler = assembler
        self._inband = inband
        self._sink: Sink = inband or assembler
        self._tools = tools
        self._limits = limits
        self._halted = False
        self._run: Run | None = None
        self.wire: str | None = None
        """The wire that was read; None for text."""

    @property
    def response(self) -> ParsedResponse:
        """What was told so far."""
        return self._assembler.response

    @property
    def dialect(self) -> str | None:
        """The dialect in which a call was found, once one was."""
        return self._inband.dialect if self._inband is not None else None

    @property
    def silent(self) -> bool:
        """Whether nothing was told so far that an answer is made of, nor that it failed."""
        response = self._assembler.response
        said = response.content or response.reasoning or response.refusal or response.items
        failed = any(error.code == "provider_error" for error in response.errors)
        return not (said or failed or self._assembler.calls_found)

    def tell_frames(self, body: Body, wire: str, error: Any = None) -> None:
        """Tell the frames of a wire; `error` is what the first one says, if it is none of that wire."""
        self.wire = wire
        try:
            self._tell_frames(body, wire, error)
        except Halt:
            self._halted = True  # the response says why

    def disown(self, body: Body) -> None:
        """No frame showed its wire: if the one that was tried found no fault, it is no answer at all."""
        if body.frames and not self._halted and not self._assembler.response.errors:
            self._assembler.record.place = body.frames[-1]
            excerpt = body.frames[0].data[:_SHOWN].decode("utf-8", "replace")
            self._assembler.error("stream", "not_a_stream", f"no known wire speaks like this: {excerpt!r}")

    def tell_text(self, text: str) -> None:
        """Tell the text of an answer, whose end is the caller's word."""
        try:
            self._sink.text(text)
            if self._inband is not None:
                self._inband.close(stopped=True)
            self._assembler.stop()
        except Halt:
            self._halted = True

    def recover(self) -> None:
        """Tell calls that stand as JSON in the content, and take them out of it; nothing, if there are calls."""
        if self._halted or not self._assembler.stopped or self._assembler.calls_found:
            return
        try:
            content = self._assembler.response.content
            was_read = self._inband is None or not self._inband.ignores_calls
            self._run = recover(content, self._dialects, was_read, self._tools, self._assembler, self._limits)
        except Halt:
            self._halted = True

    def close(self) -> ParsedResponse:
        """Give up what is open, and return what the response holds."""
        if not self._halted:
            self._assembler.close()
        response = self._assembler.response
        if self._run is not None:
            _cut_out(response, self._run)
        return response

    def _tell_frames(self, body: Body, wire: str, error: Any) -> None:
        assembler = self._assembler
        if self._inband is not None and wire in PARSES_CALLS:
            self._inband.ignore_calls("auto")
        reader = WIRES[wire](self._sink, self._tools, self._limits)
        recognition = Recognition(wire)
        frames = body.frames
        if error is not None:
            assembler.record.place = frames[0]
            tell_provider_error(self._sink, error)
            frames = frames[1:]
        for frame in frames:
            assembler.record.place = frame
            if not recognition.settled:
                recognition.look(frame)
            reader.frame(frame)
        if (mistake := recognition.mistake(assembler.silent, assembler.ended)) is not None:
            assembler.error("stream", *mistake)
        end = assembler.record.place = At(body.size) if body.fault is None else body.fault
        reader.close()
        if body.fault is not None:
            if self._inband is not None:
                self._inband.close()
            assembler.record.place = end
            assembler.halt(body.fault.code, body.fault.message)
        if body.whole and not assembler.ended and not (body.wire is None and self.silent):
            assembler.end_whole()
        if self._inband is not None:
            self._inband.close(self._assembler.stopped)


def _cut_out(response: ParsedResponse, run: Run) -> None:
    """Leave of a run only the text beside its calls; what stood behind it moves up."""
    response.content = response.content[: run.start] + run.said + response.content[run.end :]
    removed = run.end - run.start - len(run.said)
    response.order = [
        replace(mark, content=max(run.start, mark.content - removed)) if mark.content > run.start else mark
        for mark in response.order
    ]
