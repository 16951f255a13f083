"""Text in, events out, for users whose SDK has decoded the wire."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from streamparse.assembler import At, Halt
from streamparse.dialects import Dialects, Quoted, Reasoning
from streamparse.events import Event
from streamparse.limits import Limits
from streamparse.parser.base import BaseParser
from streamparse.parser.surrogates import Halves
from streamparse.stats import Stats

__all__ = ["TextParser"]


class TextParser(BaseParser):
    """Parses text alone, for users whose SDK has decoded the wire: `feed` takes the text as it comes.

    `dialects`, `tools`, `reasoning` and `quoted` are those of `StreamParser`.  `Done.ok` is true unless something was
    wrong with the text; a call that was cut is an `Error`.
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
        self._length = 0
        self._halves = Halves()
        super().__init__(dialects, tools, reasoning, limits, strict=False, quoted=quoted)

    def _mark(self, left: int) -> None:
        """Errors in a call carry the place of its marker, in characters."""
        self._record.place = At(self._length - left)

    def feed(self, text: str) -> list[Event]:
        """Take the next piece of text; return the events that it completes.  Anything but text raises TypeError."""
        if self._closed:
            raise RuntimeError("feed() after close()")
        if not isinstance(text, str):
            raise TypeError(f"a piece of text must be str, not {type(text).__name__}: bytes are for a StreamParser")
        return self._tell(self._halves.join(text))

    def _tell(self, text: str) -> list[Event]:
        if not self._flowing or not text:
            return []
        self._length += len(text)
        try:
            self._sink.text(text)
        except Halt:
            self._flowing = False
        return self._record.take()

    def close(self, stopped: bool = False) -> list[Event]:
        """Take the end of the text.  The last event is always `Done`; a second call returns nothing.

        `stopped` says that the model itself ended the text, and no limit, cut or failure did.  Without that word, calls
        that only a good end makes certain (those without a marker of their own, those in a thought) are revoked.
        """
        if self._closed:
            return []
        self._closed = True
        events = self._tell(self._halves.end())
        if not self._flowing:
            return events
        if stopped:
            self._assembler.stop()
        self._assembler.end()
        try:
            self._end(None, At(self._length))
        except Halt:
            pass
        return [*events, *self._record.take()]

    @property
    def stats(self) -> Stats:
        """What was read so far, in numbers; `bytes` counts characters here."""
        dialect = self._inband.dialect if self._inband is not None else None
        leniencies = dict(self._record.leniencies)
        return Stats.of(
            self._assembler.response, bytes=self._length, dialect=dialect, leniencies=leniencies,
            unread_calls=self._count_unread(),
        )  # fmt: skip
