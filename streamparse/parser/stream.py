"""A response in, cut anywhere; events out.

Each read goes one of two ways.  Most are one message in the form of the last, whose one string is all that is decoded.
Every other read is taken message by message: a plain one by `FastPath`, any other through the framer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from streamparse.assembler import Offset, ParseHalted
from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.events import Error, Event
from streamparse.frames import AutoFramer, Frame, Framer
from streamparse.limits import Limits
from streamparse.parser.assembly_line import AssemblyLine
from streamparse.parser.chunks import Record, read_message
from streamparse.parser.fast_path import FastPath
from streamparse.parser.options import ParserOptions
from streamparse.parser.text import SurrogateJoiner
from streamparse.parser.to_builtins import encode_message
from streamparse.parser.wire_selector import WireSelector
from streamparse.providers.wires import WireName
from streamparse.stats import Stats
from streamparse.tools.toolset import read_toolset

_MAX_WAIT: Final = 4  # bound: reads, of the size of the last, over which the beginning of a message is copied again


class StreamParser(AssemblyLine):
    """Parses one response, fed as it comes.

    | option | what it is |
    |---|---|
    | `wire` | a name of `WIRES`, or "auto": detected from the first frames |
    | `dialects` | names of `DIALECTS`, dialects of your own, "auto", "all", "reasoning" (thoughts alone), or `()` |
    | `tools` | the tools of the request, in any form |
    | `reasoning` | whether the text starts inside a thought |
    | `limits` | what ends the parse, or a call, because it is too large |
    | `strict` | nothing is repaired |
    | `choice` | the one that is parsed, where a server sends several |
    | `quoted` | whether a whole quoted call of a declared tool is text, or a call with `place="quoted"` |

    Unknown names raise ValueError.  Input never raises.
    """

    _selector: WireSelector

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
        options = ParserOptions(
            wire=wire, dialects=dialects, tools=read_toolset(tools), reasoning=reasoning, limits=limits,
            strict=strict, choice=choice, quoted=quoted,
        )  # fmt: skip
        super().__init__(options, options.wire)
        self._framer: Framer = AutoFramer(limits)
        self._fast_path: FastPath | None = None
        self._frames = 0
        self._message_bytes = 0
        self._joiner: SurrogateJoiner | None = None  # once text was fed

    def feed(self, chunk: bytes | bytearray | memoryview | str | Mapping[str, Any] | Record) -> list[Event]:
        """Take the next piece of the body: bytes or text cut anywhere, one decoded message, or an SDK's object of one.

        Returns the events that it completes.  Raises RuntimeError after `close`, and TypeError for any other object.
        """
        path = self._fast_path
        if path is None or chunk.__class__ is not bytes:
            self._take(chunk)
        elif (template := path.template) is not None and not path.held and (string := template.take(chunk)) is not None:
            tell = path.tell  # to call an attribute at once takes longer, if it is no method
            try:
                tell(string)
            except ParseHalted:
                self._stop()
        else:
            self._read(chunk)
        record = self._record
        events = record.events
        record.events = []
        return events

    def close(self) -> list[Event]:
        """Take the end of the body.  The last event is always `Done`; a second call returns nothing."""
        return self._close("stream_truncated")

    def abort(self, code: str, message: str) -> list[Event]:
        """Take a failure of the transport: what is open is given up, and `Done` is not ok."""
        if not self._is_closed and self._is_open:
            last, self._record.position = self._record.position, Offset(self._size)
            self._assembler.error("stream", code, message)
            self._record.position = last
        return self._close(code)

    @property
    def wire(self) -> str | None:
        """The wire's name, once it is known."""
        return self._selector.name

    @property
    def over(self) -> bool:
        """Whether the wire's own end marker has come (`[DONE]`, `message_stop`, `response.completed`, `done: true`).

        By its protocol nothing follows, so `close` need not wait for the end of the body.  A finish reason is no
        marker: token counts may follow.  It stays false for wires without a marker, and becomes false again when
        another answer begins after the marker.
        """
        return self._selector.over

    @property
    def sealed(self) -> bool:
        """Whether no more events come: the parser is `over`, and no other answer may begin after the marker.

        On the wires of Anthropic and Responses one may.
        """
        return self._selector.sealed

    @property
    def can_go_on(self) -> bool:
        """Whether more of the body may give more events: no limit has ended the parse, and it is not `sealed`."""
        path = self._fast_path
        if path is not None and path.template is not None:  # as after nearly every read, which was no end then
            return True
        return self._is_open and not self._selector.sealed

    def stop_at_marker(self) -> None:
        """Be ready to be closed as soon as the parser is `over`: of the piece that ends the answer no more is read.

        The answer is then the same however the body was cut, whatever comes after the marker.
        """
        self._stop_at("answer")

    def stop_when_sealed(self) -> None:
        """As `stop_at_marker`, but only once the parser is `sealed`: a body of several answers is read to its end."""
        self._stop_at("answers")

    def _stop_at(self, scope: Literal["answers", "answer"]) -> None:
        self._selector.scope = scope
        if self._selector.has_ended:
            self._fast_path = None

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers."""
        return self._count(
            bytes=self._size,
            frames=self._frames + self._framer.singles,
            ignored_frames=self._selector.wire.ignored if self._selector.wire is not None else 0,
            wire=self.wire,
        )

    @property
    def _size(self) -> int:
        """Bytes so far."""
        held = len(self._fast_path.held) if self._fast_path is not None else 0
        return self._framer.received + self._message_bytes + held

    # -- reads that are not one message in the form of the last ----------------------------------------------------

    def _take(self, chunk: Any) -> None:
        """Take bytes, text, a decoded message, or an object of an SDK."""
        if self._is_closed:
            raise RuntimeError("feed() after close()")
        if isinstance(chunk, str):
            self._joiner = self._joiner or SurrogateJoiner()
            chunk = self._joiner.join(chunk).encode()
        if isinstance(chunk, (bytes, bytearray)):
            self._read(bytes(chunk))
        else:
            self._take_object(chunk)

    def _read(self, chunk: bytes) -> None:
        """Take the messages of a read one by one, and keep the part of one that it ends with."""
        path, data, at = self._fast_path, chunk, 0
        if path is not None and path.held:
            data, path.held = path.held + chunk, b""
        size = len(data)
        may_end = self._selector.scope != "body"
        try:
            while at < size:
                if may_end and self._selector.has_ended:
                    self._fast_path = None
                    break
                path = self._fast_path
                end = at if path is None else path.take_next(data, at)
                if end == at:
                    end = self._framer.find_end(data, at)
                    if end <= at:
                        break
                    self._feed_framer(data[at:end])
                    if not self._is_open:
                        return
                at = end
            else:
                return
        except ParseHalted:
            self._stop()
            return
        rest, path = data[at:], self._fast_path
        # What has waited for a few reads waits no longer: it is copied and searched with each.
        if path is not None and len(rest) <= _MAX_WAIT * len(chunk) and self._framer.can_wait(rest):
            path.held = rest
        else:
            self._feed_framer(rest)

    def _feed_framer(self, data: bytes) -> None:
        """Take bytes through the framer, which makes frames of whatever they are."""
        if not self._is_open or not data:
            return
        if self._fast_path is not None:
            self._fast_path.template = None  # a message like the one before may mean something else
        most = self._options.limits.max_total
        room = len(data) if most is None else most - self._framer.received
        self._take_frames(self._framer.feed(data[:room]))
        if room < len(data):
            self._end_at_limit("limit_total", f"the response exceeds {most} bytes")

    def _release(self) -> bytes:
        """Return the beginning of a message that was held; nothing is held afterwards."""
        path = self._fast_path
        if path is None:
            return b""
        held, path.held = path.held, b""
        return held

    def _take_object(self, chunk: Any) -> None:
        """Take a decoded message, or an object of an SDK that holds one; raise TypeError for anything else."""
        self._feed_framer(self._release())
        if self._fast_path is not None:
            self._fast_path.template = None
        try:
            message = read_message(chunk)
        except (ValueError, RecursionError) as error:
            self._refuse(error)
            return
        if not isinstance(message, dict):
            if message is not None:
                self._take(message if isinstance(message, str) else bytes(message))
        elif self._is_open:
            self._take_message(message)

    def _take_message(self, message: Mapping[str, Any]) -> None:
        try:
            data = encode_message(message)
        except (ValueError, RecursionError) as error:
            self._refuse(error)
            return
        frame = Frame(data, offset=self._message_bytes)
        self._message_bytes += len(data)
        self._take_frames([frame])

    def _refuse(self, error: Exception) -> None:
        self._record.position = Offset(self._message_bytes)
        if self._is_open:
            self._record.error("frame", "unexpected_shape", f"a message is no JSON: {error}")
        self._take_frames([])

    def _take_frames(self, frames: list[Frame]) -> None:
        record, selector = self._record, self._selector
        try:
            for frame in frames:
                if selector.scope != "body" and selector.has_ended:
                    break
                record.position = frame
                if self._is_early:
                    self._note_early(frame)
                (selector.take or selector.look)(frame)
            self._frames += len(frames)
            if self._is_early and any(event.__class__ is not Error for event in record.events):
                self._is_early, self._early = False, []
            fault = self._framer.error
            if selector.scope != "body" and selector.has_ended:
                self._fast_path = None
            elif fault is not None:
                self._halt(fault.code, fault.message, fault)
            else:
                self._open_fast_path()
        except ParseHalted:
            self._stop()

    def _open_fast_path(self) -> None:
        """Once framing and wire are known and something was said, take the fast path for single messages."""
        if self._is_early:
            return
        framer = self._framer
        if isinstance(framer, AutoFramer) and framer.framer is not None:
            framer = self._framer = framer.framer
        wire = self._selector.wire
        if self._frames and wire is not None and self._selector.take is not None and not isinstance(framer, AutoFramer):
            self._record.position = framer
            self._fast_path = None if wire.waits else self._fast_path or FastPath(framer, wire)

    # -- the end -------------------------------------------------------------------------------------------------------

    def _stop(self) -> None:
        self._is_open = False
        self._fast_path = None

    def _end_at_limit(self, code: str, message: str) -> None:
        if self._is_open and not self._selector.has_ended:
            self._stop()
            try:
                self._halt(code, message, Offset(self._framer.received))
            except ParseHalted:
                pass

    def _close(self, truncated: str) -> list[Event]:
        if self._is_closed:
            return []
        self._is_closed = True
        if not self._is_open:
            return []
        # Messages alone need no framer, and that the body is empty is no news once its transport has failed.
        is_fed = self._framer.received > 0 or not (self._message_bytes or self._record.response.errors)
        left = self._release()
        left += self._joiner.end().encode() if self._joiner else b""
        if is_fed:
            frames = [*(self._framer.feed(left) if left else ()), *self._framer.close()]
            if frames or self._framer.error is not None:
                self._take_frames(frames)
            if self._framer.is_cut and not self._selector.over:
                self._sink.go_on()
        self._fast_path = None  # which the end of the body may have opened again
        if self._is_open:
            try:
                self._selector.give_up()
                # The answer ends at its marker, however much of what follows is read, else with the body.
                end = self._assembler.marker or Offset(self._framer.received + self._message_bytes)
                self._close_wire(end)
                self._finish(end, truncated)
            except ParseHalted:
                self._is_open = False
        return self._record.take()
