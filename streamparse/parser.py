"""Bytes in, events out; no I/O: the rooms below, joined behind `feed` and `close`.

bytes ─ frames ─▶ wire ──verbs──▶ [ in-band ] ──verbs──▶ assembler ─▶ list[Event]
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias

from streamparse.assembler import Assembler, At, Halt
from streamparse.dialects import InBand
from streamparse.events import Event
from streamparse.frames import NDJSON, SSE, AutoFramer, AWSEventStream, Fault, Frame, Framer
from streamparse.limits import Limits
from streamparse.recover import recover
from streamparse.response import ParsedResponse
from streamparse.sink import Sink
from streamparse.stats import Stats
from streamparse.tools import Toolset
from streamparse.wires import WIRES, Wire, detect

__all__ = ["Dialects", "Reasoning", "StreamParser", "TextParser"]

Dialects: TypeAlias = Iterable[str] | Literal["auto"]
Reasoning: TypeAlias = Literal["auto", "open", "closed"]

_UNDECIDED_FRAMES = 16


class _Parser:
    """What both parsers share: the assembler, the sink in front of it, and the end."""

    def __init__(
        self, dialects: Dialects, tools: Iterable[Any] | None, reasoning: Reasoning, limits: Limits, strict: bool
    ) -> None:
        if reasoning not in ("auto", "open", "closed"):
            raise ValueError(f"unknown reasoning {reasoning!r}; known are: auto, open, closed")
        self._tools = Toolset.of(tools)
        self._limits = limits
        self._assembler = Assembler(self._tools, limits, mode="strict" if strict else "lenient")
        names = dialects if isinstance(dialects, str) else tuple(dialects)
        self._inband = InBand(self._assembler, names, self._tools, reasoning, limits) if names else None
        self._sink: Sink = self._inband or self._assembler
        self._closed = False
        self._flowing = True

    @property
    def response(self) -> ParsedResponse:
        """The answer so far."""
        return self._assembler.response

    def _end(self, truncated: str | None, end: int) -> None:
        """Close the rooms in the order of the flow; `end` is the offset of the end."""
        if self._inband is not None:
            self._inband.close()
        self._assembler.place = At(end)
        if self._inband is not None and self._assembler.ended and not self._assembler.calls_found:
            recover(self._assembler.response.content, self._tools, self._assembler, self._limits)
        self._assembler.close(truncated)


class StreamParser(_Parser):
    """Parses one response, fed as it comes.

    `wire` is a name of `WIRES` or "auto" (told from the first frame); `dialects` names of `DIALECTS`, "auto" or
    `()`; `tools` the tools of the request, in any form; `reasoning` whether the text starts inside of a
    thought; with `strict` nothing is repaired; `choice` is the one that is parsed where a server
    sends several.  Unknown names raise ValueError; input never raises.
    """

    def __init__(
        self,
        wire: str = "auto",
        *,
        dialects: Dialects = "auto",
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
        strict: bool = False,
        choice: int = 0,
    ) -> None:
        super().__init__(dialects, tools, reasoning, limits, strict)
        if wire != "auto" and wire not in WIRES:
            raise ValueError(f"unknown wire {wire!r}; known are: auto, {', '.join(WIRES)}")
        self._choice = choice
        self._framer: Framer = AutoFramer(limits)
        self._tell: Callable[[Frame], None] = self._decide
        self._single: Callable[[bytes], bytes | None]
        self._decode: Callable[[bytes], Any] | None = None  # set, like the others here, while the short way is open
        self._take: Callable[[Any], None]
        self._frames = 0
        self._message_bytes = 0
        self._undecided: list[Frame] = []
        self._wire: Wire | None = None
        self.wire: str | None = None
        """The wire's name, once it is known."""
        if wire != "auto":
            self._speak(wire)

    def feed(self, chunk: bytes | bytearray | memoryview | str | Mapping[str, Any]) -> list[Event]:
        """Take the next piece of the body: bytes or text cut anywhere, or one decoded message.

        Returns the events that it completes.  Raises RuntimeError after `close`.
        """
        decode = self._decode
        if decode is None or chunk.__class__ is not bytes or (data := self._single(chunk)) is None:
            return self._feed_other(chunk)
        # Nearly every read is one plain event: the same rooms, without a list and a frame in between.
        try:
            message = decode(data)
        except (ValueError, RecursionError):
            return self._run([Frame(data, b"", self._assembler.place.offset or 0)])
        try:
            self._take(message)
        except Halt:
            self._stop_flowing()
        assembler = self._assembler
        events = assembler.events
        assembler.events = []
        return events

    def close(self) -> list[Event]:
        """Take the end of the body.  The last event is always `Done`; a second call returns nothing."""
        return self._close("stream_truncated")

    def abort(self, code: str, message: str) -> list[Event]:
        """Take that the transport failed: what is open is given up, and `Done` is not ok."""
        if not self._closed and self._flowing:
            self._assembler.error("stream", code, message)
        return self._close(code)

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers."""
        return Stats.of(
            self._assembler.response,
            bytes=self._framer.received + self._message_bytes,
            frames=self._frames + getattr(self._framer, "singles", 0),
            ignored_frames=self._wire.ignored if self._wire is not None else 0,
            wire=self.wire,
            dialect=self._inband.found if self._inband is not None else None,
        )

    # -- inside ----------------------------------------------------------------------------------------

    def _run(self, frames: list[Frame]) -> list[Event]:
        assembler = self._assembler
        try:
            for frame in frames:
                assembler.place = frame
                self._tell(frame)
            self._frames += len(frames)
            if self._framer.error is not None:
                self._stop(self._framer.error)
            else:
                self._hurry()
        except Halt:
            self._stop_flowing()
        return assembler.take()

    def _hurry(self) -> None:
        """Once framing and wire are known, take the short way for single events."""
        framer = self._framer
        if isinstance(framer, AutoFramer) and framer.framer is not None:
            framer = self._framer = framer.framer
        if self._wire is not None and isinstance(framer, (SSE, NDJSON, AWSEventStream)):
            self._assembler.place = framer
            self._single = framer.single
            self._decode = self._wire.decode
            self._take = self._wire.take

    def _stop_flowing(self) -> None:
        self._flowing = False
        self._decode = None

    def _feed_other(self, chunk: Any) -> list[Event]:
        """Feed anything but a single event."""
        if self._closed:
            raise RuntimeError("feed() after close()")
        if isinstance(chunk, Mapping):
            return self._feed_message(chunk) if self._flowing else []
        data = chunk.encode("utf-8", "replace") if isinstance(chunk, str) else bytes(chunk)
        if not self._flowing:
            return []
        most = self._limits.max_total
        room = len(data) if most is None else most - self._framer.received
        if room >= len(data):
            return self._run(self._framer.feed(data))
        events = self._run(self._framer.feed(data[:room]))
        return [*events, *self._halt("limit_total", f"the response exceeds {most} bytes")]

    def _feed_message(self, message: Mapping[str, Any]) -> list[Event]:
        data = json.dumps(message, ensure_ascii=False, default=_jsonable).encode("utf-8", "replace")
        frame = Frame(data, offset=self._message_bytes)
        self._message_bytes += len(data)
        return self._run([frame])

    def _halt(self, code: str, message: str) -> list[Event]:
        self._assembler.place = At(self._framer.received)
        if self._flowing:
            self._stop_flowing()
            try:
                self._assembler.halt(code, message)
            except Halt:
                pass
        return self._assembler.take()

    def _stop(self, fault: Fault) -> None:
        self._assembler.place = fault
        self._assembler.halt(fault.code, fault.message)

    def _decide(self, frame: Frame) -> None:
        """Find out the wire; frames that do not tell wait."""
        self._undecided.append(frame)
        name = detect(frame)
        if name is None and len(self._undecided) >= _UNDECIDED_FRAMES:
            name = next(iter(WIRES))
        if name is not None:
            self._speak(name)

    def _speak(self, name: str) -> None:
        """From here on the body is of this wire."""
        self.wire = name
        wire = self._wire = WIRES[name](self._sink, self._tools, self._limits, self._choice)
        self._tell = wire.frame
        waiting, self._undecided = self._undecided, []
        for frame in waiting:
            self._assembler.place = frame
            wire.frame(frame)

    def _give_up(self) -> None:
        """No frame showed its wire: an error as every provider writes one, or no answer at all."""
        first = self._undecided[0]
        self._speak(next(iter(WIRES)))
        if not self._assembler.response.errors:
            excerpt = first.data[:200].decode("utf-8", "replace")
            self._assembler.error("stream", "not_a_stream", f"no known wire speaks like this: {excerpt!r}")

    def _close(self, truncated: str) -> list[Event]:
        if self._closed:
            return []
        self._closed = True
        self._decode = None
        if not self._flowing:
            return []
        fed = self._framer.received > 0 or not self._message_bytes  # messages alone need no framer
        events = self._run(self._framer.close()) if fed else []
        if self._flowing:
            try:
                if self._wire is None and self._undecided:
                    self._give_up()
                self._assembler.place = At(self._framer.received + self._message_bytes)
                if self._wire is not None:
                    self._wire.close()
                self._end(truncated, self._framer.received + self._message_bytes)
            except Halt:
                self._flowing = False
        return [*events, *self._assembler.take()]


def _jsonable(value: Any) -> Any:
    """What an SDK puts into a message besides JSON: its text is the best that can be said of it."""
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()  # as the wire of boto3's messages had it
    return dict(value) if isinstance(value, Mapping) else str(value)


class TextParser(_Parser):
    """Parses text alone, for users whose SDK has decoded the wire: `feed` takes the text as it comes.

    The end of the text is the caller's word, so `Done.ok` is true unless a call was cut.
    """

    def __init__(
        self,
        dialects: Dialects = "auto",
        *,
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__(dialects, tools, reasoning, limits, strict=False)
        self._length = 0
        if self._inband is not None:
            self._inband.moved = self._mark

    def _mark(self, left: int) -> None:
        """Errors in a call carry the place of its marker, in characters."""
        self._assembler.place = At(self._length - left)

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of text; return the events that it completes."""
        if self._closed:
            raise RuntimeError("feed() after close()")
        if not self._flowing or not text:
            return []
        self._length += len(text)
        try:
            self._sink.text(text)
        except Halt:
            self._flowing = False
        return self._assembler.take()

    def close(self) -> list[Event]:
        """Take the end of the text.  The last event is always `Done`; a second call returns nothing."""
        if self._closed or not self._flowing:
            self._closed = True
            return []
        self._closed = True
        self._assembler.end()
        try:
            self._end(None, self._length)
        except Halt:
            pass
        return self._assembler.take()

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers; `bytes` counts characters here."""
        dialect = self._inband.found if self._inband is not None else None
        return Stats.of(self._assembler.response, bytes=self._length, dialect=dialect)
