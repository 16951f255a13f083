"""A response in, cut anywhere; events out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamparse.assembler import At, Halt
from streamparse.events import Event
from streamparse.frames import AutoFramer, BaseFramer, Fault, Frame, Framer
from streamparse.limits import Limits
from streamparse.parser.base import BaseParser, Dialects, Reasoning
from streamparse.parser.halves import Halves
from streamparse.parser.messages import encoded
from streamparse.parser.short_way import ShortWay
from streamparse.stats import Stats
from streamparse.wires import UNDECIDED_FRAMES, WIRES, Wire, detect, foreign_error, tell_provider_error, wire_named

__all__ = ["StreamParser"]


class StreamParser(BaseParser):
    """Parses one response, fed as it comes.

    `wire` is a name of `WIRES` or "auto" (told from the first frame); `dialects` names of `DIALECTS`, dialects of one's
    own, "auto", "reasoning" (thoughts alone) or `()`; `tools` the tools of the request, in any form; `reasoning`
    whether the text starts inside of a thought; with `strict` nothing is repaired; `choice` is the one that is parsed
    where a server sends several.  Unknown names raise ValueError; input never raises.
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
        if wire != "auto":
            wire_named(wire)
        self._choice = choice
        self._framer: Framer = AutoFramer(limits)
        self._tell: Callable[[Frame], None]
        self._short: ShortWay | None = None
        self._frames = 0
        self._message_bytes = 0
        self._halves = Halves()
        self._undecided: list[Frame] = []
        self._wire: Wire | None = None
        self.wire: str | None = None
        """The wire's name, once it is known."""
        if wire != "auto":
            self._speak(wire)
        self._tell = self._open

    def feed(self, chunk: bytes | bytearray | memoryview | str | Mapping[str, Any]) -> list[Event]:
        """Take the next piece of the body: bytes or text cut anywhere, or one decoded message.

        Returns the events that it completes.  Raises RuntimeError after `close`.
        """
        short = self._short
        if short is None or chunk.__class__ is not bytes:
            return self._feed_other(chunk)
        # Nearly every read is one plain message.  What is done for it stands here, for a call costs more than a line.
        tell: Callable[[Any], None]
        told: Any = short.mould and short.mould.take(chunk)
        if told is not None:
            tell = short.tell
        elif (data := short.single(chunk)) is None:
            return self._feed_other(chunk)
        else:
            try:
                told = short.decode(data)
            except (ValueError, RecursionError):
                short.undo(chunk)
                return self._feed_other(chunk)
            tell = short.take
            if short.rest:
                short.rest -= 1
            else:
                short.learn(chunk, told)
        try:
            tell(told)
        except Halt:
            self._stop_flowing()
        record = self._record
        events = record.events
        record.events = []
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
    def over(self) -> bool:
        """Whether the wire's own end marker has come (`[DONE]`, `message_stop`, `response.completed`, `done: true`).

        By its protocol nothing follows, so `close` need not wait for the end of the body.  A finish reason is no
        marker: token counts may follow.  Of wires without one it is never true, and it is no more once another answer
        begins behind the marker.
        """
        return getattr(self._wire, "over", False)

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers."""
        return Stats.of(
            self._assembler.response,
            bytes=self._framer.received + self._message_bytes,
            frames=self._frames + getattr(self._framer, "singles", 0),
            ignored_frames=self._wire.ignored if self._wire is not None else 0,
            wire=self.wire,
            leniencies=dict(self._record.leniencies),
            dialect=self._inband.found if self._inband is not None else None,
        )

    # -- inside ----------------------------------------------------------------------------------------

    def _run(self, frames: list[Frame]) -> list[Event]:
        record = self._record
        try:
            for frame in frames:
                record.place = frame
                self._tell(frame)
            self._frames += len(frames)
            if self._framer.error is not None:
                self._stop(self._framer.error)
            else:
                self._hurry()
        except Halt:
            self._stop_flowing()
        return record.take()

    def _hurry(self) -> None:
        """Once framing and wire are known and a frame has come, take the short way for single events."""
        framer = self._framer
        if isinstance(framer, AutoFramer) and framer.framer is not None:
            framer = self._framer = framer.framer
        if self._frames and self._wire is not None and isinstance(framer, BaseFramer):
            self._record.place = framer
            self._short = self._short or ShortWay(framer, self._wire)

    def _stop_flowing(self) -> None:
        self._flowing = False
        self._short = None

    def _feed_other(self, chunk: Any) -> list[Event]:
        """Feed anything but a single event."""
        if self._closed:
            raise RuntimeError("feed() after close()")
        if self._short is not None:
            self._short.interrupt()
        if isinstance(chunk, Mapping):
            return self._feed_message(chunk) if self._flowing else []
        data = self._halves.join(chunk).encode() if isinstance(chunk, str) else bytes(chunk)
        if not self._flowing:
            return []
        most = self._limits.max_total
        room = len(data) if most is None else most - self._framer.received
        if room >= len(data):
            return self._run(self._framer.feed(data))
        events = self._run(self._framer.feed(data[:room]))
        return [*events, *self._halt("limit_total", f"the response exceeds {most} bytes")]

    def _feed_message(self, message: Mapping[str, Any]) -> list[Event]:
        try:
            data = encoded(message)
        except (ValueError, RecursionError, TypeError) as error:
            self._record.place = At(self._message_bytes)
            self._record.error("frame", "unexpected_shape", f"a message is no JSON: {error}")
            return self._run([])
        frame = Frame(data, offset=self._message_bytes)
        self._message_bytes += len(data)
        return self._run([frame])

    def _halt(self, code: str, message: str) -> list[Event]:
        self._record.place = At(self._framer.received)
        if self._flowing:
            self._stop_flowing()
            try:
                self._assembler.halt(code, message)
            except Halt:
                pass
        return self._record.take()

    def _stop(self, fault: Fault) -> None:
        self._record.place = fault
        self._assembler.halt(fault.code, fault.message)

    def _open(self, frame: Frame) -> None:
        """Take the first frame: it may be an error of whoever stands in front of the server."""
        self._tell = self._decide if self._wire is None else self._wire.frame
        error = foreign_error(frame, self.wire)
        if error is None:
            self._tell(frame)
        else:
            tell_provider_error(self._sink, error)

    def _decide(self, frame: Frame) -> None:
        """Find out the wire; frames that do not tell wait."""
        self._undecided.append(frame)
        name = detect(frame)
        if name is None and len(self._undecided) >= UNDECIDED_FRAMES:
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
            self._record.place = frame
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
        self._short = None
        if not self._flowing:
            return []
        # Messages alone need no framer, and that the body is empty is no news once its transport has failed.
        fed = self._framer.received > 0 or not (self._message_bytes or self._record.response.errors)
        left = self._halves.end()
        events = self._run([*(self._framer.feed(left.encode()) if left else ()), *self._framer.close()]) if fed else []
        if self._flowing:
            try:
                if self._wire is None and self._undecided:
                    self._give_up()
                self._record.place = At(self._framer.received + self._message_bytes)
                if self._wire is not None:
                    self._wire.close()
                self._end(truncated, self._framer.received + self._message_bytes)
            except Halt:
                self._flowing = False
        return [*events, *self._record.take()]
