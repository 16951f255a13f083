"""JSON that stands bare between the events of a stream, cut into lines and fields by their framer."""

from __future__ import annotations

from streamparse.frames import Frame, ValueScanner
from streamparse.limits import Limits, most

__all__ = ["LooseJSON"]


class LooseJSON:
    """Puts such lines together again; `max_event` bounds what waits for its end.

    Gemini writes an error that comes after its first events so, pretty printed over several lines.
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
        if frame.field != b"":  # the framer took what stands before the colon for the name of a field
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
