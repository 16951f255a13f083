"""Text in, events out, for users whose SDK has decoded the wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from streamparse.assembler import Offset, ParseHalted
from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.events import Event
from streamparse.limits import Limits
from streamparse.parser.assembly_line import AssemblyLine
from streamparse.parser.options import ParserOptions
from streamparse.stats import Stats
from streamparse.tools.toolset import read_toolset

_HIGH: Final = ("\ud800", "\udbff")
"""The first and the last high surrogate."""


class TextParser(AssemblyLine):
    """Parses text alone, for users whose SDK has decoded the wire: `feed` takes the text as it comes.

    `dialects`, `tools`, `reasoning`, `limits` and `quoted` are those of `StreamParser`.  `Done.ok` is true unless
    something was wrong with the text; a call that was cut is an `Error`.  Offsets count characters.
    """

    def __init__(
        self,
        dialects: Dialects = "auto",
        *,
        tools: Iterable[Any] | None = None,
        reasoning: Reasoning = "auto",
        limits: Limits = Limits(),  # noqa: B008 - frozen
        quoted: Quoted = "text",
    ) -> None:
        self._joiner = SurrogateJoiner()
        options = ParserOptions(
            dialects=dialects, tools=read_toolset(tools), reasoning=reasoning, limits=limits, quoted=quoted
        )
        super().__init__(options)
        self._length = self._record.characters = 0

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of text; return the events that it completes.  Anything but text raises TypeError."""
        if self._is_closed:
            raise RuntimeError("feed() after close()")
        if not isinstance(text, str):
            raise TypeError(f"a piece of text must be str, not {type(text).__name__}: bytes are for a StreamParser")
        return self._feed(self._joiner.join(text))

    def _feed(self, text: str) -> list[Event]:
        if not self._is_open or not text:
            return []
        self._length = self._record.characters = self._length + len(text)
        try:
            self._sink.text(text)
        except ParseHalted:
            self._is_open = False
        return self._record.take()

    def close(self, stopped: bool = False) -> list[Event]:
        """Take the end of the text.  The last event is always `Done`; a second call returns nothing.

        `stopped` says that the model itself ended the text, and no limit, cut or failure did.  Without that word, calls
        that only a good end makes certain (those without a marker of their own, those in a thought) are revoked.
        """
        if self._is_closed:
            return []
        self._is_closed = True
        events = self._feed(self._joiner.end())
        if not self._is_open:
            return events
        if stopped:
            self._assembler.stop()
        self._assembler.end()
        try:
            self._finish(Offset(self._length), None)
        except ParseHalted:
            pass
        return [*events, *self._record.take()]

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers; `bytes` counts characters here."""
        return self._count(bytes=self._length)


class SurrogateJoiner:
    """Joins surrogate pairs whose halves come in two pieces; a half that stays alone becomes U+FFFD."""

    __slots__ = ("_high",)

    def __init__(self) -> None:
        self._high = ""

    def join(self, piece: str) -> str:
        """Return the text of a piece, whole characters only; an open half waits for the next one."""
        if not self._high and piece.isascii():
            return piece
        text = self._high + piece
        self._high = text[-1:] if _HIGH[0] <= text[-1:] <= _HIGH[1] else ""
        whole = text[: len(text) - len(self._high)]
        try:
            whole.encode()
        except UnicodeEncodeError:
            return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return whole

    def end(self) -> str:
        """Return a replacement character for a half that is left alone."""
        left, self._high = self._high, ""
        return "\N{REPLACEMENT CHARACTER}" if left else ""
