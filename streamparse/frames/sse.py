"""Server-sent events, by the WHATWG algorithm, over bytes.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation

Three things differ from a browser, because servers of models do them and browsers lose them:

- an event whose blank line is missing at the end of the body is delivered by `close()`;
- a field that the specification does not know is a frame of its own (`error: {...}` of llama-box);
- a line that begins like JSON is a frame without a field (a bare error object between the events).

An event is returned at the byte that ends its blank line: after a CR, an LF is not waited for.
"""

from __future__ import annotations

from streamparse.frames.frame import BOM, Chunk, Frame, LineFramer
from streamparse.frames.json_framers import is_cut_value
from streamparse.limits import Limits
from streamparse.patterns import lazy_re

RETRY_CAP = 2**31 - 1  # bound: milliseconds; a longer `retry` counts as this

_DATA = b"data: "
_FIELDS = (b"data", b"event", b"id", b"retry")
_MAX_PREFIXES = 64  # bound: what all streams of a process learn
_MAX_PREFIX = 100  # bound: bytes of each
_plain_prefixes: set[bytes] = set()  # what stands before the data of plain events, on all servers so far
_FAILURE = lazy_re(rb"(?i)event: ?[^\r\n]*(?:error|exception)\r?\n")  # exceptions are Amazon's


class SSE(LineFramer):
    """A framer of server-sent events; see `Framer` for the promises.

    `max_line` bounds a line without its end, `max_event` the data of an event, its lines joined by LF.
    `retry` is the last reconnection time that the server asked for, in milliseconds.
    """

    offset: int
    turned_at: int
    is_cut: bool
    singles: int
    received: int

    __slots__ = (
        *("_after_cr", "_data", "_event", "_has_cr", "_id", "_idle", "_offset", "_prefix"),
        "retry",
    )

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.retry: int | None = None
        self._prefix = _DATA  # what stood before the data of the last single event
        self._has_cr = False  # lines end in CRLF
        self._data: bytes | bytearray | None = None  # of the event whose blank line has not come
        self._event = b""
        self._id = b""
        self._offset = 0
        self._after_cr = False  # an LF that comes next belongs to the CR before it
        self._idle = True  # nothing of the above is held

    @property
    def pending(self) -> int:
        """Bytes held because their end has not come."""
        return len(self._carry) + len(self._data or b"") + len(self._event)

    def feed(self, chunk: Chunk) -> list[Frame]:
        """Take in the next bytes; return the events that they complete."""
        chunk = bytes(chunk)
        at = self.received - len(self._carry)
        self.received += len(chunk)
        if self.error is not None or not chunk:
            return []
        lines = chunk.splitlines(keepends=True)  # of bytes: at LF, CR and CRLF, nothing else
        if self._after_cr and lines[0] == b"\n":
            del lines[0]
            at += 1
        self._after_cr = chunk.endswith(b"\r")
        rest = b"" if chunk.endswith((b"\n", b"\r")) else lines.pop()
        if lines:
            self._has_cr = lines[0].endswith(b"\r\n")
        frames = self._take_and_keep(lines, rest, at)
        self._idle = not (self._carry or self._event or self._after_cr or self.error) and self._data is None
        return frames

    def try_next(self, data: bytes, at: int) -> bytes | None:
        """Take the plain event that begins at a position, and return its data; None if there is none.

        Most are a data line, or the line of a type and a data line.  The type is dropped, so an event whose type says
        that it is an error is left to `feed`; `offset` is the data's.
        """
        prefix = self._prefix
        start = at + len(prefix)
        if data[at:start] != prefix:  # a copy costs less than `startswith` with a position
            if not self._learn(data, at):
                return None
            start = at + len(self._prefix)
        stop = data.find(b"\n", start)
        if stop < 0:
            return None
        end = stop + 2
        if data[stop:end] != b"\n\n":
            stop, end = stop - 1, stop + 3
            if data[stop:end] != b"\r\n\r\n":
                return None
        payload = data[start:stop]
        size = end - at
        received = self.received + size
        if 13 in payload or not self._idle or size > self._max_single or received > self._max_total:
            return None
        self.offset = received - end + start
        self.received = received
        self.singles += 1
        return payload

    def find_end(self, data: bytes, at: int) -> int:
        """Find where the event that begins there ends."""
        end = b"\r\n\r\n" if self._has_cr else b"\n\n"
        stop = data.find(end, at)
        return stop + len(end) if stop >= 0 else 0

    def can_wait(self, rest: bytes) -> bool:
        """Whether bytes are the beginning of an event: part of a line, after what stood before the last data or not.

        Before the blank line only a whole line of an unknown field would be a frame.
        """
        size = len(rest)
        if not self._idle or size > self._max_single or self.received + size > self._max_total:
            return False
        line = rest.removeprefix(self._prefix)
        if len(line) < size:  # the line of the data may be whole, if the blank line has not begun
            line = line.removesuffix(b"\n").removesuffix(b"\r")
        return 10 not in line and 13 not in line

    def _learn(self, data: bytes, at: int) -> bool:
        """Remember what is before the data of a single event: most events have the same there as the one before."""
        start = data.find(b"\n", at) + 7 if data.startswith(b"event:", at) else at + 6
        prefix = data[at:start]
        if prefix not in _plain_prefixes:
            if not prefix.endswith(b"data: ") or _FAILURE.match(prefix) or len(prefix.splitlines()) > 2:
                return False
            if len(_plain_prefixes) < _MAX_PREFIXES and len(prefix) <= _MAX_PREFIX:
                _plain_prefixes.add(prefix)
        self._prefix = prefix
        return True

    def close(self) -> list[Frame]:
        """End the body: an unfinished line counts as a line, an unfinished event as an event if it has data."""
        last = bytes(self._carry)
        self._carry.clear()
        if last and any(name.startswith(last) for name in _FIELDS):
            last = b""  # cut inside the name of a field: nothing of its value has come
        frames = self._take([last], self.received - len(last)) if last else []
        if self._data:
            frames += self._take([b"\n"], self.received)
        self._data = None
        self.is_cut = any(is_cut_value(frame.data) for frame in frames)
        return frames

    def _take(self, lines: list[bytes], at: int) -> list[Frame]:
        """Take whole lines, the first of which begins at `at`."""
        frames = []
        for line in lines:
            text = line.rstrip(b"\r\n")
            if not text:
                data = self._data
                if data is not None:
                    frames.append(Frame(bytes(data), self._event, self._offset, b"data", self._id))
                    self._data = None
                self._event = b""
            else:
                value = text.removeprefix(b"data: ")
                if len(value) != len(text) <= self._max_single and self._data is None:
                    self._data = value
                    self._offset = at + 6
                else:
                    frames += self._take_line(text, at)
                    if self.error is not None:
                        break
            at += len(line)
        return frames

    def _take_line(self, text: bytes, at: int) -> list[Frame]:
        """Take any line that is neither empty nor the first data of its event."""
        end = at + len(text)
        if len(text) > self._max_line:
            self._stop_at_line(at)
            return []
        if at == 0:
            text = text.removeprefix(BOM)
        return self._take_field(text, end) if text else []

    def _take_field(self, text: bytes, end: int) -> list[Frame]:
        """Take one field; return it as a frame if the specification would ignore it."""
        if text[0] in b"{[":
            return [Frame(text, b"", end - len(text), b"")]
        name, _, value = text.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._add_data(value, end - len(value))
        elif name == b"event":
            self._event = value
        elif name == b"id":
            if 0 not in value:
                self._id = value
        elif name == b"retry":
            if value.isdigit():
                digits = value.lstrip(b"0")[:10] or b"0"  # ten digits are beyond the cap or exact
                self.retry = min(int(digits), RETRY_CAP)
        elif name:  # a line without a name is a comment
            return [Frame(value, b"", end - len(value), name)]
        return []

    def _add_data(self, value: bytes, offset: int) -> None:
        """Add a line to the data of the event."""
        data = self._data
        held = 0 if data is None else len(data) + 1
        if held + len(value) > self._max_event:
            past = offset + max(0, self._max_event - held)
            self._stop("limit_event", f"an event holds more than {self._max_event} bytes", past)
        elif data is None:
            self._data = value
            self._offset = offset
        else:
            if isinstance(data, bytes):
                self._data = data = bytearray(data)
            data += b"\n"
            data += value

    def _stop(self, code: str, message: str, offset: int) -> None:
        super()._stop(code, message, offset)
        self._data = None
        self._event = b""
