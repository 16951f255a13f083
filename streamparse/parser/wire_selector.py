"""The wire that a body speaks: named, or detected from its first frames.

A wire skips what it does not know, so a body of another wire would look like an answer without content.  The frames of
a body show its wire by `Wire.claims`.  None of 886 recorded streams has a frame of another wire before the first of its
own.  So frames are looked at until one shows the wire, or until 16 have shown none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Literal

from streamparse.assembler import Assembler
from streamparse.dialects import InBandParser
from streamparse.frames import Frame
from streamparse.parser.options import ParserOptions
from streamparse.providers.wires import DEFAULT_WIRE, UNDECIDED_FRAMES, WIRES
from streamparse.reading.decode import decode_frame, read_excerpt
from streamparse.reading.errors import find_error, report_provider_error
from streamparse.reading.wire import Wire, find_claimant
from streamparse.sink import Sink

PASS: Final = "pass what a server sent, a message or the calls of one, a list of chunks, or the text of an answer"
"""What an answer can be given as."""


class WireSelector:
    """Gives each frame to the wire of its body: the one called `name`, or with "auto" the one that the frames show."""

    def __init__(self, name: str, options: ParserOptions, assembler: Assembler, inband: InBandParser | None) -> None:
        self._options = options
        self._assembler = assembler
        self._inband = inband
        self._sink: Sink = inband or assembler
        self._undecided: list[Frame] = []
        self._is_first = True
        self._looked = 0  # how many messages the wire has not claimed
        self._other: tuple[str, Frame] | None = None  # the first wire that has claimed one instead
        self._unknown: Frame | None = None  # the first message that no wire claims, and more than token counts
        self._is_doubtful = name != "auto"  # the named wire may be the wrong one
        self.scope: Literal["body", "answers", "answer"] = "body"
        """What is read: the whole body, all of its answers, or the first."""
        self.name: str | None = None
        self.wire: Wire | None = None
        self.take: Callable[[Frame], None] | None = None
        """Takes the next frame once the body has shown its wire, or was looked at for long enough; until then `look`
        does."""
        if name != "auto":
            self._begin(name)

    @property
    def over(self) -> bool:
        """Whether the wire is known, and its own end marker has come."""
        return self.wire is not None and self.wire.over

    @property
    def sealed(self) -> bool:
        """Whether it is `over`, and no other answer may begin after the marker."""
        wire = self.wire
        return wire is not None and not wire.reopens and wire.over

    @property
    def stops_at_marker(self) -> bool:
        """Whether nothing is read after the end marker."""
        wire = self.wire
        return self.scope != "body" and wire is not None and (self.scope == "answer" or not wire.reopens)

    @property
    def has_ended(self) -> bool:
        """Whether what is read has ended: what comes, or is missing, is no concern of the answer any more."""
        return self.stops_at_marker and self.over

    def look(self, frame: Frame) -> None:
        """Take a frame of a body that has not shown its wire yet."""
        message = decode_frame(frame)
        is_first, self._is_first = self._is_first, False
        owner = find_claimant(message, frame.event, WIRES if self.name is None else (self.name,))
        if owner is None and is_first and not frame.event and (error := find_error(message)) is not None:
            # Whatever is in front of the server, such as a gateway, reports errors in its own shape, on every wire.
            report_provider_error(self._sink, error)
        elif self.wire is None:
            self._decide(frame, owner)
        else:
            if owner is None:
                self._suspect(frame, message)
            else:
                self._is_doubtful = False
                self.take = self.wire.frame
            self.wire.frame(frame)

    def accept(self, frame: Frame) -> None:
        """Take a frame that the named wire claims, as was found out before."""
        assert self.wire is not None
        self._is_first = self._is_doubtful = False
        self.take = self.wire.frame
        self.take(frame)

    def give_up(self) -> None:
        """No more frames come: those that showed no wire are an error as every provider writes one, or no answer."""
        if not self._undecided:
            return
        self._is_doubtful = True
        for frame in self._undecided:
            self._note_unknown(frame, decode_frame(frame))
        self._begin(DEFAULT_WIRE)
        self.name = None
        self._report_mistake()

    def close(self) -> None:
        """The body is over."""
        self._report_mistake()
        if self.wire is not None:
            self.wire.close()

    def _decide(self, frame: Frame, owner: str | None) -> None:
        """Begin with the wire that a frame shows; frames that do not show one wait."""
        self._undecided.append(frame)
        if owner is not None:
            self._begin(owner)
        elif len(self._undecided) >= UNDECIDED_FRAMES or frame.data.strip() == b"[DONE]":
            self.give_up()

    def _suspect(self, frame: Frame, message: Any) -> None:
        """Note a frame that the named wire does not claim."""
        if not _is_answer(frame, message):
            return
        other = find_claimant(message, frame.event)
        assert self.name is not None
        if other is not None and other in WIRES[self.name].reads:
            self._is_doubtful = False
        elif other is not None:
            self._other = self._other or (other, frame)
        else:
            self._note_unknown(frame, message)
        self._looked += 1
        if self._looked >= UNDECIDED_FRAMES or not self._is_doubtful:
            assert self.wire is not None
            self.take = self.wire.frame
            self._report_mistake()

    def _note_unknown(self, frame: Frame, message: Any) -> None:
        """Note a frame that no wire claims; one of token counts alone may stand beside any answer."""
        if self._unknown is None and _is_answer(frame, message) and message.keys() != {"usage"}:
            self._unknown = frame

    def _report_mistake(self) -> None:
        """Report, once, a body of another wire, or of no known one."""
        if not self._is_doubtful:
            return
        error, is_silent = self._assembler.error, self._assembler.is_silent
        if self._other is not None:
            name, frame = self._other
            message = f"the body looks like {name}, not like {self.name}: {read_excerpt(frame)!r}"
            error("stream", "wrong_wire", message, frame.offset)
        elif is_silent and self._unknown is not None:
            message = f"no known wire speaks like this: {read_excerpt(self._unknown)!r}; {PASS}"
            error("stream", "not_a_stream", message, self._unknown.offset)
        elif is_silent and self._assembler.has_ended and self._assembler.response.usage is None:
            error("stream", "not_a_stream", "the body has an end, and before it no message that can be read", 0)
        else:
            return
        self._is_doubtful = False

    def _begin(self, name: str) -> None:
        """Begin with a wire, and give it the frames that waited."""
        kind, options = WIRES[name], self._options
        if self._inband is not None and kind.parses_calls:
            self._inband.ignore_calls("auto")
        wire = self.wire = kind(self._sink, options.tools, options.limits, options.choice)
        self.name = name
        if self._undecided:
            self.take = wire.frame
        waiting, self._undecided = self._undecided, []
        for frame in waiting:
            self._assembler.record.position = frame
            wire.frame(frame)


def _is_answer(frame: Frame, message: Any) -> bool:
    """Whether a frame is a message, and no error."""
    return isinstance(message, dict) and frame.event != b"error" and find_error(message) is None
