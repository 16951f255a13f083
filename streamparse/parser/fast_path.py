"""The short way of plain messages: without a list of frames and, if they are alike, undecoded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from streamparse.frames import Framer, FrameTemplate
from streamparse.reading.plain_strings import find_plain_string
from streamparse.reading.wire import UnknownMessage, Wire


class FastPath:
    """Takes plain messages, as long as framing and wire stay what they are.

    `template` is the form of the last message, if that held one string and nothing else, and `tell` passes such a
    string on.  Forms are learnt only of wires that declare where their messages have such strings.
    """

    __slots__ = (
        *("_decode", "_framer", "_ignored", "_learns_from", "_learnt_at", "_pause", "_take", "_try_next", "_wire"),
        *("held", "tell", "template"),
    )

    def __init__(self, framer: Framer, wire: Wire) -> None:
        self.template: FrameTemplate | None = None
        self.tell: Callable[[str], None]
        self.held: bytes = b""
        """The beginning of a message whose end has not come."""
        self._framer = framer
        self._wire = wire
        self._ignored = wire.ignored  # messages, when a form was looked for last
        self._try_next = framer.try_next
        self._decode = wire.decode
        self._take = wire.take
        self._learns_from = 0 if wire.plain_strings else sys.maxsize  # the number of a message, by `framer.singles`
        self._learnt_at = 0  # the number of the message that a form was looked for in last
        self._pause = 0

    def take_next(self, data: bytes, at: int) -> int:
        """Take the messages from a position on that have the form of the last one, or else one message.

        Returns where they end; that is the position itself if the message there is not plain.  Raises `ParseHalted`.
        """
        if self.template is not None and (end := self.template.take_run(data, at, self.tell)) > at:
            return end
        framer = self._framer
        before = framer.received
        payload = self._try_next(data, at)
        if payload is None:
            return at
        end = at + framer.received - before
        try:
            message = self._decode(payload)
        except (ValueError, RecursionError):
            framer.unread(end - at)
            return at
        try:
            asks_for_facts = self._take(message)
        except UnknownMessage:
            framer.unread(end - at)
            return at
        if asks_for_facts:
            self._wire.read_facts(payload)
        if self.template is not None or framer.singles >= self._learns_from:
            self._learn(data[at:end], message)
        return end

    def _learn(self, chunk: bytes, message: Any) -> None:
        """Keep the form of the message that was taken last, if it may serve for the next ones.

        A message that did not have the form of those before it may be the only one of its kind: it is not looked into.
        """
        number, has_served = self._framer.singles, False
        if self.template is not None:
            self.template, has_served = None, number > self._learnt_at + 1
        else:
            self._learnt_at = number
            if self._ignored != self._wire.ignored:
                self._ignored = self._wire.ignored  # perhaps this message: then its string went to no verb
            elif (plain := find_plain_string(self._wire, message)) is not None:
                self.tell = plain.tell
                self.template = FrameTemplate.learn(self._framer, chunk, plain.string, plain.is_twice)
        if self.template is None:
            self._pause = 0 if has_served else 2 * self._pause + 1  # few are looked at where none serves
            self._learns_from = number + 1 + self._pause
