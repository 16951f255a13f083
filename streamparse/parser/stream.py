"""A response in, cut anywhere; events out.

Nearly every read is one plain message.  `FastPath` takes it through the same rooms as the others with less in between:
without a list of frames and, if it is like the message before, undecoded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from streamparse.assembler import Offset, ParseHalted
from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.events import Event
from streamparse.frames import AutoFramer, Frame, Framer, FrameTemplate
from streamparse.limits import Limits
from streamparse.parser.assembly_line import AssemblyLine
from streamparse.parser.chunks import Record, encode_message, read_message
from streamparse.parser.options import ParserOptions
from streamparse.parser.text import SurrogateJoiner
from streamparse.parser.wire_selector import WireSelector
from streamparse.providers.wires import WireName
from streamparse.reading.wire import Wire
from streamparse.stats import Stats
from streamparse.tools.toolset import read_toolset

_MAX_MISSES: Final = 16
"""After this many messages in a row, each in another form than the one before, no form is learnt for a while."""
_COOLDOWN: Final = 1000
"""For this many messages."""


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
        super().__init__(options, wire)
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
            return self._feed_slow(chunk)
        # Nearly every read is one plain message.  It is taken right here, for a call costs more than a line.
        tell: Callable[[Any], None]
        message: Any = path.template and path.template.take(chunk)
        if message is not None:
            tell = path.tell
        elif (data := path.try_single(chunk)) is None:
            return self._feed_slow(chunk)
        else:
            try:
                message = path.decode(data)
            except (ValueError, RecursionError):
                path.framer.unread(chunk)
                return self._feed_slow(chunk)
            tell = path.take
            if path.framer.singles >= path.learns_from:
                path.learn(chunk, message)
        try:
            tell(message)
        except ParseHalted:
            self._stop()
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
            self._assembler.error("stream", code, message)
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

    def stop_at_marker(self) -> None:
        """Be ready to be closed as soon as the parser is `over`: of the piece that ends the answer no more is read.

        The answer is then the same however the body was cut, whatever comes after the marker.
        """
        self._selector.scope = "answer"

    def stop_when_sealed(self) -> None:
        """As `stop_at_marker`, but only once the parser is `sealed`: a body of several answers is read to its end."""
        self._selector.scope = "answers"

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers."""
        return self._count(
            bytes=self._framer.received + self._message_bytes,
            frames=self._frames + self._framer.singles,
            ignored_frames=self._selector.wire.ignored if self._selector.wire is not None else 0,
            wire=self.wire,
        )

    # -- reads that are not one plain message --------------------------------------------------------------------------

    def _feed_slow(self, chunk: Any) -> list[Event]:
        if self._is_closed:
            raise RuntimeError("feed() after close()")
        if self._fast_path is not None:
            self._fast_path.reset()
        if not isinstance(chunk, (bytes, bytearray, str)):
            return self._feed_object(chunk)
        if isinstance(chunk, str):
            self._joiner = self._joiner or SurrogateJoiner()
            chunk = self._joiner.join(chunk).encode()
        data = bytes(chunk)
        if not self._is_open:
            return []
        most = self._options.limits.max_total
        room = len(data) if most is None else most - self._framer.received
        if room >= len(data):
            return self._run(self._framer.feed(data))
        events = self._run(self._framer.feed(data[:room]))
        return [*events, *self._end_at_limit("limit_total", f"the response exceeds {most} bytes")]

    def _feed_object(self, chunk: Any) -> list[Event]:
        """Feed a decoded message, or an object of an SDK that holds one; raise TypeError for anything else."""
        try:
            message = read_message(chunk)
        except (ValueError, RecursionError) as error:
            return self._refuse(error)
        if isinstance(message, dict):
            return self._feed_message(message) if self._is_open else []
        return [] if message is None else self._feed_slow(message if isinstance(message, str) else bytes(message))

    def _feed_message(self, message: Mapping[str, Any]) -> list[Event]:
        try:
            data = encode_message(message)
        except (ValueError, RecursionError, TypeError) as error:
            return self._refuse(error)
        frame = Frame(data, offset=self._message_bytes)
        self._message_bytes += len(data)
        return self._run([frame])

    def _refuse(self, error: Exception) -> list[Event]:
        self._record.position = Offset(self._message_bytes)
        if self._is_open:
            self._record.error("frame", "unexpected_shape", f"a message is no JSON: {error}")
        return self._run([])

    def _run(self, frames: list[Frame]) -> list[Event]:
        record, selector = self._record, self._selector
        try:
            for frame in frames:
                if selector.scope != "body" and selector.has_ended:
                    break
                record.position = frame
                (selector.take or selector.look)(frame)
            self._frames += len(frames)
            fault = self._framer.error
            if selector.scope != "body" and selector.has_ended:
                self._fast_path = None
            elif fault is not None:
                self._halt(fault.code, fault.message, fault)
            else:
                self._open_fast_path()
        except ParseHalted:
            self._stop()
        events = record.events
        record.events = []
        return events

    def _open_fast_path(self) -> None:
        """Once framing and wire are known and a frame has come, take the fast path for single messages."""
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

    def _end_at_limit(self, code: str, message: str) -> list[Event]:
        if self._is_open and not self._selector.has_ended:
            self._stop()
            try:
                self._halt(code, message, Offset(self._framer.received))
            except ParseHalted:
                pass
        return self._record.take()

    def _close(self, truncated: str) -> list[Event]:
        if self._is_closed:
            return []
        self._is_closed = True
        if not self._is_open:
            return []
        # Messages alone need no framer, and that the body is empty is no news once its transport has failed.
        is_fed = self._framer.received > 0 or not (self._message_bytes or self._record.response.errors)
        left = self._joiner.end().encode() if self._joiner else b""
        events = self._run([*(self._framer.feed(left) if left else ()), *self._framer.close()]) if is_fed else []
        self._fast_path = None  # which the end of the body may have opened again
        if self._is_open:
            try:
                self._selector.give_up()
                # The answer ends at its marker if no more is read, else with the body.
                is_over, position = self._selector.has_ended, self._record.position
                end = Offset(position.offset if is_over else self._framer.received + self._message_bytes)
                self._close_wire(end)
                self._finish(end, truncated)
            except ParseHalted:
                self._is_open = False
        return [*events, *self._record.take()]


class FastPath:
    """Takes chunks that are one plain message each: without a list of frames and, if they are alike, undecoded.

    `template` is the form of the message before, if that held one string and nothing else, and `tell` passes such a
    string on.  Forms are learnt from the message number `learns_from` on, as `framer.singles` counts, and only if the
    wire says which of its messages are like that.
    """

    def __init__(self, framer: Framer, wire: Wire) -> None:
        self.framer = framer
        self.try_single = framer.try_single
        self.decode = wire.decode
        self.take = wire.take
        self.template: FrameTemplate | None = None
        self.tell: Callable[[str], None]
        self.learns_from = sys.maxsize if wire.plain is None else 0
        self._wire: Any = wire  # whose `plain` is asked for only if it has one
        self._misses_left = _MAX_MISSES
        self._learnt_at = 0  # the number of the message that a form was looked for in last

    def learn(self, chunk: bytes, message: Any) -> None:
        """Keep the form of a message that is taken now, if it may serve for the next ones."""
        self.template = None
        number = self.framer.singles
        was_fit = number > self._learnt_at + 1
        self._learnt_at = number
        self._misses_left = _MAX_MISSES if was_fit else self._misses_left - 1
        if not self._misses_left:
            self.learns_from, self._misses_left = number + 1 + _COOLDOWN, _MAX_MISSES
        elif (plain := self._wire.plain(message)) is not None:
            self.tell, string = plain
            self.template = FrameTemplate.learn(self.framer, chunk, string)

    def reset(self) -> None:
        """Forget the form: once something else came between, a message like the one before may mean something else."""
        self.template = None
