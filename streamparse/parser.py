"""Bytes in, events out; no I/O: the rooms below, joined behind `feed` and `close`.

bytes ─ frames ─▶ wire ──verbs──▶ [ in-band ] ──verbs──▶ assembler ─▶ list[Event]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias

import msgspec

from streamparse.assembler import Assembler, Halt
from streamparse.dialects import InBand
from streamparse.events import Event
from streamparse.frames import AutoFramer, Frame
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
        self._halted = False

    @property
    def response(self) -> ParsedResponse:
        """The answer so far."""
        return self._assembler.response

    def _check_open(self) -> None:
        if self._closed:
            raise RuntimeError("feed() after close()")

    def _end(self, truncated: str | None) -> list[Event]:
        """Close the rooms in the order of the flow."""
        if self._inband is not None:
            self._inband.close()
        if not self._assembler.calls_found:
            recover(self._assembler.response.content, self._tools, self._assembler, self._limits)
        self._assembler.close(truncated)
        return self._assembler.take()


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
        self._frames = AutoFramer(limits)
        self._frame_count = 0
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
        if self._closed:
            raise RuntimeError("feed() after close()")
        if self._halted:
            return []
        if isinstance(chunk, str):
            chunk = chunk.encode("utf-8", "replace")
        elif isinstance(chunk, Mapping):
            return self._message(chunk)
        return self._run(self._frames.feed(chunk))

    def close(self) -> list[Event]:
        """Take the end of the body.  The last event is always `Done`; a second call returns nothing."""
        return self._close("stream_truncated")

    def abort(self, code: str, message: str) -> list[Event]:
        """Take that the transport failed: what is open is given up, and `Done` is not ok."""
        if not self._closed and not self._halted:
            self._assembler.error("stream", code, message)
        return self._close(code)

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers."""
        return Stats.of(
            self._assembler.response,
            bytes=self._frames.received + self._message_bytes,
            frames=self._frame_count,
            ignored_frames=self._wire.ignored if self._wire is not None else 0,
            wire=self.wire,
            dialect=self._inband.found if self._inband is not None else None,
        )

    # -- inside ----------------------------------------------------------------------------------------

    def _run(self, frames: list[Frame]) -> list[Event]:
        assembler = self._assembler
        wire = self._wire
        try:
            for frame in frames:
                assembler.offset = frame.offset
                if wire is None:
                    self._decide(frame)
                    wire = self._wire
                else:
                    wire.frame(frame)
            self._frame_count += len(frames)
            if self._frames.error is not None:
                assembler.offset = self._frames.error.offset
                assembler.halt(self._frames.error.code, self._frames.error.message)
        except Halt:
            self._halted = True
        return assembler.take()

    def _message(self, message: Mapping[str, Any]) -> list[Event]:
        data = msgspec.json.encode(message)
        frame = Frame(data, offset=self._message_bytes)
        self._message_bytes += len(data)
        return self._run([frame])

    def _decide(self, frame: Frame) -> None:
        """Find out the wire; frames that do not tell wait."""
        self._undecided.append(frame)
        name = detect(frame)
        if name is None and len(self._undecided) >= _UNDECIDED_FRAMES:
            name = next(iter(WIRES))
        if name is not None:
            self._speak(name)

    def _speak(self, name: str) -> None:
        self.wire = name
        wire = self._wire = WIRES[name](self._sink, self._tools, self._limits, self._choice)
        waiting, self._undecided = self._undecided, []
        for frame in waiting:
            self._assembler.offset = frame.offset
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
        if self._halted:
            return []
        events = self._run(self._frames.close())
        if self._halted:
            return events
        self._assembler.offset = self._frames.received + self._message_bytes
        try:
            if self._wire is None and self._undecided:
                self._give_up()
            if self._wire is not None:
                self._wire.close()
            if not self._frame_count:
                self._assembler.error("stream", "empty_body", "the body held nothing")
            return [*events, *self._end(truncated)]
        except Halt:
            return [*events, *self._assembler.take()]


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

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of text; return the events that it completes."""
        self._check_open()
        if self._halted or not text:
            return []
        self._length += len(text)
        if self._inband is not None:
            self._inband.position = self._length
        try:
            self._sink.text(text)
        except Halt:
            self._halted = True
        return self._assembler.take()

    def close(self) -> list[Event]:
        """Take the end of the text.  The last event is always `Done`; a second call returns nothing."""
        if self._closed or self._halted:
            self._closed = True
            return []
        self._closed = True
        self._assembler.end()
        try:
            return self._end(None)
        except Halt:
            return self._assembler.take()

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers; `bytes` counts characters here."""
        dialect = self._inband.found if self._inband is not None else None
        return Stats.of(self._assembler.response, bytes=self._length, dialect=dialect)
