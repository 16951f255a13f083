"""The format of a body, found out from its first bytes.

A content type often lies (JSON errors under `text/event-stream`, NDJSON under `application/json`), the bytes do not.

| after a byte order mark and blanks | is |
|---|---|
| `{`, and an object ends in that line | `ndjson` |
| `{`, and it does not | `json`: one value, pretty printed; also a single line that no LF ends |
| `[` | `json-array` |
| four bytes that may be the length of a binary message | `aws-eventstream` |
| within 4 KiB a line that begins with a field's name and a colon, or with a colon; nothing but blanks | `sse` |
| anything else: HTML, plain text | `unknown` |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from streamparse.frames.frame import BOM, Chunk, Frame, Framer, FramingError
from streamparse.frames.json_framers import NDJSON, JSONArray, JSONBody, ValueScanner, is_value
from streamparse.frames.sse import SSE
from streamparse.limits import Limits, most
from streamparse.patterns import lazy_re

Format: TypeAlias = Literal["sse", "ndjson", "json-array", "json", "aws-eventstream", "empty", "unknown"]


def _make_aws_framer(limits: Limits) -> Framer:
    from streamparse.frames.aws import AWSEventStream  # noqa: PLC0415 - one provider's alone, and slow to import

    return AWSEventStream(limits)


FRAMERS: dict[Format, Callable[[Limits], Framer]] = {
    "sse": SSE,
    "ndjson": NDJSON,
    "json-array": JSONArray,
    "json": JSONBody,
    "aws-eventstream": _make_aws_framer,
}

HEAD = 4096  # bound: bytes after which a body that resembles nothing known is `unknown`

_EXCERPT = 200  # bound: bytes of a body in the message of its error
_EVENT_BEGINS = (b"data:", b"event:")
_AWS_MESSAGE_BYTES = range(16, 16 * 1024 * 1024)
_NOT_BLANK = lazy_re(rb"[^ \t\r\n]")
_LINE_END = lazy_re(rb"[\r\n]")
_FIELD = lazy_re(rb"[ \t]*(?::|(?:data|event|id|retry)[:\r\n]|[A-Za-z_][\w.-]*:)")


class Sniffer:
    """Collects the head of a body until it shows its format; the answer does not depend on how the body is cut."""

    __slots__ = ("_first", "_line", "_max_line", "_seen", "head")

    def __init__(self, limits: Limits) -> None:
        self.head: bytearray = bytearray()
        self._max_line = most(limits.max_line)
        self._first = -1  # the first byte that is neither mark nor blank
        self._line = 0  # where the first line begins that has not been judged
        self._seen = 0  # how far a line end has been looked for

    def feed(self, chunk: Chunk) -> Format | None:
        """Take in the next bytes; return the format, or None if more bytes are needed."""
        self.head += chunk
        if self._first < 0 and not self._find_first():
            return "sse" if len(self.head) >= HEAD else None  # blank lines are legal there
        first = self.head[self._first]
        if first == ord("{"):
            return self._judge_object()
        if first == ord("["):
            return "json-array"
        if first == 0 and self._is_aws_prelude():
            return "aws-eventstream"
        if first not in b"<\0" and self._has_field():
            return "sse"
        return "unknown" if len(self.head) >= HEAD else None

    def close(self) -> Format:
        """Decide, now that no more bytes come."""
        if self._first < 0:
            return "empty"
        return "json" if self.head[self._first] == ord("{") else "unknown"

    def _find_first(self) -> bool:
        if not self._line and self.head.startswith(BOM):
            self._line = len(BOM)
        elif BOM.startswith(self.head):
            return False
        match = _NOT_BLANK.search(self.head, self._line, HEAD)
        self._line = match.start() if match else len(self.head)
        self._first = match.start() if match else -1
        return match is not None

    def _judge_object(self) -> Format | None:
        head = self.head
        bound = self._first + self._max_line
        newline = head.find(b"\n", max(self._seen, self._first), bound + 1)
        self._seen = len(head)
        if newline >= 0:
            line = bytes(memoryview(head)[self._first : newline])
            return "ndjson" if ValueScanner().end(line) >= 0 else "json"
        return "ndjson" if len(head) > bound else None  # whose framer will find the line too long

    def _is_aws_prelude(self) -> bool:
        length = self.head[:4]
        return self._first == 0 and len(length) == 4 and int.from_bytes(length, "big") in _AWS_MESSAGE_BYTES

    def _has_field(self) -> bool:
        while not _FIELD.match(self.head, self._line, HEAD):
            line_end = _LINE_END.search(self.head, self._line, HEAD)
            if line_end is None:
                return False
            self._line = line_end.end()
        return True


class AutoFramer(Framer):
    """A framer that first finds out what it frames; see `Framer` for the promises.

    A body without a framer ends in the error `not_a_stream`, one without content in `empty_body`.
    Once `framer` is there it may be fed directly.
    """

    received: int
    is_cut: bool

    __slots__ = ("_limits", "_sniffer", "format", "framer")

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.format: Format | None = None
        self.framer: Framer | None = None
        self._limits = limits
        self._sniffer: Sniffer | None = None  # once the first chunk did not show the format

    @property
    def pending(self) -> int:
        """How many bytes are held because their end has not come."""
        if self.framer is not None:
            return self.framer.pending
        return len(self._sniffer.head) if self._sniffer is not None else 0

    def feed(self, chunk: Chunk) -> list[Frame]:
        """Take in the next bytes; return the frames that they complete."""
        if self.framer is not None:
            return self._follow(self.framer, self.framer.feed(chunk))
        if not self.received and chunk.__class__ is bytes and (format := self._recognise(chunk)) is not None:
            return self._begin_with(format, chunk)
        self.received += memoryview(chunk).nbytes
        self._sniffer = self._sniffer or Sniffer(self._limits)
        return [] if self.error else self._begin(self._sniffer.feed(chunk))

    def close(self) -> list[Frame]:
        """End the body; return what its unfinished end still holds."""
        frames = []
        if self.framer is None and not self.error:
            self._sniffer = self._sniffer or Sniffer(self._limits)
            frames = self._begin(self._sniffer.close())
        return self._follow(self.framer, frames + self.framer.close()) if self.framer else frames

    def find_end(self, data: bytes, at: int) -> int:
        """Find where the message that begins there may end; before the format is known it is a guess by its begin."""
        return _guess_end(data, at) if self.framer is None else self.framer.find_end(data, at)

    def _recognise(self, chunk: bytes) -> Format | None:
        """Return the format that a first chunk shows at once, as most do; None if it must be looked at closely."""
        if chunk.startswith(_EVENT_BEGINS):
            return "sse"
        end = chunk.find(b"\n", 0, self._max_line + 1) if chunk.startswith(b"{") else -1
        return "ndjson" if end > 0 and is_value(chunk[:end]) else None

    def _begin(self, format: Format | None) -> list[Frame]:
        if format is None:
            return []
        assert self._sniffer is not None
        head = bytes(self._sniffer.head)
        self._sniffer.head.clear()
        if format in FRAMERS:
            return self._begin_with(format, head)
        self.format = format
        if format == "empty":
            self.error = FramingError("empty_body", "the body holds nothing but blanks", 0)
        else:
            excerpt = head[:_EXCERPT].decode(errors="replace")
            self.error = FramingError("not_a_stream", f"neither an event stream nor JSON: {excerpt!r}", 0)
        return []

    def _begin_with(self, format: Format, head: Chunk) -> list[Frame]:
        self.format = format
        framer = self.framer = FRAMERS[format](self._limits)
        return self._follow(framer, framer.feed(head))

    def _follow(self, framer: Framer, frames: list[Frame]) -> list[Frame]:
        self.received, self.error, self.is_cut = framer.received, framer.error, framer.is_cut
        return frames


def _guess_end(data: bytes, at: int) -> int:
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
    end = data.find(mark, begin)
    return end + len(mark) if end >= 0 else line + 1
