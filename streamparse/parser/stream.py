"""A response in, cut anywhere; events out.

Nearly every read is one plain message, or several.  `FastPath` takes them through the same rooms as the others, with
less in between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal

from streamparse.assembler import Offset, ParseHalted
from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.events import Error, Event
from streamparse.frames import AutoFramer, Frame, Framer
from streamparse.limits import Limits
from streamparse.parser.assembly_line import AssemblyLine
from streamparse.parser.chunks import Record, read_message
from streamparse.parser.empty_answers import MOST_LOOKED_AT
from streamparse.parser.fast_path import FastPath
from streamparse.parser.options import ParserOptions
from streamparse.parser.text import SurrogateJoiner
from streamparse.parser.to_builtins import encode_message
from streamparse.parser.wire_selector import WireSelector
from streamparse.providers.wires import WireName
from streamparse.reading.wire import UnknownMessage
from streamparse.stats import Stats
from streamparse.tools.toolset import read_toolset

_LARGE: Final = 512
"""Bytes from which a read is likely to hold several messages."""
_MAX_HEADS: Final = MOST_LOOKED_AT
"""So many messages at the beginning of a read are taken one by one, until they have shown framing and wire, and said
something."""
_MAX_WAIT: Final = 4
"""For so many reads, of the size of the last, the beginning of a message may wait for its end."""


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
            return self._feed_slow(chunk)
        if path.is_cut:
            return self._feed_several(path, chunk)
        # Most reads are one plain message.  It is taken right here, for a call costs more than a line.
        tell: Callable[[Any], bool | None]
        message: Any
        data: bytes | None
        template = path.template
        if template is not None and (message := template.take(chunk)) is not None:
            tell, data = path.tell, None
        elif template is not None and (len(chunk) > template.longest or chunk[-1:] != b"\n"):
            return self._feed_several(path, chunk)
        else:
            # To call an attribute at once takes longer than to read it first, if it is no method.
            try_single, decode = path.try_single, path.decode
            data = try_single(chunk)
            if data is None:
                return self._feed_several(path, chunk)
            try:
                message = decode(data)
            except (ValueError, RecursionError):
                return self._feed_undecodable(path, chunk, data)
            tell = path.take
            framer = path.framer
            if framer.singles >= path.learns_from:
                path.learn_single(chunk, message)
        try:
            if tell(message) is True and data is not None:
                path.read_facts(data)
            if path.may_end and self._selector.has_ended:
                self._fast_path = None
        except ParseHalted:
            self._stop()
        except UnknownMessage:
            path.framer.unread(chunk)
            self._feed_framer(chunk)
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
        if self._fast_path is not None:
            self._fast_path.may_end = True

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

    # -- reads that are not one plain message --------------------------------------------------------------------------

    def _feed_several(self, path: FastPath, chunk: bytes, at: int = 0) -> list[Event]:
        """Take a read of several messages, or of parts: the plain ones by the fast path, all else by the framer.

        What is before `at` was taken; then nothing is held.
        """
        held, path.held = path.held, b""
        data = held + chunk
        framer, form = path.framer, path.template
        before, size = framer.singles, len(data)
        try:
            if form is not None and self._selector.scope == "body":  # most reads are all alike
                if held and (string := form.take(data)) is not None:  # it was one, in two parts
                    at = size
                    path.tell(string)
                else:
                    at = form.take_run(data, at, path.tell)
            if at < size and (form is None or framer.find_end(data, at)):  # else part of a message is left
                at = path.take_all(data, at)
                if at < size:
                    at = self._take_others(path, data, at)
                if path.may_end and self._selector.has_ended:
                    self._fast_path = None
        except ParseHalted:
            self._stop()
        else:
            if at < size:
                # What has waited for a few reads waits no longer: it is copied and searched with each.
                rest = data[at:]
                if self._fast_path is path and len(rest) <= _MAX_WAIT * len(chunk) and framer.can_wait(rest):
                    path.held = rest
                else:
                    self._feed_framer(rest)
        after = framer.singles
        path.is_cut = path.held != b"" or (path.template is None and before == path.cut_at and after != before + 1)
        path.cut_at = after
        record = self._record
        events = record.events
        record.events = []
        return events

    def _feed_undecodable(self, path: FastPath, chunk: bytes, data: bytes) -> list[Event]:
        """Take a read whose data is not decoded: most often it is the end marker."""
        try:
            if not path.try_end_marker(data):
                path.framer.unread(chunk)
                self._feed_framer(chunk)
            elif self._selector.has_ended:
                self._fast_path = None
        except ParseHalted:
            self._stop()
        return self._record.take()

    def _take_others(self, path: FastPath, data: bytes, at: int) -> int:
        """Take messages of which the first is not plain; return the position of the one that has no end yet.

        It is the position of the next one if the fast path is not open any more.  Raises `ParseHalted`.
        """
        size = len(data)
        row = 0  # how long the messages are that came one after the other and are not plain
        while at < size and self._fast_path is path:
            # Often they are many, so at least twice as many are fed at once.
            end = path.framer.find_end(data, min(at + row, size))
            if end <= at:
                break
            self._feed_framer(data[at:end])
            row += end - at
            at = path.take_all(data, end) if self._fast_path is path else end
            if at > end:
                row = 0
        return at

    def _feed_slow(self, chunk: Any) -> list[Event]:
        """Take what is no read of bytes, or comes before the fast path is open, or after it was closed."""
        if self._is_closed:
            raise RuntimeError("feed() after close()")
        if not isinstance(chunk, (bytes, bytearray, str)):
            return self._feed_object(chunk)
        if isinstance(chunk, str):
            self._joiner = self._joiner or SurrogateJoiner()
            chunk = self._joiner.join(chunk).encode()
        data, at = bytes(chunk), 0
        for _ in range(_MAX_HEADS):
            if self._fast_path is not None or len(data) - at < _LARGE or (end := _find_end(data, at)) <= at:
                break
            self._feed_framer(data[at:end])
            at = end
        if self._fast_path is not None:
            return self._feed_several(self._fast_path, data, at)
        self._feed_framer(data[at:])
        events = self._record.events
        self._record.events = []
        return events

    def _feed_framer(self, data: bytes) -> None:
        """Take bytes through the framer, which makes frames of whatever they are."""
        if not self._is_open or not data:
            return
        if self._fast_path is not None:
            self._fast_path.reset()
        most = self._options.limits.max_total
        room = len(data) if most is None else most - self._framer.received
        self._take_frames(self._framer.feed(data[:room]))
        if room < len(data):
            self._end_at_limit("limit_total", f"the response exceeds {most} bytes")

    def _feed_object(self, chunk: Any) -> list[Event]:
        """Feed a decoded message, or an object of an SDK that holds one; raise TypeError for anything else."""
        path = self._fast_path
        if path is not None:
            path.reset()
            self._feed_framer(path.release())
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
        except (ValueError, RecursionError) as error:
            return self._refuse(error)
        frame = Frame(data, offset=self._message_bytes)
        self._message_bytes += len(data)
        self._take_frames([frame])
        return self._record.take()

    def _refuse(self, error: Exception) -> list[Event]:
        self._record.position = Offset(self._message_bytes)
        if self._is_open:
            self._record.error("frame", "unexpected_shape", f"a message is no JSON: {error}")
        self._take_frames([])
        return self._record.take()

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
            self._fast_path = None if wire.waits else self._fast_path or FastPath(framer, wire, self._selector)

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
        left = self._fast_path.release() if self._fast_path else b""
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


def _find_end(data: bytes, at: int) -> int:
    """Guess where the message of a body ends that begins there; at most `at` if nowhere.

    A wrong guess costs time and changes no result.
    """
    first = data[at : at + 1]
    if first == b"\0":
        return at + int.from_bytes(data[at : at + 4], "big")  # a binary message begins with its length
    if first == b"{":  # lines of JSON, or one value over several lines
        end = data.find(b"\n", at) + 1
        return end if data[at:end].rstrip().endswith(b"}") else 0
    if first == b"[":
        return data.find(b"\n,", at)
    begin = max(data.find(b"\ndata:", at), at) if first == b":" else at  # a comment shows nothing
    line = data.find(b"\n", begin)
    mark = b"\r\n\r\n" if data[line - 1 : line] == b"\r" else b"\n\n"
    end = data.find(mark, max(line - 1, begin))
    return end + len(mark) if end >= 0 else line + 1
