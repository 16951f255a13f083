"""The base class of wires that read one type of JSON message.

It decodes, and takes what is not a plain message: the end marker, errors outside of the protocol, halves of characters,
bare JSON, an HTML page in place of an event.
"""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any, ClassVar, Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from streamparse.frames import Frame, ValueScanner
from streamparse.limits import Limits, most
from streamparse.patterns import plain
from streamparse.reading.decode import FrameDecoder, decode_untyped, ends_in_half, rejoin_pairs
from streamparse.reading.errors import error_in, tell_provider_error
from streamparse.reading.wire import Plain
from streamparse.sink import Sink
from streamparse.tools import Toolset

# -- ----------------------------------------------------------------------------------------------------
# Bare JSON between the events of a stream, which the framer has cut into lines and fields.


class BareJsonJoiner:
    """Joins such lines again; `max_event` bounds what waits for its end.

    Gemini writes an error after its first events this way, pretty printed over several lines.
    """

    def __init__(self, limits: Limits) -> None:
        self._max_event = most(limits.max_event)
        self._data = bytearray()
        self._offset = 0
        self._scanner: ValueScanner | None = None

    def add(self, frame: Frame) -> Frame | None:
        """Take a line that is not data; return the value that it ends, as a frame."""
        if self._scanner is None:
            if frame.field != b"":
                return None
            self._scanner = ValueScanner()
            self._offset = frame.offset
        line = frame.data
        if frame.field != b"":  # the framer took the text before the colon for the name of a field
            line = frame.field + b":" + frame.data if frame.data else frame.field
        self._data += line
        return self.close() if self._scanner.end(line) >= 0 or len(self._data) > self._max_event else None

    def close(self) -> Frame | None:
        """Return what waits, whole or not."""
        if self._scanner is None:
            return None
        self._scanner = None
        frame = Frame(bytes(self._data), b"", self._offset)
        self._data.clear()
        return frame


# -- ----------------------------------------------------------------------------------------------------

T = TypeVar("T", bound=msgspec.Struct)

_HTML: Final = plain(rb"<[A-Za-z!]")
_MOST_OF_A_PAGE: Final = 2000


class MessageWire(Generic[T]):
    """A wire without its `claims` and its `take`.

    `_over` is set once the end marker has come.  What follows is counted as ignored, by `take` too.
    """

    shape: ClassVar[type[Any]]
    """The Struct of a message.  It names only the fields that are read."""
    reads: ClassVar[tuple[str, ...]] = ()
    parses_calls: ClassVar[bool] = False
    reopens: ClassVar[bool] = False

    def __init__(self, sink: Sink, tools: Toolset, limits: Limits, choice: int = 0) -> None:  # noqa: ARG002
        self._sink = sink
        self._text: Callable[[str], None] = sink.text
        self._choice = choice
        self._decoder: FrameDecoder[T] = FrameDecoder(self.shape, sink, limits, self._mend)
        self.decode: Callable[[bytes], T] = self._decoder.fast
        self._bare_json = BareJsonJoiner(limits)
        self._half: Frame | None = None  # ends in half of a character
        self.waits = False
        self._page = StringIO()  # HTML where an event should be: a gateway has failed
        self._over = False
        self._failed = False
        self.ignored = 0

    @staticmethod
    def claims(message: dict[str, Any], event: bytes, /) -> bool:
        """Whether the first message of a body shows this wire."""
        raise NotImplementedError

    @property
    def over(self) -> bool:
        return self._over

    def take(self, message: T) -> None:
        """Send the sink what a decoded message holds."""
        raise NotImplementedError

    @property
    def plain(self) -> Callable[[T], Plain | None] | None:
        return None

    def frame(self, frame: Frame) -> None:
        if self._half is not None:
            frame = self._rejoin(self._half, frame)
        if frame.field != b"data" or frame.event == b"error":
            self._take_nonstandard(frame)
            return
        message = self._message(frame)
        if message is not None:
            self.take(message)

    def close(self) -> None:
        """The body is over: send what waited for more.  A wire that has more to send calls this first."""
        self._flush_half()
        frame = self._bare_json.close()
        if frame is not None:
            self._take_frame(frame)
            self._flush_half()
        self._fail(self._page.getvalue())

    def _mend(self, message: dict[str, Any]) -> None:
        """Mend known deviations of a message, in place, that `decode` refused."""

    def _message(self, frame: Frame) -> T | None:
        """Decode a frame; None if it was something else than a message, which has been dealt with."""
        try:
            return self.decode(frame.data)
        except (ValueError, RecursionError):
            pass
        data = frame.data.strip()
        if self._over:
            self.ignored += 1
            return None
        if data == b"[DONE]":
            self._over = True
            self._sink.end()
            return None
        if ends_in_half(data):
            self._half, self.waits = frame, True
            return None
        return self._decoder.slow(frame) if data and not self._report_error_frame(frame) else None

    def _rejoin(self, half: Frame, frame: Frame) -> Frame:
        """Take the message that waits, and return the next one without what belongs to it."""
        self._half, self.waits = None, False
        data, rest = rejoin_pairs(half.data, frame.data)
        self.frame(replace(half, data=data))
        return replace(frame, data=rest)

    def _flush_half(self) -> None:
        """No message follows the one that waits."""
        if self._half is not None:
            self._rejoin(self._half, Frame(b""))

    def _report_error_frame(self, frame: Frame) -> bool:
        """Report a frame that is an error in another shape than the wire's; whether it was one."""
        message = decode_untyped(frame.data)
        error = None if self.claims(message, frame.event) else error_in(message)
        if error is not None:
            self._fail(error)
        return error is not None

    def _take_nonstandard(self, frame: Frame) -> None:
        """Take a field or an event that is not in the protocol: an error, a message without its field, or nothing."""
        if self._over:
            self.ignored += 1
        elif frame.event == b"error" or frame.field.lower() == b"error":
            self._take_error(frame.data)
        elif _HTML.match(frame.field) or self._page.tell():
            if self._page.tell() < _MOST_OF_A_PAGE:
                self._page.write((frame.field + frame.data).decode("utf-8", "replace"))
        elif (whole := self._bare_json.add(frame)) is not None:
            self._take_frame(whole)

    def _take_frame(self, frame: Frame) -> None:
        message = self._message(frame)
        if message is not None:
            self.take(message)

    def _take_error(self, data: bytes) -> None:
        words = data.decode("utf-8", "replace").strip()
        try:
            self._fail(msgspec.json.decode(data) or words)
        except (ValueError, RecursionError):
            self._fail(words)

    def _fail(self, error: Any) -> None:
        """Report the provider's error once, unless it is blank: some send it in two events of different names."""
        if error and not self._failed:
            self._failed = True
            tell_provider_error(self._sink, error)
