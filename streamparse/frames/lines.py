"""Bodies that are cut by lines: what their framers share, and JSON lines as Ollama sends them.

Only LF ends a JSON line: U+2028, U+0085 and a CR inside the line are data.
"""

from __future__ import annotations

from streamparse.frames.frame import BOM, Chunk, Frame, Framer, FramingError


class LineFramer(Framer):
    """A framer that takes whole lines; it says itself where a line ends."""

    __slots__ = ()

    def _take(self, lines: list[bytes], at: int) -> list[Frame]:
        """Take whole lines, the first of which begins at `at`."""
        raise NotImplementedError

    def _take_and_keep(self, lines: list[bytes], rest: bytes, at: int) -> list[Frame]:
        """Take the lines that a chunk completes, the first of which began at `at`, and keep the rest of the chunk."""
        carry = self._carry
        if carry and lines:
            carry += lines[0]
            lines[0] = bytes(carry)
            carry.clear()
        frames = self._take(lines, at)
        if not self.error:
            carry += rest
            if len(carry) > self._max_line:
                self._line_too_long(self.received - len(carry))
        return frames

    def _line_too_long(self, at: int) -> None:
        self._stop("limit_line", f"a line holds more than {self._max_line} bytes", at + self._max_line)

    def _stop(self, code: str, message: str, offset: int) -> None:
        self.error = FramingError(code, message, offset)
        self._carry.clear()
        self._max_single = -1  # nothing fits any more


class NDJSON(LineFramer):
    """A framer of JSON lines; see `Framer` for the promises.

    Blank lines are skipped, one CR before the LF is dropped, and a last line needs no LF.
    `max_line` bounds the bytes before the LF, `max_event` those of the frame.
    """

    __slots__ = ()

    def feed(self, chunk: Chunk) -> list[Frame]:
        """Take in the next bytes; return the lines that they complete."""
        chunk = bytes(chunk)
        at = self.received - len(self._carry)
        self.received += len(chunk)
        if self.error is not None:
            return []
        lines = chunk.split(b"\n")
        rest = lines.pop()
        return self._take_and_keep(lines, rest, at)

    def try_single(self, chunk: bytes) -> bytes | None:
        """Take a chunk that is exactly one line and return its JSON; None, and nothing is taken, if it is not.

        `offset` is where it begins.
        """
        line = chunk[:-1]
        if 10 in line or not line or chunk[-1] != 10 or self._carry:
            return None
        size = len(chunk)
        start = self.received
        end = start + size
        if size > self._max_single or end > self._max_total:
            return None
        self.offset = start
        self.received = end
        self.singles += 1
        return line

    def close(self) -> list[Frame]:
        """End the body: its last line needs no LF."""
        last = bytes(self._carry)
        self._carry.clear()
        return self._take([last], self.received - len(last)) if last else []

    def _take(self, lines: list[bytes], at: int) -> list[Frame]:
        """Take whole lines without their LF, the first of which begins at `at`."""
        frames = []
        for line in lines:
            if len(line) > self._max_line:
                self._line_too_long(at)
                break
            text = line.removesuffix(b"\r")
            offset = at
            if at == 0 and text.startswith(BOM):
                text = text[3:]
                offset = 3
            if len(text) > self._max_event:
                message = f"an event holds more than {self._max_event} bytes"
                self._stop("limit_event", message, offset + self._max_event)
                break
            if text and not text.isspace():
                frames.append(Frame(text, b"", offset))
            at += len(line) + 1
        return frames
