"""Whole responses: the assembly line, fed once.

What differs from a stream comes before it (what kind of body it is, and the body around what is only a part of one) and
after it (`late_calls`: JSON in the content).  A body whose wire does not show is the text of an answer, unless it is an
error as every provider writes one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, Final, TypeVar

import msgspec

from streamparse.assembler import Offset, ParseHalted
from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.dialects.grammars.call_json import extract_calls
from streamparse.frames import AutoFramer, Format, Frame, FramingError
from streamparse.json import snapshot
from streamparse.limits import Limits
from streamparse.parser.assembly_line import AssemblyLine
from streamparse.parser.late_calls import JSONRun
from streamparse.parser.options import ParserOptions
from streamparse.parser.to_builtins import Unreadable, to_builtins
from streamparse.parser.wire_selector import PASS
from streamparse.patterns import lazy_re
from streamparse.providers.partial_bodies import complete_body, wrap_bare_value
from streamparse.providers.wires import DEFAULT_WIRE, UNDECIDED_FRAMES
from streamparse.reading.decode import decode_frame, read_excerpt
from streamparse.reading.wire import detect, find_claimant, find_foreign_error
from streamparse.response import ParsedResponse
from streamparse.tools.toolset import read_toolset

_JSON: Final = ("json", "ndjson", "json-array")
_OBJECT: Final = lazy_re(r"\s*+\[?\s*+\{\s*+(?:\"|\}?\s*+\]?\s*+$)")
_PAGE: Final = lazy_re(r"\s*<(?:!doctype\s+html|html\b|\?xml\b)", re.IGNORECASE)
_EVENT: Final = lazy_re(r"response\..+|ping|\w+[-_](?:start|delta|stop|end)|.+\.(?:start|delta|stop|complete|chunk)")
_CONVERSE: Final = frozenset(
    {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop"}
)
Shown = TypeVar("Shown")


class Body(msgspec.Struct, frozen=True, kw_only=True):
    """What a whole response is made of."""

    frames: list[Frame] = []
    framing: Format | None = None
    """None if it was not bytes, but decoded values."""
    size: int = 0
    """In bytes; of values, of their JSON."""
    text: str | None = None
    """What it is if it shows no wire; None if it is then nothing."""
    wire: str | None = None
    """The wire that claims one of the first frames."""
    shown_by: Frame | None = None
    """That frame."""
    is_cut: bool = False
    """Whether only the beginning of that frame shows the wire: its JSON breaks off."""
    ends_in_value: bool = False
    """Whether it ends inside the JSON of a message."""
    is_whole: bool = False
    """Whether it is all of an answer: one object that is no message of a stream."""
    is_str: bool = False
    """Whether it was given as text, which may be the answer itself, JSON or not."""
    fault: FramingError | None = None
    """Why only these frames can be read."""

    @property
    def is_prose(self) -> bool:
        """Whether it was given as text, and is not framed in any way."""
        return self.is_str and not any(frame.field == b"data" for frame in self.frames)

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream of JSON, or the end of one, though of no known wire: then it is no text."""
        first = self.frames[:UNDECIDED_FRAMES] if self.framing in ("sse", "aws-eventstream") else ()
        fields = (b"data",) if self.is_prose else (b"data", b"error")
        data = [frame.data.strip() for frame in first if frame.field in fields]
        return any(each[:1] == b"{" or each == b"[DONE]" for each in data)

    def is_error(self, forced: str | None) -> bool:
        """Whether its first frame is an error of a gateway; text given as such that lacks the word is an answer."""
        is_answer = self.is_str and self.wire is None and '"error"' not in (self.text or "") and forced is None
        return bool(self.frames) and not is_answer and find_foreign_error(self.frames[0], forced) is not None


# -- what kind of body it is -------------------------------------------------------------------------------------------


def read_body(thing: Any, limits: Limits) -> Body:
    """Read anything: text, bytes, decoded JSON, SDK objects, lists of chunks; raises TypeError for other objects."""
    try:
        value = "" if thing is None else to_builtins(thing)
        if isinstance(value, str) and not value.strip():
            return Body(text=value, size=len(value), is_str=True)  # an answer that says nothing
        if isinstance(value, (str, bytes)):
            return _read_bytes(value.encode() if isinstance(value, str) else value, isinstance(value, str), limits)
        if value == []:
            return Body(fault=FramingError("empty_body", "there is no response", 0))
        return _read_value(value)
    except (Unreadable, ValueError, RecursionError) as error:
        return Body(fault=FramingError("unexpected_shape", f"the response cannot be read: {error}", 0))


def _read_bytes(data: bytes, is_str: bool, limits: Limits) -> Body:
    framer = AutoFramer(limits)
    frames, fault = _read_frames(framer, data, limits.max_total)
    framing = framer.format or "empty"
    text = None if framing == "empty" else data.decode("utf-8", "replace")
    is_one_value = framing == "json-array" or (len(frames) == 1 and framing in ("json", "ndjson"))
    value = decode_frame(Frame(data)) if is_one_value and fault is None else None
    if (completed := complete_body(value)) is not None:
        whole = _read_value(completed)
        return msgspec.structs.replace(whole, framing=framing, size=len(data), text=text, is_str=is_str)
    if isinstance(value, dict):  # which is what the only frame holds
        wire, shown_by = _find_wire([(find_claimant(value, frames[0].event), frames[0])])
    else:
        wire, shown_by = _find_wire((detect(frame), frame) for frame in frames[:UNDECIDED_FRAMES])
    is_cut = wire is None and framing in _JSON
    if is_cut and text is not None:  # perhaps it was cut
        wire = _find_wire((find_claimant(message, b""), None) for message in _list_messages(snapshot(text)))[0]
        shown_by = frames[0] if frames and wire is not None else None
    if not is_str and wire is None and _is_silent(text or "", framing, frames):
        text = None
    return Body(
        frames=frames, framing=framing, size=len(data), text=text, wire=wire, shown_by=shown_by, is_cut=is_cut,
        ends_in_value=framer.is_cut, is_whole=isinstance(value, dict) and not _is_piece(value), is_str=is_str,
        fault=fault,
    )  # fmt: skip


def _read_frames(framer: AutoFramer, data: bytes, most: int | None) -> tuple[list[Frame], FramingError | None]:
    frames = framer.feed(data[:most])
    if framer.error is None and most is not None and len(data) > most:
        return frames, FramingError("limit_total", f"the response exceeds {most} bytes", most)
    return frames + framer.close(), framer.error


def _is_silent(text: str, framing: str, frames: list[Frame]) -> bool:
    """Whether bytes of no wire are no answer: blank, a page, or JSON (perhaps cut) without calls."""
    if framing == "aws-eventstream" or (framing == "sse" and not frames) or _PAGE.match(text):
        return True
    is_json = bool(_OBJECT.match(text)) or text.strip() in ("null", "[]")
    return is_json and next(extract_calls(decode_frame(Frame(text.encode()))), None) is None


def _read_value(value: Any) -> Body:
    """Make the body of decoded JSON: one message, or a list of them."""
    value = complete_body(value) or wrap_bare_value(value) or value
    # Wires are asked for the messages as they are: not all of them can be written as JSON.
    owners = [find_claimant(message, b"") for message in _list_messages(value)]
    frames: list[Frame] = []
    size = 0
    for message in value if isinstance(value, list) else [value]:
        frames.append(Frame(json.dumps(message).encode(), offset=size))
        size += len(frames[-1].data)
    wire, shown_by = _find_wire(zip(owners, frames, strict=False))
    is_text = wire is None and next(extract_calls(value), None) is not None
    return Body(
        frames=frames, size=size, wire=wire, shown_by=shown_by,
        text=json.dumps(value, ensure_ascii=False) if is_text else None,
        is_whole=isinstance(value, dict) and not _is_piece(value),
    )  # fmt: skip


def _list_messages(value: Any) -> list[Any]:
    return value[:UNDECIDED_FRAMES] if isinstance(value, list) else [value]


def _find_wire(owners: Iterable[tuple[str | None, Shown]]) -> tuple[str | None, Shown | None]:
    """Return the first wire that claims something, and what it claims."""
    return next(((wire, shown) for wire, shown in owners if wire is not None), (None, None))


def _is_piece(value: dict[str, Any]) -> bool:
    """Whether an object is one message of a stream: it holds no answer, or a part of one."""
    kinds = (value.get("type"), value.get("event_type"), value.get("object"))
    if value.get("done") is False or any(isinstance(kind, str) and _EVENT.fullmatch(kind) for kind in kinds):
        return True
    match value:
        case {"choices": [{"delta": delta, **first}, *_]} if delta is not None and first.get("message") is None:
            return True
        case {"choices": answers} | {"candidates": answers}:  # without one, nothing says that the server has answered
            return not (isinstance(answers, list) and any(isinstance(each, dict) for each in answers))
    return not _CONVERSE.isdisjoint(value)


# -- the line, fed once ------------------------------------------------------------------------------------------


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
        """Read a body by the named wire; if that finds nothing, by the wire that the body shows.

        What is kept of an answer often has another form than the answer, such as a message whose content is a text.
        """
        forced = None if self.options.wire == "auto" else self.options.wire
        line = self._read_as(body, forced)
        is_other = body.wire not in (None, forced) and line.wire == forced is not None
        return self._read_as(body, body.wire) if is_other and body.is_whole and line.is_silent else line

    def _read_as(self, body: Body, forced: str | None) -> _BodyLine:
        wire = forced or body.wire
        may_be_text = body.text is not None and (wire is None or body.is_prose)
        if may_be_text and not body.is_stream and not body.is_error(forced):
            return self._read_text(body.text or "")
        line = _BodyLine(self.options, wire or self.options.otherwise)
        line.take_frames(body)
        if body.wire is None and (wire is None or body.framing is None):
            line.reject(body)
        return line

    def _read_text(self, text: str) -> _BodyLine:
        line = _BodyLine(self.options)
        line.take_text(text)
        return line


class WholeParser:
    """What the parsers of whole responses share; alone it reads native fields, and leaves the text as it is."""

    def __init__(
        self,
        wire: str = "auto",
        *,
        otherwise: str = DEFAULT_WIRE,
        dialects: Dialects = (),
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
        quoted: Quoted = "text",
    ) -> None:
        self._reader = BodyReader(
            ParserOptions(
                wire=wire, otherwise=otherwise, dialects=dialects, tools=read_toolset(tools), reasoning=reasoning,
                limits=limits, quoted=quoted,
            )
        )  # fmt: skip

    def parse(self, body: Any) -> ParsedResponse:
        """Read one body."""
        return self._reader.read(body).response

    def can_parse(self, body: Any) -> bool:
        """Whether this parser finds something in a body: a call, whole or broken, or an intent."""
        response = self.parse(body)
        return bool(response.tool_calls or response.broken_calls or response.intents)


class _BodyLine(AssemblyLine):
    """The line of one whole response: it is taken first, then ended."""

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
        """Whether nothing of an answer has come, and no failure."""
        failed = any(error.code == "provider_error" for error in self.response.errors)
        return self._assembler.has_said_nothing and not failed

    def take_frames(self, body: Body) -> None:
        """Take the frames of a wire, and the end of the body."""
        selector = self._selector
        assert selector is not None
        claimed = body.shown_by if body.wire == selector.name and not body.is_cut else None
        try:
            for frame in body.frames:
                self._record.position = frame
                if self._is_early:
                    self._note_early(frame)
                if frame is claimed:  # no second look is needed
                    selector.accept(frame)
                else:
                    (selector.take or selector.look)(frame)
            if body.fault is not None:
                self._halt(body.fault.code, body.fault.message, body.fault)
            if body.ends_in_value and not selector.over:
                self._sink.go_on()
            end = self._assembler.marker or Offset(body.size)
            self._close_wire(end)
            if body.is_whole and not self._assembler.has_ended and not (body.wire is None and self.is_silent):
                self._assembler.end_whole()
            self._close_text(end, self._assembler.has_stopped)
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

    def reject(self, body: Body) -> None:
        """No frame showed its wire: bytes without a fault are then no answer, nor are values of which nothing came."""
        errors = self.response.errors
        is_said = bool(errors) if body.framing is not None else any(each.code == "not_a_stream" for each in errors)
        if body.frames and self._is_open and self.is_silent and not is_said:
            self._record.position = body.frames[-1]
            message = f"no known wire speaks like this: {read_excerpt(body.frames[0])!r}; {PASS}"
            self._assembler.error("stream", "not_a_stream", message)

    def end(self, recovers: bool) -> ParsedResponse:
        """Give up what is open, and return what the response holds."""
        run = None
        if self._is_open:
            try:
                run = self._recover() if recovers else None
                self._check_for_answer()
                self._assembler.close()
            except ParseHalted:
                pass
        response = self.response
        if run is not None:
            _cut_out(response, run)
        if recovers:
            self._add_intents(response)
        return response


def _cut_out(response: ParsedResponse, run: JSONRun) -> None:
    """Remove the calls of a run from the content, and move the marks after it."""
    response.content = response.content[: run.start] + run.said + response.content[run.end :]
    removed = run.end - run.start - len(run.said)
    response.order = [
        msgspec.structs.replace(mark, content=max(run.start, mark.content + mark.length - removed), length=0)
        if mark.content > run.start or mark.length
        else mark
        for mark in response.order
    ]
