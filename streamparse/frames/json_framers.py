"""Bodies of JSON: lines, one array that grows, or one value.

Only LF ends a JSON line, as Ollama sends them: U+2028, U+0085 and a CR inside the line are data.

Gemini without `alt=sse` sends `[{...}`, then `,\\n{...}` again and again, at last `]`.  Where an element ends is
found by following strings and brackets only; whether it is JSON is for its reader to say.
"""

from __future__ import annotations

import re
from typing import Final

import msgspec

from streamparse.frames.frame import BOM, Chunk, Frame, Framer, LineFramer
from streamparse.limits import Limits
from streamparse.patterns import lazy_re

# The repetitions are bounded because `re` keeps a record of each one: about 100 bytes, however short it is.
_STRING_CHARACTERS = lazy_re(rb'[^"\\]*(?:\\.[^"\\]*){0,200}', re.DOTALL)
_NO_BRACKETS = lazy_re(rb'(?:[^"{}\[\]]+|"[^"\\]*(?:\\.[^"\\]*){0,20}"){0,200}', re.DOTALL)
_ELEMENT = lazy_re(rb"[^\s,\]]")
_WORD_END = lazy_re(rb'[\s,\[\]{}"]')
_BETWEEN = b" \t\n\r\f\v,]"
_LINE_ENDS = lazy_re(rb"\n+")
_QUOTE = ord('"')

_skip: Final = msgspec.json.Decoder(msgspec.Raw).decode
_TRUNCATED: Final = "Input data was truncated"  # what msgspec says of the valid beginning of a value


class NDJSON(LineFramer):
    """A framer of JSON lines; see `Framer` for the promises.

    Blank lines are skipped, one CR before the LF is dropped, and a last line needs no LF.
    `max_line` bounds the bytes before the LF, `max_event` those of the frame.
    """

    singles: int
    received: int

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

    def try_next(self, data: bytes, at: int) -> bytes | None:
        """Take the line that begins at a position, and return its JSON; `offset` is where it begins."""
        stop = data.find(b"\n", at)
        start = self.received
        size = stop + 1 - at
        if stop <= at or self._carry or size > self._max_single or start + size > self._max_total:
            return None
        self.offset: int = start
        self.received = start + size
        self.singles += 1
        return data[at:stop]

    def find_end(self, data: bytes, at: int) -> int:
        """Find the end of a line, and of the empty lines after it."""
        found = _LINE_ENDS.search(data, at)
        return 0 if found is None else found.end()

    def can_wait(self, rest: bytes) -> bool:
        """Whether bytes are the beginning of a line."""
        return not self._carry and 10 not in rest and super().can_wait(rest)

    def close(self) -> list[Frame]:
        """End the body: its last line needs no LF."""
        last = bytes(self._carry)
        self._carry.clear()
        self.is_cut: bool = is_cut_value(last)
        return self._take([last], self.received - len(last)) if last else []

    def _take(self, lines: list[bytes], at: int) -> list[Frame]:
        """Take whole lines without their LF, the first of which begins at `at`."""
        frames = []
        for line in lines:
            if len(line) > self._max_line:
                self._stop_at_line(at)
                break
            text = line.removesuffix(b"\r")
            offset = at
            if at == 0 and text.startswith(BOM):
                text = text[3:]
                offset = 3
            if len(text) > self._max_event:
                self._stop_at_event("an event", offset)
                break
            if text and not text.isspace():
                frames.append(Frame(text, b"", offset))
            at += len(line) + 1
        return frames


def is_value(data: bytes) -> bool:
    """Whether bytes are one JSON value, with nothing but blanks around it."""
    try:
        _skip(data)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def is_cut_value(data: bytes) -> bool:
    """Whether bytes are the beginning of an object, an array or a string, and not all of it; `[DONE` is none."""
    text = data.lstrip(b"dat: \t\r\n")  # a relay may have written `data:` once more
    if not text.startswith((b"{", b"[", b'"')) or b"[DONE]".startswith(text):
        return False
    return not is_value(text) and ValueScanner().end(text) < 0  # a whole value, as most are, is seen sooner as one


class ValueScanner:
    """Finds where an object, an array or a string ends, in text that comes in pieces.

    Brackets are counted, not matched.  Every byte is looked at a few times at most, however the text is cut.
    """

    __slots__ = ("_depth", "_escaped", "_in_string")

    def __init__(self) -> None:
        self._depth = 0
        self._in_string = False
        self._escaped = False  # the last byte was a backslash inside a string

    def end(self, piece: bytes, at: int = 0) -> int:
        """Go on at `at`; return the position after the byte that ends the value, or -1 if it goes on."""
        size = len(piece)
        while at < size:
            if self._in_string:
                at = self._skip_characters(piece, at)
                if not self._in_string and self._depth == 0:
                    return at
                continue
            if self._depth and (match := _NO_BRACKETS.match(piece, at)):
                at = match.end()
                if at == size:
                    break
            byte = piece[at]
            at += 1
            if byte == _QUOTE:
                self._in_string = True
            elif byte in b"{[":
                self._depth += 1
            elif byte in b"}]":
                self._depth -= 1
                if self._depth == 0:
                    return at
        return -1

    def _skip_characters(self, piece: bytes, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        match = _STRING_CHARACTERS.match(piece, at)
        at = match.end() if match else at
        if at == len(piece):
            return at
        if piece[at] == _QUOTE:
            self._in_string = False
            return at + 1
        self._escaped = True  # a backslash: the last byte of the piece, or the 201st in a row of matches
        return at + 1


class JSONArray(Framer):
    """A framer of the elements of one JSON array; see `Framer` for the promises.

    An element that is an object is a frame as soon as its own closing brace has come.  Brackets, commas and white
    space between the elements are dropped; anything else there is a frame too.  `max_event` bounds an element.
    """

    singles: int
    received: int

    __slots__ = ("_has_cr", "_in_array", "_offset", "_scanner")

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self._offset = 0
        self._in_array = False
        self._has_cr = False  # the comma that begins a line was the last before a CR, and there was no other
        self._scanner: ValueScanner | None = None  # of an element that delimits itself

    def feed(self, chunk: Chunk) -> list[Frame]:
        """Take in the next bytes; return the elements that they complete."""
        chunk = bytes(chunk)
        before = self.received
        self.received += len(chunk)
        self._has_cr = False
        frames: list[Frame] = []
        at = 0
        while self.error is None:
            if not self._carry:
                at = self._begin(chunk, at, before)
            if at == len(chunk):
                break
            end = self._find_element_end(chunk, at)
            self._carry += chunk[at:] if end < 0 else chunk[at:end]
            at = len(chunk) if end < 0 else end
            frames += self._take_element(end >= 0)
        return frames

    def try_next(self, data: bytes, at: int) -> bytes | None:
        """Take what looks like one object: its reader will see whether it is, and else `unread`.

        An element ends where a line begins with a comma, or the read ends.
        """
        end = self._find_comma(data, at)
        chunk = data[at:end] if end > 0 else data[at:]
        element = chunk.strip(_BETWEEN)
        if element[:1] != b"{" or element[-1:] != b"}" or self._carry or not self._in_array or self.error is not None:
            return None
        received = self.received + len(chunk)
        if len(element) > self._max_event or received > self._max_total:
            return None
        self.offset: int = self.received + chunk.find(b"{")
        self.received = received
        self.singles += 1
        return element

    def unread(self, size: int) -> None:
        super().unread(size)
        self._has_cr = False

    def find_end(self, data: bytes, at: int) -> int:
        """Find the comma that begins a line."""
        return max(self._find_comma(data, at), 0)

    def can_wait(self, rest: bytes) -> bool:
        """Whether bytes are the beginning of an object: valid JSON as far as they go, and cut inside of it."""
        start = rest.find(b"{")
        if start < 0 or self._carry or not self._in_array or rest[:start].strip(_BETWEEN) or not super().can_wait(rest):
            return False
        try:
            _skip(rest[start:])
        except (msgspec.DecodeError, RecursionError) as error:
            return str(error) == _TRUNCATED
        return False

    def _find_comma(self, data: bytes, at: int) -> int:
        """Find the line break behind a position after which a comma follows; a guess, which changes no result.

        Pretty printed elements are full of line breaks.  Gemini ends the line of the comma alone with CR LF, and one
        byte is found ten times as fast as two.
        """
        if self._has_cr:
            end = data.find(b"\r", at + 3) - 2
            if end < 0 or data.startswith(b"\n,", end):
                return end
        end = data.find(b"\n,", at + 1)
        self._has_cr = end > 0 and data.startswith(b"\r", end + 2)
        return end

    def close(self) -> list[Frame]:
        """End the body: return the unfinished element, if there is one."""
        self.is_cut: bool = is_cut_value(bytes(self._carry))
        return self._take_element(True)

    def _begin(self, chunk: bytes, at: int, before: int) -> int:
        """Skip to the next element; return its position, or the chunk's length."""
        while match := _ELEMENT.search(chunk, at):
            at = match.start()
            byte = chunk[at]
            if byte == ord("[") and not self._in_array:
                self._in_array = True
                at += 1
                continue
            self._offset = before + at
            self._scanner = ValueScanner() if byte in b'{["' else None
            return at
        return len(chunk)

    def _find_element_end(self, chunk: bytes, at: int) -> int:
        if self._scanner is not None:
            return self._scanner.end(chunk, at)
        match = _WORD_END.search(chunk, at if self._carry else at + 1)
        return match.start() if match else -1

    def _take_element(self, ended: bool) -> list[Frame]:
        """Check the element's size; return it if it has ended."""
        carry = self._carry
        if len(carry) > self._max_event:
            self._stop_at_event("an element", self._offset)
        if not ended or not carry:
            return []
        data = bytes(carry)
        carry.clear()
        is_mark = data == BOM and self._offset == 0
        return [] if is_mark else [Frame(data, b"", self._offset)]


class JSONBody(Framer):
    """A framer of a body that is one JSON value: one frame, at the end; `max_event` bounds the body."""

    received: int

    __slots__ = ()

    def feed(self, chunk: Chunk) -> list[Frame]:
        """Take in the next bytes; the frame comes with `close()`."""
        self.received += len(chunk) if isinstance(chunk, bytes) else memoryview(chunk).nbytes
        if self.error is None:
            self._carry += chunk
            if len(self._carry) > self._max_event:
                self._stop_at_event("the body", 0)
        return []

    def close(self) -> list[Frame]:
        """End the body: return it, unless it is blank."""
        data = bytes(self._carry)
        self._carry.clear()
        text = data.removeprefix(BOM)
        self.is_cut: bool = is_cut_value(text)
        return [Frame(text, b"", len(data) - len(text))] if text.strip() else []
