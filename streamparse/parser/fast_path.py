"""The short way of plain messages: without a list of frames and, if they are alike, undecoded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

from streamparse.frames import Framer, FrameTemplate
from streamparse.parser.wire_selector import WireSelector
from streamparse.reading.wire import UnknownMessage, Wire

_MAX_MISSES: Final = 4
"""After this many messages in a row, each in another form than the one before, no form is learnt for a while."""
_SHORTEST_PAUSE: Final = 16
_END_MARKER: Final = b"[DONE]"
_LONGEST_PAUSE: Final = 1024
"""For so many messages: each time twice as many as the last, until one was in the form of the one before."""


class FastPath:
    """Takes chunks that are one plain message each, as long as framing and wire stay what they are.

    `template` is the form of the message before, if that held one string and nothing else, and `tell` passes such a
    string on.  Forms are learnt from the message number `learns_from` on, as `framer.singles` counts, and only if the
    wire says which of its messages are like that.
    """

    __slots__ = (
        *("_forms", "_learnt_at", "_misses_left", "_pause", "_selector", "_wire"),
        *(
            "cut_at",
            "decode",
            "framer",
            "held",
            "is_cut",
            "learns_from",
            "may_end",
            "read_facts",
            "take",
            "tell",
            "template",
            "try_single",
        ),
    )

    def __init__(self, framer: Framer, wire: Wire, selector: WireSelector) -> None:
        self.framer = framer
        self.try_single: Callable[[bytes], bytes | None] = framer.try_single
        self.decode: Callable[[bytes], Any] = wire.decode
        self.take: Callable[[Any], bool | None] = wire.take
        self.read_facts: Callable[[bytes], None] = wire.read_facts
        self.template: FrameTemplate | None = None
        self.tell: Callable[[str], None]
        self.learns_from: int = sys.maxsize if wire.plain is None else 0
        self.may_end: bool = selector.scope != "body"
        """Whether something may come that is not read any more: what comes behind an end marker."""
        self.held: bytes = b""
        """The beginning of a message whose end has not come."""
        self.is_cut = False
        """Whether the last two reads were more than one message, or less: the next one is likely to be."""
        self.cut_at = -1
        """How many messages there were after the last such read, as `framer.singles` counts."""
        self._wire: Any = wire  # whose `plain` is asked for only if it has one
        self._selector = selector
        self._forms: list[FrameTemplate] = []  # the last two: some servers change between two forms
        self._misses_left = _MAX_MISSES
        self._pause = _SHORTEST_PAUSE
        self._learnt_at = 0  # the number of the message that a form was looked for in last

    def take_all(self, data: bytes, at: int) -> int:
        """Take the messages from a position on, up to the first that is not plain; return its position.

        The end marker is looked for before each.  Raises `ParseHalted`.
        """
        framer, try_next, decode, take, wire = self.framer, self.framer.try_next, self.decode, self.take, self._wire
        before = framer.received - at
        may_end = self.may_end and self._selector.stops_at_marker
        size = len(data)
        while at < size and not (may_end and wire.over):
            if self.template is not None:
                at = self.template.take_run(data, at, self.tell)
                if at == size:
                    break
            payload = try_next(data, at)
            if payload is None:
                break
            end = framer.received - before
            try:
                message = decode(payload)
            except (ValueError, RecursionError):
                if not self.try_end_marker(payload):
                    framer.unread(data[at:end])
                    break
                at = end
                continue
            if framer.singles >= self.learns_from:
                self.learn(data[at:end], message)
            try:
                if take(message) is True:
                    wire.read_facts(payload)
            except UnknownMessage:
                framer.unread(data[at:end])
                break
            at = end
        return at

    def try_end_marker(self, data: bytes) -> bool:
        """Take the message that was cut last, whose data this is, if it is the end marker, which is no JSON."""
        frame = self.framer.make_frame(data) if data == _END_MARKER else None
        if frame is None:
            return False
        self.reset()
        self._wire.frame(frame)  # which needs no more of the framer
        return True

    def release(self) -> bytes:
        """Return what is held; nothing is held afterwards."""
        held, self.held = self.held, b""
        return held

    def learn_single(self, chunk: bytes, message: Any) -> None:
        """Keep the form of a message that came alone, unless it is the first of its type, which often stands alone."""
        if self.framer.singles != self.framer.turned_at:
            self.learn(chunk, message)
        else:
            self.template = None

    def learn(self, chunk: bytes, message: Any) -> None:
        """Keep the form of a message that is taken now, if it may serve for the next ones."""
        self.template = None
        number = self.framer.singles
        if number > self._learnt_at + 1:
            self._misses_left, self._pause = _MAX_MISSES, _SHORTEST_PAUSE
        else:
            self._misses_left -= 1
        self._learnt_at = number
        if not self._misses_left:
            self.learns_from = number + 1 + self._pause
            self._learnt_at = self.learns_from - 1
            self._misses_left, self._pause = 2, min(2 * self._pause, _LONGEST_PAUSE)
        elif (plain := self._wire.plain(message)) is not None and plain.string:
            self.tell, string = plain.tell, plain.string
            for form in self._forms:
                if form.fits(chunk, string):
                    self.template = form
                    return
            learnt = self.template = FrameTemplate.learn(self.framer, chunk, string)
            if learnt is not None:
                self._forms = [learnt, *self._forms[:1]]

    def reset(self) -> None:
        """Forget the form: once something else came between, a message like the one before may mean something else."""
        self.template = None
