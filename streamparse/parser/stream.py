"""A response in, cut anywhere; events out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamparse.assembler import At, Halt, Place
from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.events import Event
from streamparse.frames import AutoFramer, BaseFramer, Frame, Framer
from streamparse.limits import Limits
from streamparse.parser.base import BaseParser
from streamparse.parser.chunks import message_of
from streamparse.parser.encoding import Record, encoded
from streamparse.parser.fast_path import ShortWay
from streamparse.parser.surrogates import Halves
from streamparse.parser.wire_selector import Spoken
from streamparse.providers.wires import PARSES_CALLS, WireName
from streamparse.stats import Stats

__all__ = ["StreamParser"]


class StreamParser(BaseParser):
    """Parses one response, fed as it comes.

    `wire` is a name of `WIRES` or "auto" (told from the first frame); `dialects` names of `DIALECTS`, dialects of one's
    own, "auto", "all", "reasoning" (thoughts alone) or `()`; `tools` the tools of the request, in any form; `reasoning`
    whether the text starts inside of a thought; with `strict` nothing is repaired; `choice` is the one that is parsed
    where a server sends several; `quoted` whether a whole call of a declared tool that is quoted is text or a call with
    `place="quoted"`.  Unknown names raise ValueError; input never raises.
    """

    def __init__(
        self,
        wire: WireName = "auto",
        *,
        dialects: Dialects = "auto",
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
        strict: bool = False,
        choice: int = 0,
        quoted: Quoted = "text",
    ) -> None:
        super().__init__(dialects, tools, reasoning, limits, strict, quoted, parses_calls=wire in PARSES_CALLS)
        self._spoken = Spoken(wire, self._sink, self._assembler, self._tools, limits, choice)
        self._spoken.on_wire = self._take_wire
        self._framer: Framer = AutoFramer(limits)
        self._short: ShortWay | None = None
        self._frames = 0
        self._message_bytes = 0
        self._halves = Halves()

    def feed(self, chunk: bytes | bytearray | memoryview | str | Mapping[str, Any] | Record) -> list[Event]:
        """Take the next piece of the body: bytes or text cut anywhere, one decoded message, or an SDK's object of one.

        Returns the events that it completes.  Raises RuntimeError after `close`, and TypeError for any other object.
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
            if short.learns:
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

    def _take_wire(self, name: str) -> None:
        """The wire is known."""
        if self._inband is not None and name in PARSES_CALLS:
            self._inband.ignore_calls("auto")

    @property
    def wire(self) -> str | None:
        """The wire's name, once it is known."""
        return self._spoken.name

    @property
    def over(self) -> bool:
        """Whether the wire's own end marker has come (`[DONE]`, `message_stop`, `response.completed`, `done: true`).

        By its protocol nothing follows, so `close` need not wait for the end of the body.  A finish reason is no
        marker: token counts may follow.  Of wires without one it is never true, and it is no more once another answer
        begins behind the marker.
        """
        return self._spoken.over

    @property
    def sealed(self) -> bool:
        """Whether nothing more is told: the parser is `over`, and no other answer may begin behind the marker.

        By the wires of Anthropic and Responses one may.
        """
        return self._spoken.sealed

    def stop_at_marker(self) -> None:
        """Be ready to be closed as soon as the parser is `over`: of the piece that ends the answer no more is read.

        The answer is then the same however the body was cut, whatever stands behind the marker.
        """
        self._spoken.listens = "answer"

    def stop_when_sealed(self) -> None:
        """As `stop_at_marker`, but only once the parser is `sealed`: a body of several answers is read to its end."""
        self._spoken.listens = "answers"

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers."""
        return Stats.of(
            self._assembler.response,
            bytes=self._framer.received + self._message_bytes,
            frames=self._frames + getattr(self._framer, "singles", 0),
            ignored_frames=self._spoken.wire.ignored if self._spoken.wire is not None else 0,
            wire=self.wire,
            leniencies=dict(self._record.leniencies),
            dialect=self._inband.dialect if self._inband is not None else None,
            unread_calls=self._count_unread(),
        )

    # -- inside ----------------------------------------------------------------------------------------

    def _run(self, frames: list[Frame]) -> list[Event]:
        record = self._record
        try:
            for frame in frames if self._spoken.listens == "body" else self._spoken.heeded(frames):
                record.place = frame
                self._spoken.tell(frame)
            self._frames += len(frames)
            fault = self._framer.error
            if self._spoken.past_marker:
                self._short = None
            elif fault is not None:
                self._halt(fault.code, fault.message, fault)
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
        wire = self._spoken.wire
        if self._frames and wire is not None and self._spoken.settled and isinstance(framer, BaseFramer):
            self._record.place = framer
            self._short = None if getattr(wire, "waits", False) else self._short or ShortWay(framer, wire)

    def _stop_flowing(self) -> None:
        self._flowing = False
        self._short = None

    def _feed_other(self, chunk: Any) -> list[Event]:
        """Feed anything but a single event."""
        if self._closed:
            raise RuntimeError("feed() after close()")
        if self._short is not None:
            self._short.interrupt()
        if not isinstance(chunk, (bytes, bytearray, str)):
            return self._feed_object(chunk)
        data = self._halves.join(chunk).encode() if isinstance(chunk, str) else bytes(chunk)
        if not self._flowing:
            return []
        most = self._limits.max_total
        room = len(data) if most is None else most - self._framer.received
        if room >= len(data):
            return self._run(self._framer.feed(data))
        events = self._run(self._framer.feed(data[:room]))
        return [*events, *self._stop("limit_total", f"the response exceeds {most} bytes")]

    def _feed_object(self, chunk: Any) -> list[Event]:
        """Feed a decoded message, or an object of an SDK that holds one; raise TypeError for anything else."""
        try:
            message = message_of(chunk)
        except (ValueError, RecursionError) as error:
            return self._refuse(error)
        if isinstance(message, dict):
            return self._feed_message(message) if self._flowing else []
        return [] if message is None else self._feed_other(message if isinstance(message, str) else bytes(message))

    def _refuse(self, error: Exception) -> list[Event]:
        self._record.place = At(self._message_bytes)
        if self._flowing:
            self._record.error("frame", "unexpected_shape", f"a message is no JSON: {error}")
        return self._run([])

    def _feed_message(self, message: Mapping[str, Any]) -> list[Event]:
        try:
            data = encoded(message)
        except (ValueError, RecursionError, TypeError) as error:
            return self._refuse(error)
        frame = Frame(data, offset=self._message_bytes)
        self._message_bytes += len(data)
        return self._run([frame])

    def _stop(self, code: str, message: str) -> list[Event]:
        """Read no further than to here."""
        if self._flowing and not self._spoken.past_marker:
            self._stop_flowing()
            try:
                self._halt(code, message, At(self._framer.received))
            except Halt:
                pass
        return self._record.take()

    def _halt(self, code: str, message: str, place: Place) -> None:
        """End the parse, behind all that waited for more; raises `Halt`."""
        self._record.place = place
        self._spoken.close()
        if self._inband is not None:
            self._inband.close()
        self._record.place = place
        self._assembler.halt(code, message)

    def _at_end(self) -> Place:
        """Where the answer ends: at its marker if no more is read, else with the body."""
        if self._spoken.past_marker:
            return At(self._record.place.offset)
        return At(self._framer.received + self._message_bytes)

    def _close(self, truncated: str) -> list[Event]:
        if self._closed:
            return []
        self._closed = True
        if not self._flowing:
            return []
        # Messages alone need no framer, and that the body is empty is no news once its transport has failed.
        fed = self._framer.received > 0 or not (self._message_bytes or self._record.response.errors)
        left = self._halves.end()
        events = self._run([*(self._framer.feed(left.encode()) if left else ()), *self._framer.close()]) if fed else []
        self._short = None  # which the end of the body may have opened again
        if self._flowing:
            try:
                self._spoken.give_up()
                end = self._record.place = self._at_end()
                self._spoken.close()
                self._end(truncated, end)
            except Halt:
                self._flowing = False
        return [*events, *self._record.take()]
